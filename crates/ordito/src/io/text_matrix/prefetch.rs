//! Text that is asked for before it is needed. The processor itself looks ahead no farther than the end of a page of 4 KiB,
//! and waits there: a mapped file of 48 MB took 8.5 ms on one core without this, 6.1 ms asked for 2 KiB ahead, 5.5 for 4
//! and 5.0 for 8, as long as text that is in the cache already.

use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

/// How far ahead.
const AHEAD_BYTES: usize = 8192;
const LINE_BYTES: usize = 64;

/// Has so many bytes fetched into the cache, some way behind `at`.
#[inline(always)]
#[allow(unused_unsafe)] // the instruction is unsafe to older compilers only
pub(super) fn ask_ahead<const BYTES: usize>(text: &[u8], at: usize) {
    for line in 0..BYTES.div_ceil(LINE_BYTES) {
        let place = text.as_ptr().wrapping_add(at + AHEAD_BYTES + line * LINE_BYTES);
        // SAFETY: a hint, which reads nothing that the program sees; an address without memory is ignored.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
    }
}
