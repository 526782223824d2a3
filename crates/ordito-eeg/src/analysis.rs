//! All that came out.

use crate::condition::Condition;
use crate::difference::Difference;
use crate::peaks::Peak;
use crate::recording::Recording;
use serde::Serialize;

/// The result of the EEG job: what the terminal, the files and the page tell.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// What was done: name and value of everything that the results depend on.
    pub protocol: Vec<(&'static str, String)>,
    /// What was recorded.
    pub recording: Recording,
    /// Target, then nontarget if there is one.
    pub conditions: Vec<Condition>,
    /// Nontarget by its groups, if asked for.
    pub groups: Vec<Condition>,
    /// Target less nontarget, if there is one.
    pub difference: Option<Difference>,
    /// The largest peaks of every condition, of the difference, and of their field powers.
    pub peaks: Vec<Peak>,
    /// Sentences that a person should read.
    pub warnings: Vec<String>,
    /// Who computed what, and why.
    pub chosen: Vec<Chosen>,
    /// How long everything took.
    pub stages: Stages,
}

/// The variant that a step was computed by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chosen {
    /// `statistics` or `permutations`.
    pub step: &'static str,
    /// The variant's name.
    pub variant: String,
    /// Why this one.
    pub reason: String,
}

/// Times of the parts, in the order in which they happen; 0 where nothing was done.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Stages {
    /// Getting the bytes of the files.
    pub read_ns: f64,
    /// Making numbers of text.
    pub parse_ns: f64,
    /// Reference, baseline and rejection.
    pub preprocess_ns: f64,
    /// Opening a device, compiling, allocating: what comes before the first kernel. That of the permutation test is in its own
    /// time.
    pub prepare_ns: f64,
    /// Host to device.
    pub upload_ns: f64,
    /// Mean, variance, smallest and largest of every column.
    pub kernel_ns: f64,
    /// Device to host.
    pub download_ns: f64,
    /// The permutation test, copies included.
    pub permutations_ns: f64,
    /// The files of the results.
    pub write_ns: f64,
}

impl Stages {
    /// Name and time of every stage that took any. Preparing is named where it matters: on a CPU it is nothing. The pages
    /// of a mapped file are read while they are parsed: then the two are one.
    pub fn named(&self) -> Vec<(&'static str, f64)> {
        const MATTERS_NS: f64 = 1e6;
        let prepare_ns = if self.prepare_ns < MATTERS_NS { 0.0 } else { self.prepare_ns };
        let mapped = self.parse_ns > 0.0 && self.read_ns < 0.01 * self.parse_ns;
        let (read_ns, parse) = if mapped { (0.0, "read and parse") } else { (self.read_ns, "parse") };
        let parse_ns = self.parse_ns + self.read_ns - read_ns;
        let all = [
            ("read", read_ns),
            (parse, parse_ns),
            ("preprocess", self.preprocess_ns),
            ("prepare", prepare_ns),
            ("upload", self.upload_ns),
            ("kernel", self.kernel_ns),
            ("download", self.download_ns),
            ("permutations", self.permutations_ns),
            ("write", self.write_ns),
        ];
        all.into_iter().filter(|(_, ns)| *ns > 0.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preparing_is_named_where_it_matters() {
        let stages = |prepare_ns| Stages { read_ns: 1.0, prepare_ns, kernel_ns: 2.0, ..Stages::default() };
        assert_eq!(stages(5e3).named(), [("read", 1.0), ("kernel", 2.0)]);
        assert_eq!(stages(3e8).named(), [("read", 1.0), ("prepare", 3e8), ("kernel", 2.0)]);
    }
}
