//! A matrix column after column in device memory of its own, for kernels whose neighbouring threads walk down a column.

use crate::Scalar;
use crate::device::{
    Argument, Buffer, Device, DeviceError, DeviceLimits, Kernel, KernelSource, LaunchPlan, LaunchReport,
};
use crate::op::RunError;
use crate::refusal::Refusal;

/// Rows and columns of a tile, as in `transpose.cu`.
const TILE: u64 = 32;
/// Threads of a block: a row of the tile, and eight rows at a time.
const BLOCK: [u32; 3] = [32, 8, 1];

/// Room for the transposed matrix, and the kernel that fills it.
pub(crate) struct Transposed<S> {
    kernel: Kernel,
    plan: LaunchPlan,
    columns: Buffer<S>,
    rows: usize,
    cols: usize,
    /// Elements from one column to the next.
    distance: usize,
}

impl<S: Scalar> Transposed<S> {
    /// For a matrix of `rows × cols`; `what` it is, transposed, for messages.
    pub(crate) fn new(device: &Device, what: &str, rows: usize, cols: usize) -> Result<Self, Refusal> {
        Transposed::with_distance(device, what, rows, cols, rows)
    }

    /// A transposed copy with columns `distance` elements apart, which are no fewer than the rows.
    pub(crate) fn with_distance(
        device: &Device,
        what: &str,
        rows: usize,
        cols: usize,
        distance: usize,
    ) -> Result<Self, Refusal> {
        let plan = plan(device.limits(), rows as u64, cols as u64)?;
        let columns = device.allocate(what, distance.saturating_mul(cols))?;
        Ok(Transposed { kernel: device.kernel(&Self::source())?, plan, columns, rows, cols, distance })
    }

    /// The same with zeros between the columns: each is taken as `distance` rows long.
    pub(crate) fn padded(
        device: &Device,
        what: &str,
        rows: usize,
        cols: usize,
        distance: usize,
    ) -> Result<Self, Refusal> {
        let mut transposed = Transposed::with_distance(device, what, rows, cols, distance)?;
        if distance > rows {
            let failed = |error: DeviceError| Refusal::Device(error.to_string());
            transposed.columns.fill_bytes(0).map_err(failed)?; // all bytes 0 is the number 0
        }
        Ok(transposed)
    }

    /// The kernel.
    pub(crate) fn source() -> KernelSource {
        KernelSource::new("transpose", "transpose.cu", include_str!("transpose.cu"))
            .define("SCALAR", S::CUDA_NAME)
    }

    /// Fills it from a matrix of its shape, given as pointer and leading dimension. Only enqueues.
    pub(crate) fn repack(&mut self, [from, from_distance]: [Argument; 2]) -> Result<(), RunError> {
        let [rows, cols] = [self.rows, self.cols].map(|side| Argument::of(side as u64));
        let distance = Argument::of(self.distance as u64);
        let arguments = [rows, cols, from, from_distance, Argument::from(&mut self.columns), distance];
        // SAFETY: as `transpose.cu` declares them; the matrix is of this shape, says who gives it, and the columns have room for it and
        // are given back after what is in their stream.
        Ok(unsafe { self.kernel.launch(&self.plan, &arguments) }?)
    }

    /// Pointer and distance between columns: `const SCALAR* x_columns, u64 x_distance`.
    pub(crate) fn arguments(&self) -> [Argument; 2] {
        [Argument::from(&self.columns), Argument::of(self.distance as u64)]
    }

    /// The columns themselves.
    #[cfg(feature = "cuda")]
    pub(crate) fn columns(&self) -> &Buffer<S> {
        &self.columns
    }

    /// What its launch takes.
    pub(crate) fn report(&self) -> LaunchReport {
        self.kernel.report(&self.plan)
    }
}

/// One block per tile. Rows go along the grid's long direction; where the columns are too many for the short one, blocks
/// take several tiles.
fn plan(limits: &DeviceLimits, rows: u64, cols: u64) -> Result<LaunchPlan, Refusal> {
    let across = cols.div_ceil(TILE).min(u64::from(limits.grid[1]));
    LaunchPlan::new(limits, [rows.div_ceil(TILE), across, 1], BLOCK, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Emulator;
    use std::io::Write;

    #[test]
    fn plans_cover_every_tile() {
        let h200 = DeviceLimits::h200();
        for (rows, cols) in [(0, 4), (4, 0), (1, 1), (32, 33), (70_000_000, 64), (u64::from(u32::MAX), 1)] {
            let plan = plan(&h200, rows, cols).unwrap();
            assert_eq!(plan.grid().map(u64::from), [rows.div_ceil(32), cols.div_ceil(32), 1]);
            assert_eq!(plan.is_empty(), rows * cols == 0);
        }
        let wide = plan(&h200, 5, 10_000_000).unwrap();
        assert_eq!(wide.grid(), [1, 65_535, 1], "blocks go on to the next tiles");
        assert!(plan(&h200, 1 << 36, 1).is_err());
    }

    /// There with gaps between the columns, and back: as operands of cuSPARSE go.
    #[test]
    fn columns_may_lie_apart_and_go_back_into_rows() {
        let device = match Emulator::open() {
            Ok(emulator) => Device::Emulator(emulator),
            Err(refusal) => {
                let required = std::env::var("ORDITO_REQUIRE_EMULATOR").is_ok_and(|value| value == "1");
                assert!(!required, "ORDITO_REQUIRE_EMULATOR=1, but: {refusal}");
                let _ = writeln!(std::io::stderr(), "an emulator test is skipped: {refusal}");
                return;
            }
        };
        let (rows, cols, distance) = (33, 5, 36);
        let numbers: Vec<f64> = (0..rows * cols).map(|i| i as f64).collect();
        let from = device.upload("rows", &numbers).unwrap();
        let mut columns = Transposed::with_distance(&device, "columns", rows, cols, distance).unwrap();
        columns.repack([Argument::from(&from), Argument::of(cols as u64)]).unwrap();
        let mut found = vec![0.0; distance * cols];
        columns.columns().read(&mut found).unwrap();
        for (col, column) in found.chunks_exact(distance).enumerate() {
            let expected = (0..rows).map(|row| (row * cols + col) as f64);
            assert!(column[..rows].iter().copied().eq(expected), "column {col}");
            assert!(column[rows..].iter().all(|gap| gap.to_bits() == u64::MAX), "the gap is not touched");
        }
        let mut back = Transposed::new(&device, "rows again", cols, rows).unwrap();
        back.repack(columns.arguments()).unwrap();
        let mut found = vec![0.0; rows * cols];
        back.columns().read(&mut found).unwrap();
        assert_eq!(found, numbers);
    }
}
