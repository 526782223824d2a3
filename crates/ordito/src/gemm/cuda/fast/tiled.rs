//! Kernels that compute C in tiles, as data: what they differ in stands in [`Tiled`] and [`Tiling`], and the rest is the
//! same for all.

use crate::Scalar;
use crate::device::DeviceDense;
use crate::device::{Argument, Device, Kernel, KernelSource, LaunchPlan, LaunchReport, PTX};
use crate::gemm::cuda::device::{DeviceKernel, OnDevice};
use crate::gemm::cuda::fast::add_slices::AddSlices;
use crate::gemm::cuda::fast::tiling::{Slices, Tiling};
use crate::gemm::product::{Gemm, Product, Shape};
use crate::machine::Machine;
use crate::op::{Description, RunError, Variant};
use crate::refusal::Refusal;
use std::sync::Arc;

/// Rows, columns and terms are counted in 32 bits, rounded up to whole tiles and slices.
const LONGEST_SIDE: usize = i32::MAX as usize;

/// The header that says which tile a block works on.
pub(crate) const TILE_ORDER: (&str, &str) = ("tile_order.cuh", include_str!("tile_order.cuh"));

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

    fn kernel<S: Scalar>(&self, tiling: &Tiling) -> KernelSource {
        let source = KernelSource::new(self.entry, self.file, self.description.source)
            .include("gemm.cuh", include_str!("gemm.cuh"))
            .include(TILE_ORDER.0, TILE_ORDER.1)
            .include(PTX.0, PTX.1)
            .define("SCALAR", S::CUDA_NAME);
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
        Ok(Launch {
            plan: tiling.plan(device.limits(), shape, slices, size_of::<S>())?,
            kernel: device.kernel(&self.kernel::<S>(tiling))?,
            slices,
            adding: AddSlices::for_slices(device, shape, slices)?,
        })
    }
}

pub(crate) fn check_sides(shape: Shape) -> Result<(), Refusal> {
    let longest = shape.n.max(shape.m).max(shape.p);
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
    /// Where there are several slices.
    adding: Option<AddSlices<S>>,
}

impl<S: Scalar> DeviceKernel<S> for Launch<S> {
    fn multiply(
        &mut self,
        terms: usize,
        alpha: S,
        a: &DeviceDense<S>,
        b: &DeviceDense<S>,
        beta: S,
        c: &mut DeviceDense<S>,
    ) -> Result<(), RunError> {
        let mut arguments = [c.rows, terms, c.cols].map(|side| Argument::of(side as u32)).to_vec();
        arguments.extend(a.arguments().into_iter().chain(b.arguments()).chain(c.arguments()));
        let partial = self.adding.as_ref().map_or(Argument::of(0_u64), AddSlices::partial);
        arguments.extend([Argument::of(alpha), Argument::of(beta), partial, Argument::of(self.slices.terms)]);
        // SAFETY: as the kernel declares them; the operands have the shape that the launch was planned for, and slices are a buffer of
        // this struct.
        unsafe { self.kernel.launch(&self.plan, &arguments) }?;
        match &self.adding {
            Some(adding) => adding.add(alpha, beta, c),
            None => Ok(()),
        }
    }

    fn launches(&self) -> Vec<LaunchReport> {
        let adding = self.adding.iter().map(AddSlices::report);
        [self.kernel.report(&self.plan)].into_iter().chain(adding).collect()
    }
}

impl<S: Scalar> Variant<Gemm<S>> for Tiled {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn kernels(&self) -> Vec<KernelSource> {
        let Ok(tiling) = self.tiling::<S>() else { return Vec::new() };
        [self.kernel::<S>(tiling)].into_iter().chain(AddSlices::<S>::sources()).collect()
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
