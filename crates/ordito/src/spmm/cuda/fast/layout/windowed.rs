//! A in windows: rows that share a list of their columns, each with a mask of the rows that have it.

use crate::Scalar;
use crate::device::{Argument, Buffer, Device, KernelSource};
use crate::matrix::Csr;
use crate::refusal::Refusal;
use crate::spmm::analysis::gathered::gathered;
use crate::spmm::cuda::fast::layout::entries::{Entries, launch, mover, refused};
use crate::spmm::cuda::fast::layout::parts::PartsOfRow;
use crate::spmm::cuda::fast::layout::pieces::{Pieces, check_rows, piece};

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

/// The kernels: the first counts entries, the second lists them.
pub(crate) fn sources<S: Scalar>() -> [KernelSource; 2] {
    ["count_window_entries", "fill_windows"]
        .map(|entry| mover::<S>(entry, "window_entries.cu", include_str!("window_entries.cu")))
}

/// How windows are dealt out.
#[derive(Debug, Default, PartialEq)]
struct DealtOut {
    pieces: Pieces,
    /// Of each window, and behind the last: its first step, piece and value.
    first_steps: Vec<u64>,
    first_pieces: Vec<u32>,
    first_values: Vec<u64>,
}

impl DealtOut {
    /// Windows of so many entries and values each. Those that have more than twice as many steps as a part has, which depends on the
    /// steps of all, are cut.
    fn new(windows: &[(u32, u64)], steps_of_part: impl FnOnce(usize) -> usize) -> Self {
        let steps_of = |&(entries, _): &(u32, u64)| (entries as usize).div_ceil(ENTRIES);
        let part = steps_of_part(windows.iter().map(steps_of).sum());
        let mut dealt = DealtOut::default();
        let (mut step, mut value) = (0, 0);
        for (number, window) in windows.iter().enumerate() {
            dealt.begin(step, value);
            let steps = steps_of(window);
            if steps > 2 * part {
                dealt.pieces.cut(number, step, step + steps, part);
            } else {
                dealt.pieces.list.push(piece(step, step + steps, number as u32));
            }
            (step, value) = (step + steps, value + window.1);
        }
        dealt.begin(step, value);
        dealt
    }

    fn begin(&mut self, step: usize, value: u64) {
        self.first_steps.push(step as u64);
        self.first_pieces.push(self.pieces.list.len() as u32);
        self.first_values.push(value);
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
        let [count, fill] = sources::<S>().map(|source| device.kernel(&source));
        let order = gathered(a).unwrap_or_else(|| (0..a.rows() as u32).collect());
        let rows = device.upload("rows of windows", &order)?;
        let row_starts = device.upload("row starts of A", a.view().offsets())?;
        let given = Entries::upload(device, a)?;
        let of_rows = [Argument::of(a.rows() as u64), Argument::from(&rows), Argument::from(&row_starts)];
        let [columns, values] = given.arguments();

        let counts = device.allocate::<u32>("entries of windows", a.rows().div_ceil(ROWS))?;
        let arguments = [&of_rows[..], &[columns.clone(), Argument::from(&counts)]].concat();
        let lanes = (a.rows() as u64, 0);
        // SAFETY: as the kernel declares them; `rows` are rows of A, and every window has a counter.
        unsafe { launch(device, &count?, lanes, &arguments) }?;
        let mut entries_of = vec![0; counts.len()];
        device.read_into(&counts, &mut entries_of).map_err(refused)?;

        let length = |&row: &u32| a.view().range(row as usize).len() as u64;
        let values_of = order.chunks(ROWS).map(|rows| rows.iter().map(length).sum());
        let windows: Vec<(u32, u64)> = entries_of.into_iter().zip(values_of).collect();
        let dealt = DealtOut::new(&windows, steps_of_part);
        let steps = dealt.first_steps.last().map_or(0, |&steps| steps as usize);
        let first_steps = device.upload("first steps of windows", &dealt.first_steps)?;
        let first_pieces = device.upload("first pieces of windows", &dealt.first_pieces)?;
        let first_values = device.upload("first values of windows", &dealt.first_values)?;
        let windowed = Windowed {
            rows,
            first_values: device.allocate("first values of pieces", dealt.pieces.list.len())?,
            entries: device.allocate("columns of windows", steps * ENTRIES)?,
            values: device.allocate("values of A", a.nnz())?,
            pieces: Pieces { cut: dealt.cut_rows(&order), ..dealt.pieces },
        };
        let arguments = [
            &of_rows[..],
            &[columns, values],
            &[Argument::from(&first_steps), Argument::from(&first_pieces), Argument::from(&first_values)],
            &[
                Argument::from(&windowed.first_values),
                Argument::from(&windowed.entries),
                Argument::from(&windowed.values),
            ],
        ]
        .concat();
        // SAFETY: as the kernel declares them. There is room for all steps and pieces of the windows, as they were counted, and for all
        // values of A.
        unsafe { launch(device, &fill?, lanes, &arguments) }?;
        Ok(windowed)
    }
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use crate::matrix::{Coo, Duplicates};
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
        assert_eq!(read(&windowed.first_values), [0, 120, 240, 360, 480]);
        assert!(windowed.pieces.list.iter().all(|piece| piece[2] == 15));
        let entries = read(&windowed.entries);
        assert!(
            entries
                .iter()
                .enumerate()
                .all(|(at, entry)| { *entry == [at as u32, 1 << (at % 3) | (at as u32 % 120) << 8] })
        );
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
