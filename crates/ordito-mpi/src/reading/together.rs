//! What every file here needs of the other ranks.

use crate::error::Error;
use crate::ranks::{Collective, Ranks, RanksError, Tag};

/// The fault of the lowest rank that has one, word for word, on all ranks. Ranks read a file in order: that is the first fault in it, and it does not matter who met it.
pub(super) fn agreed<T, E: ToString>(ranks: &dyn Ranks, mine: Result<T, E>) -> Result<T, Error> {
    let text = mine.as_ref().map_or_else(E::to_string, |_| String::new());
    let texts = ranks.all_gather(text.as_bytes())?;
    match (texts.into_iter().find(|text| !text.is_empty()), mine) {
        (None, Ok(value)) => Ok(value),
        (found, _) => Err(Error::File(String::from_utf8_lossy(&found.unwrap_or_default()).into_owned())),
    }
}

/// As [`agreed`] where all ranks have met the same; otherwise the rank is named that failed: others can open the file, and it cannot.
pub(super) fn agreed_unless_alone<T, E: ToString>(ranks: &dyn Ranks, mine: Result<T, E>) -> Result<T, Error> {
    let text = mine.as_ref().map_or_else(E::to_string, |_| String::new());
    let texts = ranks.all_gather(text.as_bytes())?;
    if texts.iter().all(|text| *text == texts[0]) {
        return mine.map_err(|error| Error::File(error.to_string()));
    }
    let failed = texts.iter().position(|text| !text.is_empty());
    let (rank, why) = failed.map_or((0, &texts[0]), |rank| (rank, &texts[rank]));
    Err(RanksError::Failed { rank, why: String::from_utf8_lossy(why).into_owned() }.into())
}

/// Numbers of every rank, in the order of ranks.
pub(super) fn numbers_of_all(ranks: &dyn Ranks, mine: &[u64]) -> Result<Vec<Vec<u64>>, Error> {
    let texts = ranks.all_gather(bytemuck::cast_slice(mine))?;
    Ok(texts.iter().map(|bytes| bytemuck::pod_collect_to_vec(bytes)).collect())
}

/// A number of every rank, in the order of ranks.
pub(super) fn number_of_all(ranks: &dyn Ranks, mine: u64) -> Result<Vec<u64>, Error> {
    Ok(numbers_of_all(ranks, &[mine])?
        .into_iter()
        .map(|numbers| numbers.first().copied().unwrap_or(0))
        .collect())
}

/// Bytes for every rank, and what every rank had for this one. What a rank has for itself is not sent.
pub(super) fn deliver(ranks: &dyn Ranks, mut for_each: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, RanksError> {
    let own = std::mem::take(&mut for_each[ranks.rank()]);
    let mut came = ranks.deliver(Tag::DELIVERY, &for_each)?;
    came[ranks.rank()] = own;
    Ok(came)
}

/// So many zeros, where memory can be had for them.
pub(super) fn zeros<T: Clone + Default>(name: &str, count: usize) -> Result<Vec<T>, Error> {
    let mut room = Vec::<T>::new();
    let bytes = count.saturating_mul(size_of::<T>());
    room.try_reserve_exact(count)
        .map_err(|_| Error::File(format!("{name}: {bytes} bytes are more memory than the system gives")))?;
    drop(room); // the same once more, but zeroed by the system
    Ok(vec![T::default(); count])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::{Patience, on_threads};

    #[test]
    fn all_ranks_have_the_same_fault() {
        let faults = |failing: &[usize], alone: bool| {
            let texts = on_threads(3, Patience::default(), |ranks| {
                let failed = failing.contains(&ranks.rank());
                let mine = if failed { Err(format!("fault {}", failing[0])) } else { Ok(ranks.rank()) };
                let all = if alone { agreed_unless_alone(&ranks, mine) } else { agreed(&ranks, mine) };
                all.map_err(|error| error.to_string())
            });
            assert!(texts.iter().all(|text| text.as_ref().err() == texts[0].as_ref().err()), "{texts:?}");
            texts.into_iter().collect::<Result<Vec<_>, _>>()
        };
        assert_eq!((faults(&[], true), faults(&[], false)), (Ok(vec![0, 1, 2]), Ok(vec![0, 1, 2])));
        assert_eq!(faults(&[1, 2], false).unwrap_err(), "fault 1");
        assert_eq!(faults(&[1, 2], true).unwrap_err(), "rank 1: fault 1");
        assert_eq!(faults(&[0, 1, 2], true).unwrap_err(), "fault 0");
    }

    #[test]
    fn memory_that_cannot_be_had_is_a_fault() {
        assert!(zeros::<u64>("a", usize::MAX / 4).unwrap_err().to_string().contains("more memory"));
        assert_eq!(zeros::<u8>("a", 3).unwrap(), [0; 3]);
    }
}
