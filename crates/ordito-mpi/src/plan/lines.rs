//! Messages and memory of products with so many columns.

use crate::error::Error;
use crate::halo::Halo;
use crate::plan::Plan;
use crate::plan::device_lines::DeviceLines;
use crate::plan::shown::Shown;
use crate::ranks::{Exchange, Message, Tag};
use ordito::{Dense, Scalar};

/// Numbers of columns whose lines are kept: a solver alternates between a few, one that goes through many would fill the memory.
const KEPT: usize = 4;

/// What lines are for. On all ranks the same.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) k: usize,
    /// X is read where it lies.
    pub(super) in_place: bool,
}

/// Lines for what was used last, the latest at the end. All ranks make the same calls, and so keep the same.
pub(super) struct LastUsed<S: Scalar>(Vec<(Use, Lines<S>)>);

impl<S: Scalar> Default for LastUsed<S> {
    fn default() -> Self {
        LastUsed(Vec::new())
    }
}

impl<S: Scalar> LastUsed<S> {
    pub(super) fn forget(&mut self, k: usize) {
        self.0.retain(|(of, _)| of.k != k);
    }

    /// Those for this use, which become the latest.
    fn of(
        &mut self,
        wanted: Use,
        make: impl FnOnce() -> Result<Lines<S>, Error>,
    ) -> Result<&mut Lines<S>, Error> {
        match self.0.iter().position(|(of, _)| *of == wanted) {
            Some(at) => self.0[at..].rotate_left(1),
            None => {
                // Before, so that both never are there at once.
                if self.0.len() >= KEPT {
                    self.0.remove(0);
                }
                self.0.push((wanted, make()?));
            }
        }
        let last = self.0.len() - 1;
        Ok(&mut self.0[last].1)
    }
}

pub(super) struct Lines<S: Scalar> {
    /// Rows of X on this computer.
    pub(super) shown: Shown<S>,
    /// Rows of X from other computers.
    pub(super) halo: Box<dyn Exchange>,
    /// Parts of Y inside a team; none alone.
    pub(super) partial: Option<Partial<S>>,
    /// What rows with X of others get, where they are computed apart on the host. Made when it is first wanted.
    pub(super) near_scratch: Option<Dense<S>>,
    pub(super) far_scratch: Option<Dense<S>>,
    /// The same on a device. Made when it is first wanted.
    pub(super) on_device: Option<DeviceLines<S>>,
    /// The way back: parts of Y for the owners of halo rows. Made when it is first wanted.
    pub(super) back: Option<Back<S>>,
}

pub(super) struct Partial<S> {
    pub(super) exchange: Box<dyn Exchange>,
    /// Rows of the team.
    pub(super) y: Dense<S>,
}

pub(super) struct Back<S> {
    /// To other computers.
    pub(super) far: Box<dyn Exchange>,
    /// On this one.
    pub(super) near: Box<dyn Exchange>,
    /// Parts for all rows of this computer that are multiplied here.
    pub(super) shown: Dense<S>,
    /// Rows of X of a team, for transposed products; none alone.
    pub(super) team: Option<(Box<dyn Exchange>, Dense<S>)>,
}

impl<S: Scalar> Lines<S> {
    pub(super) fn new(plan: &Plan<S>, Use { k, in_place }: Use) -> Result<Self, Error> {
        let (outgoing, incoming) = plan.halo.messages(k * size_of::<S>());
        let halo = plan.ranks.exchange(Tag::HALO, &outgoing, &incoming)?;
        let partial = match plan.teams.size() {
            1 => None,
            _ => Some(Partial {
                exchange: plan.between_members(k, false)?,
                y: Dense::zeros(plan.team_rows(), k)?,
            }),
        };
        let shown = if in_place { Shown::in_place(plan)? } else { Shown::new(plan, k)? };
        Ok(Lines { shown, halo, partial, near_scratch: None, far_scratch: None, on_device: None, back: None })
    }
}

impl<S: Scalar> Back<S> {
    pub(super) fn new(plan: &Plan<S>, k: usize) -> Result<Self, Error> {
        let way_back = |halo: &Halo, tag| {
            let (outgoing, incoming) = halo.messages(k * size_of::<S>());
            plan.ranks.exchange(tag, &incoming, &outgoing)
        };
        let far = way_back(&plan.halo, Tag::HALO)?;
        let near = way_back(&plan.near.halo, Tag::SHOWN)?;
        let team = match plan.teams.size() {
            1 => None,
            _ => Some((plan.between_members(k, true)?, Dense::zeros(plan.team_rows(), k)?)),
        };
        let shown = Dense::zeros(plan.near.total, k)?;
        Ok(Back { far, near, shown, team })
    }
}

impl<S: Scalar> Plan<S> {
    /// Those for so many columns, made when they are wanted: then every rank makes them.
    pub(super) fn lines_for<'a>(
        &self,
        all: &'a mut LastUsed<S>,
        k: usize,
    ) -> Result<&'a mut Lines<S>, Error> {
        self.lines_of(all, Use { k, in_place: false })
    }

    pub(super) fn lines_of<'a>(
        &self,
        all: &'a mut LastUsed<S>,
        wanted: Use,
    ) -> Result<&'a mut Lines<S>, Error> {
        all.of(wanted, || Lines::new(self, wanted))
    }

    /// Rows of all of the team.
    pub(super) fn team_rows(&self) -> usize {
        let rows = self.teams.rows(self.ranks.rank(), &self.rows);
        (rows.end - rows.start) as usize
    }

    /// Between members of a team: to everyone its rows, from everyone this rank's. The other way round: to everyone this rank's rows, from everyone its.
    fn between_members(&self, k: usize, other_way: bool) -> Result<Box<dyn Exchange>, Error> {
        let (rank, row_bytes) = (self.ranks.rank(), k * size_of::<S>());
        let (mut theirs, mut mine) = (Vec::new(), Vec::new());
        let (mut their_start, mut my_start) = (0, 0);
        let message = |rank, rows: usize, start: &mut usize| {
            let bytes = *start..*start + rows * row_bytes;
            *start = bytes.end;
            Message { rank, bytes }
        };
        for member in self.teams.members(rank).filter(|&member| member != rank) {
            theirs.push(message(member, self.rows.rows_of(member), &mut their_start));
            mine.push(message(member, self.rows.rows_of(rank), &mut my_start));
        }
        let (outgoing, incoming) = if other_way { (mine, theirs) } else { (theirs, mine) };
        Ok(self.ranks.exchange(Tag::PARTIAL, &outgoing, &incoming)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::{One, Ranks};
    use crate::{DistributedCsr, LocalRows, Partition};
    use ordito::Machine;
    use std::sync::Arc;

    #[test]
    fn only_the_last_are_kept() {
        let ranks: Arc<dyn Ranks> = Arc::new(One::default());
        let rows = LocalRows::new(1, vec![0, 1], vec![0], vec![2.0]).unwrap();
        let even = Partition::even(1, 1);
        let a = DistributedCsr::from_local_rows(&ranks, even.clone(), even, rows).unwrap();
        let plan = Plan::new(a, &Machine::with_threads(1).unwrap()).unwrap();
        let product = |k: usize| {
            let (x, mut y) = (Dense::filled(1, k, 3.0).unwrap(), Dense::zeros(1, k).unwrap());
            plan.apply(1.0, x.view(), 0.0, y.view_mut()).unwrap();
            assert!(y.data().iter().all(|y| *y == 6.0));
            crate::plan::unpoisoned(&plan.lines).0.iter().map(|(of, _)| of.k).collect::<Vec<_>>()
        };
        assert_eq!([1, 2, 3, 4].map(product)[3], [1, 2, 3, 4]);
        assert_eq!(product(2), [1, 3, 4, 2]);
        assert_eq!(product(9), [3, 4, 2, 9]);
        assert_eq!(product(1), [4, 2, 9, 1]);
    }
}
