//! Sums over ranks, again and again: what solvers tell each other.

use crate::error::Error;
use crate::ranks::{Collective, Ranks, RanksError, Sum};
use ordito::RunError;
use ordito::solve::BetweenRanks;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

/// Sums over ranks that are ready to be taken again, for the lengths that were.
pub(crate) struct Sums {
    ranks: Arc<dyn Ranks>,
    ready: Mutex<HashMap<usize, Sum>>,
}

impl Sums {
    pub(crate) fn new(ranks: &Arc<dyn Ranks>) -> Arc<Self> {
        Arc::new(Sums { ranks: ranks.clone(), ready: Mutex::default() })
    }

    fn add(&self, numbers: &mut [f64]) -> Result<(), RanksError> {
        let ranks: &dyn Ranks = &*self.ranks;
        if ranks.count() == 1 {
            return Ok(());
        }
        let length = few_lengths(numbers.len());
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = match ready.entry(length) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(Sum::new(ranks, length)?),
        };
        let mut padded = vec![0.0; length];
        padded[..numbers.len()].copy_from_slice(numbers);
        sum.add(ranks, &mut padded)?;
        numbers.copy_from_slice(&padded[..numbers.len()]);
        Ok(())
    }
}

/// Messages are kept for every length, and a block that becomes narrower, column by column, has many: at most an eighth more, and few of them.
fn few_lengths(length: usize) -> usize {
    length.next_multiple_of((length.next_power_of_two() / 16).max(8))
}

impl BetweenRanks for Sums {
    fn sum(&self, numbers: &mut [f64]) -> Result<(), RunError> {
        Ok(self.add(numbers).map_err(Error::from)?)
    }
    fn gather(&self, mine: &[u8]) -> Result<Vec<Vec<u8>>, RunError> {
        let ranks: &dyn Ranks = &*self.ranks;
        Ok(ranks.all_gather(mine).map_err(Error::from)?)
    }
    fn fail(&self, why: &str) {
        self.ranks.fail(why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_few_and_little_more() {
        let lengths: std::collections::BTreeSet<usize> = (0..10_000).map(few_lengths).collect();
        assert!(lengths.len() < 100, "{}", lengths.len());
        assert!((64..10_000).all(|length| (length..=length + length / 8).contains(&few_lengths(length))));
        assert_eq!((few_lengths(0), few_lengths(1), few_lengths(8)), (0, 8, 8));
    }
}
