//! Memory for numbers whose count is not known before the last row is read.

use crate::Scalar;
use crate::io::error::ReadError;
use crate::matrix::huge_pages;
use std::path::Path;

/// Numbers that were read, and room for more.
pub(super) struct Store<S> {
    /// What lies behind `used` is room.
    numbers: Vec<S>,
    used: usize,
    max_bytes: u64,
}

impl<S: Scalar> Store<S> {
    pub(super) fn new(max_bytes: u64) -> Self {
        Store { numbers: Vec::new(), used: 0, max_bytes }
    }

    /// Makes room for about so many numbers, if the system has it. Zeros that come from the system cost nothing before
    /// they are overwritten, and what was too much is given back.
    pub(super) fn expect(&mut self, count: usize) {
        let bytes = (count as u64).saturating_mul(size_of::<S>() as u64);
        if self.numbers.is_empty()
            && bytes <= self.max_bytes
            && Vec::<S>::new().try_reserve_exact(count).is_ok()
        {
            self.numbers = vec![S::ZERO; count];
            huge_pages::advise(&mut self.numbers);
        }
    }

    /// Room for `rows · cols` more numbers, all of which the caller fills.
    pub(super) fn room(&mut self, rows: usize, cols: usize, path: &Path) -> Result<&mut [S], ReadError> {
        let wanted = rows.checked_mul(cols).and_then(|count| count.checked_add(self.used));
        let entries = wanted.unwrap_or(usize::MAX);
        let bytes = (entries as u64).saturating_mul(size_of::<S>() as u64);
        let too_large = || too_large::<S>(path, entries, self.max_bytes);
        if bytes > self.max_bytes {
            return Err(too_large());
        }
        if entries > self.numbers.len() {
            self.numbers.try_reserve(entries - self.numbers.len()).map_err(|_| too_large())?;
            self.numbers.resize(entries, S::ZERO);
        }
        let start = std::mem::replace(&mut self.used, entries);
        Ok(&mut self.numbers[start..entries])
    }

    /// The last `count` numbers were none.
    pub(super) fn take_back(&mut self, count: usize) {
        self.used -= count;
    }

    /// Everything.
    pub(super) fn into_numbers(mut self) -> Vec<S> {
        self.numbers.truncate(self.used);
        self.numbers.shrink_to_fit();
        self.numbers
    }
}

/// So many numbers are more than is allowed, or more than there is.
pub(super) fn too_large<S>(path: &Path, entries: usize, max_bytes: u64) -> ReadError {
    let bytes = (entries as u64).saturating_mul(size_of::<S>() as u64);
    let limit = (bytes > max_bytes).then_some(max_bytes);
    ReadError::TooLarge { name: path.to_string_lossy().into_owned(), entries: entries as u64, bytes, limit }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_in_order_whatever_was_expected() {
        for expected in [0, 3, 100] {
            let mut store = Store::<f64>::new(u64::MAX);
            store.expect(expected);
            store.room(2, 2, Path::new("x")).unwrap().copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
            store.room(1, 1, Path::new("x")).unwrap().copy_from_slice(&[5.0]);
            store.room(1, 2, Path::new("x")).unwrap().copy_from_slice(&[f64::NAN; 2]);
            store.take_back(2);
            store.room(1, 1, Path::new("x")).unwrap().copy_from_slice(&[6.0]);
            assert_eq!(store.into_numbers(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        }
    }

    #[test]
    fn too_much_is_refused_before_it_is_taken() {
        let mut store = Store::<f64>::new(80);
        assert_eq!(store.room(5, 2, Path::new("x")).unwrap().len(), 10);
        let error = store.room(1, 1, Path::new("x")).unwrap_err();
        assert_eq!(error.to_string(), "x: 11 entries take 88 B, more than the limit of 80 B");
        assert!(Store::<f64>::new(u64::MAX).room(usize::MAX, 2, Path::new("x")).is_err());
    }
}
