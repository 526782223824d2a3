//! Every rank holds its rows of Y against the oracle. Rows of X come by another way than in the product: asked for by number, answered by their owners.

use crate::distributed::inputs::Input;
use crate::interrupt::interrupt;
use ordito::matrix::Dense;
use ordito::spmm::{Inputs, Spmm, Subject};
use ordito::{Csr, Scalar};
use ordito_bench::check::{Precision, compare};
use ordito_bench::report::{Outcome, Record, json};
use ordito_bench::workbench::{Case, OracleLimits, note_findings};
use ordito_mpi::ranks::{Collective, Ranks, Tag};
use ordito_mpi::{DistributedDense, Error, Partition};
use std::sync::Arc;

/// This rank's rows with the X that they need, as one small product.
pub(super) struct Checked<S: Scalar> {
    case: Case<Spmm<S>>,
    first_row: u64,
}

impl<S: Scalar> Checked<S> {
    pub(super) fn new(
        ranks: &dyn Ranks,
        input: &Input<S>,
        x: &DistributedDense<S>,
        limits: OracleLimits,
    ) -> Result<Self, Error> {
        let local = &input.local;
        let mut columns = local.columns().to_vec();
        columns.sort_unstable();
        columns.dedup();
        let numbered =
            local.columns().iter().map(|column| columns.partition_point(|known| known < column) as u32);
        let a = Csr::from_parts(
            local.rows(),
            columns.len(),
            local.offsets().to_vec(),
            numbered.collect(),
            local.values().to_vec(),
        );
        let a = ranks.agree(a)?;
        let x = rows_by_number(ranks, &input.cols, x, &columns)?;
        let subject = Subject { a: Arc::new(a), triplets: None, k: x.cols() };
        let case =
            Case::new(subject, Inputs::product(Arc::new(x)), Precision::of::<S>(), Record::default(), limits);
        Ok(Checked { case, first_row: input.rows.range(ranks.rank()).start })
    }

    /// What all ranks found, in one record.
    pub(super) fn judge(&self, ranks: &dyn Ranks, y: &Dense<S>, record: &mut Record) -> Result<(), Error> {
        let mut mine = Record::default();
        let judged = self.case.reference(interrupt()).map(|reference| {
            note_findings(&compare(reference, y, self.case.precision, 1.0), self.case.precision, &mut mine);
        });
        ranks.agree(judged)?;
        let rows = y.rows() as u64;
        mine.error = mine.error.map(|why| match ranks.count() {
            1 => why,
            _ => format!("rank {}, whose first row is {}: {why}", ranks.rank(), self.first_row),
        });
        mine.rows = Some(rows);
        let text = ranks.agree(json::record_to_bytes(&mine))?;
        let all = ranks.all_gather(&text)?;
        let all: Vec<Record> =
            ranks.agree(all.iter().map(|text| json::record_from_bytes(text)).collect::<Result<_, _>>())?;
        combine(&all, self.case.precision.epsilon, record);
        Ok(())
    }
}

/// The worst of all ranks; those without rows have nothing to say.
fn combine(all: &[Record], epsilon: f64, record: &mut Record) {
    let with_rows: Vec<&Record> = all.iter().filter(|found| found.rows.unwrap_or(0) > 0).collect();
    let Some(worst) = with_rows.iter().min_by_key(|found| found.outcome) else {
        record.outcome = Outcome::Passed; // a Y without rows
        return;
    };
    (record.outcome, record.error) = (worst.outcome, worst.error.clone());
    record.sampled = with_rows.iter().any(|found| found.sampled);
    let largest =
        |of: fn(&Record) -> Option<f64>| with_rows.iter().filter_map(|found| of(found)).fold(0.0, f64::max);
    let rows: u64 = with_rows.iter().filter_map(|found| found.rows).sum();
    let mean =
        |found: &&Record| found.mean_rel_err.unwrap_or(0.0) * found.rows.unwrap_or(0) as f64 / rows as f64;
    if with_rows.iter().any(|found| found.max_rel_err.is_some()) {
        record.set_errors(largest(|found| found.max_rel_err), with_rows.iter().map(mean).sum(), epsilon);
        record.bound_ratio = Some(largest(|found| found.bound_ratio));
    }
}

/// These rows of X, ascending, from wherever they are.
pub(super) fn rows_by_number<S: Scalar>(
    ranks: &dyn Ranks,
    cut: &Partition,
    x: &DistributedDense<S>,
    wanted: &[u64],
) -> Result<Dense<S>, Error> {
    let k = x.local().cols();
    let mut asked = vec![Vec::new(); ranks.count()];
    for &row in wanted {
        asked[cut.owner(row)].extend_from_slice(&row.to_le_bytes());
    }
    let first = cut.range(ranks.rank()).start;
    let answer = |asked: Vec<u8>| {
        let rows = bytemuck::pod_collect_to_vec::<u8, u64>(&asked);
        let found = rows.iter().flat_map(|row| x.view().row((row - first) as usize));
        bytemuck::cast_slice(&found.copied().collect::<Vec<S>>()).to_vec()
    };
    let answers: Vec<Vec<u8>> = ranks.deliver(Tag::DELIVERY, &asked)?.into_iter().map(answer).collect();
    // Owners ascend with rows: their answers, one behind the other, are the rows as they were asked for.
    let found = ranks.deliver(Tag::DELIVERY, &answers)?.concat();
    let rows = Dense::from_rows(wanted.len(), k, bytemuck::pod_collect_to_vec(&found));
    Ok(ranks.agree(rows)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(outcome: Outcome, rows: u64, error: f64) -> Record {
        let mut record = Record { outcome, rows: Some(rows), ..Record::default() };
        record.set_errors(error, error / 2.0, 1e-3);
        record
    }

    #[test]
    fn the_worst_rank_counts() {
        let mut record = Record::default();
        let all = [
            found(Outcome::Passed, 3, 0.1),
            found(Outcome::Incorrect, 1, 0.4),
            found(Outcome::NotVerified, 0, 9.0),
        ];
        combine(&all, 1e-3, &mut record);
        assert_eq!(
            (record.outcome, record.max_rel_err, record.mean_rel_err),
            (Outcome::Incorrect, Some(0.4), Some((3.0 * 0.05 + 0.2) / 4.0))
        );
        combine(&all[2..], 1e-3, &mut record);
        assert_eq!(record.outcome, Outcome::Passed);
    }
}
