//! The distributed product, made ready once.
//!
//! `Y = αAX + βY` in this order: rows of X that others need are shown to those of the same computer, and packed and sent to other computers; what multiplies this rank's own X is computed piece by piece, and between
//! pieces messages are moved on; then the rest of X is there, and what multiplies it is added. Where that would write most rows of Y a second time, as in graphs, a rank shows all of its X, and one pass multiplies what all
//! ranks of the computer show. All parts are ordinary [plans](ordito::spmm::Plan): every kernel, `auto`, any
//! device. In [teams](crate::Teams) parts of Y are added up at last, in the order of ranks. So the bits depend on the number of ranks, and on nothing that happens
//! on the way.

mod device_lines;
mod lines;
mod on_device;
mod outer;
mod pieces;
mod product;
mod rows;
mod rows_of_x;
mod shown;
mod through_host;
mod times;
mod transposed;

pub use times::Times;

use crate::dense::DistributedDense;
use crate::error::Error;
use crate::matrix::DistributedCsr;
use crate::near::Near;
use crate::partition::Partition;
use crate::plan::lines::LastUsed;
use crate::plan::outer::Outer;
use crate::plan::pieces::Piece;
use crate::plan::product::X;
use crate::plan::through_host::ThroughHost;
use crate::ranks::{Collective, Ranks, RanksError};
use crate::sums::Sums;
use crate::{Halo, SharedDense, Teams, Volume};
use ordito::precision::compiled_here;
use ordito::{Accelerator, Choice, DenseView, DenseViewMut, Machine, RunError, Scalar};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// `Y = αAX + βY` on ranks, as often as wanted and with any number of columns.
///
/// ```
/// use ordito::Machine;
/// use ordito_mpi::ranks::{Patience, Ranks, on_threads};
/// use ordito_mpi::{DistributedCsr, DistributedDense, LocalRows, Partition, Plan};
/// use std::sync::Arc;
/// // The 4×4 matrix with 2 on the diagonal and 1 beside it, on two ranks.
/// let sums = on_threads(2, Patience::default(), |ranks| -> Result<Vec<f64>, ordito_mpi::Error> {
///     let ranks: Arc<dyn Ranks> = Arc::new(ranks);
///     let rows = Partition::even(4, 2);
///     let (offsets, columns) = match ranks.rank() {
///         0 => (vec![0, 2, 5], vec![0, 1, 0, 1, 2]),
///         _ => (vec![0, 3, 5], vec![1, 2, 3, 2, 3]),
///     };
///     let first = rows.range(ranks.rank()).start;
///     let row_of = |at: usize| first + offsets.iter().skip(1).filter(|&&end| end <= at).count() as u64;
///     let values = columns.iter().enumerate().map(|(at, &c)| if row_of(at) == c { 2.0 } else { 1.0 }).collect();
///     let local = LocalRows::new(4, offsets.clone(), columns, values)?;
///     let a = DistributedCsr::from_local_rows(&ranks, rows.clone(), rows.clone(), local)?;
///     let plan = Plan::new(a, &Machine::with_threads(1)?)?;
///     let mut x = DistributedDense::zeros(&*ranks, &rows, 1)?;
///     x.local_mut().data_mut().fill(1.0);
///     let mut y = DistributedDense::zeros(&*ranks, &rows, 1)?;
///     plan.multiply(1.0, &x, 0.0, &mut y)?;
///     Ok(y.local().data().to_vec())
/// });
/// assert_eq!(sums.into_iter().collect::<Result<Vec<_>, _>>()?, [[3.0, 4.0], [4.0, 3.0]]);
/// # Ok::<(), ordito_mpi::Error>(())
/// ```
pub struct Plan<S: Scalar> {
    ranks: Arc<dyn Ranks>,
    machine: Arc<Machine>,
    rows: Partition,
    cols: Partition,
    teams: Teams,
    /// What multiplies X of this rank; where it shows all its rows, X of all here.
    own: Vec<Piece<S>>,
    /// What multiplies X that others of this computer show.
    near_part: Outer<S>,
    near: Near,
    /// What multiplies X of other computers.
    far_part: Outer<S>,
    halo: Halo,
    volume: Volume,
    nnz: u64,
    /// Messages and memory, for the numbers of columns that were used last.
    lines: Mutex<LastUsed<S>>,
    /// Room for operands on devices whose product is computed from the host's memory; none before the first.
    through_host: Mutex<Option<ThroughHost<S>>>,
    times: Mutex<Times>,
    /// A shared X is read where it lies: so on all ranks.
    reads_in_place: bool,
    /// For solvers.
    pub(crate) sums: Arc<Sums>,
}

type Make<S> = fn(DistributedCsr<S>, &Arc<Machine>, Option<&str>) -> Result<Plan<S>, Error>;
type Product<S> = for<'s> fn(&'s Plan<S>, S, X<'_, S>, S, DenseViewMut<'_, S>) -> Result<Times, Error>;
type TransposedProduct<S> =
    for<'s> fn(&'s Plan<S>, S, DenseView<'_, S>, S, DenseViewMut<'_, S>) -> Result<Times, Error>;

/// What a panic leaves is messages under way, which the next product refuses to start anew.
fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<S: Scalar> Plan<S> {
    /// Takes the matrix. Every rank calls it, each with a machine of its own.
    pub fn new(a: DistributedCsr<S>, machine: &Arc<Machine>) -> Result<Self, Error> {
        compiled_here!(S, Plan::of, Make)(a, machine, None)
    }

    /// The same by the variant of that name, instead of what `auto` chooses.
    pub fn with_variant(name: &str, a: DistributedCsr<S>, machine: &Arc<Machine>) -> Result<Self, Error> {
        compiled_here!(S, Plan::of, Make)(a, machine, Some(name))
    }

    fn of(a: DistributedCsr<S>, machine: &Arc<Machine>, variant: Option<&str>) -> Result<Self, Error> {
        let ranks = a.ranks.clone();
        let is_on_device = machine.accelerator() != Accelerator::None;
        let mut on_devices = [f64::from(is_on_device)];
        if a.x_is_shared {
            ranks.sum(&mut on_devices)?;
        }
        let reads_in_place = a.x_is_shared && on_devices[0] == 0.0;
        let made = (|| {
            let a = if is_on_device { a.with_near_rows_together()? } else { a };
            let exchanges = a.volume().total() > 0;
            Ok::<_, Error>(Plan {
                machine: machine.clone(),
                rows: a.rows,
                cols: a.cols,
                teams: a.teams,
                own: pieces::cut(a.own, exchanges, machine, variant)?,
                near_part: Outer::new(a.near_part, machine, variant)?,
                near: a.near,
                far_part: Outer::new(a.far_part, machine, variant)?,
                halo: a.halo,
                volume: a.volume,
                nnz: a.nnz,
                lines: Mutex::default(),
                through_host: Mutex::default(),
                times: Mutex::default(),
                reads_in_place,
                sums: Sums::new(&ranks),
                ranks: a.ranks,
            })
        })();
        Ok((*ranks).agree(made)?)
    }

    /// Y = αAX + βY. Every rank calls it, with the same α, β and number of columns.
    pub fn multiply(
        &self,
        alpha: S,
        x: &DistributedDense<S>,
        beta: S,
        y: &mut DistributedDense<S>,
    ) -> Result<(), Error> {
        let cut = |what, found: &Partition, expected: &Partition| match found == expected {
            true => Ok(()),
            false => Err(Error::Asked(format!("{what} is not cut as the matrix is"))),
        };
        self.telling(cut("X", x.rows(), &self.cols).and_then(|()| cut("Y", y.rows(), &self.rows)))?;
        self.apply(alpha, x.view(), beta, y.view_mut())
    }

    /// The same on the rows of X and Y that this rank has.
    pub fn apply(&self, alpha: S, x: DenseView<'_, S>, beta: S, y: DenseViewMut<'_, S>) -> Result<(), Error> {
        self.apply_x(alpha, X { rows: x, shared: None }, beta, y)
    }

    /// The same with an X that ranks of a computer share: where the matrix was [cut for it](DistributedCsr::with_x_shared), none of its rows are copied. Others have read it when this ends.
    /// Every rank calls it, with the X that they made together.
    pub fn apply_shared(
        &self,
        alpha: S,
        x: &SharedDense<S>,
        beta: S,
        y: DenseViewMut<'_, S>,
    ) -> Result<(), Error> {
        x.while_read(|| self.apply_x(alpha, self.shared_x(x)?, beta, y))
    }

    fn apply_x(&self, alpha: S, x: X<'_, S>, beta: S, y: DenseViewMut<'_, S>) -> Result<(), Error> {
        let product = compiled_here!(S, Plan::product, Product);
        let k = x.rows.cols();
        let times = self.telling(product(self, alpha, x, beta, y)).inspect_err(|_| self.forget(k))?;
        *unpoisoned(&self.times) = times;
        Ok(())
    }

    /// Read in place where all ranks can.
    fn shared_x<'a>(&self, x: &'a SharedDense<S>) -> Result<X<'a, S>, Error> {
        let is_in_place = self.reads_in_place(x);
        // On other ranks than the plan's rows would lie elsewhere: at least one rank sees it.
        let lies_otherwise =
            is_in_place && self.near.is_whole && x.place() != (self.near.first, self.near.total);
        let rows = match x.rows() == &self.cols && !lies_otherwise {
            true => x.view(),
            false => Err(Error::Asked("X is not cut as the matrix is, or made by other ranks".into())),
        };
        Ok(X { rows: self.telling(rows)?, shared: is_in_place.then_some(x) })
    }

    /// Y = αAᵀX + βY: here X is cut as rows of A are, Y as its columns. What belongs to rows of others is sent to them, and added in the order of ranks.
    pub fn apply_transposed(
        &self,
        alpha: S,
        x: DenseView<'_, S>,
        beta: S,
        y: DenseViewMut<'_, S>,
    ) -> Result<(), Error> {
        let product = compiled_here!(S, Plan::transposed_product, TransposedProduct);
        let times = self.telling(product(self, alpha, x, beta, y)).inspect_err(|_| self.forget(x.cols()))?;
        *unpoisoned(&self.times) = times;
        Ok(())
    }

    /// Messages of a product that failed may be under way: the next one with as many columns has others.
    fn forget(&self, k: usize) {
        unpoisoned(&self.lines).forget(k);
    }

    /// Whoever cannot go on says so, and nobody waits for it.
    fn telling<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        if let Err(error) = &result
            && !matches!(error, Error::Ranks(RanksError::Failed { .. }))
        {
            self.ranks.fail(&error.to_string());
        }
        result
    }

    fn check(&self, shapes: [(&'static str, (usize, usize), usize); 2]) -> Result<(), Error> {
        let k = shapes[0].1.1;
        for (what, (rows, cols), expected) in shapes {
            if (rows, cols) != (expected, k) {
                let (found, expected) = (format!("{rows}×{cols}"), format!("{expected}×{k} on this rank"));
                return Err(RunError::Shape { what, found, expected }.into());
            }
        }
        Ok(())
    }

    /// What an exchange of X takes alone, with nothing computed meanwhile: what a product hides is held against it. Every rank calls it.
    pub fn time_exchange(&self, x: DenseView<'_, S>) -> Result<Duration, Error> {
        self.time_exchange_of(X { rows: x, shared: None })
    }

    /// The same of an X that ranks of a computer share.
    pub fn time_shared_exchange(&self, x: &SharedDense<S>) -> Result<Duration, Error> {
        x.while_read(|| self.time_exchange_of(self.shared_x(x)?))
    }

    fn time_exchange_of(&self, x: X<'_, S>) -> Result<Duration, Error> {
        type Exchange<S> = fn(&Plan<S>, X<'_, S>) -> Result<Duration, Error>;
        let alone = compiled_here!(S, Plan::exchange_alone, Exchange);
        self.telling(alone(self, x)).inspect_err(|_| self.forget(x.rows.cols()))
    }

    /// Rows of the whole matrix and whose they are; those of Y too.
    pub fn rows(&self) -> &Partition {
        &self.rows
    }
    /// Columns of the whole matrix and whose they are; rows of X.
    pub fn cols(&self) -> &Partition {
        &self.cols
    }
    /// Entries of the whole matrix.
    pub fn nnz(&self) -> u64 {
        self.nnz
    }
    /// The ranks.
    pub fn ranks(&self) -> &Arc<dyn Ranks> {
        &self.ranks
    }
    /// Is this X read where it lies? Then none of its rows are copied on a computer. The same on all ranks.
    pub fn reads_in_place(&self, x: &SharedDense<S>) -> bool {
        self.reads_in_place && x.is_shared()
    }
    /// The threads of this rank, and its device.
    pub fn machine(&self) -> &Arc<Machine> {
        &self.machine
    }
    /// Ranks that share rows.
    pub fn teams(&self) -> Teams {
        self.teams
    }
    /// What of X comes to this rank from other computers.
    pub fn halo(&self) -> &Halo {
        &self.halo
    }
    /// What a product moves, over all ranks.
    pub fn volume(&self) -> &Volume {
        &self.volume
    }
    /// Where the time of the last product of this rank went.
    pub fn times(&self) -> Times {
        *unpoisoned(&self.times)
    }
    /// What was chosen for so many columns: for this rank's X, piece by piece, and for that of others.
    pub fn choices(&self, k: usize) -> Vec<Choice> {
        let of = |plan: &ordito::spmm::Plan<S>| {
            plan.choices()
                .into_iter()
                .filter(|(columns, _)| *columns == k)
                .map(|(_, choice)| choice)
                .collect::<Vec<_>>()
        };
        self.plans().flat_map(of).collect()
    }
    fn plans(&self) -> impl Iterator<Item = &ordito::spmm::Plan<S>> {
        let own = self.own.iter().map(|piece| &piece.plan);
        own.chain(self.near_part.plans()).chain(self.far_part.plans())
    }

    /// Gets ready for so many columns, so that the first product takes no longer than the next. Every rank calls it.
    pub fn prepare(&self, k: usize) -> Result<(), Error> {
        let prepared = self.plans().map(|plan| plan.prepare(k)).collect::<Result<Vec<_>, _>>();
        (*self.ranks).agree(prepared)?;
        Ok(())
    }
}
