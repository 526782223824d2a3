//! What is measured.

use anyhow::Context;
use clap::{Parser, ValueEnum};
use ordito::Scalar;
use ordito::io::ReadOptions;
use ordito::matrix::Random;
use ordito::op::{Op, Place, Role};
use ordito::spmm::Spmm;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dtype {
    F32,
    F64,
}

/// The sparse products that `auto` could choose on a GPU, over many matrices.
#[derive(Debug, Parser)]
#[command(name = "spmm_choices")]
pub(crate) struct Options {
    /// Synthetic names, paths, folders of matrices; `drawn:1..160` are all of these numbers
    #[arg(long, value_name = "NAME", value_delimiter = ',', required_unless_present = "fit")]
    matrix: Vec<String>,
    /// The seed of synthetic matrices
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Columns of X
    #[arg(long, value_name = "K", value_delimiter = ',', default_value = "1,2,4,8,16,32,64,128")]
    k: Vec<usize>,
    /// Only so many of them for each matrix, others for each
    #[arg(long, value_name = "COUNT")]
    k_of_each: Option<usize>,
    /// Precisions
    #[arg(long, value_enum, value_delimiter = ',', default_value = "f32,f64")]
    pub(crate) dtype: Vec<Dtype>,
    /// cuSPARSE too
    #[arg(long)]
    peers: bool,
    /// Only variants whose names have one of these in them
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    variant: Vec<String>,
    /// Fit prices and corrections to the times of these folders instead: needs no GPU
    #[arg(long, value_name = "DIR", value_delimiter = ',')]
    pub(crate) fit: Vec<PathBuf>,
    /// Judge the choice by the times of these folders, too
    #[arg(long, value_name = "DIR", value_delimiter = ',', requires = "fit")]
    pub(crate) judge: Vec<PathBuf>,
    /// Times of these folders stand for those that the same kernels had on the same products before
    #[arg(long, value_name = "DIR", value_delimiter = ',', requires = "fit")]
    pub(crate) newer: Vec<PathBuf>,
    /// Where the real matrices are
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<String>,
    /// No K for which X or Y would be larger
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 30)]
    pub(crate) most_bytes: u64,
    /// No further matrix after so long
    #[arg(long, default_value_t = f64::INFINITY)]
    pub(crate) seconds: f64,
    /// The folder of the table
    #[arg(long, value_name = "DIR", default_value = "spmm-choices")]
    pub(crate) out: PathBuf,
    /// What `cargo bench` says to every program
    #[arg(long, hide = true)]
    bench: bool,
}

impl Options {
    pub(crate) fn read() -> anyhow::Result<Self> {
        let options = Options::parse();
        anyhow::ensure!(!options.k.contains(&0), "--k 0: X has at least one column");
        Ok(options)
    }

    pub(crate) fn read_options(&self, seed: u64) -> ReadOptions {
        ReadOptions { seed, ..ReadOptions::default() }
    }

    /// The K for this matrix: the same whenever it is asked for.
    pub(crate) fn ks_of(&self, input: &str) -> Vec<usize> {
        let mut ks = self.k.clone();
        if let Some(count) = self.k_of_each {
            let seed =
                input.bytes().fold(self.seed, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
            Random::new(seed, 0).shuffle(&mut ks);
            ks.truncate(count);
            ks.sort_unstable();
        }
        ks
    }

    /// What could be chosen, and cuSPARSE if asked for.
    pub(crate) fn variants<S: Scalar>(&self) -> Vec<&'static str> {
        let on_gpu = Spmm::<S>::variants().iter().map(|variant| variant.describe());
        let wanted = on_gpu.filter(|variant| variant.place == Place::Cuda).filter(|variant| {
            (variant.can_be_chosen && variant.role == Role::Ours)
                || (self.peers && variant.role == Role::Peer)
        });
        let asked_for = |name: &str| {
            self.variant.is_empty() || self.variant.iter().any(|wanted| name.contains(wanted.as_str()))
        };
        wanted.map(|variant| variant.name).filter(|name| asked_for(name)).collect()
    }

    /// Names and paths, one for each matrix.
    pub(crate) fn inputs(&self) -> anyhow::Result<Vec<String>> {
        let mut inputs = Vec::new();
        for given in &self.matrix {
            if let Some((kind, numbers)) = given.split_once(':')
                && let Some((first, last)) = numbers.split_once("..")
            {
                let [first, last]: [u64; 2] =
                    [first.parse().context("first")?, last.parse().context("last")?];
                inputs.extend((first..=last).map(|number| format!("{kind}:{number}")));
            } else if Path::new(given).is_dir() {
                let mut files = Vec::new();
                for file in std::fs::read_dir(given).with_context(|| given.clone())? {
                    files.push(file?.path().to_string_lossy().into_owned());
                }
                files.retain(|file| file.contains(".mtx"));
                files.sort();
                inputs.extend(files);
            } else {
                inputs.push(given.clone());
            }
        }
        Ok(inputs)
    }
}
