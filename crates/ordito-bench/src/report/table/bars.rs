//! What `bench` draws below a table: the best rate of every variant.

use crate::report::bar::{Ink, bar};
use crate::report::record::Record;
use crate::report::table::{Row, by_input, rows};
use ordito::units;

/// The longest bar, where there is room for it.
const WIDEST: usize = 40;
/// Characters of a rate.
const RATE_WIDTH: usize = 7;
/// The shortest longest bar that is worth drawing.
const NARROWEST: usize = 8;

/// For every input a bar per variant: the best GFLOP/s of its records, or GB/s where nothing is multiplied. Nothing for an
/// input with less than two rates, and nothing in the emulator, whose times are no measure.
pub fn bars(records: &[Record], width: u16, ink: Ink) -> String {
    let groups = by_input(rows(records));
    let drawn = groups.iter().filter_map(|(_, rows)| {
        let (unit, rates) = best_rates(rows)?;
        let name_width = rates.iter().map(|(name, _)| name.chars().count()).max()?;
        let most = rates.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
        let before_the_bar = 2 + name_width + 2 + RATE_WIDTH + 2;
        let widest = usize::from(width).saturating_sub(before_the_bar).clamp(NARROWEST, WIDEST);
        let line = |(name, rate): &(String, f64)| {
            format!(
                "  {name:<name_width$}  {:>RATE_WIDTH$}  {}\n",
                units::number(*rate),
                bar(*rate, most, widest, ink)
            )
        };
        Some(format!("best {unit} of each variant\n{}", rates.iter().map(line).collect::<String>()))
    });
    drawn.collect::<Vec<_>>().join("\n")
}

/// The unit, and the best of every variant in order of first appearance.
fn best_rates(rows: &[Row<'_>]) -> Option<(&'static str, Vec<(String, f64)>)> {
    let measured = || rows.iter().map(|row| row.record).filter(|record| record.place != "emulator");
    let in_unit = |rate: fn(&Record) -> Option<f64>| {
        let mut best: Vec<(String, f64)> = Vec::new();
        for record in measured() {
            let Some(rate) = rate(record).filter(|rate| rate.is_finite()) else { continue };
            match best.iter_mut().find(|(name, _)| *name == record.name()) {
                Some((_, known)) => *known = known.max(rate),
                None => best.push((record.name(), rate)),
            }
        }
        (best.len() > 1).then_some(best)
    };
    let flops = in_unit(|record| record.gflops).map(|rates| ("GFLOP/s", rates));
    flops.or_else(|| in_unit(|record| record.gbytes_per_s).map(|rates| ("GB/s", rates)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::outcome::Outcome;

    fn rated(variant: &str, k: u64, gflops: Option<f64>, gbytes_per_s: f64) -> Record {
        let mut record = Record::new("spmm", variant, Outcome::Passed);
        (record.k, record.gflops, record.gbytes_per_s) = (Some(k), gflops, Some(gbytes_per_s));
        record
    }

    #[test]
    fn the_best_of_every_variant_has_a_bar() {
        let records = [
            rated("csr-serial", 8, Some(2.0), 1.0),
            rated("csr-threads-nnz", 8, Some(6.0), 1.0),
            rated("csr-serial", 32, Some(1.0), 1.0),
            rated("csr-threads-nnz", 32, Some(8.0), 1.0),
        ];
        let expected = "\
best GFLOP/s of each variant
  csr-serial          2.00  ##
  csr-threads-nnz     8.00  ########
";
        assert_eq!(bars(&records, 0, Ink::Ascii), expected);
        let wide = bars(&records, 200, Ink::Blocks);
        assert!(wide.contains(&"█".repeat(40)) && !wide.contains(&"█".repeat(41)), "{wide}");
        assert!(bars(&records, 60, Ink::Ascii).lines().all(|line| line.chars().count() <= 60));
    }

    #[test]
    fn without_products_bytes_count_and_a_single_bar_says_nothing() {
        let copies = [rated("copy", 1, None, 10.0), rated("pinned", 1, None, 20.0)];
        assert!(bars(&copies, 80, Ink::Ascii).starts_with("best GB/s of each variant\n  copy"));
        assert_eq!(bars(&copies[..1], 80, Ink::Ascii), "");
        let emulated = copies.map(|record| Record { place: "emulator".to_owned(), ..record });
        assert_eq!(bars(&emulated, 80, Ink::Ascii), "");
        assert_eq!(bars(&[], 80, Ink::Ascii), "");
    }
}
