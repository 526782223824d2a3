//! Numbers that begin at a multiple of a cache line, as MKL would like them.

const LINE_BYTES: usize = 64;

/// So many numbers, somewhere in a little more memory.
pub(crate) struct Aligned<S> {
    memory: Vec<S>,
    start: usize,
    len: usize,
}

impl<S: Copy> Aligned<S> {
    pub(crate) fn filled(len: usize, value: S) -> Self {
        let memory = vec![value; len + LINE_BYTES / size_of::<S>()];
        let start = memory.as_ptr().align_offset(LINE_BYTES);
        Aligned { memory, start, len }
    }

    pub(crate) fn copy_of(values: &[S]) -> Self {
        let Some(&first) = values.first() else { return Aligned { memory: Vec::new(), start: 0, len: 0 } };
        let mut aligned = Aligned::filled(values.len(), first);
        aligned.as_mut_slice().copy_from_slice(values);
        aligned
    }

    pub(crate) fn as_slice(&self) -> &[S] {
        &self.memory[self.start..self.start + self.len]
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [S] {
        &mut self.memory[self.start..self.start + self.len]
    }
}
