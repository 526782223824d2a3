//! The figures of a report as files, for papers and slides.

use crate::paper;
use crate::paper::Sheet;
use crate::sections::{Named, Section};
use ordito::files::{WriteError, write_atomically};
use rayon::prelude::*;
use std::path::Path;

/// Why the figures could not all be written.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The folder or a file.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The folder could not be made or looked through.
    #[error("{}: {reason}", path.display())]
    Folder {
        /// The folder.
        path: std::path::PathBuf,
        /// What the system says.
        #[source]
        reason: std::io::Error,
    },
}

/// The list of what was written, so that the next run knows what is its own to remove.
const LIST: &str = ".ordito-figures";

/// Writes every figure as SVG and as PNG into the folder, which is made if it is not there. Figures of an earlier run that
/// this one does not have are removed: beside new ones nobody could tell them apart. What else lies there stays. What
/// cannot be drawn as pixels is left out and told; without the feature `png` that is every figure.
pub fn write(folder: &Path, sections: &[Section]) -> Result<Vec<String>, PlotError> {
    let fault = |reason| PlotError::Folder { path: folder.to_owned(), reason };
    std::fs::create_dir_all(folder).map_err(fault)?;
    let earlier = std::fs::read_to_string(folder.join(LIST)).unwrap_or_default();
    let (mut written, mut notes, mut without_png) = (Vec::new(), Vec::new(), false);
    let figures: Vec<&Named> = sections.iter().flat_map(|section| &section.figures).collect();
    // Pixels take longer than all the rest, and every figure its own.
    let drawn: Vec<(String, Pixels)> = figures
        .par_iter()
        .map(|named| {
            let sheet = paper::sheet(&named.figure);
            (sheet.svg(), pixels(&sheet))
        })
        .collect();
    for (named, (svg, pixels)) in figures.iter().zip(drawn) {
        let (svg_name, png_name) = (format!("{}.svg", named.file), format!("{}.png", named.file));
        write_atomically(&folder.join(&svg_name), |file| file.write_all(svg.as_bytes()))?;
        written.push(svg_name);
        match pixels {
            Some(Ok(pixels)) => {
                write_atomically(&folder.join(&png_name), |file| file.write_all(&pixels))?;
                written.push(png_name);
            }
            Some(Err(reason)) => notes.push(format!("{png_name} was left out: {reason}")),
            None => without_png = true,
        }
    }
    if without_png {
        notes.push("PNG files were left out: the program was built without them".to_owned());
    }
    // Only plain names: whoever edits the list cannot point it elsewhere.
    let is_plain = |name: &&str| !name.is_empty() && !name.contains(['/', '\\']) && !name.starts_with('.');
    for name in earlier.lines().filter(is_plain).filter(|name| !written.iter().any(|new| new == name)) {
        match std::fs::remove_file(folder.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(fault(error)),
            _ => {}
        }
    }
    write_atomically(&folder.join(LIST), |file| file.write_all((written.join("\n") + "\n").as_bytes()))?;
    Ok(notes)
}

/// A PNG file, or why there is none; `None` where the program was built without PNG files.
type Pixels = Option<Result<Vec<u8>, String>>;

#[cfg(feature = "png")]
fn pixels(sheet: &Sheet) -> Pixels {
    Some(crate::png::encode_sheet(sheet).map_err(|reason| reason.to_string()))
}

#[cfg(not(feature = "png"))]
fn pixels(_: &Sheet) -> Pixels {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bar, Bars, Figure};

    #[test]
    fn all_kinds_appear_and_only_our_own_old_ones_go() {
        let folder = tempfile::tempdir().unwrap();
        let plots = folder.path().join("plots");
        std::fs::create_dir(&plots).unwrap();
        for name in ["old.svg", "mine.png"] {
            std::fs::write(plots.join(name), "x").unwrap();
        }
        std::fs::write(plots.join(LIST), "old.svg\ngone.png\n../plots/mine.png\n").unwrap();
        let rows = vec![Bar { name: "a".into(), values: vec![1.0], text: "1".into() }];
        let figure =
            Figure::Bars(Bars { title: "t".into(), parts: vec![String::new()], rows, ..Bars::default() });
        let figures = vec![Named { file: "speed-a".into(), figure }];
        let notes = write(&plots, &[Section { title: "Speed", intro: "", figures }]).unwrap();
        let mut names: Vec<String> = std::fs::read_dir(&plots)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        if cfg!(feature = "png") {
            assert_eq!(notes, Vec::<String>::new());
            assert_eq!(names, [LIST, "mine.png", "speed-a.png", "speed-a.svg"]);
            assert!(std::fs::read(plots.join("speed-a.png")).unwrap().starts_with(b"\x89PNG"));
        } else {
            assert_eq!(notes, ["PNG files were left out: the program was built without them"]);
            assert_eq!(names, [LIST, "mine.png", "speed-a.svg"]);
        }
    }
}
