//! Kernels that compute C in tiles, as data: what they differ in stands in [`Tiled`] and [`Tiling`], and the rest is the
//! same for all.

use crate::Scalar;
use crate::device::{
    Argument, Device, DeviceView, DeviceViewMut, Kernel, KernelSource, LaunchPlan, LaunchReport, PTX,
};
use crate::gemm::cuda::device::{DeviceKernel, OnDevice};
use crate::gemm::cuda::fast::add_slices::AddSlices;
use crate::gemm::cuda::fast::cut_tiles::CutTiles;
use crate::gemm::cuda::fast::tiling::{Slices, Tiling};
use crate::gemm::product::{Gemm, Product, Shape};
use crate::machine::Machine;
use crate::op::padded_rows::{Needs, PaddedRows};
use crate::op::{Description, RunError, Variant};
use crate::refusal::Refusal;
use std::sync::Arc;

/// Rows, columns and terms are counted in 32 bits, rounded up to whole tiles and slices.
const LONGEST_SIDE: usize = i32::MAX as usize;

/// The header that says which tile a block works on.
pub(crate) static TILE_ORDER: (&str, &str) = ("tile_order.cuh", include_str!("tile_order.cuh"));

/// A kernel with one size of tile.
pub(crate) struct Tiled {
    pub(crate) description: Description,
    pub(crate) entry: &'static str,
    pub(crate) file: &'static str,
    /// The sizes in each precision, where it multiplies that.
    pub(crate) f32: Option<Tiling>,
    pub(crate) f64: Option<Tiling>,
}

impl Tiled {
    /// The sizes in this precision, or a refusal.
    fn tiling<S: Scalar>(&self) -> Result<&Tiling, Refusal> {
        let (mine, other) = match S::NAME {
            f32::NAME => (&self.f32, f64::NAME),
            _ => (&self.f64, f32::NAME),
        };
        mine.as_ref().ok_or_else(|| Refusal::Unsupported(format!("multiplies {other} only")))
    }

    fn kernel<S: Scalar>(&self, tiling: &Tiling, asks_for_old: bool) -> KernelSource {
        let source = KernelSource::new(self.entry, self.file, self.description.source)
            .include("gemm.cuh", include_str!("gemm.cuh"))
            .include(TILE_ORDER.0, TILE_ORDER.1)
            .include(PTX.0, PTX.1)
            .define("SCALAR", S::CUDA_NAME)
            .define("ASKS_FOR_OLD", u32::from(asks_for_old));
        tiling.define(source)
    }

    /// Ready with these slices.
    fn launch<S: Scalar>(
        &self,
        device: &Device,
        shape: Shape,
        tiling: &Tiling,
        slices: Slices,
    ) -> Result<Launch<S>, Refusal> {
        let asks_for_old = tiling.asks_for_old(shape, size_of::<S>());
        Ok(Launch {
            plan: tiling.plan(device.limits(), shape, slices, size_of::<S>())?,
            kernel: device.kernel(&self.kernel::<S>(tiling, asks_for_old))?,
            slices,
            adding: Adding::new(device, shape, tiling, slices)?,
            a: PaddedRows::new(device, "A in padded rows", Needs::AlignedRows),
            b: PaddedRows::new(device, "B in padded rows", Needs::WholeChunks),
            c: padded_c(device, slices),
        })
    }
}

/// Who adds up slices.
enum Adding<S> {
    /// There is one.
    Nobody,
    /// Where all tiles are cut, which may be in many slices: a kernel of its own.
    AllTiles(AddSlices<S>),
    /// Where only the last ones are: the block that is done last.
    LastTiles(CutTiles<S>),
}

impl<S: Scalar> Adding<S> {
    fn new(device: &Device, shape: Shape, tiling: &Tiling, slices: Slices) -> Result<Self, Refusal> {
        if slices.whole_tiles > 0 && slices.count > 1 {
            return Ok(Adding::LastTiles(CutTiles::new(device, shape, tiling, slices)?));
        }
        let adding = AddSlices::for_slices(device, shape, slices)?;
        Ok(adding.map_or(Adding::Nobody, Adding::AllTiles))
    }

    /// Partial sums, and counters of the slices that have arrived.
    fn arguments(&self) -> [Argument; 2] {
        let nothing = || Argument::of(0_u64);
        match self {
            Adding::Nobody => [nothing(), nothing()],
            Adding::AllTiles(adding) => [adding.partial(), nothing()],
            Adding::LastTiles(cut) => cut.arguments(),
        }
    }
}

/// Partial sums of slices of all tiles lie as C does.
pub(crate) fn padded_c<S: Scalar>(device: &Device, slices: Slices) -> PaddedRows<S> {
    let needs =
        if slices.count > 1 && slices.whole_tiles == 0 { Needs::SameDistance } else { Needs::AlignedRows };
    PaddedRows::new(device, "C in padded rows", needs)
}

pub(crate) fn check_sides(shape: Shape) -> Result<(), Refusal> {
    let longest = shape.m.max(shape.k).max(shape.n);
    if longest <= LONGEST_SIDE {
        return Ok(());
    }
    Err(Refusal::Unsupported(format!(
        "takes matrices of at most {LONGEST_SIDE} rows and columns; here is a side of {longest}"
    )))
}

struct Launch<S> {
    kernel: Kernel,
    plan: LaunchPlan,
    slices: Slices,
    adding: Adding<S>,
    /// Copies of operands whose rows lie otherwise than the kernel moves them.
    a: PaddedRows<S>,
    b: PaddedRows<S>,
    c: PaddedRows<S>,
}

impl<S: Scalar> DeviceKernel<S> for Launch<S> {
    fn bind(
        &mut self,
        a: DeviceView<'_, S>,
        b: DeviceView<'_, S>,
        c: DeviceView<'_, S>,
    ) -> Result<(), RunError> {
        self.a.bind(a)?;
        self.b.bind(b)?;
        Ok(self.c.bind(c)?)
    }

    fn repack(&mut self, a: DeviceView<'_, S>, b: DeviceView<'_, S>) -> Result<bool, RunError> {
        Ok(self.a.fill(a)? | self.b.fill(b)?)
    }

    fn multiply(
        &mut self,
        terms: usize,
        alpha: S,
        a: DeviceView<'_, S>,
        b: DeviceView<'_, S>,
        beta: S,
        c: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        let Launch { kernel, plan, slices, adding, .. } = self;
        let (a, b) = (self.a.or_itself(a).arguments(), self.b.or_itself(b).arguments());
        self.c.write(c, beta != S::ZERO, |c| {
            let mut arguments = [c.rows(), terms, c.cols()].map(|side| Argument::of(side as u32)).to_vec();
            arguments.extend(a.into_iter().chain(b).chain(c.arguments()));
            arguments.extend([Argument::of(alpha), Argument::of(beta)]);
            // A plan has at most so many blocks as 32 bits count.
            arguments.extend([slices.whole_tiles as u32, slices.count, slices.terms].map(Argument::of));
            arguments.extend(adding.arguments());
            // SAFETY: as the kernel declares them; the operands have the shape that the launch was planned for, and slices are
            // buffers of this struct, made for it.
            unsafe { kernel.launch(plan, &arguments) }?;
            match adding {
                Adding::AllTiles(adding) => adding.add(alpha, beta, &c),
                Adding::Nobody | Adding::LastTiles(_) => Ok(()),
            }
        })
    }

    fn launches(&self) -> Vec<LaunchReport> {
        let adding = match &self.adding {
            Adding::AllTiles(adding) => Some(adding.report()),
            Adding::Nobody | Adding::LastTiles(_) => None,
        };
        let copies = self.a.launches().chain(self.b.launches()).chain(self.c.launches());
        [self.kernel.report(&self.plan)].into_iter().chain(adding).chain(copies).collect()
    }
}

impl<S: Scalar> Variant<Gemm<S>> for Tiled {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn kernels(&self) -> Vec<KernelSource> {
        let Ok(tiling) = self.tiling::<S>() else { return Vec::new() };
        let more = AddSlices::<S>::sources().into_iter().chain([PaddedRows::<S>::source()]);
        let asking = tiling.may_ask_for_old(size_of::<S>()).then(|| self.kernel::<S>(tiling, true));
        [self.kernel::<S>(tiling, false)].into_iter().chain(asking).chain(more).collect()
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Product<S>>, Refusal> {
        let tiling = self.tiling::<S>()?;
        check_sides(*shape)?;
        let device = machine.device()?;
        let slices = tiling.slices(device.limits(), *shape);
        let launch = self.launch(&device, *shape, tiling, slices)?;
        Ok(OnDevice::boxed(launch, device, *shape))
    }
}

#[cfg(test)]
mod tests;
