//! An array of a matrix: its own, lent for as long as whoever holds the matrix vouches for it, or elsewhere until somebody looks.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// Elements that lie where no one here looks, in memory of a device, say.
pub(crate) trait Elsewhere<T>: Send + Sync {
    /// How many.
    fn count(&self) -> usize;
    /// A copy of all of them.
    fn bring(&self) -> Vec<T>;
    /// For those who know of such places.
    fn as_any(&self) -> &dyn Any;
}

/// An array that is read.
pub(super) enum Array<T> {
    Own(Vec<T>),
    /// Whoever called [`lent`](Self::lent) has promised that it is there. Copies own what they hold, so that it cannot leak out.
    Lent {
        start: *const T,
        length: usize,
    },
    /// Brought when somebody looks.
    Elsewhere {
        there: Arc<dyn Elsewhere<T>>,
        here: OnceLock<Vec<T>>,
    },
}

// SAFETY: what is lent is only read, as through a shared reference; all else may be sent.
unsafe impl<T: Send + Sync> Send for Array<T> {}
// SAFETY: as above; what is brought is another thread's afterwards.
unsafe impl<T: Send + Sync> Sync for Array<T> {}

impl<T> Array<T> {
    /// An array of somebody else.
    ///
    /// # Safety
    /// `array` must be there, and not change, as long as the result is used.
    pub(super) unsafe fn lent(array: &[T]) -> Self {
        Array::Lent { start: array.as_ptr(), length: array.len() }
    }

    pub(super) fn elsewhere(there: Arc<dyn Elsewhere<T>>) -> Self {
        Array::Elsewhere { there, here: OnceLock::new() }
    }

    /// Where the elements lie, if that is elsewhere.
    pub(super) fn place(&self) -> Option<&dyn Elsewhere<T>> {
        match self {
            Array::Elsewhere { there, .. } => Some(&**there),
            Array::Own(_) | Array::Lent { .. } => None,
        }
    }

    #[cfg(test)]
    pub(super) fn is_here(&self) -> bool {
        !matches!(self, Array::Elsewhere { here, .. } if here.get().is_none())
    }
}

/// As many as there are: what is built on this array has checked that number.
fn brought<T>(there: &dyn Elsewhere<T>) -> Vec<T> {
    let brought = there.bring();
    assert_eq!(brought.len(), there.count(), "all elements are brought");
    brought
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
            Array::Elsewhere { there, here } => here.into_inner().unwrap_or_else(|| brought(&*there)),
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
            Array::Elsewhere { there, here } => here.get_or_init(|| brought(&**there)),
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
        match self {
            // Brought for the copy alone: one in memory is enough.
            Array::Elsewhere { there, here } if here.get().is_none() => Array::Own(brought(&**there)),
            _ => Array::Own(self.to_vec()),
        }
    }
}

impl<T: PartialEq> PartialEq for Array<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
