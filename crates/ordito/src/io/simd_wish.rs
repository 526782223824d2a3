//! The variable of the kernels, obeyed by readers too.

/// `false` where `ORDITO_SIMD` asks for less than AVX-512. What it means in full, and what is said of other words, is the
/// business of `machine`, which this room does not know.
pub(super) fn is_avx512_allowed() -> bool {
    let wish = std::env::var("ORDITO_SIMD").unwrap_or_default().trim().to_ascii_lowercase();
    wish != "portable" && wish != "avx2"
}
