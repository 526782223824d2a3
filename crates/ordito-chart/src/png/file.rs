//! Pixels as the bytes of a PNG file: a header, the rows compressed as they are, an end. (The usual crate also reads every kind
//! of PNG there is, and brings a second and a third compressor with it.)

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use std::io::{self, Write};

const SIGNATURE: &[u8; 8] = b"\x89PNG\r\n\x1a\n";
/// Eight bits of red, green and blue; the only compression, filtering and order of rows there are.
const KIND: [u8; 5] = [8, 2, 0, 0, 0];
/// In front of a row: its bytes are as they are.
const UNFILTERED: u8 = 0;

/// The file of a picture without transparent places: rows of `width` pixels, four bytes each, of which the last is not kept.
pub(super) fn file(width: u32, height: u32, pixels: &[u8]) -> io::Result<Vec<u8>> {
    let mut header = Vec::with_capacity(13);
    header.extend(width.to_be_bytes());
    header.extend(height.to_be_bytes());
    header.extend(KIND);
    let mut rows = ZlibEncoder::new(Vec::new(), Compression::default());
    for row in pixels.chunks_exact(4 * width as usize) {
        let colours = row.chunks_exact(4).flat_map(|pixel| &pixel[..3]).copied();
        rows.write_all(&std::iter::once(UNFILTERED).chain(colours).collect::<Vec<u8>>())?;
    }
    let mut bytes = SIGNATURE.to_vec();
    for (name, content) in [(b"IHDR", header), (b"IDAT", rows.finish()?), (b"IEND", Vec::new())] {
        chunk(&mut bytes, name, &content)?;
    }
    Ok(bytes)
}

/// Its length, its name, what it holds, and a checksum of the last two.
fn chunk(to: &mut Vec<u8>, name: &[u8; 4], content: &[u8]) -> io::Result<()> {
    let length = u32::try_from(content.len()).map_err(io::Error::other)?;
    let mut checksum = Crc::new();
    checksum.update(name);
    checksum.update(content);
    to.extend(length.to_be_bytes());
    to.extend(name);
    to.extend(content);
    to.extend(checksum.sum().to_be_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What others read in it.
    #[test]
    fn a_reader_finds_the_pixels() {
        let pixels: Vec<u8> = (0..5 * 3).flat_map(|i: u8| [i, 255 - i, i.wrapping_mul(17), 255]).collect();
        let bytes = file(5, 3, &pixels).unwrap();
        let mut reader = png::Decoder::new(io::Cursor::new(&bytes)).read_info().unwrap();
        let mut found = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut found).unwrap();
        assert_eq!((info.width, info.height, info.color_type), (5, 3, png::ColorType::Rgb));
        let sent: Vec<u8> = pixels.chunks_exact(4).flat_map(|pixel| &pixel[..3]).copied().collect();
        assert_eq!(found, sent);
        reader.finish().unwrap(); // checksums of all chunks
    }
}
