//! Bytes for messages, aligned for numbers.

use crate::ranks::{Message, RanksError};

/// As wide as the widest number and as a register of them.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line([u8; 64]);

// SAFETY: 64 bytes, any of which may have any value.
unsafe impl bytemuck::Zeroable for Line {}
// SAFETY: no padding: as large as it is aligned.
unsafe impl bytemuck::Pod for Line {}

/// So many bytes at a multiple of 64.
#[derive(Default)]
pub(crate) struct Buffer {
    lines: Vec<Line>,
    bytes: usize,
}

impl Buffer {
    /// Zeros, as many as the messages reach.
    pub(crate) fn of(messages: &[Message]) -> Result<Self, RanksError> {
        let bytes = messages.iter().map(|message| message.bytes.end).max().unwrap_or(0);
        let count = bytes.div_ceil(64);
        let mut lines = Vec::new();
        lines.try_reserve_exact(count).map_err(|_| RanksError::Memory { bytes })?;
        lines.resize(count, Line([0; 64]));
        Ok(Buffer { lines, bytes })
    }
    pub(crate) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.lines)[..self.bytes]
    }
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.bytes]
    }
}
