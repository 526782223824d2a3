//! A matrix whose rows lie on ranks, with what of X has to travel.

use crate::error::Error;
use crate::halo::Halo;
use crate::local_rows::LocalRows;
use crate::near::{self, Near};
use crate::partition::Partition;
use crate::ranks::{Collective, Ranks};
use crate::split::{self, Outer, View, Whose};
use crate::team_rows;
use crate::teams::Teams;
use crate::volume::Volume;
use ordito::precision::compiled_here;
use ordito::{Csr, Scalar};
use std::sync::Arc;

/// A sparse matrix on ranks: each has a block of rows in three parts: the columns that multiply its own rows of X, those that multiply rows which other ranks of its computer show, and those that multiply rows from
/// other computers.
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
    /// Rows of the team × columns of this rank; where it shows all its rows, × all rows that are shown here.
    pub(crate) own: Csr<S>,
    /// Rows of the team × rows of X that others of this computer show, unless `own` has them.
    pub(crate) near_part: Outer<S>,
    pub(crate) near: Near,
    /// Rows of the team × rows of X that come from other computers.
    pub(crate) far_part: Outer<S>,
    pub(crate) halo: Halo,
    pub(crate) volume: Volume,
    pub(crate) nnz: u64,
    /// Made for an X that ranks of a computer share: then it is so on all ranks.
    pub(crate) x_is_shared: bool,
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
        type Make<S> = fn(
            &Arc<dyn Ranks>,
            Partition,
            Partition,
            LocalRows<S>,
            Option<Teams>,
        ) -> Result<DistributedCsr<S>, Error>;
        compiled_here!(S, DistributedCsr::cut, Make)(ranks, rows, cols, local, teams)
    }

    fn cut(
        ranks: &Arc<dyn Ranks>,
        rows: Partition,
        cols: Partition,
        local: LocalRows<S>,
        teams: Option<Teams>,
    ) -> Result<Self, Error> {
        let all: &dyn Ranks = &**ranks;
        all.agree(check(all, &rows, &cols, &local, teams))?;
        let cut = format!("{} and {} (fingerprints), {teams:?}", rows.fingerprint(), cols.fingerprint());
        all.same("where rows and columns are cut, and teams", &cut)?;
        let members = near::members(all)?;
        let mut total = [local.nnz() as f64];
        all.sum(&mut total)?;
        let (teams, volume) = match teams {
            Some(teams) => (teams, Volume::of_teams(all, &members, teams, &rows, &cols, local.columns())?),
            None => Volume::least(all, &members, &rows, &cols, local.columns())?,
        };
        let block = team_rows::gather(all, teams, &rows, &cols, local)?;
        let view = View::new(all.rank(), all.count(), &members);
        let near_columns = view.distinct(block.columns(), &cols, Whose::Near);
        let twice = view.rows_of_both(&block, &cols);
        let near = Near::agree(all, members, near_columns, &cols, twice)?;
        let halo = Halo::agree(all, view.distinct(block.columns(), &cols, Whose::Far), &cols)?;
        let parts = (|| {
            let mine = cols.range(all.rank());
            let (own, apart) = match near.is_whole {
                false => (split::own(&block, mine)?, near.halo.columns()),
                true => (split::whole(&block, mine, &near)?, &[][..]),
            };
            let near_part = split::outer(&block, apart, |at| near.places[at], near.total)?;
            let far_part = split::outer(&block, halo.columns(), |at| at as u32, halo.rows())?;
            Ok::<_, Error>((own, near_part, far_part))
        })();
        let (own, near_part, far_part) = all.agree(parts)?;
        Ok(DistributedCsr {
            ranks: ranks.clone(),
            rows,
            cols,
            teams,
            own,
            near_part,
            near,
            far_part,
            halo,
            volume,
            nnz: total[0] as u64,
            x_is_shared: false,
        })
    }

    /// The same for an X that ranks of a computer share, a [`SharedDense`](crate::SharedDense). One pass over rows of Y then multiplies what all of them hold, read where it lies: no row is
    /// copied, none of Y is written twice. An X anywhere else is copied as a whole, and a product with Aᵀ has room for all rows of the computer on each of its ranks. Where these are 2³² or more
    /// the matrix stays as it is. Every rank calls it.
    pub fn with_x_shared(mut self) -> Result<Self, Error> {
        let ranks = self.ranks.clone();
        let mut too_many = [f64::from(!self.near.can_show_all(&self.cols))];
        ranks.sum(&mut too_many)?;
        if too_many[0] > 0.0 {
            return Ok(self);
        }
        let was_whole = self.near.is_whole;
        let parts = match self.near.show_all(ranks.rank(), &self.cols) {
            None => Ok((self.own, self.near_part)),
            Some(numbers) => (|| {
                let (first, all) = (self.near.first, self.near.total);
                let own = match was_whole {
                    true => split::renumbered(self.own, &numbers, all)?,
                    false => split::together(&self.own, first, &self.near_part, &numbers, all)?,
                };
                Ok::<_, Error>((own, Outer::empty(all)?))
            })(),
        };
        (self.own, self.near_part) = (*ranks).agree(parts)?;
        self.x_is_shared = true;
        Ok(self)
    }

    /// The same for a device, which holds only those rows of its computer that it multiplies.
    pub(crate) fn with_near_rows_together(mut self) -> Result<Self, Error> {
        let numbers = self.near.bring_together();
        match self.near.is_whole {
            true => self.own = split::renumbered(self.own, &numbers, self.near.total)?,
            false => self.near_part.a = split::renumbered(self.near_part.a, &numbers, self.near.total)?,
        }
        Ok(self)
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
        self.own.nnz() + self.near_part.a.nnz() + self.far_part.a.nnz()
    }
    /// Whose are which rows of A and Y.
    pub fn rows(&self) -> &Partition {
        &self.rows
    }
    /// Whose are which rows of X.
    pub fn cols(&self) -> &Partition {
        &self.cols
    }
    /// What of X comes from other computers.
    pub fn halo(&self) -> &Halo {
        &self.halo
    }
    /// Rows of X that this rank reads where others of its computer show them.
    pub fn near_rows(&self) -> usize {
        self.near.halo.rows()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::{Patience, on_hosts};

    /// Of four ranks, so many on a computer: who shows all of its X, and entries that are multiplied in a second pass.
    fn cut(name: &str, per_host: usize) -> Vec<(bool, usize)> {
        let a: Csr<f64> = ordito::io::read_csr(name).unwrap();
        let rows = Partition::balanced(a.rows() as u64, 4, |row| a.row_offsets()[row as usize] as u64);
        on_hosts(4, per_host, Patience::default(), |ranks| {
            let ranks: Arc<dyn Ranks> = Arc::new(ranks);
            let local = LocalRows::of_csr(&a, rows.range(ranks.rank()));
            let teams = Some(Teams::ALONE);
            let cut = DistributedCsr::with_teams(&ranks, rows.clone(), rows.clone(), local, teams).unwrap();
            if cut.near.is_whole {
                assert_eq!(cut.near.published.len(), rows.rows_of(ranks.rank()));
                assert_eq!(cut.own.cols(), cut.near.total);
            }
            (cut.near.is_whole, cut.near_part.a.nnz())
        })
    }

    /// With several members on a computer, each has numbers for what it multiplies alone.
    #[test]
    fn a_device_holds_what_it_multiplies() {
        for name in ["stencil5:40", "powerlaw:400x9"] {
            let a: Csr<f64> = ordito::io::read_csr(name).unwrap();
            let rows = Partition::even(a.rows() as u64, 4);
            let are_whole = on_hosts(4, 4, Patience::default(), |ranks| {
                let ranks: Arc<dyn Ranks> = Arc::new(ranks);
                let local = LocalRows::of_csr(&a, rows.range(ranks.rank()));
                let teams = Some(Teams::ALONE);
                let cut =
                    DistributedCsr::with_teams(&ranks, rows.clone(), rows.clone(), local, teams).unwrap();
                let (all, nnz) = (cut.near.total, cut.local_nnz());
                let cut = cut.with_near_rows_together().unwrap();
                let near = &cut.near;
                let (own, multiplies) = match near.is_whole {
                    true => (rows.rows_of(ranks.rank()), &cut.own),
                    false => (0, &cut.near_part.a),
                };
                assert_eq!((near.total, near.all_published), (own + near.halo.rows(), all), "{name}");
                assert_eq!((multiplies.cols(), cut.local_nnz()), (near.total, nnz), "{name}");
                assert_eq!(near.read.iter().map(|range| range.len()).sum::<usize>(), near.total, "{name}");
                assert!(near.is_whole || near.total < all, "{name}: {} of {all}", near.total);
                near.is_whole
            });
            assert_eq!(are_whole, [name.starts_with("power"); 4], "{name}");
        }
    }

    #[test]
    fn one_pass_where_a_second_one_would_write_most_rows_again() {
        assert_eq!(cut("powerlaw:400x9", 4), [(true, 0); 4]);
        // Two on each computer: what is not here comes by messages. Half of the entries are in the first columns; those who have the last ones show few.
        let on_two = cut("powerlaw:400x9", 2);
        assert_eq!(on_two[..2], [(true, 0); 2]);
        assert!(on_two[2..].iter().all(|(is_whole, _)| !is_whole));
        // A stencil's neighbours need the rows at the borders.
        let stencil = cut("stencil5:40", 4);
        assert!(stencil.iter().all(|(is_whole, apart)| !is_whole && *apart > 0), "{stencil:?}");
        assert!(cut("powerlaw:400x9", 1).iter().all(|found| *found == (false, 0)));
    }
}
