//! Rows of X that ranks of one computer show each other, for products with so many columns.
//!
//! Rows are written into common memory, and those who read them are told so by a message. There are two places, used in turn: what is read in one product is overwritten in the next but one at the earliest, and by then
//! every reader has said, by its message of the product between, that it is done. Where memory cannot be shared, rows come as messages and are put where they would be read.
//!
//! A device is given only rows that it multiplies, in one copy: where they lie in several ranges, they are brought together first, in memory that it copies
//! from fastest. A copy of every range would be one that is waited for.

use crate::error::Error;
use crate::near::Near;
use crate::plan::Plan;
use crate::plan::rows_of_x::RowsOfX;
use crate::ranks::{Exchange, Message, Ranks, Tag};
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
            let messages = |at: &[usize]| {
                let message =
                    |(index, &rank): (usize, &usize)| Message { rank, bytes: 8 * index..8 * index + 8 };
                at.iter().enumerate().map(message).collect::<Vec<_>>()
            };
            let partners = messages(&near.partners);
            let told = ranks.exchange(Tag::SHOWN, &partners, &partners)?;
            let is_one = near.read.len() <= 1;
            let together = if is_one { None } else { Some(plan.machine.pinned_dense(near.total, k)?) };
            return Ok(Shown::InMemory { memory, told, second: false, together });
        }
        let (outgoing, incoming) = near.halo.messages(row_bytes);
        let exchange = ranks.exchange(Tag::SHOWN, &outgoing, &incoming)?;
        Ok(Shown::AsMessages { exchange, rows: plan.machine.pinned_dense(near.total, k)? })
    }

    /// Shows this rank's rows.
    pub(super) fn show(&mut self, near: &Near, k: usize, x: &mut impl RowsOfX<S>) -> Result<(), Error> {
        match self {
            Shown::Nothing => Ok(()),
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
            Shown::InMemory { told, .. } => told.poll()?,
            Shown::AsMessages { exchange, .. } => exchange.poll()?,
        })
    }

    /// Until what others show is there.
    pub(super) fn wait(&mut self, ranks: &dyn Ranks, near: &Near) -> Result<(), Error> {
        match self {
            Shown::Nothing => {}
            Shown::InMemory { memory, told, second, together } => {
                ranks.wait(&mut **told)?;
                fence(Ordering::Acquire);
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
            Shown::Nothing => DenseView::new(&[], 0, k, k)?,
            Shown::InMemory { together: Some(rows), .. } | Shown::AsMessages { rows, .. } => rows.view(),
            Shown::InMemory { memory, second, .. } => {
                let range = near.read.first().cloned().unwrap_or(0..0);
                // SAFETY: one of the ranges that are read. The rows that this rank's part multiplies are its own, and those of partners, who do not write them before this rank has shown its next rows, which needs `self` anew. Members that are no partners may write theirs: no result depends on them.
                DenseView::new(unsafe { in_memory(memory, *second, near, range, k) }, near.total, k, k)?
            }
        })
    }
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
