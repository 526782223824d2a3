//! What needs Aᵀ: is a matrix symmetric, its symmetric half, the Laplacian of a graph. Every entry goes to who owns the row that its column names; no rank holds more than its rows
//! of A and Aᵀ.

use crate::distributed::check::rows_by_number;
use crate::distributed::inputs::Input;
use crate::distributed::solving::{told, with_values};
use crate::solvers::diagonal::inverse;
use crate::solvers::laplacian::{Laplacian, one_where_linked};
use crate::solvers::symmetric::Difference;
use ordito::{Dense, Scalar};
use ordito_mpi::ranks::{Collective, Ranks, Tag};
use ordito_mpi::{DistributedDense, LocalRows};

/// This rank's rows of Aᵀ, of a square A.
fn transposed<S: Scalar>(ranks: &dyn Ranks, input: &Input<S>) -> anyhow::Result<LocalRows<S>> {
    let range = input.rows.range(ranks.rank());
    let mut for_each = vec![Vec::new(); ranks.count()];
    for row in 0..input.local.rows() {
        for (col, value) in input.local.row(row) {
            let to = &mut for_each[input.rows.owner(col)];
            to.extend_from_slice(&col.to_le_bytes());
            to.extend_from_slice(&(range.start + row as u64).to_le_bytes());
            to.extend_from_slice(bytemuck::bytes_of(&value));
        }
    }
    let came = ranks.deliver(Tag::DELIVERY, &for_each)?;
    drop(for_each);
    let number = |bytes: &[u8]| bytemuck::pod_read_unaligned::<u64>(bytes);
    let entries = came.iter().flat_map(|bytes| bytes.chunks_exact(16 + size_of::<S>())).map(|entry| {
        let row = (number(&entry[..8]) - range.start) as u32;
        (row, number(&entry[8..16]), bytemuck::pod_read_unaligned::<S>(&entry[16..]))
    });
    let rows = LocalRows::from_entries(input.local.rows(), input.local.cols(), entries.collect());
    told(ranks, rows.map_err(Into::into))
}

/// Refuses a matrix that is not symmetric, saying where.
pub(super) fn check<S: Scalar>(ranks: &dyn Ranks, input: &Input<S>, advice: &str) -> anyhow::Result<()> {
    let mirrored = transposed(ranks, input)?;
    let first = input.rows.range(ranks.rank()).start;
    let in_row = |row: usize| Difference::in_row(first + row as u64, input.local.row(row), mirrored.row(row));
    let found = match (0..mirrored.rows()).find_map(in_row) {
        Some(difference) => Err(anyhow::anyhow!(difference.sentence(&input.name, advice))),
        None => Ok(()),
    };
    told(ranks, found)
}

/// (A + Aᵀ)/2.
pub(super) fn half_sum<S: Scalar>(ranks: &dyn Ranks, input: &Input<S>) -> anyhow::Result<LocalRows<S>> {
    let mirrored = transposed(ranks, input)?;
    let half = S::from_f64(0.5);
    let mut entries = Vec::with_capacity(input.local.nnz() + mirrored.nnz());
    for part in [&input.local, &mirrored] {
        for row in 0..part.rows() {
            entries.extend(part.row(row).map(|(col, value)| (row as u32, col, half * value)));
        }
    }
    let sum = LocalRows::from_entries(input.local.rows(), input.local.cols(), entries);
    told(ranks, sum.map_err(Into::into))
}

/// D − W, or 1 − D^(−1/2)·W·D^(−1/2): W is (A + Aᵀ)/2 without its diagonal, D its row sums.
pub(super) fn laplacian<S: Scalar>(
    ranks: &dyn Ranks,
    mut input: Input<S>,
    kind: Laplacian,
) -> anyhow::Result<Input<S>> {
    let first = input.rows.range(ranks.rank()).start;
    if kind.unweighted {
        // Before both directions are added: weights of either sign could cancel.
        let links = with_values(&input.local, first, |value, _| Ok(one_where_linked(value)));
        input.local = told(ranks, links)?;
    }
    let links = half_sum(ranks, &input)?;
    let weights = |row: usize| {
        let own = first + row as u64;
        let others = links.row(row).filter(move |&(col, _)| col != own);
        others.map(|(col, value)| Ok((col, kind.weight(value, (own, col), &input.name)?))).collect()
    };
    let weights: anyhow::Result<Vec<Vec<(u64, f64)>>> = (0..links.rows()).map(weights).collect();
    let weights = told(ranks, weights)?;
    let degrees: Vec<f64> = weights.iter().map(|row| row.iter().map(|(_, weight)| weight).sum()).collect();
    // Degrees of all nodes that are linked with ours.
    let mut linked: Vec<u64> = weights.iter().flatten().map(|(col, _)| *col).collect();
    linked.sort_unstable();
    linked.dedup();
    let column = told(ranks, Dense::from_rows(degrees.len(), 1, degrees.clone()).map_err(Into::into))?;
    let column = DistributedDense::from_local(ranks, &input.rows, column)?;
    let others = rows_by_number(ranks, &input.rows, &column, &linked)?;
    let degree_of = |col: u64| others.data()[linked.partition_point(|&known| known < col)];
    let mut entries = Vec::with_capacity(links.nnz() + links.rows());
    for (row, (weights, &degree)) in weights.iter().zip(&degrees).enumerate() {
        let beside = weights.iter().map(|&(col, weight)| (col, kind.beside(weight, degree, degree_of(col))));
        let all = beside.chain([(first + row as u64, kind.on_diagonal(degree))]);
        entries.extend(all.map(|(col, value)| (row as u32, col, S::from_f64(value))));
    }
    let local = LocalRows::from_entries(links.rows(), links.cols(), entries);
    input.local = told(ranks, local.map_err(Into::into))?;
    Ok(input)
}

/// 1/aᵢᵢ of this rank's rows, all of which must be positive.
pub(super) fn inverse_diagonal<S: Scalar>(ranks: &dyn Ranks, input: &Input<S>) -> anyhow::Result<Vec<S>> {
    let first = input.rows.range(ranks.rank()).start;
    let of_row = |row: usize| {
        let number = first + row as u64;
        let entry = input.local.row(row).find(|&(col, _)| col == number).map(|(_, value)| value);
        inverse(entry, number, &input.name)
    };
    told(ranks, (0..input.local.rows()).map(of_row).collect())
}

/// ‖A‖∞ of this rank's rows.
pub(super) fn largest_row_sum<S: Scalar>(local: &LocalRows<S>) -> f64 {
    let sum = |row: usize| local.row(row).map(|(_, value)| value.to_f64().abs()).sum::<f64>();
    (0..local.rows()).map(sum).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ordito::Machine;
    use ordito::io::{ReadOptions, read_csr};
    use ordito::matrix::Csr;
    use ordito_mpi::ranks::{Patience, on_threads};
    use ordito_mpi::reading;

    const NAMES: [&str; 3] = ["powerlaw:60x5", "stencil5:7", "blocks:6x3x2"];

    /// Rows of all ranks, one behind the other.
    fn rows_of(
        made: impl Fn(&dyn Ranks, Input<f64>) -> LocalRows<f64> + Sync,
        name: &str,
    ) -> Vec<Vec<(u64, f64)>> {
        let all = on_threads(3, Patience::default(), |ranks| {
            let input = Input::<f64>::as_read(reading::load(&ranks, name, &ReadOptions::default()).unwrap());
            let local = made(&ranks, input);
            (0..local.rows()).map(|row| local.row(row).collect()).collect::<Vec<Vec<_>>>()
        });
        all.concat()
    }

    fn rows_of_csr(a: &Csr<f64>) -> Vec<Vec<(u64, f64)>> {
        let row = |row: usize| a.row(row).map(|(col, value)| (col as u64, value)).collect();
        (0..a.rows()).map(row).collect()
    }

    #[test]
    fn what_ranks_make_of_a_matrix_is_what_one_process_makes() {
        let machine = Machine::with_threads(1).unwrap();
        for name in NAMES {
            let a = read_csr::<f64>(name).unwrap();
            let half = crate::solvers::symmetric::half_sum(&a, &machine).unwrap();
            assert_eq!(rows_of(|ranks, input| half_sum(ranks, &input).unwrap(), name), rows_of_csr(&half));
            for normalized in [false, true] {
                let kind = Laplacian { unweighted: true, normalized };
                let right = kind.of(&a, name, &machine).unwrap();
                let found = rows_of(|ranks, input| laplacian(ranks, input, kind).unwrap().local, name);
                assert_eq!(found, rows_of_csr(&right), "{name}, normalized: {normalized}");
            }
        }
    }

    #[test]
    fn faults_are_told_in_the_same_words_on_every_rank() {
        let machine = Machine::with_threads(1).unwrap();
        let name = "uniform:50x4";
        let a = read_csr::<f64>(name).unwrap();
        let kind = Laplacian { unweighted: false, normalized: false };
        let right = [
            crate::solvers::symmetric::check(&a, name, "; hm", &machine).unwrap_err(),
            kind.of(&a, name, &machine).unwrap_err(),
            crate::solvers::diagonal::inverse_diagonal(&a, name).unwrap_err(),
        ]
        .map(|error| error.to_string());
        let found = on_threads(3, Patience::default(), |ranks| {
            let input =
                || Input::<f64>::as_read(reading::load(&ranks, name, &ReadOptions::default()).unwrap());
            [
                check(&ranks, &input(), "; hm").err(),
                laplacian(&ranks, input(), kind).err(),
                inverse_diagonal(&ranks, &input()).err(),
            ]
            .map(|error| error.unwrap().to_string())
        });
        assert!(found.iter().all(|found| *found == right), "{found:?} {right:?}");
    }
}
