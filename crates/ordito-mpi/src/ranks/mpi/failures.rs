//! "I have failed, and this is why": letters of a fixed size, expected from the beginning on and from anyone.

use crate::ranks::mpi::abi::Handle;
use crate::ranks::mpi::library::Library;
use crate::ranks::mpi::requests::{Requests, Way};
use crate::ranks::{RanksError, Tag};
use std::ffi::c_int;
use std::time::Duration;

/// Small enough to be on its way before the other end asks for it.
const LETTER_BYTES: usize = 1024;
/// The sender's rank, and the length of its words.
const HEAD_BYTES: usize = 8;
/// So long letters may take to leave, and an expected one to be taken back.
const LEAVING: Duration = Duration::from_secs(1);

type Letter = [u8; LETTER_BYTES];

/// What other ranks said, and what was told them.
pub(super) struct Failures {
    expected: Requests,
    /// On the heap, where it stays until nothing can arrive any more.
    incoming: Box<Letter>,
    heard: Option<RanksError>,
    /// Letters that were sent, and the words in them.
    told: Option<(Requests, Box<Letter>)>,
}

fn way(rank: c_int) -> Way {
    Way { rank, tag: c_int::from(Tag::FAILURE.0) }
}

impl Failures {
    /// Begins to listen.
    pub(super) fn new(library: &'static Library, comm: Handle) -> Result<Self, RanksError> {
        let (expected, incoming) = (Requests::new(library, comm, 1), Box::new([0; LETTER_BYTES]));
        let mut failures = Failures { expected, incoming, heard: None, told: None };
        let into = failures.incoming.as_mut_ptr();
        // SAFETY: `stop` completes the request before the letter is given back, or leaves the letter where it is.
        unsafe { failures.expected.receive(into, LETTER_BYTES, way(library.abi.any_source))? };
        Ok(failures)
    }

    /// What the first that failed has said.
    pub(super) fn heard(&mut self) -> Option<RanksError> {
        if self.heard.is_none() && self.expected.is_complete(0).unwrap_or(false) {
            self.heard = Some(read(&self.incoming));
        }
        self.heard.clone()
    }

    /// Has this rank failed, or another?
    pub(super) fn any(&mut self) -> bool {
        self.told.is_some() || self.heard().is_some()
    }

    /// Tells all others, once. Whoever has heard of another's failure need not be told of its own, nor need the others.
    pub(super) fn tell(
        &mut self,
        library: &'static Library,
        comm: Handle,
        rank: usize,
        count: usize,
        why: &str,
    ) {
        if self.any() {
            return;
        }
        let letter = Box::new(write(rank, why));
        let mut requests = Requests::new(library, comm, count);
        for other in (0..count).filter(|other| *other != rank) {
            // SAFETY: the letter stays beside its requests until they are complete, or for ever. One that cannot be sent is for a
            // rank that has gone.
            let _ = unsafe { requests.send(letter.as_ptr(), LETTER_BYTES, way(other as c_int)) };
        }
        requests.settle(LEAVING);
        self.told = Some((requests, letter));
    }

    /// Listens no more. False where MPI may still touch a letter: it is left where it is.
    pub(super) fn stop(mut self) -> bool {
        let is_waiting = self.heard().is_none();
        let taken_back = !is_waiting || (self.expected.cancel(0).is_ok() && self.expected.settle(LEAVING));
        if !taken_back {
            std::mem::forget((self.expected, self.incoming));
        }
        let Some((mut requests, letter)) = self.told else { return taken_back };
        let have_left = requests.settle(LEAVING);
        if !have_left {
            std::mem::forget((requests, letter));
        }
        taken_back && have_left
    }
}

fn write(rank: usize, why: &str) -> Letter {
    let mut letter = [0; LETTER_BYTES];
    let most = why.len().min(LETTER_BYTES - HEAD_BYTES);
    let end = (0..=most).rev().find(|end| why.is_char_boundary(*end)).unwrap_or(0);
    letter[..4].copy_from_slice(&(rank as u32).to_le_bytes());
    letter[4..8].copy_from_slice(&(end as u32).to_le_bytes());
    letter[HEAD_BYTES..][..end].copy_from_slice(&why.as_bytes()[..end]);
    letter
}

fn read(letter: &Letter) -> RanksError {
    let number =
        |at: usize| u32::from_le_bytes([letter[at], letter[at + 1], letter[at + 2], letter[at + 3]]) as usize;
    let words = &letter[HEAD_BYTES..][..number(4).min(LETTER_BYTES - HEAD_BYTES)];
    RanksError::Failed { rank: number(0), why: String::from_utf8_lossy(words).into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_read_as_it_was_written() {
        let failed = |rank, why: &str| RanksError::Failed { rank, why: why.to_owned() };
        assert_eq!(read(&write(7, "no such file: ä")), failed(7, "no such file: ä"));
        let long = "ä".repeat(LETTER_BYTES);
        assert_eq!(read(&write(70_000, &long)), failed(70_000, &long[..LETTER_BYTES - HEAD_BYTES]));
        assert_eq!(read(&write(0, "")), failed(0, ""));
    }
}
