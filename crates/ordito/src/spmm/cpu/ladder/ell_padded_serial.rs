//! Serial padded ELLPACK: one thread, one element of Y after the other, every row `width` products long.
//! Touches the padding too: rows × longest row places, and one element of X per place, K elements apart. As it was studied:
//! 0 times X's first row is added to every shorter row, and NaN where that row of X is not finite.
//! Loses on skewed matrices, where nearly everything is padding (refused above the memory budget), and for K > 1.

use crate::Scalar;
use crate::machine::{Interrupt, Machine};
use crate::matrix::{Csr, DenseView, DenseViewMut, EllPadded};
use crate::op::{Description, Place, Variant, check_padded};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::cpu::host::{HostKernel, OnHost};
use crate::spmm::cpu::kernels::epilogue::update;
use crate::spmm::product::{Product, Spmm, Subject};
use std::sync::Arc;

pub(crate) struct EllPaddedSerial;

struct Kernel<S> {
    a: EllPadded<S>,
    interrupt: Interrupt,
}

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn multiply(&self, alpha: S, x: DenseView<'_, S>, _: &[S], beta: S, mut y: DenseViewMut<'_, S>) {
        let (width, x_data, distance) = (self.a.width(), x.data(), x.leading_dimension());
        for row in self.interrupt.until_set(0..y.rows()) {
            let places = row * width..(row + 1) * width;
            let columns = &self.a.columns()[places.clone()];
            let values = &self.a.values()[places];
            for (k, y) in y.row_mut(row).iter_mut().enumerate() {
                let mut sum = S::ZERO;
                for (&col, &value) in columns.iter().zip(values) {
                    sum += value * x_data[col as usize * distance + k];
                }
                update(y, alpha, sum, beta);
            }
        }
    }

    fn bytes(&self) -> u64 {
        EllPadded::<S>::bytes_for(self.a.rows(), self.a.width()).unwrap_or(u64::MAX)
    }
}

/// Some seconds of one core.
const BEARABLE_MULTIPLY_ADDS: u64 = 2_000_000_000;

/// Times as much work as without padding, from which on it is padding that takes the time.
const MOSTLY_PADDING: u128 = 4;

/// Padded ELLPACK for a product on the CPU; refused also where it takes too long, most of it for padding.
pub(crate) fn pad_for<S: Scalar>(machine: &Machine, a: &Csr<S>, k: usize) -> Result<EllPadded<S>, Refusal> {
    let (rows, width) = (a.rows(), a.longest_row());
    let steps = rows as u128 * width as u128 * k as u128;
    let what = format!("padded ELLPACK ({rows} rows, longest row {width}) times {k} columns");
    if steps > MOSTLY_PADDING * a.nnz() as u128 * k as u128 {
        machine.check_work(what, steps, BEARABLE_MULTIPLY_ADDS)?;
    }
    pad(machine, a)
}

/// Padded ELLPACK, or a refusal that says how large it would be and why.
pub(crate) fn pad<S: Scalar>(machine: &Machine, a: &Csr<S>) -> Result<EllPadded<S>, Refusal> {
    check_padded::<S>(machine, a.rows(), a.longest_row())?;
    let budget = machine.limits().memory_bytes;
    EllPadded::from_csr(a).map_err(|error| Refusal::Memory { what: error.to_string(), needed: None, budget })
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "ell-padded-serial",
    "padded ELLPACK, one thread, one element of Y after the other; padding spreads NaN of X's first row",
    Place::Serial,
    source_file!("spmm/cpu/ladder/ell_padded_serial.rs"),
)
.ladder()
.converted()
.never_chosen();

impl<S: Scalar> Variant<Spmm<S>> for EllPaddedSerial {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let a = &subject.a;
        let kernel = Kernel { a: pad_for(machine, a, subject.k)?, interrupt: machine.interrupt().clone() };
        Ok(OnHost::boxed(machine, kernel, (a.rows(), a.cols()), subject.k))
    }
}
