//! Matrices that sit on the edges.

use ordito::Scalar;
use ordito::matrix::Random;
use ordito::matrix::{Coo, Dense};

/// A named matrix: shape and entries (row, column), values are added by [`fill`].
pub(crate) struct Shape {
    pub(crate) name: String,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) places: Vec<(u32, u32)>,
}

/// What values a test wants.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Values {
    /// Integers from −4 to 4: every sum is exact in f32 and f64, so results must be equal, not close.
    Integers,
    /// Numbers between −1 and 1, a few of them explicit zeros.
    Reals,
}

/// The matrix with values, the same for the same name.
pub(crate) fn fill<S: Scalar>(shape: &Shape, values: Values) -> Coo<S> {
    let mut random = Random::new(shape.name.len() as u64, 7);
    let numbers = shape.places.iter().enumerate().map(|(i, _)| match values {
        Values::Integers => S::from_f64(random.below(9) as f64 - 4.0),
        Values::Reals if i % 17 == 5 => S::ZERO,
        Values::Reals => S::from_f64(2.0 * random.unit() - 1.0),
    });
    let numbers = numbers.collect();
    let (rows, cols) = shape.places.iter().copied().unzip();
    Coo::new(shape.rows, shape.cols, rows, cols, numbers).unwrap()
}

/// `rows × cols` numbers with gaps of NaN between the rows.
#[allow(dead_code)] // not every test has dense operands
pub(crate) fn dense<S: Scalar>(rows: usize, cols: usize, gap: usize, values: Values, seed: u64) -> Dense<S> {
    let mut random = Random::new(seed, 5);
    let mut data = vec![S::POISON; rows * (cols + gap)];
    for row in 0..rows {
        for col in 0..cols {
            let number = match values {
                Values::Integers => random.below(9) as f64 - 4.0,
                Values::Reals => 2.0 * random.unit() - 1.0,
            };
            data[row * (cols + gap) + col] = S::from_f64(number);
        }
    }
    Dense::with_leading_dimension(rows, cols, cols + gap, data).unwrap()
}

/// Every kind of matrix that has ever broken a kernel.
pub(crate) fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    let mut add = |name: &str, rows: usize, cols: usize, places: Vec<(u32, u32)>| {
        shapes.push(Shape { name: format!("{name} {rows}x{cols}"), rows, cols, places });
    };
    for (rows, cols) in [(0, 0), (0, 5), (5, 0), (1, 1), (3, 3)] {
        add("no entries", rows, cols, vec![]);
    }
    add("one entry", 1, 1, vec![(0, 0)]);
    let edges = [(1, 33), (31, 32), (32, 31), (33, 33), (127, 1), (128, 129), (129, 127)];
    for (seed, (rows, cols)) in edges.into_iter().enumerate() {
        let mut random = Random::new(seed as u64, 3);
        let mut scattered = vec![];
        for row in 0..rows as u32 {
            for col in 0..cols as u32 {
                if random.below(8) == 0 {
                    scattered.push((row, col));
                }
            }
        }
        add("scattered", rows, cols, scattered);
    }
    // Rows 0..n have 0, 1, 2 … entries, so every length modulo every unrolling occurs.
    add("staircase", 70, 70, (0..70).flat_map(|row| (0..row).map(move |col| (row, col))).collect());
    add("every other row empty", 65, 40, (0..65).step_by(2).flat_map(|r| [(r, r % 40), (r, 39)]).collect());
    add("one huge row", 129, 3000, (0..3000).map(|col| (64, col)).chain([(0, 7), (128, 2999)]).collect());
    add("one huge column", 3000, 5, (0..3000).map(|row| (row, 4)).collect());
    add("last row only", 100, 10, vec![(99, 9), (99, 0)]);
    let mut random = Random::new(9, 9);
    let mut below = |n: u64| random.below(n) as u32;
    add("unsorted with duplicates", 40, 30, (0..600).map(|_| (below(40), below(30))).collect());
    add("all entries at one place", 3, 3, vec![(1, 2); 50]);
    // Runs of neighbouring diagonals, long, short and single, cut at both sides, with holes now and then.
    let diagonals = (-3i64..=7).chain([-41, -40, -39, 20, 22, 23]);
    let on_them = (0..133i64).flat_map(|row| diagonals.clone().map(move |diagonal| (row, row + diagonal)));
    let inside = on_them.filter(|&(row, col)| (0..120).contains(&col) && (row * 7 + col) % 61 != 3);
    add("diagonals with holes", 133, 120, inside.map(|(row, col)| (row as u32, col as u32)).collect());
    shapes
}

/// A line that is shown although the test passes: what was not tried must be seen.
#[allow(dead_code)] // not every test has something to say
pub(crate) fn say(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}"); // `println!` would be captured
}
