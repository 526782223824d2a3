//! The header of a `.npy` file: a Python dictionary of three keys.
//!
//! Read by hand: the dictionary needs a screenful of code, and a file from anywhere may neither overflow a product
//! of dimensions nor nest brackets until the stack is gone.

use crate::Scalar;
use crate::io::error::quoted;
use crate::io::npy::NpyDtype;
use std::fs::File;
use std::io::{self, Read};

/// Real headers have 118 bytes, those of structured types some thousands. NumPy itself stops at 10 000.
const MAX_HEADER_BYTES: u64 = 64 * 1024;

pub(super) struct Header {
    /// As written in the file: `'<f8'`, or the list of a structured type.
    descr: String,
    pub(super) is_fortran: bool,
    pub(super) is_big_endian: bool,
    shape: Vec<u64>,
    /// Bytes of the file that follow the header.
    pub(super) body_bytes: u64,
}

impl Header {
    /// Reads the header of a file of so many bytes; the inner error is what is wrong with it.
    pub(super) fn read(file: &mut File, file_bytes: u64) -> io::Result<Result<Self, String>> {
        let mut start = Vec::new();
        file.take(8).read_to_end(&mut start)?;
        if start.len() < 8 || !start.starts_with(b"\x93NUMPY") {
            return Ok(Err(format!("not a .npy file: starts with {}", quoted(&start))));
        }
        let length_bytes = match start[6] {
            1 => 2,
            2 | 3 => 4,
            version => return Ok(Err(format!("version {version} of the .npy format; expected 1, 2 or 3"))),
        };
        let mut length = Vec::new();
        file.take(length_bytes).read_to_end(&mut length)?;
        length.resize(4, 0);
        let length = u64::from(u32::from_le_bytes([length[0], length[1], length[2], length[3]]));
        let header_end = 8 + length_bytes + length;
        if header_end > file_bytes || length > MAX_HEADER_BYTES {
            return Ok(Err(format!(
                "not a .npy header: it would take {length} of the file's {file_bytes} bytes"
            )));
        }
        let mut text = Vec::new();
        file.take(length).read_to_end(&mut text)?;
        let header = Header::parse(&text, file_bytes - header_end);
        Ok(header.ok_or_else(|| format!("not a .npy header: {}", quoted(&text))))
    }

    fn parse(text: &[u8], body_bytes: u64) -> Option<Self> {
        let mut rest = std::str::from_utf8(text).ok()?.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        let (mut descr, mut is_fortran, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (key, after) = rest.split_once(':')?;
            let value_bytes = value_length(after)?;
            let value = after[..value_bytes].trim();
            match key.trim().trim_matches(['\'', '"']) {
                "descr" => descr = Some(value.to_owned()),
                "fortran_order" => is_fortran = Some(python_bool(value)?),
                "shape" => shape = Some(python_tuple(value)?),
                _ => return None,
            }
            rest = after[value_bytes..].trim_start_matches(',').trim();
        }
        let descr = descr?;
        let is_big_endian = match descr.get(1..2)? {
            ">" => true,
            "<" => false,
            _ => cfg!(target_endian = "big"),
        };
        Some(Header { descr, is_fortran: is_fortran?, is_big_endian, shape: shape?, body_bytes })
    }

    pub(super) fn dtype(&self) -> NpyDtype {
        let plain = self.descr.trim_matches(['\'', '"']);
        match plain.trim_start_matches(['<', '>', '=', '|']) {
            "f4" => NpyDtype::F32,
            "f8" => NpyDtype::F64,
            _ => {
                let one_line = quoted(self.descr.as_bytes());
                NpyDtype::Other(if plain.bytes().all(|b| b.is_ascii_graphic()) {
                    self.descr.clone()
                } else {
                    one_line
                })
            }
        }
    }

    /// Rows and columns.
    pub(super) fn matrix_shape(&self) -> Result<(usize, usize), String> {
        match self.shape[..] {
            [] => Ok((1, 1)),
            [rows] => Ok((rows as usize, 1)),
            [rows, cols] => Ok((rows as usize, cols as usize)),
            _ => Err(format!("has {} dimensions; expected 2 at most", self.shape.len())),
        }
    }

    /// The length of every dimension.
    pub(super) fn shape(&self) -> Vec<usize> {
        self.shape.iter().map(|&length| length as usize).collect()
    }

    /// How many there are.
    pub(super) fn dimensions(&self) -> usize {
        self.shape.len()
    }

    /// The header of an array of `S`, row by row, in this machine's byte order.
    pub(super) fn bytes_for<S: Scalar>(shape: &[usize]) -> Vec<u8> {
        Self::bytes_in_order::<S>(shape, false)
    }

    /// The same, row by row or column by column.
    pub(super) fn bytes_in_order<S: Scalar>(shape: &[usize], by_columns: bool) -> Vec<u8> {
        let order = if cfg!(target_endian = "big") { '>' } else { '<' };
        let size = size_of::<S>();
        let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
        let shape = lengths.join(", ") + if shape.len() == 1 { "," } else { "" }; // as Python writes tuples
        let by_columns = if by_columns { "True" } else { "False" };
        let mut text =
            format!("{{'descr': '{order}f{size}', 'fortran_order': {by_columns}, 'shape': ({shape}), }}");
        // Padded so that the numbers start at a multiple of 64, as NumPy does.
        let unpadded = 10 + text.len() + 1;
        text.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
        text.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes
    }
}

/// Where a value ends: at the first comma outside brackets and quotes, or with the text.
fn value_length(text: &str) -> Option<usize> {
    let (mut depth, mut quote) = (0u32, None);
    for (position, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(character),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth = depth.checked_sub(1)?,
            (None, ',') if depth == 0 => return Some(position),
            _ => {}
        }
    }
    (depth == 0 && quote.is_none()).then_some(text.len())
}

fn python_bool(text: &str) -> Option<bool> {
    match text {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    }
}

/// `(3, 4)`, `(3,)`, `()`; Python 2 wrote `(3L, 4L)`.
fn python_tuple(text: &str) -> Option<Vec<u64>> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?.trim();
    let inner = inner.strip_suffix(',').unwrap_or(inner);
    if inner.is_empty() {
        return Some(Vec::new());
    }
    inner.split(',').map(|number| number.trim().trim_end_matches('L').parse().ok()).collect()
}

/// The number of elements, if they take exactly the bytes that are there.
pub(super) fn fits(rows: usize, cols: usize, element_bytes: usize, found: u64) -> Result<usize, String> {
    let elements = rows.checked_mul(cols);
    let expected = elements.and_then(|count| (count as u64).checked_mul(element_bytes as u64));
    match elements {
        Some(elements) if expected == Some(found) => Ok(elements),
        _ => {
            let expected = expected.map_or("more than 2⁶⁴".to_owned(), |bytes| bytes.to_string());
            let shape = format!("{rows} × {cols} of {element_bytes} bytes");
            Err(format!("{expected} bytes of numbers expected for {shape}, found {found}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_with_any_spacing_and_order_of_keys() {
        let header =
            Header::parse(b"{ \"shape\" : (3,) ,'descr':'<f4','fortran_order':False}  \n", 12).unwrap();
        assert_eq!((header.dtype(), header.matrix_shape()), (NpyDtype::F32, Ok((3, 1))));
        let written = Header::bytes_for::<f64>(&[usize::MAX, usize::MAX]);
        assert_eq!(written.len() % 64, 0);
        let text = |shape: &[usize]| {
            String::from_utf8_lossy(&Header::bytes_for::<f64>(shape)[10..]).trim().to_owned()
        };
        assert!(text(&[4, 2]).ends_with("'shape': (4, 2), }") && text(&[7]).ends_with("'shape': (7,), }"));
        assert_eq!(Header::parse(&Header::bytes_for::<f32>(&[7])[10..], 0).unwrap().shape, [7]);
        assert_eq!(Header::parse(&written[10..], 0).unwrap().shape, [u64::MAX, u64::MAX]);
    }

    #[test]
    fn other_text_is_no_header() {
        for text in [
            "",
            "{}",
            "{'descr': '<f8', 'fortran_order': False}",
            "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1.5,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': 1}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1,}",
            "{'descr': '', 'fortran_order': False, 'shape': (1,), 'more': 1}",
            "{:,:,:,}",
        ] {
            assert!(Header::parse(text.as_bytes(), 0).is_none(), "{text}");
        }
        assert!(Header::parse(&[b'('; 60_000], 0).is_none());
    }

    #[test]
    fn lengths_are_compared_without_overflow() {
        assert_eq!(fits(2, 3, 8, 48), Ok(6));
        assert_eq!(fits(0, usize::MAX, 8, 0), Ok(0));
        assert!(fits(usize::MAX, usize::MAX, 8, 8).is_err());
        assert!(fits(1 << 32, 1 << 32, 8, 0).is_err());
    }
}
