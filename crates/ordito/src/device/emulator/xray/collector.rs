//! Counts what warps do while a launch runs, on one core.

use crate::device::emulator::xray::banks::wavefronts;
use crate::device::emulator::xray::coalesce::Sectors;
use crate::device::emulator::xray::converge::{Observer, converge};
use crate::device::emulator::xray::counts::{AccessCounts, BlockCounts};
use crate::device::emulator::xray::trace::{Doing, Event, LANES, NOWHERE, WarpTrace, Where, bits};

/// What a warp asks of global memory, one sector of one instruction; or a barrier that it comes to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    pub(crate) sector: u64,
    /// Where in the code; `BARRIER` for a barrier of the block.
    pub(crate) site: u32,
    pub(crate) doing: Doing,
    /// The first of its instruction.
    pub(crate) first: bool,
}

pub(crate) const BARRIER: u32 = u32::MAX;

/// One access in the kernel's code.
#[derive(Debug, Clone)]
pub(crate) struct AccessSite {
    pub(crate) site: u32,
    pub(crate) place: Where,
    pub(crate) doing: Doing,
    pub(crate) bytes: u16,
    pub(crate) counts: AccessCounts,
    /// One instruction to be shown.
    pub(crate) sample: Option<Sample>,
}

/// What the lanes of one instruction touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Which block and warp: of several samples the first is kept.
    pub(crate) block: u32,
    pub(crate) warp: u32,
    pub(crate) lanes: u32,
    pub(crate) addresses: Vec<u64>,
}

/// A basic block in the kernel's code.
#[derive(Debug, Clone)]
pub(crate) struct BlockSite {
    pub(crate) site: u32,
    pub(crate) counts: BlockCounts,
}

/// All counts of one core.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    pub(crate) accesses: Vec<AccessSite>,
    pub(crate) blocks: Vec<BlockSite>,
    pub(crate) tensor_flops: [u64; 2],
    /// Warp instructions on tensor cores.
    pub(crate) tensor_instructions: u64,
    /// Warps that came to a barrier of their block and were not the last.
    pub(crate) barrier_waits: u64,
    /// Loads of global memory by the warp that has most of them.
    pub(crate) longest_warp_loads: u64,
    /// Accesses of threads to any memory.
    pub(crate) thread_accesses: u64,
}

/// Numbers of things that are known by their place in the code.
#[derive(Debug, Default)]
struct Numbers(Vec<u32>);

impl Numbers {
    /// The number of the thing at this place; `None`: it has none yet, and gets this one.
    #[inline]
    fn get(&mut self, at: usize, next: usize) -> (usize, bool) {
        if at >= self.0.len() {
            self.0.resize(at + 1, NOWHERE);
        }
        let is_new = self.0[at] == NOWHERE;
        if is_new {
            self.0[at] = next as u32;
        }
        (self.0[at] as usize, is_new)
    }
}

/// Counts for one core, and keeps what its warps ask of memory until the caches have seen it.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    pub(crate) counted: Counted,
    access_numbers: Numbers,
    block_numbers: Numbers,
    /// For every warp of every block since it was last taken.
    streams: Vec<Vec<Request>>,
    /// The block that runs, and where its warps begin in `streams`.
    block: u32,
    first_stream: usize,
    warps: Vec<WarpSoFar>,
    warp: usize,
    in_block: usize,
    sectors: Sectors,
    addresses: Vec<u64>,
}

#[derive(Debug, Clone, Copy)]
struct WarpSoFar {
    loads: u64,
    barriers: u64,
    /// The basic block that each lane is in.
    inside: [u32; LANES],
}

impl WarpSoFar {
    const START: WarpSoFar = WarpSoFar { loads: 0, barriers: 0, inside: [NOWHERE; LANES] };
}

impl Collector {
    /// A block of so many warps begins.
    pub(crate) fn start_block(&mut self, block: u32, warps: usize) {
        self.end_block();
        self.block = block;
        self.first_stream = self.streams.len();
        self.streams.resize_with(self.first_stream + warps, Vec::new);
        self.warps.resize(warps, WarpSoFar::START);
    }

    fn end_block(&mut self) {
        let barriers = self.warps.iter().map(|warp| warp.barriers);
        self.counted.barrier_waits += barriers.clone().sum::<u64>() - barriers.max().unwrap_or(0);
        let most = self.warps.drain(..).map(|warp| warp.loads).max().unwrap_or(0);
        self.counted.longest_warp_loads = self.counted.longest_warp_loads.max(most);
    }

    /// What a warp of the block did since it was last told.
    pub(crate) fn warp(&mut self, warp: usize, trace: &mut WarpTrace) {
        self.warp = warp;
        let mut inside = self.warps[warp].inside;
        converge(trace, &mut inside, self);
        self.warps[warp].inside = inside;
    }

    /// What all warps asked of memory, those of a block side by side; they are forgotten here.
    pub(crate) fn take_streams(&mut self) -> Vec<Vec<Request>> {
        self.end_block();
        std::mem::take(&mut self.streams)
    }

    fn access(&mut self, lanes: u32, events: &[Event]) {
        let Event { site, place, doing, bytes, .. } = events[0];
        let key = site as usize * 4
            + match place {
                Where::Global => 0,
                Where::Shared => 1,
                Where::Local => 2,
                _ => 3,
            };
        let accesses = &mut self.counted.accesses;
        let (number, is_new) = self.access_numbers.get(key, accesses.len());
        if is_new {
            accesses.push(AccessSite {
                site,
                place,
                doing,
                bytes,
                counts: AccessCounts::default(),
                sample: None,
            });
        }
        let access = &mut accesses[number];
        let counts = &mut access.counts;
        counts.instructions += 1;
        counts.lanes += events.len() as u64;
        counts.asked_bytes += events.iter().map(|event| u64::from(event.bytes)).sum::<u64>();
        match place {
            Where::Global => {
                self.sectors.fill(events.iter().map(|event| (event.address, event.bytes.into())));
                counts.sectors += self.sectors.count();
                counts.lines += self.sectors.lines();
                counts.used_bytes += self.sectors.used_bytes();
                let stream = &mut self.streams[self.first_stream + self.warp];
                let request =
                    |(index, &sector): (usize, &u64)| Request { sector, site, doing, first: index == 0 };
                stream.extend(self.sectors.numbers.iter().enumerate().map(request));
                if doing != Doing::Store {
                    self.warps[self.warp].loads += 1;
                }
            }
            Where::Shared => {
                self.addresses.clear();
                self.addresses.extend(events.iter().map(|event| event.address));
                let wavefronts = wavefronts(lanes, bytes.into(), &self.addresses);
                counts.wavefronts += wavefronts.taken;
                counts.least_wavefronts += wavefronts.least;
            }
            _ => {}
        }
        if doing == Doing::Atomic {
            let earlier =
                |index: usize| events[..index].iter().any(|event| event.address == events[index].address);
            counts.collisions += (0..events.len()).filter(|&index| earlier(index)).count() as u64;
        }
        let wanted = access.sample.as_ref().is_none_or(|sample| {
            // The first one of all lanes, else the first of most lanes.
            (events.len() as u32, std::cmp::Reverse((self.block, self.warp as u32)))
                > (sample.lanes.count_ones(), std::cmp::Reverse((sample.block, sample.warp)))
        });
        if wanted && place != Where::Local {
            let addresses = events.iter().map(|event| event.address).collect();
            access.sample = Some(Sample { block: self.block, warp: self.warp as u32, lanes, addresses });
        }
    }
}

impl Observer for Collector {
    fn block(&mut self, site: u32, lanes: u32) {
        let blocks = &mut self.counted.blocks;
        let (number, is_new) = self.block_numbers.get(site as usize, blocks.len());
        if is_new {
            blocks.push(BlockSite { site, counts: BlockCounts::default() });
        }
        self.in_block = number;
        let counts = &mut blocks[number].counts;
        counts.executions += 1;
        counts.lanes += u64::from(lanes.count_ones());
    }

    fn parted(&mut self, site: u32, _: u32) {
        let (number, is_new) = self.block_numbers.get(site as usize, self.counted.blocks.len());
        if !is_new {
            self.counted.blocks[number].counts.parted += 1;
        }
    }

    fn instruction(&mut self, lanes: u32, events: &[Event]) {
        let in_block = self.in_block;
        let block = self.counted.blocks.get_mut(in_block).map(|block| &mut block.counts);
        match events[0].place {
            Where::Block => {}
            Where::Collective => block.into_iter().for_each(|counts| counts.collectives += 1),
            Where::Barrier => {
                block.into_iter().for_each(|counts| counts.barriers += 1);
                self.warps[self.warp].barriers += 1;
                let barrier = Request { sector: 0, site: BARRIER, doing: Doing::Load, first: true };
                self.streams[self.first_stream + self.warp].push(barrier);
            }
            Where::Tensor => {
                self.counted.tensor_instructions += 1;
                self.counted.tensor_flops[usize::from(events[0].bytes == 4)] += events[0].address;
            }
            Where::Global | Where::Shared | Where::Local | Where::Constant => {
                self.counted.thread_accesses += events.len() as u64;
                let place = events[0].place;
                if events.iter().all(|event| event.place == place) {
                    self.access(lanes, events);
                } else {
                    self.mixed(lanes, events);
                }
            }
        }
    }
}

impl Collector {
    /// One access in the code that goes to several kinds of memory at once: an instruction for each.
    fn mixed(&mut self, lanes: u32, events: &[Event]) {
        for place in [Where::Global, Where::Shared, Where::Local, Where::Constant] {
            let numbered = bits(lanes).zip(events);
            let (mask, some) = numbered.filter(|(_, event)| event.place == place).fold(
                (0_u32, Vec::new()),
                |(mask, mut some), (lane, event)| {
                    some.push(*event);
                    (mask | 1 << lane, some)
                },
            );
            if mask != 0 {
                self.access(mask, &some);
            }
        }
    }
}

impl Counted {
    /// Adds what another core has counted.
    pub(crate) fn add(&mut self, other: Counted) {
        for access in other.accesses {
            let same = |mine: &&mut AccessSite| (mine.site, mine.place) == (access.site, access.place);
            match self.accesses.iter_mut().find(same) {
                Some(mine) => {
                    mine.counts += access.counts;
                    mine.sample = better(mine.sample.take(), access.sample);
                }
                None => self.accesses.push(access),
            }
        }
        for block in other.blocks {
            match self.blocks.iter_mut().find(|mine| mine.site == block.site) {
                Some(mine) => mine.counts += block.counts,
                None => self.blocks.push(block),
            }
        }
        self.tensor_flops[0] += other.tensor_flops[0];
        self.tensor_flops[1] += other.tensor_flops[1];
        self.tensor_instructions += other.tensor_instructions;
        self.barrier_waits += other.barrier_waits;
        self.longest_warp_loads = self.longest_warp_loads.max(other.longest_warp_loads);
        self.thread_accesses += other.thread_accesses;
    }
}

/// The one of more lanes, else of the earlier warp.
fn better(one: Option<Sample>, other: Option<Sample>) -> Option<Sample> {
    let rank = |sample: &Sample| (std::cmp::Reverse(sample.lanes.count_ones()), sample.block, sample.warp);
    one.into_iter().chain(other).min_by_key(rank)
}
