//! Which variant reduces columns, where one was asked for.

use crate::error::ErpError;
use ordito::Scalar;
use ordito::column_stats::Columns;
use ordito::op::{Computes, Description, Op, Place};
use ordito::refusal::Refusal;

/// The variant of that name, if it computes what the job needs. Asked before anything is read or opened.
///
/// ```
/// assert!(ordito_eeg::statistics_variant::<f64>("dense-threads-blocks").is_ok());
/// assert!(ordito_eeg::statistics_variant::<f64>("dense-magic").is_err());
/// ```
pub fn statistics_variant<S: Scalar>(name: &str) -> Result<&'static Description, ErpError> {
    let found = Columns::<S>::variant(name).map(|variant| variant.describe());
    let found = found.ok_or_else(|| Refusal::UnknownVariant { name: name.to_owned() })?;
    match found.computes {
        Computes::Everything => Ok(found),
        Computes::MeanOnly => Err(ErpError::MeanOnly { variant: found.name }),
    }
}

/// What reduces a block that a thread has just read: the others are busy with blocks of their own.
pub(crate) fn by_one_thread() -> Option<&'static Description> {
    let mut all = Columns::<f64>::variants().iter().map(|variant| variant.describe());
    all.find(|variant| takes_blocks(variant))
}

/// Can it reduce a block on the thread that has read it? All others take whole files.
pub(crate) fn takes_blocks(variant: &Description) -> bool {
    variant.place == Place::Serial
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_alone_are_too_little() {
        let partial = Columns::<f32>::variants().iter().map(|variant| variant.describe());
        for variant in partial.filter(|variant| variant.computes == Computes::MeanOnly) {
            let said = statistics_variant::<f32>(variant.name).unwrap_err().to_string();
            let lacks = "computes the mean only; standard errors and t need the variance of every column too";
            assert_eq!(said, format!("`{}` {lacks}", variant.name));
        }
        assert!(by_one_thread().is_some_and(takes_blocks));
    }
}
