//! The one list of ways to do it.

use crate::Scalar;
use crate::machine::{Interrupt, Interrupted, Machine};
use crate::matrix::Dense;
use crate::op::{Choice, Cost, Extent, ORACLE_BYTES_PER_ELEMENT, Op, Reference, Variant, of_precision};
use crate::tall_skinny::combine::contract::{Combination, Combine, Inputs, Shape};
use crate::tall_skinny::combine::cpu::{dense_serial_loops, dense_threads_rows};
#[cfg(feature = "cuda")]
use crate::tall_skinny::combine::cuda::dense_cuda_cublas;
#[cfg(any(feature = "cuda", feature = "emulator"))]
use crate::tall_skinny::combine::cuda::dense_cuda_tensor;
use crate::tall_skinny::combine::{reference, select};
use std::sync::LazyLock;

/// On the CPU.
fn on_cpu<S: Scalar>() -> &'static [&'static dyn Variant<Combine<S>>] {
    &[&dense_serial_loops::DenseSerialLoops, &dense_threads_rows::DenseThreadsRows]
}

/// By CUDA kernels.
#[cfg(any(feature = "cuda", feature = "emulator"))]
fn by_cuda<S: Scalar>() -> &'static [&'static dyn Variant<Combine<S>>] {
    &[&dense_cuda_tensor::DenseCudaTensor]
}

/// By NVIDIA's libraries.
#[cfg(feature = "cuda")]
fn by_nvidia<S: Scalar>() -> &'static [&'static dyn Variant<Combine<S>>] {
    &[&dense_cuda_cublas::DenseCudaCublas]
}

/// Every way to do it.
fn list<S: Scalar>() -> Vec<&'static dyn Variant<Combine<S>>> {
    [
        on_cpu(),
        #[cfg(any(feature = "cuda", feature = "emulator"))]
        by_cuda(),
        #[cfg(feature = "cuda")]
        by_nvidia(),
    ]
    .concat()
}

#[inline(never)] // see `of_precision`
fn in_f32() -> &'static [&'static dyn Variant<Combine<f32>>] {
    static LIST: LazyLock<Vec<&'static dyn Variant<Combine<f32>>>> = LazyLock::new(list);
    &LIST
}

#[inline(never)]
fn in_f64() -> &'static [&'static dyn Variant<Combine<f64>>] {
    static LIST: LazyLock<Vec<&'static dyn Variant<Combine<f64>>>> = LazyLock::new(list);
    &LIST
}

impl<S: Scalar> Op for Combine<S> {
    const NAME: &'static str = "combine";
    const ABOUT: &'static str = "Y = X·C: combinations of few long columns";
    type Subject = Shape;
    type Inputs = Inputs<S>;
    type Output = Dense<S>;
    type Ready = dyn Combination<S>;

    fn variants() -> &'static [&'static dyn Variant<Self>] {
        of_precision(&in_f32(), &in_f64())
    }

    fn choose(machine: &Machine, shape: &Shape) -> Choice {
        select::choose(machine, *shape)
    }

    fn cost(shape: &Shape) -> Cost {
        let Shape { rows, x_cols, y_cols } = *shape;
        let elements = |rows: usize, cols: usize| (rows as u64).saturating_mul(cols as u64);
        let all = elements(rows, x_cols.saturating_add(y_cols)).saturating_add(elements(x_cols, y_cols));
        let row_bytes = (y_cols as u64).saturating_mul(ORACLE_BYTES_PER_ELEMENT);
        Cost {
            flops: shape.multiply_adds().saturating_mul(2),
            least_bytes: all.saturating_mul(size_of::<S>() as u64),
            oracle_steps: shape.multiply_adds(),
            oracle_row_steps: elements(x_cols, y_cols),
            oracle_bytes: (rows as u64).saturating_mul(row_bytes),
            oracle_row_bytes: row_bytes,
        }
    }

    fn oracle(
        shape: &Shape,
        inputs: &Inputs<S>,
        extent: Extent,
        interrupt: &Interrupt,
    ) -> Result<Reference, Interrupted> {
        reference::oracle(*shape, inputs, extent, interrupt)
    }
}
