//! Rows that were too long for one warp or block, where the last of those that have a part adds up all: no second launch.

use crate::Scalar;
use crate::device::{Argument, Buffer, Device};
use crate::refusal::Refusal;
use crate::spmm::cuda::fast::layout::parts::PartsOfRow;

/// Room for the parts, K numbers each, and what who has one has to know of it.
pub(crate) struct PartsInPlace<S> {
    /// Of each part: its row, the first part of that, the end of its parts, and the row's counter.
    cuts: Buffer<PartsOfRow>,
    /// Of each row and tile of columns: parts that are done. The kernel leaves it as it found it.
    arrived: Buffer<u32>,
    parts: Buffer<S>,
}

impl<S: Scalar> PartsInPlace<S> {
    /// Of these rows, each with its parts behind those of the one before.
    pub(crate) fn new(
        device: &Device,
        rows: &[PartsOfRow],
        (k, tiles): (usize, u64),
    ) -> Result<Self, Refusal> {
        let cuts = of_parts(rows);
        let counters = usize::try_from(tiles).unwrap_or(usize::MAX).saturating_mul(rows.len());
        let mut arrived = device.allocate("parts that are done", counters)?;
        arrived.fill_bytes(0).map_err(|error| Refusal::Device(error.to_string()))?;
        let parts = device.allocate("parts of rows", cuts.len().saturating_mul(k))?;
        Ok(PartsInPlace { cuts: device.upload("rows of parts", &cuts)?, arrived, parts })
    }

    pub(crate) fn arguments(&self) -> [Argument; 3] {
        [Argument::from(&self.cuts), Argument::from(&self.arrived), Argument::from(&self.parts)]
    }
}

fn of_parts(rows: &[PartsOfRow]) -> Vec<PartsOfRow> {
    let cut = |(counter, &[row, first, end, _]): (usize, &PartsOfRow)| {
        (first..end).map(move |_| [row, first, end, counter as u32])
    };
    rows.iter().enumerate().flat_map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_knows_its_row() {
        assert_eq!(of_parts(&[[7, 0, 2, 0], [9, 2, 3, 0]]), [[7, 0, 2, 0], [7, 0, 2, 0], [9, 2, 3, 1]]);
        assert!(of_parts(&[]).is_empty());
    }
}
