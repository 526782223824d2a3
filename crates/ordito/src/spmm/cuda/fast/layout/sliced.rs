//! A in slices: the rows of a warp side by side, the first nonzero of each, then the second of each …

use crate::Scalar;
use crate::device::{Argument, Buffer, Device, KernelSource};
use crate::machine::Machine;
use crate::matrix::Csr;
use crate::refusal::Refusal;
use crate::spmm::cuda::fast::layout::entries::{Entries, moved, mover, refused, run};
use crate::spmm::cuda::fast::layout::row_list::{RowList, THREADS as COUNTERS, add_before};

/// Slices of so many rows each, on a device.
#[derive(Debug)]
pub(crate) struct Sliced<S> {
    /// First entry of each slice, and the end.
    pub(crate) starts: Buffer<u64>,
    /// Of each piece: its length and where it goes, as it was listed.
    pub(crate) lengths: Buffer<u32>,
    pub(crate) targets: Buffer<u32>,
    pub(crate) entries: Entries<S>,
}

/// How pieces lie in slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slicing {
    /// Rows of a slice, a power of two up to a warp.
    pub(crate) rows: usize,
    /// The bits of a listed length that are the length.
    pub(crate) length: u32,
}

impl Slicing {
    fn source<S: Scalar>(self, entry: &'static str) -> KernelSource {
        mover::<S>(entry, "slice_entries.cu", include_str!("slice_entries.cu"))
            .define("ROWS", self.rows as u32)
            .define("LENGTH", format!("{}u", self.length))
    }

    /// The kernels: widths of slices, where they begin, and their entries.
    pub(crate) fn sources<S: Scalar>(self) -> [KernelSource; 3] {
        [self.source::<S>("measure_slices"), add_before("u64"), self.source::<S>("slice_entries")]
    }
}

impl<S: Scalar> Sliced<S> {
    /// Of the pieces in their order, which stand for rows.
    pub(crate) fn new(
        (machine, device): (&Machine, &Device),
        a: &Csr<S>,
        rows: &RowList,
        slicing: Slicing,
    ) -> Result<Self, Refusal> {
        let pieces = rows.list.len();
        let slices = pieces.div_ceil(slicing.rows);
        let starts = device.allocate::<u64>("starts of slices", slices + 1)?;
        let of_pieces = [Argument::of(pieces as u64), Argument::from(&rows.list), Argument::from(&starts)];
        let of_starts = [Argument::of(slices as u64), Argument::from(&starts)];
        let [measure, add, fill] = slicing.sources::<S>();
        let lanes = slices as u64 * WARP;
        // SAFETY: as the kernels declare them; there is a start for every slice, and one for the end.
        unsafe {
            moved(device, &measure, (lanes, 0), &of_pieces)?;
            run(device, &add, [1, 1], COUNTERS, &of_starts)?;
        }
        let mut count = [0];
        starts.read_from(slices, &mut count).map_err(refused)?;
        let count = count[0];
        let what = || format!("slices of {} rows (longest row {})", slicing.rows, rows.longest);
        if device.is_emulated() {
            // There they lie in memory of the host.
            machine.check_memory(what(), count.checked_mul((size_of::<u32>() + size_of::<S>()) as u64))?;
        }
        // The kernel counts the entries of a slice in 32 bits.
        if rows.longest as u64 * slicing.rows as u64 > u64::from(u32::MAX) {
            return Err(Refusal::Unsupported(format!("{} has more entries than the kernel counts", what())));
        }
        let given = Entries::of(device, a)?;
        let lengths = device.allocate("lengths of rows", pieces)?;
        let targets = device.allocate("rows of slices", pieces)?;
        let entries = Entries::allocate(device, "slices", count as usize)?;
        let of_rows = [Argument::from(&lengths), Argument::from(&targets)];
        let arguments = [&of_pieces[..], &given.arguments(), &of_rows, &entries.arguments()].concat();
        // SAFETY: as the kernel declares them. Pieces lie in `given`; every slice has room for its longest one in `entries`.
        unsafe { moved(device, &fill, (lanes, rows.longest), &arguments) }?;
        Ok(Sliced { starts, lengths, targets, entries })
    }
}

/// Threads for a slice.
const WARP: u64 = 32;

#[cfg(test)]
#[cfg(feature = "emulator")]
mod tests {
    use super::*;
    use crate::cpu::CpuInfo;
    use crate::machine::Limits;
    use crate::matrix::{Coo, Duplicates};
    use crate::spmm::cuda::fast::layout::testing::{emulated, read};

    fn sliced(
        machine: &Machine,
        device: &Device,
        coo: Coo<f64>,
        rows: usize,
    ) -> Result<Sliced<f64>, Refusal> {
        let a = Csr::from_coo(&coo, Duplicates::Keep);
        let list = RowList::in_order(device, a.view().offsets()).unwrap();
        Sliced::new((machine, device), &a, &list, Slicing { rows, length: u32::MAX })
    }

    #[test]
    fn slices_hold_rows_side_by_side() {
        let Some(device) = emulated() else { return };
        let coo =
            Coo::new(3, 9, vec![0, 0, 1, 2, 2], vec![3, 8, 5, 1, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let sliced = sliced(&Machine::with_threads(1).unwrap(), &device, coo, 2).unwrap();
        assert_eq!((read(&sliced.starts), read(&sliced.lengths)), (vec![0, 4, 8], vec![2, 1, 2]));
        assert_eq!(read(&sliced.targets), [0, 1, 2]);
        assert_eq!(read(&sliced.entries.columns), [3, 5, 8, 0, 1, 0, 2, 0]);
        assert_eq!(read(&sliced.entries.values), [1.0, 3.0, 2.0, 0.0, 4.0, 0.0, 5.0, 0.0]);
    }

    #[test]
    fn long_rows_are_moved_in_stretches() {
        let Some(device) = emulated() else { return };
        let coo = Coo::new(2, 9000, vec![1; 9000], (0..9000).collect(), vec![2.0; 9000]).unwrap();
        let sliced = sliced(&Machine::with_threads(1).unwrap(), &device, coo, 2).unwrap();
        let columns = read(&sliced.entries.columns);
        assert!(columns.chunks(2).enumerate().all(|(at, two)| two == [0, at as u32]));
        assert_eq!(read(&sliced.entries.values).iter().sum::<f64>(), 18_000.0);
    }

    #[test]
    fn slices_beyond_the_memory_budget_are_refused() {
        let Some(device) = emulated() else { return };
        let coo = Coo::new(64, 1000, vec![7; 1000], (0..1000).collect(), vec![1.0; 1000]).unwrap();
        let cpu = CpuInfo::detect();
        let limits = Limits { memory_bytes: 100_000, ..Limits::of(&cpu) };
        let machine = Machine::new(cpu, 1, limits).unwrap();
        let refusal = sliced(&machine, &device, coo, 32).unwrap_err();
        assert!(
            refusal.to_string().starts_with("slices of 32 rows (longest row 1000) would need 384 kB"),
            "{refusal}"
        );
    }
}
