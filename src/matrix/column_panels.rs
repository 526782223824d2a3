//! A matrix cut into panels of neighbouring columns, so that what one panel needs of X stays in a cache while it is walked.

use super::{Coo, CsrView, FormatError, SortedCsr};
use crate::Scalar;
use rayon::prelude::*;

/// A sparse matrix as a sum: each panel holds the entries of `columns_per_panel` neighbouring columns and has all the rows.
///
/// Invariant: the panels have the same shape; entry (r, c) stands in panel `c / columns_per_panel`, in the order in which
/// its row had it. There is at least one panel.
///
/// ```
/// use ordito::matrix::{ColumnPanels, CsrView};
/// let a = CsrView::from_parts(1, 4, &[0, 3], &[3, 0, 1], &[1.0, 2.0, 3.0])?;
/// let panels = ColumnPanels::from_csr(a, 2)?;
/// assert_eq!(panels.panels()[0].columns(), &[0, 1]);
/// assert_eq!(panels.panels()[1].columns(), &[3]);
/// # Ok::<(), ordito::matrix::FormatError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnPanels<S> {
    panels: Vec<SortedCsr<S>>,
}

impl<S: Scalar> ColumnPanels<S> {
    /// Cuts the matrix, on the threads of the current rayon pool; 0 columns per panel count as 1.
    pub fn from_csr(a: CsrView<'_, S>, columns_per_panel: usize) -> Result<Self, FormatError> {
        let width = columns_per_panel.max(1);
        let panels = (0..a.cols().div_ceil(width).max(1)).into_par_iter().map(|panel| {
            let (first, end) = (panel * width, a.cols().min((panel + 1) * width));
            // One that has every column is the matrix itself.
            if end - first == a.cols() { SortedCsr::from_csr(a) } else { cut(a, first as u32, end as u32) }
        });
        Ok(ColumnPanels { panels: panels.collect::<Result<_, _>>()? })
    }

    /// The panels, from the first columns to the last.
    pub fn panels(&self) -> &[SortedCsr<S>] {
        &self.panels
    }

    /// The triplets, panel by panel.
    pub fn to_coo(&self) -> Coo<S> {
        let (mut rows, mut cols, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for panel in &self.panels {
            let coo = panel.to_coo();
            rows.extend_from_slice(coo.row_indices());
            cols.extend_from_slice(coo.column_indices());
            values.extend_from_slice(coo.values());
        }
        let shape = self.panels.first().map_or((0, 0), |panel| (panel.rows(), panel.cols()));
        Coo::new(shape.0, shape.1, rows, cols, values).expect("panels have valid indices")
    }

    /// Bytes for so many panels.
    pub fn bytes_for(rows: usize, nonzeros: usize, panels: usize) -> Option<u64> {
        SortedCsr::<S>::bytes_for(rows.checked_mul(panels)?, nonzeros)
    }
}

/// The entries in columns `first..end`, with all rows.
fn cut<S: Scalar>(a: CsrView<'_, S>, first: u32, end: u32) -> Result<SortedCsr<S>, FormatError> {
    let mut offsets = Vec::with_capacity(a.rows() + 1);
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    offsets.push(0);
    for row in 0..a.rows() {
        let range = a.range(row);
        for (&col, &value) in a.columns()[range.clone()].iter().zip(&a.values()[range]) {
            if (first..end).contains(&col) {
                (columns.push(col), values.push(value));
            }
        }
        offsets.push(columns.len());
    }
    SortedCsr::from_csr(CsrView::from_parts(a.rows(), a.cols(), &offsets, &columns, &values)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Csr, Duplicates};

    #[test]
    fn panels_hold_every_entry_once() {
        let places: Vec<(u32, u32)> = (0..700).map(|i| (i * 31 % 90, i * 17 % 100)).collect();
        let (rows, cols) = places.iter().copied().unzip();
        let values = (0..700).map(f64::from).collect();
        let a = Csr::from_coo(&Coo::new(90, 100, rows, cols, values).unwrap(), Duplicates::Keep);
        for width in [0, 1, 7, 50, 99, 100, 1000] {
            let panels = ColumnPanels::from_csr(a.view(), width).unwrap();
            assert_eq!(panels.panels().len(), 100usize.div_ceil(width.max(1)));
            assert_eq!(Csr::from_coo(&panels.to_coo(), Duplicates::Keep), a);
        }
        let none = CsrView::<f32>::from_parts(3, 0, &[0; 4], &[], &[]).unwrap();
        assert_eq!(ColumnPanels::from_csr(none, 8).unwrap().panels().len(), 1);
    }
}
