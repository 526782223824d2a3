//! A place for one thing, through which threads pass it on.

use std::sync::{Mutex, PoisonError};

/// Something that one thread puts in and another takes out.
pub(super) struct HandOver<T>(Mutex<Option<T>>);

impl<T> HandOver<T> {
    pub(super) fn empty() -> Self {
        HandOver(Mutex::new(None))
    }
    pub(super) fn put(&self, value: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    }
    pub(super) fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
    /// A list of tasks, of which each is taken once.
    pub(super) fn of_each(tasks: Vec<T>) -> Vec<Self> {
        tasks.into_iter().map(|task| HandOver(Mutex::new(Some(task)))).collect()
    }
}
