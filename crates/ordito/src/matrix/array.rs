//! An array of a matrix: its own, or lent for as long as whoever holds the matrix vouches for it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// An array that is read.
pub(super) enum Array<T> {
    Own(Vec<T>),
    /// Whoever called [`lent`](Self::lent) has promised that it is there. Copies own what they hold, so that it cannot leak out.
    Lent {
        start: *const T,
        length: usize,
    },
}

// SAFETY: what is lent is only read, as through a shared reference.
unsafe impl<T: Send + Sync> Send for Array<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Array<T> {}

impl<T> Array<T> {
    /// An array of somebody else.
    ///
    /// # Safety
    /// `array` must be there, and not change, as long as the result is used.
    pub(super) unsafe fn lent(array: &[T]) -> Self {
        Array::Lent { start: array.as_ptr(), length: array.len() }
    }
}

impl<T: Clone> Array<T> {
    /// What is borrowed stays where it lies.
    ///
    /// # Safety
    /// As for [`lent`](Self::lent).
    pub(super) unsafe fn of(array: Cow<'_, [T]>) -> Self {
        match array {
            Cow::Owned(array) => Array::Own(array),
            // SAFETY: the caller's promise.
            Cow::Borrowed(array) => unsafe { Array::lent(array) },
        }
    }

    pub(super) fn into_vec(self) -> Vec<T> {
        match self {
            Array::Own(array) => array,
            lent @ Array::Lent { .. } => lent.to_vec(),
        }
    }
}

impl<T> From<Vec<T>> for Array<T> {
    fn from(array: Vec<T>) -> Self {
        Array::Own(array)
    }
}

impl<T> Deref for Array<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Array::Own(array) => array,
            // SAFETY: the promise of whoever lent it.
            Array::Lent { start, length } => unsafe { std::slice::from_raw_parts(*start, *length) },
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// A copy owns its elements.
impl<T: Clone> Clone for Array<T> {
    fn clone(&self) -> Self {
        Array::Own(self.to_vec())
    }
}

impl<T: PartialEq> PartialEq for Array<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
