//! Blocks in memory of the host.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{Dense, DenseView, DenseViewMut, random_rows};
use crate::solve::blocks::{Block, Blocks, Columns, overlap};
use crate::solve::error::SolveError;
use crate::solve::operator::Operator;
use crate::solve::small::Small;
use crate::tall_skinny::combine::combine_parts;
use crate::tall_skinny::gram::{Kind, gram_of_parts};
use crate::tall_skinny::{Part, Sums};
use std::sync::Arc;

pub(crate) struct HostBlocks<S> {
    machine: Arc<Machine>,
    blocks: Vec<Dense<S>>,
}

impl<S: Scalar> HostBlocks<S> {
    pub(crate) fn new(machine: Arc<Machine>) -> Self {
        // All blocks of a solver count together, beside what is held already.
        HostBlocks { machine: machine.holding(machine.held_bytes()), blocks: Vec::new() }
    }

    fn part(&mut self, columns: Columns) -> Part<S> {
        let block = &mut self.blocks[columns.id];
        assert!(columns.first + columns.count <= block.cols());
        let distance = block.leading_dimension();
        // Of a block without rows nothing is ever read there.
        let at = block.data_mut().as_mut_ptr().wrapping_add(columns.first);
        Part { at, cols: columns.count, distance }
    }

    fn parts(&mut self, columns: &[Columns]) -> Vec<Part<S>> {
        columns.iter().map(|&columns| self.part(columns)).collect()
    }

    /// All of them have as many rows as this.
    fn rows(&self, columns: &[Columns]) -> usize {
        let rows = columns.first().map_or(0, |columns| self.blocks[columns.id].rows());
        assert!(columns.iter().all(|columns| self.blocks[columns.id].rows() == rows));
        rows
    }
}

impl<S: Scalar> Blocks<S> for HostBlocks<S> {
    fn add(&mut self, what: &'static str, rows: usize, cols: usize) -> Result<Block, SolveError> {
        let bytes = rows.checked_mul(cols).and_then(|elements| elements.checked_mul(size_of::<S>()));
        self.machine.check_memory(what, bytes.map(|bytes| bytes as u64))?;
        self.blocks.push(Dense::zeros(rows, cols)?);
        Ok(Block { id: self.blocks.len() - 1, rows, cols })
    }

    fn write(&mut self, to: Columns, from: DenseView<'_, S>) -> Result<(), SolveError> {
        let mut block = self.blocks[to.id].view_mut();
        for row in 0..block.rows() {
            block.row_mut(row)[to.first..to.first + to.count].copy_from_slice(from.row(row));
        }
        Ok(())
    }

    fn randomize(&mut self, to: Columns, first_row: u64, seed: u64) -> Result<(), SolveError> {
        let rows = first_row..first_row + self.blocks[to.id].rows() as u64;
        self.write(to, random_rows::<S>(rows, to.count, seed)?.view())
    }

    fn read(&mut self, from: Columns, mut into: DenseViewMut<'_, S>) -> Result<(), SolveError> {
        let block = self.blocks[from.id].view();
        for row in 0..block.rows() {
            into.row_mut(row).copy_from_slice(&block.row(row)[from.first..from.first + from.count]);
        }
        Ok(())
    }

    fn gram(&mut self, left: &[Columns], right: &[Columns]) -> Result<Small, SolveError> {
        let rows = self.rows(&[left, right].concat());
        let kind = if left == right { Kind::Symmetric } else { Kind::General };
        let (left, right) = (self.parts(left), self.parts(right));
        let [tall, wide] = [&left, &right].map(|parts| crate::tall_skinny::columns_of(parts));
        let mut g = vec![0.0; tall * wide];
        // SAFETY: blocks of ours with so many rows; nothing is written.
        unsafe { gram_of_parts(&self.machine, rows, &left, &right, kind, Sums::F64, &mut g) };
        self.machine.interrupt().check()?;
        Ok(Small::from_rows(tall, wide, &g))
    }

    fn combine(&mut self, from: &[Columns], c: &Small, into: &[Columns]) -> Result<(), SolveError> {
        let rows = self.rows(&[from, into].concat());
        assert!(!overlap(into), "combinations overlap each other");
        let c_rows: Vec<f64> = c.transpose().iter().copied().collect();
        let c = Dense::from_rows(c.nrows(), c.ncols(), c_rows)?;
        let (from, into) = (self.parts(from), self.parts(into));
        // SAFETY: blocks of ours with so many rows, borrowed by this call alone. What is written twice was ruled out above; what is read and written
        // lies in one block, in the same rows.
        unsafe { combine_parts(&self.machine, rows, &from, c.view(), &into) };
        Ok(self.machine.interrupt().check()?)
    }

    fn scale_rows(&mut self, factors: Columns, x: Columns) -> Result<(), SolveError> {
        let [numbers, block] = [factors, x].map(|columns| self.part(columns));
        let rows = self.rows(&[factors, x]);
        assert!(factors.id != x.id, "factors are a block of their own");
        let chunk = rows.div_ceil(8 * self.machine.threads()).max(4096);
        self.machine.run_chunks(rows.div_ceil(chunk), |index| {
            for row in index * chunk..rows.min((index + 1) * chunk) {
                // SAFETY: rows of two blocks of ours, each row in one chunk.
                let (factor, row) = unsafe { (numbers.row_mut(row)[0], block.row_mut(row)) };
                row.iter_mut().for_each(|x| *x = *x * factor);
            }
        });
        Ok(self.machine.interrupt().check()?)
    }

    fn apply(
        &mut self,
        operator: &dyn Operator<S>,
        transposed: bool,
        x: Columns,
        y: Columns,
    ) -> Result<(), SolveError> {
        assert!(x.id != y.id && x.count == y.count);
        // Taken out, so that both are borrowed at once.
        let mut written = std::mem::replace(&mut self.blocks[y.id], Dense::zeros(0, 0)?);
        let done = (|| {
            let read = &self.blocks[x.id];
            let x_view = DenseView::new(
                &read.data()[x.first.min(read.data().len())..],
                read.rows(),
                x.count,
                read.leading_dimension(),
            )?;
            let (rows, distance) = (written.rows(), written.leading_dimension());
            let start = y.first.min(written.data().len());
            let y_view = DenseViewMut::new(&mut written.data_mut()[start..], rows, y.count, distance)?;
            let product = if transposed {
                operator.apply_transposed(x_view, y_view)
            } else {
                operator.apply(x_view, y_view)
            };
            product.map_err(SolveError::from)
        })();
        self.blocks[y.id] = written;
        done
    }

    fn wait(&mut self) -> Result<(), SolveError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::CpuInfo;
    use crate::machine::Limits;

    #[test]
    fn blocks_count_together() {
        let cpu = CpuInfo::default();
        let limits = Limits { memory_bytes: 40_000, ..Limits::of(&cpu) };
        let machine = Machine::new(cpu, 1, limits).unwrap();
        let mut blocks = HostBlocks::<f64>::new(machine.holding(10_000));
        blocks.add("the first", 1000, 2).unwrap();
        let said = blocks.add("the second", 1000, 2).unwrap_err().to_string();
        assert!(said.starts_with("the second, beside 26.0 kB that are held already,"), "{said}");
        blocks.add("a small one", 1000, 1).unwrap();
        // Other solvers on the same machine have the limit for themselves.
        HostBlocks::<f64>::new(machine).add("of another", 1000, 4).unwrap();
    }
}
