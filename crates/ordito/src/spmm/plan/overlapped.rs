//! Products from pinned memory of the host whose copies and kernels go on at the same time. A is cut into blocks of rows,
//! each a product of its own: X goes up row after row, a block is multiplied as soon as the rows of X that it reads have
//! arrived, and its rows of Y go down while the next block is multiplied. The bus carries both directions at once, so a
//! banded matrix takes little more than one of them; one whose rows read all of X waits for X, and hides its kernels.

use crate::Scalar;
use crate::device::{Buffer, Device, DeviceView, DeviceViewMut, with_host_copies};
use crate::machine::Machine;
use crate::matrix::{Csr, CsrSlices, DenseView, DenseViewMut, Pattern};
use crate::op::{RunError, Variant};
use crate::refusal::Refusal;
use crate::spmm::product::{Product, Spmm, Subject};
use std::ops::Range;
use std::sync::Arc;

/// Bytes of Y that a block has at least: about 20 µs on the bus, against which its launches and marks should be little
/// (estimated, not measured).
const BLOCK_BYTES: usize = 1 << 20;
/// More blocks shorten what nothing overlaps with, the first copy and the last, to less than a sixteenth of the whole.
const MOST_BLOCKS: usize = 16;

/// A block of rows of A.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RowBlock {
    rows: Range<usize>,
    /// Rows of X that must be there: those up to here.
    x_end: usize,
}

/// Blocks of about as many rows; none where Y is too small to be cut.
fn cut<S: Scalar>(a: Pattern<'_>, k: usize, block_bytes: usize) -> Vec<RowBlock> {
    let y_bytes = a.rows().saturating_mul(k).saturating_mul(size_of::<S>());
    let blocks = (y_bytes / block_bytes).min(MOST_BLOCKS).min(a.rows());
    if blocks < 2 {
        return Vec::new();
    }
    let mut x_end = 0;
    let block = |index: usize| {
        let rows = index * a.rows() / blocks..(index + 1) * a.rows() / blocks;
        let entries = a.offsets()[rows.start]..a.offsets()[rows.end];
        let last = a.columns()[entries].iter().max();
        // What an earlier block read is there already.
        x_end = x_end.max(last.map_or(0, |&column| column as usize + 1));
        RowBlock { rows, x_end }
    };
    (0..blocks).map(block).collect()
}

/// A cut into blocks, and room for X and Y.
pub(crate) struct Overlapped<S: Scalar> {
    blocks: Vec<Block<S>>,
    x: Buffer<S>,
    x_shape: (usize, usize),
    upload: Device,
    compute: Device,
    download: Device,
}

struct Block<S: Scalar> {
    rows: Range<usize>,
    x_end: usize,
    product: Box<dyn Product<S>>,
    y: Buffer<S>,
}

impl<S: Scalar> Overlapped<S> {
    /// `None` where there is too little to copy.
    pub(crate) fn new(
        machine: &Arc<Machine>,
        variant: &dyn Variant<Spmm<S>>,
        subject: &Subject<S>,
    ) -> Result<Option<Self>, Refusal> {
        let blocks = cut::<S>(subject.a.pattern(), subject.k, BLOCK_BYTES);
        if blocks.is_empty() {
            return Ok(None);
        }
        Overlapped::of_blocks(machine, variant, subject, blocks).map(Some)
    }

    fn of_blocks(
        machine: &Arc<Machine>,
        variant: &dyn Variant<Spmm<S>>,
        subject: &Subject<S>,
        blocks: Vec<RowBlock>,
    ) -> Result<Self, Refusal> {
        let (a, k) = (&subject.a, subject.k);
        let compute = machine.device()?;
        let prepare = |RowBlock { rows, x_end }: RowBlock| {
            let part = Subject { a: Arc::new(part_of(a.view(), rows.clone())?), triplets: None, k };
            let product = variant.prepare(machine, &part)?;
            let y = compute.allocate("a block of Y", rows.len() * k)?;
            Ok(Block { rows, x_end, product, y })
        };
        let blocks = blocks.into_iter().map(prepare).collect::<Result<_, Refusal>>()?;
        let x = compute.allocate("X", a.cols().saturating_mul(k))?;
        // What was allocated is filled in one stream and written in another.
        compute.synchronize().map_err(|error| Refusal::Device(error.to_string()))?;
        let (upload, download) = (compute.with_new_stream()?, compute.with_new_stream()?);
        Ok(Overlapped { blocks, x, x_shape: (a.cols(), k), upload, compute, download })
    }

    /// Only what is not added to, without gaps, and from and to memory that is copied while the host goes on.
    pub(crate) fn takes(&self, x: &DenseView<'_, S>, beta: S, y: &DenseView<'_, S>) -> bool {
        let flies = |view: &DenseView<'_, S>| {
            view.data().len() == view.rows() * view.cols() && self.compute.copies_by_itself(view.data())
        };
        beta == S::ZERO && flies(x) && flies(y)
    }

    /// Y = αAX. Shapes have been checked.
    pub(crate) fn apply(
        &mut self,
        alpha: S,
        x: DenseView<'_, S>,
        y: DenseViewMut<'_, S>,
    ) -> Result<(), RunError> {
        let Overlapped { blocks, x: x_buffer, x_shape: (x_rows, k), upload, compute, download } = self;
        let (x_rows, k) = (*x_rows, *k);
        let (x, mut y) = (x.data(), y.into_data());
        with_host_copies(|copies| {
            let mut x_start = 0;
            for block in blocks {
                copies.upload(upload, &x[x_start * k..block.x_end * k], x_buffer, x_start * k)?;
                x_start = block.x_end;
                compute.wait_for(upload)?;
                let rows = block.rows.len();
                let x = DeviceView::whole(x_buffer, x_rows, k, k);
                let block_of_y = DeviceViewMut::whole(&mut block.y, rows, k, k);
                block.product.apply_on_device(alpha, x, S::ZERO, block_of_y)?;
                download.wait_for(compute)?;
                let (now, later) = std::mem::take(&mut y).split_at_mut(rows * k);
                copies.download(download, &block.y, 0, now)?;
                y = later;
            }
            Ok(())
        })
    }
}

/// These rows of A.
fn part_of<S: Scalar>(a: CsrSlices<'_, S>, rows: Range<usize>) -> Result<Csr<S>, Refusal> {
    let offsets = &a.offsets()[rows.start..=rows.end];
    let (start, end) = (a.offsets()[rows.start], a.offsets()[rows.end]);
    let from_zero = offsets.iter().map(|offset| offset - start).collect();
    let (columns, values) = (a.columns()[start..end].to_vec(), a.values()[start..end].to_vec());
    Csr::from_parts(rows.len(), a.cols(), from_zero, columns, values)
        .map_err(|error| Refusal::Unsupported(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Accelerator;
    use crate::matrix::random_dense;
    use crate::matrix::{Coo, Dense, Duplicates};
    use crate::op::Op;

    /// Every row reads the columns up to `reach` behind the diagonal.
    fn band(n: usize, reach: usize) -> Csr<f64> {
        let entries = (0..n).flat_map(|row| (row..n.min(row + reach + 1)).map(move |column| (row, column)));
        let (rows, columns): (Vec<u32>, Vec<u32>) = entries.map(|(r, c)| (r as u32, c as u32)).unzip();
        let values = vec![1.0; rows.len()];
        Csr::from_coo(&Coo::new(n, n, rows, columns, values).unwrap(), Duplicates::Keep)
    }

    #[test]
    fn blocks_cover_all_rows_and_wait_for_what_they_read() {
        let a = band(1000, 10);
        for k in [1, 100, 262, 300, 10_000] {
            let blocks = cut::<f64>(a.pattern(), k, BLOCK_BYTES);
            let expected = [(1, 0), (100, 0), (262, 0), (300, 2), (10_000, 16)];
            assert!(expected.contains(&(k, blocks.len())), "{k}: {}", blocks.len());
            let mut next = 0;
            for block in &blocks {
                assert_eq!(block.rows.start, next);
                next = block.rows.end;
                assert_eq!(block.x_end, (block.rows.end + 10).min(1000));
            }
            assert!(blocks.is_empty() || next == 1000);
        }
    }

    #[test]
    fn what_was_read_stays_read_and_empty_blocks_need_nothing() {
        let coo = Coo::new(4, 9, vec![0, 3], vec![8, 2], vec![1.0, 1.0]).unwrap();
        let a = Csr::from_coo(&coo, Duplicates::Keep);
        let ends: Vec<usize> = cut::<f64>(a.pattern(), 1, 8).iter().map(|block| block.x_end).collect();
        assert_eq!(ends, [9; 4]);
        let empty = Csr::<f64>::from_coo(&Coo::new(4, 9, vec![], vec![], vec![]).unwrap(), Duplicates::Keep);
        assert_eq!(cut::<f64>(empty.pattern(), 1, 8).iter().map(|block| block.x_end).max(), Some(0));
        assert!(cut::<f64>(empty.pattern(), 0, 8).is_empty());
    }

    #[test]
    fn a_part_has_the_rows_of_the_whole() {
        let a = band(6, 1);
        let part = part_of(a.view(), 4..6).unwrap();
        assert_eq!((part.rows(), part.cols(), part.nnz()), (2, 6, 3));
        assert_eq!(part.view().columns(), &[4, 5, 5]);
    }

    #[test]
    fn the_blocks_together_are_the_product() {
        let machine = Machine::with_threads(1).unwrap().with_accelerator(Accelerator::Emulator);
        if machine.device().is_err() {
            return; // tests/spmm_on_device.rs says so, and fails where that must not be
        }
        let subject = Subject { a: Arc::new(band(37, 5)), triplets: None, k: 3 };
        let blocks = cut::<f64>(subject.a.pattern(), 3, 100);
        assert_eq!(blocks.len(), 8);
        let variant = Spmm::<f64>::variant("csr-cuda-thread-per-element").unwrap();
        let mut overlapped = Overlapped::of_blocks(&machine, variant, &subject, blocks).unwrap();
        for seed in 1..3 {
            let x = random_dense(37, 3, seed).unwrap();
            let mut y = Dense::filled(37, 3, f64::NAN).unwrap();
            assert!(
                overlapped.takes(&x.view(), 0.0, &y.view()) && !overlapped.takes(&x.view(), 1.0, &y.view())
            );
            overlapped.apply(1.0, x.view(), y.view_mut()).unwrap();
            let whole = &*subject.a * &x;
            let close = |(found, right): (&f64, &f64)| (found - right).abs() <= 1e-14;
            assert!(y.data().iter().zip(whole.data()).all(close));
        }
    }
}
