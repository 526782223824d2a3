//! C = αAB + βC: A dense N×M, B dense M×P, C dense N×P, all row-major with leading dimensions.

mod add_slices;
mod choose;
mod dense_cuda_cublas;
mod dense_cuda_ladder;
mod dense_cuda_registers;
mod dense_cuda_tensor_f64;
mod dense_cuda_tensor_tf32x3;
mod dense_cuda_wgmma_tf32x3;
mod dense_serial_blocked;
mod dense_serial_loops;
mod dense_threads_packed;
mod device;
mod host;
mod oracle;
mod plan;
#[cfg(test)]
mod testing;
mod tiled;
mod tiling;

pub use plan::{Plan, gemm};

use super::{
    Choice, Cost, Extent, ORACLE_BYTES_PER_ELEMENT, Op, Prepared, Reference, RunError, Variant, of_precision,
};
use crate::Scalar;
use crate::io::{WriteError, write_npy};
use crate::machine::Machine;
use crate::matrix::{Dense, DenseView, DenseViewMut};
use dense_cuda_ladder as ladder;
use dense_cuda_registers::REGISTERS;
use dense_cuda_tensor_f64::TENSOR_F64;
use dense_cuda_tensor_tf32x3::TENSOR_TF32X3;
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

/// The operation, in one precision.
#[derive(Debug)]
pub struct Gemm<S>(PhantomData<S>);

/// Sizes of the operands: all that preparing may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Rows of A and C.
    pub n: usize,
    /// Columns of A, rows of B: the terms of every sum.
    pub m: usize,
    /// Columns of B and C.
    pub p: usize,
}

impl Shape {
    /// A square product.
    pub fn square(n: usize) -> Self {
        Shape { n, m: n, p: n }
    }
    /// Multiply-adds; as many as 64 bits can say where there are more.
    pub fn multiply_adds(self) -> u64 {
        (self.n as u64).saturating_mul(self.m as u64).saturating_mul(self.p as u64)
    }
}

/// `1000`, or `1000x777x1234` where the sides differ: what the command line takes.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { n, m, p } = *self;
        if n == m && m == p { write!(f, "{n}") } else { write!(f, "{n}x{m}x{p}") }
    }
}

/// What a run reads.
#[derive(Debug, Clone)]
pub struct Inputs<S> {
    /// A.
    pub a: Arc<Dense<S>>,
    /// B.
    pub b: Arc<Dense<S>>,
    /// α.
    pub alpha: S,
    /// β; with 0, C is not read.
    pub beta: S,
    /// C before the run, where β is not 0. Its leading dimension is that of the result.
    pub c: Option<Arc<Dense<S>>>,
}

impl<S: Scalar> Inputs<S> {
    /// C = A·B.
    pub fn product(a: Arc<Dense<S>>, b: Arc<Dense<S>>) -> Self {
        Inputs { a, b, alpha: S::ONE, beta: S::ZERO, c: None }
    }
    /// C = C + A·B.
    pub fn sum(a: Arc<Dense<S>>, b: Arc<Dense<S>>, c: Arc<Dense<S>>) -> Self {
        Inputs { a, b, alpha: S::ONE, beta: S::ONE, c: Some(c) }
    }
}

/// A prepared product: what the workbench runs, and what the library calls on memory of the user.
pub trait Product<S: Scalar>: Prepared<Gemm<S>> {
    /// C = αAB + βC. With β = 0, C is not read; gaps between rows are never touched.
    fn apply(
        &mut self,
        alpha: S,
        a: DenseView<'_, S>,
        b: DenseView<'_, S>,
        beta: S,
        c: DenseViewMut<'_, S>,
    ) -> Result<(), RunError>;
}

/// Every way to do it.
fn list<S: Scalar>() -> &'static [&'static dyn Variant<Gemm<S>>] {
    &[
        &dense_serial_loops::DenseSerialLoops,
        &dense_serial_blocked::DenseSerialBlocked,
        &dense_threads_packed::DenseThreadsPacked,
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
        &REGISTERS[0],
        &REGISTERS[1],
        &TENSOR_F64[0],
        &TENSOR_F64[1],
        &TENSOR_F64[2],
        &TENSOR_F64[3],
        &TENSOR_F64[4],
        &TENSOR_TF32X3[0],
        &TENSOR_TF32X3[1],
        &TENSOR_TF32X3[2],
        &dense_cuda_wgmma_tf32x3::DenseCudaWgmmaTf32x3,
        &dense_cuda_cublas::DenseCudaCublas,
    ]
}

#[inline(never)] // see `of_precision`
fn in_f32() -> &'static [&'static dyn Variant<Gemm<f32>>] {
    list()
}

#[inline(never)]
fn in_f64() -> &'static [&'static dyn Variant<Gemm<f64>>] {
    list()
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
        choose::choose::<S>(machine, *shape)
    }

    fn cost(shape: &Shape) -> Cost {
        let elements = |rows: usize, cols: usize| (rows as u64).saturating_mul(cols as u64);
        let Shape { n, m, p } = *shape;
        let row_bytes = (p as u64).saturating_mul(ORACLE_BYTES_PER_ELEMENT);
        Cost {
            flops: shape.multiply_adds().saturating_mul(2),
            // C is read and written.
            least_bytes: elements(n, m)
                .saturating_add(elements(m, p))
                .saturating_add(elements(n, p).saturating_mul(2))
                .saturating_mul(size_of::<S>() as u64),
            oracle_steps: shape.multiply_adds(),
            oracle_row_steps: elements(m, p),
            oracle_bytes: (n as u64).saturating_mul(row_bytes),
            oracle_row_bytes: row_bytes,
        }
    }

    fn oracle(shape: &Shape, inputs: &Inputs<S>, extent: Extent) -> Reference {
        oracle::oracle(*shape, inputs, extent)
    }

    fn save(_: &Shape, inputs: &Inputs<S>, output: &Dense<S>, folder: &Path) -> Result<(), WriteError> {
        write_npy(inputs.a.view(), &folder.join("a.npy"))?;
        write_npy(inputs.b.view(), &folder.join("b.npy"))?;
        if let Some(c) = &inputs.c {
            write_npy(c.view(), &folder.join("c_before.npy"))?;
        }
        write_npy(output.view(), &folder.join("c_found.npy"))
    }
}

/// Do A, B and C have this shape?
fn check_shapes<S: Scalar>(
    shape: Shape,
    a: &DenseView<'_, S>,
    b: &DenseView<'_, S>,
    c: (usize, usize),
) -> Result<(), RunError> {
    let Shape { n, m, p } = shape;
    let text = |(rows, cols)| format!("{rows}×{cols}");
    let operands =
        [("A", (a.rows(), a.cols()), (n, m)), ("B", (b.rows(), b.cols()), (m, p)), ("C", c, (n, p))];
    for (what, found, expected) in operands {
        if found != expected {
            return Err(RunError::Shape { what, found: text(found), expected: text(expected) });
        }
    }
    Ok(())
}
