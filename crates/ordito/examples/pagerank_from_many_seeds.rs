//! PageRank from many seeds at once, from memory of the host: one plan, prepared once and applied many times. X and Y lie in
//! pinned memory, so that a GPU, where there is one, copies and multiplies at the same time.
//!
//! `cargo run --release --example pagerank_from_many_seeds [PAGES]`

#![allow(clippy::print_stdout)]

use ordito::spmm::Plan;
use ordito::{Accelerator, Csr, Duplicates, Machine};
use std::time::Instant;

const SEEDS: usize = 16;
const DAMPING: f64 = 0.85;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pages: usize = std::env::args().nth(1).map_or(Ok(50_000), |pages| pages.parse())?;
    let machine = Machine::all_cores()?;
    let with_gpu = machine.with_accelerator(Accelerator::Cuda(0));
    let machine = if with_gpu.device().is_ok() { with_gpu } else { machine };

    // Links of a made-up web, from rows to columns, a few pages with very many; a walk goes the other way, from columns to
    // rows, and takes each of a page's n links with the same probability 1/n.
    let links = ordito::io::load::<f64>(&format!("powerlaw:{pages}x8"), &Default::default())?.coo;
    let walk = Csr::from_coo(&links.transpose(), Duplicates::Sum);
    let mut links_of_page = vec![0.0; pages];
    walk.view().columns().iter().for_each(|&page| links_of_page[page as usize] += 1.0);
    let shares = walk.view().columns().iter().map(|&page| 1.0 / links_of_page[page as usize]);
    let walk = walk.with_values(shares.collect())?;

    let start = Instant::now();
    let plan = Plan::new(walk, &machine)?;
    let overlaps = plan.overlap_copies(SEEDS)?;
    let choice = plan.prepare(SEEDS)?.choice;
    println!("{}: {}", choice.variant, choice.reason);
    println!("prepared in {:.1?}, copies overlap: {overlaps}", start.elapsed());

    let seed_of = |seed: usize| seed * (pages / SEEDS);
    let mut ranks = machine.pinned_dense::<f64>(pages, SEEDS)?;
    let mut next = machine.pinned_dense::<f64>(pages, SEEDS)?;
    for seed in 0..SEEDS {
        ranks.view_mut().row_mut(seed_of(seed))[seed] = 1.0;
    }
    let start = Instant::now();
    let (mut steps, mut change) = (0, f64::INFINITY);
    while change > 1e-12 && steps < 500 {
        plan.apply(DAMPING, ranks.view(), 0.0, next.view_mut())?; // follow a link
        for seed in 0..SEEDS {
            next.view_mut().row_mut(seed_of(seed))[seed] += 1.0 - DAMPING; // or start again
        }
        let differences = ranks.data().iter().zip(next.data()).map(|(old, new)| (old - new).abs());
        change = differences.fold(0.0, f64::max);
        std::mem::swap(&mut ranks, &mut next);
        steps += 1;
    }
    println!(
        "{steps} products in {:.1?}, the last one changed no rank by more than {change:.1e}",
        start.elapsed()
    );

    for seed in 0..SEEDS {
        let column = || ranks.data().iter().skip(seed).step_by(SEEDS);
        let total: f64 = column().sum();
        if !((total - 1.0).abs() <= 1e-9 && column().all(|&rank| rank >= 0.0)) {
            return Err(format!("the ranks from seed {seed} add up to {total}, not to 1").into());
        }
    }
    let rank = |page: usize, seed: usize| ranks.view().row(page)[seed];
    let best = (0..pages).max_by(|&a, &b| rank(a, 3).total_cmp(&rank(b, 3)));
    println!("who starts on page {} is found most often on page {}", seed_of(3), best.unwrap_or(0));
    Ok(())
}
