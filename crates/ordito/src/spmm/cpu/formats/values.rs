//! Values of entries: one for each, or one that all of them have, as in the matrix of a graph. That one need not be read again and again:
//! in f64 it is 8 of the 10 or 12 bytes of an entry.

use crate::Scalar;
use crate::cpu::parallel;
use crate::matrix::huge_pages;

/// Values that are compared by one thread at a time.
const COMPARED_AT_ONCE: usize = 1 << 16;
/// As many as a vector of 64 bytes has lanes of f32, the most there are.
const LANES: usize = 16;

/// Values of so many entries.
#[derive(Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub(crate) struct Values<S> {
    /// One for each entry; or else [`LANES`] times the same, for all of them.
    numbers: Vec<S>,
    /// All ones, or 0 where all entries have the same: see [`Part::own`].
    own: usize,
}

impl<S: Scalar> Values<S> {
    /// Of so many entries, which all have this one; or else of entries that get theirs by [`set`](Self::set).
    pub(crate) fn new(entries: usize, same: Option<S>) -> Self {
        match same {
            Some(number) => Values { numbers: vec![number; LANES], own: 0 },
            None => Values { numbers: huge_pages::zeros(entries), own: usize::MAX },
        }
    }

    /// Do all entries have the same?
    pub(crate) fn are_same(&self) -> bool {
        self.own == 0
    }

    /// Other numbers: the one that all have, where all had one before; else `place` brings each to its entry.
    pub(crate) fn set(&mut self, same: Option<S>, place: impl FnOnce(&mut [S])) {
        match same.filter(|_| self.are_same()) {
            Some(number) => self.numbers.fill(number),
            None => place(&mut self.numbers),
        }
    }

    /// Of the entries from this one on.
    #[inline]
    pub(crate) fn from(&self, entry: usize) -> Part<'_, S> {
        Part { numbers: &self.numbers[entry & self.own..], own: self.own }
    }

    /// Bytes that they take.
    pub(crate) fn bytes(&self) -> u64 {
        size_of_val(&*self.numbers) as u64
    }
}

/// Values of some entries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a, S> {
    numbers: &'a [S],
    own: usize,
}

impl<S: Scalar> Part<'_, S> {
    /// The value of an entry.
    #[inline(always)]
    pub(crate) fn get(&self, entry: usize) -> S {
        self.numbers[entry & self.own]
    }

    /// Where they are: as many as there are entries, or as a vector has lanes.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // for kernels with vectors
    pub(crate) fn as_ptr(&self) -> *const S {
        self.numbers.as_ptr()
    }

    /// What the number of an entry, or of so many more, is anded with to find its value: all ones, or 0 where all have the first.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    pub(crate) fn own(&self) -> usize {
        self.own
    }
}

/// The value that all of these have, the same one for a computer: 0 and −0 are two, all NaN of one sign and payload one. `None`: there are several, or
/// none at all.
pub(crate) fn same_value<S: Scalar>(values: &[S]) -> Option<S> {
    let &first = values.first()?;
    let bits = |value: &S| value.to_f64().to_bits();
    let is_same = |some: &[S]| some.iter().all(|value| bits(value) == bits(&first));
    // Mostly a look at the first few says that there are several.
    let (some, rest) = values.split_at(values.len().min(LANES));
    let same = is_same(some) && parallel::all(rest.chunks(COMPARED_AT_ONCE).collect(), is_same);
    same.then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_for_all_or_one_for_each() {
        let mut same = Values::new(40, Some(3.0));
        assert_eq!((same.from(39).get(0), same.from(7).get(32), same.are_same()), (3.0, 3.0, true));
        same.set(Some(2.0), |_| panic!("nothing is placed"));
        assert_eq!((same.from(12).get(20), same.bytes()), (2.0, 8 * LANES as u64));
        let mut each = Values::new(40, None);
        each.set(None, |to| to.iter_mut().zip(1..).for_each(|(to, i)| *to = f64::from(i)));
        assert_eq!((each.from(39).get(0), each.from(7).get(32)), (40.0, 40.0));
        assert_eq!((each.from(7).own(), each.bytes(), each.are_same()), (usize::MAX, 320, false));
    }

    #[test]
    fn the_same_bits() {
        let mut many = vec![1.5_f32; 3 * COMPARED_AT_ONCE];
        assert_eq!(same_value(&many), Some(1.5));
        *many.last_mut().unwrap() = 2.0;
        assert_eq!(same_value(&many), None);
        assert_eq!(same_value(&[0.0, -0.0]), None);
        assert!(same_value(&[f64::NAN; 3]).unwrap().is_nan());
        assert_eq!(same_value::<f64>(&[]), None);
    }
}
