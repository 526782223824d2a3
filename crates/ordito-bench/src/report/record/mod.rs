//! The flat record: one variant on one input with one setting. Units stand in the names of the fields.

use crate::catalogue::describe;
use crate::report::one_run::OneRun;
use crate::report::outcome::{Outcome, Param};
use crate::sample::{StopReason, Summary};
use ordito::device::LaunchReport;
use ordito::machine::Machine;
use ordito::op::{Description, Role, Storage};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;

/// Version of the fields below. Readers ignore what they do not know, so it only rises when a field changes
/// its meaning.
pub const SCHEMA: u32 = 1;

fn not_finite(value: &Option<f64>) -> bool {
    !value.is_some_and(f64::is_finite)
}
fn is_false(value: &bool) -> bool {
    !value
}
fn finite_params<S: Serializer>(params: &BTreeMap<String, Param>, serializer: S) -> Result<S::Ok, S::Error> {
    let finite = |value: &Param| !matches!(value, Param::Number(number) if !number.is_finite());
    serializer.collect_map(params.iter().filter(|(_, value)| finite(value)))
}

/// Declares the struct and, from the same lines, the list of its field names in order: the columns of the
/// CSV file can then never drift from the fields of the JSON file.
macro_rules! record {
    ($($(#[$attribute:meta])* $field:ident as $name:literal: $type:ty,)*) => {
        /// One result. Absent is what does not apply; a number that is not finite is absent too.
        ///
        /// ```
        /// use ordito_bench::report::{Outcome, Record};
        /// let mut record = Record::new("spmm", "csr-serial", Outcome::Passed);
        /// record.k = Some(8);
        /// record.gflops = Some(f64::NAN); // never written
        /// let line = serde_json::to_string(&record)?;
        /// let known = r#""role":"ladder","storage":"as-given""#;
        /// assert_eq!(line, format!(r#"{{"schema":1,"op":"spmm","variant":"csr-serial","k":8,"outcome":"passed",{known}}}"#));
        /// # Ok::<(), serde_json::Error>(())
        /// ```
        #[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
        pub struct Record {
            $($(#[$attribute])* #[serde(rename = $name)] pub $field: $type,)*
        }

        /// Names of all fields, in the order in which they are written.
        pub const FIELDS: &[&str] = &[$($name),*];
    };
}

record! {
    /// [`SCHEMA`].
    schema as "schema": u32,
    /// The operation: `spmm`, `gemm`, …
    op as "op": String,
    /// The variant's name.
    variant as "variant": String,
    /// Where it runs: `cpu`, `cuda`, `emulator`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    place as "where": String,
    /// The input's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    matrix as "matrix": Option<String>,
    /// Rows of the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows as "rows": Option<u64>,
    /// Columns of the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    cols as "cols": Option<u64>,
    /// Its stored entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    nnz as "nnz": Option<u64>,
    /// Columns of X.
    #[serde(skip_serializing_if = "Option::is_none")]
    k as "k": Option<u64>,
    /// gemm: rows of A and C; gram and combine: rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    n as "n": Option<u64>,
    /// gemm: columns of A, rows of B; gram and combine: columns of X.
    #[serde(skip_serializing_if = "Option::is_none")]
    m as "m": Option<u64>,
    /// gemm: columns of B and C; gram and combine: columns of Y.
    #[serde(skip_serializing_if = "Option::is_none")]
    p as "p": Option<u64>,
    /// gemm: β, where it is not 1; with 0, C is not read.
    #[serde(skip_serializing_if = "not_finite")]
    beta as "beta": Option<f64>,
    /// Elements between the rows of dense operands, where there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pad as "pad": Option<u64>,
    /// transfer: bytes copied.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes as "bytes": Option<u64>,
    /// `f32` or `f64`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    dtype as "dtype": String,
    /// CPU threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    threads as "threads": Option<u64>,
    /// Ranks that computed together; threads are those of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    ranks as "ranks": Option<u64>,
    /// Ranks that shared rows, each with some of the columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    team as "team": Option<u64>,
    /// What was chosen of the launch, where a kernel leaves it open: `block 256`, `local size 1024`.
    #[serde(skip_serializing_if = "Option::is_none")]
    geometry as "geometry": Option<String>,
    /// How it ended.
    outcome as "outcome": Outcome,
    /// Why it was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal as "refusal": Option<String>,
    /// What went wrong and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    error as "error": Option<String>,
    /// Folder that the failing case was written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    dump as "dump": Option<String>,
    /// The variant's parameters.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", serialize_with = "finite_params")]
    params as "params": BTreeMap<String, Param>,
    /// What the variant is there for: `ladder`, `ours`, `peer`, `faulty`; of `auto`, the one it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    role as "role": Option<Role>,
    /// Does it take its operands `as-given`, or are they `converted`?
    #[serde(skip_serializing_if = "Option::is_none")]
    storage as "storage": Option<Storage>,
    /// Kernel launches of a run: blocks, threads, registers, shared memory, occupancy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    launches as "launches": Vec<LaunchReport>,
    /// What `auto` took.
    #[serde(skip_serializing_if = "Option::is_none")]
    chosen as "chosen": Option<String>,
    /// Why it took that.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason as "reason": Option<String>,
    /// Seed of the random operands.
    #[serde(skip_serializing_if = "Option::is_none")]
    seed as "seed": Option<u64>,
    /// Was only a sample of the rows checked in full?
    #[serde(default, skip_serializing_if = "is_false")]
    sampled as "sampled": bool,
    /// What of the result was computed and checked, where that is not all: `mean only`.
    #[serde(skip_serializing_if = "Option::is_none")]
    partial as "partial": Option<String>,
    /// Largest relative error of an element.
    #[serde(skip_serializing_if = "not_finite")]
    max_rel_err as "max_rel_err": Option<f64>,
    /// Mean relative error of the elements.
    #[serde(skip_serializing_if = "not_finite")]
    mean_rel_err as "mean_rel_err": Option<f64>,
    /// `max_rel_err` in multiples of the dtype's ε.
    #[serde(skip_serializing_if = "not_finite")]
    max_err_eps as "max_err_eps": Option<f64>,
    /// `mean_rel_err` in multiples of the dtype's ε.
    #[serde(skip_serializing_if = "not_finite")]
    mean_err_eps as "mean_err_eps": Option<f64>,
    /// Largest error over the allowed one: above 1 is incorrect.
    #[serde(skip_serializing_if = "not_finite")]
    bound_ratio as "bound_ratio": Option<f64>,
    /// How many runs were timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    samples as "samples": Option<u64>,
    /// Why there are no more: `samples`, `precise`, `time`, `max-samples`, `interrupted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason as "stop_reason": Option<String>,
    /// Were the caches emptied before each run?
    #[serde(default, skip_serializing_if = "is_false")]
    cold as "cold": bool,
    /// Median time of a run.
    #[serde(skip_serializing_if = "not_finite")]
    median_ns as "median_ns": Option<f64>,
    /// Mean time.
    #[serde(skip_serializing_if = "not_finite")]
    mean_ns as "mean_ns": Option<f64>,
    /// Standard deviation of the times.
    #[serde(skip_serializing_if = "not_finite")]
    stddev_ns as "stddev_ns": Option<f64>,
    /// Shortest time.
    #[serde(skip_serializing_if = "not_finite")]
    min_ns as "min_ns": Option<f64>,
    /// Five percent were faster.
    #[serde(skip_serializing_if = "not_finite")]
    p05_ns as "p05_ns": Option<f64>,
    /// Five percent were slower.
    #[serde(skip_serializing_if = "not_finite")]
    p95_ns as "p95_ns": Option<f64>,
    /// The median lies above, with a confidence of 95 % (together with the next); absent for few samples.
    #[serde(skip_serializing_if = "not_finite")]
    median_low_ns as "median_low_ns": Option<f64>,
    /// The median lies below.
    #[serde(skip_serializing_if = "not_finite")]
    median_high_ns as "median_high_ns": Option<f64>,
    /// From the median time.
    #[serde(skip_serializing_if = "not_finite")]
    gflops as "gflops": Option<f64>,
    /// Mean of every sample's GFLOP/s.
    #[serde(skip_serializing_if = "not_finite")]
    gflops_mean as "gflops_mean": Option<f64>,
    /// Standard deviation of every sample's GFLOP/s.
    #[serde(skip_serializing_if = "not_finite")]
    gflops_stddev as "gflops_stddev": Option<f64>,
    /// Least bytes that must move over the median time.
    #[serde(skip_serializing_if = "not_finite")]
    gbytes_per_s as "gbytes_per_s": Option<f64>,
    /// The machine's floor as a percentage of the median time.
    #[serde(skip_serializing_if = "not_finite")]
    percent_of_ceiling as "percent_of_ceiling": Option<f64>,
    /// On a GPU: median time with its cache emptied before each run, where `median_ns` is with a warm one.
    #[serde(skip_serializing_if = "not_finite")]
    flushed_median_ns as "flushed_median_ns": Option<f64>,
    /// That median lies above, with a confidence of 95 % (together with the next).
    #[serde(skip_serializing_if = "not_finite")]
    flushed_median_low_ns as "flushed_median_low_ns": Option<f64>,
    /// That median lies below.
    #[serde(skip_serializing_if = "not_finite")]
    flushed_median_high_ns as "flushed_median_high_ns": Option<f64>,
    /// The machine's floor as a percentage of that median.
    #[serde(skip_serializing_if = "not_finite")]
    flushed_percent_of_ceiling as "flushed_percent_of_ceiling": Option<f64>,
    /// Converting the matrix, compiling, taking it to the device: once per matrix.
    #[serde(skip_serializing_if = "not_finite")]
    prepare_ns as "prepare_ns": Option<f64>,
    /// That part of it that compiled kernels or loaded compiled ones.
    #[serde(skip_serializing_if = "not_finite")]
    prepare_compile_ns as "prepare_compile_ns": Option<f64>,
    /// That part of it that took the matrix to the device. What is left is the host's: conversion and row plan.
    #[serde(skip_serializing_if = "not_finite")]
    prepare_upload_ns as "prepare_upload_ns": Option<f64>,
    /// Rearranging X: part of every run, shown apart too.
    #[serde(skip_serializing_if = "not_finite")]
    repack_ns as "repack_ns": Option<f64>,
    /// Every single sample, where they were to be kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    runs as "runs": Vec<OneRun>,
    /// Rearranging the operands on the host before they travel: once per product, never part of a run.
    #[serde(skip_serializing_if = "not_finite")]
    host_copy_ns as "host_copy_ns": Option<f64>,
    /// X to the device (and Y, where it is read): once per product, never part of a run.
    #[serde(skip_serializing_if = "not_finite")]
    upload_ns as "upload_ns": Option<f64>,
    /// Y to the host: once per product, never part of a run.
    #[serde(skip_serializing_if = "not_finite")]
    download_ns as "download_ns": Option<f64>,
    /// Ranks: bytes that come to all of them in a product, as messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    halo_bytes as "halo_bytes": Option<u64>,
    /// Ranks: bytes that they read where others of the same computer show them.
    #[serde(skip_serializing_if = "Option::is_none")]
    near_bytes as "near_bytes": Option<u64>,
    /// Ranks: messages that come to the one that most come to.
    #[serde(skip_serializing_if = "Option::is_none")]
    neighbours as "neighbours": Option<u64>,
    /// Ranks: the largest part of the nonzeros over the mean.
    #[serde(skip_serializing_if = "not_finite")]
    imbalance as "imbalance": Option<f64>,
    /// Ranks: median time of the fastest one; `median_ns` is that of the slowest.
    #[serde(skip_serializing_if = "not_finite")]
    fastest_rank_ns as "fastest_rank_ns": Option<f64>,
    /// Ranks: packing, on the rank where that took longest; the next five likewise.
    #[serde(skip_serializing_if = "not_finite")]
    pack_ns as "pack_ns": Option<f64>,
    /// Ranks: what multiplies their own X.
    #[serde(skip_serializing_if = "not_finite")]
    own_ns as "own_ns": Option<f64>,
    /// Ranks: waiting for X of others.
    #[serde(skip_serializing_if = "not_finite")]
    wait_ns as "wait_ns": Option<f64>,
    /// Ranks: waiting for others to read an X that they share.
    #[serde(skip_serializing_if = "not_finite")]
    release_ns as "release_ns": Option<f64>,
    /// Ranks: what multiplies X of others.
    #[serde(skip_serializing_if = "not_finite")]
    outer_ns as "outer_ns": Option<f64>,
    /// Ranks: adding up Y in teams.
    #[serde(skip_serializing_if = "not_finite")]
    reduce_ns as "reduce_ns": Option<f64>,
    /// Ranks: an exchange of X with nothing computed meanwhile.
    #[serde(skip_serializing_if = "not_finite")]
    exchange_ns as "exchange_ns": Option<f64>,
}

impl Record {
    /// From operands on the host to the result there: copies and kernel. `None` where nothing travels.
    pub fn total_ns(&self) -> Option<f64> {
        let (upload, download) = (self.upload_ns?, self.download_ns?);
        Some(self.host_copy_ns.unwrap_or(0.0) + upload + self.median_ns? + download)
    }

    /// A record of which only this is known.
    pub fn new(op: &str, variant: &str, outcome: Outcome) -> Self {
        Record::default().of(op, variant, outcome)
    }

    /// The same input and setting for another operation, variant and outcome.
    pub fn of(self, op: &str, variant: &str, outcome: Outcome) -> Self {
        let (role, storage) = (None, None);
        Record {
            schema: SCHEMA,
            op: op.to_owned(),
            variant: variant.to_owned(),
            outcome,
            role,
            storage,
            ..self
        }
        .with_role()
    }

    /// With role and storage of the variant, or of the one that `auto` took, where the record does not say them and one of
    /// this name is there.
    pub fn with_role(mut self) -> Self {
        let name = self.chosen.as_ref().unwrap_or(&self.variant);
        if let Some(found) = describe(&self.op, name).filter(|_| self.role.is_none()) {
            (self.role, self.storage) = (Some(found.role), Some(found.storage));
        }
        self
    }

    /// Takes over what the variant is that runs on this machine.
    pub fn set_variant(&mut self, variant: &Description, machine: &Machine) {
        self.place = variant.place.device(machine).into();
        self.threads = variant.place.threads(machine).map(|threads| threads as u64);
        let geometry = machine.geometry().of(variant.adjustable);
        self.geometry = (!geometry.is_default()).then(|| geometry.to_string());
        let params = variant.params.iter();
        self.params = params.map(|&(name, value)| (name.into(), Param::from(i64::from(value)))).collect();
        (self.role, self.storage) = (Some(variant.role), Some(variant.storage));
    }

    /// The variant, and how it was launched where that was chosen: what tells series apart.
    pub fn name(&self) -> String {
        let parts = [Some(self.variant.as_str()), self.geometry.as_deref()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Was the variant chosen by `auto`?
    pub fn is_auto(&self) -> bool {
        self.chosen.is_some()
    }

    /// Takes over the numbers of a series of runs.
    pub fn set_times(&mut self, summary: &Summary, stop_reason: StopReason, cold: bool) {
        self.samples = Some(summary.samples as u64);
        self.stop_reason = Some(stop_reason.name().to_owned());
        self.cold = cold;
        self.median_ns = Some(summary.median_ns);
        self.mean_ns = Some(summary.mean_ns);
        self.stddev_ns = summary.stddev_ns;
        self.min_ns = Some(summary.min_ns);
        self.p05_ns = Some(summary.p05_ns);
        self.p95_ns = Some(summary.p95_ns);
        (self.median_low_ns, self.median_high_ns) = (summary.median_low_ns, summary.median_high_ns);
        self.gflops = summary.gflops;
        self.gflops_mean = summary.gflops_mean;
        self.gflops_stddev = summary.gflops_stddev;
        self.gbytes_per_s = summary.gbytes_per_s;
    }

    /// Takes over the errors, also in multiples of ε.
    pub fn set_errors(&mut self, max_rel_err: f64, mean_rel_err: f64, epsilon: f64) {
        self.max_rel_err = Some(max_rel_err);
        self.mean_rel_err = Some(mean_rel_err);
        self.max_err_eps = Some(max_rel_err / epsilon);
        self.mean_err_eps = Some(mean_rel_err / epsilon);
    }

    /// `lanes=4;tile=16`, or nothing.
    pub fn params_text(&self) -> String {
        let pairs: Vec<String> = self.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join(";")
    }

    /// The launches as text, or nothing.
    pub fn launches_text(&self) -> String {
        self.launches.iter().map(LaunchReport::to_string).collect::<Vec<_>>().join("; ")
    }

    /// What a reader should know beyond the numbers: why it was refused, what went wrong, what `auto` took.
    pub fn note(&self) -> String {
        let chosen = self.chosen.as_ref().map(|chosen| match &self.reason {
            Some(reason) => format!("chose {chosen}: {reason}"),
            None => format!("chose {chosen}"),
        });
        let emulated = self.place == "emulator" && self.samples.is_some();
        let is_checked = self.stop_reason.as_deref() == Some(StopReason::Checked.name());
        let flags = [
            (is_checked, "no runs but the check's: they took all the time"),
            (self.sampled, "rows sampled"),
            (self.cold, "cold caches"),
            (emulated, "emulated: the time is no measure of a GPU"),
        ];
        let flags = flags.into_iter().filter(|(on, _)| *on).map(|(_, text)| text.to_owned());
        let dump = self.dump.as_ref().map(|folder| format!("written to {folder}"));
        let texts = [self.refusal.clone(), self.error.clone(), dump, chosen, self.partial.clone()];
        texts.into_iter().flatten().chain(flags).collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
pub(crate) mod tests;
