//! Rows of `.npy` files are those that one process reads, and files those that it writes.

use crate::partition::Partition;
use crate::ranks::{Patience, Ranks, Threads, on_threads};
use crate::reading::written::write_together;
use crate::reading::{read_npy_rows, write_npy_columns, write_npy_rows, write_npy_vector_rows};
use ordito::io::npy::{Conversion, write_npy_vector};
use ordito::io::{read_npy, write_npy};
use ordito::matrix::random_dense;
use ordito::{Dense, DenseView, Scalar};
use std::fs;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

/// What all ranks say.
fn on_ranks<T: Send>(
    count: usize,
    work: impl Fn(&Threads) -> Result<T, crate::Error> + Sync,
) -> Result<Vec<T>, String> {
    let all = on_threads(count, Patience::default(), |ranks| work(&ranks).map_err(|error| error.to_string()));
    let errors: Vec<&String> = all.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(
        errors.is_empty() || errors.len() == count && errors.iter().all(|error| *error == errors[0]),
        "{errors:?}"
    );
    all.into_iter().collect()
}

fn read<S: Scalar>(path: &Path, starts: &[u64], conversion: Conversion) -> Result<Vec<S>, String> {
    let rows = Partition::new(starts).unwrap();
    let parts = on_ranks(rows.ranks(), |ranks| read_npy_rows::<S>(ranks, path, &rows, conversion))?;
    for (rank, part) in parts.iter().enumerate() {
        assert_eq!((part.rows(), part.cols()), (rows.rows_of(rank), parts[0].cols()));
    }
    Ok(parts.into_iter().flat_map(Dense::into_data).collect())
}

fn file(folder: &Path, descr: &str, order: &str, shape: &str, body: &[u8]) -> std::path::PathBuf {
    let text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}}}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.extend(body);
    let path = folder.join("x.npy");
    fs::write(&path, bytes).unwrap();
    path
}

const STARTS: [&[u64]; 5] = [&[0, 5], &[0, 2, 5], &[0, 0, 4, 5], &[0, 5, 5, 5], &[0, 1, 2, 3, 3, 4, 5, 5]];

#[test]
fn rows_in_either_order_and_endianness() {
    let folder = tempfile::tempdir().unwrap();
    let little: Vec<u8> = (1..=15).flat_map(|number| f64::from(number).to_le_bytes()).collect();
    let big: Vec<u8> = (1..=15u8).flat_map(|number| f32::from(number).to_be_bytes()).collect();
    for order in ["False", "True"] {
        for shape in ["(5, 3)", "(5, 0)", "(5,)"] {
            let count = match shape {
                "(5, 3)" => 15,
                "(5,)" => 5,
                _ => 0,
            };
            for starts in STARTS {
                let path = file(folder.path(), "<f8", order, shape, &little[..8 * count]);
                let serial = read_npy::<f64>(&path, Conversion::Refuse).unwrap();
                assert_eq!(read::<f64>(&path, starts, Conversion::Refuse).unwrap(), serial.data());
                let rounded = read_npy::<f32>(&path, Conversion::Allow).unwrap();
                assert_eq!(read::<f32>(&path, starts, Conversion::Allow).unwrap(), rounded.data());
                let path = file(folder.path(), ">f4", order, shape, &big[..4 * count]);
                assert_eq!(read::<f32>(&path, starts, Conversion::Refuse).unwrap(), rounded.data());
                assert_eq!(read::<f64>(&path, starts, Conversion::Allow).unwrap(), serial.data());
            }
        }
    }
}

#[test]
fn what_cannot_be_read_is_refused_in_the_words_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let mut numbers = [0.5; 5];
    (numbers[2], numbers[4]) = (1e300, 1e301);
    let body: Vec<u8> = numbers.iter().flat_map(|number: &f64| number.to_le_bytes()).collect();
    let starts = &[0, 2, 2, 5];
    for (descr, shape, bytes) in [
        ("<f8", "(5,)", 40),
        ("<f8", "(5,)", 39),
        ("<i8", "(5,)", 40),
        ("<f8", "(5, 1, 1)", 40),
        ("<f8", "(5", 40),
    ] {
        let path = file(folder.path(), descr, "False", shape, &body[..bytes]);
        let serial = read_npy::<f32>(&path, Conversion::Allow).unwrap_err().to_string();
        assert_eq!(read::<f32>(&path, starts, Conversion::Allow).unwrap_err(), serial);
        let serial = read_npy::<f32>(&path, Conversion::Refuse).unwrap_err().to_string();
        assert_eq!(read::<f32>(&path, starts, Conversion::Refuse).unwrap_err(), serial);
    }
    let path = file(folder.path(), "<f8", "False", "(5,)", &body);
    let fault = read::<f64>(&path, &[0, 2, 6], Conversion::Refuse).unwrap_err();
    assert!(fault.ends_with("x.npy: has 5 rows; expected 6"), "{fault}");
    let nowhere = folder.path().join("nowhere.npy");
    let serial = read_npy::<f64>(&nowhere, Conversion::Refuse).unwrap_err().to_string();
    assert_eq!(read::<f64>(&nowhere, starts, Conversion::Refuse).unwrap_err(), serial);
}

#[test]
fn files_are_those_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let (alone, together) = (folder.path().join("alone.npy"), folder.path().join("together.npy"));
    for cols in [0, 1, 3] {
        let whole = random_dense::<f64>(5, cols, 7).unwrap();
        write_npy(whole.view(), &alone).unwrap();
        for starts in STARTS {
            let rows = Partition::new(starts).unwrap();
            on_ranks(rows.ranks(), |ranks| {
                // With a gap behind every row, which is not written.
                let range = rows.range(ranks.rank());
                let mut data = vec![f64::NAN; rows.rows_of(ranks.rank()) * (cols + 2)];
                for (row, place) in range.zip(data.chunks_mut(cols + 2)) {
                    place[..cols].copy_from_slice(whole.view().row(row as usize));
                }
                let local = DenseView::new(&data, rows.rows_of(ranks.rank()), cols, cols + 2).unwrap();
                write_npy_rows(ranks, &rows, local, &together)
            })
            .unwrap();
            assert_eq!(fs::read(&together).unwrap(), fs::read(&alone).unwrap());
            let mode = |path| fs::metadata(path).unwrap().permissions();
            assert_eq!(mode(&together), mode(&alone));
            assert_eq!(read::<f64>(&together, starts, Conversion::Refuse).unwrap(), whole.data());
        }
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
}

#[test]
fn a_failure_of_any_rank_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("y.npy");
    fs::write(&path, "old").unwrap();
    let fault = on_ranks(3, |ranks| {
        write_together(ranks, &path, 30, |mut file| match ranks.rank() {
            1 => Err(io::Error::other("the disk is full")),
            rank => {
                file.seek(SeekFrom::Start(10 * rank as u64))?;
                file.write_all(b"0123456789")
            }
        })
    });
    assert_eq!(fault.unwrap_err(), format!("cannot write {}: the disk is full", path.display()));
    // Rows that do not fit, on one rank.
    let rows = Partition::new([0, 2, 4]).unwrap();
    let fault = on_ranks(2, |ranks| {
        let local = Dense::<f64>::zeros(2 + ranks.rank(), 3).unwrap();
        write_npy_rows(ranks, &rows, local.view(), &path)
    });
    assert_eq!(fault.unwrap_err(), "rank 1 has 3 rows to write; expected 2");
    let fault = on_ranks(2, |ranks| {
        let local = Dense::<f64>::zeros(2, 2 + ranks.rank()).unwrap();
        write_npy_rows(ranks, &rows, local.view(), &path)
    });
    assert!(fault.unwrap_err().starts_with("the columns to write"));
    assert_eq!((fs::read(&path).unwrap(), fs::read_dir(&folder).unwrap().count()), (b"old".to_vec(), 1));
    // Where nothing can be written, the words are those of one process.
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    for path in [&path, folder.path(), &folder.path().join("no/folder.npy")] {
        let local = Dense::<f64>::zeros(2, 2).unwrap();
        let serial = write_npy(local.view(), path).unwrap_err().to_string();
        assert_eq!(
            on_ranks(2, |ranks| write_npy_rows(ranks, &rows, local.view(), path)).unwrap_err(),
            serial
        );
    }
    assert_eq!((fs::read(&path).unwrap(), fs::read_dir(&folder).unwrap().count()), (b"old".to_vec(), 1));
}

#[test]
fn vectors_and_transposed_matrices_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let [one, many] = ["one.npy", "many.npy"].map(|name| folder.path().join(name));
    for starts in STARTS {
        let rows = Partition::new(starts).unwrap();
        for cols in [1, 3] {
            let x = random_dense::<f64>(5, cols, 9).unwrap();
            let part = |ranks: &Threads| {
                let range = rows.range(ranks.rank());
                let data = &x.data()[range.start as usize * cols..range.end as usize * cols];
                Dense::from_rows(data.len() / cols, cols, data.to_vec()).unwrap()
            };
            // The file of a matrix that is transposed: its rows are columns here.
            on_ranks(rows.ranks(), |ranks| write_npy_columns(ranks, &rows, part(ranks).view(), &many))
                .unwrap();
            let read = read_npy::<f64>(&many, Conversion::Refuse).unwrap();
            assert_eq!((read.shape(), read.data()), ((cols, 5), &x.view().to_columns()[..]));
            if cols == 1 {
                on_ranks(rows.ranks(), |ranks| {
                    write_npy_vector_rows(ranks, &rows, part(ranks).view(), &many)
                })
                .unwrap();
                write_npy_vector(x.view(), &one).unwrap();
                assert_eq!(fs::read(&many).unwrap(), fs::read(&one).unwrap());
            }
        }
    }
}
