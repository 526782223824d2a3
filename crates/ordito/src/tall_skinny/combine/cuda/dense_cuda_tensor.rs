//! Ours: f64 tensor cores; rows of all blocks in registers before anything is written.

use crate::Scalar;
use crate::device::{
    Argument, Device, DeviceLimits, DeviceView, DeviceViewMut, Kernel, KernelSource, LaunchPlan,
    LaunchReport, PTX,
};
use crate::machine::Machine;
use crate::op::{Description, Place, RunError, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::tall_skinny::combine::contract::{Combination, Combine, Shape};
use crate::tall_skinny::combine::cuda::device::{DeviceKernel, OnDevice};
use crate::tall_skinny::device_part::{DevicePart, GROUP_COLS, GROUPS_HEADER, Group, groups_of};
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;

const THREADS_PER_BLOCK: u32 = 256;
const WARPS_PER_BLOCK: u64 = 8;
/// Groups of columns that a launch reads: they fit into registers; and writes: as the kernel declares, C then fits into shared memory.
const MOST_X: usize = 12;
const MOST_Y: usize = 8;
/// Rows of a step of the tensor core.
const TILE_ROWS: u64 = 16;
/// Registers of a multiprocessor, in every architecture that this is written for.
const REGISTERS: usize = 65_536;

/// What a kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Sizes {
    /// Groups of columns of X.
    x: usize,
    /// Is the result added to Y?
    adds: bool,
}

impl Sizes {
    /// Tiles of rows of a warp: of few columns, more rows are in flight.
    fn row_tiles(self) -> usize {
        if self.x <= 3 { 2 } else { 1 }
    }

    /// As registers allow: rows of X in f64, sums, and what else a thread has (`tests/nvrtc.rs`).
    fn blocks_per_multiprocessor(self) -> usize {
        let others = 40 + self.x / 5 * 4 + if self.adds { 16 } else { 0 };
        let registers = (8 * self.row_tiles() * (self.x + 1) + others).next_multiple_of(8);
        (REGISTERS / THREADS_PER_BLOCK as usize / registers).clamp(1, 4)
    }

    fn source<S: Scalar, C: Scalar>(self) -> KernelSource {
        KernelSource::new("combine", "dense_cuda_tensor.cu", DESCRIPTION.source)
            .include(PTX.0, PTX.1)
            .include(GROUPS_HEADER.0, GROUPS_HEADER.1)
            .define("SCALAR", S::CUDA_NAME)
            .define("COEFFICIENT", C::CUDA_NAME)
            .define("X_GROUPS", self.x)
            .define("ROW_TILES", self.row_tiles())
            .define("ADDS", u32::from(self.adds))
            .define("BLOCKS_PER_MULTIPROCESSOR", self.blocks_per_multiprocessor())
    }

    /// As many blocks as run at once, or fewer where they would have no rows.
    fn plan(self, limits: &DeviceLimits, rows: usize, y_groups: usize) -> Result<LaunchPlan, Refusal> {
        let chunks = (rows as u64).div_ceil(TILE_ROWS * self.row_tiles() as u64);
        let at_once = u64::from(limits.multiprocessors) * self.blocks_per_multiprocessor() as u64;
        let blocks = chunks.div_ceil(WARPS_PER_BLOCK).min(at_once);
        let shared = (self.x * y_groups * GROUP_COLS * GROUP_COLS * size_of::<f64>()) as u64;
        LaunchPlan::new(limits, [blocks, 1, 1], [THREADS_PER_BLOCK, 1, 1], shared)
    }
}

/// The launches of so many groups: how many of X are read from which on, and of Y written. Of no columns, one group that is empty.
fn cuts(x: usize, y: usize) -> impl Iterator<Item = (Sizes, usize, std::ops::Range<usize>)> {
    (0..y).step_by(MOST_Y).flat_map(move |first_y| {
        (0..x.max(1)).step_by(MOST_X).map(move |first_x| {
            let sizes = Sizes { x: MOST_X.min(x.max(1) - first_x), adds: first_x > 0 };
            (sizes, first_x, first_y..y.min(first_y + MOST_Y))
        })
    })
}

/// Do so many groups fit into one launch, so that Y may be X?
pub(crate) fn is_one_launch<S: Scalar>(from: &[DevicePart<S>], into: &[DevicePart<S>]) -> bool {
    groups_of(from).len() <= MOST_X && groups_of(into).len() <= MOST_Y
}

/// The kernels of one device for C in the precision `C`, each compiled when it is first asked for.
pub(crate) struct TensorCombine<S, C> {
    device: Device,
    kernels: HashMap<Sizes, Kernel>,
    elements: PhantomData<(S, C)>,
}

impl<S: Scalar, C: Scalar> TensorCombine<S, C> {
    pub(crate) fn new(device: &Device) -> Self {
        TensorCombine { device: device.clone(), kernels: HashMap::new(), elements: PhantomData }
    }

    fn kernel(&mut self, sizes: Sizes) -> Result<&Kernel, Refusal> {
        if !self.kernels.contains_key(&sizes) {
            self.kernels.insert(sizes, self.device.kernel(&sizes.source::<S, C>())?);
        }
        self.kernels.get(&sizes).ok_or_else(|| Refusal::Unsupported("a kernel that was made is gone".into()))
    }

    /// [Y …] = [X …]·C; C is given by its address and the distance of its rows. Only enqueues.
    ///
    /// # Safety
    /// All parts are memory of this device and have so many rows; C has a row for every column of the X and a column for every one of the Y.
    /// Until the device is done they are there, and nobody else uses the Y, or writes the others, other than in the same stream. What is
    /// written overlaps nothing but, where [one launch](is_one_launch) does all, an X whose rows lie where its own do.
    pub(crate) unsafe fn enqueue(
        &mut self,
        rows: usize,
        from: &[DevicePart<S>],
        c: (u64, usize),
        into: &[DevicePart<S>],
    ) -> Result<(), RunError> {
        let (mut x, y) = (groups_of(from), groups_of(into));
        let cuts = cuts(x.len(), y.len());
        if x.is_empty() {
            x.push(Group::NONE);
        }
        for (sizes, first_x, of_y) in cuts {
            let plan = sizes.plan(self.device.limits(), rows, of_y.len())?;
            let mut written = [Group::NONE; MOST_Y];
            written[..of_y.len()].copy_from_slice(&y[of_y.clone()]);
            let arguments = [
                Argument::of(rows as u64),
                Group::argument(&x[first_x..first_x + sizes.x]),
                Group::argument(&written),
                Argument::of(of_y.len() as u32),
                Argument::of(c.0),
                Argument::of(c.1 as u64),
            ];
            // SAFETY: as the kernel declares them. The rest is the caller's promise.
            unsafe { self.kernel(sizes)?.launch(&plan, &arguments) }?;
        }
        Ok(())
    }
}

/// What the workbench runs.
struct Launches<S> {
    combine: TensorCombine<S, S>,
    planned: Vec<(Sizes, LaunchPlan)>,
}

impl<S: Scalar> DeviceKernel<S> for Launches<S> {
    fn combine(
        &mut self,
        x: DeviceView<'_, S>,
        c: DeviceView<'_, S>,
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        let (from, into) = ([DevicePart::read(&x)], [DevicePart::written(&y)]);
        // SAFETY: views of this device, whose shapes were checked.
        unsafe { self.combine.enqueue(x.rows(), &from, (c.address(), c.leading_dimension()), &into) }
    }

    fn launches(&self) -> Vec<LaunchReport> {
        let report =
            |(sizes, plan): &(Sizes, LaunchPlan)| Some(self.combine.kernels.get(sizes)?.report(plan));
        self.planned.iter().filter_map(report).collect()
    }
}

pub(crate) struct DenseCudaTensor;

pub(crate) const DESCRIPTION: Description = Description::new(
    "dense-cuda-tensor",
    "f64 tensor cores; a warp reads whole rows of X before it writes those of Y",
    Place::Cuda,
    source_file!("tall_skinny/combine/cuda/dense_cuda_tensor.cu"),
);

impl<S: Scalar> Variant<Combine<S>> for DenseCudaTensor {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    /// Of those that shapes ask for, the smallest, the largest and some between; and with C in f64, as solvers have it.
    fn kernels(&self) -> Vec<KernelSource> {
        let sizes = |x, adds| Sizes { x, adds };
        let first = [1, 2, 3, 4, 6, 8, 9, MOST_X].map(|x| sizes(x, false).source::<S, S>());
        let adding = [1, 3, MOST_X].map(|x| sizes(x, true).source::<S, S>());
        let in_f64 = [1, 3, 6, MOST_X].map(|x| sizes(x, false).source::<S, f64>());
        first.into_iter().chain(adding).chain(in_f64).collect()
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Combination<S>>, Refusal> {
        let device = machine.device()?;
        let mut combine = TensorCombine::new(&device);
        let [x, y] = [shape.x_cols, shape.y_cols].map(|cols| cols.div_ceil(GROUP_COLS));
        let ready = |(sizes, _, of_y): (Sizes, usize, std::ops::Range<usize>)| {
            combine.kernel(sizes)?;
            Ok((sizes, sizes.plan(device.limits(), shape.rows, of_y.len())?))
        };
        let planned = cuts(x, y).map(ready).collect::<Result<_, Refusal>>()?;
        Ok(OnDevice::boxed(Launches { combine, planned }, device, *shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_cover_every_pair_of_groups_and_start_with_nothing() {
        for (x, y) in [(0, 1), (1, 1), (12, 8), (13, 9), (30, 17), (5, 0)] {
            let mut seen = vec![0; x.max(1) * y];
            for (sizes, first, of_y) in cuts(x, y) {
                assert!(sizes.x <= MOST_X && of_y.len() <= MOST_Y && sizes.adds == (first > 0));
                for (i, j) in (first..first + sizes.x).flat_map(|i| of_y.clone().map(move |j| (i, j))) {
                    seen[i * y + j] += 1;
                }
            }
            assert!(seen.iter().all(|&times| times == 1), "{x} {y}");
        }
    }

    #[test]
    fn launches_fit_the_device() {
        let h200 = DeviceLimits::h200();
        let plan = |x, rows, y| Sizes { x, adds: false }.plan(&h200, rows, y).unwrap();
        assert_eq!((plan(1, 0, 1).blocks(), plan(1, 256, 1).blocks(), plan(1, 257, 1).blocks()), (0, 1, 2));
        assert_eq!((plan(1, 1_000_000, 1).blocks(), plan(12, 1_000_000, 8).blocks()), (3 * 132, 132));
        assert_eq!(plan(12, 1, 8).shared_bytes(), 48 << 10);
    }
}
