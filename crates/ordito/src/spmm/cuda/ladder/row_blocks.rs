//! Rows grouped into row blocks for CSR_Adaptive: neighbouring rows whose nonzeros fit shared memory together, or one row
//! that is too long for that.

use std::collections::BTreeMap;

/// Most nonzeros of several rows in one block, from the mean row: clamp(⌈nonzeros / rows⌉, 1, 1024).
pub(crate) fn local_size(nonzeros: usize, rows: usize) -> u32 {
    nonzeros.div_ceil(rows.max(1)).clamp(1, 1024) as u32
}

/// The first row of every block, and the number of rows behind the last. Blocks are filled greedily, in the order of the
/// rows: a block of several rows has at most `local_size` rows and at most `local_size` nonzeros.
pub(crate) fn row_blocks(lengths: impl IntoIterator<Item = usize>, local_size: u32) -> Vec<u32> {
    let local_size = local_size as usize;
    let mut starts = vec![0];
    let (mut rows, mut rows_of_block, mut nonzeros_of_block) = (0, 0, 0);
    for length in lengths {
        if rows_of_block > 0 && (rows_of_block == local_size || nonzeros_of_block + length > local_size) {
            starts.push(rows);
            (rows_of_block, nonzeros_of_block) = (0, 0);
        }
        rows += 1;
        rows_of_block += 1;
        nonzeros_of_block += length;
    }
    if rows > 0 {
        starts.push(rows);
    }
    starts
}

/// How many row blocks are done in which way, and how many nonzeros they have: several rows as Stream, one as Vector.
pub(crate) fn count_ways(starts: &[u32], row_offsets: &[usize]) -> BTreeMap<String, u64> {
    let [mut blocks, mut nonzeros] = [[0; 2]; 2];
    for pair in starts.windows(2) {
        let (first, end) = (pair[0] as usize, pair[1] as usize);
        let way = usize::from(end - first == 1);
        blocks[way] += 1;
        nonzeros[way] += (row_offsets[end] - row_offsets[first]) as u64;
    }
    let names =
        ["stream_row_blocks", "vector_row_blocks", "nonzeros_through_stream", "nonzeros_through_vector"];
    names.map(str::to_owned).into_iter().zip(blocks.into_iter().chain(nonzeros)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbtest::arbitrary::{Result, Unstructured};
    use arbtest::arbtest;

    #[test]
    fn short_rows_share_a_block_and_a_long_one_has_its_own() {
        assert_eq!(row_blocks([], 4), [0]);
        assert_eq!(row_blocks([0], 4), [0, 1]);
        assert_eq!(row_blocks([1, 2, 1, 1], 4), [0, 3, 4]);
        assert_eq!(row_blocks([0, 0, 9, 0, 0], 4), [0, 2, 3, 5]);
        assert_eq!(row_blocks([0; 5], 4), [0, 4, 5], "no more rows than threads");
        assert_eq!(row_blocks([4, 0, 4], 4), [0, 2, 3]);
    }

    #[test]
    fn the_mean_row_decides_within_limits() {
        assert_eq!((local_size(0, 0), local_size(0, 5), local_size(10, 3)), (1, 1, 4));
        assert_eq!(local_size(usize::MAX, 1), 1024);
    }

    #[test]
    fn ways_are_counted() {
        let lengths = [1, 2, 9, 0, 0, 1];
        let found = count_ways(&row_blocks(lengths, 4), &[0, 1, 3, 12, 12, 12, 13]);
        let found: Vec<(&str, u64)> = found.iter().map(|(name, &count)| (name.as_str(), count)).collect();
        assert_eq!(
            found,
            [
                ("nonzeros_through_stream", 4),
                ("nonzeros_through_vector", 9),
                ("stream_row_blocks", 2),
                ("vector_row_blocks", 1)
            ]
        );
    }

    /// Mostly short rows, some long ones.
    fn lengths(u: &mut Unstructured<'_>) -> Result<Vec<usize>> {
        let rows = u.int_in_range(0..=199)?;
        (0..rows)
            .map(|_| if u.ratio(3, 4)? { u.int_in_range(0..=3) } else { u.int_in_range(0..=59) })
            .collect()
    }

    #[test]
    fn blocks_cover_all_rows_in_order_and_fit() {
        arbtest(|u| {
            let local_size = u.int_in_range(1..=19)?;
            let lengths = lengths(u)?;
            let starts = row_blocks(lengths.iter().copied(), local_size);
            assert_eq!(starts[0], 0);
            assert_eq!(*starts.last().unwrap() as usize, lengths.len());
            let local_size = local_size as usize;
            for (block, pair) in starts.windows(2).enumerate() {
                let rows = pair[0] as usize..pair[1] as usize;
                assert!(!rows.is_empty() && rows.len() <= local_size, "{local_size}: {lengths:?}");
                let nonzeros: usize = lengths[rows.clone()].iter().sum();
                assert!(rows.len() == 1 || nonzeros <= local_size);
                // Greedy: the next row would not have fitted.
                if block + 2 < starts.len() {
                    assert!(rows.len() == local_size || nonzeros + lengths[rows.end] > local_size);
                }
            }
            Ok(())
        })
        // The longest case takes 400 bytes; behind the last, all draws are the smallest.
        .size_min(512)
        .size_max(512);
    }
}
