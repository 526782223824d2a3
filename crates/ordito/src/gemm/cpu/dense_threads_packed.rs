//! Packed panels on all threads: blocks of A and B are copied into panels that tiles of C, in registers, read from end to end;
//! threads share out the blocks of C.
//! Touches each operand a few times, from the cache it was sized for. Loses on tiny products, where packing and waking
//! threads cost more than the product.

use crate::Scalar;
use crate::gemm::cpu::host::{HostKernel, OnHost};
use crate::gemm::cpu::packed;
use crate::gemm::product::{Gemm, Product, Shape};
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use std::sync::Arc;

/// Multiply-adds below which a second thread is not worth waking.
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
    c: DenseViewMut<'_, S>,
) {
    let shape = Shape { m: a.rows(), k: a.cols(), n: b.cols() };
    let threads = if shape.multiply_adds() < SERIAL_BELOW { 1 } else { machine.threads() };
    packed::multiply(machine, threads, alpha, a, b, beta, c);
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "dense-threads-packed",
    "packed panels, vector instructions, all threads",
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
