//! Everything that was measured, as a CSV file: a row for every way of every case, with what is known of its matrix.

use super::contest::Entry;
use ordito::files::write_atomically;
use ordito::text::csv_cell;
use std::io;
use std::path::Path;

/// A case, and how everybody did.
pub(crate) struct Outcome {
    pub(crate) matrix: String,
    pub(crate) dtype: &'static str,
    pub(crate) threads: usize,
    pub(crate) k: usize,
    pub(crate) entries: Vec<Entry>,
    /// Of the matrix.
    pub(crate) statistics: Vec<(&'static str, f64)>,
}

impl Outcome {
    /// The fastest of those for which `side` holds.
    pub(crate) fn fastest(&self, side: impl Fn(&Entry) -> bool) -> Option<&Entry> {
        let those = self.entries.iter().filter(|entry| side(entry));
        those.min_by(|one, other| one.timed.median_ns.total_cmp(&other.timed.median_ns))
    }

    /// MKL's best time over that of `entry`: above 1 it is faster.
    pub(crate) fn over_mkl(&self, entry: &Entry) -> f64 {
        let mkl = self.fastest(|entry| entry.is_mkl).map_or(f64::NAN, |entry| entry.timed.median_ns);
        mkl / entry.timed.median_ns
    }

    /// What `auto` did; always the first.
    pub(crate) fn auto(&self) -> &Entry {
        &self.entries[0]
    }

    /// As in `bcsstk17 f64 2 threads K = 8`.
    pub(crate) fn name(&self) -> String {
        let plural = if self.threads == 1 { "" } else { "s" };
        format!("{} {} {} thread{plural} K = {}", self.matrix, self.dtype, self.threads, self.k)
    }
}

/// Written again after every matrix, so that nothing is lost.
pub(crate) fn write(path: &Path, outcomes: &[Outcome]) -> anyhow::Result<()> {
    let Some(first) = outcomes.first() else { return Ok(()) };
    write_atomically(path, |file| rows(file, first, outcomes).map_err(io::Error::from))?;
    Ok(())
}

fn rows(file: impl io::Write, first: &Outcome, outcomes: &[Outcome]) -> csv::Result<()> {
    let mut writer = csv::Writer::from_writer(file);
    let known = ["matrix", "dtype", "threads", "k", "variant", "chosen", "median_ns", "from_ns", "to_ns"];
    let rest = ["prepare_ns", "over_mkl"].into_iter().chain(first.statistics.iter().map(|(name, _)| *name));
    writer.write_record(known.into_iter().chain(rest))?;
    for outcome in outcomes {
        for entry in &outcome.entries {
            let chosen = entry.chosen.as_ref().map_or("", |(variant, _)| variant);
            let timed = entry.timed;
            let mut fields = vec![
                csv_cell(&outcome.matrix).into_owned(),
                outcome.dtype.to_owned(),
                outcome.threads.to_string(),
                outcome.k.to_string(),
                entry.variant.clone(),
                chosen.to_owned(),
            ];
            let times = [timed.median_ns, timed.from_ns, timed.to_ns, entry.prepare_ns];
            fields.extend(times.map(|ns| format!("{ns:.0}")));
            fields.push(format!("{:.4}", outcome.over_mkl(entry)));
            fields.extend(outcome.statistics.iter().map(|(_, value)| format!("{value:.6}")));
            writer.write_record(&fields)?;
        }
    }
    writer.flush()?;
    Ok(())
}
