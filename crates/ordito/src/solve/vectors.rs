//! Vectors that a solver is given, and that it gives back: on the host, or on a device.

use crate::Scalar;
use crate::device::DeviceView;
use crate::matrix::DenseView;

/// Vectors that a solver is given.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a, S> {
    /// In memory of the host.
    Host(DenseView<'a, S>),
    /// In memory of the operator's device.
    Device(DeviceView<'a, S>),
}

impl<S: Scalar> Source<'_, S> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Source::Host(view) => view.rows(),
            Source::Device(view) => view.rows(),
        }
    }
    /// Number of columns.
    pub fn cols(&self) -> usize {
        match self {
            Source::Host(view) => view.cols(),
            Source::Device(view) => view.cols(),
        }
    }
}

impl<'a, S: Scalar> From<DenseView<'a, S>> for Source<'a, S> {
    fn from(view: DenseView<'a, S>) -> Self {
        Source::Host(view)
    }
}

impl<'a, S: Scalar> From<DeviceView<'a, S>> for Source<'a, S> {
    fn from(view: DeviceView<'a, S>) -> Self {
        Source::Device(view)
    }
}
