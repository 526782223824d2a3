//! An array of a matrix: its own, lent for as long as whoever holds the matrix vouches for it, or elsewhere until somebody looks.

use crate::refusal::Refusal;
use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Elements that lie where no one here looks, in memory of a device, say.
pub(crate) trait Elsewhere<T>: Send + Sync {
    /// How many.
    fn count(&self) -> usize;
    /// A copy of all of them; refused where that place has failed.
    fn bring(&self) -> Result<Vec<T>, Refusal>;
    /// What stands for them then, before those who cannot be told: as many that nobody takes for a result.
    fn poisoned(&self) -> Vec<T>;
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
        lost: Lost<T>,
    },
}

/// What those saw who looked when the elements could not be brought.
pub(super) struct Lost<T> {
    /// What stood for them, and why.
    seen: OnceLock<(Vec<T>, Refusal)>,
    /// How often: also of elements that came later somebody may have seen none.
    times: AtomicUsize,
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
        let lost = Lost { seen: OnceLock::new(), times: AtomicUsize::new(0) };
        Array::Elsewhere { there, here: OnceLock::new(), lost }
    }

    /// Where the elements lie, if that is elsewhere.
    pub(super) fn place(&self) -> Option<&dyn Elsewhere<T>> {
        match self {
            Array::Elsewhere { there, .. } => Some(&**there),
            Array::Own(_) | Array::Lent { .. } => None,
        }
    }

    /// Elements that lie elsewhere, brought here if nobody has yet.
    pub(super) fn bring(&self) -> Result<(), Refusal> {
        if let Array::Elsewhere { there, here, .. } = self
            && here.get().is_none()
        {
            // Where several threads bring them at once, the first one's are kept.
            let _ = here.set(brought(&**there)?);
        }
        Ok(())
    }

    /// How often somebody who looked at them saw none.
    pub(super) fn looks_in_vain(&self) -> usize {
        match self {
            Array::Elsewhere { lost, .. } => lost.times.load(Ordering::Relaxed),
            Array::Own(_) | Array::Lent { .. } => 0,
        }
    }

    /// Why somebody saw none since they were so many, if so. (Threads that looked on behalf of who asks have been waited for.)
    pub(super) fn check_seen(&self, looks_in_vain: usize) -> Result<(), Refusal> {
        match self {
            Array::Elsewhere { lost, .. } if self.looks_in_vain() != looks_in_vain => {
                lost.seen.get().map_or(Ok(()), |(_, why)| Err(why.clone()))
            }
            _ => Ok(()),
        }
    }

    #[cfg(test)]
    pub(super) fn is_here(&self) -> bool {
        !matches!(self, Array::Elsewhere { here, .. } if here.get().is_none())
    }
}

/// As many as there are: what is built on this array has checked that number.
fn brought<T>(there: &dyn Elsewhere<T>) -> Result<Vec<T>, Refusal> {
    let brought = there.bring()?;
    assert_eq!(brought.len(), there.count(), "all elements are brought");
    Ok(brought)
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

    /// A copy here; refused where the elements cannot be brought.
    pub(super) fn try_clone(&self) -> Result<Self, Refusal> {
        match self {
            // Brought for the copy alone: one in memory is enough.
            Array::Elsewhere { there, here, .. } if here.get().is_none() => {
                Ok(Array::Own(brought(&**there)?))
            }
            _ => Ok(Array::Own(self.to_vec())),
        }
    }

    pub(super) fn into_vec(self) -> Vec<T> {
        match self {
            Array::Own(array) => array,
            lent @ Array::Lent { .. } => lent.to_vec(),
            Array::Elsewhere { there, here, .. } => {
                let brought = || brought(&*there).unwrap_or_else(|_| there.poisoned());
                here.into_inner().unwrap_or_else(brought)
            }
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
            Array::Elsewhere { there, here, lost } => match (self.bring(), here.get()) {
                (Ok(()), Some(here)) => here,
                (failed, _) => {
                    let why = failed.err().unwrap_or(Refusal::NoDevice);
                    let (poisoned, _) = lost.seen.get_or_init(|| (there.poisoned(), why));
                    lost.times.fetch_add(1, Ordering::Relaxed);
                    poisoned
                }
            },
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// A copy owns its elements, or its share of the place where they lie: whoever looks at it brings them for it alone, and is told if they cannot be.
impl<T: Clone> Clone for Array<T> {
    fn clone(&self) -> Self {
        match self {
            Array::Elsewhere { there, here, .. } if here.get().is_none() => Array::elsewhere(there.clone()),
            _ => Array::Own(self.to_vec()),
        }
    }
}

impl<T: PartialEq> PartialEq for Array<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// A place of two numbers that fails until it is mended.
    pub(crate) struct Failing(pub(crate) AtomicBool);

    impl Elsewhere<f64> for Failing {
        fn count(&self) -> usize {
            2
        }
        fn bring(&self) -> Result<Vec<f64>, Refusal> {
            match self.0.load(Ordering::Relaxed) {
                true => Err(Refusal::Device("it has fallen off the bus".into())),
                false => Ok(vec![1.0, 2.0]),
            }
        }
        fn poisoned(&self) -> Vec<f64> {
            vec![f64::NAN; 2]
        }
        fn as_any(&self) -> &dyn Any {
            self
        }
    }

    #[test]
    fn what_cannot_be_brought_is_said_or_poisoned_and_asked_for_again() {
        let place = Arc::new(Failing(true.into()));
        let array = Array::elsewhere(place.clone());
        assert_eq!((array.looks_in_vain(), array.check_seen(0)), (0, Ok(())), "nobody has looked");
        let why = Err(Refusal::Device("it has fallen off the bus".into()));
        assert_eq!(array.bring(), why);
        assert!(array.len() == 2 && array.iter().all(|x| x.is_nan()));
        assert_eq!((array.check_seen(0), array.try_clone().map(|_| ())), (why.clone(), why.clone()));
        let copy = array.clone();
        assert_eq!((copy.looks_in_vain(), copy.bring()), (0, why.clone()), "a copy knows of the place");
        assert!(copy.iter().all(|x| x.is_nan()) && copy.check_seen(0) == why);
        place.0.store(false, Ordering::Relaxed);
        assert_eq!((&array[..], array.bring()), (&[1.0, 2.0][..], Ok(())));
        assert_eq!(array.check_seen(0), why, "somebody saw none before they came");
        assert_eq!(array.check_seen(array.looks_in_vain()), Ok(()), "those who look from now on see them");
        assert!(!copy.is_here() && copy[..] == array[..], "for each alone");
        place.0.store(true, Ordering::Relaxed);
        assert_eq!(array.into_vec(), [1.0, 2.0]);
    }
}
