//! Ours: f64 tensor cores, one pass over all blocks that fit into the registers of a launch.

use crate::Scalar;
use crate::device::{
    Argument, Buffer, Device, DeviceLimits, DeviceView, DeviceViewMut, Kernel, KernelSource, LaunchPlan,
    LaunchReport, PTX,
};
use crate::machine::Machine;
use crate::op::{Description, Place, RunError, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::tall_skinny::device_part::{DevicePart, GROUP_COLS, GROUPS_HEADER, Group, groups_of};
use crate::tall_skinny::gram::contract::{Gram, InnerProducts, Kind, Shape};
use crate::tall_skinny::gram::cuda::device::{DeviceKernel, OnDevice};
use std::collections::HashMap;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

const THREADS_PER_BLOCK: u32 = 256;
const WARPS_PER_BLOCK: u64 = 8;
/// Groups of columns of one launch: their sums fit into registers.
const MOST_LEFT: usize = 6;
const MOST_RIGHT: usize = 4;
/// Rows of a step of the tensor core.
const STEP_ROWS: u64 = 8;
/// Blocks whose sums are added up by the last of them, as in the kernel.
const TEAM: u64 = 16;
/// Registers of a multiprocessor, in every architecture that this is written for.
const REGISTERS: usize = 65_536;

/// Bytes that a multiprocessor should have asked for at any time: 4.8 TB/s and 0.7 µs make 25 kB for each of the 132 of an H200, and
/// not all of them are asked for at once. Of f32 fewer: there is as much to add up for every number, and more blocks hide that better.
const fn bytes_in_flight<S>() -> usize {
    if size_of::<S>() == 4 { 32 << 10 } else { 40 << 10 }
}
const MOST_STEPS: usize = 8;

/// How much of a kernel runs at a time.
struct InFlight {
    steps: usize,
    blocks: usize,
}

/// What a kernel is compiled for: groups of columns on the left and on the right, or of both at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Sizes {
    left: usize,
    right: usize,
    symmetric: bool,
}

impl Sizes {
    fn loaded(self) -> usize {
        if self.symmetric { self.left } else { self.left + self.right }
    }

    /// Tiles of G.
    fn tiles(self) -> usize {
        if self.symmetric { self.left * (self.left + 1) / 2 } else { self.left * self.right }
    }

    /// Sums of a block: two of each tile from every lane.
    fn list(self) -> usize {
        self.tiles() * 2 * 32
    }

    /// Steps of a warp in flight, and blocks of a multiprocessor: the fewest steps that keep memory busy.
    fn in_flight<S>(self) -> InFlight {
        let enough = |of: &InFlight| {
            let loads = 2 * of.steps * self.loaded() * of.blocks * THREADS_PER_BLOCK as usize;
            loads * size_of::<S>() >= bytes_in_flight::<S>()
        };
        let with = |steps| InFlight { steps, blocks: self.blocks::<S>(steps) };
        (1..MOST_STEPS).map(with).find(enough).unwrap_or(with(MOST_STEPS))
    }

    /// As registers allow: sums of pairs of groups, what is in flight, a step of f32 as f64, and what else a thread has (`tests/nvrtc.rs`).
    fn blocks<S>(self, steps: usize) -> usize {
        let across = |pair: usize| if self.symmetric { self.left - 2 * pair } else { self.right };
        let sums: usize = (0..self.left.div_ceil(2)).map(across).sum();
        let in_flight = 2 * steps * self.loaded() * size_of::<S>() / 4;
        let others = if size_of::<S>() == 4 { 4 * self.loaded() + 48 } else { 3 * self.loaded() + 32 };
        let registers = (8 * sums + in_flight + others).next_multiple_of(8);
        (REGISTERS / THREADS_PER_BLOCK as usize / registers).clamp(1, 4)
    }

    fn source<S: Scalar>(self) -> KernelSource {
        let in_flight = self.in_flight::<S>();
        KernelSource::new("gram", "dense_cuda_tensor.cu", DESCRIPTION.source)
            .include(PTX.0, PTX.1)
            .include(GROUPS_HEADER.0, GROUPS_HEADER.1)
            .define("SCALAR", S::CUDA_NAME)
            .define("LEFT", self.left)
            .define("RIGHT", self.right)
            .define("SYMMETRIC", u32::from(self.symmetric))
            .define("STEPS", in_flight.steps)
            .define("BLOCKS_PER_MULTIPROCESSOR", in_flight.blocks)
    }

    /// As many blocks as run at once, or fewer where they would have no rows: depends on the shape and the device only.
    fn plan<S: Scalar>(self, limits: &DeviceLimits, rows: usize) -> Result<LaunchPlan, Refusal> {
        let InFlight { steps, blocks } = self.in_flight::<S>();
        let chunks = (rows as u64).div_ceil(STEP_ROWS * steps as u64);
        let at_once = u64::from(limits.multiprocessors) * blocks as u64;
        let blocks = chunks.div_ceil(WARPS_PER_BLOCK).clamp(1, at_once.max(1));
        let shared = WARPS_PER_BLOCK / 2 * (self.list() * size_of::<f64>()) as u64;
        LaunchPlan::new(limits, [blocks, 1, 1], [THREADS_PER_BLOCK, 1, 1], shared)
    }
}

/// Part of G that one launch computes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cut {
    left: Range<usize>,
    right: Range<usize>,
    symmetric: bool,
    /// Is what lies below the diagonal its mirror image?
    mirrored: bool,
}

impl Cut {
    fn sizes(&self) -> Sizes {
        Sizes { left: self.left.len(), right: self.right.len(), symmetric: self.symmetric }
    }
}

fn in_pieces(groups: Range<usize>, most: usize) -> impl Iterator<Item = Range<usize>> {
    let end = groups.end;
    groups.step_by(most).map(move |first| first..end.min(first + most))
}

/// All of G, in launches.
fn cuts(left: usize, right: usize, kind: Kind) -> Vec<Cut> {
    let mut cuts = Vec::new();
    for rows in in_pieces(0..left, MOST_LEFT) {
        let (first, mirrored) = match kind {
            Kind::General => (0, false),
            Kind::Symmetric => {
                cuts.push(Cut { left: rows.clone(), right: rows.clone(), symmetric: true, mirrored: true });
                (rows.end, true)
            }
        };
        for cols in in_pieces(first..right, MOST_RIGHT) {
            cuts.push(Cut { left: rows.clone(), right: cols, symmetric: false, mirrored });
        }
    }
    cuts
}

/// The kernels of one device, each compiled when it is first asked for, and what they need beside their operands.
pub(crate) struct TensorGram<S> {
    device: Device,
    kernels: HashMap<Sizes, Kernel>,
    partial: Option<Buffer<f64>>,
    arrived: Option<Buffer<u32>>,
    element: PhantomData<S>,
}

impl<S: Scalar> TensorGram<S> {
    pub(crate) fn new(device: &Device) -> Self {
        let (kernels, partial, arrived, element) = (HashMap::new(), None, None, PhantomData);
        TensorGram { device: device.clone(), kernels, partial, arrived, element }
    }

    /// Compiles the kernel for this part, and makes room for its sums.
    fn get_ready(&mut self, sizes: Sizes, rows: usize) -> Result<LaunchPlan, Refusal> {
        if !self.kernels.contains_key(&sizes) {
            self.kernels.insert(sizes, self.device.kernel(&sizes.source::<S>())?);
        }
        let plan = sizes.plan::<S>(self.device.limits(), rows)?;
        let (blocks, teams) = (plan.blocks() as usize, plan.blocks().div_ceil(TEAM) as usize);
        let room = (blocks + teams) * sizes.list();
        if self.partial.as_ref().is_none_or(|partial| partial.len() < room) {
            self.partial = Some(self.device.allocate("inner products of blocks", room)?);
        }
        if self.arrived.as_ref().is_none_or(|arrived| arrived.len() < 1 + teams) {
            self.arrived = Some(self.device.upload("counters of blocks", &vec![0; 1 + teams])?);
        }
        Ok(plan)
    }

    /// Everything that products of so many columns need: later calls only enqueue.
    fn get_all_ready(&mut self, shape: Shape) -> Result<Vec<(Sizes, LaunchPlan)>, Refusal> {
        let [left, right] = [shape.x_cols, shape.y_cols].map(|cols| cols.div_ceil(GROUP_COLS));
        let ready = |cut: &Cut| Ok((cut.sizes(), self.get_ready(cut.sizes(), shape.rows)?));
        cuts(left, right, shape.kind()).iter().map(ready).collect()
    }

    /// G = XᵀY, whose rows lie so far apart. `Symmetric`: `left` and `right` are the same. Only enqueues.
    ///
    /// # Safety
    /// All parts are memory of this device and have so many rows; G has a row for every column on the left and a column for every one on the
    /// right. Until the device is done they are there, and nobody else uses G, or writes the others, other than in the same stream.
    pub(crate) unsafe fn enqueue(
        &mut self,
        rows: usize,
        left: &[DevicePart<S>],
        right: &[DevicePart<S>],
        kind: Kind,
        g: (u64, usize),
    ) -> Result<(), RunError> {
        let (left, right) = (groups_of(left), groups_of(right));
        for cut in cuts(left.len(), right.len(), kind) {
            let (sizes, mirrored) = (cut.sizes(), u32::from(cut.mirrored));
            let plan = self.get_ready(sizes, rows)?;
            let mut groups = left[cut.left].to_vec();
            if !cut.symmetric {
                groups.extend(&right[cut.right]);
            }
            let (Some(kernel), Some(partial), Some(arrived)) =
                (self.kernels.get(&sizes), &mut self.partial, &mut self.arrived)
            else {
                continue; // made ready above
            };
            let arguments = [
                Argument::of(rows as u64),
                Group::argument(&groups),
                Argument::of(g.0),
                Argument::of(g.1 as u64),
                Argument::of(mirrored),
                Argument::from(partial),
                Argument::from(arrived),
            ];
            // SAFETY: as the kernel declares them; sums and counters are buffers of this struct with room for this launch. The rest is the
            // caller's promise.
            unsafe { kernel.launch(&plan, &arguments) }?;
        }
        Ok(())
    }
}

/// What the workbench runs.
struct Launches<S> {
    gram: TensorGram<S>,
    kind: Kind,
    planned: Vec<(Sizes, LaunchPlan)>,
}

impl<S: Scalar> DeviceKernel<S> for Launches<S> {
    fn reduce(
        &mut self,
        x: DeviceView<'_, S>,
        y: DeviceView<'_, S>,
        g: DeviceViewMut<'_, f64>,
    ) -> Result<(), RunError> {
        let (left, right) = ([DevicePart::read(&x)], [DevicePart::read(&y)]);
        // SAFETY: views of this device, whose shapes were checked.
        unsafe { self.gram.enqueue(x.rows(), &left, &right, self.kind, (g.address(), g.leading_dimension())) }
    }

    fn launches(&self) -> Vec<LaunchReport> {
        let report = |(sizes, plan): &(Sizes, LaunchPlan)| Some(self.gram.kernels.get(sizes)?.report(plan));
        self.planned.iter().filter_map(report).collect()
    }
}

pub(crate) struct DenseCudaTensor;

pub(crate) const DESCRIPTION: Description = Description::new(
    "dense-cuda-tensor",
    "f64 tensor cores; warps walk over rows with G in registers, added up in order",
    Place::Cuda,
    source_file!("tall_skinny/gram/cuda/dense_cuda_tensor.cu"),
);

impl<S: Scalar> Variant<Gram<S>> for DenseCudaTensor {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    /// Of those that shapes ask for, the smallest, the largest and some between.
    fn kernels(&self) -> Vec<KernelSource> {
        let symmetric = [1, 2, 3, 4, 5, 6].map(|left| Sizes { left, right: left, symmetric: true });
        let general = [(1, 1), (1, 2), (2, 1), (2, 4), (3, 2), (3, 3), (4, 4), (5, 3), (6, 2), (6, 4)];
        let general = general.map(|(left, right)| Sizes { left, right, symmetric: false });
        symmetric.into_iter().chain(general).map(|sizes| sizes.source::<S>()).collect()
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn InnerProducts<S>>, Refusal> {
        let device = machine.device()?;
        let mut gram = TensorGram::new(&device);
        let planned = gram.get_all_ready(*shape)?;
        Ok(OnDevice::boxed(Launches { gram, kind: shape.kind(), planned }, device, *shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_cover_every_tile_once() {
        for left in 0..30 {
            for right in 0..30 {
                let mut seen = vec![0; left * right];
                for cut in cuts(left, right, Kind::General) {
                    assert!(cut.left.len() <= MOST_LEFT && cut.right.len() <= MOST_RIGHT && !cut.mirrored);
                    for (i, j) in cut.left.flat_map(|i| cut.right.clone().map(move |j| (i, j))) {
                        seen[i * right + j] += 1;
                    }
                }
                assert!(seen.iter().all(|&times| times == 1), "{left} {right}");
            }
            let mut seen = vec![0; left * left];
            for Cut { left: rows, right, symmetric, .. } in cuts(left, left, Kind::Symmetric) {
                for (i, j) in rows.flat_map(|i| right.clone().map(move |j| (i, j))) {
                    seen[i * left + j] += 1;
                    seen[j * left + i] += i32::from(!symmetric);
                }
            }
            assert!(seen.iter().all(|&times| times == 1), "{left}");
        }
    }

    #[test]
    fn blocks_are_few_and_have_rows() {
        let h200 = DeviceLimits::h200();
        let blocks = |left, right, symmetric, rows| {
            Sizes { left, right, symmetric }.plan::<f64>(&h200, rows).unwrap().blocks()
        };
        assert_eq!((blocks(1, 1, true, 0), blocks(1, 1, true, 192), blocks(1, 1, true, 193)), (1, 1, 2));
        assert_eq!((blocks(1, 1, true, 1_000_000), blocks(4, 4, true, 1_000_000)), (4 * 132, 2 * 132));
        assert_eq!(blocks(6, 4, false, 1_000_000), 132);
        for (left, right) in [(1, 1), (6, 4)] {
            let plan = Sizes { left, right, symmetric: false }.plan::<f32>(&h200, 1 << 40).unwrap();
            assert!(plan.shared_bytes() <= 48 << 10);
        }
    }
}
