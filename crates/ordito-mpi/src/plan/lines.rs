//! Messages and memory of products with so many columns.

use crate::error::Error;
use crate::plan::Plan;
use crate::ranks::{Exchange, Message, Tag};
use ordito::{Dense, Scalar};

pub(super) struct Lines<S> {
    /// Rows of X, from their owners.
    pub(super) halo: Box<dyn Exchange>,
    /// Parts of Y inside a team; none alone.
    pub(super) partial: Option<Partial<S>>,
    /// What rows with X of others get, where they lie together.
    pub(super) outer: Dense<S>,
    /// The way back: parts of Y for the owners of halo rows. Made when it is first wanted.
    pub(super) back: Option<Back<S>>,
}

pub(super) struct Partial<S> {
    pub(super) exchange: Box<dyn Exchange>,
    /// Rows of the team.
    pub(super) y: Dense<S>,
}

pub(super) struct Back<S> {
    pub(super) exchange: Box<dyn Exchange>,
    /// Rows of X of a team, for transposed products; none alone.
    pub(super) team: Option<(Box<dyn Exchange>, Dense<S>)>,
    /// Those of them that have entries in columns of others.
    pub(super) outer_x: Dense<S>,
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
        let outer = Dense::zeros(plan.outer_rows.as_ref().map_or(0, Vec::len), k)?;
        Ok(Lines { halo, partial, outer, back: None })
    }
}

impl<S: Scalar> Back<S> {
    pub(super) fn new(plan: &Plan<S>, k: usize) -> Result<Self, Error> {
        let (outgoing, incoming) = plan.halo.messages(k * size_of::<S>());
        let exchange = plan.ranks.exchange(Tag::HALO, &incoming, &outgoing)?;
        let team = match plan.teams.size() {
            1 => None,
            _ => Some((plan.between_members(k, true)?, Dense::zeros(plan.team_rows(), k)?)),
        };
        let outer_x = Dense::zeros(plan.outer_rows.as_ref().map_or(0, Vec::len), k)?;
        Ok(Back { exchange, team, outer_x })
    }
}

impl<S: Scalar> Plan<S> {
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
