//! The one list of ways to do it.

use crate::Scalar;
use crate::gemm::cpu::{dense_serial_blocked, dense_serial_loops, dense_threads_packed};
#[cfg(feature = "cuda")]
use crate::gemm::cuda::dense_cuda_cublas;
#[cfg(any(feature = "cuda", feature = "emulator"))]
use crate::gemm::cuda::{
    fast::{
        dense_cuda_narrow, dense_cuda_registers::REGISTERS, dense_cuda_tensor_f64::TENSOR_F64,
        dense_cuda_tensor_f64_rows, dense_cuda_tensor_tf32x3::TENSOR_TF32X3, dense_cuda_wgmma_tf32x3,
    },
    ladder::dense_cuda_ladder as ladder,
};
use crate::gemm::product::{Gemm, Inputs, Product, Shape};
use crate::gemm::{reference, select};
use crate::machine::{Interrupt, Interrupted, Machine};
use crate::matrix::Dense;
use crate::op::{Choice, Cost, Extent, ORACLE_BYTES_PER_ELEMENT, Op, Reference, Variant, of_precision};
use std::sync::LazyLock;

/// On the CPU.
fn on_cpu<S: Scalar>() -> &'static [&'static dyn Variant<Gemm<S>>] {
    &[
        &dense_serial_loops::DenseSerialLoops,
        &dense_serial_blocked::DenseSerialBlocked,
        &dense_threads_packed::DenseThreadsPacked,
    ]
}

/// By CUDA kernels.
#[cfg(any(feature = "cuda", feature = "emulator"))]
fn by_cuda<S: Scalar>() -> &'static [&'static dyn Variant<Gemm<S>>] {
    &[
        &ladder::ELEMENT_BY_ROW[0],
        &ladder::ELEMENT_BY_ROW[1],
        &ladder::ELEMENT_BY_ROW[2],
        &ladder::ELEMENT_BY_ROW[3],
        &ladder::TILE_BY_ROW[0],
        &ladder::TILE_BY_ROW[1],
        &ladder::TILE_BY_ROW[2],
        &ladder::TILE_BY_ROW[3],
        &ladder::ELEMENT_BY_COLUMN[0],
        &ladder::ELEMENT_BY_COLUMN[1],
        &ladder::ELEMENT_BY_COLUMN[2],
        &ladder::ELEMENT_BY_COLUMN[3],
        &ladder::TILE_BY_COLUMN[0],
        &ladder::TILE_BY_COLUMN[1],
        &ladder::TILE_BY_COLUMN[2],
        &ladder::TILE_BY_COLUMN[3],
        &dense_cuda_narrow::DenseCudaNarrow,
        &REGISTERS[0],
        &REGISTERS[1],
        &TENSOR_F64[0],
        &TENSOR_F64[1],
        &TENSOR_F64[2],
        &TENSOR_F64[3],
        &TENSOR_F64[4],
        &TENSOR_F64[5],
        &TENSOR_F64[6],
        &TENSOR_F64[7],
        &TENSOR_F64[8],
        &dense_cuda_tensor_f64_rows::DenseCudaTensorRowsF64,
        &TENSOR_TF32X3[0],
        &TENSOR_TF32X3[1],
        &TENSOR_TF32X3[2],
        &dense_cuda_wgmma_tf32x3::DenseCudaWgmmaTf32x3,
    ]
}

/// By NVIDIA's libraries.
#[cfg(feature = "cuda")]
fn by_nvidia<S: Scalar>() -> &'static [&'static dyn Variant<Gemm<S>>] {
    &[&dense_cuda_cublas::DenseCudaCublas]
}

/// Every way to do it.
fn list<S: Scalar>() -> Vec<&'static dyn Variant<Gemm<S>>> {
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
fn in_f32() -> &'static [&'static dyn Variant<Gemm<f32>>] {
    static LIST: LazyLock<Vec<&'static dyn Variant<Gemm<f32>>>> = LazyLock::new(list);
    &LIST
}

#[inline(never)]
fn in_f64() -> &'static [&'static dyn Variant<Gemm<f64>>] {
    static LIST: LazyLock<Vec<&'static dyn Variant<Gemm<f64>>>> = LazyLock::new(list);
    &LIST
}

impl<S: Scalar> Op for Gemm<S> {
    const NAME: &'static str = "gemm";
    const ABOUT: &'static str = "C = C + A·B: dense matrices";
    type Subject = Shape;
    type Inputs = Inputs<S>;
    type Output = Dense<S>;
    type Ready = dyn Product<S>;

    fn variants() -> &'static [&'static dyn Variant<Self>] {
        of_precision(&in_f32(), &in_f64())
    }

    fn choose(machine: &Machine, shape: &Shape) -> Choice {
        select::choose::<S>(machine, *shape)
    }

    fn cost(shape: &Shape) -> Cost {
        let elements = |rows: usize, cols: usize| (rows as u64).saturating_mul(cols as u64);
        let Shape { m, k, n } = *shape;
        let row_bytes = (n as u64).saturating_mul(ORACLE_BYTES_PER_ELEMENT);
        Cost {
            flops: shape.multiply_adds().saturating_mul(2),
            // C is read and written.
            least_bytes: elements(m, k)
                .saturating_add(elements(k, n))
                .saturating_add(elements(m, n).saturating_mul(2))
                .saturating_mul(size_of::<S>() as u64),
            oracle_steps: shape.multiply_adds(),
            oracle_row_steps: elements(k, n),
            oracle_bytes: (m as u64).saturating_mul(row_bytes),
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
