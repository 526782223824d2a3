//! Rows of a matrix as pieces, listed on the device: in their order, or those of about the same length together and long ones in parts.

use crate::cpu::parallel;
use crate::device::{Argument, Buffer, Device, KernelSource};
use crate::refusal::Refusal;
use crate::spmm::cuda::fast::layout::by_class::descending;
use crate::spmm::cuda::fast::layout::entries::{refused, run};
use crate::spmm::cuda::fast::layout::parts::PartsOfRow;
use crate::spmm::cuda::fast::layout::pieces::{LENGTH_CLASSES, Piece, Pieces, check_rows, length_class};

/// Threads of a block: one for each row, or for some counts.
pub(crate) const THREADS: u32 = 1024;
/// Rows that a thread of the host looks at by itself.
const ROWS_AT_ONCE: usize = 1 << 16;

/// On a device.
#[derive(Debug)]
pub(crate) struct RowList {
    pub(crate) list: Buffer<Piece>,
    /// Of the longest whole row.
    pub(crate) longest: usize,
    /// Pieces of long rows, which come first.
    pub(crate) long: usize,
    /// Rows that are in several pieces, and how many parts those have together.
    pub(crate) cut: Vec<PartsOfRow>,
    pub(crate) parts: usize,
}

/// A kernel over the rows of a matrix.
fn over_rows(entry: &'static str) -> KernelSource {
    KernelSource::new(entry, "sort_rows.cu", include_str!("sort_rows.cu")).define("THREADS", THREADS)
}

/// Adds up counts of this type: each is then the sum of those before it.
pub(crate) fn add_before(count: &'static str) -> KernelSource {
    KernelSource::new("add_before", "add_before.cu", include_str!("add_before.cu"))
        .define("THREADS", THREADS)
        .define("COUNT", count)
}

/// The kernels that sort.
pub(crate) fn sources_by_length() -> [KernelSource; 3] {
    [over_rows("count_classes"), add_before("u32"), over_rows("list_sorted")]
}

/// The kernel that does not.
pub(crate) fn source_in_order() -> KernelSource {
    over_rows("list_in_order")
}

/// Longer rows than `most`, and the length of the longest of all.
fn look_at(starts: &[usize], most: usize) -> (Vec<usize>, usize) {
    let rows = starts.len().saturating_sub(1);
    let chunks = parallel::map_index(rows.div_ceil(ROWS_AT_ONCE), |chunk| {
        let (mut long, mut longest) = (Vec::new(), 0);
        for row in chunk * ROWS_AT_ONCE..rows.min((chunk + 1) * ROWS_AT_ONCE) {
            let length = starts[row + 1] - starts[row];
            longest = longest.max(length);
            if length > most {
                long.push(row);
            }
        }
        (long, longest)
    });
    let longest = chunks.iter().map(|(_, longest)| *longest).max().unwrap_or(0);
    (chunks.into_iter().flat_map(|(long, _)| long).collect(), longest)
}

impl RowList {
    /// Every row by itself, the longest first, so that those of a warp end together and the last to start are short; before all of them
    /// parts of about `most` nonzeros, of rows that have more than twice as many.
    pub(crate) fn by_length(device: &Device, starts: &[usize], most: usize) -> Result<Self, Refusal> {
        Self::by_length_and_parts(device, starts, 2 * most, most)
    }

    /// The same with rows of more than `whole` nonzeros before the others, whole or in parts of `most`.
    pub(crate) fn by_length_and_parts(
        device: &Device,
        starts: &[usize],
        whole: usize,
        most: usize,
    ) -> Result<Self, Refusal> {
        let rows = starts.len().saturating_sub(1);
        check_rows(rows)?;
        let (long, longest) = look_at(starts, whole);
        let mut pieces = Pieces::default();
        for &row in &long {
            pieces.cut(row, starts[row], starts[row + 1], most);
        }
        // Those of about the same length side by side, as rows are.
        pieces.list = descending(&pieces.list, |part| length_class(part[2]));
        let long_pieces = pieces.list.len();
        let places = rows - long.len() + long_pieces;
        let mut list = device.allocate("rows in the order of their lengths", places)?;
        list.write_from(0, &pieces.list).map_err(refused)?;
        let row_starts = device.upload("row starts of A", starts)?;
        let blocks = rows.div_ceil(THREADS as usize);
        let counts = device.allocate::<u32>("rows of each class", LENGTH_CLASSES as usize * blocks + 1)?;
        let rows = [Argument::of(rows as u64), Argument::from(&row_starts), Argument::of(whole as u64)];
        let counters = [Argument::of(counts.len() as u64 - 1), Argument::from(&counts)];
        let to = [Argument::of(long_pieces as u64), Argument::from(&list)];
        let [count, add, sort] = sources_by_length();
        let grid = [blocks as u64, 1];
        // SAFETY: as the kernels declare them. There is a counter for every class and block, one more for their sum, and a place for every
        // row that is not cut behind those of the parts.
        unsafe {
            run(device, &count, grid, THREADS, &[&rows[..], &counters[1..]].concat())?;
            run(device, &add, [1, 1], THREADS, &counters)?;
            run(device, &sort, grid, THREADS, &[&rows[..], &counters[1..], &to].concat())?;
        }
        let longest = longest.min(whole);
        Ok(RowList { list, longest, long: long_pieces, cut: pieces.cut, parts: pieces.parts })
    }

    /// Every row by itself, whole, where it is.
    pub(crate) fn in_order(device: &Device, starts: &[usize]) -> Result<Self, Refusal> {
        let rows = starts.len().saturating_sub(1);
        check_rows(rows)?;
        let row_starts = device.upload("row starts of A", starts)?;
        let list = device.allocate("rows of A", rows)?;
        let arguments = [Argument::of(rows as u64), Argument::from(&row_starts), Argument::from(&list)];
        let grid = [rows.div_ceil(THREADS as usize) as u64, 1];
        // SAFETY: as the kernel declares them; every row has a place.
        unsafe { run(device, &source_in_order(), grid, THREADS, &arguments) }?;
        let (_, longest) = look_at(starts, usize::MAX);
        Ok(RowList { list, longest, long: 0, cut: Vec::new(), parts: 0 })
    }

    /// Of a list that the host made.
    pub(crate) fn upload(device: &Device, pieces: Pieces, longest: usize) -> Result<Self, Refusal> {
        let list = device.upload("pieces of rows", &pieces.list)?;
        Ok(RowList { list, longest, long: pieces.parts, cut: pieces.cut, parts: pieces.parts })
    }
}

#[cfg(test)]
#[cfg(feature = "emulator")]
mod tests {
    use super::*;
    use crate::matrix::Random;
    use crate::spmm::cuda::fast::layout::pieces::{PART, piece};
    use crate::spmm::cuda::fast::layout::testing::{emulated, read};

    fn starts(lengths: &[usize]) -> Vec<usize> {
        let end = |end: &mut usize, length: &usize| {
            *end += length;
            Some(*end)
        };
        [0].into_iter().chain(lengths.iter().scan(0, end)).collect()
    }

    #[test]
    fn long_rows_come_first_and_rows_of_a_class_in_their_order() {
        let Some(device) = emulated() else { return };
        let mut random = Random::new(5, 0);
        let drawn: Vec<usize> = (0..2100).map(|_| (random.below(9) * random.below(30)) as usize).collect();
        for lengths in [&[][..], &[0], &[5], &[0, 0, 100, 0, 3, 3, 17, 16, 24, 25, 1, 0], &[70, 70], &drawn] {
            let starts = starts(lengths);
            for most in [1, 8, 60, 1000] {
                let found = RowList::by_length(&device, &starts, most).unwrap();
                let (mut parts, mut rows) = (Pieces::default(), Vec::new());
                for (row, &length) in lengths.iter().enumerate() {
                    if length > 2 * most {
                        parts.cut(row, starts[row], starts[row + 1], most);
                    } else {
                        rows.push(piece(starts[row], starts[row + 1], row as u32));
                    }
                }
                let by_length = |piece: &Piece| std::cmp::Reverse(length_class(piece[2]));
                parts.list.sort_by_key(by_length);
                rows.sort_by_key(by_length);
                assert!(parts.list.iter().all(|part| part[3] & PART != 0));
                assert_eq!((&found.cut, found.parts), (&parts.cut, parts.parts));
                parts.list.extend(rows);
                assert_eq!(read(&found.list), parts.list, "{most} of {}", lengths.len());
                let longest = lengths.iter().copied().max().unwrap_or(0);
                assert_eq!(found.longest, longest.min(2 * most));
            }
        }
    }

    #[test]
    fn long_rows_can_stay_whole() {
        let Some(device) = emulated() else { return };
        let starts = starts(&[3, 9, 0, 25, 4]);
        let found = RowList::by_length_and_parts(&device, &starts, 4, 10).unwrap();
        let of_long = [[12, 0, 8, PART], [20, 0, 8, PART | 1], [28, 0, 9, PART | 2], [3, 0, 9, 1]];
        let mut list = read(&found.list);
        assert_eq!(list[4..], [[37, 0, 4, 4], [0, 0, 3, 0], [12, 0, 0, 2]]);
        list.truncate(4);
        list.sort_by_key(|piece| piece[3] ^ PART);
        assert_eq!(list, of_long);
        assert_eq!((found.long, found.parts, &found.cut[..]), (4, 3, &[[3, 0, 3, 0]][..]));
    }

    #[test]
    fn rows_stay_where_they_are() {
        let Some(device) = emulated() else { return };
        let found = RowList::in_order(&device, &[0, 2, 2, 7]).unwrap();
        assert_eq!(read(&found.list), [[0, 0, 2, 0], [2, 0, 0, 1], [2, 0, 5, 2]]);
        assert_eq!((found.longest, found.parts), (5, 0));
        assert!(read(&RowList::in_order(&device, &[0]).unwrap().list).is_empty());
    }

    #[test]
    fn counts_are_added_up() {
        let Some(device) = emulated() else { return };
        for count in [0, 1, 31, 1024, 8192, 20_000] {
            let counts: Vec<u64> =
                (0..count + 1).map(|at| if at < count { (at % 7) << 33 } else { 9 }).collect();
            let sums = device.upload("counts", &counts).unwrap();
            // SAFETY: as the kernel declares them; there is a place for the sum of all.
            unsafe {
                let arguments = [Argument::of(count), Argument::from(&sums)];
                run(&device, &add_before("u64"), [1, 1], THREADS, &arguments).unwrap();
            }
            let before = |sum: &mut u64, count: &u64| Some(std::mem::replace(sum, *sum + count));
            let expected: Vec<u64> = counts.iter().scan(0, before).collect();
            assert_eq!(read(&sums), expected);
        }
    }
}
