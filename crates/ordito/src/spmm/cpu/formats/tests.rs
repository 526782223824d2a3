//! COO → format → COO is the identity, for matrices nobody thought of.

use super::{DiagonalChunks, Order, OrderedCsr, RowClusters, RowGroups, Sell, SortedCsr};
use crate::matrix::{Coo, Csr, Duplicates, EllPadded, EllRagged};
use arbtest::arbitrary::{Result, Unstructured};
use arbtest::arbtest;

/// Cases that each property is tried with at the least; many more where there is time (`ARBTEST_BUDGET_MS`, 100 by default). In Miri
/// each takes a second.
const LEAST_CASES: usize = if cfg!(miri) { 4 } else { 256 };

/// Checks `property` for many cases. The largest takes about 600 bytes; behind the last, all draws are the smallest.
fn check(mut property: impl FnMut(&mut Unstructured<'_>) -> Result<()>) {
    let mut cases = 0;
    while cases < LEAST_CASES {
        arbtest(|u| {
            cases += 1;
            property(u)
        })
        .size_min(1024)
        .size_max(1024);
    }
}

/// Any small matrix: entries in any order, duplicates and explicit zeros included.
fn coo(u: &mut Unstructured<'_>) -> Result<Coo<f64>> {
    let (rows, cols) = (u.int_in_range(1..=39)?, u.int_in_range(1..=39)?);
    let (mut rows_of, mut cols_of, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..u.int_in_range(0..=199)? {
        rows_of.push(u.int_in_range(0..=rows - 1)?);
        cols_of.push(u.int_in_range(0..=cols - 1)?);
        values.push(f64::from(u.int_in_range(-4i32..=4)?));
    }
    Ok(Coo::new(rows as usize, cols as usize, rows_of, cols_of, values).unwrap())
}

/// A few diagonals with holes: what chunks of diagonals are made of.
fn near_diagonals(u: &mut Unstructured<'_>) -> Result<Coo<f64>> {
    let (rows, cols) = (u.int_in_range(1..=79)?, u.int_in_range(1..=79)?);
    let hole = u.int_in_range(1..=29)?;
    let count = u.int_in_range(1..=5)?;
    let diagonals = (0..count).map(|_| u.int_in_range(-60..=59)).collect::<Result<Vec<i64>>>()?;
    let mut entries = Vec::new();
    for row in 0..rows as i64 {
        entries.extend(diagonals.iter().map(|diagonal| (row, row + diagonal)));
    }
    entries.retain(|&(row, col)| (0..cols as i64).contains(&col) && (row + col) as usize % hole != hole / 2);
    let values = (0..entries.len()).map(|i| i as f64).collect();
    let (row, col) = entries.into_iter().map(|(row, col)| (row as u32, col as u32)).unzip();
    Ok(Coo::new(rows, cols, row, col, values).unwrap())
}

/// The definition of order: by row and column, equals as they stood.
fn sorted(coo: &Coo<f64>) -> Vec<(u32, u32, f64)> {
    let mut entries: Vec<_> = coo.entries().collect();
    entries.sort_by_key(|&(row, col, _)| (row, col));
    entries
}

#[test]
fn csr_keeps_every_entry() {
    check(|u| {
        let coo = coo(u)?;
        let csr = Csr::from_coo(&coo, Duplicates::Keep);
        assert_eq!(csr.to_coo().entries().collect::<Vec<_>>(), sorted(&coo));
        let view = csr.view();
        let (offsets, columns, values) =
            (view.offsets().to_vec(), view.columns().to_vec(), view.values().to_vec());
        assert!(Csr::from_parts(csr.rows(), csr.cols(), offsets, columns, values).is_ok());
        Ok(())
    });
}

#[test]
fn ellpack_keeps_every_entry() {
    check(|u| {
        let coo = coo(u)?;
        let csr = Csr::from_coo(&coo, Duplicates::Keep);
        let padded = EllPadded::from_csr(&csr).unwrap();
        assert_eq!(padded.to_coo(), csr.to_coo());
        assert_eq!(EllRagged::from_csr(&csr).to_coo(), csr.to_coo());
        let (lengths, columns, values) =
            (padded.row_lengths().to_vec(), padded.columns().to_vec(), padded.values().to_vec());
        let again =
            EllPadded::from_parts(padded.rows(), padded.cols(), padded.width(), lengths, columns, values);
        assert!(again.is_ok());
        Ok(())
    });
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn what_kernels_of_the_cpu_read_keeps_every_entry() {
    check(|u| {
        let coo = coo(u)?;
        let csr = Csr::from_coo(&coo, Duplicates::Keep);
        let back = |coo: Coo<f64>| Csr::from_coo(&coo, Duplicates::Keep);
        assert_eq!(&back(SortedCsr::from_csr(csr.view()).unwrap().to_coo()), &csr);
        for columns in [1, 4, 1000] {
            let clusters = RowClusters::grow(csr.view(), columns).unwrap();
            let ordered = OrderedCsr::in_clusters(csr.view(), clusters).unwrap();
            assert_eq!(&back(ordered.to_coo()), &csr);
        }
        for order in [Order::ByRow, Order::ByColumn] {
            let groups = RowGroups::from_csr(csr.view(), order).unwrap();
            assert_eq!(sorted(&groups.to_coo()), sorted(&csr.to_coo()));
        }
        Ok(())
    });
}

#[test]
fn diagonal_chunks_keep_every_entry() {
    check(|u| {
        for coo in [coo(u)?, near_diagonals(u)?] {
            for duplicates in [Duplicates::Keep, Duplicates::Sum] {
                let csr = Csr::from_coo(&coo, duplicates);
                assert_eq!(DiagonalChunks::from_csr(&csr).unwrap().to_csr(), csr);
            }
        }
        Ok(())
    });
}

#[test]
fn sell_keeps_every_entry() {
    check(|u| {
        for coo in [coo(u)?, near_diagonals(u)?] {
            let csr = Csr::from_coo(&coo, Duplicates::Keep);
            assert_eq!(Sell::from_csr(&csr).to_csr().unwrap(), csr);
        }
        Ok(())
    });
}

#[test]
fn summing_leaves_one_entry_per_place() {
    check(|u| {
        let coo = coo(u)?;
        let csr = Csr::from_coo(&coo, Duplicates::Sum);
        let mut sums = std::collections::BTreeMap::new();
        for (row, col, value) in coo.entries() {
            *sums.entry((row, col)).or_insert(0.0) += value;
        }
        let found: Vec<_> = csr.to_coo().entries().map(|(row, col, value)| ((row, col), value)).collect();
        assert_eq!(found, sums.into_iter().collect::<Vec<_>>());
        Ok(())
    });
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn transposing_swaps_rows_and_columns() {
    check(|u| {
        let coo = coo(u)?;
        let transposed = Csr::from_coo(&coo, Duplicates::Keep).transpose();
        assert_eq!(transposed.to_coo().entries().collect::<Vec<_>>(), sorted(&coo.clone().transpose()));
        Ok(())
    });
}
