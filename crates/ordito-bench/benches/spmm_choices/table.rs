//! The tables of times, each line with what its kernel asks for.

use crate::options::{Dtype, Options};
use crate::rounded;
use anyhow::Context;
use ordito::Scalar;
use ordito::device::DeviceLimits;
use ordito::io::load;
use ordito::matrix::{Csr, Duplicates};
use ordito::spmm::{AskedByCandidate, KnownOnDevice};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A line of `times.csv`.
#[derive(Debug, Deserialize)]
struct Line {
    matrix: String,
    /// Of a synthetic one; tables of the first seed may lack it.
    #[serde(default)]
    seed: u64,
    dtype: String,
    k: usize,
    variant: String,
    hot_ns: f64,
    flushed_ns: f64,
}

impl Line {
    /// Whose time it is. A packed file has the same matrix in it.
    fn of(&self) -> (String, u64, String, usize, String) {
        let matrix = self.matrix.trim_end_matches(".gz").to_string();
        (matrix, self.seed, self.dtype.clone(), self.k, self.variant.clone())
    }
}

fn lines_of(folder: &Path) -> anyhow::Result<Vec<Line>> {
    let path = folder.join("times.csv");
    let mut reader = csv::Reader::from_path(&path).with_context(|| path.display().to_string())?;
    reader.deserialize().map(|line| Ok(line?)).collect()
}

/// A product: matrix, with its seed where that is not the first, precision, columns of X.
pub(crate) type Case = (String, String, usize);

/// One kernel on one product: what it asks for, and how long it took, with a warm and with an empty cache.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) case: Case,
    pub(crate) asked: AskedByCandidate,
    pub(crate) ns: [f64; 2],
}

impl Sample {
    /// What is predicted: between the two.
    pub(crate) fn middle_ns(&self) -> f64 {
        (self.ns[0] * self.ns[1]).sqrt()
    }
}

/// All of a folder.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) samples: Vec<Sample>,
    /// The least time of those that have no price: cuSPARSE.
    pub(crate) peers: BTreeMap<Case, [f64; 2]>,
}

impl Table {
    /// Of several folders.
    pub(crate) fn read_all(options: &Options, folders: &[PathBuf]) -> anyhow::Result<Self> {
        let mut all = Table::default();
        for folder in folders {
            let Table { samples, peers } = Table::read(options, folder)?;
            all.samples.extend(samples);
            all.peers.extend(peers);
        }
        Ok(all)
    }

    /// Real matrices are looked for in `--data`. Of `--newer` times of the same kernel stand for older ones.
    pub(crate) fn read(options: &Options, folder: &Path) -> anyhow::Result<Self> {
        let mut newer = BTreeMap::new();
        for folder in &options.newer {
            newer.extend(
                lines_of(folder)?.into_iter().map(|line| (line.of(), [line.hot_ns, line.flushed_ns])),
            );
        }
        let mut lines: BTreeMap<(String, u64), Vec<Line>> = BTreeMap::new();
        for mut line in lines_of(folder)? {
            if let Some(&ns) = newer.get(&line.of()) {
                [line.hot_ns, line.flushed_ns] = ns;
            }
            lines.entry((line.matrix.clone(), line.seed)).or_default().push(line);
        }
        let mut table = Table::default();
        for ((matrix, seed), lines) in lines {
            let name = match (&options.data, matrix.contains(':')) {
                (Some(data), false) => format!("{data}/{matrix}"),
                _ => matrix,
            };
            let coo = load::<f64>(&name, &options.read_options(seed));
            let coo = coo.context("real matrices are looked for in --data")?.coo;
            let a = Csr::from_owned_coo(coo, Duplicates::Sum);
            for dtype in [Dtype::F32, Dtype::F64] {
                match dtype {
                    Dtype::F32 => table.extend::<f32>(&*rounded(&a)?, &lines),
                    Dtype::F64 => table.extend::<f64>(&a, &lines),
                }
            }
        }
        Ok(table)
    }

    fn extend<S: Scalar>(&mut self, a: &Csr<S>, lines: &[Line]) {
        let known = KnownOnDevice::of(a);
        let mut asked: BTreeMap<usize, Vec<AskedByCandidate>> = BTreeMap::new();
        for line in lines.iter().filter(|line| line.dtype == S::NAME) {
            let of_k = asked.entry(line.k).or_insert_with(|| known.asked::<S>(&DeviceLimits::h200(), line.k));
            let matrix = match line.seed {
                0 => line.matrix.clone(),
                seed => format!("{} of seed {seed}", line.matrix),
            };
            let (case, ns) = ((matrix, line.dtype.clone(), line.k), [line.hot_ns, line.flushed_ns]);
            match of_k.iter().find(|asked| asked.variant == line.variant) {
                Some(asked) => self.samples.push(Sample { case, asked: asked.clone(), ns }),
                None => {
                    let least = self.peers.entry(case).or_insert([f64::INFINITY; 2]);
                    *least = [0, 1].map(|kind| least[kind].min(ns[kind]));
                }
            }
        }
    }
}
