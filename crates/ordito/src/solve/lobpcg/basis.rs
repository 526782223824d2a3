//! The blocks X, P and W with their images: how they begin, and how their images are computed anew.

use super::Lobpcg;
use super::ritz::Ritz;
use crate::Scalar;
use crate::solve::blocks::{Block, Columns};
use crate::solve::eigenpairs::Which;
use crate::solve::error::SolveError;
use crate::solve::operator::Operator;
use crate::solve::preconditioned::Prepared;
use crate::solve::shared::Rows;
use crate::solve::small::{Small, check_scale, norms};
use crate::solve::vectors::Source;
use crate::solve::workspace::Workspace;

/// A block with its images under A, and under B where there is one.
#[derive(Clone, Copy)]
pub(super) struct WithImages {
    pub(super) own: Block,
    pub(super) a: Block,
    pub(super) b: Block,
}

/// Inner products of the residuals.
pub(super) struct Measured {
    /// [X P R]ᵀR.
    pub(super) own: Small,
    /// [X P R]ᵀA·R, where A was applied already.
    pub(super) images: Option<Small>,
}

pub(super) struct Basis<'a, S: Scalar> {
    pub(super) a: &'a dyn Operator<S>,
    pub(super) b: Option<&'a dyn Operator<S>>,
    pub(super) which: Which,
    pub(super) n: Rows,
    /// Columns that are iterated with.
    pub(super) k: usize,
    pub(super) work: Workspace<S>,
    pub(super) x: WithImages,
    pub(super) p: WithImages,
    pub(super) w: WithImages,
    /// Residuals, where a preconditioner makes W of them.
    pub(super) r: Option<Block>,
    pub(super) preconditioner: Option<Prepared<'a, S>>,
    /// Y, and B·Y.
    pub(super) constraints: Option<(Block, Block)>,
    pub(super) values: Vec<f64>,
    /// [X P]ᵀA[X P] as the last small problem says.
    pub(super) projected: Small,
    pub(super) p_count: usize,
    /// Inner products of the residuals, where these themselves are W: their norms came from it.
    pub(super) measured: Option<Measured>,
    /// Was there a W for every column of X in the last iteration?
    pub(super) all_active: bool,
    /// The largest |Ritz value| that was seen: at least nearly ‖A‖, where B is the unit matrix.
    pub(super) largest: f64,
}

impl<'a, S: Scalar> Basis<'a, S> {
    pub(super) fn new(a: &'a dyn Operator<S>, options: &Lobpcg<'a, S>, n: Rows) -> Result<Self, SolveError> {
        let mut work = Workspace::of(a, options.control.time_parts)?;
        let constraints = options.constraints.map_or(0, |y| y.cols());
        let k = match options.start {
            Some(start) => start.cols(),
            // Some more than are wanted: the last ones converge as fast as the gap to those that are left out is wide.
            None => (options.count + (options.count / 4).clamp(2, 8)).min(n.total - constraints),
        };
        let mut with_images = |own, of_a, of_b| {
            let block = work.add(own, n, k)?;
            let a = work.add(of_a, n, k)?;
            let b = if options.b.is_some() { work.add(of_b, n, k)? } else { block };
            Ok::<_, SolveError>(WithImages { own: block, a, b })
        };
        let x = with_images("X", "A·X", "B·X")?;
        let p = with_images("P", "A·P", "B·P")?;
        let w = with_images("W", "A·W", "B·W")?;
        let preconditioner = work.prepared(&options.preconditioner, n)?;
        let r = match &preconditioner {
            Some(Prepared::Operator(_)) => Some(work.add("residuals", n, k)?),
            _ => None,
        };
        Ok(Basis {
            a,
            b: options.b,
            which: options.which,
            n,
            k,
            work,
            x,
            p,
            w,
            r,
            preconditioner,
            constraints: None,
            values: Vec::new(),
            projected: Small::zeros(0, 0),
            p_count: 0,
            measured: None,
            all_active: true,
            largest: 0.0,
        })
    }

    /// B·X of these columns, where there is a B.
    fn image_under_b(&mut self, of: WithImages, count: usize) -> Result<(), SolveError> {
        match self.b {
            Some(b) => self.work.apply(b, of.own.first(count), of.b.first(count)),
            None => Ok(()),
        }
    }

    /// ‖Bx‖, by which a relative tolerance goes: x is of length 1 in the inner product of B, and not in itself.
    pub(super) fn sizes_under_b(&mut self) -> Result<Vec<f64>, SolveError> {
        match self.b {
            Some(_) => Ok(norms(&self.work.gram(&[self.x.b.all()], &[self.x.b.all()])?)),
            None => Ok(vec![1.0; self.k]),
        }
    }

    /// The same combination of so many columns of blocks, and of their images.
    pub(super) fn combine(
        &mut self,
        from: &[(WithImages, usize)],
        c: &Small,
        into: &[(WithImages, usize)],
    ) -> Result<(), SolveError> {
        let each: [fn(&WithImages) -> Block; 3] = [|w| w.own, |w| w.a, |w| w.b];
        for of in &each[..if self.b.is_some() { 3 } else { 2 }] {
            let [from, into] = [from, into].map(|parts| {
                parts.iter().map(|(block, count)| of(block).first(*count)).collect::<Vec<Columns>>()
            });
            self.work.combine(&from, c, &into)?;
        }
        Ok(())
    }

    pub(super) fn orthonormalize(&mut self, of: WithImages, count: usize) -> Result<usize, SolveError> {
        self.image_under_b(of, count)?;
        let image = self.b.map(|_| of.b.first(count));
        Ok(self.work.orthonormalize(of.own.first(count), image)?.rank)
    }

    pub(super) fn constrain(&mut self, y: Source<'_, S>) -> Result<(), SolveError> {
        let own = self.work.add("constraints", self.n, y.cols())?;
        let image = match self.b {
            Some(_) => self.work.add("B·constraints", self.n, y.cols())?,
            None => own,
        };
        self.work.write_source(own.all(), y)?;
        let rank = self.orthonormalize(WithImages { own, a: own, b: image }, y.cols())?;
        if rank < y.cols() {
            return Err(SolveError::Asked(format!(
                "the constraints are dependent: rank {rank} of {}",
                y.cols()
            )));
        }
        self.constraints = Some((own, image));
        Ok(())
    }

    /// X − Y·(BY)ᵀX.
    pub(super) fn project_out_constraints(&mut self, x: Columns) -> Result<(), SolveError> {
        let Some((y, by)) = self.constraints else { return Ok(()) };
        self.work.remove(&[y.all()], &[by.all()], x)?;
        Ok(())
    }

    /// X orthonormal, with images and Ritz values.
    pub(super) fn start(&mut self, start: Option<Source<'_, S>>, seed: u64) -> Result<(), SolveError> {
        let x = self.x.own.all();
        match start {
            Some(start) => self.work.write_source(x, start)?,
            None => self.work.randomize(x, self.n, seed)?,
        }
        let mut rank = 0;
        for attempt in 0..4 {
            self.project_out_constraints(x)?;
            rank = self.orthonormalize(self.x, self.k)?;
            if rank == self.k {
                // What was dependent on the constraints is rounding now, scaled up.
                self.project_out_constraints(x)?;
                rank = self.orthonormalize(self.x, self.k)?;
            }
            if rank == self.k {
                break;
            }
            // Dependent columns are replaced by random ones.
            let missing = self.k - rank;
            let fresh = self.work.add("fresh columns", self.n, missing)?;
            self.work.randomize(fresh.all(), self.n, seed.wrapping_add(1 + attempt))?;
            self.work.copy(fresh.all(), self.x.own.range(rank, missing))?;
        }
        if rank < self.k {
            return Err(SolveError::Unsuited(
                "no block of independent vectors was found: is B positive definite?".into(),
            ));
        }
        self.refresh()
    }

    /// Images of X and P anew, and the best that both can do. What they span, and with it all that was learned of directions, stays.
    pub(super) fn refresh(&mut self) -> Result<(), SolveError> {
        let (k, p_count) = (self.k, self.p_count);
        for (of, count) in [(self.x, k), (self.p, p_count)] {
            if count > 0 {
                self.work.apply(self.a, of.own.first(count), of.a.first(count))?;
                self.image_under_b(of, count)?;
            }
        }
        let both = |of: fn(&WithImages) -> Block| [of(&self.x).all(), of(&self.p).first(p_count)];
        let (own, of_a, of_b) = (both(|w| w.own), both(|w| w.a), both(|w| w.b));
        let h = self.work.gram(&own, &of_a)?;
        let q = self.work.gram(&own, &of_b)?;
        let Some(ritz) = self.ritz(&h, &q, 0)? else {
            if p_count == 0 {
                return Err(SolveError::Unsuited(
                    "the Gram matrix of the block is not positive definite: is B?".into(),
                ));
            }
            self.p_count = 0;
            return self.refresh();
        };
        let both = [(self.x, k), (self.p, p_count)];
        self.combine(&both, &ritz.all(), &both)?;
        self.values = ritz.values[..k].to_vec();
        self.projected = Small::diagonal(&ritz.values);
        Ok(())
    }

    /// Ritz pairs of H in the inner product of Q, whose first `old` columns are orthonormal; none where Q is not positive definite enough.
    pub(super) fn ritz(&mut self, h: &Small, q: &Small, old: usize) -> Result<Option<Ritz>, SolveError> {
        if h.iter().chain(q.iter()).any(|x| !x.is_finite()) {
            return Err(SolveError::NotFinite("A·X"));
        }
        let found = self.work.small(|| Ritz::of(h, q, old, self.which))?;
        if let Some(ritz) = &found {
            check_scale::<S>(h.amax())?;
            self.largest = ritz.values.iter().fold(self.largest, |largest, value| largest.max(value.abs()));
        }
        Ok(found)
    }
}
