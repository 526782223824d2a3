//! What a record says of a product on ranks.

use crate::distributed::operands::Operands;
use crate::distributed::timer::largest;
use ordito::Scalar;
use ordito::op::Op;
use ordito::spmm::Spmm;
use ordito_bench::report::Record;
use ordito_bench::sample::Quantiles;
use ordito_bench::workbench::Selected;
use ordito_mpi::ranks::Ranks;
use ordito_mpi::{Error, Plan, Times};

/// How the matrix was cut, what travels, what was chosen on this rank.
pub(super) fn plan<S: Scalar>(
    plan: &Plan<S>,
    selected: &Selected,
    k: usize,
    local_nnz: usize,
    record: &mut Record,
) -> Result<(), Error> {
    let ranks: &dyn Ranks = &**plan.ranks();
    let volume = plan.volume();
    let row_bytes = (k * size_of::<S>()) as u64;
    record.ranks = Some(ranks.count() as u64);
    record.team = Some(plan.teams().size() as u64).filter(|&size| size > 1);
    record.halo_bytes = Some(volume.total() * row_bytes);
    record.near_bytes = Some(volume.near_rows.iter().sum::<u64>() * row_bytes);
    record.neighbours = volume.neighbours.iter().max().copied();
    let [most] = largest(ranks, [local_nnz as f64])?;
    record.imbalance =
        Some(most * ranks.count() as f64 / plan.nnz() as f64).filter(|ratio| ratio.is_finite());
    // Of the part that does most of the work, on the rank that speaks.
    let choices = plan.choices(k);
    if let Some(choice) = choices.first() {
        if matches!(selected, Selected::Auto) {
            (record.chosen, record.reason) = (Some(choice.variant.into()), Some(choice.reason.clone()));
        }
        if let Some(variant) = Spmm::<S>::variant(choice.variant) {
            record.set_variant(variant.describe(), plan.machine());
        }
    }
    record.threads = Some(plan.machine().threads() as u64);
    Ok(())
}

/// Where the time of the last product went.
pub(super) fn times<S: Scalar>(plan: &Plan<S>, record: &mut Record) -> Result<(), Error> {
    parts(&**plan.ranks(), &[plan.times()], record)
}

/// The same of many: medians on every rank, and of those the largest.
pub(super) fn parts(ranks: &dyn Ranks, all: &[Times], record: &mut Record) -> Result<(), Error> {
    let median = |part: fn(&Times) -> std::time::Duration| {
        let ns: Vec<f64> = all.iter().map(|times| part(times).as_nanos() as f64).collect();
        Quantiles::of(&ns).map_or(0.0, |quantiles| quantiles.median)
    };
    let mine = [
        median(|times| times.pack),
        median(|times| times.own),
        median(|times| times.wait),
        median(|times| times.outer),
        median(|times| times.reduce),
        median(|times| times.release),
    ];
    let [pack, own, wait, outer, reduce, release] = largest(ranks, mine)?;
    record.release_ns = Some(release).filter(|&ns| ns > 0.0);
    (record.pack_ns, record.own_ns, record.wait_ns) = (Some(pack), Some(own), Some(wait));
    (record.outer_ns, record.reduce_ns) = (Some(outer), record.team.map(|_| reduce));
    Ok(())
}

/// Exchanges without a product: so many, after as many that nobody times.
const EXCHANGES: usize = 11;

/// What an exchange takes alone.
pub(super) fn exchange<S: Scalar>(
    plan: &Plan<S>,
    operands: &Operands<S>,
    record: &mut Record,
) -> Result<(), Error> {
    // Where X is read in place, and nothing comes from other computers, nothing is exchanged.
    let near_rows: u64 = match operands.are_read_in_place(plan) {
        true => 0,
        false => plan.volume().near_rows.iter().sum(),
    };
    if plan.volume().total() + near_rows == 0 {
        return Ok(());
    }
    let mut times = Vec::new();
    for _ in 0..2 * EXCHANGES {
        times.push(operands.time_exchange(plan)?.as_nanos() as f64);
    }
    let median = Quantiles::of(&times[EXCHANGES..]).map_or(0.0, |quantiles| quantiles.median);
    let [exchange] = largest(&**plan.ranks(), [median])?;
    record.exchange_ns = Some(exchange);
    Ok(())
}
