//! Sorting by a few classes, as lengths of rows are sorted: by counting, in time that grows with the rows and nothing else.

use crate::cpu::parallel;

/// Items that a thread counts and sorts at a time.
const AT_ONCE: usize = 1 << 15;

/// The items of one chunk, sorted, and how many there are of each class.
struct Sorted<T> {
    items: Vec<T>,
    counts: Vec<usize>,
}

/// The items in the order of their classes, the greatest first; those of a class stay in their order. Classes are small numbers: of each
/// one that could be there, there is a counter.
pub(crate) fn descending<T: Copy + Default + Send + Sync>(
    items: &[T],
    class: impl Fn(&T) -> u32 + Sync,
) -> Vec<T> {
    let chunks: Vec<Sorted<T>> =
        parallel::map(items.chunks(AT_ONCE).collect(), |chunk: &[T]| Sorted::new(chunk, &class));
    let classes = chunks.iter().map(|chunk| chunk.counts.len()).max().unwrap_or(0);
    if chunks.len() <= 1 {
        return chunks.into_iter().next().map_or_else(Vec::new, |chunk| chunk.items);
    }
    let mut all = vec![T::default(); items.len()];
    let (mut copies, mut rest) = (Vec::new(), &mut all[..]);
    let mut taken = vec![0; chunks.len()];
    for class in (0..classes).rev() {
        for (chunk, taken) in chunks.iter().zip(&mut taken) {
            let count = chunk.counts.get(class).copied().unwrap_or(0);
            if count > 0 {
                let (to, more) = rest.split_at_mut(count);
                copies.push((to, &chunk.items[*taken..*taken + count]));
                (rest, *taken) = (more, *taken + count);
            }
        }
    }
    parallel::for_each(copies, |(to, from): (&mut [T], &[T])| to.copy_from_slice(from));
    all
}

impl<T: Copy + Default> Sorted<T> {
    fn new(chunk: &[T], class: impl Fn(&T) -> u32) -> Self {
        let classes: Vec<u32> = chunk.iter().map(class).collect();
        let mut counts = vec![0; classes.iter().max().map_or(0, |&most| most as usize + 1)];
        classes.iter().for_each(|&class| counts[class as usize] += 1);
        let mut next = vec![0; counts.len()];
        (0..counts.len().max(1) - 1)
            .rev()
            .for_each(|class| next[class] = next[class + 1] + counts[class + 1]);
        let mut items = vec![T::default(); chunk.len()];
        for (item, class) in chunk.iter().zip(classes) {
            let place = &mut next[class as usize];
            items[*place] = *item;
            *place += 1;
        }
        Sorted { items, counts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Random;

    #[test]
    fn as_a_stable_sort_does() {
        let mut random = Random::new(3, 0);
        for count in [0, 1, 2, 100, AT_ONCE, AT_ONCE + 1, 5 * AT_ONCE + 17] {
            let items: Vec<(u32, usize)> = (0..count).map(|at| (random.below(70) as u32, at)).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|&(class, _)| std::cmp::Reverse(class));
            assert_eq!(descending(&items, |&(class, _)| class), expected, "{count}");
        }
        assert_eq!(descending(&[0_u32; 5], |&class| class), [0; 5]);
    }
}
