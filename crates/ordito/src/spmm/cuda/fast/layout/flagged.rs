//! CSR whose columns say where rows end (`flags.cuh`), so that lanes can walk over several rows.

use crate::Scalar;
use crate::device::{Argument, Device, KernelSource};
use crate::matrix::Csr;
use crate::refusal::Refusal;
use crate::spmm::cuda::fast::layout::entries::{Entries, moved, mover};
use crate::spmm::cuda::fast::layout::pieces::check_rows;

/// The last entry of its row; an entry that is no nonzero.
pub(crate) const LAST: u32 = 1 << 31;
pub(crate) const NOTHING: u32 = 1 << 30;
/// Threads for a row, as in `flag_entries.cu`.
const LANES: u64 = 8;

/// The kernel.
pub(crate) fn source<S: Scalar>() -> KernelSource {
    mover::<S>("flag_entries", "flag_entries.cu", include_str!("flag_entries.cu"))
}

/// Every nonzero, one entry for an empty row, and what fills up the room of a row: row `r` has that from `places[r]` to `places[r + 1]`,
/// at least one entry.
pub(crate) fn flagged<S: Scalar>(
    device: &Device,
    a: &Csr<S>,
    places: &[usize],
) -> Result<Entries<S>, Refusal> {
    check_rows(a.rows())?;
    if a.cols() > NOTHING as usize {
        let why = format!("the kernel counts {NOTHING} columns, not {}", a.cols());
        return Err(Refusal::Unsupported(why));
    }
    let given = Entries::of(device, a)?;
    let row_starts = device.upload("row starts of A", a.pattern().offsets())?;
    let longest = places.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
    let entries = Entries::allocate(device, "shares", places.last().copied().unwrap_or(0))?;
    let places = device.upload("places of rows", places)?;
    let mut arguments =
        vec![Argument::of(a.rows() as u64), Argument::from(&row_starts), Argument::from(&places)];
    arguments.extend(given.arguments().into_iter().chain(entries.arguments()));
    // SAFETY: as the kernel declares them. Rows of A lie in `given`, and the room of each in `entries`, which ends where the last one does.
    unsafe { moved(device, &source::<S>(), (a.rows() as u64 * LANES, longest), &arguments) }?;
    Ok(entries)
}

#[cfg(test)]
#[cfg(feature = "emulator")]
mod tests {
    use super::*;
    use crate::matrix::{Coo, Duplicates};
    use crate::spmm::cuda::fast::layout::testing::{emulated, read};

    #[test]
    fn rows_end_where_they_are_flagged_and_empty_ones_have_an_entry() {
        let Some(device) = emulated() else { return };
        let coo = Coo::new(4, 9, vec![0, 0, 2], vec![3, 8, 5], vec![1.0, 2.0, 3.0]).unwrap();
        let a = Csr::from_coo(&coo, Duplicates::Keep);
        let entries = flagged(&device, &a, &[0, 2, 3, 4, 5]).unwrap();
        assert_eq!(read(&entries.columns), [3, 8 | LAST, NOTHING | LAST, 5 | LAST, NOTHING | LAST]);
        assert_eq!(read(&entries.values), [1.0, 2.0, 0.0, 3.0, 0.0]);
        let apart = flagged(&device, &a, &[0, 4, 5, 6, 8]).unwrap();
        assert_eq!(
            read(&apart.columns),
            [3, 8 | LAST, NOTHING, NOTHING, NOTHING | LAST, 5 | LAST, NOTHING | LAST, NOTHING]
        );
    }

    #[test]
    fn long_rows_are_moved_in_stretches() {
        let Some(device) = emulated() else { return };
        let columns: Vec<u32> = (0..10_000).chain([7]).collect();
        let rows = (0..10_000).map(|_| 1).chain([2]).collect();
        let values: Vec<f64> = columns.iter().map(|&column| f64::from(column)).collect();
        let coo = Coo::new(3, 10_000, rows, columns.clone(), values.clone()).unwrap();
        let a = Csr::from_coo(&coo, Duplicates::Keep);
        let entries = flagged(&device, &a, &[0, 1, 10_001, 10_002]).unwrap();
        let mut expected: Vec<u32> = [NOTHING | LAST].into_iter().chain(columns).collect();
        (expected[10_000], expected[10_001]) = (9999 | LAST, 7 | LAST);
        assert_eq!(read(&entries.columns), expected);
        assert!(read(&entries.values).into_iter().eq([0.0].into_iter().chain(values)));
    }
}
