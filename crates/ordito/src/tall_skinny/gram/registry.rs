//! The one list of ways to do it.

use crate::Scalar;
use crate::machine::{Interrupt, Interrupted, Machine};
use crate::matrix::Dense;
use crate::op::{Choice, Cost, Extent, ORACLE_BYTES_PER_ELEMENT, Op, Reference, Variant, of_precision};
use crate::tall_skinny::gram::contract::{Gram, InnerProducts, Inputs, Shape};
use crate::tall_skinny::gram::cpu::{dense_serial_loops, dense_threads_panels};
#[cfg(feature = "cuda")]
use crate::tall_skinny::gram::cuda::dense_cuda_cublas;
#[cfg(any(feature = "cuda", feature = "emulator"))]
use crate::tall_skinny::gram::cuda::dense_cuda_tensor;
use crate::tall_skinny::gram::{reference, select};
use std::sync::LazyLock;

/// On the CPU.
fn on_cpu<S: Scalar>() -> &'static [&'static dyn Variant<Gram<S>>] {
    &[&dense_serial_loops::DenseSerialLoops, &dense_threads_panels::DenseThreadsPanels]
}

/// By CUDA kernels.
#[cfg(any(feature = "cuda", feature = "emulator"))]
fn by_cuda<S: Scalar>() -> &'static [&'static dyn Variant<Gram<S>>] {
    &[&dense_cuda_tensor::DenseCudaTensor]
}

/// By NVIDIA's libraries.
#[cfg(feature = "cuda")]
fn by_nvidia<S: Scalar>() -> &'static [&'static dyn Variant<Gram<S>>] {
    &[&dense_cuda_cublas::DenseCudaCublas]
}

/// Every way to do it.
fn list<S: Scalar>() -> Vec<&'static dyn Variant<Gram<S>>> {
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
fn in_f32() -> &'static [&'static dyn Variant<Gram<f32>>] {
    static LIST: LazyLock<Vec<&'static dyn Variant<Gram<f32>>>> = LazyLock::new(list);
    &LIST
}

#[inline(never)]
fn in_f64() -> &'static [&'static dyn Variant<Gram<f64>>] {
    static LIST: LazyLock<Vec<&'static dyn Variant<Gram<f64>>>> = LazyLock::new(list);
    &LIST
}

impl<S: Scalar> Op for Gram<S> {
    const NAME: &'static str = "gram";
    const ABOUT: &'static str = "G = Xᵀ·Y: inner products of few long columns";
    type Subject = Shape;
    type Inputs = Inputs<S>;
    type Output = Dense<f64>;
    type Ready = dyn InnerProducts<S>;

    fn variants() -> &'static [&'static dyn Variant<Self>] {
        of_precision(&in_f32(), &in_f64())
    }

    fn choose(machine: &Machine, shape: &Shape) -> Choice {
        select::choose(machine, *shape)
    }

    fn cost(shape: &Shape) -> Cost {
        let Shape { rows, x_cols, y_cols, symmetric, .. } = *shape;
        let cols = if symmetric { x_cols } else { x_cols.saturating_add(y_cols) };
        let of_g = (x_cols as u64).saturating_mul(y_cols as u64);
        let in_data = (rows as u64).saturating_mul(cols as u64).saturating_mul(size_of::<S>() as u64);
        Cost {
            flops: shape.multiply_adds().saturating_mul(2),
            least_bytes: in_data.saturating_add(of_g.saturating_mul(size_of::<f64>() as u64)),
            // Never sampled: one element takes all rows.
            oracle_steps: 0,
            oracle_row_steps: 0,
            oracle_bytes: of_g.saturating_mul(ORACLE_BYTES_PER_ELEMENT),
            oracle_row_bytes: 0,
        }
    }

    fn oracle(
        shape: &Shape,
        inputs: &Inputs<S>,
        _: Extent,
        interrupt: &Interrupt,
    ) -> Result<Reference, Interrupted> {
        reference::oracle(*shape, inputs, interrupt)
    }
}
