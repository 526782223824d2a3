//! A as kernels of the CPU want it: made of CSR when a plan is prepared.

mod diagonal_runs;
mod ordered_csr;
mod row_clusters;
mod row_groups;
mod row_windows;
mod sell;
mod side_by_side;
mod sorted_csr;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use diagonal_runs::{DiagonalRuns, Run, Runs};
pub(crate) use ordered_csr::OrderedCsr;
pub(crate) use row_clusters::RowClusters;
pub(crate) use row_groups::{Group, Order, RowGroups};
pub(crate) use row_windows::MOST_ROWS;
pub(crate) use sell::{Border, Sell, Steps, Window};
pub(crate) use sorted_csr::{SIDE_BY_SIDE, SortedCsr, Stretch};
pub(crate) use values::Part;
