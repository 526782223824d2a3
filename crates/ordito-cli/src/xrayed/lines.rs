//! The source with the counts beside each line.

use crate::xrayed::counted::Xrayed;
use crate::xrayed::table::{count, percent};
use ordito::device::emulator::xray::{Access, AccessCounts, BlockCounts, LaunchXray, Space};
use ordito_bench::report::table::{Printed, laid_out};
use std::collections::BTreeMap;

/// Lines that cost most, of one launch.
const HOTTEST: usize = 5;

/// What was counted in one line of one file.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LineTotal {
    pub(crate) global: AccessCounts,
    pub(crate) shared: AccessCounts,
    pub(crate) local: AccessCounts,
    pub(crate) blocks: BlockCounts,
    pub(crate) flops: u64,
}

impl LineTotal {
    /// What it costs, roughly: cycles of the path to memory.
    pub(crate) fn cost(&self) -> u64 {
        self.global.sectors + self.shared.wavefronts
    }
    pub(crate) fn instructions(&self) -> u64 {
        self.global.instructions + self.shared.instructions
    }
    /// Lanes that take part in its accesses, or, where there are none, in its blocks.
    pub(crate) fn lanes(&self) -> f64 {
        let (lanes, instructions) = match self.instructions() {
            0 => (self.blocks.lanes, self.blocks.executions),
            all => (self.global.lanes + self.shared.lanes, all),
        };
        lanes as f64 / instructions.max(1) as f64
    }
}

/// By file and line.
pub(crate) fn by_line(launch: &LaunchXray) -> BTreeMap<(&str, u32), LineTotal> {
    let mut lines: BTreeMap<(&str, u32), LineTotal> = BTreeMap::new();
    for access in &launch.accesses {
        let total = lines.entry((&access.file, access.line)).or_default();
        match access.space {
            Space::Global => total.global += access.counts,
            // The other half of a copy was counted as one of global memory.
            Space::Shared if access.access == Access::Copy => {
                total.shared += AccessCounts { instructions: 0, lanes: 0, ..access.counts };
            }
            Space::Shared => total.shared += access.counts,
            Space::Local | Space::Constant => total.local += access.counts,
        }
    }
    for block in &launch.basic_blocks {
        let total = lines.entry((&block.file, block.line)).or_default();
        total.blocks += block.counts;
        let arithmetic = &block.arithmetic;
        total.flops += arithmetic.f32_flops + arithmetic.f64_flops;
    }
    lines
}

/// The lines that cost most, and the whole source with its counts.
pub(crate) fn listing(one: &Xrayed) -> String {
    let launches = one.launches.iter().map(|(launch, _)| of_launch(one.name(), launch));
    launches.collect::<Vec<_>>().join("\n\n")
}

fn of_launch(variant: &str, launch: &LaunchXray) -> String {
    let lines = by_line(launch);
    let all: u64 = lines.values().map(LineTotal::cost).sum();
    let mut text = vec![described(variant, launch), by_width(launch)];
    let source = |file: &str, line: u32| -> String {
        let found = launch.sources.iter().find(|(name, _)| name == file);
        let text = found.and_then(|(_, text)| text.lines().nth((line as usize).checked_sub(1)?));
        text.unwrap_or("").trim_end().to_owned()
    };
    let mut hottest: Vec<_> = lines.iter().filter(|(_, total)| total.cost() > 0).collect();
    hottest.sort_by_key(|(_, total)| std::cmp::Reverse(total.cost()));
    text.push("hottest:".into());
    for ((file, line), total) in hottest.iter().take(HOTTEST) {
        let share = percent(total.cost() as f64, all as f64);
        text.push(format!("  {share:>5} {file}:{line}  {}", source(file, *line).trim()));
    }
    for (file, of_file) in files(launch, &lines) {
        text.push(String::new());
        text.push(format!("{file}:"));
        text.extend(laid_out(&columns(&of_file, &|line| source(file, line))));
    }
    text.join("\n")
}

/// How it was launched, and how much of a multiprocessor that fills.
fn described(variant: &str, launch: &LaunchXray) -> String {
    let registers =
        launch.registers.map_or(String::new(), |registers| format!(", {registers} registers of a thread"));
    let sampled = if launch.factor > 1.0 {
        format!(
            "; {} of {} blocks were run: multiply by {:.4}",
            launch.blocks_counted, launch.blocks, launch.factor
        )
    } else {
        String::new()
    };
    format!(
        "{variant}: {} of {}, grid {}, block {}; {} on a multiprocessor at a time, {:.0} % of its threads{registers}{sampled}",
        launch.entry,
        launch.kernel,
        by_x(launch.grid),
        by_x(launch.block),
        launch.resident_blocks,
        launch.occupancy_percent
    )
}

/// `64 global loads of 8 bytes, 16 global stores of 8 bytes`: instructions of warps by what one lane of them touches.
fn by_width(launch: &LaunchXray) -> String {
    let mut widths: BTreeMap<(Space, Access, u32), u64> = BTreeMap::new();
    for line in &launch.accesses {
        *widths.entry((line.space, line.access, line.bytes)).or_default() += line.counts.instructions;
    }
    let words = widths.into_iter().map(|((space, access, bytes), instructions)| {
        let space = match space {
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Local => "local",
            Space::Constant => "constant",
        };
        let access = match access {
            Access::Load => "loads",
            Access::Store => "stores",
            Access::Atomic => "atomics",
            Access::Copy => "copies",
        };
        format!("{} {space} {access} of {bytes} bytes", count(instructions as f64))
    });
    words.collect::<Vec<_>>().join(", ")
}

fn by_x([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("{x}×{y}"),
        _ => format!("{x}×{y}×{z}"),
    }
}

/// Files in which something was counted, the kernel's own first, with all lines from the first to the last of them.
fn files<'a>(
    launch: &'a LaunchXray,
    lines: &BTreeMap<(&'a str, u32), LineTotal>,
) -> Vec<(&'a str, Vec<(u32, LineTotal)>)> {
    let mut names: Vec<&str> = lines.keys().map(|(file, _)| *file).filter(|file| !file.is_empty()).collect();
    names.dedup();
    names.sort_by_key(|&name| (name != launch.file, name));
    let of = |name: &'a str| {
        let counted = lines.keys().filter(|(file, _)| *file == name).map(|(_, line)| *line);
        let (first, last) = (counted.clone().min().unwrap_or(1), counted.max().unwrap_or(0));
        let total = |line| (line, lines.get(&(name, line)).copied().unwrap_or_default());
        (name, (first..=last).map(total).collect())
    };
    names.into_iter().map(of).collect()
}

fn columns(lines: &[(u32, LineTotal)], source: &dyn Fn(u32) -> String) -> Vec<Printed<'static>> {
    let column = |title, cell: &dyn Fn(&LineTotal) -> String| Printed {
        title,
        is_text: false,
        cells: lines.iter().map(|(_, total)| cell(total)).collect(),
    };
    let or_nothing = |value: u64| if value == 0 { String::new() } else { count(value as f64) };
    let mut columns = vec![
        Printed {
            title: "line",
            is_text: false,
            cells: lines.iter().map(|(line, _)| line.to_string()).collect(),
        },
        column("warps", &|total| or_nothing(total.instructions().max(total.blocks.executions))),
        column("lanes", &|total| {
            let any = total.instructions() + total.blocks.executions > 0;
            if any { format!("{:.1}", total.lanes()) } else { String::new() }
        }),
        column("parted", &|total| or_nothing(total.blocks.parted)),
        column("sectors", &|total| or_nothing(total.global.sectors)),
        column("used", &|total| percent(total.global.used_bytes as f64, 32.0 * total.global.sectors as f64)),
        column("L1 hits", &|total| percent(total.global.l1_hits as f64, total.global.sectors as f64)),
        column("passes", &|total| or_nothing(total.shared.wavefronts)),
        column("conflicts", &|total| or_nothing(total.shared.conflicts())),
        column("arrays", &|total| or_nothing(total.local.instructions)),
        column("flops", &|total| or_nothing(total.flops)),
    ];
    columns.retain(|column| column.title == "line" || column.cells.iter().any(|cell| !cell.is_empty()));
    columns.push(Printed {
        title: "",
        is_text: true,
        cells: lines.iter().map(|(line, _)| source(*line)).collect(),
    });
    columns
}
