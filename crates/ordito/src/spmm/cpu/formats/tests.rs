//! COO → format → COO is the identity, for matrices nobody thought of.

use super::{DiagonalChunks, Order, OrderedCsr, RowClusters, RowGroups, Sell, SortedCsr};
use crate::matrix::{Coo, Csr, Duplicates, EllPadded, EllRagged};
use proptest::prelude::*;

/// Any small matrix: entries in any order, duplicates and explicit zeros included.
fn coo() -> impl Strategy<Value = Coo<f64>> {
    (1usize..40, 1usize..40).prop_flat_map(|(rows, cols)| {
        let entry = (0..rows as u32, 0..cols as u32, -4i32..=4);
        prop::collection::vec(entry, 0..200).prop_map(move |entries| {
            let rows_of = entries.iter().map(|entry| entry.0).collect();
            let cols_of = entries.iter().map(|entry| entry.1).collect();
            let values = entries.iter().map(|entry| f64::from(entry.2)).collect();
            Coo::new(rows, cols, rows_of, cols_of, values).unwrap()
        })
    })
}

/// A few diagonals with holes: what chunks of diagonals are made of.
fn near_diagonals() -> impl Strategy<Value = Coo<f64>> {
    let diagonals = prop::collection::vec(-60i64..60, 1..6);
    (1usize..80, 1usize..80, diagonals, 1usize..30).prop_map(|(rows, cols, diagonals, hole)| {
        let mut entries = Vec::new();
        for row in 0..rows as i64 {
            entries.extend(diagonals.iter().map(|diagonal| (row, row + diagonal)));
        }
        entries
            .retain(|&(row, col)| (0..cols as i64).contains(&col) && (row + col) as usize % hole != hole / 2);
        let values = (0..entries.len()).map(|i| i as f64).collect();
        let (row, col) = entries.into_iter().map(|(row, col)| (row as u32, col as u32)).unzip();
        Coo::new(rows, cols, row, col, values).unwrap()
    })
}

/// The definition of order: by row and column, equals as they stood.
fn sorted(coo: &Coo<f64>) -> Vec<(u32, u32, f64)> {
    let mut entries: Vec<_> = coo.entries().collect();
    entries.sort_by_key(|&(row, col, _)| (row, col));
    entries
}

proptest! {
    #[test]
    fn csr_keeps_every_entry(coo in coo()) {
        let csr = Csr::from_coo(&coo, Duplicates::Keep);
        prop_assert_eq!(csr.to_coo().entries().collect::<Vec<_>>(), sorted(&coo));
        let view = csr.view();
        prop_assert!(Csr::from_parts(
            csr.rows(), csr.cols(), view.offsets().to_vec(), view.columns().to_vec(), view.values().to_vec()
        ).is_ok());
    }

    #[test]
    fn ellpack_keeps_every_entry(coo in coo()) {
        let csr = Csr::from_coo(&coo, Duplicates::Keep);
        let padded = EllPadded::from_csr(&csr).unwrap();
        prop_assert_eq!(padded.to_coo(), csr.to_coo());
        prop_assert_eq!(EllRagged::from_csr(&csr).to_coo(), csr.to_coo());
        prop_assert!(EllPadded::from_parts(
            padded.rows(), padded.cols(), padded.width(),
            padded.row_lengths().to_vec(), padded.columns().to_vec(), padded.values().to_vec()
        ).is_ok());
    }

    #[test]
    fn what_kernels_of_the_cpu_read_keeps_every_entry(coo in coo()) {
        let csr = Csr::from_coo(&coo, Duplicates::Keep);
        let back = |coo: Coo<f64>| Csr::from_coo(&coo, Duplicates::Keep);
        prop_assert_eq!(&back(SortedCsr::from_csr(csr.view()).unwrap().to_coo()), &csr);
        for columns in [1, 4, 1000] {
            let clusters = RowClusters::grow(csr.view(), columns).unwrap();
            let ordered = OrderedCsr::in_clusters(csr.view(), clusters).unwrap();
            prop_assert_eq!(&back(ordered.to_coo()), &csr);
        }
        for order in [Order::ByRow, Order::ByColumn] {
            let groups = RowGroups::from_csr(csr.view(), order).unwrap();
            prop_assert_eq!(sorted(&groups.to_coo()), sorted(&csr.to_coo()));
        }
    }

    #[test]
    fn diagonal_chunks_keep_every_entry(coo in coo(), near in near_diagonals()) {
        for coo in [coo, near] {
            for duplicates in [Duplicates::Keep, Duplicates::Sum] {
                let csr = Csr::from_coo(&coo, duplicates);
                prop_assert_eq!(DiagonalChunks::from_csr(&csr).unwrap().to_csr(), csr);
            }
        }
    }

    #[test]
    fn sell_keeps_every_entry(coo in coo(), near in near_diagonals()) {
        for coo in [coo, near] {
            let csr = Csr::from_coo(&coo, Duplicates::Keep);
            prop_assert_eq!(Sell::from_csr(&csr).to_csr().unwrap(), csr);
        }
    }

    #[test]
    fn summing_leaves_one_entry_per_place(coo in coo()) {
        let csr = Csr::from_coo(&coo, Duplicates::Sum);
        let mut sums = std::collections::BTreeMap::new();
        for (row, col, value) in coo.entries() {
            *sums.entry((row, col)).or_insert(0.0) += value;
        }
        let found: Vec<_> = csr.to_coo().entries().map(|(row, col, value)| ((row, col), value)).collect();
        prop_assert_eq!(found, sums.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn transposing_swaps_rows_and_columns(coo in coo()) {
        let transposed = Csr::from_coo(&coo, Duplicates::Keep).transpose();
        prop_assert_eq!(transposed.to_coo().entries().collect::<Vec<_>>(), sorted(&coo.clone().transpose()));
    }
}
