//! Partition files: every rank gets the numbers of its rows, and all are told what is wrong.

use crate::partition::Partition;
use crate::ranks::{Patience, on_threads};
use crate::reading::read_partition;
use std::fs;

fn read(text: &str, starts: &[u64]) -> Result<Vec<Vec<u32>>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.part");
    fs::write(&path, text).unwrap();
    let rows = Partition::new(starts).unwrap();
    let all = on_threads(rows.ranks(), Patience::default(), |ranks| {
        let read = read_partition(&ranks, &path, &rows);
        read.map_err(|error| error.to_string().split_once("a.part: ").unwrap().1.to_owned())
    });
    assert!(all.iter().all(|one| one.as_ref().err() == all[0].as_ref().err()), "{all:?}");
    all.into_iter().collect()
}

#[test]
fn numbers_go_to_the_owners_of_rows() {
    for text in ["0\n1\n1\n0\n1\n", "0\n1\n\n1\r\n 0 \n1", "0\n\n\n\n\n\n1\n1\n0\n1\n\n\n"] {
        assert_eq!(read(text, &[0, 4, 5]).unwrap(), [vec![0, 1, 1, 0], vec![1]]);
        assert_eq!(read(text, &[0, 0, 2, 5, 5]).unwrap(), [vec![], vec![0, 1], vec![1, 0, 1], vec![]]);
    }
    assert_eq!(read("", &[0, 0, 0]).unwrap(), [vec![], vec![]] as [Vec<u32>; 2]);
}

#[test]
fn faults_name_their_line() {
    for starts in [&[0, 1, 3][..], &[0, 3, 3], &[0, 0, 1, 2, 3, 3, 3, 3]] {
        let last = starts.len() - 2;
        assert_eq!(
            read("0\n\n0\n", starts).unwrap_err(),
            "line 4: expected the rank of row 3 of 3, found the end of the file"
        );
        assert_eq!(
            read("0\n0\n0\n\n1\n1\n", starts).unwrap_err(),
            "line 5: expected the end of the file after 3 rows, found \"1\""
        );
        for bad in ["9", "-1", "x", "1 1", "1.5", "99999999999"] {
            let fault = read(&format!("0\n{bad}\n0\nx\n"), starts).unwrap_err();
            assert_eq!(fault, format!("line 2: expected a rank from 0 to {last}, found {bad:?}"));
        }
    }
}
