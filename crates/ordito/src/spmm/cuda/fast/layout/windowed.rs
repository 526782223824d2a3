//! A in windows: rows that share a list of their columns, each with a mask of the rows that have it.

use crate::Scalar;
use crate::device::{Argument, Buffer, Device, KernelSource};
use crate::matrix::Csr;
use crate::refusal::Refusal;
use crate::spmm::analysis::gathered::gathered;
use crate::spmm::cuda::fast::layout::entries::{Entries, moved, mover, refused};
use crate::spmm::cuda::fast::layout::parts::PartsOfRow;
use crate::spmm::cuda::fast::layout::pieces::{Pieces, check_rows, piece, start_of};

/// Rows of a window.
pub(crate) const ROWS: usize = 8;
/// Entries of a step of the tensor core.
pub(crate) const ENTRIES: usize = 8;

/// Windows on a device.
#[derive(Debug)]
pub(crate) struct Windowed<S> {
    /// The rows of the windows, 8 after 8.
    pub(crate) rows: Buffer<u32>,
    pub(crate) pieces: Pieces,
    /// Of each piece: its first value.
    pub(crate) first_values: Buffer<u64>,
    /// Column, and mask of rows with the place of its first value, counted from the piece's, from bit 8 on.
    pub(crate) entries: Buffer<[u32; 2]>,
    pub(crate) values: Buffer<S>,
}

/// The kernels: does a row fall, how many entries are there, and which.
pub(crate) fn sources<S: Scalar>() -> [KernelSource; 3] {
    ["find_falling", "count_window_entries", "fill_windows"]
        .map(|entry| mover::<S>(entry, "window_entries.cu", include_str!("window_entries.cu")))
}

/// Nonzeros of a window that a group of lanes walks over, about a millisecond's work; of more of them several groups have a section each.
const SECTION: usize = 2048;

/// Values of a section: an entry counts those of a section and of a piece, which has far fewer, in 24 bits.
const MOST_VALUES: u32 = 1 << 23;

/// A section as the kernels read it: its window, which of them it is, how many the window has, and nothing.
type Section = [u32; 4];

/// Of windows with so many nonzeros, one after the other.
fn sections(windows: impl Iterator<Item = usize>) -> Vec<Section> {
    let of_window = |(window, nonzeros): (usize, usize)| {
        let count = nonzeros.div_ceil(SECTION).max(1) as u32;
        (0..count).map(move |section| [window as u32, section, count, 0])
    };
    windows.enumerate().flat_map(of_window).collect()
}

/// How windows are dealt out.
#[derive(Debug, Default, PartialEq)]
struct DealtOut {
    pieces: Pieces,
    /// Of each piece: the value from which on its entries count.
    values_of_pieces: Vec<u64>,
    /// Of each section: its first entry, from its window's first on, and its first value.
    first_entries: Vec<u64>,
    first_values: Vec<u64>,
    /// Of each window, and behind the last: its first step and piece.
    first_steps: Vec<u64>,
    first_pieces: Vec<u32>,
}

impl DealtOut {
    /// Of sections with so many entries and values. Windows that have more than twice as many steps as a part has, which depends on the
    /// steps of all, are cut.
    fn new(
        sections: &[Section],
        counts: &[[u32; 2]],
        steps_of_part: impl FnOnce(usize) -> usize,
    ) -> Result<Self, Refusal> {
        if counts.iter().any(|&[_, values]| values > MOST_VALUES) {
            let why = "8 rows have more nonzeros in the same columns than the kernel counts";
            return Err(Refusal::Unsupported(why.into()));
        }
        let mut dealt = DealtOut::default();
        let mut value = 0;
        let mut entries_of: Vec<u64> = Vec::new();
        for (&[_, section, ..], &[entries, values]) in sections.iter().zip(counts) {
            if section == 0 {
                entries_of.push(0);
            }
            let Some(of_window) = entries_of.last_mut() else { continue };
            dealt.first_entries.push(*of_window);
            dealt.first_values.push(value);
            (*of_window, value) = (*of_window + u64::from(entries), value + u64::from(values));
        }
        dealt.cut(&entries_of, steps_of_part);
        dealt.count_values(sections);
        Ok(dealt)
    }

    /// Windows of so many entries into pieces.
    fn cut(&mut self, entries_of: &[u64], steps_of_part: impl FnOnce(usize) -> usize) {
        let steps_of = |&entries: &u64| entries.div_ceil(ENTRIES as u64) as usize;
        let part = steps_of_part(entries_of.iter().map(steps_of).sum());
        let mut step = 0;
        for (number, steps) in entries_of.iter().map(steps_of).enumerate() {
            self.first_steps.push(step as u64);
            self.first_pieces.push(self.pieces.list.len() as u32);
            if steps > 2 * part {
                self.pieces.cut(number, step, step + steps, part);
            } else {
                self.pieces.list.push(piece(step, step + steps, number as u32));
            }
            step += steps;
        }
        self.first_steps.push(step as u64);
        self.first_pieces.push(self.pieces.list.len() as u32);
    }

    /// Values of a piece are counted from those of the section that it begins in: where exactly it begins, only the kernel will know.
    fn count_values(&mut self, sections: &[Section]) {
        let mut next = 0;
        for window in 0..self.first_steps.len() - 1 {
            let first_section = next;
            next += sections[first_section][2] as usize;
            let mut section = first_section;
            for piece in self.first_pieces[window]..self.first_pieces[window + 1] {
                let entry = (start_of(&self.pieces.list[piece as usize]) as u64 - self.first_steps[window])
                    * ENTRIES as u64;
                while section + 1 < next && self.first_entries[section + 1] <= entry {
                    section += 1;
                }
                self.values_of_pieces.push(self.first_values[section]);
            }
        }
    }

    /// Of the windows that were cut, every row with its parts.
    fn cut_rows(&self, order: &[u32]) -> Vec<PartsOfRow> {
        let of_rows = |&[window, first, end, _]: &PartsOfRow| {
            let of_window = order.iter().skip(window as usize * ROWS).take(ROWS);
            (0..)
                .zip(of_window)
                .map(move |(place, &row)| [row, first * ROWS as u32 + place, end * ROWS as u32 + place, 0])
        };
        self.pieces.cut.iter().flat_map(of_rows).collect()
    }
}

impl<S: Scalar> Windowed<S> {
    /// Rows as they are, or gathered where that lets windows share more. The steps of a part depend on those of all windows.
    pub(crate) fn new(
        device: &Device,
        a: &Csr<S>,
        steps_of_part: impl FnOnce(usize) -> usize,
    ) -> Result<Self, Refusal> {
        check_rows(a.rows())?;
        let [find, count, fill] = sources::<S>();
        let given = Entries::of(device, a)?;
        let [columns, values] = given.arguments();
        let row_starts = device.upload("row starts of A", a.pattern().offsets())?;
        let order = gathered(a).unwrap_or_else(|| (0..a.rows() as u32).collect());
        let rows = device.upload("rows of windows", &order)?;

        let length = |&row: &u32| a.pattern().range(row as usize).len();
        let nonzeros_of: Vec<usize> = order.chunks(ROWS).map(|rows| rows.iter().map(length).sum()).collect();
        let most = nonzeros_of.iter().copied().max().unwrap_or(0);
        if u32::try_from(most).is_err() {
            return Err(Refusal::Unsupported(format!(
                "8 rows have {most} nonzeros; the kernel counts to {}",
                u32::MAX
            )));
        }
        let mut sections = sections(nonzeros_of.into_iter());
        if sections.iter().any(|section| section[2] > 1) {
            let mut falls = device.upload("does a row fall?", &[0_u32])?;
            let arguments = [
                Argument::of(a.rows() as u64),
                Argument::from(&row_starts),
                columns.clone(),
                Argument::from(&mut falls),
            ];
            // SAFETY: as the kernel declares them.
            unsafe { moved(device, &find, (lanes(a.rows()), a.longest_row()), &arguments) }?;
            let mut found = [0];
            falls.read(&mut found).map_err(refused)?;
            if found != [0] {
                if most > MOST_VALUES as usize {
                    let why = format!(
                        "8 rows have {most} nonzeros; of rows whose columns do not rise the kernel counts {MOST_VALUES}"
                    );
                    return Err(Refusal::Unsupported(why));
                }
                sections.retain(|section| section[1] == 0);
                sections.iter_mut().for_each(|section| section[2] = 1);
            }
        }
        let list = device.upload("sections of windows", &sections)?;
        let of_a = [
            Argument::of(sections.len() as u64),
            Argument::from(&list),
            Argument::of(a.rows() as u64),
            Argument::of(a.cols() as u64),
            Argument::from(&rows),
            Argument::from(&row_starts),
            columns,
        ];
        let counts = device.allocate::<[u32; 2]>("entries of sections", sections.len())?;
        let arguments = [&of_a[..], &[Argument::from(&counts)]].concat();
        // SAFETY: as the kernel declares them; sections are of windows, `rows` are rows of A, and every section has a counter.
        unsafe { moved(device, &count, (lanes(sections.len()), 0), &arguments) }?;
        let mut counted = vec![[0; 2]; counts.len()];
        device.read_into(&counts, &mut counted).map_err(refused)?;

        let dealt = DealtOut::new(&sections, &counted, steps_of_part)?;
        let steps = dealt.first_steps.last().map_or(0, |&steps| steps as usize);
        let first_entries = device.upload("first entries of sections", &dealt.first_entries)?;
        let of_sections = device.upload("first values of sections", &dealt.first_values)?;
        let first_steps = device.upload("first steps of windows", &dealt.first_steps)?;
        let first_pieces = device.upload("first pieces of windows", &dealt.first_pieces)?;
        let first_values = device.upload("first values of pieces", &dealt.values_of_pieces)?;
        let entries = device.allocate("columns of windows", steps * ENTRIES)?;
        let to_values = device.allocate("values of A", a.nnz())?;
        let to = [&first_entries, &of_sections, &first_steps].map(Argument::from);
        let more = [Argument::from(&first_pieces), Argument::from(&first_values)];
        let made = [Argument::from(&entries), Argument::from(&to_values)];
        let arguments = [&of_a[..], &[values], &to, &more, &made].concat();
        // SAFETY: as the kernel declares them. There is room for all steps and pieces of the windows, as they were counted, and for all
        // values of A.
        unsafe { moved(device, &fill, (lanes(sections.len()), 0), &arguments) }?;
        let pieces = Pieces { cut: dealt.cut_rows(&order), ..dealt.pieces };
        Ok(Windowed { rows, pieces, first_values, entries, values: to_values })
    }
}

/// Threads for so many rows or sections.
fn lanes(count: usize) -> u64 {
    (count * ROWS) as u64
}

#[cfg(test)]
#[cfg(feature = "emulator")]
mod tests {
    use super::*;
    use crate::matrix::{Coo, Duplicates};
    use crate::spmm::cuda::fast::layout::pieces::PART;
    use crate::spmm::cuda::fast::layout::testing::{emulated, read};

    fn csr(rows: usize, triplets: &[(u32, u32)]) -> Csr<f64> {
        let values = (1..=triplets.len()).map(|value| value as f64).collect();
        let (r, c) = triplets.iter().copied().unzip();
        Csr::from_coo(&Coo::new(rows, 1000, r, c, values).unwrap(), Duplicates::Keep)
    }

    #[test]
    fn rows_of_a_window_share_their_columns() {
        let Some(device) = emulated() else { return };
        let a = csr(17, &[(0, 3), (0, 5), (2, 3), (2, 3), (7, 5), (8, 9)]);
        let windowed = Windowed::new(&device, &a, |_| 16).unwrap();
        assert_eq!(windowed.pieces.list, [[0, 0, 1, 0], [1, 0, 1, 1], [2, 0, 0, 2]]);
        assert_eq!(read(&windowed.first_values), [0, 5, 6]);
        // Column 3 of rows 0 and 2, and once more of row 2; column 5 of rows 0 and 7.
        let entries = read(&windowed.entries);
        assert_eq!(entries[..4], [[3, 0b101], [3, 0b100 | 2 << 8], [5, 0b1000_0001 | 3 << 8], [0, 0]]);
        assert_eq!((entries[8], entries.len()), ([9, 1], 16));
        assert_eq!(read(&windowed.values), [1.0, 3.0, 4.0, 2.0, 5.0, 6.0]);
    }

    #[test]
    fn long_windows_are_cut_into_parts() {
        let Some(device) = emulated() else { return };
        let triplets: Vec<(u32, u32)> = (0..600).map(|column| (column % 3, column)).collect();
        let windowed = Windowed::new(&device, &csr(3, &triplets), |steps| steps - 75 + 16).unwrap();
        assert_eq!(windowed.pieces.parts, 5, "75 steps of 8 entries, 16 at most in a part");
        assert_eq!(windowed.pieces.cut, [[0, 0, 40, 0], [1, 1, 41, 0], [2, 2, 42, 0]]);
        // Counted from those of the only section.
        assert_eq!(read(&windowed.first_values), [0; 5]);
        assert!(windowed.pieces.list.iter().all(|piece| piece[2] == 15));
        let entries = read(&windowed.entries);
        let expected = |at: usize| [at as u32, 1 << (at % 3) | (at as u32) << 8];
        assert!(entries.iter().enumerate().all(|(at, entry)| *entry == expected(at)));
    }

    /// Row, column and value of every nonzero of the windows, which are in the order of the rows; the first one alone is cut.
    fn nonzeros(windowed: &Windowed<f64>) -> Vec<(u32, u32, u64)> {
        let (entries, values) = (read(&windowed.entries), read(&windowed.values));
        let mut nonzeros = Vec::new();
        for (piece, first_value) in windowed.pieces.list.iter().zip(read(&windowed.first_values)) {
            let window = if piece[3] & PART == 0 { piece[3] } else { 0 };
            let first = start_of(piece) * ENTRIES;
            for [column, mask] in &entries[first..first + piece[2] as usize * ENTRIES] {
                let rows = (0..ROWS as u32).filter(|place| mask >> place & 1 == 1);
                nonzeros.extend(rows.enumerate().map(|(before, place)| {
                    let value = values[first_value as usize + (mask >> 8) as usize + before];
                    (window * ROWS as u32 + place, *column, value.to_bits())
                }));
            }
        }
        nonzeros.sort_unstable();
        nonzeros
    }

    #[test]
    fn long_windows_are_walked_in_sections() {
        let Some(device) = emulated() else { return };
        let long = (0..5000).map(|column| (1, column)).chain((0..1500).map(|column| (2, 3 * column)));
        let triplets: Vec<(u32, u32)> = (0..9).map(|row| (row, row)).chain(long).collect();
        let values: Vec<f64> = (0..triplets.len()).map(|value| value as f64).collect();
        let (rows, columns) = triplets.into_iter().unzip();
        let rising = Csr::from_coo(&Coo::new(9, 5000, rows, columns, values).unwrap(), Duplicates::Keep);
        let (offsets, mut columns) = (rising.row_offsets().to_vec(), rising.col_indices().to_vec());
        columns.swap(offsets[2] - 1, offsets[2] - 2);
        let falling = Csr::from_parts(9, 5000, offsets, columns, rising.values().to_vec()).unwrap();
        for a in [rising, falling] {
            let windowed = Windowed::new(&device, &a, |_| 16).unwrap();
            assert!(windowed.pieces.parts > 10);
            let row = |row: u32| {
                a.view().row(row as usize).map(move |(column, value)| (row, column as u32, value.to_bits()))
            };
            let mut expected: Vec<(u32, u32, u64)> = (0..9).flat_map(row).collect();
            expected.sort_unstable();
            assert!(nonzeros(&windowed) == expected);
        }
    }

    #[test]
    fn columns_that_do_not_rise_are_listed_all_the_same() {
        let Some(device) = emulated() else { return };
        let a =
            Csr::from_parts(2, 9, vec![0, 3, 5], vec![7, 2, 4, 4, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let windowed = Windowed::new(&device, &a, |_| 16).unwrap();
        let expected = [[4, 0b10], [2, 0b10 | 1 << 8], [7, 1 | 2 << 8], [2, 1 | 3 << 8], [4, 1 | 4 << 8]];
        assert_eq!(read(&windowed.entries)[..5], expected);
        assert_eq!(read(&windowed.values), [4.0, 5.0, 1.0, 2.0, 3.0]);
    }
}
