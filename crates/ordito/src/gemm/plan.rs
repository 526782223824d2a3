//! The library's calls.

use crate::Scalar;
use crate::device::{Device, DeviceView, DeviceViewMut, LaunchReport};
use crate::gemm::cpu::dense_threads_packed::multiply_on;
use crate::gemm::cpu::host::multiply_or_scale;
use crate::gemm::product::{Gemm, Product, Shape, check_shapes};
use crate::gemm::select::choose;
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut};
use crate::op::{Choice, Op, Phases, RunError};
use crate::refusal::Refusal;
use std::sync::Arc;

/// Made ready for products of one shape, on the CPU or on a device. Owns what it needs and can live in a struct of
/// yours.
///
/// ```
/// use ordito::gemm::{Plan, Shape};
/// use ordito::{Dense, Machine};
///
/// let mut plan = Plan::<f64>::new(Shape { m: 2, k: 3, n: 1 }, &Machine::all_cores()?)?;
/// let a = Dense::from_rows(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let b = Dense::from_rows(3, 1, vec![1.0, 0.0, -1.0])?;
/// let mut c = Dense::filled(2, 1, 10.0)?;
/// plan.apply(1.0, a.view(), b.view(), 1.0, c.view_mut())?; // C = C + A·B
/// assert_eq!(c.data(), &[8.0, 8.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Plan<S: Scalar> {
    choice: Choice,
    product: Box<dyn Product<S>>,
}

impl<S: Scalar> Plan<S> {
    /// The variant that `auto` chooses for this shape and machine: on the CPU, or, where the machine has an accelerator
    /// ([`Machine::with_accelerator`]), on that.
    pub fn new(shape: Shape, machine: &Arc<Machine>) -> Result<Self, Refusal> {
        machine.check_accelerator()?;
        Plan::build(shape, choose::<S>(machine, shape), machine)
    }

    /// The variant of that name.
    pub fn with_variant(name: &str, shape: Shape, machine: &Arc<Machine>) -> Result<Self, Refusal> {
        let variant =
            Gemm::<S>::variant(name).ok_or_else(|| Refusal::UnknownVariant { name: name.to_string() })?;
        let choice = Choice::new(variant.describe(), "asked for by name");
        Plan::build(shape, choice, machine)
    }

    fn build(shape: Shape, choice: Choice, machine: &Arc<Machine>) -> Result<Self, Refusal> {
        let name = choice.variant.to_string();
        let variant = Gemm::<S>::variant(choice.variant).ok_or(Refusal::UnknownVariant { name })?;
        Ok(Plan { product: variant.prepare(machine, &shape)?, choice })
    }

    /// Which variant was taken, and why.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// C = αAB + βC. With β = 0, C is not read; gaps between rows are never touched.
    pub fn apply(
        &mut self,
        alpha: S,
        a: DenseView<'_, S>,
        b: DenseView<'_, S>,
        beta: S,
        c: DenseViewMut<'_, S>,
    ) -> Result<(), RunError> {
        self.product.apply(alpha, a, b, beta, c)
    }

    /// C = αAB + βC on operands that lie on the plan's device: only enqueues, and waits for nothing. Rows that do not start at
    /// multiples of 16 bytes are copied on the device by kernels that need them so; gaps of C are never touched.
    ///
    /// It happens after all that was done before to the buffers of A, B and C, and before all that is done to them later, in
    /// whichever streams ([`Device::with_new_stream`]). Memory of others ([`DeviceView::from_raw`]) is ordered by the plan's
    /// stream alone, and must begin at a multiple of 16 bytes. An error where the plan runs on the CPU.
    ///
    /// ```
    /// use ordito::device::DeviceDense;
    /// use ordito::gemm::{Plan, Shape};
    /// use ordito::{Accelerator, Dense, Machine};
    ///
    /// let machine = Machine::all_cores()?.with_accelerator(Accelerator::Emulator); // or Accelerator::Cuda(0)
    /// # if machine.device().is_err() { return Ok(()); }
    /// let mut plan = Plan::<f64>::new(Shape::square(2), &machine)?;
    /// let device = machine.device()?;
    /// let [mut a, mut b] = [DeviceDense::new(&device, "A", 2, 2)?, DeviceDense::new(&device, "B", 2, 2)?];
    /// a.write(Dense::from_rows(2, 2, vec![0.0, 1.0, 2.0, 0.0])?.view())?;
    /// plan.apply_on_device(1.0, a.view(), a.view(), 0.0, b.view_mut())?; // B = A·A; nothing comes back to the host
    /// let mut c = DeviceDense::new(&device, "C", 2, 2)?;
    /// plan.apply_on_device(1.0, a.view(), b.view(), 0.0, c.view_mut())?; // C = A·B
    /// let mut found = Dense::filled(2, 2, 0.0)?;
    /// c.read(found.view_mut())?; // waits
    /// assert_eq!(found.data(), &[0.0, 2.0, 4.0, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn apply_on_device(
        &mut self,
        alpha: S,
        a: DeviceView<'_, S>,
        b: DeviceView<'_, S>,
        beta: S,
        c: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        self.product.apply_on_device(alpha, a, b, beta, c)
    }

    /// The device it runs on, with its stream; `None` on the CPU.
    pub fn device(&self) -> Option<&Device> {
        self.product.device()
    }

    /// How long the parts of the last [`apply`](Self::apply) took on a device; nothing on the CPU.
    pub fn phases(&self) -> Phases {
        self.product.phases()
    }

    /// What a product launches on a device; nothing on the CPU.
    #[doc(hidden)]
    pub fn launches(&self) -> Vec<LaunchReport> {
        self.product.launches()
    }
}

/// A single product C = αAB + βC on borrowed arrays, on all cores.
///
/// ```
/// use ordito::{DenseView, DenseViewMut};
/// let a = DenseView::new(&[1.0, 2.0, 3.0, 4.0], 2, 2, 2)?;
/// let mut c = [f64::NAN; 5]; // 2×2, rows 3 apart: the gap is not touched
/// ordito::gemm::gemm(2.0, a, a, 0.0, DenseViewMut::new(&mut c, 2, 2, 3)?)?;
/// assert_eq!((&c[..2], &c[3..]), (&[14.0, 20.0][..], &[30.0, 44.0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn gemm<S: Scalar>(
    alpha: S,
    a: DenseView<'_, S>,
    b: DenseView<'_, S>,
    beta: S,
    c: DenseViewMut<'_, S>,
) -> Result<(), RunError> {
    let shape = Shape { m: a.rows(), k: a.cols(), n: b.cols() };
    check_shapes(shape, &a, &b, (c.rows(), c.cols()))?;
    let machine = Machine::all_cores()?;
    multiply_or_scale(alpha, a, b, beta, c, |a, b, c| multiply_on(&machine, alpha, a, b, beta, c));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Dense;

    #[test]
    fn wrong_shapes_are_errors_that_name_them() {
        let machine = Machine::all_cores().unwrap();
        let mut plan = Plan::<f64>::new(Shape { m: 3, k: 2, n: 1 }, &machine).unwrap();
        let (a, b) = (Dense::filled(3, 2, 1.0).unwrap(), Dense::filled(3, 1, 1.0).unwrap());
        let mut c = Dense::filled(3, 1, 0.0).unwrap();
        let error = plan.apply(1.0, a.view(), b.view(), 0.0, c.view_mut()).unwrap_err();
        assert_eq!(error.to_string(), "B is 3×1, 2×1 expected");
        let error = gemm(1.0, a.view(), b.view(), 0.0, c.view_mut()).unwrap_err();
        assert_eq!(error.to_string(), "B is 3×1, 2×1 expected");
        let unknown = Plan::<f64>::with_variant("dense-magic", Shape::square(2), &machine);
        assert!(unknown.err().unwrap().to_string().contains("no variant `dense-magic`"));
    }

    #[test]
    fn plans_can_move_between_threads_and_live_on() {
        fn movable<T: Send + 'static>() {}
        movable::<Plan<f32>>();
    }
}
