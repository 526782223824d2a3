//! Ranks: processes that each hold a part of everything, and send messages.
//!
//! [`Ranks`] is what they can do: exchange messages between fixed places again and again, tell each other of failures. [`One`] is a process
//! alone, `threads` are ranks inside one process (for tests, and to try things out), `mpi` is MPI. All else is written once on top of it: `collective` (sums in a
//! fixed order, lists that everyone gets), and the rooms beside this one.

mod buffer;
mod collective;
mod error;
mod machines;
pub mod mpi;
mod one;
mod threads;
mod wait;

pub use collective::{Collective, Sum};
pub use error::RanksError;
pub use machines::refuse_unlike;
pub use mpi::Mpi;
pub use one::One;
pub use threads::{Threads, on_hosts, on_threads};
pub use wait::Patience;

use std::ops::Range;

/// One message of an [`Exchange`]: to or from which rank, and which bytes of the buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The rank at the other end.
    pub rank: usize,
    /// Where it lies in the buffer of outgoing or incoming bytes.
    pub bytes: Range<usize>,
}

/// Keeps exchanges apart that are under way at the same time. On all ranks the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tag(pub(crate) u16);

impl Tag {
    /// The halo of X.
    pub const HALO: Tag = Tag(1);
    /// Parts of Y that other ranks add up.
    pub const PARTIAL: Tag = Tag(2);
    /// Sums, lists, agreements.
    pub const COLLECTIVE: Tag = Tag(3);
    /// Entries and rows on their way to who owns them.
    pub const DELIVERY: Tag = Tag(4);
    /// Rows that ranks of one computer show each other.
    pub const SHOWN: Tag = Tag(6);
    /// "I have failed, and this is why."
    pub(crate) const FAILURE: Tag = Tag(5);
    /// "I have come to the end."
    pub(crate) const PARTING: Tag = Tag(7);
}

/// A group of processes, each with a number. Every one of them makes the same calls in the same order.
pub trait Ranks: Send + Sync {
    /// Which of them this is.
    fn rank(&self) -> usize;
    /// How many there are.
    fn count(&self) -> usize;
    /// Messages between fixed places, to be exchanged as often as wanted. At the other end of each is an exchange of that tag whose list holds its
    /// counterpart, of as many bytes; several between the same two ranks are matched in the order of the lists. Empty messages are left out.
    /// Buffers have as many bytes as the messages that reach farthest.
    fn exchange(
        &self,
        tag: Tag,
        outgoing: &[Message],
        incoming: &[Message],
    ) -> Result<Box<dyn Exchange>, RanksError>;
    /// Did another rank say that it failed?
    fn failure(&self) -> Option<RanksError>;
    /// Tells every other rank that this one has failed, so that none waits for it.
    fn fail(&self, why: &str);
    /// How long to wait for others, and what ends the waiting.
    fn patience(&self) -> &Patience;
    /// The computer that this rank runs on: ranks of the same name share its memory and devices.
    fn host(&self) -> String;
    /// May ranks of the same computer read each other's rows in place? Else all of them travel. Asked whenever memory is to be shared.
    fn shares_memory(&self) -> bool {
        true
    }
    /// What carries the messages, as people call it.
    fn name(&self) -> String;
}

/// Messages of one round after another. Between `start` and the `poll` that says `true` neither buffer may be touched: the calls then panic.
pub trait Exchange: Send {
    /// What will be sent. Bytes are aligned for numbers.
    fn outgoing(&mut self) -> &mut [u8];
    /// What came. Aligned likewise.
    fn incoming(&self) -> &[u8];
    /// Begins a round.
    fn start(&mut self) -> Result<(), RanksError>;
    /// Moves the round on. Is it complete?
    fn poll(&mut self) -> Result<bool, RanksError>;
    /// Ranks whose messages are still on their way.
    fn pending(&mut self) -> Vec<usize>;
}

impl dyn Ranks + '_ {
    /// Until the round is complete, another rank has failed, patience has ended or the work was interrupted.
    pub fn wait(&self, exchange: &mut dyn Exchange) -> Result<(), RanksError> {
        wait::wait(self, exchange)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_exchanges_share_a_tag() {
        let all =
            [Tag::HALO, Tag::PARTIAL, Tag::COLLECTIVE, Tag::DELIVERY, Tag::SHOWN, Tag::FAILURE, Tag::PARTING];
        let distinct: std::collections::HashSet<Tag> = all.into_iter().collect();
        assert_eq!(distinct.len(), all.len());
    }
}
