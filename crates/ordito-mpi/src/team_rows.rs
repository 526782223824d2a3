//! Rows of a team, each member with its columns.

use crate::error::Error;
use crate::local_rows::LocalRows;
use crate::partition::Partition;
use crate::ranks::{Collective, Ranks, Tag};
use crate::teams::Teams;
use ordito::Scalar;

/// Sends entries to those of the team that hold their columns. Alone, rows stay as they are.
pub(crate) fn gather<S: Scalar>(
    ranks: &dyn Ranks,
    teams: Teams,
    rows: &Partition,
    cols: &Partition,
    local: LocalRows<S>,
) -> Result<LocalRows<S>, Error> {
    if teams.size() == 1 {
        return Ok(local);
    }
    let (rank, members) = (ranks.rank(), teams.members(ranks.rank()));
    // Per member: lengths of rows, columns, values, one behind the other.
    let mut parts: Vec<(Vec<u64>, Vec<u64>, Vec<S>)> = vec![Default::default(); teams.size()];
    for row in 0..local.rows() {
        let before: Vec<usize> = parts.iter().map(|part| part.1.len()).collect();
        for (column, value) in local.row(row) {
            let member = teams.holder(rank, cols.owner(column)) - members.start;
            parts[member].1.push(column);
            parts[member].2.push(value);
        }
        parts.iter_mut().zip(before).for_each(|(part, before)| part.0.push((part.1.len() - before) as u64));
    }
    let total_cols = local.cols();
    drop(local);
    let mut for_each = vec![Vec::new(); ranks.count()];
    for (member, (lengths, columns, values)) in members.clone().zip(parts) {
        let text = &mut for_each[member];
        text.extend_from_slice(bytemuck::cast_slice(&lengths));
        text.extend_from_slice(bytemuck::cast_slice(&columns));
        text.extend_from_slice(bytemuck::cast_slice(&values));
    }
    let came = ranks.deliver(Tag::DELIVERY, &for_each)?;
    drop(for_each);
    let (mut offsets, mut columns, mut values) = (vec![0usize], Vec::new(), Vec::new());
    for member in members {
        let (lengths, rest) = came[member].split_at(rows.rows_of(member) * size_of::<u64>());
        let lengths: Vec<u64> = bytemuck::pod_collect_to_vec(lengths);
        let count: usize = lengths.iter().map(|&length| length as usize).sum();
        let (its_columns, its_values) = rest.split_at(count * size_of::<u64>());
        columns.extend(bytemuck::pod_collect_to_vec::<u8, u64>(its_columns));
        values.extend(bytemuck::pod_collect_to_vec::<u8, S>(its_values));
        for length in lengths {
            offsets.push(offsets[offsets.len() - 1] + length as usize);
        }
    }
    LocalRows::new(total_cols, offsets, columns, values)
}
