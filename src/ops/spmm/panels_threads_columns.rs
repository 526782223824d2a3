//! Threaded column panels: all threads do the entries of one panel of columns, whose part of X stays in the second-level cache,
//! then those of the next; Y is added to once per panel. Inside a panel it is `csr-threads-sorted`.
//! Loses where X fits that cache anyway, where rows use few panels, and for wide K, whose lines are used up when fetched.

use super::csr_threads_sorted::multiply_sorted;
use super::host::{HostKernel, OnHost};
use super::row_chunks::{chunk_count, even_borders};
use super::{Product, Spmm, Subject};
use crate::Scalar;
use crate::machine::{Machine, Refusal};
use crate::matrix::{ColumnPanels, DenseView, DenseViewMut};
use crate::ops::{Place, Variant};
use std::sync::Arc;

/// Where the size of the second-level cache is not known.
const L2_BYTES_UNKNOWN: u64 = 1 << 20;
/// More panels cost more in walking Y than they save.
const MOST_PANELS: usize = 16;

pub(super) struct PanelsThreadsColumns;

struct Kernel<S> {
    a: ColumnPanels<S>,
    machine: Arc<Machine>,
    /// Of each panel.
    borders: Vec<Vec<usize>>,
}

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn multiply(&mut self, alpha: S, x: DenseView<'_, S>, beta: S, mut y: DenseViewMut<'_, S>) {
        for (index, (panel, borders)) in self.a.panels().iter().zip(&self.borders).enumerate() {
            let beta = if index == 0 { beta } else { S::ONE };
            multiply_sorted(&self.machine, panel, borders, alpha, x, beta, y.reborrow());
        }
    }
}

/// Columns of a panel: half of the second-level cache for X, the other half for what streams by.
fn columns_per_panel(cols: usize, row_bytes: usize, l2_bytes: u64) -> usize {
    let fit = (l2_bytes / 2) as usize / row_bytes.max(1);
    fit.max(cols.div_ceil(MOST_PANELS)).max(1)
}

impl<S: Scalar> Variant<Spmm<S>> for PanelsThreadsColumns {
    fn name(&self) -> &'static str {
        "panels-threads-columns"
    }
    fn about(&self) -> &'static str {
        "panels of columns whose part of X stays in the second-level cache, one after the other, each as sorted CSR"
    }
    fn place(&self) -> Place {
        Place::Threads
    }
    fn source(&self) -> &'static str {
        include_str!("panels_threads_columns.rs")
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let Subject { a, k, .. } = subject;
        let l2_bytes = machine.cpu().l2_bytes.unwrap_or(L2_BYTES_UNKNOWN);
        let width = columns_per_panel(a.cols(), k.saturating_mul(size_of::<S>()), l2_bytes);
        let panels = a.cols().div_ceil(width).max(1);
        let needed = ColumnPanels::<S>::bytes_for(a.rows(), a.nonzeros(), panels);
        machine.check_memory(format!("{panels} panels of columns"), needed)?;
        let panels = machine.pool().install(|| ColumnPanels::from_csr(a.view(), width))?;
        let rows = a.rows();
        let borders = panels.panels().iter().map(|panel| {
            let work = (panel.columns().len() + rows).saturating_mul(*k);
            let chunks = chunk_count(machine.threads(), work);
            even_borders(rows, chunks, |row| panel.starts()[row] as usize + row)
        });
        let borders = borders.collect();
        let kernel = Kernel { a: panels, machine: machine.clone(), borders };
        Ok(OnHost::boxed(kernel, (rows, a.cols()), *k))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_fit_half_the_cache_and_are_not_too_many() {
        assert_eq!(columns_per_panel(200_000, 16, 2 << 20), 65_536);
        assert_eq!(columns_per_panel(100_000_000, 16, 2 << 20), 6_250_000);
        assert_eq!(columns_per_panel(0, 0, 0), 1);
    }
}
