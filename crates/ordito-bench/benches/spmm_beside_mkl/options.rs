//! What is measured.

use anyhow::Context;
use clap::{Parser, ValueEnum};
use ordito::io::MATRICES_VARIABLE;
use ordito_bench::workbench::yardstick::{COLUMNS, REAL_MATRICES, SYNTHETIC_MATRICES};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dtype {
    F32,
    F64,
}

/// `auto` beside MKL's sparse products, over six synthetic and 32 real matrices.
#[derive(Debug, Parser)]
#[command(name = "spmm_beside_mkl")]
pub(crate) struct Options {
    /// MKL's libmkl_rt.so [default: $ORDITO_MKL, that of an active Python environment, what the loader finds]
    #[arg(long, value_name = "FILE")]
    pub(crate) mkl: Option<PathBuf>,
    /// Folder of the real matrices [default: $ORDITO_MATRICES]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Only these matrices: names of the suite, other synthetic ones, paths
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    matrix: Vec<String>,
    /// Columns of X
    #[arg(long, value_name = "K", value_delimiter = ',', default_values_t = COLUMNS.to_vec())]
    pub(crate) k: Vec<usize>,
    /// Precisions
    #[arg(long, value_enum, value_delimiter = ',', default_value = "f32,f64")]
    pub(crate) dtype: Vec<Dtype>,
    /// Numbers of threads
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,2")]
    pub(crate) threads: Vec<usize>,
    /// Ours beside `auto`, which always runs: `all` that it could choose, or names
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "auto")]
    pub(crate) variants: Vec<String>,
    /// About so long for each case; slow ones take longer
    #[arg(long, default_value_t = 0.25)]
    seconds: f64,
    /// Half of the K and a fifth of the time, for a first look
    #[arg(long)]
    quick: bool,
    /// Write every time that was taken, with what is known of the matrices
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) out: Option<PathBuf>,
    /// What `cargo bench` says to every program
    #[arg(long, hide = true)]
    bench: bool,
}

/// A matrix, and where it is read from.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) source: String,
}

impl Options {
    pub(crate) fn read() -> anyhow::Result<Self> {
        let mut options = Options::parse();
        if options.quick {
            options.seconds /= 5.0;
            options.k = options.k.into_iter().step_by(2).collect();
        }
        let positive = options.seconds > 0.0 && options.seconds.is_finite();
        anyhow::ensure!(positive, "--seconds {}: a positive number is needed", options.seconds);
        anyhow::ensure!(!options.k.contains(&0), "--k 0: X has at least one column");
        Ok(options)
    }

    /// For all ways of one case together.
    pub(crate) fn time_per_case(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }

    /// The matrices of the suite, or those asked for; and the names of those that are not there.
    pub(crate) fn inputs(&self) -> anyhow::Result<(Vec<Input>, Vec<String>)> {
        let folder = self.data.clone().or_else(|| std::env::var_os(MATRICES_VARIABLE).map(PathBuf::from));
        let suite = SYNTHETIC_MATRICES.iter().chain(REAL_MATRICES).map(|name| name.to_string());
        let names: Vec<String> = if self.matrix.is_empty() { suite.collect() } else { self.matrix.clone() };
        let (mut inputs, mut missing) = (Vec::new(), Vec::new());
        for name in names {
            if !REAL_MATRICES.contains(&name.as_str()) {
                inputs.push(Input { source: name.clone(), name });
                continue;
            }
            let paths = [".mtx", ".mtx.gz"]
                .into_iter()
                .filter_map(|ending| folder.as_ref().map(|folder| folder.join(format!("{name}{ending}"))));
            match paths.into_iter().find(|path| path.is_file()) {
                Some(path) => inputs.push(Input { name, source: path.to_string_lossy().into_owned() }),
                None => missing.push(name),
            }
        }
        let hint = format!("name the folder of the real matrices with --data or ${MATRICES_VARIABLE}");
        inputs.first().context(hint)?;
        Ok((inputs, missing))
    }
}
