//! The closed nouns of a record: how it ended, and what a parameter may be.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Ran, and its result is wrong.
    Incorrect,
    /// An error stopped it while running.
    Failed,
    /// Not run; `refusal` says why.
    Refused,
    /// Ran, but nothing says whether the result is right.
    #[default]
    NotVerified,
    /// Ran, and its result is right.
    Passed,
}

impl Outcome {
    /// All outcomes, worst first: the order in which reports show them.
    pub const ALL: [Outcome; 5] =
        [Outcome::Incorrect, Outcome::Failed, Outcome::Refused, Outcome::NotVerified, Outcome::Passed];

    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Incorrect => "incorrect",
            Outcome::Failed => "failed",
            Outcome::Refused => "refused",
            Outcome::NotVerified => "not-verified",
            Outcome::Passed => "passed",
        }
    }

    /// Did it run and go wrong? Then the program's exit code is 1.
    pub fn is_bad(self) -> bool {
        matches!(self, Outcome::Incorrect | Outcome::Failed)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The value of a variant's parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Param {
    /// A count, such as lanes or threads per block.
    Integer(i64),
    /// Any other number. Records never hold one that is not finite: it is left out.
    Number(f64),
    /// Anything else.
    Text(String),
}

impl From<i64> for Param {
    fn from(value: i64) -> Self {
        Param::Integer(value)
    }
}
impl From<f64> for Param {
    fn from(value: f64) -> Self {
        Param::Number(value)
    }
}
impl From<&str> for Param {
    fn from(value: &str) -> Self {
        Param::Text(value.to_owned())
    }
}
impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Param::Integer(value) => value.fmt(f),
            Param::Number(value) => value.fmt(f),
            Param::Text(value) => value.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_named_and_ordered() {
        for outcome in Outcome::ALL {
            assert_eq!(serde_json::to_string(&outcome).unwrap(), format!("\"{outcome}\""));
        }
        assert!(Outcome::ALL.is_sorted() && Outcome::Incorrect < Outcome::Passed);
    }
}
