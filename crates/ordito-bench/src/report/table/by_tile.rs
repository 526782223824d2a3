//! What `bench` prints at the end where several tile widths were timed: size × tile width × algorithm, median times.

use crate::catalogue::describe;
use crate::report::outcome::Param;
use crate::report::record::Record;
use crate::report::setting::behind_a_size;
use crate::report::table::layout::{Printed, laid_out};
use crate::report::table::{input_text, shown};
use ordito::units;

/// The parameter that makes one registered variant for each of its values.
const TILE: &str = "tile";

/// A record of a variant with tiles.
struct Tiled<'a> {
    width: i64,
    /// `tile by row`: what is left of its name when all widths share it.
    family: &'a str,
    record: &'a Record,
}

impl<'a> Tiled<'a> {
    fn of(record: &'a Record) -> Option<Self> {
        // In a block of another shape it is not of that width.
        let is_one = !record.is_auto() && record.geometry.is_none();
        let Some(Param::Integer(width)) = record.params.get(TILE).filter(|_| is_one) else {
            return None;
        };
        let family = describe(&record.op, &record.variant).map_or(&*record.variant, |variant| variant.short);
        Some(Tiled { width: *width, family, record })
    }
}

/// A table for every dtype and place, one row per size and tile width, one column per family; below it the variants
/// without tiles. `None` where neither several widths nor several sizes were asked for, or nothing was timed: there is nothing to
/// compare. What was refused stands in its cell, and why below.
pub fn by_tile(records: &[Record]) -> Option<String> {
    let tiled: Vec<Tiled<'_>> = records.iter().filter_map(Tiled::of).collect();
    let is_timed = |tiled: &&Tiled<'_>| tiled.record.median_ns.is_some();
    let widths = distinct(tiled.iter().map(|tiled| tiled.width)).len();
    let sizes = distinct(tiled.iter().map(|tiled| size(tiled.record))).len();
    if !tiled.iter().any(|tiled| is_timed(&tiled)) || (widths < 2 && sizes < 2) {
        return None;
    }
    let settings = distinct(tiled.iter().filter(is_timed).map(|tiled| setting(tiled.record)));
    let mut tables: Vec<String> = Vec::new();
    for setting_of_table in &settings {
        let same = tiled.iter().filter(|tiled| setting(tiled.record) == *setting_of_table);
        tables.push(with_tiles(&same.collect::<Vec<_>>()));
    }
    for dtype in distinct(settings.iter().map(|(_, dtype, _)| *dtype)) {
        let rest = records.iter().filter(|record| record.dtype == dtype && Tiled::of(record).is_none());
        tables.extend(without_tiles(&rest.collect::<Vec<_>>()));
    }
    Some(tables.join("\n"))
}

/// What all rows of a table have in common.
fn setting(record: &Record) -> (&str, &str, &str) {
    (&record.op, &record.dtype, &record.place)
}

fn with_tiles(tiled: &[&Tiled<'_>]) -> String {
    let (op, dtype, place) = setting(tiled[0].record);
    let timed = || tiled.iter().filter(|tiled| tiled.record.median_ns.is_some());
    // A width that no kernel can have belongs to no family, and is refused in all of them.
    let families = distinct(timed().map(|tiled| tiled.family));
    let in_family = |tiled: &&&Tiled<'_>| families.contains(&tiled.family);
    let mut widths = distinct(tiled.iter().map(|tiled| tiled.width));
    widths.sort_unstable();
    let sizes = distinct(tiled.iter().map(|tiled| size(tiled.record)));
    let find = |family: Option<&str>, row_size: &str, width: i64| {
        tiled.iter().find(|tiled| {
            family.is_none_or(|family| tiled.family == family)
                && tiled.width == width
                && size(tiled.record) == row_size
        })
    };
    let all = sizes.iter().flat_map(|size| widths.iter().map(|&width| (size.as_str(), width)));
    let rows: Vec<(&str, i64)> = all.filter(|&(size, width)| find(None, size, width).is_some()).collect();
    // Each size once: the eye finds its block.
    let size_cell = |row: usize| if row > 0 && rows[row - 1].0 == rows[row].0 { "" } else { rows[row].0 };
    let mut columns = vec![
        Printed {
            title: "size",
            is_text: false,
            cells: (0..rows.len()).map(|row| size_cell(row).to_owned()).collect(),
        },
        Printed {
            title: "tile",
            is_text: false,
            cells: rows.iter().map(|(_, width)| width.to_string()).collect(),
        },
    ];
    for family in &families {
        let cell = |&(size, width): &(&str, i64)| {
            let of_no_family = || find(None, size, width).filter(|tiled| !in_family(tiled));
            let found = find(Some(*family), size, width).or_else(of_no_family);
            shown(found, |tiled| time_or_outcome(tiled.record))
        };
        columns.push(Printed { title: family, is_text: false, cells: rows.iter().map(cell).collect() });
    }
    let caution = if place == "emulator" { ", no measure of a GPU" } else { "" };
    let heading = format!("{op} by size and tile width, {dtype}, on {place}: median times{caution}");
    let refused = tiled
        .iter()
        .filter(|tiled| !in_family(tiled))
        .map(|tiled| format!("  tile {} {}: {}", tiled.width, tiled.record.outcome, tiled.record.note()));
    let refused = distinct(refused);
    lines([vec![heading], laid_out(&columns), refused].concat())
}

/// One row per variant, one column per size; nothing where there is nothing timed.
fn without_tiles(rest: &[&Record]) -> Option<String> {
    let first = rest.iter().find(|record| record.median_ns.is_some())?;
    let heading = format!("{} without tiles, {}: median times", first.op, first.dtype);
    let names = distinct(rest.iter().map(|record| name(record)));
    let sizes = distinct(rest.iter().map(|record| size(record)));
    let mut columns = vec![Printed { title: "variant", is_text: true, cells: names.clone() }];
    for column_size in &sizes {
        let cell = |row_name: &String| {
            let here = |record: &&&Record| size(record) == *column_size && name(record) == *row_name;
            shown(rest.iter().find(here), |record| time_or_outcome(record))
        };
        columns.push(Printed { title: column_size, is_text: false, cells: names.iter().map(cell).collect() });
    }
    Some(lines([vec![heading], laid_out(&columns)].concat()))
}

/// The variant, and what else tells two rows apart: `auto` runs anywhere, threads and launches differ.
fn name(record: &Record) -> String {
    let place = if record.chosen.is_some() { format!(" on {}", record.place) } else { String::new() };
    let threads = shown(record.threads, |threads| format!(", {}", units::threads(threads)));
    format!("{}{place}{threads}", record.name())
}

/// `1 000`, or `1 000 × 777 × 1 234` where the sides differ, and how its rows are padded.
fn size(record: &Record) -> String {
    let pad = behind_a_size(record.pad);
    match (record.n, record.m, record.p) {
        (Some(n), Some(m), Some(p)) if n == m && m == p => units::count(n) + &pad,
        (Some(n), Some(m), Some(p)) => [n, m, p].map(units::count).join(" × ") + &pad,
        _ => input_text(record),
    }
}

fn time_or_outcome(record: &Record) -> String {
    record.median_ns.map_or_else(|| record.outcome.to_string(), units::duration)
}

fn lines(lines: Vec<String>) -> String {
    lines.into_iter().map(|line| line + "\n").collect()
}

/// Each value once, in order of first appearance.
fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::outcome::Outcome;

    fn timed(variant: &str, n: u64, tile: Option<i64>, median_ns: f64) -> Record {
        let mut record = Record::new("gemm", variant, Outcome::Passed);
        (record.n, record.m, record.p) = (Some(n), Some(n), Some(n));
        (record.dtype, record.place) = ("f64".to_owned(), "cuda".to_owned());
        record.median_ns = Some(median_ns);
        record.params = tile.map(|tile| ("tile".to_owned(), Param::from(tile))).into_iter().collect();
        record
    }

    fn refused(record: Record, why: &str) -> Record {
        Record { outcome: Outcome::Refused, median_ns: None, refusal: Some(why.to_owned()), ..record }
    }

    #[test]
    fn sizes_and_widths_are_rows_and_families_columns() {
        let too_wide = |n| {
            refused(
                timed("dense-cuda-tile-100", n, Some(100), 0.0),
                "10000 threads per block, the limit is 1024",
            )
        };
        let mut records = Vec::new();
        for n in [100, 1000] {
            let ns = (n * n) as f64;
            let mut serial = timed("dense-serial-loops", n, None, 50.0 * ns);
            (serial.place, serial.threads) = ("cpu".to_owned(), Some(1));
            records.push(if n == 1000 { refused(serial, "too long") } else { serial });
            for tile in [16, 8] {
                records.push(timed(&format!("dense-cuda-element-by-row-{tile}"), n, Some(tile), 2.0 * ns));
                records.push(timed(&format!("dense-cuda-tile-by-row-{tile}"), n, Some(tile), ns));
            }
            records.push(too_wide(n));
            let mut auto = timed("auto", n, Some(16), ns);
            auto.chosen = Some("dense-cuda-tile-by-row-16".to_owned());
            records.push(auto);
        }
        let expected = "\
gemm by size and tile width, f64, on cuda: median times
 size  tile  element by row  tile by row
─────────────────────────────────────────
  100     8         20.0 µs      10.0 µs
         16         20.0 µs      10.0 µs
        100         refused      refused
1 000     8         2.00 ms      1.00 ms
         16         2.00 ms      1.00 ms
        100         refused      refused
  tile 100 refused: 10000 threads per block, the limit is 1024

gemm without tiles, f64: median times
variant                           100    1 000
───────────────────────────────────────────────
dense-serial-loops, 1 thread   500 µs  refused
auto on cuda                  10.0 µs  1.00 ms
";
        let found = by_tile(&records).unwrap();
        assert_eq!(found, expected, "found\n{found}");
    }

    #[test]
    fn one_size_and_width_is_nothing_to_compare() {
        assert_eq!(by_tile(&[]), None);
        let one = timed("dense-cuda-tile-by-row-8", 100, Some(8), 1e6);
        assert_eq!(by_tile(std::slice::from_ref(&one)), None);
        let other = refused(timed("dense-cuda-tile-by-row-16", 100, Some(16), 0.0), "no usable GPU");
        assert_eq!(by_tile(std::slice::from_ref(&other)), None);
        assert!(by_tile(&[one.clone(), other]).unwrap().contains("refused"));
        let larger = timed("dense-cuda-tile-by-row-8", 200, Some(8), 8e6);
        assert!(by_tile(&[one.clone(), larger]).unwrap().contains("8.00 ms"), "several sizes of one width");
        let mut uneven = timed("dense-cuda-tile-by-row-16", 100, Some(16), 1e6);
        uneven.m = Some(7);
        let launched = Record { geometry: Some("block 5x7".to_owned()), ..one.clone() };
        assert!(by_tile(&[launched]).is_none(), "a block of 5×7 has no tile of that width");
        let padded = Record { pad: Some(3), ..one.clone() };
        let found = by_tile(&[one.clone(), padded]).unwrap();
        assert!(found.contains("100, rows padded by 3"), "{found}");
        let found = by_tile(&[one, uneven]).unwrap();
        assert!(found.contains("100 × 7 × 100"), "{found}");
    }
}
