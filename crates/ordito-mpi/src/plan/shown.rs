//! Rows of X that ranks of one computer show each other, for products with so many columns.
//!
//! Rows are written into common memory, and those who read them are told so by a message. There are two places, used in turn: what is read in one product is overwritten in the next but one at the earliest, and by then
//! every reader has said, by its message of the product between, that it is done. Where memory cannot be shared, rows come as messages and are put where they would be read.
//!
//! Where X itself lies in common memory nothing is copied: all tell their partners that it can be read, and none leaves the product before its partners have said that they have read it.
//!
//! A device is given only rows that it multiplies, in one copy: where they lie in several ranges, they are brought together first, in memory that it copies
//! from fastest. A copy of every range would be one that is waited for.

use crate::error::Error;
use crate::near::Near;
use crate::plan::Plan;
use crate::plan::rows_of_x::RowsOfX;
use crate::ranks::{Exchange, Message, Ranks, Tag};
use crate::shared_dense::SharedDense;
use crate::shared_memory::SharedMemory;
use ordito::device::PinnedDense;
use ordito::{DenseView, Scalar};
use std::ops::Range;
use std::sync::atomic::{Ordering, fence};

pub(super) enum Shown<S> {
    /// Nobody reads, nothing is read.
    Nothing,
    InMemory {
        memory: SharedMemory,
        told: Box<dyn Exchange>,
        second: bool,
        /// Several ranges of it; none where one is read in place.
        together: Option<PinnedDense<S>>,
    },
    AsMessages {
        exchange: Box<dyn Exchange>,
        rows: PinnedDense<S>,
    },
    /// X itself lies in common memory.
    InPlace {
        told: Box<dyn Exchange>,
    },
}

impl<S: Scalar> Shown<S> {
    /// Every rank calls it.
    pub(super) fn new(plan: &Plan<S>, k: usize) -> Result<Self, Error> {
        let (ranks, near) = (&*plan.ranks, &plan.near);
        let row_bytes = k * size_of::<S>();
        // Readers of any row of any member need all of them mapped: members agree.
        let memory = SharedMemory::new(ranks, &near.members, 2 * near.all_published * row_bytes)?;
        if near.all_published == 0 {
            return Ok(Shown::Nothing);
        }
        if let Some(memory) = memory {
            let told = told(ranks, near)?;
            let is_one = near.read.len() <= 1;
            let together = if is_one { None } else { Some(plan.machine.pinned_dense(near.total, k)?) };
            return Ok(Shown::InMemory { memory, told, second: false, together });
        }
        let (outgoing, incoming) = near.halo.messages(row_bytes);
        let exchange = ranks.exchange(Tag::SHOWN, &outgoing, &incoming)?;
        Ok(Shown::AsMessages { exchange, rows: plan.machine.pinned_dense(near.total, k)? })
    }

    /// For an X that ranks of a computer share.
    pub(super) fn in_place(plan: &Plan<S>) -> Result<Self, Error> {
        Ok(Shown::InPlace { told: told(&*plan.ranks, &plan.near)? })
    }

    /// Tells partners that this rank's rows of X can be read where they lie.
    pub(super) fn open(&mut self, x: &SharedDense<S>) -> Result<(), Error> {
        let Shown::InPlace { told } = self else { return Ok(()) };
        bytemuck::cast_slice_mut(told.outgoing()).fill(x.identity());
        fence(Ordering::Release); // before anyone is told
        Ok(told.start()?)
    }

    /// Until partners have read what they read of X where it lies. Then this rank may write its rows.
    pub(super) fn close(&mut self, ranks: &dyn Ranks) -> Result<(), Error> {
        let Shown::InPlace { told } = self else { return Ok(()) };
        fence(Ordering::Release); // all is read before anyone is told
        told.start()?;
        ranks.wait(&mut **told)?;
        fence(Ordering::Acquire); // nothing is written before they are done
        Ok(())
    }

    /// The X of all partners is this one, or 0 where each has its own: those of others could change meanwhile.
    fn is_of_all(told: &dyn Exchange, x: u64) -> Result<(), Error> {
        let theirs: &[u64] = bytemuck::cast_slice(told.incoming());
        match theirs.iter().all(|&their| their == x) {
            true => Ok(()),
            false => Err(Error::Asked("ranks multiply different shared X in one product".into())),
        }
    }

    /// The X that all ranks of the computer share, once all partners have opened it.
    pub(super) fn opened<'a>(
        &mut self,
        ranks: &dyn Ranks,
        x: &'a SharedDense<S>,
    ) -> Result<DenseView<'a, S>, Error> {
        if let Shown::InPlace { told } = self {
            ranks.wait(&mut **told)?;
            fence(Ordering::Acquire);
            Self::is_of_all(&**told, x.identity())?;
        }
        // SAFETY: rows that this rank's part multiplies are its own and those of partners. These have opened this very X, and do not leave the product before this rank has read it: `close`. Members that are no partners may
        // write theirs: no result depends on them.
        unsafe { x.rows_here() }
    }

    /// Shows this rank's rows.
    pub(super) fn show(&mut self, near: &Near, k: usize, x: &mut impl RowsOfX<S>) -> Result<(), Error> {
        match self {
            Shown::Nothing | Shown::InPlace { .. } => Ok(()),
            Shown::InMemory { memory, told, second, .. } => {
                *second = !*second;
                let first = near.first_published + if *second { near.all_published } else { 0 };
                // SAFETY: inside the memory, which has twice as many rows as all publish; aligned, since rows come whole from a page's start; these rows are this rank's, and nobody reads them now, as the top of this file says.
                let mine = unsafe {
                    let start = memory.start().cast::<S>().add(first * k);
                    std::slice::from_raw_parts_mut(start, near.published.len() * k)
                };
                x.published(near, mine)?;
                fence(Ordering::Release); // before anyone is told
                Ok(told.start()?)
            }
            Shown::AsMessages { exchange, rows } => {
                if near.is_whole {
                    let mine = near.first * k..(near.first + near.published.len()) * k;
                    x.published(near, &mut rows.data_mut()[mine])?;
                }
                x.to_near(near, bytemuck::cast_slice_mut(exchange.outgoing()))?;
                Ok(exchange.start()?)
            }
        }
    }

    /// Is memory not shared?
    pub(super) fn is_messages(&self) -> bool {
        matches!(self, Shown::AsMessages { .. })
    }

    pub(super) fn poll(&mut self) -> Result<bool, Error> {
        Ok(match self {
            Shown::Nothing => true,
            Shown::InMemory { told, .. } | Shown::InPlace { told } => told.poll()?,
            Shown::AsMessages { exchange, .. } => exchange.poll()?,
        })
    }

    /// Until what others show is there.
    pub(super) fn wait(&mut self, ranks: &dyn Ranks, near: &Near) -> Result<(), Error> {
        match self {
            Shown::Nothing | Shown::InPlace { .. } => {}
            Shown::InMemory { memory, told, second, together } => {
                ranks.wait(&mut **told)?;
                fence(Ordering::Acquire);
                Self::is_of_all(&**told, 0)?;
                if let Some(rows) = together {
                    let k = rows.view().cols();
                    let mut to = rows.data_mut();
                    for range in &near.read {
                        // SAFETY: rows of this rank and of partners, as in `rows`.
                        let from = unsafe { in_memory(memory, *second, near, range.clone(), k) };
                        let (these, others) = to.split_at_mut(from.len());
                        these.copy_from_slice(from);
                        to = others;
                    }
                }
            }
            Shown::AsMessages { exchange, rows } => {
                ranks.wait(&mut **exchange)?;
                let (k, to) = (rows.view().cols(), rows.data_mut());
                let came: &[S] = bytemuck::cast_slice(exchange.incoming());
                for (&place, row) in near.places.iter().zip(came.chunks_exact(k.max(1))) {
                    to[place as usize * k..][..k].copy_from_slice(row);
                }
            }
        }
        Ok(())
    }

    /// The rows that have numbers, after `wait`.
    pub(super) fn rows<'a>(&'a self, near: &Near, k: usize) -> Result<DenseView<'a, S>, Error> {
        Ok(match self {
            Shown::Nothing | Shown::InPlace { .. } => DenseView::new(&[], 0, k, k)?,
            Shown::InMemory { together: Some(rows), .. } | Shown::AsMessages { rows, .. } => rows.view(),
            Shown::InMemory { memory, second, .. } => {
                let range = near.read.first().cloned().unwrap_or(0..0);
                // SAFETY: one of the ranges that are read. The rows that this rank's part multiplies are its own, and those of partners, who do not write them before this rank has shown its next rows, which needs `self` anew. Members that are no partners may write theirs: no result depends on them.
                DenseView::new(unsafe { in_memory(memory, *second, near, range, k) }, near.total, k, k)?
            }
        })
    }
}

/// Words of 8 bytes between partners, which say that rows are there.
fn told(ranks: &dyn Ranks, near: &Near) -> Result<Box<dyn Exchange>, Error> {
    let message = |(index, &rank): (usize, &usize)| Message { rank, bytes: 8 * index..8 * index + 8 };
    let partners: Vec<Message> = near.partners.iter().enumerate().map(message).collect();
    Ok(ranks.exchange(Tag::SHOWN, &partners, &partners)?)
}

/// A range of the rows of all members, in one of the two places.
///
/// # Safety
/// Nobody writes those of them that anyone looks at, as long as the slice lives.
unsafe fn in_memory<'a, S: Scalar>(
    memory: &'a SharedMemory,
    second: bool,
    near: &Near,
    rows: Range<usize>,
    k: usize,
) -> &'a [S] {
    let first = rows.start + if second { near.all_published } else { 0 };
    // SAFETY: inside the memory, which has twice as many rows as all publish; aligned, since rows come whole from a page's start; numbers of any kind. The rest is the caller's promise.
    unsafe { std::slice::from_raw_parts(memory.start().cast::<S>().add(first * k), rows.len() * k) }
}
