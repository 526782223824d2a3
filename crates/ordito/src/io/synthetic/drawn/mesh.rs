//! Points of a grid and those around them, in order or in any.

use crate::matrix::Random;
use std::sync::Arc;

/// A stream of the seed, beside those of `drawn`.
const ORDER_STREAM: u64 = 1 << 61;

/// Points of a mesh in any order: which point a row is, and which row a point.
#[derive(Debug, Default)]
pub(super) struct Order {
    pub(super) points: Vec<u32>,
    pub(super) rows: Vec<u32>,
}

pub(super) fn shuffled(rows: u64, seed: u64) -> Arc<Order> {
    let mut points: Vec<u32> = (0..rows as u32).collect();
    Random::new(seed, ORDER_STREAM).shuffle(&mut points);
    let mut rows = vec![0; points.len()];
    for (row, &point) in (0..).zip(&points) {
        rows[point as usize] = row;
    }
    Arc::new(Order { points, rows })
}

/// A point of a grid and those around it.
pub(super) fn around(point: u64, side: u64, dimensions: u32, diagonals: bool, mut push: impl FnMut(u64)) {
    let depth = if dimensions == 3 { side } else { 1 };
    let (x, y, z) = (point % side, point / side % side, point / side / side);
    let steps = |at: u64, end: u64| {
        (at.saturating_sub(1)..=(at + 1).min(end - 1)).map(move |to| (to, u8::from(to != at)))
    };
    for (z, along_z) in steps(z, depth) {
        for (y, along_y) in steps(y, side) {
            for (x, along_x) in steps(x, side) {
                if diagonals || along_x + along_y + along_z <= 1 {
                    push((z * side + y) * side + x);
                }
            }
        }
    }
}
