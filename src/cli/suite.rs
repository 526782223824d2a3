//! `--suite cpu|gpu|ladder`: fixed inputs, K and dtypes, so that results of different people can be compared. Which of
//! them an operation has, and what they hold, is for it to say; those of the sparse operations are here.

use super::args::Dtype;
use super::operations::Operation;
use clap::ValueEnum;

/// A yardstick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Suite {
    /// Six kinds of matrices that exceed a core's caches, K = 1 to 64, both precisions
    Cpu,
    /// The large ones: a million rows, K = 1 to 128, both precisions
    Gpu,
    /// Matrices small enough for the slowest rung, K = 3 to 64, f64; of `gemm` the sizes 100 to 10000
    Ladder,
}

/// What a suite stands for.
pub(super) struct Yardstick {
    pub(super) inputs: &'static [&'static str],
    pub(super) ks: &'static [usize],
    pub(super) dtypes: &'static [Dtype],
}

impl Suite {
    /// What this suite stands for, or which there are.
    pub(super) fn of(self, operation: &dyn Operation) -> anyhow::Result<Yardstick> {
        let name = |suite: &Suite| suite.to_possible_value().map(|value| value.get_name().to_owned());
        operation.yardstick(self).ok_or_else(|| {
            let there = Suite::value_variants().iter().filter(|suite| operation.yardstick(**suite).is_some());
            let there: Vec<String> = there.filter_map(name).collect();
            let there = if there.is_empty() { "none".into() } else { there.join(", ") };
            let asked = name(&self).unwrap_or_default();
            anyhow::anyhow!("--suite {asked}: `{}` has no such suite; it has: {there}", operation.name())
        })
    }

    /// Sparse matrices.
    pub(super) fn sparse(self) -> Yardstick {
        match self {
            Suite::Cpu => Yardstick {
                inputs: &[
                    "uniform:200000x16",
                    "stencil27:58",
                    "stencil5:447",
                    "powerlaw:200000x16",
                    "band:20000x50",
                    "blocks:20000x12x3",
                ],
                ks: &[1, 2, 3, 4, 8, 12, 16, 32, 64],
                dtypes: &[Dtype::F32, Dtype::F64],
            },
            Suite::Gpu => Yardstick {
                inputs: &["uniform:1000000x16", "stencil27:100", "stencil5:1000", "powerlaw:1000000x16"],
                ks: &[1, 2, 4, 8, 16, 32, 64, 128],
                dtypes: &[Dtype::F32, Dtype::F64],
            },
            Suite::Ladder => Yardstick {
                inputs: &["stencil27:12", "stencil5:60", "uniform:4000x16", "powerlaw:4000x16"],
                ks: &[3, 4, 8, 12, 16, 32, 64],
                dtypes: &[Dtype::F64],
            },
        }
    }
}
