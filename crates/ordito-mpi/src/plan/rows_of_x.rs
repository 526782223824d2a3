//! Where rows of X for others are taken from: a matrix of the host, or what a device has packed.

use crate::error::Error;
use crate::halo::Halo;
use crate::near::Near;
use crate::plan::rows::{copy, gather};
use ordito::{DenseView, Scalar};

/// X of this rank, as those see it who send rows of it. Each fills memory for messages, or common memory.
pub(super) trait RowsOfX<S> {
    /// What others of this computer read in place.
    fn published(&mut self, near: &Near, into: &mut [S]) -> Result<(), Error>;
    /// The same as messages, for each of them its own.
    fn to_near(&mut self, near: &Near, into: &mut [S]) -> Result<(), Error>;
    /// What goes to other computers.
    fn to_far(&mut self, halo: &Halo, into: &mut [S]) -> Result<(), Error>;
}

impl<S: Scalar> RowsOfX<S> for DenseView<'_, S> {
    fn published(&mut self, near: &Near, into: &mut [S]) -> Result<(), Error> {
        match near.is_whole {
            true => copy(*self, into),
            false => gather(*self, near.published.iter().map(|&row| row as usize), into),
        }
        Ok(())
    }
    fn to_near(&mut self, near: &Near, into: &mut [S]) -> Result<(), Error> {
        gather(*self, near.halo.rows_to_send(), into);
        Ok(())
    }
    fn to_far(&mut self, halo: &Halo, into: &mut [S]) -> Result<(), Error> {
        gather(*self, halo.rows_to_send(), into);
        Ok(())
    }
}
