//! What `auto` takes on a device, as data: the kernel with the least predicted time, without running anything.
//!
//! Kernels say how they would deal out the matrix ([`Work`](crate::spmm::cuda::fast::work::Work)), `device_costs` what each of that
//! costs, `device_trees` what is to be corrected of the sum. Nothing here depends on which matrix it is.

use crate::Scalar;
use crate::device::DeviceLimits;
use crate::machine::Machine;
use crate::matrix::Csr;
use crate::op::{Choice, Description};
use crate::spmm::analysis::shape::Shape;
use crate::spmm::cuda::fast::candidates;
use crate::spmm::cuda::fast::work::TERMS;
use crate::spmm::product::Subject;
use crate::spmm::select::aspects::{self, aspects};
use crate::spmm::select::corrections::factor;
use crate::spmm::select::device_costs::COSTS;
use crate::spmm::select::device_trees::TREES;
use crate::units::duration;

/// On the machine's device; on an H200, where it cannot be had.
pub(super) fn on_device<S: Scalar>(machine: &Machine, subject: &Subject<S>) -> Choice {
    by_shape::<S>(&limits(machine), &Shape::of(&subject.a), subject.k)
}

fn limits(machine: &Machine) -> DeviceLimits {
    machine.device().map_or_else(|_| DeviceLimits::h200(), |device| device.limits().clone())
}

/// A candidate with its predicted time in nanoseconds.
type Prediction = (&'static Description, f64);

/// All candidates that are thought of, the fastest first.
fn predictions<S: Scalar>(limits: &DeviceLimits, shape: &Shape, k: usize) -> Vec<Prediction> {
    let priced = candidates::<S>().into_iter().zip(COSTS).zip(&TREES);
    let priced =
        priced.filter(|((candidate, _), _)| candidate.serves(shape)).map(|((candidate, cost), trees)| {
            let terms = candidate.terms(limits, shape, k);
            let price = terms.iter().zip(cost.ns).map(|(term, ns)| term * ns).sum::<f64>();
            (candidate.description(), price * factor(trees, &aspects::<S>(&terms, shape, k)))
        });
    let mut all: Vec<Prediction> = priced.collect();
    all.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    all
}

fn by_shape<S: Scalar>(limits: &DeviceLimits, shape: &Shape, k: usize) -> Choice {
    let all = predictions::<S>(limits, shape, k);
    let ((fastest, ns), (second, second_ns)) = (all[0], all[1]);
    let (mean, longest) = (shape.mean(), shape.work.longest);
    let reason = format!(
        "rows of {mean:.1} nonzeros on average and {longest} at most, {k} columns: about {}, {} would take {:.0} % longer",
        duration(ns),
        second.name,
        100.0 * (second_ns / ns - 1.0)
    );
    Choice::new(fastest, reason)
}

/// What is known of a matrix before a kernel is chosen for it on a device: for those who print predictions, or fit prices.
#[derive(Debug, Clone)]
pub struct KnownOnDevice(Shape);

impl KnownOnDevice {
    /// Looks at it.
    pub fn of<S: Scalar>(a: &Csr<S>) -> Self {
        KnownOnDevice(Shape::of(a))
    }

    /// The machine's device, or an H200 where it has none; every candidate that is thought of with its predicted time there in
    /// nanoseconds, the fastest first.
    pub fn predictions<S: Scalar>(&self, machine: &Machine, k: usize) -> (String, Vec<(&'static str, f64)>) {
        let limits = limits(machine);
        let all = predictions::<S>(&limits, &self.0, k);
        (limits.name, all.into_iter().map(|(description, ns)| (description.name, ns)).collect())
    }

    /// What is paid for, by name.
    pub fn names_of_terms() -> &'static [&'static str] {
        &TERMS
    }

    /// What corrections ask about, by name.
    pub fn names_of_aspects() -> Vec<&'static str> {
        aspects::names().collect()
    }

    /// Every candidate with what it asks for.
    pub fn asked<S: Scalar>(&self, limits: &DeviceLimits, k: usize) -> Vec<AskedByCandidate> {
        let all = candidates::<S>().into_iter().map(|candidate| {
            let terms = candidate.terms(limits, &self.0, k);
            let aspects = aspects::<S>(&terms, &self.0, k).to_vec();
            AskedByCandidate {
                variant: candidate.description().name,
                serves: candidate.serves(&self.0),
                terms: terms.to_vec(),
                aspects,
            }
        });
        all.collect()
    }
}

/// What a candidate asks of a device, for those who fit prices.
#[derive(Debug, Clone)]
pub struct AskedByCandidate {
    /// Whose.
    pub variant: &'static str,
    /// Is it thought of for such a matrix?
    pub serves: bool,
    /// How much of everything that is paid for.
    pub terms: Vec<f64>,
    /// What corrections ask about.
    pub aspects: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io;
    use crate::matrix::Duplicates;
    use crate::op::{Op, Place, Role};
    use crate::spmm::product::Spmm;

    fn chosen<S: Scalar>(name: &str, k: usize) -> &'static str {
        let a = Csr::<S>::from_coo(&io::load(name, &Default::default()).unwrap().coo, Duplicates::Sum);
        by_shape::<S>(&DeviceLimits::h200(), &Shape::of(&a), k).variant
    }

    #[test]
    fn prices_belong_to_the_candidates() {
        let names: Vec<&str> = candidates::<f64>().iter().map(|it| it.description().name).collect();
        assert_eq!(names, COSTS.iter().map(|cost| cost.of.name).collect::<Vec<_>>());
        let can_be_chosen =
            Spmm::<f64>::variants().iter().map(|variant| variant.describe()).filter(|variant| {
                variant.place == Place::Cuda && variant.role == Role::Ours && variant.can_be_chosen
            });
        assert!(can_be_chosen.map(|variant| variant.name).all(|name| names.contains(&name)));
        assert!(COSTS.iter().all(|cost| cost.ns.iter().all(|&ns| ns.is_finite() && ns >= 0.0)));
    }

    #[test]
    fn what_differs_much_is_told_apart() {
        // Padding to the longest row would take thousands of times as long.
        for k in [1, 8, 64] {
            assert_ne!(chosen::<f64>("powerlaw:100000x8", k), "sell-cuda-slices");
        }
        // Eight neighbours share nearly all their columns, and there are many of X.
        assert_eq!(chosen::<f64>("band:20000x50", 64), "csr-cuda-windows");
        assert_ne!(chosen::<f64>("uniform:20000x16", 64), "csr-cuda-windows");
        // Stencils and bands of many rows lie on diagonals, and nothing else does.
        for k in [1, 8, 32] {
            assert_eq!(chosen::<f32>("stencil27:40", k), "diagonals-cuda-slices");
            assert_eq!(chosen::<f64>("band:200000x3", k), "diagonals-cuda-slices");
            assert_ne!(chosen::<f64>("blocks:20000x4x3", k), "diagonals-cuda-slices");
        }
        // A warp for each row of two nonzeros idles.
        for k in [1, 8, 32] {
            assert!(!chosen::<f32>("band:300000x2", k).contains("rows32"));
        }
    }

    #[test]
    fn every_choice_is_a_variant_with_a_reason() {
        for name in [
            "empty:0x0",
            "empty:1x1",
            "empty:1000x3",
            "diagonal:1",
            "band:3000x3",
            "band:1000x1000",
            "powerlaw:1000x16",
        ] {
            let a = Csr::<f32>::from_coo(&io::load(name, &Default::default()).unwrap().coo, Duplicates::Sum);
            for k in [0, 1, 3, 64, usize::MAX] {
                let all = predictions::<f32>(&DeviceLimits::h200(), &Shape::of(&a), k);
                assert!(all.iter().all(|(_, ns)| ns.is_finite() && *ns > 0.0), "{name}, {k}: {all:?}");
                let choice = by_shape::<f32>(&DeviceLimits::h200(), &Shape::of(&a), k);
                assert!(Spmm::<f32>::variant(choice.variant).is_some(), "{}", choice.variant);
                assert!(choice.reason.contains("columns: about "), "{}", choice.reason);
            }
        }
    }
}
