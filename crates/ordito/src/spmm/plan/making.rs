//! Which kernel serves a number of columns, made ready: what `auto` chooses, what does in its place, and in which form A is read.

use crate::Scalar;
#[cfg(any(feature = "cuda", feature = "emulator"))]
use crate::machine::Accelerator;
use crate::machine::Machine;
use crate::op::{Choice, Description, Op, Place, Variant};
use crate::refusal::Refusal;
use crate::spmm::cpu::csr_threads_nnz;
#[cfg(any(feature = "cuda", feature = "emulator"))]
use crate::spmm::cuda::fast::csr_cuda_rows;
use crate::spmm::plan::kept::{Form, Ready};
#[cfg(feature = "files")]
pub(crate) use crate::spmm::plan::remembered::or_remembered;
use crate::spmm::plan::stopwatch::timed;
use crate::spmm::product::{Shared, Spmm, Subject};
use crate::spmm::select::choose;
use crate::spmm::select::on_cpu::with_rows_as_they_stand;
use std::sync::Arc;

/// Without files nothing is remembered.
#[cfg(not(feature = "files"))]
pub(crate) fn or_remembered<S: Scalar>(
    _: &Machine,
    _: &Subject<S>,
    choose: impl FnOnce() -> Choice,
) -> Choice {
    choose()
}

/// What multiplies CSR as it comes: on a device with a list of its rows.
pub(crate) fn plain_variant(machine: &Machine) -> &'static Description {
    match machine.accelerator() {
        #[cfg(any(feature = "cuda", feature = "emulator"))]
        Accelerator::Cuda(_) | Accelerator::Emulator => &csr_cuda_rows::ROWS_8.description,
        _ => &csr_threads_nnz::DESCRIPTION,
    }
}

/// Is the variant of that name what multiplies CSR as it comes, where this machine computes?
pub(crate) fn is_plain<S: Scalar>(machine: &Machine, name: &str) -> bool {
    let place = plain_variant(machine).place;
    let described = Spmm::<S>::variant(name).map(|variant| variant.describe());
    described.is_some_and(|description| description.is_plain && description.place == place)
}

/// Products that are there already, whose forms of A others may read.
pub(super) type There<'a, S> = &'a [Arc<Ready<S>>];

/// The variant that `auto` chooses, or that was tuned. Should it refuse, the plain one is taken; should it find, being prepared,
/// that it does not pay, the next best.
pub(super) fn chosen<S: Scalar>(
    machine: &Arc<Machine>,
    subject: &Subject<S>,
    there: There<'_, S>,
) -> Result<Ready<S>, Refusal> {
    let mut measured = true;
    let choice = or_remembered(machine, subject, || {
        measured = false;
        choose(machine, subject)
    });
    let name = choice.variant;
    let made = if measured {
        build(machine, subject, choice, there).map(Ok)
    } else {
        build_if_it_pays(machine, subject, choice, there)
    };
    match made {
        Ok(Ok(ready)) => Ok(ready),
        Ok(Err(in_vain)) => next_best(machine, subject, in_vain, there),
        Err(refusal) if !is_plain::<S>(machine, name) => {
            let reason = format!("{name} refuses: {refusal}");
            let plain = Choice::new(plain_variant(machine), reason);
            // If this refuses too, the first refusal says more.
            build(machine, subject, plain, there).map_err(|_| refusal)
        }
        Err(refusal) => Err(refusal),
    }
}

/// A variant that found, being prepared, that it does not pay.
struct InVain {
    variant: &'static str,
    why: String,
    /// What finding out took.
    ns: f64,
}

/// The product that `auto` takes where preparing another one has shown that it would be as good.
fn next_best<S: Scalar>(
    machine: &Arc<Machine>,
    subject: &Subject<S>,
    in_vain: InVain,
    there: There<'_, S>,
) -> Result<Ready<S>, Refusal> {
    let Choice { variant, reason } = with_rows_as_they_stand(machine, subject);
    let reason = format!("{reason} ({} would not pay: {})", in_vain.variant, in_vain.why);
    let plain = Choice::new(plain_variant(machine), reason.as_str());
    let mut next = build(machine, subject, Choice { variant, reason }, there)
        .or_else(|_| build(machine, subject, plain, there))?;
    next.prepare_ns += in_vain.ns; // that was spent, too
    Ok(next)
}

/// This variant, with A in a form that is there if it is one that it reads.
pub(super) fn build<S: Scalar>(
    machine: &Arc<Machine>,
    subject: &Subject<S>,
    choice: Choice,
    there: There<'_, S>,
) -> Result<Ready<S>, Refusal> {
    if let Some(ready) = of_what_is_there(subject, &choice, there) {
        return Ok(ready);
    }
    let variant = named(&choice)?;
    let (product, prepare_ns) =
        timed(|| seeing_values(variant, subject, || variant.prepare(machine, subject)));
    Ok(Ready::new(subject.k, choice, prepare_ns, product?))
}

/// The same, unless that does not pay.
fn build_if_it_pays<S: Scalar>(
    machine: &Arc<Machine>,
    subject: &Subject<S>,
    choice: Choice,
    there: There<'_, S>,
) -> Result<Result<Ready<S>, InVain>, Refusal> {
    let variant = choice.variant;
    if let Some(ready) = of_what_is_there(subject, &choice, there) {
        return Ok(match ready.does_not_pay() {
            Some(why) => Err(InVain { variant, why, ns: ready.prepare_ns }),
            None => Ok(ready),
        });
    }
    let described = named(&choice)?;
    let prepare = || described.prepare_if_it_pays(machine, subject);
    let (product, ns) = timed(|| seeing_values(described, subject, prepare));
    Ok(match product? {
        Ok(product) => Ok(Ready::new(subject.k, choice, ns, product)),
        Err(why) => Err(InVain { variant, why, ns }),
    })
}

/// Refuses where values lie on a device that has failed, and what is made ready reads them on the host: it would compute with NaN.
fn seeing_values<S: Scalar, R>(
    variant: &dyn Variant<Spmm<S>>,
    subject: &Subject<S>,
    prepare: impl FnOnce() -> Result<R, Refusal>,
) -> Result<R, Refusal> {
    if variant.describe().place != Place::Cuda {
        subject.a.bring_values()?; // it may read them with every product
    }
    let before = subject.a.looks_in_vain();
    let prepared = prepare()?;
    subject.a.check_values_seen(before)?;
    Ok(prepared)
}

fn named<S: Scalar>(choice: &Choice) -> Result<&'static dyn Variant<Spmm<S>>, Refusal> {
    let name = || choice.variant.to_string();
    Spmm::<S>::variant(choice.variant).ok_or_else(|| Refusal::UnknownVariant { name: name() })
}

/// A product of this variant that reads A in a form that is there.
fn of_what_is_there<S: Scalar>(
    subject: &Subject<S>,
    choice: &Choice,
    there: There<'_, S>,
) -> Option<Ready<S>> {
    let alike = there.iter().filter(|ready| ready.choice.variant == choice.variant);
    let (shared, ns) = timed(|| alike.filter_map(|ready| with_form_of(ready, subject)).next());
    let (product, form) = shared?;
    Some(Ready::of(subject.k, choice.clone(), ns, product, form))
}

/// Another number of columns of the same A in the same form.
fn with_form_of<S: Scalar>(ready: &Ready<S>, subject: &Subject<S>) -> Option<(Shared<S>, Arc<Form>)> {
    match &ready.product {
        Shared::OnHost(product) => Some((Shared::OnHost(product.for_columns(subject)?), ready.form.clone())),
        Shared::OnDevice(_) => None,
    }
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use crate::matrix::{Csr, Failing};
    use std::sync::atomic::Ordering;

    #[test]
    fn what_was_made_of_values_that_came_too_late_is_refused() {
        let place = Arc::new(Failing(true.into()));
        let a = Csr::with_values_elsewhere((1, 2), vec![0, 2], vec![0, 1], place.clone()).unwrap();
        let subject = Subject { a: Arc::new(a), triplets: None, k: 1 };
        let variant = Spmm::<f64>::variant(csr_cuda_rows::ROWS_8.description.name).unwrap();
        let made = || {
            let seen = subject.a.values()[0];
            place.0.store(false, Ordering::Relaxed); // somebody else brings them meanwhile
            subject.a.bring_values().map(|()| seen)
        };
        let refused = seeing_values(variant, &subject, made).unwrap_err();
        assert_eq!(refused, Refusal::Device("it has fallen off the bus".into()));
        assert_eq!(seeing_values(variant, &subject, made), Ok(1.0));
    }
}
