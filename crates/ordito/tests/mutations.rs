//! Damaged files, read in every way: nothing panics, nothing takes more memory than it may, errors are one plain line, and what
//! is read can be written and read again. A second for every reader; for as long as `ORDITO_MUTATION_SECONDS` says.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "common/damage.rs"]
mod damage;

use damage::{Random, damage, is_one_plain_line};
use flate2::{Compression, write::GzEncoder};
use ordito::Scalar;
use ordito::io::matrix_market::WriteOptions;
use ordito::io::npy::{Conversion, read_npy_shape, read_npy_stack};
use ordito::io::{
    NonFinite, ReadError, ReadOptions, TextOptions, load, read_matrix_market, read_matrix_market_from,
    read_npy, read_npy_dtype, read_text_columns, read_text_matrix, write_matrix_market, write_npy,
};
use ordito::matrix::{Dense, Duplicates};
use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Counts what is allocated, so that a reader that believes a file's header is caught.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does it; counting touches no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(address, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes of numbers that readers are allowed.
const LIMIT: u64 = 1 << 20;
/// What they may take beside them: text that is worked on at a time, buffers of a decompressor.
const BESIDE: usize = 48 << 20;

const OPTIONS: ReadOptions = ReadOptions { duplicates: Duplicates::Keep, max_bytes: LIMIT, seed: 0 };

/// Calls `read` with damaged files until the time is over, one reader after the other: memory is counted for the process.
fn with_damaged(
    seed: u64,
    extension: &str,
    samples: &[Vec<u8>],
    read: impl Fn(&Path, &[u8]) -> Result<(), ReadError>,
) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let seconds = std::env::var("ORDITO_MUTATION_SECONDS").ok().map_or(1, |text| text.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("damaged.{extension}"));
    let mut random = Random::new(seed);
    let (end, mut accepted, mut refused) = (Instant::now() + Duration::from_secs(seconds), 0, 0);
    for sample in samples {
        fs::write(&path, sample).unwrap();
        read(&path, sample).unwrap();
    }
    while Instant::now() < end || accepted + refused < 200 {
        let mut bytes = random.choose(samples).clone();
        damage(&mut bytes, &mut random, samples);
        fs::write(&path, &bytes).unwrap();
        let before = NOW.load(Relaxed);
        PEAK.store(before, Relaxed);
        match read(&path, &bytes) {
            Ok(()) => accepted += 1,
            Err(error) => {
                let said = error.to_string();
                assert!(is_one_plain_line(&said), "{said:?}");
                assert!(said.contains("damaged"), "which file? {said}");
                refused += 1;
            }
        }
        let peak = PEAK.load(Relaxed) - before;
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(400)]);
        assert!(peak < LIMIT as usize + BESIDE, "{peak} bytes for {} of {shown:?}", bytes.len());
    }
    assert!(accepted > 0 && refused > 0, "{accepted} accepted, {refused} refused");
    println!("{extension}: {accepted} accepted, {refused} refused");
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const MATRIX_MARKET: &[&str] = &[
    "%%MatrixMarket matrix coordinate real general\n% a comment\n3 4 4\n1 1 1.5\n2 3 -2e-3\n3 4 1.0D+02\n1 1 .5\n",
    "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n1 1 7\n2 1 -18\n3 3 9223372036854775807\n",
    "%%MatrixMarket matrix coordinate pattern general\r\n\r\n5 5 2\r\n1 5\r\n5 1\r\n",
    "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n",
    "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n",
    "%%MatrixMarket vector coordinate real general\n4 2\n1 1\n4 inf\n",
];

fn read_mtx<S: Scalar>(path: &Path, bytes: &[u8]) -> Result<(), ReadError> {
    let from_stream = read_matrix_market_from::<S>(bytes, path, &OPTIONS);
    let coo = match read_matrix_market::<S>(path, &OPTIONS) {
        Ok(file) => file.coo,
        Err(error) => {
            assert!(from_stream.is_err(), "only the file is refused: {error}");
            return Err(error);
        }
    };
    // On one thread as on all, from a stream as from a file.
    // The sign of a NaN is not written.
    let bits_of = |value: f64| if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() };
    let bits = |values: &[S]| values.iter().map(|value| bits_of(value.to_f64())).collect::<Vec<_>>();
    let again = from_stream.unwrap().coo;
    assert_eq!(
        (again.rows(), again.cols(), again.row_indices()),
        (coo.rows(), coo.cols(), coo.row_indices())
    );
    assert_eq!((again.col_indices(), bits(again.values())), (coo.col_indices(), bits(coo.values())));
    assert!(coo.row_indices().iter().all(|&row| (row as usize) < coo.rows()));
    assert!(coo.col_indices().iter().all(|&col| (col as usize) < coo.cols()));
    // What was read can be written, and is the same then.
    let copy = path.with_file_name("copy.mtx");
    write_matrix_market(&coo, &copy, &WriteOptions::default()).unwrap();
    let again = read_matrix_market::<S>(&copy, &OPTIONS).unwrap().coo;
    assert_eq!((again.rows(), again.cols(), again.nnz()), (coo.rows(), coo.cols(), coo.nnz()));
    assert_eq!(bits(again.values()), bits(coo.values()));
    Ok(())
}

#[test]
fn matrix_market() {
    let samples: Vec<Vec<u8>> = MATRIX_MARKET.iter().map(|text| text.as_bytes().to_vec()).collect();
    with_damaged(1, "mtx", &samples, read_mtx::<f64>);
    with_damaged(2, "mtx", &samples, read_mtx::<f32>);
}

#[test]
fn compressed_matrix_market() {
    // Damaged as it is, so that the decompressor is tried, and with damage inside.
    let samples: Vec<Vec<u8>> = MATRIX_MARKET.iter().map(|text| compressed(text.as_bytes())).collect();
    with_damaged(3, "mtx.gz", &samples, read_mtx::<f64>);
    let plain: Vec<Vec<u8>> = MATRIX_MARKET.iter().map(|text| text.as_bytes().to_vec()).collect();
    with_damaged(4, "mtx.gz", &plain, |path, bytes| {
        let bytes = compressed(bytes);
        fs::write(path, &bytes).unwrap();
        read_mtx::<f64>(path, &bytes)
    });
}

/// Files of every number type, order and number of dimensions that are read.
fn npy_samples() -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample.npy");
    let numbers: Vec<f64> = (0..12).map(|i| f64::from(i) - 5.5).collect();
    write_npy(Dense::from_rows(3, 4, numbers.clone()).unwrap().view(), &path).unwrap();
    let double = fs::read(&path).unwrap();
    let single = numbers.iter().map(|&x| x as f32).collect();
    write_npy(Dense::from_rows(2, 6, single).unwrap().view(), &path).unwrap();
    let replaced = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let at = double.windows(from.len()).position(|piece| piece == from.as_bytes()).unwrap();
        let mut bytes = double.clone();
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        bytes
    };
    let fortran = replaced("False", "True ");
    vec![double.clone(), fs::read(&path).unwrap(), fortran]
}

#[test]
fn npy() {
    with_damaged(5, "npy", &npy_samples(), |path, _| {
        read_npy_dtype(path)?;
        read_npy_shape(path)?;
        let matrix = read_npy::<f64>(path, Conversion::Allow)?;
        let copy = path.with_file_name("copy.npy");
        write_npy(matrix.view(), &copy).unwrap();
        let bits = |matrix: &Dense<f64>| -> Vec<u64> {
            (0..matrix.rows()).flat_map(|row| matrix.view().row(row).to_vec()).map(f64::to_bits).collect()
        };
        let again = read_npy::<f64>(&copy, Conversion::Refuse).unwrap();
        assert_eq!((again.shape(), bits(&again)), (matrix.shape(), bits(&matrix)));
        let _ = read_npy::<f32>(path, Conversion::Refuse);
        let _ = read_npy_stack::<f32>(path, Conversion::Allow);
        Ok(())
    });
}

const TEXT: &[&str] = &[
    "1.500000000000000000e+00 -2.250000000000000000e-01\n3.000000000000000000e+00 4.000000000000000000e+00\n",
    "a,b,c\r\n1,2,3\r\n4, 5 ,6,\r\n",
    "1;2;3\n4;inf;-6.5D-03\n",
    "# epochs\n-1.32063e+01 1e5\n\t.5 5.\n% end\n\n",
];

fn read_text(path: &Path) -> Result<(), ReadError> {
    let options = TextOptions { non_finite: NonFinite::Allow, max_bytes: LIMIT, ..TextOptions::default() };
    let text = read_text_matrix::<f64>(path, &options)?;
    assert_eq!(read_text_columns(path, &options).unwrap(), text.matrix.cols());
    match read_text_matrix::<f32>(path, &options) {
        Ok(single) => assert_eq!(single.matrix.shape(), text.matrix.shape()),
        Err(error) => assert!(error.to_string().ends_with("is too large for f32"), "{error}"),
    }
    assert!(text.header.is_none_or(|names| names.len() == text.matrix.cols()));
    Ok(())
}

#[test]
fn text() {
    let samples: Vec<Vec<u8>> = TEXT.iter().map(|text| text.as_bytes().to_vec()).collect();
    with_damaged(6, "txt", &samples, |path, _| read_text(path));
    let samples: Vec<Vec<u8>> = TEXT.iter().map(|text| compressed(text.as_bytes())).collect();
    with_damaged(7, "txt.gz", &samples, |path, _| read_text(path));
}

#[test]
fn names() {
    let names = [
        "stencil27:8",
        "stencil5:30",
        "uniform:100x4",
        "powerlaw:200x16",
        "blocks:30x4x3",
        "band:90x5",
        "diagonal:9",
    ];
    let samples: Vec<Vec<u8>> = names.iter().map(|name| name.as_bytes().to_vec()).collect();
    with_damaged(8, "name", &samples, |_, bytes| {
        let Ok(name) = std::str::from_utf8(bytes) else { return Ok(()) };
        // A file of that name would be read; errors name it.
        match load::<f64>(name, &OPTIONS) {
            Ok(_) => Ok(()),
            Err(error) => {
                assert!(is_one_plain_line(&error.to_string()), "{error:?}");
                Err(ReadError::Io { path: "damaged".into(), reason: std::io::Error::other("refused") })
            }
        }
    });
}
