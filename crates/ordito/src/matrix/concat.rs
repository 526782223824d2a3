//! Parts that threads have made, put together.

use crate::cpu::parallel;

/// Copies the parts one after the other to the beginning of `to`, on the threads of the current rayon pool.
pub(crate) fn concat_into<'a, T: Copy + Send + Sync + 'a>(
    parts: impl Iterator<Item = &'a [T]>,
    mut to: &mut [T],
) {
    let mut copies = Vec::with_capacity(parts.size_hint().0);
    for part in parts {
        let (mine, rest) = to.split_at_mut(part.len());
        to = rest;
        copies.push((part, mine));
    }
    parallel::for_each(copies, |(from, to)| to.copy_from_slice(from));
}
