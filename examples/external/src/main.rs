//! The largest eigenvalues of a symmetric matrix by block power iteration: the matrix comes from `sprs`, the products
//! are Ordito's. `cargo run --release -- [MATRIX]`, a Matrix Market file or a name such as `stencil27:20`; without one,
//! the Laplacian of a square grid, whose eigenvalues are known.

use ordito::spmm::Plan;
use ordito::{Csr, Dense, Error, Machine};
use sprs::{CsMat, TriMat};

const SIDE: usize = 40;
const VECTORS: usize = 8;
const WANTED: usize = 3;
const ITERATIONS: usize = 3000;

fn main() -> Result<(), Error> {
    let given = std::env::args().nth(1);
    let a: CsMat<f64> = match &given {
        Some(name) => ordito::io::read_csr(name)?.into(),
        None => laplacian(SIDE),
    };
    let found = largest_eigenvalues(&a)?;
    println!("{WANTED} largest eigenvalues of {} rows: {found:.4?}", a.rows());
    if given.is_none() {
        // λ = 4 sin²(πi/2(n+1)) + 4 sin²(πj/2(n+1))
        let part =
            |i: usize| (std::f64::consts::FRAC_PI_2 * i as f64 / (SIDE + 1) as f64).sin().powi(2) * 4.0;
        let known = [2.0 * part(SIDE), part(SIDE) + part(SIDE - 1), part(SIDE) + part(SIDE - 1)];
        let off = found.iter().zip(known).map(|(found, known)| (found - known).abs()).fold(0.0, f64::max);
        println!("known: {known:.4?}, largest difference {off:.1e}");
        assert!(off < 1e-3, "not converged");
    }
    Ok(())
}

/// Five points on a square grid, as a program of `sprs` would build it.
fn laplacian(side: usize) -> CsMat<f64> {
    let mut entries = TriMat::new((side * side, side * side));
    for row in 0..side * side {
        entries.add_triplet(row, row, 4.0);
        let (i, j) = (row / side, row % side);
        let neighbours = [
            (i > 0, row.wrapping_sub(side)),
            (i + 1 < side, row + side),
            (j > 0, row.wrapping_sub(1)),
            (j + 1 < side, row + 1),
        ];
        for (_, column) in neighbours.into_iter().filter(|(inside, _)| *inside) {
            entries.add_triplet(row, column, -1.0);
        }
    }
    entries.to_csr()
}

fn largest_eigenvalues(a: &CsMat<f64>) -> Result<Vec<f64>, Error> {
    let a = Csr::try_from(a)?; // checked; a matrix by columns would be converted
    let n = a.rows();
    let plan = Plan::new(a, &Machine::all_cores()?)?; // converted once, applied often
    // Any start will do that is not orthogonal to what is sought.
    let start = (0..n * VECTORS).map(|i| ((i * 7919 + 13) % 1009) as f64 / 1009.0 - 0.5).collect();
    let (mut x, mut y) = (Dense::from_rows(n, VECTORS, start)?, Dense::zeros(n, VECTORS)?);
    let mut values = vec![0.0; VECTORS];
    for _ in 0..ITERATIONS {
        values = orthonormalise(&mut x);
        plan.apply(1.0, x.view(), 0.0, y.view_mut())?; // Y = A·X
        std::mem::swap(&mut x, &mut y);
    }
    values.truncate(WANTED);
    Ok(values)
}

/// Gram–Schmidt, column by column; the lengths that the columns had.
fn orthonormalise(x: &mut Dense<f64>) -> Vec<f64> {
    let (n, k) = x.shape();
    let data = x.data_mut();
    let mut lengths = Vec::new();
    for col in 0..k {
        for other in 0..col {
            let dot: f64 = (0..n).map(|row| data[row * k + other] * data[row * k + col]).sum();
            (0..n).for_each(|row| data[row * k + col] -= dot * data[row * k + other]);
        }
        let length = (0..n).map(|row| data[row * k + col].powi(2)).sum::<f64>().sqrt();
        (0..n).for_each(|row| data[row * k + col] /= length);
        lengths.push(length);
    }
    lengths
}
