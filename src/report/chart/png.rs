//! An SVG file as pixels.

/// The PNG file of an SVG file.
pub(crate) fn encode(svg: &str) -> Result<Vec<u8>, String> {
    Err(svg.to_owned())
}
