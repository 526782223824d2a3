//! A report of what all cores have counted: places in the code become lines of the source.

use crate::device::emulator::launch::EmulatedFunction;
use crate::device::emulator::memory::Allocation;
use crate::device::emulator::source_lines::SourceLine;
use crate::device::emulator::xray::coalesce::SECTOR_BYTES;
use crate::device::emulator::xray::collector::{AccessSite, BlockSite, Counted, Sample};
use crate::device::emulator::xray::counts::{Access, Arithmetic, Space};
use crate::device::emulator::xray::described::Described;
use crate::device::emulator::xray::gpus::GpuModel;
use crate::device::emulator::xray::instructions::{Mix, basic_blocks};
use crate::device::emulator::xray::memory_system::{FoundAt, SecondLevel};
use crate::device::emulator::xray::report::{CacheCounts, LaunchXray, LineAccess, LineBlocks, Picture};
use crate::device::emulator::xray::trace::{Doing, Where, bits};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Puts a report together.
pub(crate) fn assemble(
    function: &EmulatedFunction,
    described: &Described<'_>,
    gpu: &GpuModel,
    counted: Counted,
    found: &FoundAt,
    second: &SecondLevel,
    allocations: &[Arc<Allocation>],
) -> LaunchXray {
    let sites = counted.accesses.iter().map(|access| access.site);
    let sites: Vec<u32> = sites.chain(counted.blocks.iter().map(|block| block.site)).collect();
    let mut lines = function.library.lines().find_all(&sites).into_iter().map(Option::unwrap_or_default);
    let accesses = by_line(counted.accesses.into_iter().zip(lines.by_ref()), found, allocations);
    let mixes = basic_blocks(&function.library.code);
    let mut basic_blocks = by_line_of_blocks(counted.blocks.into_iter().zip(lines), &mixes);
    basic_blocks.sort_by(|one, other| (&one.file, one.line).cmp(&(&other.file, other.line)));
    let mut arithmetic = Arithmetic::default();
    basic_blocks.iter().for_each(|block| arithmetic += block.arithmetic);
    [arithmetic.tensor_f64_flops, arithmetic.tensor_tf32_flops] = counted.tensor_flops;
    let plan = described.plan;
    let threads = described.resident * plan.threads_per_block();
    let source = &function.source;
    LaunchXray {
        kernel: source.title(),
        entry: source.entry.into(),
        file: source.file_name().into(),
        grid: plan.grid(),
        block: plan.block(),
        shared_bytes: described.shared_bytes,
        blocks_counted: described.blocks_counted,
        blocks: plan.blocks(),
        factor: plan.blocks() as f64 / described.blocks_counted.max(1) as f64,
        gpu: gpu.architecture,
        resident_blocks: described.resident,
        occupancy_percent: 100.0 * f64::from(threads) / f64::from(gpu.threads_per_multiprocessor),
        registers: described.taken.registers,
        local_bytes: described.taken.local_bytes,
        accesses,
        basic_blocks,
        tensor_instructions: counted.tensor_instructions,
        arithmetic,
        barrier_waits: counted.barrier_waits,
        longest_warp_loads: counted.longest_warp_loads,
        caches: CacheCounts {
            l2_read_sectors: second.read_sectors,
            l2_written_sectors: second.written_sectors,
            l2_far_read_sectors: second.far_read_sectors,
            l2_far_written_sectors: second.far_written_sectors,
            dram_read_bytes: second.dram_read_sectors * SECTOR_BYTES,
            dram_written_bytes: second.dram_written_sectors() * SECTOR_BYTES,
        },
        thread_accesses: counted.thread_accesses,
        seconds: 0.0,
        cores: 0,
        sources: source
            .files()
            .into_iter()
            .map(|(name, text)| (base_name(name).into(), text.into()))
            .collect(),
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn space(place: Where) -> Space {
    match place {
        Where::Global => Space::Global,
        Where::Shared => Space::Shared,
        Where::Local => Space::Local,
        _ => Space::Constant,
    }
}

fn access(doing: Doing) -> Access {
    match doing {
        Doing::Load | Doing::FreshLoad => Access::Load,
        Doing::Store => Access::Store,
        Doing::Atomic => Access::Atomic,
        Doing::Copy => Access::Copy,
    }
}

/// Accesses of the same kind in the same line, together.
fn by_line(
    sites: impl Iterator<Item = (AccessSite, SourceLine)>,
    found: &FoundAt,
    allocations: &[Arc<Allocation>],
) -> Vec<LineAccess> {
    let mut lines = BTreeMap::new();
    for (site, line) in sites {
        let mut counts = site.counts;
        if site.place == Where::Global {
            let found = found.get(site.site);
            (counts.l1_hits, counts.l2_sectors, counts.l2_hits) =
                (found.l1_hits, found.l2_sectors, found.l2_hits);
        }
        let key = (line, space(site.place), access(site.doing), u32::from(site.bytes));
        let (total, picture) = lines.entry(key).or_insert_with(|| (Default::default(), None));
        *total += counts;
        let drawn = site.sample.map(|sample| draw(&sample, site.place, allocations));
        // Of several the one of most lanes.
        let lanes = |picture: &Option<Picture>| picture.as_ref().map_or(0, |picture| picture.lanes.len());
        if lanes(&drawn) > lanes(picture) {
            *picture = drawn;
        }
    }
    let line = |((line, space, access, bytes), (counts, picture))| {
        let SourceLine { file, line } = line;
        LineAccess { file, line, space, access, bytes, counts, picture }
    };
    lines.into_iter().map(line).collect()
}

fn draw(sample: &Sample, place: Where, allocations: &[Arc<Allocation>]) -> Picture {
    let first = sample.addresses.first().copied().unwrap_or(0);
    let around =
        |allocation: &&Arc<Allocation>| (first as usize).wrapping_sub(allocation.address) < allocation.len;
    let (buffer, start) = match allocations.iter().find(around).filter(|_| place == Where::Global) {
        Some(allocation) => (allocation.name.to_string(), allocation.address as u64),
        None if place == Where::Shared => ("shared memory".into(), 0),
        None => ("memory".into(), first),
    };
    Picture {
        buffer,
        block: sample.block,
        warp: sample.warp,
        lanes: bits(sample.lanes).map(|lane| lane as u32).collect(),
        offsets: sample.addresses.iter().map(|address| address.wrapping_sub(start)).collect(),
    }
}

/// Basic blocks that begin in the same line, together.
fn by_line_of_blocks(
    blocks: impl Iterator<Item = (BlockSite, SourceLine)>,
    mixes: &std::collections::HashMap<u32, Mix>,
) -> Vec<LineBlocks> {
    let mut lines = BTreeMap::new();
    for (block, line) in blocks {
        let mix = mixes.get(&block.site).copied().unwrap_or_default();
        let (counts, arithmetic): &mut (_, Arithmetic) = lines.entry(line).or_default();
        *counts += block.counts;
        let (warps, lanes) = (block.counts.executions, block.counts.lanes);
        let [f32_instructions, f64_instructions] = [0, 1].map(|precision| mix.instructions(precision));
        let instructions =
            f32_instructions + f64_instructions + u64::from(mix.integer) + u64::from(mix.branches);
        *arithmetic += Arithmetic {
            f32_flops: lanes * mix.flops(0),
            f64_flops: lanes * mix.flops(1),
            f32_instructions: warps * f32_instructions,
            f64_instructions: warps * f64_instructions,
            integer_instructions: warps * u64::from(mix.integer),
            branches: warps * u64::from(mix.branches),
            lane_instructions: lanes * instructions,
            ..Arithmetic::default()
        };
    }
    let line =
        |(SourceLine { file, line }, (counts, arithmetic))| LineBlocks { file, line, counts, arithmetic };
    lines.into_iter().map(line).collect()
}
