//! A block of vectors in memory that ranks of one computer share: each writes its rows, and the others read them there.

use crate::dense::DistributedDense;
use crate::error::Error;
use crate::near::{self, Abreast};
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
    /// Where they begin among those of the ranks of the computer, and how many all of these are.
    first: usize,
    all: usize,
    memory: Memory<S>,
    /// Memory is shared wherever several ranks are on a computer, or there is nothing to share: the same on all ranks.
    is_shared: bool,
    /// A product with it has begun and has not ended well: others may still read it.
    is_lost: AtomicBool,
}

enum Memory<S> {
    /// Rows of all ranks of the computer, in the order of ranks.
    Common(SharedMemory),
    Own(Dense<S>),
}

impl<S: Scalar> SharedDense<S> {
    /// Zeros. Every rank calls it, with the same rows and columns.
    pub fn zeros(ranks: &dyn Ranks, rows: &Partition, cols: usize) -> Result<Self, Error> {
        ranks.agree(match rows.ranks() == ranks.count() {
            true => Ok(()),
            false => Err(format!("rows are cut for {} ranks: there are {}", rows.ranks(), ranks.count())),
        })?;
        let asked = format!(
            "{} rows (fingerprint {}), {cols} columns, {}",
            rows.total(),
            rows.fingerprint(),
            S::NAME
        );
        ranks.same("a shared X", &asked)?;
        let members = near::on_this_computer(ranks)?;
        let abreast = Abreast::new(&members, rows);
        let (mine, first, all) = (rows.rows_of(ranks.rank()), abreast.first(ranks.rank()), abreast.all);
        // A fingerprint can be that of other rows, and what two ranks can write must not overlap.
        let told = ranks.all_gather(bytemuck::cast_slice(&[first as u64, mine as u64]))?;
        let told = |member: &usize| bytemuck::pod_collect_to_vec::<u8, u64>(&told[*member]);
        let expected = |member: &usize| vec![abreast.first(*member) as u64, rows.rows_of(*member) as u64];
        let bytes = all.checked_mul(cols).and_then(|numbers| numbers.checked_mul(size_of::<S>()));
        let bytes = match bytes.filter(|_| members.iter().all(|member| told(member) == expected(member))) {
            Some(bytes) => Ok(bytes),
            None => {
                Err(format!("{all}×{cols} numbers are too many for memory, or cut otherwise on other ranks"))
            }
        };
        let bytes = ranks.agree(bytes)?;
        let common = SharedMemory::new(ranks, &members, bytes)?;
        let mut failed = [f64::from(members.len() > 1 && bytes > 0 && common.is_none())];
        ranks.sum(&mut failed)?;
        let memory = match common {
            Some(memory) => Ok(Memory::Common(memory)),
            None => Dense::zeros(mine, cols).map(Memory::Own).map_err(Error::from),
        };
        let memory = ranks.agree(memory)?;
        let (rows, is_shared, is_lost) = (rows.clone(), failed[0] == 0.0, AtomicBool::new(false));
        Ok(SharedDense { rows, cols, mine, first, all, memory, is_shared, is_lost })
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
            Memory::Common(memory) => {
                // SAFETY: inside the memory of all rows; aligned, since rows come whole from a page's start. Nobody but this rank writes these, and only by `&mut self`.
                unsafe { std::slice::from_raw_parts(self.start(memory, self.first), self.mine * self.cols) }
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
        let (mine, cols, first) = (self.mine, self.cols, self.first);
        let data = match &mut self.memory {
            Memory::Own(dense) => dense.data_mut(),
            Memory::Common(memory) => {
                let start = memory.start().cast::<S>().wrapping_add(first * cols);
                // SAFETY: as in `view`. Others read these rows only in products that this rank takes part in, and which it does not leave before they are done: meanwhile `self` is borrowed. If it leaves one otherwise it is lost.
                unsafe { std::slice::from_raw_parts_mut(start, mine * cols) }
            }
        };
        Ok(DenseViewMut::new(data, mine, cols, cols)?)
    }

    /// Can others read it wherever there are any, on all ranks?
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// What tells it from others of this computer.
    pub(crate) fn identity(&self) -> u64 {
        match &self.memory {
            Memory::Common(memory) => memory.identity(),
            Memory::Own(_) => 0,
        }
    }

    /// Where the rows of this rank begin among those of the computer, and how many all of these are.
    pub(crate) fn place(&self) -> (usize, usize) {
        (self.first, self.all)
    }

    /// Others may read it until `product` returns well. If it does not, or panics, this rank must not write its rows any more, whatever comes after: another product need not wait for those who still read.
    pub(crate) fn while_read<T, E>(&self, product: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let was_lost = self.is_lost.swap(true, Ordering::Relaxed);
        let done = product()?;
        self.is_lost.store(was_lost, Ordering::Relaxed);
        Ok(done)
    }

    /// The rows of all ranks of this computer, in the order of ranks.
    ///
    /// # Safety
    /// Nobody writes those of them that anyone looks at, as long as the view lives.
    pub(crate) unsafe fn rows_here(&self) -> Result<DenseView<'_, S>, Error> {
        match &self.memory {
            Memory::Own(_) if self.all == self.mine => self.view(),
            // Of several ranks, and yet not shared: no numbers.
            Memory::Own(_) => Ok(DenseView::new(&[], self.all, self.cols, self.cols)?),
            Memory::Common(memory) => {
                // SAFETY: all of the memory; the rest is the caller's promise.
                let data = unsafe { std::slice::from_raw_parts(self.start(memory, 0), self.all * self.cols) };
                Ok(DenseView::new(data, self.all, self.cols, self.cols)?)
            }
        }
    }

    fn start(&self, memory: &SharedMemory, row: usize) -> *const S {
        memory.start().cast::<S>().wrapping_add(row * self.cols)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::One;

    #[test]
    fn what_a_product_has_lost_stays_lost() {
        let mut x = SharedDense::<f64>::zeros(&One::default(), &Partition::even(3, 1), 2).unwrap();
        assert_eq!(x.while_read(|| Ok::<_, Error>(1)).unwrap(), 1);
        assert!(x.view_mut().is_ok());
        assert!(x.while_read(|| Err::<(), _>("no")).is_err());
        assert!(x.while_read(|| Ok::<_, Error>(())).is_ok());
        assert!(x.view_mut().is_err() && x.view().is_ok());

        let mut x = SharedDense::<f64>::zeros(&One::default(), &Partition::even(3, 1), 2).unwrap();
        let product = || x.while_read(|| -> Result<(), Error> { std::panic::resume_unwind(Box::new(())) });
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(product)).is_err());
        assert!(x.view_mut().is_err());
    }
}
