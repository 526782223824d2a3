//! A kernel over tiles of columns (`few.cuh`) with A in its layout, made ready to be launched.

use crate::Scalar;
use crate::device::{
    Argument, Device, DeviceView, DeviceViewMut, Kernel, KernelSource, LaunchPlan, LaunchReport,
};
use crate::op::RunError;
use crate::refusal::Refusal;
use crate::spmm::cuda::device::DeviceKernel;
use crate::spmm::cuda::fast::layout::parts::Parts;
use crate::spmm::cuda::fast::tiling::{Loads, Tiling};

/// What a variant says of itself.
pub(crate) struct Layout<S> {
    /// The kernel for such loads.
    pub(crate) source: Box<dyn Fn(Loads) -> KernelSource + Send>,
    pub(crate) tiling: Tiling,
    pub(crate) k: usize,
    /// The kernel's first argument: rows, pieces, blocks.
    pub(crate) units: u64,
    /// Blocks of threads for one tile.
    pub(crate) blocks: u64,
    pub(crate) threads: u32,
    /// A's part of the arguments, behind K.
    pub(crate) arguments: Vec<Argument>,
    /// What they point to.
    pub(crate) _held: Vec<Box<dyn Send>>,
    /// Rows that are added up from parts afterwards.
    pub(crate) parts: Option<Parts<S>>,
}

/// X and Y, each with its leading dimension, α and β.
const PER_CALL: usize = 6;

/// Compiled for one kind of loads.
pub(crate) struct Tiled<S> {
    device: Device,
    layout: Layout<S>,
    loads: Loads,
    kernel: Kernel,
    plan: LaunchPlan,
    /// All arguments; a call writes the last [`PER_CALL`] and allocates nothing.
    arguments: Vec<Argument>,
}

impl<S: Scalar> Tiled<S> {
    /// Compiled for rows of X and Y without gaps; others are compiled for when they come.
    pub(crate) fn new(device: &Device, layout: Layout<S>) -> Result<Self, Refusal> {
        let loads = layout.tiling.loads::<S>(layout.k, [layout.k; 2]);
        let kernel = device.kernel(&(layout.source)(loads))?;
        let tiles = layout.tiling.tiles(layout.k);
        let blocks = layout.blocks.saturating_mul(tiles);
        let plan = LaunchPlan::new(device.limits(), [blocks, 1, 1], [layout.threads, 1, 1], 0)?;
        let mut arguments = vec![Argument::of(layout.units), Argument::of(layout.k as u64)];
        arguments.extend(layout.arguments.iter().cloned());
        arguments.extend([(); PER_CALL].map(|()| Argument::of(0_u64)));
        Ok(Tiled { device: device.clone(), layout, loads, kernel, plan, arguments })
    }

    /// The kernel takes the bytes from row to row in 32 bits.
    fn check_distance(x: DeviceView<'_, S>) -> Result<(), RunError> {
        let distance = x.leading_dimension();
        if distance.checked_mul(size_of::<S>()).is_some_and(|bytes| u32::try_from(bytes).is_ok()) {
            return Ok(());
        }
        let why = format!("rows of X lie {distance} elements apart; the kernel counts to 4 GiB");
        Err(RunError::Refused(Refusal::Unsupported(why)))
    }
}

impl<S: Scalar> DeviceKernel<S> for Tiled<S> {
    fn bind(&mut self, x: DeviceView<'_, S>, y: DeviceView<'_, S>) -> Result<(), RunError> {
        Self::check_distance(x)?;
        let Layout { tiling, k, source, .. } = &self.layout;
        let loads = tiling.loads::<S>(*k, [x.leading_dimension(), y.leading_dimension()]);
        if loads != self.loads {
            self.kernel = self.device.kernel(&source(loads))?;
            self.loads = loads;
        }
        Ok(())
    }

    fn multiply(
        &mut self,
        alpha: S,
        x: DeviceView<'_, S>,
        beta: S,
        mut y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        self.bind(x, y.as_view())?; // nothing, unless others were multiplied in between
        let ([x, x_distance], [to, y_distance]) = (x.arguments(), y.arguments());
        let per_call: [Argument; PER_CALL] =
            [x, x_distance, to, y_distance, Argument::of(alpha), Argument::of(beta)];
        let fixed = self.arguments.len() - PER_CALL;
        self.arguments[fixed..].clone_from_slice(&per_call);
        // SAFETY: as the kernel declares them, which was compiled for these leading dimensions; A lies in buffers of this struct, X and
        // Y are views of matrices of the shapes that were checked by who multiplies.
        unsafe { self.kernel.launch(&self.plan, &self.arguments) }?;
        match &self.layout.parts {
            Some(parts) => parts.add_up(alpha, beta, &mut y),
            None => Ok(()),
        }
    }

    fn launches(&self) -> Vec<LaunchReport> {
        let parts = self.layout.parts.iter().map(Parts::report);
        [self.kernel.report(&self.plan)].into_iter().chain(parts).collect()
    }
}
