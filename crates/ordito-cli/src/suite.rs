//! `--suite cpu|gpu|ladder`: fixed inputs, K and dtypes, so that results of different people can be compared. Which of
//! them an operation has, and what they hold, is for it to say; those of the sparse operations are here.

use crate::args::{Device, Dtype};
use clap::ValueEnum;
use ordito::io::MATRICES_VARIABLE;
use ordito::op::Role;
use ordito_bench::workbench::{Kind, Side, yardstick};
use std::path::{Path, PathBuf};

/// A yardstick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Suite {
    /// Six kinds of matrices that exceed a core's caches, K = 1 to 64, both precisions; of `spmm` also real ones
    /// (--data), without the variants that are there to be studied, few samples
    Cpu,
    /// Large matrices, K = 1 to 128, both precisions; of `spmm` also real ones (--data), our CUDA kernels
    /// beside cuSPARSE, few samples, and a summary
    Gpu,
    /// Matrices small enough for the slowest rung, K = 3 to 64, f64; of `gemm` the sizes 100 to 10000
    Ladder,
}

/// What a suite stands for.
#[derive(Default)]
pub(crate) struct Yardstick {
    pub(crate) inputs: &'static [&'static str],
    /// Matrices that are files, by their names without folder and ending.
    pub(crate) files: &'static [&'static str],
    pub(crate) ks: &'static [usize],
    pub(crate) dtypes: &'static [Dtype],
    /// Variants of which kind, unless others are asked for; none: all.
    pub(crate) kind: Option<Kind>,
    /// Where it runs, unless something else is asked for than everything.
    pub(crate) on: Option<Device>,
    /// Few samples and a short check: there are thousands of series.
    pub(crate) is_brief: bool,
}

impl Suite {
    /// As on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Sparse matrices.
    pub(crate) fn sparse(self) -> Yardstick {
        match self {
            Suite::Cpu => Yardstick {
                inputs: yardstick::SYNTHETIC_MATRICES,
                ks: yardstick::COLUMNS,
                dtypes: &[Dtype::F32, Dtype::F64],
                ..Yardstick::default()
            },
            Suite::Gpu => Yardstick {
                inputs: &["uniform:1000000x16", "stencil27:100", "stencil5:1000", "powerlaw:1000000x16"],
                ks: &[1, 2, 4, 8, 16, 32, 64, 128],
                dtypes: &[Dtype::F32, Dtype::F64],
                ..Yardstick::default()
            },
            Suite::Ladder => Yardstick {
                inputs: &["stencil27:12", "stencil5:60", "uniform:4000x16", "powerlaw:4000x16"],
                ks: &[3, 4, 8, 12, 16, 32, 64],
                dtypes: &[Dtype::F64],
                ..Yardstick::default()
            },
        }
    }

    /// Sparse products: on a GPU our kernels beside cuSPARSE, on synthetic and real matrices.
    pub(crate) fn spmm(self) -> Yardstick {
        match self {
            Suite::Gpu => Yardstick {
                inputs: &["band:20000x50", "powerlaw:1000000x16", "stencil27:100", "uniform:1000000x16"],
                files: &["bcsstk17", "cnr-2000", "BOYD1_A", "mdual", "soc-Epinions1"],
                // Everything but the rungs of the ladder, which are there to be studied and far slower.
                kind: Some(Kind { side: Side::Device, roles: &[Role::Ours, Role::Peer] }),
                on: Some(Device::Cuda),
                is_brief: true,
                ..self.sparse()
            },
            Suite::Cpu => Yardstick {
                files: yardstick::REAL_MATRICES,
                // As above.
                kind: Some(Kind { side: Side::Cpu, roles: &[Role::Ours] }),
                on: Some(Device::Cpu),
                is_brief: true,
                ..self.sparse()
            },
            Suite::Ladder => self.sparse(),
        }
    }
}

/// Matrices of a suite that are files.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct SuiteFiles {
    /// Those that are there.
    pub(crate) found: Vec<String>,
    /// Names of those that are not.
    pub(crate) left_out: Vec<String>,
    /// Where they were looked for, in words.
    pub(crate) looked: String,
}

impl SuiteFiles {
    /// Looks for `names` in the folder of `--data`, or else in that of `ORDITO_MATRICES`.
    pub(crate) fn find(names: &[&str], data: Option<&Path>) -> Self {
        let folder = data.map(Path::to_owned).or_else(|| {
            let set = std::env::var_os(MATRICES_VARIABLE).filter(|folder| !folder.is_empty());
            set.map(PathBuf::from)
        });
        SuiteFiles::find_in(names, folder.as_deref())
    }

    fn find_in(names: &[&str], folder: Option<&Path>) -> Self {
        let mut files = SuiteFiles {
            looked: match folder {
                Some(folder) => format!("not in {}", folder.display()),
                None => format!("neither --data nor {MATRICES_VARIABLE} names their folder"),
            },
            ..SuiteFiles::default()
        };
        for name in names {
            let paths = [".mtx", ".mtx.gz"]
                .into_iter()
                .filter_map(|ending| folder.map(|folder| folder.join(format!("{name}{ending}"))));
            match paths.into_iter().find(|path| path.is_file()) {
                Some(path) => files.found.push(path.to_string_lossy().into_owned()),
                None => files.left_out.push((*name).to_owned()),
            }
        }
        files
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ordito::op::{Op, Place};
    use ordito::spmm::Spmm;
    use ordito_bench::workbench::{Selected, Wanted, select};

    #[test]
    fn files_are_found_or_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.mtx"), "").unwrap();
        std::fs::write(folder.path().join("b.mtx.gz"), "").unwrap();
        let found = SuiteFiles::find_in(&["a", "b", "c"], Some(folder.path()));
        assert_eq!(found.found.len(), 2);
        assert!(found.found[1].ends_with("b.mtx.gz"));
        assert_eq!(
            (found.left_out, found.looked),
            (vec!["c".to_owned()], format!("not in {}", folder.path().display()))
        );
        let none = SuiteFiles::find_in(&["a", "b"], None);
        assert_eq!((none.found.len(), none.left_out.len()), (0, 2));
        assert!(none.looked.contains("--data") && none.looked.contains("ORDITO_MATRICES"));
    }

    #[test]
    fn the_suite_of_the_cpu_takes_what_auto_could_choose_and_real_matrices() {
        let suite = Suite::Cpu.spmm();
        assert!(suite.files.contains(&"bcsstk17") && Suite::Cpu.sparse().files.is_empty());
        let wanted = Wanted { kind: suite.kind, ..Wanted::all() };
        let names: Vec<String> =
            select::<Spmm<f64>>(&wanted, Side::Cpu).unwrap().iter().map(Selected::name).collect();
        let could_be: Vec<&str> = Spmm::<f64>::variants()
            .iter()
            .map(|variant| variant.describe())
            .filter(|variant| variant.place != Place::Cuda && variant.can_be_chosen)
            .filter(|variant| variant.role != Role::Faulty)
            .map(|variant| variant.name)
            .collect();
        let (auto, others): (Vec<&String>, Vec<&String>) = names.iter().partition(|name| *name == "auto");
        assert_eq!(
            (auto.len(), others),
            (1, could_be.iter().map(|name| name.to_string()).collect::<Vec<_>>().iter().collect())
        );
    }

    #[test]
    fn the_suite_of_the_gpu_takes_peers_and_auto_but_no_rung_of_the_ladder() {
        let wanted = Wanted { kind: Suite::Gpu.spmm().kind, ..Wanted::all() };
        let selected = select::<Spmm<f64>>(&wanted, Side::Device).unwrap();
        let names: Vec<String> = selected.iter().map(Selected::name).collect();
        let described = || selected.iter().flat_map(Selected::describe);
        assert_eq!(described().filter(|variant| variant.role == Role::Peer).count(), 11);
        assert_eq!(described().filter(|variant| variant.role == Role::Ours).count(), 9);
        assert!(names.contains(&"auto".to_owned()));
        assert_eq!(names.len(), 11 + 9 + 1, "{names:?}");
    }
}
