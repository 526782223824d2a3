//! A in slices: the rows of a warp side by side, the first nonzero of each, then the second of each …

use crate::Scalar;
use crate::device::{Argument, Buffer, Device, KernelSource};
use crate::machine::Machine;
use crate::matrix::Csr;
use crate::refusal::Refusal;
use crate::spmm::cuda::fast::layout::entries::{Entries, launch, mover};
use crate::spmm::cuda::fast::layout::pieces::Piece;

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
    /// The bits of a piece's length that are its length.
    pub(crate) length: u32,
}

impl Slicing {
    /// The kernel.
    pub(crate) fn source<S: Scalar>(self) -> KernelSource {
        mover::<S>("slice_entries", "slice_entries.cu", include_str!("slice_entries.cu"))
            .define("ROWS", self.rows as u32)
            .define("LENGTH", format!("{}u", self.length))
    }

    /// First entry of each slice, and the end.
    fn starts(self, pieces: &[Piece]) -> Vec<u64> {
        let mut starts = Vec::with_capacity(pieces.len().div_ceil(self.rows) + 1);
        let mut end = 0;
        starts.push(end);
        for rows in pieces.chunks(self.rows) {
            let longest = rows.iter().map(|piece| piece[2] & self.length).max().unwrap_or(0);
            end += u64::from(longest) * self.rows as u64;
            starts.push(end);
        }
        starts
    }
}

impl<S: Scalar> Sliced<S> {
    /// Of the pieces in their order, which stand for rows.
    pub(crate) fn new(
        (machine, device): (&Machine, &Device),
        a: &Csr<S>,
        pieces: &[Piece],
        slicing: Slicing,
    ) -> Result<Self, Refusal> {
        let starts = slicing.starts(pieces);
        let longest = pieces.iter().map(|piece| piece[2] & slicing.length).max().unwrap_or(0);
        let count = starts.last().copied().unwrap_or(0);
        let what = || format!("slices of {} rows (longest row {longest})", slicing.rows);
        machine.check_memory(what(), count.checked_mul((size_of::<u32>() + size_of::<S>()) as u64))?;
        // The kernel counts the entries of a slice in 32 bits.
        if u64::from(longest) * slicing.rows as u64 > u64::from(u32::MAX) {
            return Err(Refusal::Unsupported(format!("{} has more entries than the kernel counts", what())));
        }
        let kernel = device.kernel(&slicing.source::<S>())?;
        let given = Entries::upload(device, a)?;
        let list = device.upload("rows of slices", pieces)?;
        let sliced = Sliced {
            starts: device.upload("starts of slices", &starts)?,
            lengths: device.allocate("lengths of rows", pieces.len())?,
            targets: device.allocate("rows of slices", pieces.len())?,
            entries: Entries::allocate(device, count as usize)?,
        };
        let mut arguments =
            vec![Argument::of(pieces.len() as u64), Argument::from(&list), Argument::from(&sliced.starts)];
        arguments.extend(given.arguments());
        arguments.extend([Argument::from(&sliced.lengths), Argument::from(&sliced.targets)]);
        arguments.extend(sliced.entries.arguments());
        let threads = (starts.len() as u64 - 1) * WARP;
        // SAFETY: as the kernel declares them. Pieces lie in `given`; every slice has room for its longest one in `entries`.
        unsafe { launch(device, &kernel, (threads, longest as usize), &arguments) }?;
        Ok(sliced)
    }
}

/// Threads for a slice.
const WARP: u64 = 32;

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use crate::cpu::CpuInfo;
    use crate::machine::Limits;
    use crate::matrix::{Coo, Duplicates};
    use crate::spmm::cuda::fast::layout::pieces::Pieces;
    use crate::spmm::cuda::fast::layout::testing::{emulated, read};

    fn sliced(
        machine: &Machine,
        device: &Device,
        coo: Coo<f64>,
        rows: usize,
    ) -> Result<Sliced<f64>, Refusal> {
        let a = Csr::from_coo(&coo, Duplicates::Keep);
        let pieces = Pieces::in_order(a.view().offsets(), 0..a.rows() as u32).unwrap();
        Sliced::new((machine, device), &a, &pieces.list, Slicing { rows, length: u32::MAX })
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
