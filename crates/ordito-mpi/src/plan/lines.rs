//! Messages and memory of products with so many columns.

use crate::error::Error;
use crate::halo::Halo;
use crate::plan::Plan;
use crate::plan::shown::Shown;
use crate::ranks::{Exchange, Message, Tag};
use ordito::{Dense, Scalar};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

pub(super) struct Lines<S> {
    /// Rows of X on this computer.
    pub(super) shown: Shown<S>,
    /// Rows of X from other computers.
    pub(super) halo: Box<dyn Exchange>,
    /// Parts of Y inside a team; none alone.
    pub(super) partial: Option<Partial<S>>,
    /// What rows with X of others get, where they are computed apart.
    pub(super) near_scratch: Dense<S>,
    pub(super) far_scratch: Dense<S>,
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
    /// Parts for all rows that members show.
    pub(super) shown: Dense<S>,
    /// Rows of X of a team, for transposed products; none alone.
    pub(super) team: Option<(Box<dyn Exchange>, Dense<S>)>,
}

impl<S: Scalar> Lines<S> {
    pub(super) fn new(plan: &Plan<S>, k: usize) -> Result<Self, Error> {
        let (outgoing, incoming) = plan.halo.messages(k * size_of::<S>());
        let halo = plan.ranks.exchange(Tag::HALO, &outgoing, &incoming)?;
        let partial = match plan.teams.size() {
            1 => None,
            _ => Some(Partial {
                exchange: plan.between_members(k, false)?,
                y: Dense::zeros(plan.team_rows(), k)?,
            }),
        };
        let near_scratch = Dense::zeros(plan.near_part.scratch_rows(), k)?;
        let far_scratch = Dense::zeros(plan.far_part.scratch_rows(), k)?;
        let shown = Shown::new(&*plan.ranks, &plan.near, k)?;
        Ok(Lines { shown, halo, partial, near_scratch, far_scratch, back: None })
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
    /// Those for so many columns, made when they are first wanted: then every rank makes them.
    pub(super) fn lines_for<'a>(
        &self,
        all: &'a mut HashMap<usize, Lines<S>>,
        k: usize,
    ) -> Result<&'a mut Lines<S>, Error> {
        Ok(match all.entry(k) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(Lines::new(self, k)?),
        })
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
