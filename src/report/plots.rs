//! The figures of a report as files, for papers and slides.

use super::chart::{paper, png};
use super::figures::Section;
use crate::io::{WriteError, write_atomically};
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
        reason: std::io::Error,
    },
    /// A figure that could not be drawn as pixels.
    #[error("{name}.png: {reason}")]
    Pixels {
        /// The figure.
        name: String,
        /// Why not.
        reason: png::PngError,
    },
}

/// Writes every figure as SVG and as PNG into the folder, which is made if it is not there. Pictures of an earlier run that
/// this one does not have are removed: beside new ones nobody could tell them apart.
pub fn write(folder: &Path, sections: &[Section]) -> Result<(), PlotError> {
    let fault = |reason| PlotError::Folder { path: folder.to_owned(), reason };
    std::fs::create_dir_all(folder).map_err(fault)?;
    let mut written = Vec::new();
    for named in sections.iter().flat_map(|section| &section.figures) {
        let svg = paper::render(&named.figure);
        let pixels =
            png::encode(&svg).map_err(|reason| PlotError::Pixels { name: named.file.clone(), reason })?;
        for (extension, bytes) in [("svg", svg.as_bytes()), ("png", &pixels)] {
            let name = format!("{}.{extension}", named.file);
            write_atomically(&folder.join(&name), |file| file.write_all(bytes))?;
            written.push(name);
        }
    }
    for entry in std::fs::read_dir(folder).map_err(fault)? {
        let entry = entry.map_err(fault)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_picture = [".svg", ".png"].iter().any(|extension| name.ends_with(extension));
        if is_picture && !written.contains(&name) {
            std::fs::remove_file(entry.path()).map_err(fault)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::{Bar, Bars, Figure};
    use crate::report::figures::Named;

    #[test]
    fn both_kinds_appear_and_old_pictures_go() {
        let folder = tempfile::tempdir().unwrap();
        let plots = folder.path().join("plots");
        std::fs::create_dir(&plots).unwrap();
        for name in ["old.svg", "old.png", "notes.txt"] {
            std::fs::write(plots.join(name), "x").unwrap();
        }
        let rows = vec![Bar { name: "a".into(), values: vec![1.0], text: "1".into() }];
        let figure =
            Figure::Bars(Bars { title: "t".into(), parts: vec![String::new()], rows, ..Bars::default() });
        let figures = vec![Named { file: "speed-a".into(), figure }];
        write(&plots, &[Section { title: "Speed", intro: "", figures }]).unwrap();
        let mut names: Vec<String> = std::fs::read_dir(&plots)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["notes.txt", "speed-a.png", "speed-a.svg"]);
        assert!(std::fs::read(plots.join("speed-a.png")).unwrap().starts_with(b"\x89PNG"));
    }
}
