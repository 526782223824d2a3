//! One process alone: messages to itself.

use crate::ranks::buffer::Buffer;
use crate::ranks::{Exchange, Message, Patience, Ranks, RanksError, Tag};

/// A process that nobody else belongs to.
#[derive(Debug, Default)]
pub struct One {
    patience: Patience,
}

impl One {
    /// With this patience: only its interrupt matters.
    pub fn new(patience: Patience) -> Self {
        One { patience }
    }
}

impl Ranks for One {
    fn rank(&self) -> usize {
        0
    }
    fn count(&self) -> usize {
        1
    }
    fn exchange(
        &self,
        _: Tag,
        outgoing: &[Message],
        incoming: &[Message],
    ) -> Result<Box<dyn Exchange>, RanksError> {
        assert!(outgoing.iter().chain(incoming).all(|message| message.rank == 0), "there is one rank");
        let buffers = [Buffer::of(outgoing)?, Buffer::of(incoming)?];
        let ways = outgoing.iter().cloned().zip(incoming.iter().cloned()).collect();
        Ok(Box::new(Copies { buffers, ways }))
    }
    fn failure(&self) -> Option<RanksError> {
        None
    }
    fn fail(&self, _: &str) {}
    fn patience(&self) -> &Patience {
        &self.patience
    }
    fn host(&self) -> String {
        String::new()
    }
    fn name(&self) -> String {
        "one process".to_owned()
    }
}

struct Copies {
    buffers: [Buffer; 2],
    ways: Vec<(Message, Message)>,
}

impl Exchange for Copies {
    fn outgoing(&mut self) -> &mut [u8] {
        self.buffers[0].bytes_mut()
    }
    fn incoming(&self) -> &[u8] {
        self.buffers[1].bytes()
    }
    fn start(&mut self) -> Result<(), RanksError> {
        let [outgoing, incoming] = &mut self.buffers;
        for (from, to) in &self.ways {
            incoming.bytes_mut()[to.bytes.clone()].copy_from_slice(&outgoing.bytes()[from.bytes.clone()]);
        }
        Ok(())
    }
    fn poll(&mut self) -> Result<bool, RanksError> {
        Ok(true)
    }
    fn pending(&mut self) -> Vec<usize> {
        Vec::new()
    }
}
