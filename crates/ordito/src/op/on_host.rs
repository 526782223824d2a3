//! What the CPU variants of all operations share: a kernel over views, made into what the workbench runs and the library
//! calls.

use crate::Scalar;
use crate::machine::{Interrupt, Machine};
use crate::matrix::{Dense, DenseView, DenseViewMut};
use crate::op::operands::{DenseOp, Operands, Shapes};
use crate::op::{Prepared, RunError};

/// How kernels of the CPU compute an operation.
pub(crate) trait HostOp<const READ: usize>: DenseOp<READ> {
    /// The heart of a CPU variant, a `dyn` trait of the operation.
    type HostKernel: ?Sized + Send;

    /// Rearranges what is read into memory of the kernel; `false` where it reads everything as it is.
    fn repack_on_host(_kernel: &mut Self::HostKernel, _read: [DenseView<'_, Self::Read>; READ]) -> bool {
        false
    }
    /// Repacks and computes, or stops early where the machine is interrupted. Shapes have been checked.
    fn run_on_host(
        kernel: &mut Self::HostKernel,
        factors: Self::Factors,
        read: [DenseView<'_, Self::Read>; READ],
        written: DenseViewMut<'_, Self::Written>,
    );
}

/// A kernel with its operands.
pub(crate) struct OnHost<O: HostOp<READ>, const READ: usize> {
    kernel: Box<O::HostKernel>,
    shapes: Shapes<READ>,
    interrupt: Interrupt,
    /// What the workbench reads, and what it writes.
    loaded: Option<(O::Inputs, Dense<O::Written>)>,
    /// What [`compute`](Self::compute) writes, kept between calls.
    results: Option<Dense<O::Written>>,
}

impl<O: HostOp<READ>, const READ: usize> OnHost<O, READ> {
    /// `machine` is the one that the kernel was prepared for.
    pub(crate) fn new(machine: &Machine, kernel: Box<O::HostKernel>, shapes: Shapes<READ>) -> Self {
        OnHost { kernel, shapes, interrupt: machine.interrupt().clone(), loaded: None, results: None }
    }

    pub(crate) fn kernel(&self) -> &O::HostKernel {
        &self.kernel
    }
    pub(crate) fn kernel_mut(&mut self) -> &mut O::HostKernel {
        &mut self.kernel
    }
    pub(crate) fn shapes(&self) -> &Shapes<READ> {
        &self.shapes
    }
    pub(crate) fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }
    /// Another kernel, made for the machine that this one was made for.
    pub(crate) fn like(&self, kernel: Box<O::HostKernel>, shapes: Shapes<READ>) -> Self {
        OnHost { kernel, shapes, interrupt: self.interrupt.clone(), loaded: None, results: None }
    }

    /// The library's call, on memory of the caller.
    pub(crate) fn apply(
        &mut self,
        factors: O::Factors,
        read: [DenseView<'_, O::Read>; READ],
        written: DenseViewMut<'_, O::Written>,
    ) -> Result<(), RunError> {
        let shapes = read.map(|view| (view.rows(), view.cols()));
        self.shapes.check::<O>(shapes, (written.rows(), written.cols()))?;
        O::run_on_host(&mut self.kernel, factors, read, written);
        Ok(self.interrupt.check()?)
    }

    /// The library's call where the result is handed out in another form.
    pub(crate) fn compute(
        &mut self,
        factors: O::Factors,
        read: [DenseView<'_, O::Read>; READ],
    ) -> Result<&Dense<O::Written>, RunError> {
        let mut results = match self.results.take() {
            Some(results) => results,
            None => poisoned(self.shapes.written)?,
        };
        self.apply(factors, read, results.view_mut())?;
        Ok(self.results.insert(results))
    }
}

/// A matrix in which everything that is not written shows.
pub(crate) fn poisoned<S: Scalar>((rows, cols): (usize, usize)) -> Result<Dense<S>, RunError> {
    Ok(Dense::filled(rows, cols, S::POISON)?)
}

impl<O: HostOp<READ>, const READ: usize> Prepared<O> for OnHost<O, READ> {
    fn load(&mut self, inputs: &O::Inputs) -> Result<(), RunError> {
        let operands = O::operands(inputs);
        operands.check(&self.shapes)?;
        let written = match operands.before {
            Some(before) => before.clone(),
            None => poisoned(self.shapes.written)?,
        };
        self.loaded = Some((inputs.clone(), written));
        Ok(())
    }

    fn reset(&mut self) -> Result<(), RunError> {
        let (inputs, written) = self.loaded.as_mut().ok_or(RunError::NotLoaded)?;
        match O::operands(inputs).before {
            Some(before) => written.data_mut().copy_from_slice(before.data()),
            None => written.data_mut().fill(O::Written::POISON),
        }
        Ok(())
    }

    fn repack(&mut self) -> Result<bool, RunError> {
        let (inputs, _) = self.loaded.as_ref().ok_or(RunError::NotLoaded)?;
        Ok(O::repack_on_host(&mut self.kernel, O::operands(inputs).read.map(Dense::view)))
    }

    fn run(&mut self) -> Result<(), RunError> {
        let (inputs, written) = self.loaded.as_mut().ok_or(RunError::NotLoaded)?;
        let Operands { factors, read, .. } = O::operands(inputs);
        O::run_on_host(&mut self.kernel, factors, read.map(Dense::view), written.view_mut());
        Ok(self.interrupt.check()?)
    }

    fn fetch(&mut self) -> Result<O::Output, RunError> {
        let (_, written) = self.loaded.as_ref().ok_or(RunError::NotLoaded)?;
        Ok(O::output(&self.shapes, written.clone()))
    }
}
