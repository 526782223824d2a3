//! New numbers for a matrix that keeps its pattern.

use crate::Scalar;
use crate::matrix::FormatError;
use crate::refusal::Refusal;
use crate::spmm::plan::Plan;
use crate::spmm::plan::kept::{Kept, Ready, unpoisoned};
use crate::spmm::plan::making::build;
use crate::spmm::product::Shared;
use std::sync::{Arc, Mutex, OnceLock};

/// Why the values of a plan could not be replaced. The plan is as it was.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// Not as many values as the pattern has entries.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The variant refuses the new numbers.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl<S: Scalar> Plan<S> {
    /// New numbers for the pattern that it has, in the order of the CSR arrays. On the CPU that is one pass over them: what was
    /// chosen and how A lies stays (but for a form that knows that all values are the same: if that changes, it is prepared again when it is needed). On a device what was prepared is prepared again. A matrix that the caller keeps another
    /// [`Arc`] of stays as it is there, and its pattern is copied.
    pub fn update_values(&mut self, values: Vec<S>) -> Result<(), UpdateError> {
        self.a.check_values(&values)?;
        if self.device.is_some() {
            return self.prepare_again(values);
        }
        self.transposed.take();
        // Of every form of A one product, which nobody else shares it with; those that read A as it is are made again in no time.
        let mut forms: Vec<Ready<S>> = Vec::new();
        for ready in self.kept.take().into_iter().rev().filter_map(Arc::into_inner) {
            if ready.form.bytes > 0 && !forms.iter().any(|other| Arc::ptr_eq(&other.form, &ready.form)) {
                forms.push(ready);
            }
        }
        match Arc::get_mut(&mut self.a) {
            Some(a) => a.set_values(values)?,
            None => self.a = Arc::new(self.a.with_values(values)?),
        }
        for mut ready in forms.into_iter().rev() {
            let is_up_to_date = match &mut ready.product {
                Shared::OnHost(product) => product.set_values(&self.a),
                Shared::OnDevice(_) => false,
            };
            if is_up_to_date {
                self.kept.replace(ready);
            }
        }
        Ok(())
    }

    /// On a device: everything as it was, with other numbers.
    fn prepare_again(&mut self, values: Vec<S>) -> Result<(), UpdateError> {
        let updated = Plan {
            machine: self.machine.clone(),
            a: Arc::new(self.a.with_values(values)?),
            asked_for: self.asked_for,
            device: self.device.clone(),
            kept: Kept::default(),
            phases: Mutex::default(),
            transposed: OnceLock::new(),
        };
        let before = self.kept.take();
        let again = before.iter().try_for_each(|ready| {
            let subject = updated.subject(ready.k);
            let made = build(&updated.machine, &subject, ready.choice.clone(), &[])?;
            updated.kept.replace(made);
            let overlaps = unpoisoned(&ready.overlapped).is_some();
            if overlaps { updated.overlap_copies(ready.k).map(drop) } else { Ok(()) }
        });
        match again {
            Ok(()) => *self = updated,
            Err(refusal) => {
                self.kept.restore(before);
                return Err(refusal.into());
            }
        }
        Ok(())
    }
}
