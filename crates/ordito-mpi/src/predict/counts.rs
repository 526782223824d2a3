//! What ranks would hold and send, counted from a matrix that lies here as a whole.

use crate::partition::Partition;
use crate::teams::Teams;
use ordito::Csr;
use ordito::Scalar;
use ordito::precision::compiled_here;

/// One rank's part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OfRank {
    /// Rows of Y.
    pub rows: u64,
    /// Entries that multiply X of its node.
    pub own_nnz: u64,
    /// Entries that multiply X of other nodes.
    pub outer_nnz: u64,
    /// Rows that have any of them: their Y is read and written once more.
    pub outer_rows: u64,
    /// Rows of X of other ranks of the same node: they are read where they lie.
    pub near_rows: u64,
    /// Rows of X that come from other nodes.
    pub far_rows: u64,
    /// Ranks of the same node that they come from.
    pub near_neighbours: u64,
    /// Ranks of other nodes.
    pub far_neighbours: u64,
    /// Rows of partial sums that come from the rest of the team.
    pub partial_rows: u64,
}

/// Everything of a partition that decides how long a product takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    /// Ranks that share rows.
    pub teams: Teams,
    /// For every rank.
    pub ranks: Vec<OfRank>,
    /// Rows of X in all.
    pub cols: u64,
}

impl Counts {
    /// Of rows and columns cut so, in teams of that size, with so many ranks a node.
    pub fn of<S: Scalar>(
        a: &Csr<S>,
        rows: &Partition,
        cols: &Partition,
        teams: Teams,
        ranks_per_node: usize,
    ) -> Self {
        type Count<S> = fn(&Csr<S>, &Partition, &Partition, Teams, usize) -> Counts;
        compiled_here!(S, counts, Count)(a, rows, cols, teams, ranks_per_node)
    }

    /// In teams of the size that lets least travel, as a distributed matrix chooses it.
    pub fn least<S: Scalar>(a: &Csr<S>, rows: &Partition, cols: &Partition, ranks_per_node: usize) -> Self {
        let mut best = Counts::of(a, rows, cols, Teams::ALONE, ranks_per_node);
        if best.most() * 2 <= best.cols {
            return best;
        }
        for teams in Teams::all(rows.ranks()).skip(1) {
            let counts = Counts::of(a, rows, cols, teams, ranks_per_node);
            if counts.most() as f64 <= 0.9 * best.most() as f64 {
                best = counts;
            }
        }
        best
    }

    /// As many ranks with equal parts, if nothing had to travel: what a prediction is held against.
    pub fn perfect(&self) -> Self {
        let count = self.ranks.len().max(1) as u64;
        let [rows, nnz] = [|of: &OfRank| of.rows, |of: &OfRank| of.own_nnz + of.outer_nnz]
            .map(|of| self.ranks.iter().map(of).sum::<u64>().div_ceil(count));
        let share = OfRank { rows, own_nnz: nnz, ..OfRank::default() };
        Counts { teams: Teams::ALONE, ranks: vec![share; self.ranks.len()], cols: self.cols }
    }

    /// Rows that come, from other nodes or to be added up, to the rank that most come to.
    pub fn most(&self) -> u64 {
        self.ranks.iter().map(|of| of.far_rows + of.partial_rows).max().unwrap_or(0)
    }
    /// Rows that come to all of them.
    pub fn total(&self) -> u64 {
        self.ranks.iter().map(|of| of.far_rows + of.partial_rows).sum()
    }
    /// The largest part of the entries over the mean.
    pub fn imbalance(&self) -> f64 {
        let nnz = |of: &OfRank| of.own_nnz + of.outer_nnz;
        let (most, all) = (self.ranks.iter().map(nnz).max(), self.ranks.iter().map(nnz).sum::<u64>());
        most.unwrap_or(0) as f64 * self.ranks.len() as f64 / all.max(1) as f64
    }
}

fn counts<S: Scalar>(
    a: &Csr<S>,
    rows: &Partition,
    cols: &Partition,
    teams: Teams,
    ranks_per_node: usize,
) -> Counts {
    let count = rows.ranks();
    let mut ranks = vec![OfRank::default(); count];
    let owners = owners(cols);
    // Which team has asked for a column last: every team asks for each once, by the one member that holds it.
    let mut asked = vec![u32::MAX; a.cols()];
    // Whether that member has heard of an owner before.
    let mut heard = vec![usize::MAX; count * teams.size()];
    // The last row in which a rank had an entry of other nodes.
    let mut last_row = vec![usize::MAX; count];
    for team in 0..count / teams.size() {
        let first = team * teams.size();
        let block = teams.rows(first, rows);
        for row in block.start as usize..block.end as usize {
            for (column, _) in a.row(row) {
                let owner = owners[column] as usize;
                let holder = teams.holder(first, owner);
                if holder == owner {
                    ranks[holder].own_nnz += 1;
                    continue;
                }
                let of = &mut ranks[holder];
                let is_near = holder / ranks_per_node.max(1) == owner / ranks_per_node.max(1);
                if is_near {
                    of.own_nnz += 1;
                } else {
                    of.outer_nnz += 1;
                    of.outer_rows += u64::from(std::mem::replace(&mut last_row[holder], row) != row);
                }
                if std::mem::replace(&mut asked[column], team as u32) == team as u32 {
                    continue;
                }
                let known = &mut heard[owner * teams.size() + (holder - first)];
                let is_new = std::mem::replace(known, team) != team;
                let (of_rows, of_neighbours) = match is_near {
                    true => (&mut of.near_rows, &mut of.near_neighbours),
                    false => (&mut of.far_rows, &mut of.far_neighbours),
                };
                *of_rows += 1;
                *of_neighbours += u64::from(is_new);
            }
        }
    }
    for (rank, of) in ranks.iter_mut().enumerate() {
        of.rows = rows.rows_of(rank) as u64;
        of.partial_rows = (teams.size() as u64 - 1) * of.rows;
    }
    Counts { teams, ranks, cols: cols.total() }
}

/// Who owns every column.
fn owners(cols: &Partition) -> Vec<u32> {
    (0..cols.ranks()).flat_map(|rank| std::iter::repeat_n(rank as u32, cols.rows_of(rank))).collect()
}
