//! Names of sensors.

use crate::error::ErpError;
use ordito::io::nearest;
use std::collections::HashSet;

/// The 64 sensors of the 10-10 system, in the order of BCI2000 (and so of the EEG Motor Movement/Imagery Dataset).
pub const TEN_TEN_64: [&str; 64] = [
    "FC5", "FC3", "FC1", "FCz", "FC2", "FC4", "FC6", "C5", "C3", "C1", "Cz", "C2", "C4", "C6", "CP5", "CP3",
    "CP1", "CPz", "CP2", "CP4", "CP6", "Fp1", "Fpz", "Fp2", "AF7", "AF3", "AFz", "AF4", "AF8", "F7", "F5",
    "F3", "F1", "Fz", "F2", "F4", "F6", "F8", "FT7", "FT8", "T7", "T8", "T9", "T10", "TP7", "TP8", "P7",
    "P5", "P3", "P1", "Pz", "P2", "P4", "P6", "P8", "PO7", "PO3", "POz", "PO4", "PO8", "O1", "Oz", "O2",
    "Iz",
];

/// What sensors are called when nobody says: those of the 10-10 system where there are 64, `S1`, `S2` … otherwise.
pub fn default_names(count: usize) -> Vec<String> {
    match count {
        64 => TEN_TEN_64.map(String::from).to_vec(),
        _ => (1..=count).map(|number| format!("S{number}")).collect(),
    }
}

/// Names from a text: one per line, or a header line with blanks, commas or semicolons between them. `#` starts a comment.
pub fn parse_names(text: &str) -> Result<Vec<String>, ErpError> {
    let without_comment = |line: &'_ str| line.find('#').map_or(line.len(), |at| at);
    let lines = text.lines().map(|line| &line[..without_comment(line)]);
    let separator = |c: char| c.is_whitespace() || c == ',' || c == ';';
    let names: Vec<String> = lines
        .flat_map(|line| line.split(separator))
        .map(|name| name.trim_matches(['"', '\'']))
        .filter(|name| !name.is_empty())
        .map(String::from)
        .collect();
    let mut seen = HashSet::new();
    match names.iter().find(|name| !seen.insert(name.to_lowercase())) {
        _ if names.is_empty() => Err(ErpError::Sensors("the file holds no names".into())),
        Some(twice) => Err(ErpError::Sensors(format!("the name {twice:?} stands there twice"))),
        None => Ok(names),
    }
}

/// The sensor of that name, in upper or lower case.
pub(crate) fn find(sensors: &[String], name: &str) -> Result<usize, ErpError> {
    let wanted = name.to_lowercase();
    sensors.iter().position(|sensor| sensor.to_lowercase() == wanted).ok_or_else(|| {
        let near = nearest(name, sensors.iter().map(String::as_str));
        let suggestion = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
        ErpError::UnknownSensor { name: name.to_owned(), suggestion }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_one_per_line_or_in_one() {
        let expected = ["Fz", "Cz", "Pz"].map(String::from).to_vec();
        for text in ["Fz\nCz\r\nPz\n", "Fz Cz Pz", "# mine\nFz;Cz;Pz", "\"Fz\",\"Cz\", \"Pz\" # three"] {
            assert_eq!(parse_names(text).unwrap(), expected, "{text}");
        }
        assert_eq!(parse_names(" \n").unwrap_err().to_string(), "--sensors: the file holds no names");
        let twice = parse_names("Fz Cz fz").unwrap_err().to_string();
        assert_eq!(twice, "--sensors: the name \"fz\" stands there twice");
    }

    #[test]
    fn unknown_names_get_the_nearest() {
        let names = default_names(64);
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), 64);
        assert_eq!(names[find(&names, "cz").unwrap()], "Cz");
        let error = find(&names, "CPzz").unwrap_err().to_string();
        assert_eq!(error, "--bad-channels: there is no sensor \"CPzz\"; did you mean CPz?");
        assert_eq!(default_names(2), ["S1", "S2"]);
        let far = find(&names, "ground").unwrap_err().to_string();
        assert_eq!(far, "--bad-channels: there is no sensor \"ground\"");
    }
}
