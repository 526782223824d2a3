//! More lines than a reader can follow become small multiples: a panel for every variant, all others in grey behind it.

use crate::report::figures::looks::parts;
use crate::report::figures::quantity::Best;
use ordito_chart::{Figure, Multiple, Multiples, Plot, Series, Style};

/// As many as there are colours; with more, nobody knows any longer which is which.
pub(crate) const MOST_LINES: usize = 8;
/// Bands of more lines than this would only cover each other.
const MOST_BANDS: usize = 6;
/// The same in a small panel.
const MOST_BANDS_OF_PANEL: usize = 2;
/// Six rows of four: more is not taken in.
pub(crate) const MOST_PANELS: usize = 24;

/// The plot itself, or its lines by variant where they are too many.
pub(crate) fn readable(mut plot: Plot, best: Best) -> Figure {
    if plot.series.len() <= MOST_LINES {
        if plot.series.len() > MOST_BANDS {
            without_bands(&mut plot.series);
        }
        return Figure::Plot(plot);
    }
    let mut suffixes: Vec<String> = Vec::new();
    for series in &plot.series {
        let suffix = parts(&series.name).1;
        if !suffixes.iter().any(|known| known == suffix) {
            suffixes.push(suffix.to_owned());
        }
    }
    let kept = spread(&suffixes, MOST_LINES);
    let (mut panels, mut others) = (Vec::<Multiple>::new(), Vec::new());
    for series in plot.series {
        let (variant, suffix) = parts(&series.name);
        let Some(look) = kept.iter().position(|kept| *kept == suffix) else {
            others.push(series);
            continue;
        };
        let (name, line) = (variant.to_owned(), suffix.to_owned());
        let series = Series { name: line, look: Some(look), ..series };
        match panels.iter_mut().find(|panel| panel.name == name) {
            Some(panel) => panel.series.push(series),
            None => panels.push(Multiple { name, series: vec![series] }),
        }
    }
    for panel in panels.iter_mut().filter(|panel| panel.series.len() > MOST_BANDS_OF_PANEL) {
        without_bands(&mut panel.series);
    }
    let with_others = panels.iter().flat_map(|panel| &panel.series).all(|series| series.style != Style::Dots);
    let mut note = vec![plot.note, "A panel for every variant, from the fastest on.".to_owned()];
    note.extend(with_others.then(|| "All others are grey.".to_owned()));
    note.push(left_out_lines(suffixes.len()));
    note.push(best_panels(&mut panels, &mut others, best));
    let labels = plot.guides.iter().map(|guide| guide.label.as_str()).filter(|label| !label.is_empty());
    let labels: Vec<&str> = labels.collect();
    note.extend((!labels.is_empty()).then(|| format!("Dashed: {}.", labels.join("; "))));
    note.retain(|sentence| !sentence.is_empty());
    Figure::Multiples(Multiples {
        title: plot.title,
        note: note.join(" "),
        x: plot.x,
        y: plot.y,
        panels,
        others,
        with_others,
        guides: plot.guides,
    })
}

fn without_bands(series: &mut [Series]) {
    series.iter_mut().flat_map(|series| &mut series.points).for_each(|point| point.range = None);
}

/// What is said where lines of a panel were left out.
fn left_out_lines(count: usize) -> String {
    match count > MOST_LINES {
        true => format!("{MOST_LINES} of {count} lines are shown in each; the numbers have them all."),
        false => String::new(),
    }
}

/// Sorts panels from the best to the worst. What is too much goes to the others; a sentence says so.
pub(crate) fn best_panels(panels: &mut Vec<Multiple>, others: &mut Vec<Series>, best: Best) -> String {
    panels.sort_by(|one, other| match best {
        Best::Highest => level(other).total_cmp(&level(one)),
        Best::Lowest => level(one).total_cmp(&level(other)),
    });
    let count = panels.len();
    if count <= MOST_PANELS {
        return String::new();
    }
    for panel in panels.split_off(MOST_PANELS) {
        let whole = |series: &Series| match series.name.as_str() {
            "" => panel.name.clone(),
            line => format!("{}, {line}", panel.name),
        };
        others.extend(panel.series.iter().map(|series| Series { name: whole(series), ..series.clone() }));
    }
    format!("The fastest {MOST_PANELS} of {count} have a panel; the numbers have them all.")
}

/// The geometric mean of what a panel shows, as a logarithm: no K outweighs the others.
fn level(panel: &Multiple) -> f64 {
    let points = panel.series.iter().flat_map(|series| &series.points);
    let logarithms: Vec<f64> = points.filter(|point| point.y > 0.0).map(|point| point.y.ln()).collect();
    logarithms.iter().sum::<f64>() / logarithms.len().max(1) as f64
}

/// The first, the last and so many between them that `most` are left, evenly.
pub(crate) fn spread<T>(all: &[T], most: usize) -> Vec<&T> {
    if all.len() <= most {
        return all.iter().collect();
    }
    let last = all.len() - 1;
    (0..most).map(|step| &all[(step * last + (most - 1) / 2) / (most - 1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ordito_chart::{Guide, Point};

    fn line(name: &str, y: f64) -> Series {
        let point = |x| Point { x, y, range: Some((y, y)), ..Point::default() };
        Series { name: name.to_owned(), points: vec![point(1.0), point(2.0)], ..Series::default() }
    }

    fn plot(series: Vec<Series>) -> Plot {
        let guides = vec![Guide { label: "memory: 9 GB/s".into(), ..Guide::default() }];
        Plot { title: "t".into(), series, guides, ..Plot::default() }
    }

    fn multiples(series: Vec<Series>, best: Best) -> Multiples {
        let Figure::Multiples(multiples) = readable(plot(series), best) else { panic!("no multiples") };
        multiples
    }

    #[test]
    fn eight_lines_are_a_plot_and_nine_are_panels() {
        let lines = |count: usize| (0..count).map(|n| line(&format!("v{n}"), 1.0 + n as f64)).collect();
        assert_eq!(readable(plot(lines(6)), Best::Highest), Figure::Plot(plot(lines(6))));
        let Figure::Plot(eight) = readable(plot(lines(8)), Best::Highest) else { panic!("no plot") };
        assert!(eight.series.iter().flat_map(|series| &series.points).all(|point| point.range.is_none()));
        let nine = multiples(lines(9), Best::Highest);
        let names: Vec<&str> = nine.panels.iter().map(|panel| panel.name.as_str()).collect();
        assert_eq!((names.len(), names[0], names[8]), (9, "v8", "v0"));
        assert_eq!(multiples(lines(9), Best::Lowest).panels[0].name, "v0");
        assert!(nine.with_others && nine.note.contains("Dashed: memory: 9 GB/s."), "{}", nine.note);
        assert!(nine.panels[0].series[0].points[0].range.is_some(), "a panel has room for a band");
    }

    #[test]
    fn lines_of_a_variant_share_its_panel() {
        let both = |n: usize| ["1 thread", "2 threads"].map(|t| line(&format!("v{n}, {t}"), 1.0));
        let five = multiples((0..5).flat_map(both).collect(), Best::Highest);
        assert_eq!(five.panels.len(), 5);
        for panel in &five.panels {
            let lines: Vec<(&str, Option<usize>)> =
                panel.series.iter().map(|series| (series.name.as_str(), series.look)).collect();
            assert_eq!(lines, [("1 thread", Some(0)), ("2 threads", Some(1))]);
        }
    }

    #[test]
    fn what_is_left_out_is_said_and_stays_in_the_numbers() {
        let many = multiples((0..30).map(|n| line(&format!("v{n}"), 1.0 + n as f64)).collect(), Best::Lowest);
        assert_eq!((many.panels.len(), many.others.len()), (24, 6));
        assert!(many.note.contains("The fastest 24 of 30 have a panel"), "{}", many.note);
        assert_eq!(many.others[5].name, "v29");
        let threads =
            multiples((1..=16).map(|n| line(&format!("v, {n} threads"), 1.0)).collect(), Best::Lowest);
        assert_eq!((threads.panels.len(), threads.panels[0].series.len(), threads.others.len()), (1, 8, 8));
        assert!(threads.note.contains("8 of 16 lines are shown"), "{}", threads.note);
    }

    #[test]
    fn both_ends_are_kept() {
        let all: Vec<usize> = (1..=16).collect();
        assert_eq!(spread(&all, 8), [&1, &3, &5, &7, &10, &12, &14, &16]);
        assert_eq!(spread(&all[..3], 8), [&1, &2, &3]);
        assert!(spread::<u8>(&[], 8).is_empty());
    }
}
