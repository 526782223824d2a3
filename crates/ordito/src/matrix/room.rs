//! Memory that cannot be had is an error, not the end of the program.

use crate::cpu::total_memory_bytes;
use crate::matrix::FormatError;

/// Can `what` be allocated, in all so many bytes (`None`: more than 64 bits hold)? Asks the system for them and gives them back. A
/// system that promises more than it has would end the program when the memory is used: more than the computer has is refused, too.
pub(crate) fn check_room(what: &'static str, bytes: Option<u64>) -> Result<(), FormatError> {
    let refused = FormatError::NoMemory { what, bytes };
    let Some(size) = bytes.and_then(|bytes| usize::try_from(bytes).ok()) else { return Err(refused) };
    if total_memory_bytes().is_some_and(|total| size as u64 > total) {
        return Err(refused);
    }
    Vec::<u8>::new().try_reserve_exact(size).map_err(|_| refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_had_is_a_sentence() {
        assert_eq!(check_room("a matrix", Some(1000)), Ok(()));
        for bytes in [None, Some(u64::MAX), Some(1 << 62)] {
            let said = check_room("a matrix", bytes).unwrap_err().to_string();
            assert!(
                said.starts_with("a matrix would need ") && said.ends_with(", more than there is"),
                "{said}"
            );
        }
    }
}
