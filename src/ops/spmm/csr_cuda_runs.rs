//! Equal runs of nonzeros, walked by as many lanes as a row of X needs. Best for rows of very different lengths and many
//! columns of X.

use super::Subject;
use super::fast::{FLAGS, Fast, Listed, PIECES, kernel};
use super::flagged::{DeviceFlagged, Flagged};
use super::parts::Parts;
use super::pieces::Pieces;
use super::tiled::Layout;
use super::tiling::{Loads, Tiling, blocks_per_multiprocessor};
use crate::Scalar;
use crate::machine::{Argument, Device, DeviceLimits, KernelSource, Machine, Refusal};

pub(super) struct Runs;
pub(super) const RUNS: Listed<Runs> = Listed(Runs);

const THREADS: u32 = 256;
const LANES: u32 = 32;
/// Entries of a run, at least and at most.
const SHORTEST: usize = 16;
const LONGEST: usize = 256;

/// As many entries as give every second lane of the device a run, within bounds.
fn run_length(limits: &DeviceLimits, entries: usize, lanes: u32) -> usize {
    let threads = limits.multiprocessors as usize * limits.threads_per_multiprocessor as usize;
    let even = entries.saturating_mul(2 * lanes as usize) / threads.max(1);
    even.clamp(SHORTEST, LONGEST).next_power_of_two()
}

/// One load per lane, two where 32 lanes are not enough.
fn tiling<S: Scalar>(k: usize) -> Tiling {
    let one = Tiling::new::<S>(k, 1, LANES);
    if one.tiles(k) > 1 { Tiling::new::<S>(k, 2, LANES) } else { one }
}

impl<S: Scalar> Fast<S> for Runs {
    const NAME: &'static str = "csr-cuda-runs";
    const ABOUT: &'static str =
        "CSR, equal runs of nonzeros, lanes side by side for the columns of X, long rows in parts";
    const TEXT: &'static str = include_str!("csr_cuda_runs.cu");

    fn source(&self, tiling: Tiling, loads: Loads) -> KernelSource {
        let registers = tiling.registers::<S>();
        let in_flight = if registers > 4 { 2 } else { 4 };
        let needed = 38 + registers + in_flight * (registers + 1) + 2 * (size_of::<S>() / 4) as u32;
        let source = kernel("csr_runs", "csr_cuda_runs.cu", <Self as Fast<S>>::TEXT, &[PIECES, FLAGS]);
        tiling
            .define::<S>(source, loads)
            .define("THREADS", THREADS)
            .define("IN_FLIGHT", in_flight)
            .define("BLOCKS_PER_MULTIPROCESSOR", blocks_per_multiprocessor(THREADS, needed))
    }
    fn tilings(&self) -> Vec<Tiling> {
        let mut all = Tiling::all::<S>(1, LANES);
        all.extend(Tiling::all::<S>(2, LANES).into_iter().filter(|tiling| tiling.lanes == LANES));
        all
    }
    fn more_kernels(&self) -> Vec<KernelSource> {
        vec![Parts::<S>::source()]
    }

    fn layout(&self, _: &Machine, device: &Device, subject: &Subject<S>) -> Result<Layout<S>, Refusal> {
        let k = subject.k;
        let tiling = tiling::<S>(k);
        let entries = Flagged::new(&subject.a)?;
        let longest = run_length(device.limits(), entries.columns.len(), tiling.lanes);
        let pieces = Pieces::runs(&entries.starts, longest)?;
        let list = device.upload("runs of nonzeros", &pieces.list)?;
        let on_device = DeviceFlagged::upload(device, &entries)?;
        let parts = Parts::new(device, &pieces.cut, (pieces.parts, 1), k)?;
        let [columns, values] = on_device.arguments();
        Ok(Layout {
            source: Box::new(move |loads| Fast::<S>::source(&Runs, tiling, loads)),
            tiling,
            k,
            units: pieces.list.len() as u64,
            blocks: (pieces.list.len() as u64).div_ceil((THREADS / tiling.lanes).into()),
            threads: THREADS,
            arguments: vec![Argument::from(&list), columns, values, Parts::address(&parts)],
            _held: vec![Box::new(list), Box::new(on_device)],
            parts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_neither_too_short_nor_too_long() {
        let h200 = DeviceLimits::h200();
        assert_eq!(
            [0, 508_837, 3_216_152, 100_000_000].map(|entries| run_length(&h200, entries, 8)),
            [16, 32, 256, 256]
        );
        assert_eq!(run_length(&h200, 508_837, 32), 128);
    }

    #[test]
    fn every_tile_that_is_taken_is_listed() {
        let all = Fast::<f32>::tilings(&Runs);
        assert!((1..300).chain([100_000]).all(|k| all.contains(&tiling::<f32>(k))));
        let all = Fast::<f64>::tilings(&Runs);
        assert!((1..300).chain([100_000]).all(|k| all.contains(&tiling::<f64>(k))));
    }
}
