//! `mpiexec -n N ordito verify spmm …`, `mpiexec -n N ordito bench spmm …`

use crate::args::with_scalar;
use crate::distributed::check::Checked;
use crate::distributed::inputs::Input;
use crate::distributed::operands::Operands;
use crate::distributed::timer::SlowestRank;
use crate::distributed::{notes, ranks};
use crate::interrupt;
use crate::operations::{Listed, Operation, for_each_dtype, spmm};
use crate::request::Request;
use crate::session::Session;
use ordito::op::Op;
use ordito::spmm::Spmm;
use ordito::{Machine, Scalar};
use ordito_bench::report::{Outcome, Record};
use ordito_bench::sample::{Quantiles, Sampler};
use ordito_bench::workbench::{SelectError, Selected, Side, Wanted, select};
use ordito_mpi::ranks::{Collective, Ranks};
use ordito_mpi::{DistributedDense, Error, Plan};
use std::sync::Arc;
use std::time::Instant;

/// `spmm` on ranks.
pub(crate) struct DistributedSpmm;

impl Operation for DistributedSpmm {
    fn name(&self) -> &'static str {
        spmm::SpmmOperation.name()
    }
    fn about(&self) -> &'static str {
        spmm::SpmmOperation.about()
    }
    fn catalogue(&self, machine: Option<&ordito::Machine>) -> Vec<Listed> {
        spmm::SpmmOperation.catalogue(machine)
    }
    fn selects(&self, wanted: &Wanted, side: Side) -> Result<bool, SelectError> {
        spmm::SpmmOperation.selects(wanted, side)
    }
    fn input_hint(&self) -> &'static str {
        spmm::SpmmOperation.input_hint()
    }
    fn cases_per_input(&self, request: &Request) -> usize {
        request.dtypes.len() * request.ks.len()
    }
    fn run(&self, session: &mut Session<'_>, input: &str) -> anyhow::Result<()> {
        let Some(ranks) = ranks() else { return Ok(()) };
        interrupt::stop_together();
        for_each_dtype(
            session,
            |session, dtype| with_scalar!(dtype, S => on_ranks::<S>(session, input, &ranks)),
        )
    }
}

/// What a variant is measured and judged with.
struct Judged<'a, S: Scalar> {
    ranks: &'a Arc<dyn Ranks>,
    input: &'a Input<S>,
    x: &'a DistributedDense<S>,
    checked: &'a Checked<S>,
    request: &'a Request,
}

fn on_ranks<S: Scalar>(session: &mut Session<'_>, input: &str, ranks: &Arc<dyn Ranks>) -> anyhow::Result<()> {
    session.say(&format!("reading {input}"));
    let all: &dyn Ranks = &**ranks;
    let request = session.request();
    let input = Input::<S>::read(all, input, &request.read, &request.ranks)?;
    // Without a word about variants: what a program would use.
    let wanted = match request.wanted.patterns.is_empty() {
        true => Wanted::variants([ordito_bench::workbench::AUTO]),
        false => request.wanted.clone(),
    };
    for &k in &request.ks {
        let x = input.random_x(all, k, request.read.seed)?;
        let checked = Checked::new(all, &input, &x, request.oracle_limits())?;
        let judged = Judged { ranks, input: &input, x: &x, checked: &checked, request };
        let mut records = Vec::new();
        for target in &request.targets.list {
            let selected = select::<Spmm<S>>(&wanted, target.side)?;
            for (machine, selected) in target
                .machines
                .iter()
                .flat_map(|machine| selected.iter().map(move |selected| (machine, selected)))
            {
                session.say(&format!("{} K={k} {} · {}", input.name, S::NAME, selected.name()));
                records.push(judged.run(selected, machine)?);
            }
        }
        session.take(records)?;
        if wants_to_stop(all) {
            break;
        }
    }
    Ok(())
}

/// Does any rank wish to stop? Then all do. (Those that cannot be asked are lost, which the next product says.)
fn wants_to_stop(ranks: &dyn Ranks) -> bool {
    let mut wishes = [f64::from(interrupt::is_wished())];
    let stop = ranks.sum(&mut wishes).is_err() || wishes[0] > 0.0;
    if stop {
        interrupt::agree_to_stop();
    }
    stop
}

impl<S: Scalar> Judged<'_, S> {
    fn run(&self, selected: &Selected, machine: &Arc<Machine>) -> anyhow::Result<Record> {
        let all: &dyn Ranks = &**self.ranks;
        let k = self.x.local().cols();
        let a = self.input.distribute(self.ranks, machine)?;
        let (nnz, local_nnz) = (a.nnz(), a.local_nnz());
        let mut record = Record {
            k: Some(k as u64),
            seed: Some(self.request.read.seed),
            ..self.input.record(nnz).of(Spmm::<S>::NAME, &selected.name(), Outcome::NotVerified)
        };
        let start = Instant::now();
        let plan = match selected {
            Selected::Auto => Plan::new(a, machine),
            other => Plan::with_variant(&other.name(), a, machine),
        };
        let plan = match plan.and_then(|plan| plan.prepare(k).map(|()| plan)) {
            Ok(plan) => plan,
            // A variant that refuses on any rank is refused.
            Err(Error::Ranks(agreed @ ordito_mpi::ranks::RanksError::Agreed(_))) => {
                (record.outcome, record.refusal) = (Outcome::Refused, Some(agreed.to_string()));
                return Ok(record);
            }
            Err(error) => return Err(error.into()),
        };
        record.prepare_ns = Some(start.elapsed().as_nanos() as f64);
        notes::plan(&plan, selected, k, local_nnz, &mut record)?;
        let mut operands = Operands::new(all, &plan, self.x)?;
        operands.multiply(&plan)?;
        self.checked.judge(all, &operands.result()?, &mut record)?;
        if let Some(measure) = self.request.measure.as_ref().filter(|_| !record.outcome.is_bad()) {
            let mut timer = SlowestRank::new(all)?;
            let interrupted = || wants_to_stop(all);
            let mut parts = Vec::new();
            let sampler = Sampler::new(&measure.rule).interrupted_by(&interrupted);
            let samples = sampler.sample(
                &mut timer,
                &mut operands,
                |_| Ok(()),
                |operands| {
                    operands.multiply(&plan)?;
                    parts.push(plan.times());
                    Ok::<(), Error>(())
                },
            )?;
            let flops = 2 * nnz * k as u64;
            if let Some(summary) = samples.summary(flops, 0) {
                record.set_times(&summary, samples.stop_reason, false);
                record.gbytes_per_s = None;
            }
            let taken = samples.times_ns.len();
            let of_samples = &timer.fastest_ns[timer.fastest_ns.len() - taken.min(timer.fastest_ns.len())..];
            record.fastest_rank_ns = Quantiles::of(of_samples).map(|quantiles| quantiles.median);
            notes::parts(all, &parts[parts.len() - taken.min(parts.len())..], &mut record)?;
            notes::exchange(&plan, &operands, &mut record)?;
        }
        Ok(record)
    }
}
