//! Equal shares of nonzeros for every group of lanes, rows joined by a segmented scan. Best for few columns of X where rows
//! differ in length, and for small matrices: the whole device has the same work however the rows are.

use crate::Scalar;
use crate::device::{Argument, Device, DeviceLimits, KernelSource};
use crate::machine::Machine;
use crate::matrix::Csr;
use crate::op::{Description, Place, SourceFile};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::analysis::shape::Shape;
use crate::spmm::cuda::fast::layout::flagged::{self, LAST, flagged};
use crate::spmm::cuda::fast::tiled::Layout;
use crate::spmm::cuda::fast::tiling::{Loads, Tiling, blocks_per_multiprocessor};
use crate::spmm::cuda::fast::work::Work;
use crate::spmm::cuda::fast::{FLAGS, Fast, Listed, kernel};
use crate::spmm::product::Subject;

pub(crate) struct Shares;
pub(crate) const SHARES: Listed<Shares> = Listed {
    fast: Shares,
    description: Description::new(
        "csr-cuda-shares",
        "CSR, equal shares of nonzeros whatever the rows, joined by a segmented scan",
        Place::Cuda,
        FILE,
    )
    .converted(),
};
static FILE: SourceFile = source_file!("spmm/cuda/fast/csr_cuda_shares.cu");

/// Threads of a block, at least: small blocks wait least for each other.
const THREADS: u32 = 128;
const MANY_THREADS: u32 = 512;
/// Nonzeros from which the device is filled whatever the blocks are.
const MANY: usize = 8_000_000;
/// Rows so short end so often that it pays to have all of them in blocks that run at the same time.
const SHORT: usize = 16;

/// Threads of a block. Larger blocks cut fewer rows, which pays where lanes have little else to do: with many nonzeros, and
/// where rows are short and a block per multiprocessor holds them all. On an H200, 512 instead of 128 threads for K = 1:
/// `powerlaw:1000000x16` 118 µs instead of 137 (f32), 142 instead of 163 (f64); soc-Epinions1 8.3 instead of 10.3. Otherwise 128
/// instead of 256: cnr-2000 18 % less time at K = 8, powerlaw 14 %.
fn threads<S: Scalar>(tiling: Tiling, (rows, nonzeros): (usize, usize), multiprocessors: u32) -> u32 {
    let registers = tiling.registers::<S>();
    let most = if registers <= 2 { MANY_THREADS } else { MANY_THREADS / 2 };
    let at_once = multiprocessors as usize * (most * ITEMS) as usize;
    let short = nonzeros < SHORT * rows;
    let fits = short && registers <= 2 && (at_once / 2..=at_once).contains(&(nonzeros + rows / 8));
    if tiling.lanes == 1 && (nonzeros >= MANY || fits) { most } else { THREADS }
}

const LANES: u32 = 8;
/// No cut row.
const NONE: u32 = u32::MAX;

/// Neighbouring nonzeros of a group: all of them are on their way at once.
const ITEMS: u32 = 8;
/// A row that would only just not fit begins a new block: where this part of one is lost by it.
const UNCUT: usize = 8;

/// Rows dealt out to blocks.
#[derive(Debug, PartialEq)]
struct Blocked {
    /// The first entry of each row, and where the last block ends.
    places: Vec<usize>,
    /// Of each block: the row of its first entry, with [`LAST`] where that began earlier; the cut row that goes on behind it.
    firsts: Vec<[u32; 2]>,
    /// Of each row that goes over several blocks: the row, the first block, the one it ends in, and the part that this makes.
    cuts: Vec<[u32; 4]>,
}

impl Blocked {
    /// Blocks of `size` entries. A row that would only just not fit begins a new one; others are cut. Rows are dealt out one after the
    /// other, and dividing would take most of the time: `size` is a power of two.
    fn new<S: Scalar>(a: &Csr<S>, size: usize) -> Result<Self, Refusal> {
        let (shift, mask) = (size.ilog2(), size - 1);
        let mut starts = Vec::with_capacity(a.rows() + 1);
        let mut end = 0;
        for length in a.row_lengths() {
            let (length, left) = (length.max(1), size - (end & mask));
            if length > left && length <= size && left <= size / UNCUT {
                end += left;
            }
            starts.push(end);
            end += length;
        }
        let blocks = end.div_ceil(size);
        starts.push(blocks * size);
        if u32::try_from(2 * blocks).is_err() {
            return Err(Refusal::Unsupported(format!(
                "the kernel counts {} blocks, not {blocks}",
                u32::MAX / 2
            )));
        }
        let (mut firsts, mut cuts) = (vec![[0, NONE]; blocks], Vec::new());
        let mut next = 0; // block whose first row is not known yet
        for (row, length) in a.row_lengths().enumerate() {
            let (start, end) = (starts[row], starts[row] + length.max(1));
            let (first, last) = (start >> shift, (end - 1) >> shift);
            while next <= last {
                let began_earlier = start < next << shift;
                firsts[next][0] = row as u32 | if began_earlier { LAST } else { 0 };
                next += 1;
            }
            if last > first {
                firsts[first..last].iter_mut().for_each(|block| block[1] = cuts.len() as u32);
                cuts.push([row as u32, first as u32, last as u32, (blocks + last) as u32]);
            }
        }
        Ok(Blocked { places: starts, firsts, cuts })
    }
}

/// The kernel with blocks of so many threads.
fn source<S: Scalar>(tiling: Tiling, loads: Loads, threads: u32) -> KernelSource {
    let registers = tiling.registers::<S>();
    let words = (size_of::<S>() / 4) as u32;
    let others = if tiling.columns == 1 { 24 } else { 30 };
    let needed = others + 3 * registers + ITEMS * (registers + words + 1);
    let source = kernel("csr_shares", "csr_cuda_shares.cu", FILE.text, &[FLAGS]);
    tiling
        .define::<S>(source, loads)
        .define("THREADS", threads)
        .define("ITEMS", ITEMS)
        .define("BLOCKS_PER_MULTIPROCESSOR", blocks_per_multiprocessor(threads, needed))
}

impl<S: Scalar> Fast<S> for Shares {
    fn source(&self, tiling: Tiling, loads: Loads) -> KernelSource {
        source::<S>(tiling, loads, THREADS)
    }
    fn tilings(&self) -> Vec<Tiling> {
        Tiling::all::<S>(1, LANES)
    }
    fn work(&self, limits: &DeviceLimits, shape: &Shape, k: usize) -> Work {
        let tiling = Tiling::new::<S>(k, 1, LANES);
        let entries = (shape.nonzeros + shape.work.empty) as f64;
        let lanes_of_warp = f64::from(tiling.lanes) / 32.0;
        // Rows that are much shorter than a block are not cut.
        let threads = threads::<S>(tiling, (shape.rows, shape.nonzeros), limits.multiprocessors);
        let of_block = f64::from(threads / tiling.lanes * ITEMS);
        let is_cut = entries > of_block && shape.work.longest as f64 > of_block / UNCUT as f64;
        Work {
            tiling,
            warps: entries / f64::from(ITEMS) * lanes_of_warp,
            steps: entries * lanes_of_warp,
            chain: f64::from(ITEMS),
            in_flight: ITEMS,
            parts: if is_cut { shape.work.longest as f64 / of_block } else { 0.0 },
            more_bytes: (shape.work.empty * (4 + size_of::<S>())) as f64,
            x_rows: shape.nonzeros as f64,
            reuse: shape.near,
            per_line: shape.along,
        }
    }
    fn more_kernels(&self) -> Vec<KernelSource> {
        let in_large_blocks = Fast::<S>::tilings(self).into_iter().filter(|tiling| tiling.lanes == 1);
        let in_large_blocks = in_large_blocks.flat_map(|tiling| {
            let most = if tiling.registers::<S>() <= 2 { MANY_THREADS } else { MANY_THREADS / 2 };
            tiling.all_loads::<S>().into_iter().map(move |loads| source::<S>(tiling, loads, most))
        });
        in_large_blocks.chain([flagged::source::<S>()]).collect()
    }

    fn layout(&self, _: &Machine, device: &Device, subject: &Subject<S>) -> Result<Layout<S>, Refusal> {
        let k = subject.k;
        let tiling = Tiling::new::<S>(k, 1, LANES);
        let of_a = (subject.a.rows(), subject.a.nnz());
        let threads = threads::<S>(tiling, of_a, device.limits().multiprocessors);
        let size = (threads / tiling.lanes * ITEMS) as usize;
        let blocked = Blocked::new(&subject.a, size)?;
        let (blocks, tiles) = (blocked.firsts.len(), tiling.tiles(k) as usize);
        let entries = flagged(device, &subject.a, &blocked.places)?;
        let firsts = device.upload("first rows of blocks", &blocked.firsts)?;
        let cuts = device.upload("rows of several blocks", &blocked.cuts)?;
        // Of each such row and tile: the blocks that are done. The kernel leaves it as it found it.
        let counters = blocked.cuts.len().saturating_mul(tiles);
        let mut arrived = device.allocate::<u32>("blocks that are done", counters)?;
        arrived.fill_bytes(0).map_err(|error| Refusal::Device(error.to_string()))?;
        let in_parts = if blocked.cuts.is_empty() { 0 } else { 2 * blocks };
        let parts = device.allocate::<S>("parts of rows", in_parts.saturating_mul(k))?;
        let [columns, values] = entries.arguments();
        Ok(Layout {
            source: Box::new(move |loads| source::<S>(tiling, loads, threads)),
            tiling,
            k,
            units: blocks as u64,
            blocks: blocks as u64,
            threads,
            arguments: vec![
                columns,
                values,
                Argument::from(&firsts),
                Argument::from(&cuts),
                Argument::from(&arrived),
                Argument::from(&parts),
            ],
            _held: vec![
                Box::new(entries),
                Box::new(firsts),
                Box::new(cuts),
                Box::new(arrived),
                Box::new(parts),
            ],
            parts: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Coo, Duplicates};

    #[test]
    fn blocks_are_large_for_many_nonzeros_or_few_short_rows() {
        let threads =
            |tiling, rows: usize, length: usize| super::threads::<f32>(tiling, (rows, rows * length), 132);
        let one = Tiling::new::<f32>(1, 1, LANES);
        assert_eq!(threads(one, 75_000, 7), 512);
        assert_eq!(threads(one, 11_000, 40), 128);
        assert_eq!(threads(one, 325_000, 10), 128);
        assert_eq!(threads(one, 800_000, 10), 512);
        assert_eq!(threads(Tiling::new::<f32>(4, 1, LANES), 800_000, 10), 256);
        assert_eq!(threads(Tiling::new::<f32>(8, 1, LANES), 800_000, 10), 128);
    }

    #[test]
    fn rows_lie_in_blocks_and_long_ones_in_several() {
        // Lengths 7, 3, 0, 20 in blocks of 8: the second row begins a new block, the last one is cut.
        let lengths = [7, 3, 0, 20];
        let rows: Vec<u32> = (0..4).flat_map(|row| vec![row; lengths[row as usize]]).collect();
        let columns: Vec<u32> = (0..30).collect();
        let coo = Coo::new(4, 30, rows, columns, vec![1.0; 30]).unwrap();
        let blocked = Blocked::new(&Csr::from_coo(&coo, Duplicates::Keep), 8).unwrap();
        assert_eq!(blocked.places, [0, 8, 11, 12, 32]);
        assert_eq!(blocked.firsts, [[0, NONE], [1, 0], [3 | LAST, 0], [3 | LAST, NONE]]);
        assert_eq!(blocked.cuts, [[3, 1, 3, 4 + 3]]);
        let none = Blocked::new(
            &Csr::from_coo(&Coo::<f64>::new(0, 3, vec![], vec![], vec![]).unwrap(), Duplicates::Keep),
            8,
        );
        assert_eq!(none.unwrap().firsts, Vec::<[u32; 2]>::new());
    }
}
