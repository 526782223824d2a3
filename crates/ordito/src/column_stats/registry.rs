//! The one list of ways to do it.

use crate::Scalar;
use crate::column_stats::cpu::{dense_serial_blocks, dense_threads_blocks};
#[cfg(any(feature = "cuda", feature = "emulator"))]
use crate::column_stats::cuda::{
    dense_cuda_column::{IN_MEMORY, IN_REGISTER},
    dense_cuda_strips::{NARROW, NARROW_MANY_ROWS, WIDE},
    dense_cuda_tree::{INTERLEAVED, SEQUENTIAL, SEQUENTIAL_FROM_HOST, STRIDED, STRIDED_FROM_HOST},
};
use crate::column_stats::reduction::{Columns, Reduction, Shape};
use crate::column_stats::statistics::ALL_STATISTICS;
use crate::column_stats::{Statistics, reference, select};
use crate::machine::{Interrupt, Interrupted, Machine};
use crate::matrix::Dense;
use crate::op::{Choice, Cost, Extent, Op, Reference, Variant, of_precision};
use std::sync::{Arc, LazyLock};

/// On the CPU.
fn on_cpu<S: Scalar>() -> &'static [&'static dyn Variant<Columns<S>>] {
    &[&dense_serial_blocks::DenseSerialBlocks, &dense_threads_blocks::DenseThreadsBlocks]
}

/// By CUDA kernels.
#[cfg(any(feature = "cuda", feature = "emulator"))]
fn by_cuda<S: Scalar>() -> &'static [&'static dyn Variant<Columns<S>>] {
    &[
        &IN_MEMORY,
        &IN_REGISTER,
        &INTERLEAVED,
        &STRIDED,
        &STRIDED_FROM_HOST,
        &SEQUENTIAL[0],
        &SEQUENTIAL[1],
        &SEQUENTIAL[2],
        &SEQUENTIAL[3],
        &SEQUENTIAL_FROM_HOST,
        &NARROW,
        &NARROW_MANY_ROWS,
        &WIDE,
    ]
}

/// Every way to do it.
fn list<S: Scalar>() -> Vec<&'static dyn Variant<Columns<S>>> {
    [
        on_cpu(),
        #[cfg(any(feature = "cuda", feature = "emulator"))]
        by_cuda(),
    ]
    .concat()
}

#[inline(never)] // see `of_precision`
fn in_f32() -> &'static [&'static dyn Variant<Columns<f32>>] {
    static LIST: LazyLock<Vec<&'static dyn Variant<Columns<f32>>>> = LazyLock::new(list);
    &LIST
}

#[inline(never)]
fn in_f64() -> &'static [&'static dyn Variant<Columns<f64>>] {
    static LIST: LazyLock<Vec<&'static dyn Variant<Columns<f64>>>> = LazyLock::new(list);
    &LIST
}

impl<S: Scalar> Op for Columns<S> {
    const NAME: &'static str = "columns";
    const ABOUT: &'static str = "mean, variance, least and greatest element of every column";
    type Subject = Shape;
    /// The matrix.
    type Inputs = Arc<Dense<S>>;
    type Output = Statistics;
    type Ready = dyn Reduction<S>;

    fn variants() -> &'static [&'static dyn Variant<Self>] {
        of_precision(&in_f32(), &in_f64())
    }

    fn choose(machine: &Machine, shape: &Shape) -> Choice {
        select::choose::<S>(machine, *shape)
    }

    fn cost(shape: &Shape) -> Cost {
        let results = (shape.cols as u64).saturating_mul((ALL_STATISTICS * size_of::<f64>()) as u64);
        let elements = shape.elements();
        Cost {
            // Moving data, not computing with them, is the work.
            flops: 0,
            least_bytes: elements.saturating_mul(size_of::<S>() as u64).saturating_add(results),
            // Two passes over what has been made in one: never too long, and never sampled.
            oracle_steps: 0,
            oracle_row_steps: 0,
            oracle_bytes: 0,
            oracle_row_bytes: 0,
        }
    }

    fn oracle(
        _: &Shape,
        data: &Arc<Dense<S>>,
        _: Extent,
        interrupt: &Interrupt,
    ) -> Result<Reference, Interrupted> {
        reference::oracle(data.view(), interrupt)
    }
}
