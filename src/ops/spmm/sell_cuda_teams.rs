//! SELL for few columns of X and rows of any length: those of a window in the order of their lengths, a lane for a short row, a
//! team of lanes for a long one. Best where lengths differ and K is small.

use super::Subject;
use super::fast::{Fast, Listed, PIECES, SLICE_ROW, kernel};
use super::parts::Parts;
use super::sell_cuda_slices::in_flight;
use super::sliced::Sliced;
use super::teams::{Teams, WINDOW};
use super::tiled::Layout;
use super::tiling::{Loads, Tiling, blocks_per_multiprocessor};
use crate::Scalar;
use crate::machine::{Argument, Device, KernelSource, Machine, Refusal};

pub(super) struct InTeams;
pub(super) const TEAMS: Listed<InTeams> = Listed(InTeams);

const THREADS: u32 = 256;
const WARP: usize = 32;
/// Loads of X per nonzero.
const LOADS: u32 = 2;
/// Of a length as the kernel reads it: the place of the size of its team.
const TEAM_BIT: u32 = 27;

/// Nonzeros of a lane: few where there are few in all, since it goes through them one after the other.
fn per_lane(nonzeros: usize) -> usize {
    (nonzeros >> 17).clamp(16, 32)
}

impl<S: Scalar> Fast<S> for InTeams {
    const NAME: &'static str = "sell-cuda-teams";
    const ABOUT: &'static str =
        "SELL, rows of a window in the order of their lengths, long ones by teams of lanes";
    const TEXT: &'static str = include_str!("sell_cuda_teams.cu");

    fn source(&self, tiling: Tiling, loads: Loads) -> KernelSource {
        let in_flight = in_flight::<S>(tiling);
        let registers = tiling.registers::<S>();
        let words = (size_of::<S>() / 4) as u32;
        // Single loads have more addresses to hold.
        let addresses = if loads.width == 1 && registers > 4 { 8 } else { 0 };
        let needed = 34 + addresses + registers + in_flight * (registers + words + 1);
        let headers = &[PIECES, SLICE_ROW];
        let source = kernel("sell_teams", "sell_cuda_teams.cu", <Self as Fast<S>>::TEXT, headers);
        tiling
            .define::<S>(source, loads)
            .define("THREADS", THREADS)
            .define("WINDOW", WINDOW)
            .define("IN_FLIGHT", in_flight)
            .define("ONCE", 1)
            .define("TEAM_BIT", TEAM_BIT)
            .define("BLOCKS_PER_MULTIPROCESSOR", blocks_per_multiprocessor(THREADS, needed))
    }
    fn tilings(&self) -> Vec<Tiling> {
        Tiling::all::<S>(LOADS, 1)
    }
    fn more_kernels(&self) -> Vec<KernelSource> {
        vec![Parts::<S>::source()]
    }

    fn layout(&self, machine: &Machine, device: &Device, subject: &Subject<S>) -> Result<Layout<S>, Refusal> {
        let (a, k) = (&subject.a, subject.k);
        let tiling = Tiling::new::<S>(k, LOADS, 1);
        let Teams { pieces, first_warps, sizes } = Teams::new(a.view().offsets(), per_lane(a.nonzeros()))?;
        let mut sliced = Sliced::new(machine, a, &pieces.list, WARP)?;
        for (length, &size) in sliced.lengths.iter_mut().zip(&sizes) {
            *length |= u32::from(size) << TEAM_BIT;
        }
        let targets: Vec<u32> = pieces.list.iter().map(|piece| piece[3]).collect();
        let first_warps = device.upload("slices of windows", &first_warps)?;
        let starts = device.upload("starts of slices", &sliced.starts)?;
        let lengths = device.upload("lengths of rows", &sliced.lengths)?;
        let columns = device.upload("columns of A", &sliced.columns)?;
        let values = device.upload("values of A", &sliced.values)?;
        let targets = device.upload("rows of slices", &targets)?;
        let parts = Parts::new(device, &pieces.cut, (pieces.parts, 1), k)?;
        Ok(Layout {
            source: Box::new(move |loads| Fast::<S>::source(&InTeams, tiling, loads)),
            tiling,
            k,
            units: a.rows() as u64,
            blocks: (a.rows() as u64).div_ceil(WINDOW as u64),
            threads: THREADS,
            arguments: vec![
                Argument::from(&first_warps),
                Argument::from(&starts),
                Argument::from(&lengths),
                Argument::from(&columns),
                Argument::from(&values),
                Argument::from(&targets),
                Parts::address(&parts),
            ],
            _held: vec![
                Box::new(first_warps),
                Box::new(starts),
                Box::new(lengths),
                Box::new(columns),
                Box::new(values),
                Box::new(targets),
            ],
            parts,
        })
    }
}
