//! The same variant looks the same in every figure: its colour by its name, its dashes by what else its series' name says.

use ordito_chart::sections::Section;
use ordito_chart::{COLOURS, Figure, LOOKS, Series};
use std::collections::BTreeSet;

/// Gives every series its look, but for those that have one: they are told apart by their panel.
pub(crate) fn assign(sections: &mut [Section]) {
    let (mut variants, mut suffixes) = (Vec::<String>::new(), Vec::<String>::new());
    let figures = sections.iter_mut().flat_map(|section| &mut section.figures);
    let mut all: Vec<Vec<Named<'_>>> = figures.map(|named| names(&mut named.figure)).collect();
    for (name, _) in all.iter().flatten() {
        let (variant, suffix) = parts(name);
        if !variants.iter().any(|known| known == variant) {
            variants.push(variant.to_owned());
        }
        if !suffix.is_empty() && !suffixes.iter().any(|known| known == suffix) {
            suffixes.push(suffix.to_owned());
        }
    }
    let rounds = variants.len().div_ceil(COLOURS);
    for figure in &mut all {
        // A name may stand in several panels.
        let mut given: Vec<(&str, usize)> = Vec::new();
        for (name, look) in figure {
            let known = given.iter().find(|(known, _)| known == name).map(|(_, look)| *look);
            let found = known.unwrap_or_else(|| {
                let (variant, suffix) = parts(name);
                let place =
                    |list: &[String], what: &str| list.iter().position(|known| known == what).unwrap_or(0);
                let (variant, suffix) = (place(&variants, variant), place(&suffixes, suffix));
                let wanted = variant % COLOURS + COLOURS * (variant / COLOURS + rounds * suffix);
                free_look(wanted % LOOKS, &given.iter().map(|(_, look)| *look).collect())
            });
            given.push((name, found));
            **look = Some(found);
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
pub(crate) fn parts(name: &str) -> (&str, &str) {
    name.split_once(", ").unwrap_or((name, ""))
}

/// The name of a series and where its look goes.
type Named<'a> = (&'a str, &'a mut Option<usize>);

fn names(figure: &mut Figure) -> Vec<Named<'_>> {
    fn of_line(series: &mut Series) -> Named<'_> {
        (series.name.as_str(), &mut series.look)
    }
    let all: Vec<Named<'_>> = match figure {
        Figure::Plot(plot) => plot.series.iter_mut().map(of_line).collect(),
        Figure::Multiples(multiples) => {
            multiples.panels.iter_mut().flat_map(|panel| &mut panel.series).map(of_line).collect()
        }
        Figure::Dots(dots) => {
            let coloured = dots.series.iter_mut().filter(|series| !series.is_grey);
            coloured.map(|series| (series.name.as_str(), &mut series.look)).collect()
        }
        Figure::Bars(_) | Figure::Grid(_) | Figure::Maps(_) | Figure::Panels(_) => Vec::new(),
    };
    all.into_iter().filter(|(_, look)| look.is_none()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figures::sections;
    use crate::report::figures::tests::{run, timed};

    #[test]
    fn lines_of_one_figure_never_look_alike() {
        let variants: Vec<String> = (0..2).map(|number| format!("v{number}")).collect();
        let records = |threads: u64| {
            let of = move |variant: &String| [4, 8].map(|k| timed(variant, k, threads, 2.0));
            variants.iter().flat_map(of).collect::<Vec<_>>()
        };
        let both = || [records(1), records(2)].concat();
        let sections = sections(&[run("a", both()), run("b", both())]);
        let Figure::Plot(plot) = &sections[0].figures[0].figure else { panic!("no plot") };
        let looks: BTreeSet<Option<usize>> = plot.series.iter().map(|series| series.look).collect();
        assert_eq!((plot.series.len(), looks.len()), (8, 8));
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
        let speed = sections.iter().find(|section| section.title == "Speed").unwrap();
        let looks = |figure: usize| -> Vec<(String, usize)> {
            let Figure::Plot(plot) = &speed.figures[figure].figure else { panic!("no plot") };
            plot.series.iter().map(|series| (series.name.clone(), series.look.unwrap())).collect()
        };
        let look = |name: &str, look| (name.to_owned(), look);
        assert_eq!(looks(0), [look("x, 1 thread", 0), look("y, 1 thread", 1), look("y, 2 threads", 9)]);
        assert_eq!(looks(1), [look("y, 1 thread", 1), look("y, 2 threads", 9)]);
        let Figure::Dots(dots) = &sections[0].figures[0].figure else { panic!("no dots") };
        let dots: Vec<_> =
            dots.series.iter().map(|series| (series.name.clone(), series.look.unwrap())).collect();
        assert_eq!(dots, [look("x", 0), look("y", 1)]);
    }
}
