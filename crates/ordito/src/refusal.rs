//! Why something was not even tried: a value with a sentence that a person can act on.

use crate::cpu::ThreadError;
use crate::format_error::FormatError;
use crate::units;

/// A variant, a machine or an input that cannot do what was asked, known before anything ran.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It would not fit.
    #[error("{what} would need {}, the memory budget is {}", bytes(*needed), bytes(Some(*budget)))]
    Memory {
        /// What was to be built, and why it is so large.
        what: String,
        /// Bytes, or `None` beyond 64 bits.
        needed: Option<u64>,
        /// Bytes that are allowed.
        budget: u64,
    },
    /// A format that cannot hold it.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// It would take too long.
    #[error("{what} would take {steps:.2e} steps, the limit is {limit:.2e}", steps = *steps as f64, limit = *limit as f64)]
    Work {
        /// What would be done, and how its steps are counted.
        what: String,
        /// How many.
        steps: u128,
        /// How many are allowed.
        limit: u64,
    },
    /// The operating system gave no threads.
    #[error(transparent)]
    Threads(#[from] ThreadError),
    /// A launch that the device does not allow.
    #[error("{asked} {what}, the limit is {limit}")]
    Launch {
        /// What there would be too many of.
        what: &'static str,
        /// How many were asked for.
        asked: u64,
        /// How many there may be.
        limit: u64,
    },
    /// It would not fit on the device.
    #[error("{what} would need {} of device memory, {} are free", bytes(*needed), bytes(Some(*free)))]
    DeviceMemory {
        /// What was to be put there.
        what: String,
        /// Bytes, or `None` beyond 64 bits.
        needed: Option<u64>,
        /// Bytes that are free.
        free: u64,
    },
    /// No usable GPU: which part is missing, and what to install.
    #[error("no usable GPU: {0}")]
    NoGpu(String),
    /// The emulator has no compiler.
    #[error("no emulator: {0}")]
    NoCompiler(String),
    /// A library that this variant calls is missing: which one, and what to install.
    #[error("{0}")]
    NoLibrary(String),
    /// A kernel that does not compile: title and the compiler's log.
    #[error("{kernel} does not compile: {log}")]
    Compile {
        /// File and definitions.
        kernel: String,
        /// What the compiler said.
        log: String,
    },
    /// The device failed while something was prepared.
    #[error("{0}")]
    Device(String),
    /// Operands that a library does not take.
    #[error("{0}")]
    Unsupported(String),
    /// A variant that the emulator cannot run.
    #[error("runs on a GPU only: {0}")]
    NotEmulated(String),
    /// A variant for a device, on a machine that was set up without one.
    #[error("runs on a GPU; this machine was set up for the CPU only")]
    NoDevice,
    /// An operator that cannot be multiplied with its transposed.
    #[error(
        "this operator has no product with its transposed matrix; give it `apply_transposed`, or take a plan"
    )]
    NoTransposed,
    /// No variant has this name.
    #[error("there is no variant `{name}`")]
    UnknownVariant {
        /// What was asked for.
        name: String,
    },
}

impl Refusal {
    /// Is something broken, rather than missing, too small or too large? A kernel that does not compile is no reason to
    /// go on as if nothing were.
    pub fn is_failure(&self) -> bool {
        matches!(self, Refusal::Compile { .. } | Refusal::Device(_))
    }
}

fn bytes(count: Option<u64>) -> String {
    count.map_or("more than 18 EB".into(), units::bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_sentences_to_act_on() {
        let what = "padded ELLPACK (longest row 93261)".to_string();
        let refusal = Refusal::Memory { what: what.clone(), needed: Some(87_000_000_000), budget: 8 << 30 };
        assert_eq!(
            refusal.to_string(),
            "padded ELLPACK (longest row 93261) would need 87.0 GB, the memory budget is 8.59 GB"
        );
        let refusal = Refusal::Memory { what, needed: None, budget: 10 };
        assert!(refusal.to_string().contains("more than 18 EB, the memory budget is 10 B"));
        let refusal = Refusal::Work { what: "scanning".into(), steps: 1 << 70, limit: 2_000_000_000 };
        assert_eq!(refusal.to_string(), "scanning would take 1.18e21 steps, the limit is 2.00e9");
    }
}
