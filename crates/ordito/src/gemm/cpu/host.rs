//! What every CPU variant shares: a kernel over views, made into a [`Product`] that owns its operands.

use crate::Scalar;
use crate::gemm::operands::shapes;
use crate::gemm::product::{Gemm, Product, Shape};
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut};
use crate::op::RunError;
use crate::op::on_host::{self, HostOp};
use crate::refusal::Refusal;

/// The heart of a CPU variant. Shapes have been checked.
pub(crate) trait HostKernel<S: Scalar>: Send {
    /// C = αAB + βC. Neither α nor a side of A or B is 0.
    fn multiply(
        &mut self,
        alpha: S,
        a: DenseView<'_, S>,
        b: DenseView<'_, S>,
        beta: S,
        c: DenseViewMut<'_, S>,
    );
}

/// A kernel with its operands.
pub(crate) type OnHost<S> = on_host::OnHost<Gemm<S>, 2>;

impl<S: Scalar> OnHost<S> {
    pub(crate) fn boxed(
        machine: &Machine,
        kernel: impl HostKernel<S> + 'static,
        shape: Shape,
    ) -> Box<dyn Product<S>> {
        Box::new(OnHost::new(machine, Box::new(kernel), shapes(shape)))
    }
}

impl<S: Scalar> HostOp<2> for Gemm<S> {
    type HostKernel = dyn HostKernel<S>;

    fn run_on_host(
        kernel: &mut Self::HostKernel,
        (alpha, beta): (S, S),
        [a, b]: [DenseView<'_, S>; 2],
        c: DenseViewMut<'_, S>,
    ) {
        multiply_or_scale(alpha, a, b, beta, c, |a, b, c| kernel.multiply(alpha, a, b, beta, c));
    }
}

impl<S: Scalar> Product<S> for OnHost<S> {
    fn apply(
        &mut self,
        alpha: S,
        a: DenseView<'_, S>,
        b: DenseView<'_, S>,
        beta: S,
        c: DenseViewMut<'_, S>,
    ) -> Result<(), RunError> {
        self.apply((alpha, beta), [a, b], c)
    }
}

/// Some twenty seconds of three plain loops on one core, as long as B lies in its caches: 2700³.
const BEARABLE_MULTIPLY_ADDS: u64 = 20_000_000_000;

/// Refuses a product that one thread would be busy with for minutes, and that is run a dozen times.
pub(crate) fn check_serial_work(machine: &Machine, shape: Shape) -> Result<(), Refusal> {
    let Shape { m, k, n } = shape;
    let steps = (m as u128 * k as u128).saturating_mul(n as u128);
    machine.check_work(format!("{m}×{k} times {k}×{n} on one thread"), steps, BEARABLE_MULTIPLY_ADDS)
}

/// C = αAB + βC through `multiply`, but for what is no product at all: by the rules of BLAS α = 0 reads neither A nor B.
pub(crate) fn multiply_or_scale<'a, S: Scalar>(
    alpha: S,
    a: DenseView<'a, S>,
    b: DenseView<'a, S>,
    beta: S,
    mut c: DenseViewMut<'a, S>,
    multiply: impl FnOnce(DenseView<'a, S>, DenseView<'a, S>, DenseViewMut<'a, S>),
) {
    if c.rows() == 0 || c.cols() == 0 {
        return;
    }
    if alpha == S::ZERO || a.cols() == 0 {
        c.scale(beta);
        return;
    }
    multiply(a, b, c);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::CpuInfo;
    use crate::machine::Limits;

    #[test]
    fn what_takes_one_thread_too_long_is_refused() {
        let cpu = CpuInfo::detect();
        let limits = Limits { work_steps: None, ..Limits::of(&cpu) };
        let machine = |limits| Machine::new(cpu.clone(), 1, limits).unwrap();
        let refused = |limits, shape| check_serial_work(&machine(limits), shape).err();
        assert_eq!(refused(limits, Shape::square(1000)), None);
        assert_eq!(refused(limits, Shape { m: 0, k: usize::MAX, n: usize::MAX }), None);
        assert!(refused(limits, Shape::square(usize::MAX)).is_some());
        assert_eq!(
            refused(limits, Shape::square(5000)).unwrap().to_string(),
            "5000×5000 times 5000×5000 on one thread would take 1.25e11 steps, the limit is 2.00e10"
        );
        let generous = Limits { work_steps: Some(1 << 40), ..limits };
        assert_eq!(refused(generous, Shape::square(5000)), None);
        let strict = Limits { work_steps: Some(999), ..limits };
        assert!(refused(strict, Shape::square(10)).is_some());
    }
}
