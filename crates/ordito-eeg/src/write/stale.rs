//! Files of an earlier run that this one does not write: beside a new report nobody could tell them apart.

use crate::analysis::Analysis;
use crate::job::{NONTARGET, TARGET};
use crate::write::{condition_waves, difference_waves};
use ordito::files::WriteError;
use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The waves that some run writes.
const DIFFERENCE_WAVES: [&str; 5] = ["difference", "sem_difference", "t", "degrees_of_freedom", "p"];
const EXTENSIONS: [&str; 2] = ["npy", "csv"];

/// Removes what has a name of ours and was not written now; nothing else.
pub(crate) fn remove(analysis: &Analysis, folder: &Path) -> Result<(), WriteError> {
    let conditions = analysis.conditions.iter().flat_map(condition_waves).map(|(name, _)| name);
    let differences = difference_waves(analysis).into_iter().map(|(name, _)| name.to_owned());
    let written: HashSet<String> = conditions.chain(differences).collect();
    let of_conditions =
        [TARGET, NONTARGET].iter().flat_map(|name| [format!("mean_{name}"), format!("sem_{name}")]);
    let known = of_conditions.chain(DIFFERENCE_WAVES.map(String::from));
    for name in known.filter(|name| !written.contains(name)) {
        for extension in EXTENSIONS {
            remove_file(&folder.join(format!("{name}.{extension}")))?;
        }
    }
    if analysis.difference.as_ref().is_none_or(|difference| difference.permutations.is_none()) {
        remove_file(&folder.join("intervals.csv"))?;
    }
    remove_groups(analysis, &folder.join("groups"))
}

fn remove_groups(analysis: &Analysis, folder: &Path) -> Result<(), WriteError> {
    let written: HashSet<String> =
        analysis.groups.iter().flat_map(condition_waves).map(|(name, _)| name).collect();
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries.flatten() {
        let file_name = entry.file_name();
        let wave = file_name.to_str().and_then(wave_of_group);
        if wave.is_some_and(|wave| !written.contains(wave)) {
            remove_file(&entry.path())?;
        }
    }
    // Only an empty folder goes; what others put there stays, and so does the folder.
    let _ = fs::remove_dir(folder);
    Ok(())
}

/// `mean_group_2` of `mean_group_2.npy`, where that is a name that we give.
fn wave_of_group(file_name: &str) -> Option<&str> {
    let (wave, extension) = file_name.rsplit_once('.')?;
    let group = wave.strip_prefix("mean_").or_else(|| wave.strip_prefix("sem_"))?;
    let number = group.strip_prefix("group_").or_else(|| group.strip_prefix("offset_"))?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && EXTENSIONS.contains(&extension)).then_some(wave)
}

pub(crate) fn remove_file(path: &Path) -> Result<(), WriteError> {
    match fs::remove_file(path) {
        Err(reason) if reason.kind() != ErrorKind::NotFound => {
            Err(WriteError::Io { path: path.to_owned(), reason })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::planted;
    use crate::write::write_files;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn a_smaller_run_leaves_nothing_of_a_larger_one() {
        let mut analysis = planted();
        for (number, group) in analysis.groups.iter_mut().enumerate() {
            group.name = format!("group {}", number + 1);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        write_files(&analysis, path).unwrap();
        for mine in ["mean_mine.npy", "groups/mean_group_x.csv", "groups/notes.txt"] {
            fs::write(path.join(mine), "x").unwrap();
        }
        assert!(["p.npy", "intervals.csv", "windows.csv"].iter().all(|name| path.join(name).exists()));
        analysis.groups.truncate(2);
        write_files(&analysis, path).unwrap();
        assert_eq!(names(&path.join("groups")).len(), 2 * 4 + 2);

        analysis.conditions.truncate(1);
        (analysis.difference, analysis.groups) = (None, Vec::new());
        analysis.peaks.clear();
        write_files(&analysis, path).unwrap();
        let expected = [
            "field_power.csv",
            "groups",
            "mean_mine.npy",
            "mean_target.csv",
            "mean_target.npy",
            "peaks.csv",
            "rejected.csv",
            "sem_target.csv",
            "sem_target.npy",
            "sensors.txt",
        ];
        assert_eq!(names(path), expected);
        assert_eq!(names(&path.join("groups")), ["mean_group_x.csv", "notes.txt"]);
        for mine in names(&path.join("groups")) {
            fs::remove_file(path.join("groups").join(mine)).unwrap();
        }
        write_files(&analysis, path).unwrap();
        assert!(!path.join("groups").exists());
    }
}
