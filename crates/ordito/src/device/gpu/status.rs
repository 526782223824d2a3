//! What a library's status means, in its own words.

use std::ffi::{CStr, c_char};

/// `out of memory (2)`, or `error 2` where the library has no words for it.
///
/// # Safety
/// `words` is null, or a string that ends with 0 and lives for ever: what every library's `…GetErrorString` returns.
pub(crate) unsafe fn in_words(number: u32, words: *const c_char) -> String {
    if words.is_null() {
        return format!("error {number}");
    }
    // SAFETY: not null, static, ends with 0, as the caller promises.
    format!("{} ({number})", unsafe { CStr::from_ptr(words) }.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_always_told() {
        // SAFETY: null, and a static string that ends with 0.
        let (without, with) = unsafe { (in_words(7, std::ptr::null()), in_words(7, c"not ready".as_ptr())) };
        assert_eq!((without.as_str(), with.as_str()), ("error 7", "not ready (7)"));
    }
}
