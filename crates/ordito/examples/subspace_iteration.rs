//! The largest eigenvalues of a 5-point stencil, by subspace iteration with a Chebyshev filter: on a GPU where there is one,
//! the block of vectors staying there while it is filtered; else on the CPU. Checked against the known eigenvalues.
//!
//! `cargo run --release --example subspace_iteration`, or with `emulator` behind it: the GPU's kernels without a GPU.

#![allow(clippy::print_stdout)]

use ordito::device::DeviceDense;
use ordito::spmm::Plan;
use ordito::spmm::Step;
use ordito::{Accelerator, Coo, Csr, Dense, Duplicates, Machine};
use std::f64::consts::PI;
use std::sync::Arc;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Grid, vectors, and how many of them must have converged: the last ones are there to help the others.
const WIDTH: usize = 40;
const HEIGHT: usize = 29;
const VECTORS: usize = 8;
const WANTED: usize = 4;
/// Degree of the filter, even; sweeps of filtering and making the vectors orthonormal again.
const DEGREE: usize = 60;
const SWEEPS: usize = 25;
/// The filter damps eigenvalues from 0 to here; all are below 8.
const DAMPED_TO: f64 = 7.8;

fn main() -> Outcome<()> {
    let machine = machine()?;
    // A − cI: the interval that is damped then lies around 0, and a filter step is one product αAX + βY.
    let centre = DAMPED_TO / 2.0;
    let mut plan = Plan::new(stencil(4.0 - centre)?, &machine)?;
    let choice = plan.prepare(VECTORS)?.choice;
    println!("{} ({})", choice.variant, choice.reason);

    let mut vectors: Dense<f64> = ordito::matrix::random_dense(WIDTH * HEIGHT, VECTORS, 1)?;
    orthonormalize(&mut vectors);
    if plan.device().is_some() {
        on_device(&mut plan, &mut vectors)?;
    } else {
        on_cpu(&mut plan, &mut vectors)?;
    }

    let mut images = Dense::filled(WIDTH * HEIGHT, VECTORS, 0.0)?;
    plan.apply(1.0, vectors.view(), 0.0, images.view_mut())?;
    println!("{:>14} {:>14} {:>9}", "found", "known", "error");
    for (vector, known) in known_eigenvalues().into_iter().take(WANTED).enumerate() {
        let found = centre + dot(&vectors, vector, &images, vector); // of a unit vector: its Rayleigh quotient
        let error = (found - known).abs();
        println!("{found:14.10} {known:14.10} {error:9.1e}");
        if error.is_nan() || error > 1e-8 {
            return Err(format!("eigenvalue {vector} is wrong").into());
        }
    }
    Ok(())
}

/// With a GPU where there is one, or as the argument says.
fn machine() -> Outcome<Arc<Machine>> {
    let machine = Machine::all_cores()?;
    match std::env::args().nth(1).as_deref() {
        Some("emulator") => return Ok(machine.with_accelerator(Accelerator::Emulator)),
        Some(other) => return Err(format!("`{other}` is unknown: nothing or `emulator`").into()),
        None => {}
    }
    let with_gpu = machine.with_accelerator(Accelerator::Cuda(0));
    match with_gpu.device() {
        Ok(device) => {
            println!("on {}", device.limits().name);
            Ok(with_gpu)
        }
        Err(refusal) => {
            println!("on the CPU: {refusal}");
            Ok(machine)
        }
    }
}

/// The filter T(A) by T₀ = X, T₁ = A·X/r, Tⱼ₊₁ = 2A·Tⱼ/r − Tⱼ₋₁, all on the device, as one recording: the vectors come to the
/// host only to be made orthonormal.
fn on_device(plan: &mut Plan<f64>, vectors: &mut Dense<f64>) -> Outcome<()> {
    let device = plan.device().ok_or("no device")?.clone();
    let mut even = DeviceDense::new(&device, "even terms", vectors.rows(), VECTORS)?;
    let mut odd = DeviceDense::new(&device, "odd terms", vectors.rows(), VECTORS)?;
    let steps = (0..DEGREE).map(|step| {
        let (alpha, beta) = factors(step);
        match step % 2 {
            0 => Step::new(alpha, even.view(), beta, odd.view_mut()),
            _ => Step::new(alpha, odd.view(), beta, even.view_mut()),
        }
    });
    let steps = steps.collect();
    let mut filter = plan.record(steps)?;
    for _ in 0..SWEEPS {
        even.write(vectors.view())?;
        filter.launch()?;
        even.read(vectors.view_mut())?;
        orthonormalize(vectors);
    }
    Ok(())
}

/// The same on the CPU.
fn on_cpu(plan: &mut Plan<f64>, vectors: &mut Dense<f64>) -> Outcome<()> {
    let mut odd = vectors.clone();
    for _ in 0..SWEEPS {
        for step in 0..DEGREE {
            let (alpha, beta) = factors(step);
            match step % 2 {
                0 => plan.apply(alpha, vectors.view(), beta, odd.view_mut())?,
                _ => plan.apply(alpha, odd.view(), beta, vectors.view_mut())?,
            }
        }
        orthonormalize(vectors);
    }
    Ok(())
}

/// α and β of a step of the filter.
fn factors(step: usize) -> (f64, f64) {
    let radius = DAMPED_TO / 2.0;
    if step == 0 { (1.0 / radius, 0.0) } else { (2.0 / radius, -1.0) }
}

/// `diagonal` on the diagonal, −1 for each neighbour on the grid.
fn stencil(diagonal: f64) -> Outcome<Csr<f64>> {
    let (mut rows, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut add = |row: usize, column: usize, value: f64| {
        rows.push(row as u32);
        columns.push(column as u32);
        values.push(value);
    };
    for (y, x) in (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (y, x))) {
        let point = y * WIDTH + x;
        add(point, point, diagonal);
        if x + 1 < WIDTH {
            add(point, point + 1, -1.0);
            add(point + 1, point, -1.0);
        }
        if y + 1 < HEIGHT {
            add(point, point + WIDTH, -1.0);
            add(point + WIDTH, point, -1.0);
        }
    }
    let points = WIDTH * HEIGHT;
    Ok(Csr::from_coo(&Coo::new(points, points, rows, columns, values)?, Duplicates::Sum))
}

/// 4 − 2 cos(iπ/(WIDTH+1)) − 2 cos(jπ/(HEIGHT+1)), the largest first.
fn known_eigenvalues() -> Vec<f64> {
    let part = |number: usize, side: usize| 2.0 * (number as f64 * PI / (side + 1) as f64).cos();
    let pairs = (1..=WIDTH).flat_map(|i| (1..=HEIGHT).map(move |j| (i, j)));
    let mut values: Vec<f64> = pairs.map(|(i, j)| 4.0 - part(i, WIDTH) - part(j, HEIGHT)).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

fn dot(a: &Dense<f64>, i: usize, b: &Dense<f64>, j: usize) -> f64 {
    (0..a.rows()).map(|row| a.view().row(row)[i] * b.view().row(row)[j]).sum()
}

/// Gram and Schmidt, each vector against those before it, twice: once leaves what rounding left.
fn orthonormalize(vectors: &mut Dense<f64>) {
    for vector in 0..vectors.cols() {
        for _ in 0..2 {
            for before in 0..vector {
                let share = dot(vectors, before, vectors, vector);
                for row in vectors.data_mut().chunks_exact_mut(VECTORS) {
                    row[vector] -= share * row[before];
                }
            }
        }
        let length = dot(vectors, vector, vectors, vector).sqrt();
        for row in vectors.data_mut().chunks_exact_mut(VECTORS) {
            row[vector] /= length;
        }
    }
}
