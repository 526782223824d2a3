//! After how many products has preparing paid for itself?

use crate::units;
use std::fmt;

/// How many products it takes.
///
/// ```
/// use ordito::op::Products;
/// assert_eq!(Products::until_ahead(400.0, 15.0), Products::After(27)); // 400 ns to win back, 15 ns at a time
/// assert_eq!(Products::until_ahead(-1.0, 15.0), Products::AtOnce);
/// assert_eq!(Products::until_ahead(400.0, 0.0), Products::Never);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Products {
    /// It is not faster: it never is ahead, or does not stay so.
    Never,
    /// The difference is within what is known of the times.
    NoDifference,
    /// It is faster and was ready no later.
    AtOnce,
    /// So many.
    After(u64),
}

impl Products {
    /// Where preparing took `lost_ns` more than the other's, and every product takes `gained_ns` less.
    pub fn until_ahead(lost_ns: f64, gained_ns: f64) -> Self {
        if gained_ns <= 0.0 || gained_ns.is_nan() {
            Products::Never
        } else if lost_ns <= 0.0 {
            Products::AtOnce
        } else {
            // After an exact quotient they are even; one more, and it is ahead.
            Products::After((lost_ns / gained_ns).floor() as u64 + 1)
        }
    }
}

impl fmt::Display for Products {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Products::Never => f.pad("never"),
            Products::NoDifference => f.pad("no difference"),
            Products::AtOnce => f.pad("at once"),
            Products::After(products) => f.pad(&units::count(*products)),
        }
    }
}
