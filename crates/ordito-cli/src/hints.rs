//! What of the command line helps against a refusal: the library does not know of its options.

use ordito::io::ReadError;
use ordito::op::RunError;
use ordito::refusal::Refusal;
use ordito_eeg::ErpError;

/// What helps, to be put behind the sentence; nothing where there is nothing.
pub(crate) fn of(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Memory { .. } => " (--memory-limit)",
        Refusal::Work { .. } => " (--work-limit)",
        Refusal::UnknownVariant { .. } => "; `ordito list` shows them all",
        _ => "",
    }
}

/// What helps against an error that a refusal is behind, or something that was not said.
pub(crate) fn of_error(error: &anyhow::Error) -> &'static str {
    if let Some(ErpError::NoWindowStep) = error.downcast_ref() {
        return " (--window-step)";
    }
    let is_too_large = |cause: &(dyn std::error::Error + 'static)| {
        matches!(cause.downcast_ref(), Some(ReadError::TooLarge { limit: Some(_), .. }))
    };
    if error.chain().any(is_too_large) {
        return " (--memory-limit)";
    }
    let refusal = |cause: &(dyn std::error::Error + 'static)| match cause.downcast_ref::<RunError>() {
        Some(RunError::Refused(refusal)) => Some(of(refusal)),
        _ => cause.downcast_ref::<Refusal>().map(of),
    };
    error.chain().find_map(refusal).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_raised_by_options() {
        let refusal = || Refusal::Work { what: "scanning".into(), steps: 3, limit: 2 };
        assert_eq!(of(&refusal()), " (--work-limit)");
        assert_eq!(of_error(&anyhow::Error::new(refusal()).context("A")), " (--work-limit)");
        assert_eq!(of_error(&anyhow::Error::new(RunError::from(refusal()))), " (--work-limit)");
        assert_eq!(of_error(&anyhow::anyhow!("other")), "");
        assert_eq!(of_error(&ErpError::NoWindowStep.into()), " (--window-step)");
        assert_eq!(of(&Refusal::NoDevice), "");
    }
}
