//! Real files, good and bad, where they are at hand: `../shared/data`, or the folder that `ORDITO_CORPUS` names.

use crate::reading::share::Pieces;
use crate::reading::tests::{COUNTS, assert_alike};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Larger ones take long.
const MOST_BYTES: u64 = 5 << 20;

fn corpus(folder: &str) -> Vec<PathBuf> {
    let data = match std::env::var_os("ORDITO_CORPUS") {
        Some(data) => PathBuf::from(data),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    let Ok(files) = fs::read_dir(data.join(folder)) else {
        println!("skipped: no {folder} in {}; set ORDITO_CORPUS", data.display());
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn real_files_packed_and_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    // About a dozen segments and rounds for most.
    let pieces = Pieces { segment_bytes: 100_000, entries_per_round: 20_000 };
    for path in corpus("mtx").iter().filter(|path| fs::metadata(path).unwrap().len() <= MOST_BYTES) {
        let name = path.to_str().unwrap();
        assert!(assert_alike::<f64>(name, &[1, 4], pieces), "{name}");
        if path.extension().is_some_and(|extension| extension == "gz") {
            let mut text = Vec::new();
            let packed = fs::File::open(path).unwrap();
            flate2::read::MultiGzDecoder::new(packed).read_to_end(&mut text).unwrap();
            let plain = folder.path().join("unpacked.mtx");
            fs::write(&plain, text).unwrap();
            assert!(assert_alike::<f64>(plain.to_str().unwrap(), &COUNTS, pieces), "{name}");
        }
    }
}

#[test]
fn odd_and_malformed_files() {
    for path in corpus("odd/valid").iter().chain(&corpus("odd/malformed")) {
        let name = path.to_str().unwrap();
        assert_alike::<f64>(name, &[2, 3, 7], Pieces { segment_bytes: 300, entries_per_round: 50 });
        assert_alike::<f64>(name, &[1, 4], Pieces::default());
        assert_alike::<f32>(name, &[3], Pieces::default());
    }
}
