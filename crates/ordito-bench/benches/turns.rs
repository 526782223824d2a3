//! Reads a Matrix Market file, or converts its triplets to CSR, whenever a line comes in, and answers with the seconds that
//! it took. The scripts beside this let it take turns with other libraries.
//!
//! `cargo bench --bench turns -- read|csr FILE [THREADS]`
//!
//! `turn` on standard input is a turn; `save FILE.npy` writes the last result as rows of row, column, value.

#![allow(clippy::print_stdout)] // its answers

use ordito::io::{ReadOptions, read_matrix_market, write_npy};
use ordito::matrix::{Coo, Csr, Dense, Duplicates};
use std::io::BufRead;
use std::path::Path;
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Outcome<()> {
    // Cargo adds an argument of its own.
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let [what, file, rest @ ..] = &args[..] else {
        return Err("usage: cargo bench --bench turns -- read|csr FILE [THREADS]".into());
    };
    let threads = rest.first().map_or(Ok(0), |threads| threads.parse())?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| match what.as_str() {
        "read" => {
            answer(|| Ok(read_matrix_market::<f64>(Path::new(file), &ReadOptions::default())?.coo), |coo| coo)
        }
        "csr" => {
            let keep = ReadOptions { duplicates: Duplicates::Keep, ..ReadOptions::default() };
            let coo = read_matrix_market::<f64>(Path::new(file), &keep)?.coo;
            answer(|| Ok(Csr::from_coo(&coo, Duplicates::Sum)), Csr::into_coo)
        }
        other => Err(format!("{other}: there are read and csr").into()),
    })
}

/// Does it once for every turn that is asked for. Freeing a result is no part of its time.
fn answer<T>(run: impl Fn() -> Outcome<T>, triplets: impl Fn(T) -> Coo<f64>) -> Outcome<()> {
    let mut last = None;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        if let Some(file) = line.strip_prefix("save ") {
            let result = last.take().ok_or("nothing to save: a turn comes first")?;
            save(&triplets(result), Path::new(file))?;
            println!("saved");
            continue;
        }
        drop(last.take());
        let start = Instant::now();
        let result = run()?;
        println!("{}", start.elapsed().as_secs_f64());
        last = Some(result);
    }
    Ok(())
}

fn save(coo: &Coo<f64>, file: &Path) -> Outcome<()> {
    let mut entries = Dense::filled(coo.nnz(), 3, 0.0)?;
    let mut view = entries.view_mut();
    for (entry, (row, col, value)) in coo.entries().enumerate() {
        view.row_mut(entry).copy_from_slice(&[row.into(), col.into(), value]);
    }
    Ok(write_npy(entries.view(), file)?)
}
