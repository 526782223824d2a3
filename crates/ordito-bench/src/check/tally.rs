//! What a comparison has met so far: how many elements, their errors, the worst of them.

use crate::check::precision::NoBound;
use crate::check::{Findings, Verdict};
use ordito::op::Reference;

/// Errors as they are met.
#[derive(Default)]
pub(crate) struct Tally {
    compared: usize,
    max_rel_err: f64,
    sum_rel_err: f64,
    bound_ratio: f64,
    worst: Option<String>,
    unknown: Option<String>,
}

impl Tally {
    /// The same bits: nothing to judge.
    pub(crate) fn same(&mut self) {
        self.compared += 1;
    }

    pub(crate) fn element(
        &mut self,
        expected: f64,
        found: f64,
        magnitude: f64,
        bound: Result<f64, NoBound>,
        place: impl Fn() -> String,
    ) {
        self.compared += 1;
        self.judge(expected, found, bound, place);
        let error = (expected - found).abs();
        let relative = match expected {
            _ if expected == found => 0.0,
            0.0 => error / magnitude,
            _ => error / expected.abs(),
        };
        // A NaN here is an infinite error: it must not vanish in a maximum.
        let relative = if relative.is_nan() { f64::INFINITY } else { relative };
        self.max_rel_err = self.max_rel_err.max(relative);
        self.sum_rel_err += relative;
    }

    /// Where NaN is the answer, nothing else is.
    pub(crate) fn nan(&mut self, found: f64, place: impl Fn() -> String) {
        self.compared += 1;
        if !found.is_nan() {
            self.max_rel_err = f64::INFINITY;
            self.sum_rel_err = f64::INFINITY;
            self.wrong(f64::INFINITY, || format!("{}: {found:e} found, NaN expected", place()));
        }
    }

    /// Only `error <= bound` passes; written so that NaN does not.
    pub(crate) fn judge(
        &mut self,
        expected: f64,
        found: f64,
        bound: Result<f64, NoBound>,
        place: impl Fn() -> String,
    ) {
        if expected.is_nan() || (expected.is_infinite() && expected != found) {
            self.unknown.get_or_insert_with(|| {
                format!("the oracle's answer at {} is {expected}: the operands hold infinities or NaN, or their product overflows", place())
            });
            return;
        }
        if expected == found {
            return;
        }
        let bound = match bound {
            Ok(bound) => bound,
            Err(NoBound::TooManyTerms) if found.is_nan() => 0.0, // nothing in a long sum of finite terms makes a NaN
            Err(why) => {
                let why = match why {
                    NoBound::TooManyTerms => "the sum is too long for this precision",
                    NoBound::MayOverflow => "terms of this size may overflow in this precision",
                };
                self.unknown.get_or_insert_with(|| {
                    format!("no error bound at {}: {found:e} found, {expected:e} expected; {why}", place())
                });
                return;
            }
        };
        let error = (expected - found).abs();
        if error <= bound {
            self.bound_ratio = self.bound_ratio.max(error / bound);
            return;
        }
        let ratio = if error.is_nan() { f64::INFINITY } else { error / bound };
        self.wrong(ratio, || {
            format!("{}: {found:e} found, {expected:e} expected, error bound {bound:.2e}", place())
        });
    }

    /// Remembers the worst.
    fn wrong(&mut self, ratio: f64, what: impl Fn() -> String) {
        if self.worst.is_none() || ratio > self.bound_ratio {
            self.worst = Some(what());
        }
        self.bound_ratio = self.bound_ratio.max(ratio);
    }

    /// Of all that was met.
    pub(crate) fn verdict(&self) -> Verdict {
        match (&self.worst, &self.unknown) {
            (Some(fault), _) => Verdict::Incorrect(fault.clone()),
            (None, Some(place)) => Verdict::NotVerified(place.clone()),
            (None, None) => Verdict::Passed,
        }
    }

    pub(crate) fn findings(&self, verdict: Verdict, reference: &Reference) -> Findings {
        Findings {
            verdict,
            max_rel_err: self.max_rel_err,
            mean_rel_err: self.sum_rel_err / self.compared.max(1) as f64,
            bound_ratio: self.bound_ratio,
            compared: self.compared,
            sampled: reference.projection.is_some(),
            partial: None,
        }
    }
}
