//! The same variant looks the same in every figure: its colour by its name, its dashes by what else its series' name says.

use ordito_chart::sections::Section;
use ordito_chart::{COLOURS, Figure, LOOKS};
use std::collections::BTreeSet;

/// Gives every series of the plots its look.
pub(crate) fn assign(sections: &mut [Section]) {
    let (mut variants, mut suffixes) = (Vec::<String>::new(), Vec::<String>::new());
    for name in names(sections) {
        let (variant, suffix) = parts(&name);
        if !variants.iter().any(|known| known == variant) {
            variants.push(variant.to_owned());
        }
        if !suffix.is_empty() && !suffixes.iter().any(|known| known == suffix) {
            suffixes.push(suffix.to_owned());
        }
    }
    let rounds = variants.len().div_ceil(COLOURS);
    for section in sections {
        for named in &mut section.figures {
            let Figure::Plot(plot) = &mut named.figure else { continue };
            let mut taken = BTreeSet::new();
            for series in &mut plot.series {
                let (variant, suffix) = parts(&series.name);
                let place =
                    |list: &[String], what: &str| list.iter().position(|known| known == what).unwrap_or(0);
                let (variant, suffix) = (place(&variants, variant), place(&suffixes, suffix));
                let wanted = variant % COLOURS + COLOURS * (variant / COLOURS + rounds * suffix);
                let look = free_look(wanted % LOOKS, &taken);
                taken.insert(look);
                series.look = Some(look);
            }
        }
    }
}

/// The one that is wanted, else one of the same colour, else any; where all are taken, they begin again.
fn free_look(wanted: usize, taken: &BTreeSet<usize>) -> usize {
    let same_colour = (0..LOOKS / COLOURS).map(|round| (wanted + round * COLOURS) % LOOKS);
    let others = (0..LOOKS).map(|step| (wanted + step) % LOOKS);
    same_colour.chain(others).find(|look| !taken.contains(look)).unwrap_or(wanted)
}

/// `csr-serial` and `2 threads, cold` of `csr-serial, 2 threads, cold`.
fn parts(name: &str) -> (&str, &str) {
    name.split_once(", ").unwrap_or((name, ""))
}

fn names(sections: &[Section]) -> Vec<String> {
    let plots =
        sections.iter().flat_map(|section| &section.figures).filter_map(|named| match &named.figure {
            Figure::Plot(plot) => Some(plot),
            _ => None,
        });
    plots.flat_map(|plot| plot.series.iter().map(|series| series.name.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figures::sections;
    use crate::report::figures::tests::{run, timed};

    #[test]
    fn lines_of_one_figure_never_look_alike() {
        let variants: Vec<String> = (0..9).map(|number| format!("v{number}")).collect();
        let records = |threads: u64| {
            let of = move |variant: &String| [4, 8].map(|k| timed(variant, k, threads, 2.0));
            variants.iter().flat_map(of).collect::<Vec<_>>()
        };
        let both = || [records(1), records(2)].concat();
        let sections = sections(&[run("a", both()), run("b", both())]);
        let Figure::Plot(plot) = &sections[0].figures[0].figure else { panic!("no plot") };
        let looks: BTreeSet<Option<usize>> = plot.series.iter().map(|series| series.look).collect();
        assert_eq!((plot.series.len(), looks.len()), (36, 36));
    }

    #[test]
    fn a_variant_keeps_its_colour_and_threads_change_its_dashes() {
        let mut records = Vec::new();
        for matrix in ["a", "b"] {
            for (variant, threads) in [("x", 1), ("y", 1), ("y", 2)] {
                for k in [4, 8] {
                    let mut record = timed(variant, k, threads, 2.0);
                    record.matrix = Some(matrix.into());
                    records.push(record);
                }
            }
        }
        records.retain(|record| record.matrix.as_deref() != Some("b") || record.variant != "x");
        let sections = sections(&[run("r", records)]);
        let looks = |figure: usize| -> Vec<(String, usize)> {
            let Figure::Plot(plot) = &sections[0].figures[figure].figure else { panic!("no plot") };
            plot.series.iter().map(|series| (series.name.clone(), series.look.unwrap())).collect()
        };
        let look = |name: &str, look| (name.to_owned(), look);
        assert_eq!(looks(0), [look("x, 1 thread", 0), look("y, 1 thread", 1), look("y, 2 threads", 9)]);
        assert_eq!(looks(1), [look("y, 1 thread", 1), look("y, 2 threads", 9)]);
    }
}
