//! What ranks read together is what one process reads: the same bits, the same words about faults.

mod corpus;
mod npy;
mod partition_file;
mod synthetic;
mod texts;

use crate::error::Error;
use crate::partition::Partition;
use crate::ranks::{Patience, on_threads};
use crate::reading::share::Pieces;
use crate::reading::{DistributedRows, load_in_pieces};
use ordito::io::ReadOptions;
use ordito::{Csr, Duplicates, Scalar};

pub(super) const COUNTS: [usize; 5] = [1, 2, 3, 4, 7];

/// So small that short texts have many segments, and few entries go round after round.
pub(super) const TINY: Pieces = Pieces { segment_bytes: 24, entries_per_round: 5 };

/// What every rank has; or the error, which must be the same on all.
pub(super) fn read_by<S: Scalar>(
    count: usize,
    name: &str,
    options: &ReadOptions,
    given: Option<&Partition>,
    pieces: Pieces,
) -> Result<Vec<DistributedRows<S>>, String> {
    let all = on_threads(count, Patience::default(), |ranks| {
        load_in_pieces::<S>(&ranks, name, options, given.cloned(), pieces)
            .map_err(|error: Error| error.to_string())
    });
    let errors: Vec<&String> = all.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(errors.is_empty() || errors.len() == count, "{name}: some ranks failed: {errors:?}");
    assert!(errors.iter().all(|error| *error == errors[0]), "{name}: {errors:?}");
    all.into_iter().collect()
}

/// Offsets, columns and bits of values of the rows of all ranks.
pub(super) type Parts = (Vec<usize>, Vec<u64>, Vec<u64>);

pub(super) fn put_together<S: Scalar>(all: &[DistributedRows<S>]) -> Parts {
    let (mut offsets, mut columns, mut bits) = (vec![0], Vec::new(), Vec::new());
    for (rank, part) in all.iter().enumerate() {
        assert_eq!(part.local.rows(), part.rows.rows_of(rank));
        assert_eq!((&part.rows, part.cols, part.local.cols()), (&all[0].rows, all[0].cols, all[0].cols));
        offsets.extend(part.local.offsets()[1..].iter().map(|end| end + columns.len()));
        columns.extend_from_slice(part.local.columns());
        bits.extend(part.local.values().iter().map(|value| value.to_f64().to_bits()));
    }
    (offsets, columns, bits)
}

pub(super) fn parts_of<S: Scalar>(csr: &Csr<S>) -> Parts {
    let columns = csr.col_indices().iter().map(|&column| column.into()).collect();
    let bits = csr.values().iter().map(|value| value.to_f64().to_bits()).collect();
    (csr.row_offsets().to_vec(), columns, bits)
}

/// One process and so many ranks read the same, or refuse it in the same words. Was it read?
pub(super) fn assert_alike<S: Scalar>(name: &str, counts: &[usize], pieces: Pieces) -> bool {
    let options = ReadOptions::default();
    let serial = ordito::io::load::<S>(name, &options).map_err(|error| error.to_string());
    let expected = serial.as_ref().ok().map(|serial| {
        let csr = Csr::from_coo(&serial.coo, Duplicates::Sum);
        let kept = ReadOptions { duplicates: Duplicates::Keep, ..options.clone() };
        let mut work = vec![0];
        for length in ordito::io::load::<S>(name, &kept).unwrap().coo.row_lengths() {
            work.push(work[work.len() - 1] + length as u64 + 1);
        }
        (parts_of(&csr), work)
    });
    for &count in counts {
        let together = read_by::<S>(count, name, &options, None, pieces);
        match (&serial, together) {
            (Err(serial), Err(together)) => assert_eq!(*serial, together, "{count} ranks"),
            (Ok(serial), Ok(together)) => {
                let (parts, work) = expected.as_ref().unwrap();
                assert!(put_together(&together) == *parts, "{name} on {count} ranks differs");
                let told =
                    |part: &DistributedRows<S>| part.origin == serial.origin && part.name == serial.name;
                assert!(together.iter().all(told), "{name}");
                let balanced = Partition::balanced(work.len() as u64 - 1, count, |row| work[row as usize]);
                assert_eq!(together[0].rows, balanced, "{name} on {count} ranks");
            }
            (serial, together) => {
                panic!("{name} on {count} ranks: {:?}, {:?}", serial.as_ref().err(), together.err())
            }
        }
    }
    serial.is_ok()
}
