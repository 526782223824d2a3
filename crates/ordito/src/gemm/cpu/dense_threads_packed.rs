//! Packed panels on all threads, by the crates `gemm-f32` and `gemm-f64`: blocks of A and B are copied into panels that the micro-kernel,
//! chosen for this CPU's vector instructions, reads from end to end; threads share out the blocks of C.
//! Touches each operand a few times, from the cache it was sized for. Loses on tiny products, where packing and waking
//! threads cost more than the product.

use crate::Scalar;
use crate::gemm::cpu::host::{HostKernel, OnHost};
use crate::gemm::product::{Gemm, Product, Shape};
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use gemm_common::Parallelism;
use std::sync::Arc;

/// Multiply-adds below which the crate itself would not wake a second thread, and the pool need not be entered.
pub(crate) const SERIAL_BELOW: u64 = 48 * 48 * 256;

pub(crate) struct DenseThreadsPacked;

struct Kernel(Arc<Machine>);

impl<S: Scalar> HostKernel<S> for Kernel {
    fn multiply(
        &mut self,
        alpha: S,
        a: DenseView<'_, S>,
        b: DenseView<'_, S>,
        beta: S,
        c: DenseViewMut<'_, S>,
    ) {
        multiply_on(&self.0, alpha, a, b, beta, c);
    }
}

/// C = αAB + βC on the threads of `machine`. Shapes have been checked, and no side is 0.
pub(crate) fn multiply_on<S: Scalar>(
    machine: &Machine,
    alpha: S,
    a: DenseView<'_, S>,
    b: DenseView<'_, S>,
    beta: S,
    mut c: DenseViewMut<'_, S>,
) {
    let shape = Shape { m: a.rows(), k: a.cols(), n: b.cols() };
    let threads = machine.threads();
    if threads == 1 || shape.multiply_adds() < SERIAL_BELOW {
        packed(Parallelism::None, alpha, a, b, beta, &mut c);
    } else {
        machine.pool().install(|| packed(Parallelism::Rayon(threads), alpha, a, b, beta, &mut c));
    }
}

fn packed<S: Scalar>(
    parallelism: Parallelism,
    alpha: S,
    a: DenseView<'_, S>,
    b: DenseView<'_, S>,
    beta: S,
    c: &mut DenseViewMut<'_, S>,
) {
    let distance = |leading_dimension: usize| leading_dimension as isize;
    let (m, k, n) = (c.rows(), a.cols(), c.cols());
    let (a_distance, b_distance) = (distance(a.leading_dimension()), distance(b.leading_dimension()));
    let c_distance = distance(c.leading_dimension());
    // The crate likes columns better than rows: it is asked for Cᵀ = Bᵀ · Aᵀ, which is the same numbers in the same places.
    // It calls α what scales C.
    macro_rules! multiply {
        ($scalar:ty, $function:expr) => {
            $function(
                n,
                m,
                k,
                c.data_mut().as_mut_ptr().cast::<$scalar>(),
                c_distance,
                1,
                beta != S::ZERO,
                b.data().as_ptr().cast::<$scalar>(),
                b_distance,
                1,
                a.data().as_ptr().cast::<$scalar>(),
                a_distance,
                1,
                beta.to_f64() as $scalar,
                alpha.to_f64() as $scalar,
                false,
                false,
                false,
                parallelism,
            )
        };
    }
    // SAFETY: the views see to it that every element (row, col) of a matrix lies at row · leading dimension + col of its
    // memory; C is borrowed for writing, so nothing else sees it. Pointers are cast to the type that S is.
    unsafe {
        match S::NAME {
            f32::NAME => multiply!(f32, gemm_f32::gemm::f32::get_gemm_fn()),
            _ => multiply!(f64, gemm_f64::gemm::f64::get_gemm_fn()),
        }
    }
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "dense-threads-packed",
    "packed panels, vector instructions, all threads (the crate gemm)",
    Place::Threads,
    source_file!("gemm/cpu/dense_threads_packed.rs"),
);

impl<S: Scalar> Variant<Gemm<S>> for DenseThreadsPacked {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Product<S>>, Refusal> {
        Ok(OnHost::boxed(machine, Kernel(machine.clone()), *shape))
    }
}
