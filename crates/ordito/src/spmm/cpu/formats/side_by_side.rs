//! How entries are brought to their places: arrays in parts that threads fill, and rows whose entries alternate.

use crate::cpu::parallel;

/// Cuts `to` into parts that follow each other and end at `ends`, and lets `fill` write each, on the threads of the current rayon
/// pool. It is told which one.
pub(crate) fn fill_parts<T: Send>(
    mut to: &mut [T],
    ends: impl Iterator<Item = usize>,
    fill: impl Fn(usize, &mut [T]) + Sync,
) {
    let mut parts = Vec::with_capacity(ends.size_hint().0);
    let mut start = 0;
    for (index, end) in ends.enumerate() {
        let (part, rest) = to.split_at_mut(end - start);
        (to, start) = (rest, end);
        parts.push((index, part));
    }
    parallel::for_each(parts, |(index, part)| fill(index, part));
}

/// Writes the first elements of all rows, then the second ones, and so on, until `to` is full.
pub(crate) fn alternate<T: Copy>(rows: &[&[T]], to: &mut [T]) {
    /// With a number of rows that the compiler knows.
    fn of_so_many<T: Copy, const ROWS: usize>(rows: &[&[T]], to: &mut [T]) {
        let Some(rows) = rows.first_chunk::<ROWS>() else { return };
        let (steps, _) = to.as_chunks_mut::<ROWS>();
        let rows = rows.map(|row| &row[..steps.len()]); // looked at once, not at every step
        for (step, to) in steps.iter_mut().enumerate() {
            *to = rows.map(|row| row[step]);
        }
    }
    match rows.len() {
        1 => to.copy_from_slice(&rows[0][..to.len()]),
        2 => of_so_many::<T, 2>(rows, to),
        3 => of_so_many::<T, 3>(rows, to),
        4 => of_so_many::<T, 4>(rows, to),
        8 => of_so_many::<T, 8>(rows, to),
        16 => of_so_many::<T, 16>(rows, to),
        _ => {
            for (lane, row) in rows.iter().enumerate() {
                let places = to.iter_mut().skip(lane).step_by(rows.len());
                places.zip(*row).for_each(|(to, &element)| *to = element);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_filled_by_its_own() {
        let mut to = [0; 10];
        fill_parts(&mut to, [0, 3, 3, 9].into_iter(), |part, to| to.fill(part + 1));
        assert_eq!(to, [2, 2, 2, 4, 4, 4, 4, 4, 4, 0]);
    }

    #[test]
    fn rows_alternate_whatever_their_number() {
        for count in 0..=17 {
            for steps in [0, 1, 2, 7] {
                let rows: Vec<Vec<usize>> =
                    (0..count).map(|row| (0..steps + 1).map(|step| step * count + row).collect()).collect();
                let rows: Vec<&[usize]> = rows.iter().map(Vec::as_slice).collect();
                let mut to = vec![usize::MAX; steps * count];
                alternate(&rows, &mut to);
                assert!(to.iter().copied().eq(0..steps * count), "{count} rows of {steps}");
            }
        }
    }
}
