//! `--page`: what was found as a page that fetches nothing: the table, the lines that cost most with a picture each, the source.

use crate::xrayed::counted::Xrayed;
use crate::xrayed::lines::{LineTotal, by_line};
use crate::xrayed::picture;
use crate::xrayed::table::{columns, count, heading, percent};
use ordito::device::emulator::xray::{Access, GpuModel, LaunchXray, LineAccess, Prediction, Space};
use ordito::files::{WriteError, write_atomically};
use ordito::units;
use ordito_chart::html::{Additions, Cell, Contents, page_with, row, table, whole_table};
use ordito_chart::markup::escape;
use std::path::Path;

/// Accesses of a launch that have a picture.
const MOST_PICTURES: usize = 12;

/// Writes the page, whole or not at all.
pub(crate) fn write(path: &Path, xrayed: &[Xrayed], gpu: &GpuModel, command: &str) -> Result<(), WriteError> {
    let text = render(xrayed, gpu, command);
    write_atomically(path, |file| file.write_all(text.as_bytes()))
}

fn render(xrayed: &[Xrayed], gpu: &GpuModel, command: &str) -> String {
    let mut contents = Contents::default();
    contents.add("Kernels", &overview(xrayed));
    for one in xrayed {
        for (launch, prediction) in &one.launches {
            let title = format!("{}: {}", escape(one.name()), escape(&launch.entry));
            contents.add(&title, &section(one, launch, prediction));
        }
    }
    contents.add("To repeat it", &format!("<pre>{}</pre>\n", escape(command)));
    let header = format!(
        "<p>Warp instructions, sectors, bank conflicts and lanes are counted. Hits in caches, bytes to memory and times are those of a \
         model of {} ({}).</p>\n",
        escape(gpu.architecture),
        escape(gpu.name)
    );
    let additions = Additions { style: picture::STYLE, script: "" };
    page_with("Ordito xray", &header, &contents, &additions)
}

fn overview(xrayed: &[Xrayed]) -> String {
    let mut html = String::new();
    let mut rest: Vec<&Xrayed> = xrayed.iter().filter(|one| !one.launches.is_empty()).collect();
    while let Some(first) = rest.first() {
        let wanted = heading(first);
        let (group, others): (Vec<&Xrayed>, Vec<&Xrayed>) =
            rest.into_iter().partition(|one| heading(one) == wanted);
        rest = others;
        let columns = columns(&group);
        let titles: Vec<(&str, &str)> =
            columns.iter().map(|column| (column.title, if column.is_text { "" } else { "number" })).collect();
        let cell =
            |(is_text, text): (bool, &String)| if is_text { Cell::text(text) } else { Cell::number(text) };
        let rows: String = (0..group.len())
            .map(|index| {
                let cells: Vec<Cell> =
                    columns.iter().map(|column| cell((column.is_text, &column.cells[index]))).collect();
                row(false, &cells)
            })
            .collect();
        html += &table(&wanted, &titles, &rows);
    }
    for one in xrayed {
        let why = one.failure.as_ref().or(one.refusal.as_ref());
        html += &why.map_or(String::new(), |why| {
            format!("<p class=\"quiet\">{}: {}</p>\n", escape(one.name()), escape(why))
        });
    }
    html
}

fn section(one: &Xrayed, launch: &LaunchXray, prediction: &Prediction) -> String {
    let facts = format!(
        "<p>{}. {} blocks of {} threads, {} bytes of shared memory, {} resident on a multiprocessor ({:.0} % of its threads){}.{}</p>\n",
        escape(&heading(one)),
        units::count(launch.blocks),
        launch.block.iter().product::<u32>(),
        units::count(launch.shared_bytes),
        launch.resident_blocks,
        launch.occupancy_percent,
        launch.registers.map_or(String::new(), |registers| format!(", {registers} registers of a thread")),
        if launch.factor > 1.0 {
            format!(" {} blocks were run: multiply counts by {:.4}.", launch.blocks_counted, launch.factor)
        } else {
            String::new()
        }
    );
    facts + &bounds(prediction) + &pictures(launch) + &sources(launch)
}

fn bounds(prediction: &Prediction) -> String {
    let rows: String = prediction
        .bounds
        .iter()
        .filter(|bound| bound.seconds > 0.0)
        .map(|bound| {
            let time =
                Cell { value: Some(bound.seconds), ..Cell::number(units::duration(bound.seconds * 1e9)) };
            row(false, &[Cell::text(bound.part), time])
        })
        .collect();
    table("What each part of the GPU needs at least (a model)", &[("part", ""), ("time", "number")], &rows)
}

/// The accesses that cost most, each with a picture of one warp.
fn pictures(launch: &LaunchXray) -> String {
    let cost = |access: &&LineAccess| access.counts.sectors + access.counts.wavefronts;
    let mut accesses: Vec<&LineAccess> =
        launch.accesses.iter().filter(|access| access.picture.is_some()).collect();
    accesses.sort_by_key(|access| std::cmp::Reverse(cost(access)));
    let drawn = |access: &&LineAccess| {
        let picture = access.picture.as_ref()?;
        let what = match (access.space, access.access) {
            (Space::Shared, Access::Load) => "shared load",
            (Space::Shared, _) => "shared store",
            (_, Access::Load) => "load",
            (_, Access::Store) => "store",
            (_, Access::Atomic) => "atomic",
            (_, Access::Copy) => "asynchronous copy",
        };
        let counts = &access.counts;
        let each = |value: u64| format!("{:.1}", value as f64 / counts.instructions.max(1) as f64);
        let told = if access.space == Space::Shared {
            format!("{} passes over the banks each", each(counts.wavefronts))
        } else {
            let used = percent(counts.used_bytes as f64, 32.0 * counts.sectors as f64);
            format!("{} sectors each, {used} of their bytes used", each(counts.sectors))
        };
        Some(format!(
            "<details><summary>{}:{}: {what} of {} bytes, {} instructions of {} lanes, {told}</summary>\n{}</details>\n",
            escape(&access.file),
            access.line,
            access.bytes,
            count(counts.instructions as f64),
            each(counts.lanes),
            picture::draw(picture, access.space, access.bytes)
        ))
    };
    let all: String = accesses.iter().take(MOST_PICTURES).filter_map(drawn).collect();
    if all.is_empty() { all } else { format!("<h3>What one warp touches, hottest first</h3>\n{all}") }
}

/// The source with its counts.
fn sources(launch: &LaunchXray) -> String {
    let lines = by_line(launch);
    let all: u64 = lines.values().map(LineTotal::cost).sum();
    let mut html = String::new();
    for (name, text) in &launch.sources {
        if !lines.keys().any(|(file, _)| file == name) {
            continue;
        }
        let row_of = |(index, text): (usize, &str)| {
            let total = lines.get(&(name.as_str(), index as u32 + 1)).copied().unwrap_or_default();
            let number = |value: u64| {
                let text = if value == 0 { String::new() } else { count(value as f64) };
                Cell { value: Some(value as f64), ..Cell::number(text) }
            };
            let any = total.instructions() + total.blocks.executions > 0;
            let cost =
                if total.cost() > 0 { percent(total.cost() as f64, all as f64) } else { String::new() };
            row(
                false,
                &[
                    Cell { value: Some(index as f64), ..Cell::number((index + 1).to_string()) },
                    Cell { value: Some(total.cost() as f64), ..Cell::number(cost) },
                    number(total.instructions().max(total.blocks.executions)),
                    Cell::number(if any { format!("{:.1}", total.lanes()) } else { String::new() }),
                    number(total.global.sectors),
                    number(total.shared.wavefronts),
                    number(total.shared.conflicts()),
                    number(total.flops),
                    Cell::text(text.trim_end()),
                ],
            )
        };
        let rows: String = text.lines().enumerate().map(row_of).collect();
        let titles = ["line", "cost", "warps", "lanes", "sectors", "passes", "conflicts", "flops"]
            .map(|title| (title, "number"));
        let titles: Vec<(&str, &str)> = titles.into_iter().chain([("source", "")]).collect();
        html += &whole_table(" class=\"source\"", name, &titles, &rows);
    }
    html
}
