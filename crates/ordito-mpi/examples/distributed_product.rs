//! A product on ranks from the library: every rank makes its own rows, nobody has all of them.
//!
//! `mpiexec -n 4 distributed_product`; without `mpiexec` it is one rank.

#![allow(clippy::print_stdout, clippy::print_stderr)] // a program for people

use ordito::Machine;
use ordito_mpi::ranks::mpi::{Mpi, launched};
use ordito_mpi::ranks::{Collective, One, Patience, Ranks};
use ordito_mpi::{DistributedCsr, DistributedDense, Error, LocalRows, Partition, Plan};
use std::process::ExitCode;
use std::sync::Arc;

/// Points of a rod, and columns of X.
const POINTS: u64 = 1_000_000;
const K: usize = 8;

/// Rows of −1, 2, −1 about the diagonal: those that are this rank's. Columns are numbered as in the whole matrix, with 64 bits.
fn my_rows(rows: std::ops::Range<u64>) -> Result<LocalRows<f64>, Error> {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in rows {
        let neighbours = [(row.checked_sub(1), -1.0), (Some(row), 2.0), (Some(row + 1), -1.0)];
        for (column, value) in neighbours {
            if let Some(column) = column.filter(|column| *column < POINTS) {
                columns.push(column);
                values.push(value);
            }
        }
        offsets.push(values.len());
    }
    LocalRows::new(POINTS, offsets, columns, values)
}

fn product(ranks: &Arc<dyn Ranks>) -> Result<(), Error> {
    let all: &dyn Ranks = &**ranks;
    let rows = Partition::even(POINTS, all.count());
    let mine = rows.range(all.rank());
    let a = DistributedCsr::from_local_rows(ranks, rows.clone(), rows.clone(), my_rows(mine.clone())?)?;

    // One thread for every rank; `Machine::gpu(0)?` where it has a device.
    let plan = Plan::new(a, &Machine::with_threads(1)?)?;

    // X = the number of the point in every column: A·X is 0 but at the ends.
    let mut x = DistributedDense::<f64>::zeros(all, &rows, K)?;
    for (row, values) in mine.clone().zip(x.local_mut().data_mut().chunks_mut(K)) {
        values.fill(row as f64);
    }
    let mut y = DistributedDense::<f64>::zeros(all, &rows, K)?;
    plan.multiply(1.0, &x, 0.0, &mut y)?; // Y = 1·A·X + 0·Y

    let expected = |row: u64| match row {
        0 => -1.0,
        row if row == POINTS - 1 => POINTS as f64,
        _ => 0.0,
    };
    let wrong =
        mine.zip(y.local().data().chunks(K)).filter(|(row, y)| y.iter().any(|y| *y != expected(*row)));
    let mut wrong = [wrong.count() as f64];
    all.sum(&mut wrong)?;
    // Everyone has the sum; one speaks.
    if all.rank() == 0 {
        let row_bytes = (K * size_of::<f64>()) as u64;
        let travel = plan.volume().total() * row_bytes;
        // Ranks of one computer read each other's rows where they lie.
        let in_place = plan.volume().near_rows.iter().sum::<u64>() * row_bytes;
        let (ranks, wrong) = (all.count(), wrong[0]);
        println!(
            "{POINTS} rows on {ranks} ranks: {wrong} wrong; {travel} bytes travel, {in_place} are read in place"
        );
    }
    all.agree(if wrong[0] == 0.0 { Ok(()) } else { Err("the product is wrong") })?;
    Ok(())
}

fn ranks() -> Result<Arc<dyn Ranks>, Error> {
    Ok(match launched() {
        Some(_) => Arc::new(Mpi::open(Patience::from_environment()?)?),
        None => Arc::new(One::default()),
    })
}

fn main() -> ExitCode {
    let ranks = match ranks() {
        Ok(ranks) => ranks,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    match product(&ranks) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The others wait for this rank: they are told.
            ranks.fail(&error.to_string());
            eprintln!("rank {}: {error}", ranks.rank());
            ExitCode::FAILURE
        }
    }
}
