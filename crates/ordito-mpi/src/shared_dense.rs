//! A block of vectors in memory that ranks of one computer share: each writes its rows, and the others read them there.

use crate::dense::DistributedDense;
use crate::error::Error;
use crate::near;
use crate::partition::Partition;
use crate::ranks::{Collective, Ranks};
use crate::shared_memory::SharedMemory;
use ordito::{Dense, DenseView, DenseViewMut, Scalar};
use std::sync::atomic::{AtomicBool, Ordering};

/// Rows of a dense matrix, cut as a [`Partition`] says. Those of the ranks of a computer lie one after the other in common memory, so that
/// [products](crate::Plan::apply_shared) of matrices that were [cut for it](crate::DistributedCsr::with_x_shared) copy none of them. Where memory cannot be shared
/// each rank has its own.
///
/// ```
/// use ordito_mpi::ranks::{Patience, on_threads};
/// use ordito_mpi::{Partition, SharedDense};
/// let rows = Partition::even(5, 2);
/// let first = on_threads(2, Patience::default(), |ranks| -> Result<f64, ordito_mpi::Error> {
///     let mut x = SharedDense::<f64>::zeros(&ranks, &rows, 3)?;
///     x.view_mut()?.data_mut().fill(7.0);
///     Ok(x.view()?.row(0)[0])
/// });
/// assert_eq!(first.into_iter().collect::<Result<Vec<_>, _>>()?, [7.0, 7.0]);
/// # Ok::<(), ordito_mpi::Error>(())
/// ```
pub struct SharedDense<S> {
    rows: Partition,
    cols: usize,
    /// Rows of this rank.
    mine: usize,
    memory: Memory<S>,
    /// Memory is shared wherever several ranks are on a computer: the same on all ranks.
    is_shared: bool,
    /// A product with it failed: others may still read it.
    is_lost: AtomicBool,
}

enum Memory<S> {
    /// Rows of all ranks of the computer, in the order of ranks; where this rank's begin, and how many all are.
    Common {
        memory: SharedMemory,
        first: usize,
        all: usize,
    },
    Own(Dense<S>),
}

impl<S: Scalar> SharedDense<S> {
    /// Zeros. Every rank calls it.
    pub fn zeros(ranks: &dyn Ranks, rows: &Partition, cols: usize) -> Result<Self, Error> {
        let members = near::on_this_computer(ranks)?;
        let before = |wanted| {
            let before = members.iter().take_while(|&&member| member < wanted);
            before.map(|&member| rows.rows_of(member)).sum::<usize>()
        };
        let (first, all) = (before(ranks.rank()), before(usize::MAX));
        let bytes = all.checked_mul(cols).and_then(|numbers| numbers.checked_mul(size_of::<S>()));
        let bytes =
            bytes.ok_or_else(|| Error::Asked(format!("{all}×{cols} numbers are too many for memory")));
        let bytes = ranks.agree(bytes)?;
        let common = SharedMemory::new(ranks, &members, bytes)?;
        // Nothing is shared of nothing, and the same on all ranks of the computer.
        let mut failed = [f64::from(members.len() > 1 && bytes > 0 && common.is_none())];
        ranks.sum(&mut failed)?;
        let mine = rows.rows_of(ranks.rank());
        let memory = match common {
            Some(memory) => Ok(Memory::Common { memory, first, all }),
            None => Dense::zeros(mine, cols).map(Memory::Own).map_err(Error::from),
        };
        let memory = ranks.agree(memory)?;
        let (rows, is_shared, is_lost) = (rows.clone(), failed[0] == 0.0, AtomicBool::new(false));
        Ok(SharedDense { rows, cols, mine, memory, is_shared, is_lost })
    }

    /// A copy of rows that lie elsewhere. Every rank calls it.
    pub fn copy_of(ranks: &dyn Ranks, of: &DistributedDense<S>) -> Result<Self, Error> {
        let from = of.view();
        let mut copy = Self::zeros(ranks, of.rows(), from.cols())?;
        let mut to = copy.view_mut()?;
        (0..from.rows()).for_each(|row| to.row_mut(row).copy_from_slice(from.row(row)));
        Ok(copy)
    }

    /// Whose are which rows.
    pub fn rows(&self) -> &Partition {
        &self.rows
    }
    /// Columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The rows of this rank.
    pub fn view(&self) -> Result<DenseView<'_, S>, Error> {
        let data = match &self.memory {
            Memory::Own(dense) => dense.data(),
            Memory::Common { memory, first, .. } => {
                // SAFETY: inside the memory of all rows; aligned, since rows come whole from a page's start. Nobody but this rank writes these, and only by `&mut self`.
                unsafe { std::slice::from_raw_parts(self.start(memory, *first), self.mine * self.cols) }
            }
        };
        Ok(DenseView::new(data, self.mine, self.cols, self.cols)?)
    }

    /// The rows of this rank, to be changed. An error after a product that failed, since others may still be reading.
    pub fn view_mut(&mut self) -> Result<DenseViewMut<'_, S>, Error> {
        if *self.is_lost.get_mut() {
            let sentence =
                "a product with this shared X failed, and other ranks may still read it: make it anew";
            return Err(Error::Asked(sentence.into()));
        }
        let (mine, cols) = (self.mine, self.cols);
        let data = match &mut self.memory {
            Memory::Own(dense) => dense.data_mut(),
            Memory::Common { memory, first, .. } => {
                let start = memory.start().cast::<S>().wrapping_add(*first * cols);
                // SAFETY: as in `view`. Others read these rows only in products that this rank takes part in, and which it does not leave before they are done: meanwhile `self` is borrowed. If one fails it is lost.
                unsafe { std::slice::from_raw_parts_mut(start, mine * cols) }
            }
        };
        Ok(DenseViewMut::new(data, mine, cols, cols)?)
    }

    /// Is it where others can read it, on all ranks?
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// What tells it from others of this computer.
    pub(crate) fn identity(&self) -> u64 {
        match &self.memory {
            Memory::Common { memory, .. } => memory.identity(),
            Memory::Own(_) => 0,
        }
    }

    /// From now on this rank must not write its rows.
    pub(crate) fn lose(&self) {
        self.is_lost.store(true, Ordering::Relaxed);
    }

    /// The rows of all ranks of this computer, in the order of ranks.
    ///
    /// # Safety
    /// Nobody writes those of them that anyone looks at, as long as the view lives.
    pub(crate) unsafe fn rows_here(&self) -> Result<DenseView<'_, S>, Error> {
        match &self.memory {
            Memory::Own(_) => self.view(),
            Memory::Common { memory, all, .. } => {
                // SAFETY: all of the memory; the rest is the caller's promise.
                let data = unsafe { std::slice::from_raw_parts(self.start(memory, 0), all * self.cols) };
                Ok(DenseView::new(data, *all, self.cols, self.cols)?)
            }
        }
    }

    fn start(&self, memory: &SharedMemory, row: usize) -> *const S {
        memory.start().cast::<S>().wrapping_add(row * self.cols)
    }
}
