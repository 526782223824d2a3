//! Several teams in one process, callers from many threads and from pools of their own: each gets its result.

#![cfg(feature = "io")]
#![allow(clippy::unwrap_used, clippy::panic)] // in helpers of tests too

use ordito::spmm::{Plan, multiply};
use ordito::{Csr, Dense, Machine};
use rayon::prelude::*;
use std::process::Command;
use std::sync::Arc;

const K: usize = 5;
const CALLS: usize = 50;

/// A matrix, X, and A·X. The numbers are whole and small, so that sums in any order are the same.
fn case(seed: usize) -> (Arc<Csr<f64>>, Dense<f64>, Dense<f64>) {
    let a: Csr<f64> = ordito::io::read_csr("stencil5:80").unwrap();
    let ((rows, cols), (offsets, columns, values)) = (a.shape(), a.into_parts());
    let values = (0..values.len()).map(|i| (i % 7) as f64 - 3.0).collect();
    let a = Csr::from_parts(rows, cols, offsets, columns, values).unwrap();
    let x: Vec<f64> = (0..a.cols() * K).map(|i| ((i + seed) % 17) as f64 - 8.0).collect();
    let mut y = vec![0.0; a.rows() * K];
    for (row, col, value) in a.to_coo().entries() {
        for k in 0..K {
            y[row as usize * K + k] += value * x[col as usize * K + k];
        }
    }
    let dense = |rows, data| Dense::from_rows(rows, K, data).unwrap();
    (Arc::new(a.clone()), dense(a.cols(), x), dense(a.rows(), y))
}

/// Products and a transpose, many times.
fn call(machine: &Arc<Machine>, seed: usize) {
    let (a, x, expected) = case(seed);
    let plan = Plan::new(a.clone(), machine).unwrap();
    for round in 0..CALLS {
        let mut y = Dense::filled(a.rows(), K, f64::NAN).unwrap();
        plan.apply(1.0, x.view(), 0.0, y.view_mut()).unwrap();
        assert!(y == expected, "a plan, seed {seed}, round {round}");
        let mut y = Dense::filled(a.rows(), K, f64::NAN).unwrap();
        multiply(1.0, &*a, x.view(), 0.0, y.view_mut()).unwrap();
        assert!(y == expected, "a product, seed {seed}, round {round}");
    }
    assert!(a.transpose().transpose() == *a, "transposing");
}

#[test]
fn eight_threads_share_a_machine() {
    let machine = Machine::with_threads(2).unwrap();
    std::thread::scope(|scope| {
        (0..8).for_each(|seed| {
            drop(scope.spawn({
                let machine = &machine;
                move || call(machine, seed)
            }))
        })
    });
}

#[test]
fn several_machines_work_at_once() {
    std::thread::scope(|scope| {
        for threads in 1..=4 {
            scope.spawn(move || {
                let machine = Machine::with_threads(threads).unwrap();
                call(&machine, threads);
                call(&machine.pinned().unwrap_or(machine), threads);
            });
        }
    });
}

#[test]
fn a_pool_of_the_caller_may_call() {
    let machine = Machine::with_threads(3).unwrap();
    let caller = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    caller.install(|| (0..12).into_par_iter().for_each(|seed| call(&machine, seed)));
    caller.install(|| call(&Machine::all_cores().unwrap(), 0));
}

#[test]
fn all_cores_are_as_many_as_the_variable_says() {
    const NAME: &str = "all_cores_are_as_many_as_the_variable_says";
    const EXPECTED: &str = "ORDITO_TEST_THREADS";
    let cores = || std::thread::available_parallelism().unwrap().get();
    let found = || match Machine::all_cores() {
        Ok(machine) => machine.threads().to_string(),
        Err(refusal) => refusal.to_string(),
    };
    if let Ok(expected) = std::env::var(EXPECTED) {
        assert_eq!(found(), expected);
        let (a, x, y) = case(0); // one that asks nobody, and one that asks for threads
        assert!(a.transpose().transpose() == *a);
        let mut found = Dense::zeros(a.rows(), K).unwrap();
        match multiply(1.0, &*a, x.view(), 0.0, found.view_mut()) {
            Ok(()) => assert!(found == y),
            Err(error) => assert_eq!(error.to_string(), expected),
        }
        return;
    }
    // The variable is asked once in a process: every value has one of its own.
    let wrong = |wish: &str| {
        let most = 32 * cores();
        format!("ORDITO_THREADS={wish}: between 1 and {most} threads can be asked for on this computer")
    };
    let cases = [("", cores().to_string()), ("1", "1".into()), ("3", "3".into())].into_iter();
    let wrong = ["0", "some", "100000000"].into_iter().map(|wish| (wish, wrong(wish)));
    for (wish, expected) in cases.chain(wrong) {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", NAME])
            .envs([("ORDITO_THREADS", wish), (EXPECTED, &expected)])
            .output()
            .unwrap();
        assert!(output.status.success(), "{wish}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
    }
}
