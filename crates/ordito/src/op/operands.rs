//! What the harness of host and device knows of an operation over dense matrices: which are read, which is written, and
//! what shapes they have.

use crate::Scalar;
use crate::matrix::Dense;
use crate::op::{Op, RunError, check_shape};

/// An operation that reads `READ` dense matrices and writes one.
pub(crate) trait DenseOp<const READ: usize>: Op<Inputs: Clone + Send> {
    /// The precision of what is read.
    type Read: Scalar;
    /// The precision of what is written.
    type Written: Scalar;
    /// The numbers beside the matrices: α and β.
    type Factors: Copy;
    /// What is read, for messages.
    const READ_NAMES: [&'static str; READ];
    /// What is written, for messages.
    const WRITTEN_NAME: &'static str;

    /// Is what is written read before: β ≠ 0?
    fn adds(factors: Self::Factors) -> bool;
    /// The operands of the workbench.
    fn operands(inputs: &Self::Inputs) -> Operands<'_, Self, READ>;
    /// The written matrix as a result.
    fn output(shapes: &Shapes<READ>, written: Dense<Self::Written>) -> Self::Output;
    /// A result whose memory a later one may have; `None` where it has another form.
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    fn matrix_of(_output: &mut Self::Output) -> Option<&mut Dense<Self::Written>> {
        None
    }
}

/// Operands of the workbench.
pub(crate) struct Operands<'a, O: DenseOp<READ>, const READ: usize> {
    pub(crate) factors: O::Factors,
    pub(crate) read: [&'a Dense<O::Read>; READ],
    /// What is written as it was before the run; `None` where that does not matter.
    pub(crate) before: Option<&'a Dense<O::Written>>,
}

impl<O: DenseOp<READ>, const READ: usize> Operands<'_, O, READ> {
    /// Are the matrices of these shapes, and is there something to add to where that is asked for?
    pub(crate) fn check(&self, shapes: &Shapes<READ>) -> Result<(), RunError> {
        if self.before.is_none() && O::adds(self.factors) {
            return Err(RunError::NothingToAddTo(O::WRITTEN_NAME));
        }
        let written = self.before.map_or(shapes.written, |before| (before.rows(), before.cols()));
        shapes.check::<O>(self.read.map(|read| (read.rows(), read.cols())), written)
    }
}

/// Rows and columns of the operands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shapes<const READ: usize> {
    pub(crate) read: [(usize, usize); READ],
    pub(crate) written: (usize, usize),
}

impl<const READ: usize> Shapes<READ> {
    /// Are these the shapes? If not, which operand has another one.
    pub(crate) fn check<O: DenseOp<READ>>(
        &self,
        read: [(usize, usize); READ],
        written: (usize, usize),
    ) -> Result<(), RunError> {
        for ((what, found), expected) in O::READ_NAMES.into_iter().zip(read).zip(self.read) {
            check_shape(what, found, expected)?;
        }
        check_shape(O::WRITTEN_NAME, written, self.written)
    }
}
