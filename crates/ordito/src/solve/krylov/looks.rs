//! When a growing basis is looked at.

/// Steps between two looks at the Ritz values, at most.
const MOST_BLIND_STEPS: f64 = 4.0;

/// When to look whether it is enough: each look solves a small eigenproblem, in which a device waits.
#[derive(Default)]
pub(super) struct Looks {
    /// What the last look saw, as a logarithm, and how many steps ago.
    last: Option<f64>,
    since: usize,
    /// Steps until the next one.
    wait: usize,
}

impl Looks {
    /// Is it time, one step later?
    pub(super) fn is_due(&mut self) -> bool {
        self.since += 1;
        self.since > self.wait
    }

    /// After half of the steps that are missing, if it goes on as it did: residuals fall faster and faster.
    pub(super) fn saw(&mut self, excess: f64) {
        let now = excess.ln();
        let fallen = self.last.map_or(0.0, |last| last - now) / self.since.max(1) as f64;
        let missing = if fallen > 0.0 { now / fallen } else { 0.0 };
        self.wait = (0.5 * missing).clamp(1.0, MOST_BLIND_STEPS) as usize - 1;
        (self.last, self.since) = (Some(now).filter(|now| now.is_finite()), 0);
    }
}
