//! Matrices made from a name: `stencil27:100`, `powerlaw:1000000x16`. The same name and seed give the same matrix
//! for ever, on every machine: see `matrix::random`.
//!
//! Rows are sorted and hold every column at most once. Values are standard normal, never 0. The pattern of row r
//! comes from stream r of the seed, the values from a stream of their own, in the order of the entries.

mod drawn;
mod graphs;
mod in_parts;
mod patterns;

#[doc(hidden)] // for the crates of this workspace
pub use in_parts::{Parts, Rows, Values};

use crate::Scalar;
use crate::io::error::ReadError;
use crate::io::{ReadOptions, bytes_per_entry};
use crate::matrix::Random;
use crate::matrix::{Coo, MAX_DIMENSION};

/// One kind of synthetic matrix. [`KINDS`] is the list from which names are parsed and help is printed.
#[derive(Debug)]
pub struct Kind {
    /// What stands before the colon.
    pub name: &'static str,
    /// How the whole name is written.
    pub form: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Checks the parameters, as many as the form has, and says how large the matrix will be for a seed.
    size: fn(&[u64], u64) -> Result<Size, String>,
    /// The pattern of those parameters for a seed.
    pattern: fn(&[u64], u64) -> Pattern,
}

/// What a matrix will take, known before anything is allocated.
struct Size {
    rows: u64,
    cols: u64,
    /// At least as many as there will be.
    entries: u128,
}

/// Appends the columns of a row, in any order, duplicates allowed, given the random numbers of that row.
type Pattern = Box<dyn Fn(u64, &mut Random, &mut Vec<u32>)>;

/// Every kind.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "stencil27",
        form: "stencil27:S",
        about: "27-point stencil on a cube of S³ points, cut at the border",
        size: patterns::stencil27_size,
        pattern: patterns::stencil27,
    },
    Kind {
        name: "stencil5",
        form: "stencil5:S",
        about: "5-point stencil on a square of S² points, cut at the border",
        size: patterns::stencil5_size,
        pattern: patterns::stencil5,
    },
    Kind {
        name: "uniform",
        form: "uniform:ROWSxNNZ_PER_ROW",
        about: "square, NNZ_PER_ROW entries anywhere in every row, less those that coincide",
        size: patterns::uniform_size,
        pattern: patterns::uniform,
    },
    Kind {
        name: "powerlaw",
        form: "powerlaw:ROWSxAVG",
        about: "square, AVG entries per row on average, a few rows with thousands, the left columns fullest",
        size: patterns::power_law_size,
        pattern: patterns::power_law,
    },
    Kind {
        name: "band",
        form: "band:ROWSxWIDTH",
        about: "square, WIDTH entries from the diagonal rightwards, wrapping round",
        size: patterns::band_size,
        pattern: patterns::band,
    },
    Kind {
        name: "blocks",
        form: "blocks:BLOCK_ROWSxBLOCKS_PER_ROWxSIZE",
        about: "square, dense blocks of SIZE×SIZE within 200 blocks of the diagonal, less those that coincide",
        size: patterns::blocks_size,
        pattern: patterns::blocks,
    },
    Kind {
        name: "diagonal",
        form: "diagonal:N",
        about: "N entries on the diagonal",
        size: patterns::diagonal_size,
        pattern: patterns::diagonal,
    },
    Kind {
        name: "empty",
        form: "empty:RxC",
        about: "R rows and C columns without entries",
        size: patterns::empty_size,
        pattern: patterns::empty,
    },
    Kind {
        name: "drawn",
        form: "drawn:NUMBER",
        about: "as they come from practice: 16 families in turn, each with sizes and lengths drawn by NUMBER and the seed",
        size: drawn::size,
        pattern: drawn::pattern,
    },
    Kind {
        name: "small",
        form: "small:NUMBER",
        about: "the families of drawn with 100 to 300 000 nonzeros",
        size: drawn::small_size,
        pattern: drawn::small,
    },
    Kind {
        name: "sketched",
        form: "sketched:NUMBER",
        about: "12 other families: nearest points, webs, networks, constraints, many empty rows, small and rather full ones",
        size: drawn::sketched_size,
        pattern: drawn::sketched,
    },
    Kind {
        name: "neighbours",
        form: "neighbours:ROWSxDEGREExDIMENSIONS",
        about: "symmetric: points anywhere in a cube, each with the DEGREE that are nearest to it, and itself",
        size: graphs::neighbours_size,
        pattern: graphs::neighbours,
    },
    Kind {
        name: "web",
        form: "web:ROWSxAVG",
        about: "pages of hosts of 100, with about AVG links, many taken over from a page before",
        size: graphs::web_size,
        pattern: graphs::web,
    },
];

/// The stream of the values. Those of the rows are 0, 1, 2 … and never get that far.
const VALUES_STREAM: u64 = u64::MAX;

/// Every form, for help and errors: `stencil27:S, stencil5:S, …`.
#[doc(hidden)]
pub fn forms() -> String {
    KINDS.iter().map(|kind| kind.form).collect::<Vec<_>>().join(", ")
}

/// The kind that a name asks for, if what stands before its colon is one.
#[doc(hidden)]
pub fn kind_of(name: &str) -> Option<&'static Kind> {
    let (kind, _) = name.split_once(':')?;
    KINDS.iter().find(|known| known.name == kind)
}

/// Makes the matrix of that name; `None` when no kind is called so.
///
/// ```
/// use ordito::io::{ReadOptions, synthetic};
/// let a = synthetic::generate::<f64>("stencil5:10", &ReadOptions::default()).expect("a known kind")?;
/// assert_eq!((a.rows(), a.cols(), a.nnz()), (100, 100, 460));
/// let error = synthetic::generate::<f64>("band:4x5", &ReadOptions::default()).expect("a known kind");
/// assert!(error.unwrap_err().to_string().contains("WIDTH is 5, more than the 4 rows"));
/// # Ok::<(), ordito::io::ReadError>(())
/// ```
pub fn generate<S: Scalar>(name: &str, options: &ReadOptions) -> Option<Result<Coo<S>, ReadError>> {
    kind_of(name).map(|kind| kind.generate(name, options))
}

impl Kind {
    fn generate<S: Scalar>(&self, name: &str, options: &ReadOptions) -> Result<Coo<S>, ReadError> {
        let (parameters, size) = self.read(name, options.seed)?;
        build(name, &size, || (self.pattern)(&parameters, options.seed), options)
    }

    /// The parameters of a name, and how large its matrix will be.
    fn read(&self, name: &str, seed: u64) -> Result<(Vec<u64>, Size), ReadError> {
        let refuse = |problem: String| {
            let (form, about) = (self.form, self.about);
            ReadError::SyntheticName { name: name.to_owned(), problem, form, about }
        };
        let parameters = self.parameters(name).map_err(refuse)?;
        let size = (self.size)(&parameters, seed).map_err(refuse)?;
        if size.rows.max(size.cols) > MAX_DIMENSION as u64 {
            return Err(refuse(format!(
                "more rows or columns than the {MAX_DIMENSION} that 32-bit indices reach"
            )));
        }
        Ok((parameters, size))
    }

    /// The numbers after the colon.
    fn parameters(&self, name: &str) -> Result<Vec<u64>, String> {
        let wanted: Vec<&str> = after_colon(self.form).split('x').collect();
        let given: Vec<&str> = after_colon(name).split('x').collect();
        if given.len() != wanted.len() {
            return Err(format!("{} numbers after the colon, {} expected", given.len(), wanted.len()));
        }
        let number = |(text, what): (&&str, &&str)| match text.parse::<u64>() {
            Ok(0) if self.name != "empty" => Err(format!("{what} is 0")),
            Ok(number) if !text.starts_with('+') => Ok(number),
            _ => Err(format!("{what} is {text:?}, not a whole number of at most 64 bits")),
        };
        given.iter().zip(&wanted).map(number).collect()
    }
}

fn after_colon(name: &str) -> &str {
    name.split_once(':').map_or("", |parts| parts.1)
}

/// The columns of a row, ascending, each once.
fn columns_of(pattern: &Pattern, seed: u64, row: u64, columns: &mut Vec<u32>) {
    columns.clear();
    pattern(row, &mut Random::new(seed, row), columns);
    columns.sort_unstable();
    columns.dedup();
}

/// Refuses what is too large, then goes through the rows.
fn build<S: Scalar>(
    name: &str,
    size: &Size,
    pattern: impl FnOnce() -> Pattern,
    options: &ReadOptions,
) -> Result<Coo<S>, ReadError> {
    let entries = u64::try_from(size.entries).unwrap_or(u64::MAX);
    let bytes = entries.saturating_mul(bytes_per_entry::<S>());
    let too_large = |limit| ReadError::TooLarge { name: name.to_owned(), entries, bytes, limit };
    if bytes > options.max_bytes {
        return Err(too_large(Some(options.max_bytes)));
    }
    let capacity = usize::try_from(entries).unwrap_or(usize::MAX);
    let (mut row_indices, mut column_indices, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let reserved = row_indices.try_reserve_exact(capacity);
    let reserved = reserved.and_then(|()| column_indices.try_reserve_exact(capacity));
    reserved.and_then(|()| values.try_reserve_exact(capacity)).map_err(|_| too_large(None))?;

    let pattern = pattern();
    let mut value = Random::new(options.seed, VALUES_STREAM);
    let mut columns = Vec::new();
    // A matrix without entries may have billions of rows: nothing to do in any of them.
    let rows_with_entries = if size.entries == 0 { 0 } else { size.rows };
    for row in 0..rows_with_entries {
        columns_of(&pattern, options.seed, row, &mut columns);
        row_indices.resize(row_indices.len() + columns.len(), row as u32);
        values.extend(columns.iter().map(|_| S::from_f64(value.normal())));
        column_indices.extend_from_slice(&columns);
    }
    let coo = Coo::new(size.rows as usize, size.cols as usize, row_indices, column_indices, values);
    Ok(coo.expect("patterns stay inside their matrix"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Csr, Duplicates};

    fn made(name: &str) -> Coo<f64> {
        generate(name, &ReadOptions::default()).unwrap().unwrap()
    }

    fn refused(name: &str) -> String {
        let options = ReadOptions { max_bytes: 1 << 30, ..ReadOptions::default() };
        generate::<f64>(name, &options).unwrap().unwrap_err().to_string()
    }

    /// FNV-1a over shape, places and the bits of the values.
    fn checksum(coo: &Coo<f64>) -> u64 {
        let shape = [coo.rows() as u64, coo.cols() as u64];
        let entries = coo.entries().flat_map(|(row, col, value)| [row.into(), col.into(), value.to_bits()]);
        let bytes = shape.into_iter().chain(entries).flat_map(u64::to_le_bytes);
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    }

    /// One small matrix of each kind: shape, entries, and a checksum that may never change.
    const PINNED: &[(&str, usize, usize, usize, u64)] = &[
        ("stencil27:4", 64, 64, 1000, 0x7888cf60c67c6a05),
        ("stencil5:6", 36, 36, 156, 0x8c45569eeb0a3de0),
        ("uniform:50x4", 50, 50, 197, 0x30d58036bf952c42),
        ("powerlaw:400x8", 400, 400, 2662, 0x7d43a8e67e376d80),
        ("band:20x6", 20, 20, 120, 0xe214b0c9d68cffe2),
        ("blocks:30x3x2", 60, 60, 340, 0x7d2080883e716b19),
        ("diagonal:9", 9, 9, 9, 0x90f545b2e0bad32f),
        ("empty:3x5", 3, 5, 0, 0x7a2de06653469e43),
        ("drawn:9", 1024, 1024, 8836, 0xd7574cba80beac67),
        ("small:9", 7225, 7225, 35785, 0x3b4a8eb2a9cc0792),
        ("sketched:2", 3058, 3058, 26794, 0x9956e91ca16b094),
        ("neighbours:200x5x2", 200, 200, 1416, 0xe1709f920ec111d8),
        ("web:300x8", 300, 300, 2384, 0xbee25bf1adae575b),
    ];

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn every_kind_is_the_same_for_ever() {
        assert_eq!(PINNED.len(), KINDS.len());
        let found: Vec<_> = PINNED
            .iter()
            .map(|&(name, ..)| {
                let coo = made(name);
                (name, coo.rows(), coo.cols(), coo.nnz(), checksum(&coo))
            })
            .collect();
        assert_eq!(found, PINNED);
        for ((name, ..), kind) in PINNED.iter().zip(KINDS) {
            assert_eq!(kind_of(name).unwrap().name, kind.name);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn rows_are_sorted_without_duplicates_and_zeros() {
        for (name, ..) in PINNED {
            let coo = made(name);
            assert_eq!(Csr::from_coo(&coo, Duplicates::Sum).to_coo(), coo, "{name}");
            assert!(coo.values().iter().all(|&value| value != 0.0), "{name}");
        }
    }

    #[test]
    fn seeds_differ_and_precisions_agree() {
        let seeded = |seed| {
            let options = ReadOptions { seed, ..ReadOptions::default() };
            generate::<f64>("uniform:50x4", &options).unwrap().unwrap()
        };
        assert_ne!(seeded(0).col_indices(), seeded(1).col_indices());
        let single = generate::<f32>("uniform:50x4", &ReadOptions::default()).unwrap().unwrap();
        let rounded =
            seeded(0).entries().map(|(row, col, value)| (row, col, value as f32)).collect::<Vec<_>>();
        assert_eq!(rounded, single.entries().collect::<Vec<_>>());
    }

    #[test]
    fn senseless_parameters_repeat_the_form() {
        assert_eq!(
            refused("stencil5:0"),
            "\"stencil5:0\": S is 0; the form is stencil5:S (5-point stencil on a square of S² points, cut at the border)"
        );
        assert!(
            refused("uniform:100")
                .contains("1 numbers after the colon, 2 expected; the form is uniform:ROWSx")
        );
        assert!(refused("uniform:100x4x4").contains("3 numbers"));
        for name in
            ["stencil27:", "stencil27:-1", "stencil27:+1", "stencil27:1.5", "stencil27:99999999999999999999"]
        {
            assert!(refused(name).contains("S is "), "{}", refused(name));
        }
        assert!(refused("band:4x5").contains("WIDTH is 5, more than the 4 rows"));
        assert!(refused("uniform:4x5").contains("NNZ_PER_ROW is 5"));
        assert!(refused("powerlaw:4x5").contains("AVG is 5"));
        assert!(refused("blocks:4x5x1").contains("BLOCKS_PER_ROW is 5"));
        assert!(refused("neighbours:4x4x2").contains("DEGREE is 4, and there are 3 other points"));
        assert!(refused("neighbours:9x4x65").contains("DIMENSIONS is 65"));
        assert!(refused("web:4x5").contains("AVG is 5"));
        assert!(refused("stencil27:1626").contains("32-bit"));
        assert!(refused("stencil27:18446744073709551615").contains("32-bit"));
        assert!(refused("empty:4294967296x1").contains("32-bit"));
        assert_eq!(
            refused("stencil27:1000"),
            "stencil27:1000: 26946035992 entries take 431 GB, more than the limit of 1.07 GB"
        );
        assert!(refused("blocks:1x1x4294967295").contains("more than the limit"));
    }

    #[test]
    fn matrices_without_entries_take_no_time() {
        assert_eq!(made("empty:4294967295x0").rows(), 4294967295);
        assert_eq!(made("empty:0x0").nnz(), 0);
    }
}
