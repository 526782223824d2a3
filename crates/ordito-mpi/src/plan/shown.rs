//! Rows of X that ranks of one computer show each other, for products with so many columns.
//!
//! Rows are written into common memory, and those who read them are told so by a message. There are two places, used in turn: what is read in one product is overwritten in the next but one at the earliest, and by then
//! every reader has said, by its message of the product between, that it is done. Where memory cannot be shared, rows come as messages and are put where they would be read.

use crate::error::Error;
use crate::near::Near;
use crate::plan::rows_of_x::RowsOfX;
use crate::ranks::{Exchange, Message, Ranks, Tag};
use crate::shared_memory::SharedMemory;
use ordito::{Dense, DenseView, Scalar};
use std::sync::atomic::{Ordering, fence};

pub(super) enum Shown<S> {
    /// Nobody reads, nothing is read.
    Nothing,
    InMemory {
        memory: SharedMemory,
        told: Box<dyn Exchange>,
        second: bool,
    },
    AsMessages {
        exchange: Box<dyn Exchange>,
        rows: Dense<S>,
    },
}

impl<S: Scalar> Shown<S> {
    /// Every rank calls it.
    pub(super) fn new(ranks: &dyn Ranks, near: &Near, k: usize) -> Result<Self, Error> {
        let row_bytes = k * size_of::<S>();
        // Readers of any row of any member need all of them mapped: members agree.
        let memory = SharedMemory::new(ranks, &near.members, 2 * near.total * row_bytes)?;
        if near.total == 0 {
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
            return Ok(Shown::InMemory { memory, told, second: false });
        }
        let (outgoing, incoming) = near.halo.messages(row_bytes);
        let exchange = ranks.exchange(Tag::SHOWN, &outgoing, &incoming)?;
        Ok(Shown::AsMessages { exchange, rows: Dense::zeros(near.total, k)? })
    }

    /// Shows this rank's rows.
    pub(super) fn show(&mut self, near: &Near, k: usize, x: &mut impl RowsOfX<S>) -> Result<(), Error> {
        match self {
            Shown::Nothing => Ok(()),
            Shown::InMemory { memory, told, second } => {
                *second = !*second;
                let first = near.first + if *second { near.total } else { 0 };
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
            Shown::InMemory { told, .. } => {
                ranks.wait(&mut **told)?;
                fence(Ordering::Acquire);
            }
            Shown::AsMessages { exchange, rows } => {
                ranks.wait(&mut **exchange)?;
                let k = rows.cols();
                let came: &[S] = bytemuck::cast_slice(exchange.incoming());
                for (&place, row) in near.places.iter().zip(came.chunks_exact(k.max(1))) {
                    rows.data_mut()[place as usize * k..][..k].copy_from_slice(row);
                }
            }
        }
        Ok(())
    }

    /// The rows of all members, after `wait`.
    pub(super) fn rows<'a>(&'a self, near: &Near, k: usize) -> Result<DenseView<'a, S>, Error> {
        Ok(match self {
            Shown::Nothing => DenseView::new(&[], 0, k, k)?,
            Shown::InMemory { memory, second, .. } => {
                let first = if *second { near.total } else { 0 };
                // SAFETY: inside the memory, aligned; numbers of any kind. The rows that this rank's part multiplies are its own, and those of partners, who do not write them before this rank has shown its next rows, which needs `self` anew. Members that are no partners may write theirs: no result depends on them.
                let all = unsafe {
                    std::slice::from_raw_parts(memory.start().cast::<S>().add(first * k), near.total * k)
                };
                DenseView::new(all, near.total, k, k)?
            }
            Shown::AsMessages { rows, .. } => rows.view(),
        })
    }
}
