//! Room for the sums of tiles that several blocks share: those of every slice, and a counter for every tile.

use crate::Scalar;
use crate::device::{Argument, Buffer, Device};
use crate::gemm::cuda::fast::tiling::{Slices, Tiling};
use crate::gemm::product::Shape;
use crate::refusal::Refusal;

pub(crate) struct CutTiles<S> {
    partial: Buffer<S>,
    /// Zero between launches.
    arrived: Buffer<u32>,
}

impl<S: Scalar> CutTiles<S> {
    pub(crate) fn new(
        device: &Device,
        shape: Shape,
        tiling: &Tiling,
        slices: Slices,
    ) -> Result<Self, Refusal> {
        // Fewer than multiprocessors, with their slices at most as many.
        let tiles = (tiling.tiles(shape) - slices.whole_tiles) as usize;
        let elements = tiles * slices.count as usize * (tiling.rows * tiling.cols) as usize;
        Ok(CutTiles {
            partial: device.allocate("partial sums of cut tiles", elements)?,
            arrived: device.upload("slices that have arrived", &vec![0; tiles])?,
        })
    }

    /// As `gemm.cuh` takes them.
    pub(crate) fn arguments(&self) -> [Argument; 2] {
        [Argument::from(&self.partial), Argument::from(&self.arrived)]
    }
}
