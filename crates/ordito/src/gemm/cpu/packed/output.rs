//! Memory that several threads write to.

/// Memory that several threads write to, each its own rows or columns.
pub(super) struct Output<S> {
    pub(super) first: *mut S,
    pub(super) step: usize,
}

impl<S> Clone for Output<S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S> Copy for Output<S> {}
// SAFETY: whoever follows the address says why nobody else does.
unsafe impl<S: Send> Sync for Output<S> {}

impl<S> Output<S> {
    /// Where row `row` begins.
    ///
    /// # Safety
    /// The memory has that row.
    pub(super) unsafe fn row(self, row: usize) -> *mut S {
        // SAFETY: the caller's promise.
        unsafe { self.first.add(row * self.step) }
    }
}
