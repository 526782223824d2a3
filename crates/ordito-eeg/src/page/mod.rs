//! `report.html` of the EEG job: one file that needs nothing else and fetches nothing. What was read and what came out can
//! be read without the script, which adds the cursor: one time in all plots, with the values and the map there.

mod cursor;
mod tables;

use crate::analysis::{Analysis, Stages};
use crate::figures;
use ordito::files::{WriteError, write_atomically};
use ordito::units;
use ordito_chart::html::{Additions, Contents, page_with};
use ordito_chart::markup::escape;
use ordito_chart::sections::drawn;
use ordito_chart::{Bar, Bars, Figure, page};
use std::path::Path;

/// Writes the page, whole or not at all.
pub fn write(path: &Path, analysis: &Analysis) -> Result<(), WriteError> {
    write_atomically(path, |file| file.write_all(render(analysis).as_bytes()))
}

/// The page.
pub fn render(analysis: &Analysis) -> String {
    let mut contents = Contents::default();
    contents.add("Warnings", &warnings(&analysis.warnings));
    contents.add("Epochs", &tables::epochs(analysis));
    contents.add("Largest peaks", &tables::peaks(analysis));
    for section in figures::sections(analysis) {
        contents.add(section.title, &drawn(&section));
    }
    contents.add("Significant intervals", &tables::intervals(analysis));
    contents.add("What was done", &tables::protocol(analysis));
    contents.add("Where the time went", &times(analysis));
    let additions = Additions { style: include_str!("cursor.css"), script: include_str!("cursor.js") };
    let header = format!("{}{}", summary(analysis), cursor::panel(analysis));
    page_with("Event-related potential", &header, &contents, &additions)
}

/// What was recorded, in a line.
fn summary(analysis: &Analysis) -> String {
    let recording = &analysis.recording;
    let last = recording.time_s(recording.samples.saturating_sub(1));
    let names: Vec<String> = analysis
        .conditions
        .iter()
        .map(|of| format!("{} ({} epochs)", of.name, units::count(of.kept)))
        .collect();
    let line = format!(
        "{}. {} sensors × {} samples, {} Hz, {:.0} to {:.0} ms.",
        names.join(", "),
        recording.sensors.len(),
        recording.samples,
        recording.rate_hz,
        1e3 * recording.start_s,
        1e3 * last
    );
    format!("<p class=\"quiet\">{}</p>\n", escape(&line))
}

fn warnings(warnings: &[String]) -> String {
    let one = |warning: &String| format!("<p class=\"verdict bad\">{}</p>\n", escape(warning));
    warnings.iter().map(one).collect()
}

/// The stages as bars, and who computed.
fn times(analysis: &Analysis) -> String {
    let html = tables::chosen(analysis);
    let stages = stages(&analysis.stages);
    if stages.rows.is_empty() {
        return html;
    }
    format!("{}<div class=\"charts\">\n{}</div>\n", html, page::render(&Figure::Bars(stages), "stages"))
}

fn stages(stages: &Stages) -> Bars {
    let bar = |(name, ns): (&str, f64)| Bar {
        name: name.to_owned(),
        values: vec![ns / 1e6],
        text: units::duration(ns),
    };
    Bars {
        title: "Stages".to_owned(),
        note: "Wall-clock time of each, in the order in which they happen.".to_owned(),
        label: "ms".to_owned(),
        parts: vec![String::new()],
        rows: stages.named().into_iter().map(bar).collect(),
        ..Bars::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::planted;

    const HOSTILE: &str = "\"><img src=x onerror=window.broken=1>";

    /// The pages in the folder `ORDITO_ERP_GALLERY`, where that is set, for the browser and the eye.
    #[test]
    fn pages_and_figures_appear() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = std::env::var_os("ORDITO_ERP_GALLERY")
            .map_or_else(|| scratch.path().to_owned(), std::path::PathBuf::from);
        std::fs::create_dir_all(&folder).unwrap();
        let mut hostile = planted();
        for name in hostile.recording.sensors.iter_mut().take(30) {
            *name = format!("{HOSTILE}{name}");
        }
        hostile.conditions[0].name = "<script>window.broken=1</script>".to_owned();
        hostile.recording.unit = "<b>\"'&".to_owned();
        let mut alone = planted();
        alone.conditions.truncate(1);
        alone.difference = None;
        alone.groups.clear();
        alone.peaks.retain(|peak| peak.of == crate::peaks::Wave::Condition(0));
        alone.warnings.clear();
        for (name, analysis) in [("planted", planted()), ("hostile", hostile), ("alone", alone)] {
            let path = folder.join(format!("{name}.html"));
            write(&path, &analysis).unwrap();
            let page = std::fs::read_to_string(&path).unwrap();
            assert!(page.len() < 3_000_000, "{name}: {} bytes", page.len());
            assert_eq!(page.matches("<script").count(), 1, "{name}");
            assert!(!page.contains("<img") && !page.contains("<b>"), "{name}");
            // The panel of the cursor is left out: in base64, any three letters may be found.
            let body = &page[page.find("<main>").unwrap()..page.find("<script").unwrap()];
            assert!(!body.contains("NaN") && !body.contains("inf\""), "{name}: a number that is none");
            for outside in ["http:", "https:", " src=", "url(", "@import", "fetch("] {
                assert!(name == "hostile" || !page.contains(outside), "{name}: {outside}");
            }
        }
        let notes =
            ordito_chart::plots::write(&folder.join("plots"), &figures::sections(&planted())).unwrap();
        assert!(notes.is_empty() && folder.join("plots/butterfly-target.png").exists(), "{notes:?}");
        assert!(
            folder.join("plots/layout-sensors.svg").exists()
                && folder.join("plots/map-difference.png").exists()
        );
    }

    #[test]
    fn what_a_reader_asks_is_there() {
        let page = render(&planted());
        for text in [
            "n − 1",
            "357",
            "Pz",
            "Largest peaks",
            "Significant intervals",
            "sample-major",
            "windows begin at",
            "600, 1400, 2200 … ms",
            "Pz: groups, windows every 800 ms",
            "offset 200, 200 ms",
            "rows-threads",
            "90.0 ms",
        ] {
            assert!(page.contains(text), "{text} is missing");
        }
        let at = |text: &str| page.find(text).unwrap();
        assert!(at(">Warnings</h2>") < at(">Epochs</h2>"));
        for tag in
            ["table", "tr", "td", "th", "div", "svg", "g", "p", "section", "figure", "aside", "details"]
        {
            let body = &page[at("<body>")..at("<script")];
            let opened =
                body.matches(&format!("<{tag}>")).count() + body.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, body.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }

    #[test]
    fn nothing_recorded_is_a_page_too() {
        let mut empty = planted();
        empty.conditions.clear();
        empty.groups.clear();
        empty.difference = None;
        empty.peaks.clear();
        assert!(render(&empty).ends_with("</html>\n"));
    }
}
