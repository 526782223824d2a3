//! Windows of 8 rows that share a list of their columns, multiplied on tensor cores in f64. Best for bands, finite elements and
//! stencils at many columns of X, where an element of X serves several rows.

use crate::Scalar;
use crate::cpu::parallel;
use crate::device::{Argument, Device, DeviceLimits, KernelSource};
use crate::machine::Machine;
use crate::matrix::Csr;
use crate::op::{Description, Place, SourceFile};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::analysis::gathered::gathered;
use crate::spmm::analysis::shape::Shape;
use crate::spmm::cuda::fast::layout::parts::Parts;
use crate::spmm::cuda::fast::layout::pieces::Pieces;
use crate::spmm::cuda::fast::tiled::Layout;
use crate::spmm::cuda::fast::tiling::{Loads, Tiling, blocks_per_multiprocessor};
use crate::spmm::cuda::fast::work::Work;
use crate::spmm::cuda::fast::{Fast, Listed, PIECES, kernel};
use crate::spmm::product::Subject;

pub(crate) struct Windows;
pub(crate) const WINDOWS: Listed<Windows> = Listed {
    fast: Windows,
    description: Description::new(
        "csr-cuda-windows",
        "CSR, windows of 8 rows that share their columns, on tensor cores in f64",
        Place::Cuda,
        FILE,
    )
    .converted(),
};
const FILE: SourceFile = source_file!("spmm/cuda/fast/csr_cuda_windows.cu");

const THREADS: u32 = 64;
const WARP: u32 = 32;
/// Rows of a window; lanes side by side for the columns of X, as the tensor core wants them.
const ROWS: usize = 8;
const LANES: u32 = 8;
/// Entries of a step of the tensor core.
const ENTRIES: usize = 8;
/// Steps of a part of a window that has more than twice as many: short ones end together, but the more columns there are, the
/// more there is to add up of them. Of few steps in all nobody should wait for many that follow each other.
fn steps_of_part(row_bytes: usize, steps: usize) -> usize {
    if row_bytes < WIDE {
        SHORTEST_PART
    } else {
        (steps / PARTS_TO_FILL).clamp(SHORTEST_PART, 4 * SHORTEST_PART)
    }
}
const WIDE: usize = 512;
const SHORTEST_PART: usize = 16;
const PARTS_TO_FILL: usize = 1024;

/// 16 columns of X in f64, 32 in f32, in 8 lanes; twice as many in f64 where there are that many.
fn tiling<S: Scalar>(k: usize) -> Tiling {
    let narrow = 8 * (16 / size_of::<S>()) as u32;
    let columns = match size_of::<S>() {
        4 if k <= 16 => 16,
        8 if k > 16 => 2 * narrow,
        _ => narrow,
    };
    Tiling { lanes: LANES, columns }
}

/// A in windows.
#[derive(Debug, Default, PartialEq)]
struct Windowed<S> {
    /// The rows of the windows, 8 after 8.
    rows: Vec<u32>,
    pieces: Pieces,
    /// Of each piece: its first value.
    first_values: Vec<u64>,
    /// Two entries: column, and mask of rows with the place of its first value, counted from the piece's, from bit 8 on.
    entries: Vec<[u32; 4]>,
    values: Vec<S>,
}

/// The entries of one window.
struct Window<S> {
    columns: Vec<u32>,
    masks: Vec<u8>,
    values: Vec<S>,
}

impl<S: Scalar> Window<S> {
    fn new(a: &Csr<S>, rows: &[u32]) -> Self {
        let view = a.view();
        let mut nonzeros: Vec<(u32, u32, S)> = Vec::new();
        for (place, &row) in rows.iter().enumerate() {
            let of_row = view.row(row as usize);
            nonzeros.extend(of_row.map(|(column, value)| (column as u32, 1 << place, value)));
        }
        nonzeros.sort_by_key(|&(column, bit, _)| (column, bit)); // equal ones stay in order
        let mut window = Window { columns: Vec::new(), masks: Vec::new(), values: Vec::new() };
        for (column, bit, value) in nonzeros {
            // A column that a row has twice takes two entries.
            match window.columns.last() {
                Some(&last) if last == column && !window.has(bit) => {}
                _ => {
                    window.columns.push(column);
                    window.masks.push(0);
                }
            }
            if let Some(mask) = window.masks.last_mut() {
                *mask |= bit as u8;
            }
            window.values.push(value);
        }
        window
    }

    /// Has the last entry this row, or one behind it?
    fn has(&self, bit: u32) -> bool {
        self.masks.last().is_some_and(|&mask| u32::from(mask) >= bit)
    }
}

impl<S: Scalar> Windowed<S> {
    /// Rows as they are, or gathered where that lets windows share more.
    fn new(a: &Csr<S>, row_bytes: usize) -> Self {
        let rows = gathered(a).unwrap_or_else(|| (0..a.rows() as u32).collect());
        let windows: Vec<Window<S>> = parallel::map(rows.chunks(ROWS).collect(), |rows| Window::new(a, rows));
        let steps = windows.iter().map(|window| window.columns.len().div_ceil(ENTRIES)).sum();
        let part = steps_of_part(row_bytes, steps);
        let mut windowed = Windowed {
            rows,
            pieces: Pieces::default(),
            first_values: Vec::new(),
            entries: Vec::new(),
            values: Vec::with_capacity(a.nnz()),
        };
        for (number, window) in windows.into_iter().enumerate() {
            windowed.push(number, &window, part);
        }
        // Of a window in parts: each of its rows.
        let Windowed { rows, pieces, .. } = &mut windowed;
        let of_rows = |&[window, first, end, _]: &[u32; 4]| {
            let of_window = rows.iter().skip(window as usize * ROWS).take(ROWS);
            (0..)
                .zip(of_window)
                .map(move |(place, &row)| [row, first * ROWS as u32 + place, end * ROWS as u32 + place, 0])
        };
        pieces.cut = pieces.cut.iter().flat_map(of_rows).collect();
        windowed
    }

    fn push(&mut self, number: usize, window: &Window<S>, part: usize) {
        let first_step = self.entries.len() * 2 / ENTRIES;
        let steps = window.columns.len().div_ceil(ENTRIES);
        let first_piece = self.pieces.list.len();
        if steps > 2 * part {
            self.pieces.cut(number, first_step, first_step + steps, part);
        } else {
            self.pieces.list.push([
                first_step as u32,
                (first_step as u64 >> 32) as u32,
                steps as u32,
                number as u32,
            ]);
        }
        let mut value = 0;
        let mut entries = window.columns.iter().zip(&window.masks);
        for piece in first_piece..self.pieces.list.len() {
            self.first_values.push((self.values.len() + value) as u64);
            let first = value;
            for _ in 0..self.pieces.list[piece][2] as usize * ENTRIES / 2 {
                let mut pair = [0; 4];
                for entry in pair.chunks_exact_mut(2) {
                    // What fills the last step up has no row.
                    let Some((&column, &mask)) = entries.next() else { continue };
                    entry.copy_from_slice(&[column, u32::from(mask) | ((value - first) as u32) << 8]);
                    value += mask.count_ones() as usize;
                }
                self.entries.push(pair);
            }
        }
        self.values.extend(&window.values);
    }
}

impl<S: Scalar> Fast<S> for Windows {
    fn source(&self, tiling: Tiling, loads: Loads) -> KernelSource {
        let registers = tiling.registers::<S>();
        // Sums of two rows in f64, two elements of X, addresses and masks.
        let needed = 48 + 4 * tiling.columns / LANES + 2 * registers + if loads.width == 1 { 24 } else { 0 };
        let source = kernel("csr_windows", "csr_cuda_windows.cu", FILE.text, &[PIECES])
            .define("SCALAR", S::CUDA_NAME)
            .define("VEC", loads.width)
            .define("CHUNKS", tiling.chunks(loads.width))
            .define("WHOLE", u32::from(loads.whole));
        source
            .define("THREADS", THREADS)
            .define("BLOCKS_PER_MULTIPROCESSOR", blocks_per_multiprocessor(THREADS, needed))
    }
    fn tilings(&self) -> Vec<Tiling> {
        let mut all: Vec<Tiling> = Vec::new();
        for tiling in [1, 17].map(tiling::<S>) {
            if !all.contains(&tiling) {
                all.push(tiling);
            }
        }
        all
    }
    fn work(&self, _: &DeviceLimits, shape: &Shape, k: usize) -> Work {
        let (windows, shared) = (shape.rows as f64 / ROWS as f64, shape.gathered.max(1.0));
        let entries = shape.nonzeros as f64 / shared;
        let steps = (entries / ENTRIES as f64).max(windows);
        // The window of the longest row, or of the longest neighbours.
        let longest =
            (shape.work.longest as f64).max(shape.work.longest_of_8 as f64 / shared) / ENTRIES as f64;
        let part = steps_of_part(k.saturating_mul(size_of::<S>()), steps as usize) as f64;
        let is_cut = longest > 2.0 * part;
        Work {
            tiling: tiling::<S>(k),
            // Parts of cut windows have one each.
            warps: if is_cut { windows.max(steps / part) } else { windows },
            steps,
            chain: longest.min(2.0 * part),
            in_flight: 1,
            parts: if is_cut { longest / part } else { 0.0 },
            more_bytes: 8.0 * entries - 4.0 * shape.nonzeros as f64,
            x_rows: entries,
            // What rows of a window share is counted already.
            reuse: shape.near / shared,
            per_line: shape.along,
        }
    }
    fn more_kernels(&self) -> Vec<KernelSource> {
        vec![Parts::<S>::source()]
    }

    fn layout(&self, _: &Machine, device: &Device, subject: &Subject<S>) -> Result<Layout<S>, Refusal> {
        let (a, k) = (&subject.a, subject.k);
        crate::spmm::cuda::fast::layout::pieces::check_rows(a.rows())?;
        let tiling = tiling::<S>(k);
        let windowed = Windowed::new(a, k.saturating_mul(size_of::<S>()));
        let rows = device.upload("rows of windows", &windowed.rows)?;
        let list = device.upload("windows", &windowed.pieces.list)?;
        let first_values = device.upload("first values of windows", &windowed.first_values)?;
        let entries = device.upload("columns of windows", &windowed.entries)?;
        let values = device.upload("values of A", &windowed.values)?;
        let parts = (windowed.pieces.parts * ROWS, ROWS as u32);
        let parts = Parts::new(device, &windowed.pieces.cut, parts, k)?;
        let pieces = windowed.pieces.list.len() as u64;
        Ok(Layout {
            source: Box::new(move |loads| Fast::<S>::source(&Windows, tiling, loads)),
            tiling,
            k,
            units: pieces,
            blocks: pieces.div_ceil((THREADS / WARP).into()),
            threads: THREADS,
            arguments: vec![
                Argument::from(&list),
                Argument::from(&first_values),
                Argument::from(&entries),
                Argument::from(&values),
                Argument::from(&rows),
                Argument::of(a.rows() as u64),
                Parts::address(&parts),
            ],
            _held: vec![
                Box::new(list),
                Box::new(first_values),
                Box::new(entries),
                Box::new(values),
                Box::new(rows),
            ],
            parts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Coo, Duplicates};

    fn csr(rows: usize, triplets: &[(u32, u32)]) -> Csr<f64> {
        let values = (1..=triplets.len()).map(|value| value as f64).collect();
        let (r, c) = triplets.iter().copied().unzip();
        Csr::from_coo(&Coo::new(rows, 1000, r, c, values).unwrap(), Duplicates::Keep)
    }

    #[test]
    fn rows_of_a_window_share_their_columns() {
        let a = csr(9, &[(0, 3), (0, 5), (2, 3), (2, 3), (7, 5), (8, 9)]);
        let windowed = Windowed::new(&a, 16);
        assert_eq!(windowed.pieces.list, [[0, 0, 1, 0], [1, 0, 1, 1]]);
        assert_eq!(windowed.first_values, [0, 5]);
        // Column 3 of rows 0 and 2, and once more of row 2; column 5 of rows 0 and 7.
        assert_eq!(windowed.entries[0], [3, 0b101, 3, 0b100 | 2 << 8]);
        assert_eq!(windowed.entries[1], [5, 0b1000_0001 | 3 << 8, 0, 0]);
        assert_eq!(windowed.values, [1.0, 3.0, 4.0, 2.0, 5.0, 6.0]);
        assert_eq!(windowed.entries.len(), 8);
    }

    #[test]
    fn long_windows_are_cut_into_parts() {
        let triplets: Vec<(u32, u32)> = (0..600).map(|column| (column % 3, column)).collect();
        let windowed = Windowed::new(&csr(3, &triplets), 16);
        assert_eq!(windowed.pieces.parts, 5, "75 steps of 8 entries, 16 at most in a part");
        assert_eq!(windowed.pieces.cut, [[0, 0, 40, 0], [1, 1, 41, 0], [2, 2, 42, 0]]);
        assert_eq!(windowed.first_values, [0, 120, 240, 360, 480]);
        assert!(windowed.pieces.list.iter().all(|piece| piece[2] == 15));
        assert_eq!(windowed.entries.len(), 75 * 4);
    }
}
