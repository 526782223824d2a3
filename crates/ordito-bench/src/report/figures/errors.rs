//! How far every variant is from the limit of its error.

use crate::report::figures::groups::Group;
use ordito::units;
use ordito_chart::{Bar, Bars, Figure};

/// The largest error over its bound of every variant, over all that was varied.
pub(crate) fn ratios(group: &Group<'_>) -> Option<Figure> {
    // A wrong result may have no ratio: its error, or the bound, is no number.
    let mut worst: Vec<(String, f64)> = Vec::new();
    for &member in &group.members {
        let ratio = member.record.bound_ratio.unwrap_or(f64::INFINITY);
        let name = group.name_of(member);
        match worst.iter_mut().find(|(known, _)| *known == name) {
            Some((_, largest)) => *largest = largest.max(ratio),
            None => worst.push((name, ratio)),
        }
    }
    worst.sort_by(|a, b| b.1.total_cmp(&a.1));
    let bar = |(name, ratio): (String, f64)| {
        let text = match ratio {
            0.0 => "exact".into(),
            ratio if ratio.is_infinite() => "wrong: no number".into(),
            ratio if ratio > 1.0 => format!("{}: wrong", units::number(ratio)),
            ratio => units::number(ratio),
        };
        Bar { name, values: vec![ratio], text }
    };
    let all_exact = worst.iter().all(|(_, ratio)| *ratio == 0.0);
    let limit = Bar { name: "(the limit)".into(), values: vec![1.0], text: "1".into() };
    let rows: Vec<Bar> = [limit].into_iter().chain(worst.into_iter().map(bar)).collect();
    (!all_exact).then(|| {
        Figure::Bars(Bars {
            title: format!("Largest error over its bound: {}", group.title),
            label: "error / bound".into(),
            parts: vec![String::new()],
            rows,
            ..Bars::default()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figures::groups::timed as grouped;
    use crate::report::figures::tests::{run, timed};

    #[test]
    fn the_worst_of_each_variant_is_shown_the_worst_on_top() {
        let mut other = timed("x", 16, 1, 1.0);
        other.bound_ratio = Some(0.5);
        let mut exact = timed("y", 8, 1, 1.0);
        exact.bound_ratio = Some(0.0);
        let runs = [run("a", vec![exact, timed("x", 8, 1, 1.0), other])];
        let Some(Figure::Bars(bars)) = ratios(&grouped(&runs)[0]) else { panic!("no bars") };
        let rows: Vec<(&str, &str)> = bars.rows.iter().map(|b| (b.name.as_str(), b.text.as_str())).collect();
        assert_eq!(rows, [("(the limit)", "1"), ("x", "0.500"), ("y", "exact")]);
    }
}
