//! What ranks say of each other, wherever in an error.

/// Have ranks lost each other? Then no other input can be tried.
#[cfg(feature = "mpi")]
pub(crate) fn is_lost(error: &anyhow::Error) -> bool {
    use ordito_mpi::ranks::RanksError;
    of_ranks(error).is_some_and(|why| !matches!(why, RanksError::Agreed(_) | RanksError::Different(_)))
}

/// A process alone cannot be.
#[cfg(not(feature = "mpi"))]
pub(crate) fn is_lost(_: &anyhow::Error) -> bool {
    false
}

/// What they say, if they do.
#[cfg(feature = "mpi")]
pub(crate) fn of_ranks(error: &anyhow::Error) -> Option<&ordito_mpi::ranks::RanksError> {
    error.chain().find_map(|cause| match cause.downcast_ref() {
        Some(ordito_mpi::Error::Ranks(why)) => Some(why),
        _ => cause.downcast_ref(),
    })
}
