//! Pixels as the bytes of a PNG file: a header, the rows compressed as they are, an end. (The usual crate also reads every kind
//! of PNG there is, and brings a second and a third compressor with it.)

use super::pixels::Pixels;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use std::io::{self, Write};

const SIGNATURE: &[u8; 8] = b"\x89PNG\r\n\x1a\n";
/// Eight bits of red, green and blue; the only compression and filtering there are; rows from top to bottom.
const KIND: [u8; 5] = [8, 2, 0, 0, 0];
/// In front of a row: its bytes are as they are.
const UNFILTERED: u8 = 0;

/// The file of a picture.
pub(super) fn file(pixels: &Pixels) -> io::Result<Vec<u8>> {
    let mut header = Vec::with_capacity(13);
    for side in [pixels.width(), pixels.height()] {
        header.extend(u32::try_from(side).map_err(io::Error::other)?.to_be_bytes());
    }
    header.extend(KIND);
    let mut rows = ZlibEncoder::new(Vec::new(), Compression::default());
    for row in pixels.colours().chunks_exact(pixels.width()) {
        rows.write_all(&[UNFILTERED])?;
        rows.write_all(row.as_flattened())?;
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
    use flate2::read::ZlibDecoder;
    use std::io::Read;

    /// Name and content of every chunk, whose lengths must fill the file.
    fn chunks(mut bytes: &[u8]) -> Vec<(&[u8], &[u8])> {
        let mut chunks = Vec::new();
        while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
            let (chunk, rest) = rest.split_at(4 + u32::from_be_bytes(*length) as usize);
            chunks.push(chunk.split_at(4));
            bytes = &rest[4..]; // the checksum
        }
        chunks
    }

    #[test]
    fn the_pixels_come_back() {
        let colours = (0..5 * 3).map(|i: u8| [i, 255 - i, i.wrapping_mul(17)]).collect();
        let pixels = Pixels::of(5, colours);
        let bytes = file(&pixels).unwrap();
        let chunks = chunks(bytes.strip_prefix(SIGNATURE).unwrap());
        assert_eq!(chunks.iter().map(|(name, _)| *name).collect::<Vec<_>>(), [b"IHDR", b"IDAT", b"IEND"]);
        assert_eq!(chunks[0].1, [0, 0, 0, 5, 0, 0, 0, 3, 8, 2, 0, 0, 0]);
        let mut rows = Vec::new();
        ZlibDecoder::new(chunks[1].1).read_to_end(&mut rows).unwrap();
        let sent = pixels
            .colours()
            .chunks_exact(5)
            .flat_map(|row| std::iter::once(0).chain(row.iter().flatten().copied()));
        assert_eq!(rows, sent.collect::<Vec<u8>>());
        // As others write it: the header of one pixel, and the end of every file.
        let one = file(&Pixels::of(1, vec![[1, 2, 3]])).unwrap();
        assert_eq!(one[12..33], *b"IHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90\x77\x53\xde");
        assert!(bytes.ends_with(b"\0\0\0\0IEND\xae\x42\x60\x82"));
    }
}
