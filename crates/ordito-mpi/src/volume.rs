//! What a product moves between ranks, counted before anything moves.

use crate::error::Error;
use crate::partition::Partition;
use crate::ranks::{Collective, Ranks, Tag};
use crate::teams::Teams;

/// Rows of X and Y that travel in one product; times K and the bytes of a number, that is what the network carries.
#[derive(Debug, Clone, PartialEq)]
pub struct Volume {
    /// Rows of X that come to every rank from other computers.
    pub halo_rows: Vec<u64>,
    /// Rows of X that every rank reads where others of its computer show them.
    pub near_rows: Vec<u64>,
    /// Ranks of other computers that rows come from.
    pub neighbours: Vec<u64>,
    /// Rows of Y, parts of sums, that come to every rank of a team.
    pub partial_rows: Vec<u64>,
}

impl Volume {
    /// Rows that come to all ranks together; what they read of each other on one computer does not count.
    pub fn total(&self) -> u64 {
        self.halo_rows.iter().chain(&self.partial_rows).sum()
    }
    /// Rows that come to the rank that most come to.
    pub fn most(&self) -> u64 {
        self.halo_rows.iter().zip(&self.partial_rows).map(|(halo, partial)| halo + partial).max().unwrap_or(0)
    }

    /// What teams of that size would move. `columns` are those of this rank's rows, `members` the ranks that share memory with it. Every rank calls it.
    pub(crate) fn of_teams(
        ranks: &dyn Ranks,
        members: &[usize],
        teams: Teams,
        rows: &Partition,
        cols: &Partition,
        columns: &[u64],
    ) -> Result<Self, Error> {
        let distinct = distinct(columns);
        Self::of_distinct(ranks, members, teams, rows, cols, &distinct)
    }

    /// Teams of the size that lets least travel to the rank that most comes to. Larger ones must save a tenth: adding up has a price of its own.
    pub(crate) fn least(
        ranks: &dyn Ranks,
        members: &[usize],
        rows: &Partition,
        cols: &Partition,
        columns: &[u64],
    ) -> Result<(Teams, Self), Error> {
        let distinct = distinct(columns);
        let mut best =
            (Teams::ALONE, Self::of_distinct(ranks, members, Teams::ALONE, rows, cols, &distinct)?);
        // Where less than half of X travels, teams gain nothing worth their sums.
        if best.1.most() * 2 <= cols.total() {
            return Ok(best);
        }
        for teams in Teams::all(ranks.count()).skip(1) {
            let volume = Self::of_distinct(ranks, members, teams, rows, cols, &distinct)?;
            if volume.most() as f64 <= 0.9 * best.1.most() as f64 {
                best = (teams, volume);
            }
        }
        Ok(best)
    }

    fn of_distinct(
        ranks: &dyn Ranks,
        members: &[usize],
        teams: Teams,
        rows: &Partition,
        cols: &Partition,
        distinct: &[u64],
    ) -> Result<Self, Error> {
        let rank = ranks.rank();
        let mine = cols.range(rank);
        let mut needed: Vec<u64> = if teams.size() == 1 {
            distinct.to_vec()
        } else {
            let mut for_each = vec![Vec::new(); ranks.count()];
            for &column in distinct {
                for_each[teams.holder(rank, cols.owner(column))].extend_from_slice(&column.to_le_bytes());
            }
            let came = ranks.deliver(Tag::DELIVERY, &for_each)?;
            let mut needed = bytemuck::pod_collect_to_vec::<u8, u64>(&came.concat());
            needed.sort_unstable();
            needed.dedup();
            needed
        };
        needed.retain(|column| !mine.contains(column));
        let before = needed.len();
        needed.retain(|&column| members.binary_search(&cols.owner(column)).is_err());
        let near = before - needed.len();
        let mut owners: Vec<usize> = needed.iter().map(|&column| cols.owner(column)).collect();
        owners.dedup();
        let partial = (teams.size() - 1) * rows.rows_of(rank);
        let told = ranks.all_gather(bytemuck::cast_slice(&[
            needed.len() as u64,
            owners.len() as u64,
            partial as u64,
            near as u64,
        ]))?;
        let number = |at: usize| {
            let numbers = told.iter().map(|bytes| bytemuck::pod_collect_to_vec::<u8, u64>(bytes)[at]);
            numbers.collect::<Vec<u64>>()
        };
        Ok(Volume {
            halo_rows: number(0),
            near_rows: number(3),
            neighbours: number(1),
            partial_rows: number(2),
        })
    }
}

fn distinct(columns: &[u64]) -> Vec<u64> {
    let mut distinct = columns.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    distinct
}
