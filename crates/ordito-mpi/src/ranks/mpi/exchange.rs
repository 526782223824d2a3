//! An exchange as persistent requests: made once, started for every round.

use crate::ranks::buffer::Buffer;
use crate::ranks::mpi::requests::{Requests, Way};
use crate::ranks::mpi::world::{World, is_running};
use crate::ranks::{Exchange, Message, RanksError, Tag};
use std::ffi::c_int;
use std::sync::Arc;
use std::time::Duration;

/// Messages that are longer are sent in pieces: MPI counts in ints.
pub(super) const PIECE_BYTES: usize = 1 << 30;

/// So long a round may take to end that nobody waits for any more.
const SETTLING: Duration = Duration::from_secs(1);

pub(super) struct Rounds {
    world: Arc<World>,
    /// Outgoing, incoming. None only where they were left to MPI for ever.
    buffers: Option<[Buffer; 2]>,
    /// Those that receive, then those that send.
    requests: Requests,
    receiving: usize,
    /// At the other end of each request.
    others: Vec<usize>,
    is_under_way: bool,
}

/// Messages that are not empty, in pieces of at most so many bytes.
fn pieces(messages: &[Message], limit: usize) -> Vec<Message> {
    let cut = |message: &Message| {
        let (rank, end) = (message.rank, message.bytes.end);
        let piece = move |start| Message { rank, bytes: start..end.min(start + limit) };
        message.bytes.clone().step_by(limit).map(piece)
    };
    messages.iter().flat_map(cut).collect()
}

impl Rounds {
    pub(super) fn new(
        world: &Arc<World>,
        tag: Tag,
        [outgoing, incoming]: [&[Message]; 2],
        piece_bytes: usize,
    ) -> Result<Self, RanksError> {
        assert!(outgoing.iter().chain(incoming).all(|message| message.rank < world.count), "no such rank");
        let (sent, received) = (pieces(outgoing, piece_bytes), pieces(incoming, piece_bytes));
        let requests = Requests::new(world.library, world.comm, sent.len() + received.len());
        let mut rounds = Rounds {
            world: world.clone(),
            buffers: Some([Buffer::of(outgoing)?, Buffer::of(incoming)?]),
            requests,
            receiving: received.len(),
            others: received.iter().chain(&sent).map(|message| message.rank).collect(),
            is_under_way: false,
        };
        let [out, into] = rounds.buffers_mut().each_mut().map(|buffer| buffer.bytes_mut().as_mut_ptr());
        let way = |message: &Message| Way { rank: message.rank as c_int, tag: c_int::from(tag.0) };
        for message in &received {
            // SAFETY: within the buffer, which is as long as the messages reach. It is given back after its requests, and nobody
            // gets at it while they are under way.
            unsafe {
                let into = into.add(message.bytes.start);
                rounds.requests.will_receive(into, message.bytes.len(), way(message))?;
            }
        }
        for message in &sent {
            // SAFETY: likewise.
            unsafe {
                let out = out.add(message.bytes.start);
                rounds.requests.will_send(out, message.bytes.len(), way(message))?;
            }
        }
        Ok(rounds)
    }

    fn buffers_mut(&mut self) -> &mut [Buffer; 2] {
        assert!(!self.is_under_way, "a round is under way");
        self.buffers.get_or_insert_default()
    }

    /// A round that nobody waits for any more: what would be received is cancelled, what was sent may take a moment to leave. Did it end?
    fn settle(&mut self) -> bool {
        for index in 0..self.receiving {
            if !self.requests.is_complete(index).unwrap_or(false) && self.requests.cancel(index).is_err() {
                return false;
            }
        }
        self.requests.settle(SETTLING)
    }
}

impl Exchange for Rounds {
    fn outgoing(&mut self) -> &mut [u8] {
        self.buffers_mut()[0].bytes_mut()
    }
    fn incoming(&self) -> &[u8] {
        assert!(!self.is_under_way, "a round is under way");
        self.buffers.as_ref().map_or(&[], |buffers| buffers[1].bytes())
    }
    fn start(&mut self) -> Result<(), RanksError> {
        assert!(!self.is_under_way, "a round is under way");
        self.is_under_way = self.requests.len() > 0;
        self.requests.start()
    }
    fn poll(&mut self) -> Result<bool, RanksError> {
        if self.is_under_way {
            self.is_under_way = !self.requests.poll()?;
        }
        Ok(!self.is_under_way)
    }
    fn pending(&mut self) -> Vec<usize> {
        if !self.is_under_way {
            return Vec::new();
        }
        let is_late = |index: &usize| !self.requests.is_complete(*index).unwrap_or(false);
        let mut ranks: Vec<usize> =
            (0..self.others.len()).filter(is_late).map(|index| self.others[index]).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }
}

impl Drop for Rounds {
    fn drop(&mut self) {
        let is_over = !is_running(self.world.library).unwrap_or(false);
        if self.is_under_way {
            self.world.entangle();
        }
        if is_over || (self.is_under_way && !self.settle()) {
            // MPI may write there whenever the other end wakes up: the memory stays where it is.
            std::mem::forget(self.buffers.take());
        } else {
            self.requests.free();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_cut_and_empty_ones_left_out() {
        let message = |rank, bytes| Message { rank, bytes };
        let cut = pieces(&[message(1, 0..7), message(2, 7..7), message(0, 8..11), message(3, 20..23)], 3);
        let expected =
            [message(1, 0..3), message(1, 3..6), message(1, 6..7), message(0, 8..11), message(3, 20..23)];
        assert_eq!(cut, expected);
        assert_eq!(pieces(&[], 3), []);
    }
}
