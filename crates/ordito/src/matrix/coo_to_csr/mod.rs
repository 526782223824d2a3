//! Triplets, or compressed columns, become CSR, on all threads: a counting sort without locks, the same result on any number of threads.
//!
//! `in_order` and `rising` see where nothing has to be sorted; `row_buckets` and `deal` bring entries to buckets of rows; `row_sort`
//! sorts one bucket; `unwritten` is memory that is never zeroed.

mod counting_sort;
mod deal;
mod in_order;
mod rising;
mod row_buckets;
mod row_sort;
mod unwritten;

pub use counting_sort::{SORT_SERIALLY_BELOW, sort_entries};
pub(crate) use counting_sort::{offsets_if_in_order, sort_columns};

/// The files of it, for those who study conversions.
#[doc(hidden)]
pub const SOURCE: &str = concat!(
    include_str!("counting_sort.rs"),
    "\n",
    include_str!("deal.rs"),
    "\n",
    include_str!("row_sort.rs")
);
