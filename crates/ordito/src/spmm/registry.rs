//! The one list of ways to multiply. Help, `list`, `verify`, `bench`, the documents and the tests walk it.

use crate::Scalar;
use crate::machine::{Interrupt, Interrupted, Machine};
use crate::matrix::Dense;
use crate::op::{Choice, Cost, Extent, ORACLE_BYTES_PER_ELEMENT, Op, Reference, Variant, of_precision};
use crate::spmm::cpu::csr_threads_by_length;
use crate::spmm::cpu::csr_threads_clustered;
use crate::spmm::cpu::csr_threads_nnz;
use crate::spmm::cpu::csr_threads_sorted;
use crate::spmm::cpu::diagonals;
use crate::spmm::cpu::groups_threads_rows;
use crate::spmm::cpu::ladder::csr_serial;
use crate::spmm::cpu::ladder::csr_threads_rows;
use crate::spmm::cpu::ladder::ell_padded_serial;
use crate::spmm::cpu::ladder::ell_padded_threads;
use crate::spmm::cpu::ladder::ell_ragged_serial;
use crate::spmm::cpu::ladder::ell_ragged_threads;
#[cfg(feature = "wrong-variant")]
use crate::spmm::cpu::ladder::wrong;
use crate::spmm::cpu::sell;
#[cfg(feature = "cuda")]
use crate::spmm::cuda::cusparse::{csr_cuda_cusparse, csr_cuda_cusparse_columns, csr_cuda_cusparse_spmv};
#[cfg(any(feature = "cuda", feature = "emulator"))]
use crate::spmm::cuda::{
    fast::{csr_cuda_rows, csr_cuda_shares, csr_cuda_windows, diagonals_cuda_slices, sell_cuda_slices},
    ladder::{
        csr_cuda_adaptive, csr_cuda_lanes, csr_cuda_thread, csr_cuda_warp, csr_cuda_warp_row, ell_cuda,
    },
};
use crate::spmm::plan::or_remembered;
use crate::spmm::product::{Inputs, Product, Spmm, Subject};
use crate::spmm::{reference, select};
use std::sync::LazyLock;

/// On the CPU.
fn on_cpu<S: Scalar>() -> &'static [&'static dyn Variant<Spmm<S>>] {
    &[
        &csr_serial::CsrSerial,
        &ell_padded_serial::EllPaddedSerial,
        &ell_ragged_serial::EllRaggedSerial,
        &csr_threads_rows::CsrThreadsRows,
        &ell_padded_threads::EVEN,
        &ell_padded_threads::DEALT,
        &ell_ragged_threads::EVEN,
        &ell_ragged_threads::DEALT,
        &csr_threads_nnz::CsrThreadsNnz,
        &csr_threads_sorted::CsrThreadsSorted,
        &csr_threads_by_length::CsrThreadsByLength,
        &csr_threads_clustered::CsrThreadsClustered,
        &groups_threads_rows::GroupsThreadsRows,
        &diagonals::DiagonalsThreadsChunks,
        &sell::SellThreadsSlices,
    ]
}

/// By CUDA kernels.
#[cfg(any(feature = "cuda", feature = "emulator"))]
fn by_cuda<S: Scalar>() -> &'static [&'static dyn Variant<Spmm<S>>] {
    &[
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
        &diagonals_cuda_slices::SLICES,
    ]
}

/// By NVIDIA's libraries.
#[cfg(feature = "cuda")]
fn by_nvidia<S: Scalar>() -> &'static [&'static dyn Variant<Spmm<S>>] {
    &[
        &csr_cuda_cusparse::DEFAULT,
        &csr_cuda_cusparse::ALG_1,
        &csr_cuda_cusparse::ALG_2,
        &csr_cuda_cusparse::ALG_3,
        &csr_cuda_cusparse_columns::DEFAULT,
        &csr_cuda_cusparse_columns::ALG_1,
        &csr_cuda_cusparse_columns::ALG_2,
        &csr_cuda_cusparse_columns::ALG_3,
        &csr_cuda_cusparse_spmv::DEFAULT,
        &csr_cuda_cusparse_spmv::ALG_1,
        &csr_cuda_cusparse_spmv::ALG_2,
    ]
}

/// Every way to do it.
fn list<S: Scalar>() -> Vec<&'static dyn Variant<Spmm<S>>> {
    [
        on_cpu(),
        #[cfg(any(feature = "cuda", feature = "emulator"))]
        by_cuda(),
        #[cfg(feature = "cuda")]
        by_nvidia(),
        #[cfg(feature = "wrong-variant")]
        &[&wrong::CsrSerialWrong],
    ]
    .concat()
}

#[inline(never)] // see `of_precision`
fn in_f32() -> &'static [&'static dyn Variant<Spmm<f32>>] {
    static LIST: LazyLock<Vec<&'static dyn Variant<Spmm<f32>>>> = LazyLock::new(list);
    &LIST
}

#[inline(never)]
fn in_f64() -> &'static [&'static dyn Variant<Spmm<f64>>] {
    static LIST: LazyLock<Vec<&'static dyn Variant<Spmm<f64>>>> = LazyLock::new(list);
    &LIST
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
        or_remembered(machine, subject, || select::choose(machine, subject))
    }

    fn cost(subject: &Subject<S>) -> Cost {
        let (m, n, k) = (subject.a.rows() as u64, subject.a.cols() as u64, subject.k as u64);
        let (nonzeros, scalar_bytes) = (subject.a.nnz() as u64, size_of::<S>() as u64);
        let steps = nonzeros.saturating_mul(k);
        Cost {
            flops: steps.saturating_mul(2),
            // As docs/timing.md counts them: 32-bit columns and row starts, each operand once.
            least_bytes: nonzeros * (4 + scalar_bytes)
                + 4 * (m + 1)
                + (m + n).saturating_mul(k).saturating_mul(scalar_bytes),
            oracle_steps: steps,
            oracle_row_steps: 0,
            oracle_bytes: m.saturating_mul(k).saturating_mul(ORACLE_BYTES_PER_ELEMENT),
            oracle_row_bytes: k.saturating_mul(ORACLE_BYTES_PER_ELEMENT),
        }
    }

    fn oracle(
        subject: &Subject<S>,
        inputs: &Inputs<S>,
        extent: Extent,
        interrupt: &Interrupt,
    ) -> Result<Reference, Interrupted> {
        reference::oracle(subject, inputs, extent, interrupt)
    }
}
