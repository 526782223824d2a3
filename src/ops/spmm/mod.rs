//! Y = αAX + βY: A sparse M×N, X dense N×K and Y dense M×K, both row-major with leading dimensions.

mod break_even;
mod ahead;
mod choose;
mod choose_on_cpu;
mod csr_cuda_adaptive;
mod csr_cuda_cusparse;
mod csr_cuda_cusparse_columns;
mod csr_cuda_cusparse_spmv;
mod csr_cuda_lanes;
mod csr_cuda_rows;
mod csr_cuda_shares;
mod csr_cuda_thread;
mod csr_cuda_warp;
mod csr_cuda_warp_row;
mod csr_cuda_windows;
mod csr_ordered;
mod csr_product;
mod csr_serial;
mod csr_threads_clustered;
mod csr_threads_nnz;
mod csr_threads_rows;
mod csr_threads_sorted;
mod device;
mod device_csr;
mod diagonals;
mod ell_cuda;
mod ell_padded_serial;
mod ell_padded_threads;
mod ell_ragged_serial;
mod ell_ragged_threads;
mod fast;
mod flagged;
mod gathered;
mod group_kernel;
mod groups_threads_rows;
mod host;
mod neighbours;
mod oracle;
mod overlapped;
mod parts;
mod parts_in_place;
mod pieces;
mod plan;
mod remembered;
mod replay;
mod row_blocks;
mod row_chunks;
mod row_kernel;
mod rung;
mod sell;
mod sell_cuda_slices;
mod shape;
mod sliced;
mod single_product;
mod stopwatch;
mod span;
mod stretch_kernel;
#[cfg(target_arch = "x86_64")]
mod stretches_avx512;
mod target;
mod teams;
mod tiled;
mod tiling;
mod tune;
#[cfg(target_arch = "x86_64")]
mod vector512;
#[cfg(target_arch = "x86_64")]
mod vector512_parts;
#[cfg(feature = "wrong-variant")]
mod wrong;
mod x_fetches;

pub use break_even::BreakEven;
pub use plan::{Plan, UpdateError};
pub use replay::{Replay, Step};
pub use single_product::multiply;

use super::{
    Choice, Cost, Extent, ORACLE_BYTES_PER_ELEMENT, Op, Prepared, Reference, RunError, Variant, check_shape,
    of_precision,
};
use crate::Scalar;
use crate::io::matrix_market::WriteOptions;
use crate::io::{WriteError, write_matrix_market, write_npy};
use crate::machine::gpu::cusparse::{Algorithm, VectorAlgorithm};
use crate::machine::{DeviceView, DeviceViewMut, Machine, Refusal};
use crate::matrix::{Coo, Csr, Dense, DenseView, DenseViewMut};
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

/// The operation, in one precision.
#[derive(Debug)]
pub struct Spmm<S>(PhantomData<S>);

/// The sparse matrix and the number of columns of X: all that preparing may depend on.
#[derive(Debug, Clone)]
pub struct Subject<S> {
    /// A.
    pub a: Arc<Csr<S>>,
    /// A as it was read, where it was: the oracle walks these triplets, so that a wrong conversion to CSR
    /// cannot hide.
    pub triplets: Option<Arc<Coo<S>>>,
    /// Columns of X and Y.
    pub k: usize,
}

/// What a run reads beside A.
#[derive(Debug, Clone)]
pub struct Inputs<S> {
    /// X.
    pub x: Arc<Dense<S>>,
    /// α.
    pub alpha: S,
    /// β; with 0, Y is not read.
    pub beta: S,
    /// Y before the run, where β is not 0. Its leading dimension is that of the result.
    pub y: Option<Arc<Dense<S>>>,
}

impl<S: Scalar> Inputs<S> {
    /// Y = A·X.
    pub fn product(x: Arc<Dense<S>>) -> Self {
        Inputs { x, alpha: S::ONE, beta: S::ZERO, y: None }
    }
}

/// A prepared product: what the workbench runs, and what the library calls on memory of the user.
pub trait Product<S: Scalar>: Prepared<Spmm<S>> {
    /// Y = αAX + βY. With β = 0, Y is not read; gaps between rows are never touched.
    fn apply(
        &mut self,
        alpha: S,
        x: DenseView<'_, S>,
        beta: S,
        y: DenseViewMut<'_, S>,
    ) -> Result<(), RunError>;

    /// Why another variant would do as well, where preparing has found that out: `auto` then takes that one.
    fn does_not_pay(&self) -> Option<&str> {
        None
    }

    /// Told where operands on the device lie before [`apply_on_device`](Self::apply_on_device) gets them.
    fn get_ready(&mut self, _x: DeviceView<'_, S>, _y: DeviceView<'_, S>) -> Result<(), RunError> {
        Ok(())
    }

    /// The same on operands that lie on the device. Only enqueues.
    fn apply_on_device(
        &mut self,
        _alpha: S,
        _x: DeviceView<'_, S>,
        _beta: S,
        _y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        Err(Refusal::NoDevice.into())
    }
}

/// Every way to do it.
fn list<S: Scalar>() -> &'static [&'static dyn Variant<Spmm<S>>] {
    &[
        &csr_serial::CsrSerial,
        &ell_padded_serial::EllPaddedSerial,
        &ell_ragged_serial::EllRaggedSerial,
        &csr_threads_rows::CsrThreadsRows,
        &ell_padded_threads::EllPaddedThreads,
        &ell_ragged_threads::EllRaggedThreads,
        &csr_threads_nnz::CsrThreadsNnz,
        &csr_threads_sorted::CsrThreadsSorted,
        &csr_threads_clustered::CsrThreadsClustered,
        &groups_threads_rows::GroupsThreadsRows,
        &diagonals::DiagonalsThreadsChunks,
        &sell::SellThreadsSlices,
        &csr_cuda_thread::ADDS_IN_MEMORY,
        &csr_cuda_thread::ADDS_IN_REGISTER,
        &csr_cuda_thread::PER_ELEMENT,
        &csr_cuda_warp::PER_ELEMENT,
        &csr_cuda_lanes::LANES_2,
        &csr_cuda_lanes::LANES_4,
        &csr_cuda_lanes::LANES_8,
        &csr_cuda_lanes::LANES_16,
        &csr_cuda_lanes::LANES_32,
        &csr_cuda_warp_row::PER_ROW,
        &csr_cuda_adaptive::COLUMN,
        &csr_cuda_adaptive::SUB_BLOCKS_8,
        &csr_cuda_adaptive::SUB_BLOCKS_32,
        &csr_cuda_adaptive::SUB_BLOCKS_128,
        &ell_cuda::PADDED_THREAD,
        &ell_cuda::RAGGED_THREAD,
        &ell_cuda::PADDED_LANES,
        &ell_cuda::RAGGED_LANES,
        &sell_cuda_slices::SLICES,
        &sell_cuda_slices::SORTED,
        &csr_cuda_rows::ROWS_8,
        &csr_cuda_rows::ROWS_8_SHUFFLED,
        &csr_cuda_rows::ROWS_32,
        &csr_cuda_rows::ROWS_32_SHUFFLED,
        &csr_cuda_shares::SHARES,
        &csr_cuda_windows::WINDOWS,
        &csr_cuda_cusparse::CsrCudaCusparse(Algorithm::Default),
        &csr_cuda_cusparse::CsrCudaCusparse(Algorithm::Csr1),
        &csr_cuda_cusparse::CsrCudaCusparse(Algorithm::Csr2),
        &csr_cuda_cusparse::CsrCudaCusparse(Algorithm::Csr3),
        &csr_cuda_cusparse_columns::CsrCudaCusparseColumns(Algorithm::Default),
        &csr_cuda_cusparse_columns::CsrCudaCusparseColumns(Algorithm::Csr1),
        &csr_cuda_cusparse_columns::CsrCudaCusparseColumns(Algorithm::Csr2),
        &csr_cuda_cusparse_columns::CsrCudaCusparseColumns(Algorithm::Csr3),
        &csr_cuda_cusparse_spmv::CsrCudaCusparseSpmv(VectorAlgorithm::Default),
        &csr_cuda_cusparse_spmv::CsrCudaCusparseSpmv(VectorAlgorithm::Csr1),
        &csr_cuda_cusparse_spmv::CsrCudaCusparseSpmv(VectorAlgorithm::Csr2),
        #[cfg(feature = "wrong-variant")]
        &wrong::CsrSerialWrong,
    ]
}

#[inline(never)] // see `of_precision`
fn in_f32() -> &'static [&'static dyn Variant<Spmm<f32>>] {
    list()
}

#[inline(never)]
fn in_f64() -> &'static [&'static dyn Variant<Spmm<f64>>] {
    list()
}

impl<S: Scalar> Op for Spmm<S> {
    const NAME: &'static str = "spmm";
    const ABOUT: &'static str = "Y = A·X: a sparse matrix times a block of K vectors";
    type Subject = Subject<S>;
    type Inputs = Inputs<S>;
    type Output = Dense<S>;
    type Ready = dyn Product<S>;

    fn variants() -> &'static [&'static dyn Variant<Self>] {
        of_precision(&in_f32(), &in_f64())
    }

    fn choose(machine: &Machine, subject: &Subject<S>) -> Choice {
        remembered::or_remembered(machine, subject, || choose::choose(machine, subject))
    }

    fn cost(subject: &Subject<S>) -> Cost {
        let (m, n, k) = (subject.a.rows() as u64, subject.a.cols() as u64, subject.k as u64);
        let (nonzeros, scalar_bytes) = (subject.a.nonzeros() as u64, size_of::<S>() as u64);
        let steps = nonzeros.saturating_mul(k);
        Cost {
            flops: steps.saturating_mul(2),
            // As PERFORMANCE counts them: 32-bit columns and row starts, each operand once.
            least_bytes: nonzeros * (4 + scalar_bytes)
                + 4 * (m + 1)
                + (m + n).saturating_mul(k).saturating_mul(scalar_bytes),
            oracle_steps: steps,
            oracle_row_steps: 0,
            oracle_bytes: m.saturating_mul(k).saturating_mul(ORACLE_BYTES_PER_ELEMENT),
            oracle_row_bytes: k.saturating_mul(ORACLE_BYTES_PER_ELEMENT),
        }
    }

    fn oracle(subject: &Subject<S>, inputs: &Inputs<S>, extent: Extent) -> Reference {
        oracle::oracle(subject, inputs, extent)
    }

    fn save(
        subject: &Subject<S>,
        inputs: &Inputs<S>,
        output: &Dense<S>,
        folder: &Path,
    ) -> Result<(), WriteError> {
        let triplets = subject.triplets.clone().unwrap_or_else(|| Arc::new(subject.a.to_coo()));
        write_matrix_market(&triplets, &folder.join("a.mtx"), &WriteOptions::default())?;
        write_npy(inputs.x.view(), &folder.join("x.npy"))?;
        if let Some(y) = &inputs.y {
            write_npy(y.view(), &folder.join("y_before.npy"))?;
        }
        write_npy(output.view(), &folder.join("y_found.npy"))
    }
}

/// What a choice of variants can be based on, by name: cheaper than a product. For those who fit a rule to measurements.
pub fn statistics<S: Scalar>(a: &Csr<S>) -> Vec<(&'static str, f64)> {
    let (shape, like) = (shape::Shape::of(a), neighbours::Neighbours::of(a));
    vec![
        ("rows", a.rows() as f64),
        ("cols", a.cols() as f64),
        ("nonzeros", a.nonzeros() as f64),
        ("mean_length", shape.mean),
        ("longest", shape.longest as f64),
        ("padded", shape.padded),
        ("reuse", shape.reuse),
        ("same_columns", like.same_columns),
        ("length_changes", like.length_changes),
        ("diagonals_of_8", like.diagonals_of_8),
        ("diagonals_of_16", like.diagonals_of_16),
        ("span", like.span),
    ]
}

/// Do X and Y fit A?
fn check_shapes<S: Scalar>(
    a: (usize, usize),
    k: usize,
    x: &DenseView<'_, S>,
    y: (usize, usize),
) -> Result<(), RunError> {
    check_shape("X", (x.rows(), x.cols()), (a.1, k))?;
    check_shape("Y", y, (a.0, k))
}
