//! A matrix whose rows lie on ranks, with what of X has to travel.

use crate::error::Error;
use crate::halo::Halo;
use crate::local_rows::LocalRows;
use crate::partition::Partition;
use crate::ranks::{Collective, Ranks};
use crate::team_rows;
use crate::teams::Teams;
use crate::volume::Volume;
use ordito::{Csr, Scalar};
use std::sync::Arc;

/// A sparse matrix on ranks: each has a block of rows in two parts, the columns that multiply its own rows of X and those that multiply rows of others.
///
/// ```
/// use ordito_mpi::ranks::{One, Ranks};
/// use ordito_mpi::{DistributedCsr, LocalRows, Partition};
/// use std::sync::Arc;
/// let ranks: Arc<dyn Ranks> = Arc::new(One::default()); // or MPI, or threads
/// // [1 0; 2 3], all of it on this rank.
/// let rows = LocalRows::new(2, vec![0, 1, 3], vec![0, 0, 1], vec![1.0, 2.0, 3.0])?;
/// let a = DistributedCsr::from_local_rows(&ranks, Partition::even(2, 1), Partition::even(2, 1), rows)?;
/// assert_eq!((a.shape(), a.nnz(), a.halo().rows()), ((2, 2), 3, 0));
/// # Ok::<(), ordito_mpi::Error>(())
/// ```
pub struct DistributedCsr<S> {
    pub(crate) ranks: Arc<dyn Ranks>,
    pub(crate) rows: Partition,
    pub(crate) cols: Partition,
    pub(crate) teams: Teams,
    /// Rows of the team × columns of this rank.
    pub(crate) own: Csr<S>,
    /// Rows of the team, or those of them that have any, × halo rows.
    pub(crate) outer: Csr<S>,
    /// Which rows of the team those of `outer` are; none: all.
    pub(crate) outer_rows: Option<Vec<u32>>,
    pub(crate) halo: Halo,
    pub(crate) volume: Volume,
    pub(crate) nnz: u64,
}

impl<S: Scalar> DistributedCsr<S> {
    /// Of the rows of this rank. Y is cut as `rows` says, X as `cols` does; every rank calls it with the same partitions.
    /// Teams are made where they let less travel.
    pub fn from_local_rows(
        ranks: &Arc<dyn Ranks>,
        rows: Partition,
        cols: Partition,
        local: LocalRows<S>,
    ) -> Result<Self, Error> {
        Self::with_teams(ranks, rows, cols, local, None)
    }

    /// The same, with teams of a size that the caller chooses.
    pub fn with_teams(
        ranks: &Arc<dyn Ranks>,
        rows: Partition,
        cols: Partition,
        local: LocalRows<S>,
        teams: Option<Teams>,
    ) -> Result<Self, Error> {
        let all: &dyn Ranks = &**ranks;
        all.agree(check(all, &rows, &cols, &local, teams))?;
        all.same(
            "where rows and columns are cut",
            &format!("{:?} {:?} {teams:?}", rows.starts(), cols.starts()),
        )?;
        let mut total = [local.nnz() as f64];
        all.sum(&mut total)?;
        let (teams, volume) = match teams {
            Some(teams) => (teams, Volume::of_teams(all, teams, &rows, &cols, local.columns())?),
            None => Volume::least(all, &rows, &cols, local.columns())?,
        };
        let block = team_rows::gather(all, teams, &rows, &cols, local)?;
        let split = all.agree(Split::of(&block, cols.range(all.rank())))?;
        let halo = Halo::agree(all, split.columns, &cols)?;
        Ok(DistributedCsr {
            ranks: ranks.clone(),
            rows,
            cols,
            teams,
            own: split.own,
            outer: split.outer,
            outer_rows: split.outer_rows,
            halo,
            volume,
            nnz: total[0] as u64,
        })
    }

    /// Rows and columns of the whole matrix.
    pub fn shape(&self) -> (u64, u64) {
        (self.rows.total(), self.cols.total())
    }
    /// Entries of the whole matrix.
    pub fn nnz(&self) -> u64 {
        self.nnz
    }
    /// Entries on this rank.
    pub fn local_nnz(&self) -> usize {
        self.own.nnz() + self.outer.nnz()
    }
    /// Whose are which rows of A and Y.
    pub fn rows(&self) -> &Partition {
        &self.rows
    }
    /// Whose are which rows of X.
    pub fn cols(&self) -> &Partition {
        &self.cols
    }
    /// What of X travels.
    pub fn halo(&self) -> &Halo {
        &self.halo
    }
    /// Ranks that share rows.
    pub fn teams(&self) -> Teams {
        self.teams
    }
    /// What a product moves, over all ranks.
    pub fn volume(&self) -> &Volume {
        &self.volume
    }
    /// The ranks.
    pub fn ranks(&self) -> &Arc<dyn Ranks> {
        &self.ranks
    }
}

fn check<S: Scalar>(
    ranks: &dyn Ranks,
    rows: &Partition,
    cols: &Partition,
    local: &LocalRows<S>,
    teams: Option<Teams>,
) -> Result<(), Error> {
    let asked = |sentence: String| Err(Error::Asked(sentence));
    let count = ranks.count();
    if (rows.ranks(), cols.ranks()) != (count, count) {
        return asked(format!(
            "rows are cut for {} ranks, columns for {}: there are {count}",
            rows.ranks(),
            cols.ranks()
        ));
    }
    if local.rows() != rows.rows_of(ranks.rank()) {
        return asked(format!(
            "{} rows were given, {} are this rank's",
            local.rows(),
            rows.rows_of(ranks.rank())
        ));
    }
    if local.cols() != cols.total() {
        return asked(format!("rows of {} columns were given, {} are cut", local.cols(), cols.total()));
    }
    if let Some(teams) = teams.filter(|teams| Teams::of(teams.size(), count).is_none()) {
        return asked(format!("{count} ranks cannot be cut into teams of {}", teams.size()));
    }
    Ok(())
}

/// Rows cut into what multiplies X of this rank and what multiplies X of others, columns numbered anew in both.
struct Split<S> {
    own: Csr<S>,
    outer: Csr<S>,
    outer_rows: Option<Vec<u32>>,
    /// Of X of others, ascending.
    columns: Vec<u64>,
}

impl<S: Scalar> Split<S> {
    fn of(block: &LocalRows<S>, mine: std::ops::Range<u64>) -> Result<Self, Error> {
        let is_outer = |column: &u64| !mine.contains(column);
        let mut columns: Vec<u64> = block.columns().iter().copied().filter(is_outer).collect();
        let outer_nnz = columns.len();
        columns.sort_unstable();
        columns.dedup();
        columns.shrink_to_fit();
        let mut own = Rows::with_capacity(block.rows(), block.nnz() - outer_nnz);
        let mut outer = Rows::with_capacity(block.rows(), outer_nnz);
        let mut with_outer = Vec::new();
        for row in 0..block.rows() {
            // Columns ascend in a row, and so do those of the halo: the search goes on from where it was.
            let mut searched = 0;
            for (column, value) in block.row(row) {
                if mine.contains(&column) {
                    own.push(column - mine.start, value);
                } else {
                    searched += columns[searched..].partition_point(|&known| known < column);
                    outer.push(searched as u64, value);
                }
            }
            if outer.in_row() > 0 {
                with_outer.push(row as u32);
            }
            own.end_row();
            outer.end_row();
        }
        // Where most rows have none, the others lie together: Y is then read and written once more in these rows only.
        let outer_rows = (with_outer.len() * 2 < block.rows()).then_some(with_outer);
        if let Some(rows) = &outer_rows {
            outer.keep_rows(rows);
        }
        let halo = columns.len();
        Ok(Split {
            own: own.build((mine.end - mine.start) as usize)?,
            outer: outer.build(halo)?,
            outer_rows,
            columns,
        })
    }
}

/// A matrix row after row.
struct Rows<S> {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<S>,
}

impl<S: Scalar> Rows<S> {
    fn with_capacity(rows: usize, nnz: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Rows { offsets, columns: Vec::with_capacity(nnz), values: Vec::with_capacity(nnz) }
    }
    fn push(&mut self, column: u64, value: S) {
        self.columns.push(column as u32); // more are refused by `build`
        self.values.push(value);
    }
    fn in_row(&self) -> usize {
        self.values.len() - self.offsets[self.offsets.len() - 1]
    }
    fn end_row(&mut self) {
        self.offsets.push(self.values.len());
    }
    /// The others are empty.
    fn keep_rows(&mut self, rows: &[u32]) {
        self.offsets =
            std::iter::once(0).chain(rows.iter().map(|&row| self.offsets[row as usize + 1])).collect();
    }
    fn build(self, cols: usize) -> Result<Csr<S>, Error> {
        Ok(Csr::from_parts(self.offsets.len() - 1, cols, self.offsets, self.columns, self.values)?)
    }
}
