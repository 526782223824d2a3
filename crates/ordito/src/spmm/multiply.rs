//! The library call for a single product: nothing is prepared.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{Csr, CsrSlices, CsrView, Dense, DenseView, DenseViewMut};
use crate::op::RunError;
use crate::precision::compiled_here;
use crate::spmm::cpu::csr_product::multiply_chunks;
use crate::spmm::cpu::partition::RowChunks;
use crate::spmm::product::check_shapes;
use std::ops::Mul;

/// A single product Y = αAX + βY on all cores, of a [`Csr`] or of borrowed arrays: nothing is copied or converted. With α = 0
/// neither A nor X is read, with β = 0 not Y.
///
/// ```
/// use ordito::{CsrView, DenseView, DenseViewMut};
/// let a = CsrView::from_parts(1, 2, &[0_i64, 2], &[0_i32, 1], &[1.0, 2.0])?;
/// let mut y = [f64::NAN; 2];
/// let x = DenseView::new(&[1.0, 2.0, 3.0, 4.0], 2, 2, 2)?;
/// ordito::spmm::multiply(1.0, &a, x, 0.0, DenseViewMut::new(&mut y, 1, 2, 2)?)?;
/// assert_eq!(y, [7.0, 10.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn multiply<'a, S: Scalar>(
    alpha: S,
    a: impl Into<CsrView<'a, S>>,
    x: DenseView<'_, S>,
    beta: S,
    y: DenseViewMut<'_, S>,
) -> Result<(), RunError> {
    type Multiply<S> =
        fn(S, CsrSlices<'_, S>, DenseView<'_, S>, S, DenseViewMut<'_, S>) -> Result<(), RunError>;
    compiled_here!(S, multiply_slices, Multiply)(alpha, a.into().slices(), x, beta, y)
}

fn multiply_slices<S: Scalar>(
    alpha: S,
    a: CsrSlices<'_, S>,
    x: DenseView<'_, S>,
    beta: S,
    mut y: DenseViewMut<'_, S>,
) -> Result<(), RunError> {
    check_shapes((a.rows(), a.cols()), x.cols(), &x, (y.rows(), y.cols()))?;
    if alpha == S::ZERO {
        y.scale(beta);
        return Ok(());
    }
    let machine = Machine::all_cores()?;
    let chunks = RowChunks::new(a.offsets(), x.cols(), machine.threads());
    multiply_chunks(&machine, a, &chunks, 0, alpha, x, beta, y);
    Ok(())
}

/// `&a * &x`.
///
/// # Panics
/// When `x` does not have as many rows as `a` has columns, or `ORDITO_THREADS` asks for what cannot be; [`multiply`] returns an error
/// instead.
impl<S: Scalar> Mul<&Dense<S>> for &Csr<S> {
    type Output = Dense<S>;

    #[expect(clippy::panic, reason = "an operator has no other way to say so; documented above")]
    fn mul(self, x: &Dense<S>) -> Dense<S> {
        let product = || {
            let mut y = Dense::filled(self.rows(), x.cols(), S::ZERO)?;
            multiply(S::ONE, self, x.view(), S::ZERO, y.view_mut())?;
            Ok(y)
        };
        product().unwrap_or_else(|error: RunError| panic!("A·X: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Coo, Duplicates};

    #[test]
    fn the_operator_multiplies() {
        let x = Dense::from_rows(3, 2, vec![0.1, 0.2, 0.3, 0.4, 0.5, 0.6]).unwrap();
        let coo = Coo::new(3, 3, vec![0, 1, 2], vec![0, 1, 2], vec![1.0; 3]).unwrap();
        assert_eq!(&Csr::from_coo(&coo, Duplicates::Keep) * &x, x);
    }
}
