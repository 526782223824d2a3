//! Eigenvalues and their vectors.

use crate::device::DeviceDense;
use crate::matrix::Dense;
use crate::solve::history::History;

/// Which end of the spectrum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Which {
    /// The largest, falling.
    #[default]
    Largest,
    /// The smallest, rising.
    Smallest,
    /// Those of the largest |λ|, falling: of both ends. Not for [`lobpcg`](crate::solve::lobpcg).
    LargestMagnitude,
}

impl Which {
    /// Numbers of values that rise, best first.
    pub(crate) fn order(self, values: &[f64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..values.len()).collect();
        match self {
            Which::Smallest => {}
            Which::Largest => order.reverse(),
            Which::LargestMagnitude => order.sort_by(|&i, &j| values[j].abs().total_cmp(&values[i].abs())),
        }
        order
    }
}

/// Eigenvalues, their vectors, and how well they fit.
#[derive(Debug)]
#[non_exhaustive]
pub struct Eigenpairs<S> {
    /// λ: falling where the largest were asked for, else rising.
    pub values: Vec<f64>,
    /// A column for each, orthonormal (in the inner product of B); no columns where they were [kept](crate::solve::Control::keep_on_device) on
    /// the device.
    pub vectors: Dense<S>,
    /// Where that was asked for, and blocks lie on a device.
    pub vectors_on_device: Option<DeviceDense<S>>,
    /// ‖Ax − λBx‖ of each, computed with fresh products. Where B is the unit matrix an eigenvalue lies within that distance of λ.
    pub residuals: Vec<f64>,
    /// How they were found.
    pub history: History,
}
