//! How fast is `auto` beside MKL's sparse products?
//!
//! ```text
//! python3 -m venv venv && venv/bin/pip install mkl
//! VIRTUAL_ENV=$PWD/venv cargo bench --bench spmm_beside_mkl -- --data folder-of-matrices --out beside-mkl.csv
//! ```
//!
//! One process; for every matrix, precision, K and number of threads ours and MKL's calls (as they are, and after hints and
//! `mkl_sparse_optimize`; at K = 1 `mv` too) multiply the same X into the same Y, are checked first, and are timed in turn.
//! Look at ratios only: the times of a shared machine mean little.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod aligned;
mod contest;
mod kept;
mod mkl;
mod options;
mod summary;
mod turns;

use contest::Operands;
use kept::Outcome;
use mkl::Mkl;
use options::{Dtype, Input, Options};
use ordito::Scalar;
use ordito::io::{ReadOptions, load};
use ordito::machine::Machine;
use ordito::matrix::{Csr, Duplicates};
use std::sync::Arc;
use std::time::Instant;

fn main() -> anyhow::Result<()> {
    let options = Options::read()?;
    let tuned = tempfile::tempdir()?;
    let settings = [
        ("KMP_BLOCKTIME", "2".as_ref()), // milliseconds that MKL's threads wait for work on a core
        ("MKL_THREADING_LAYER", "INTEL".as_ref()),
        ("ORDITO_CACHE_DIR", tuned.path().as_os_str()), // `auto` by its rule, not by what was tuned here before
    ];
    for (name, value) in settings {
        // SAFETY: no other thread has been started yet.
        unsafe { std::env::set_var(name, value) };
    }
    let mkl = Mkl::open(options.mkl.as_deref())?;
    let (inputs, missing) = options.inputs()?;
    let machines: Vec<Arc<Machine>> =
        options.threads.iter().map(|&threads| Machine::with_threads(threads)).collect::<Result<_, _>>()?;
    let cpu = machines.first().map(|machine| (machine.cpu().model.clone(), machine.cpu().simd));
    println!("MKL: {}; CPU: {cpu:?}; threads {:?}", mkl.path.display(), options.threads);
    if !missing.is_empty() {
        println!("left out, because there is no file: {}", missing.join(", "));
    }
    let start = Instant::now();
    let mut outcomes = Vec::new();
    for (at, input) in inputs.iter().enumerate() {
        eprintln!("{:>4.0} s  {}/{} {}", start.elapsed().as_secs_f64(), at + 1, inputs.len(), input.name);
        for dtype in &options.dtype {
            match dtype {
                Dtype::F32 => walk::<f32>(&options, &mkl, &machines, input, &mut outcomes)?,
                Dtype::F64 => walk::<f64>(&options, &mkl, &machines, input, &mut outcomes)?,
            }
        }
        if let Some(path) = &options.out {
            kept::write(path, &outcomes)?;
        }
    }
    println!("{} cases in {:.0} s\n", outcomes.len(), start.elapsed().as_secs_f64());
    println!("{}", summary::show(&outcomes));
    Ok(())
}

/// Every K and number of threads of one matrix in one precision.
fn walk<S: Scalar>(
    options: &Options,
    mkl: &Mkl,
    machines: &[Arc<Machine>],
    input: &Input,
    outcomes: &mut Vec<Outcome>,
) -> anyhow::Result<()> {
    let loaded = load::<S>(&input.source, &ReadOptions::default())?;
    let a = Arc::new(Csr::from_coo(&loaded.coo, Duplicates::Sum));
    let statistics = ordito::spmm::statistics(&a);
    for &k in &options.k {
        let mut operands = Operands::new(&a, k)?;
        for machine in machines {
            let entries = operands.compete(mkl, machine, &options.variants, options.time_per_case())?;
            outcomes.push(Outcome {
                matrix: input.name.clone(),
                dtype: S::NAME,
                threads: machine.threads(),
                k,
                entries,
                statistics: statistics.clone(),
            });
        }
    }
    Ok(())
}
