//! Bars and sparklines made of characters, for the terminal.

/// What they are drawn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ink {
    /// `#`: fits any terminal and any file.
    #[default]
    Ascii,
    /// Blocks in steps of an eighth.
    Blocks,
}

/// One eighth to seven.
const EIGHTHS_ALONG: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];
/// One eighth to eight.
const EIGHTHS_UP: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A bar for `value`, where one for `most` is `widest` characters wide. Rounded up: more than nothing can be seen.
///
/// ```
/// use ordito_bench::report::bar::{Ink, bar};
/// assert_eq!(bar(3.0, 8.0, 4, Ink::Blocks), "█▌");
/// assert_eq!(bar(3.0, 8.0, 4, Ink::Ascii), "##");
/// ```
pub fn bar(value: f64, most: f64, widest: usize, ink: Ink) -> String {
    match ink {
        Ink::Ascii => "#".repeat(steps(value, most, widest)),
        Ink::Blocks => {
            let eighths = steps(value, most, widest.saturating_mul(8));
            let rest = (eighths % 8).checked_sub(1).map(|rest| EIGHTHS_ALONG[rest]);
            "█".repeat(eighths / 8).chars().chain(rest).collect()
        }
    }
}

/// A character for each value, as high as its share of the largest; a gap for what is not positive.
///
/// ```
/// assert_eq!(ordito_bench::report::bar::sparkline(&[1.0, 0.0, 4.0, 8.0]), "▁ ▄█");
/// ```
pub fn sparkline(values: &[f64]) -> String {
    let most = values.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    let character = |value: &f64| steps(*value, most, 8).checked_sub(1).map_or(' ', |step| EIGHTHS_UP[step]);
    values.iter().map(character).collect()
}

/// The share of `most` in steps of which it has `all`, rounded up.
fn steps(value: f64, most: f64, all: usize) -> usize {
    let share = value * all as f64 / most;
    if share.is_finite() && share > 0.0 { (share.ceil() as usize).min(all) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_rounded_up_and_never_longer_than_allowed() {
        for (value, ascii, blocks) in [
            (0.0, "", ""),
            (1e-9, "#", "▏"),
            (10.0, "#", "█"),
            (11.25, "##", "█▏"),
            (18.75, "##", "█▉"),
            (40.0, "####", "████"),
            (99.0, "####", "████"),
            (-1.0, "", ""),
            (f64::NAN, "", ""),
            (f64::INFINITY, "", ""),
        ] {
            assert_eq!(bar(value, 40.0, 4, Ink::Ascii), ascii, "{value}");
            assert_eq!(bar(value, 40.0, 4, Ink::Blocks), blocks, "{value}");
        }
        assert_eq!(
            (bar(0.0, 0.0, 4, Ink::Ascii), bar(1.0, 1.0, 0, Ink::Blocks)),
            (String::new(), String::new())
        );
    }

    #[test]
    fn sparklines_have_a_character_for_each_value() {
        assert_eq!(sparkline(&[]), "");
        assert_eq!(sparkline(&[0.0, 0.0]), "  ");
        assert_eq!(sparkline(&[f64::NAN, 1.0, 100.0, 50.1]), " ▁█▅");
    }
}
