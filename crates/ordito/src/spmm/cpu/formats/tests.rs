//! COO → format → COO is the identity, for matrices nobody thought of; and new values come to where the old ones were.

use super::{DiagonalRuns, Order, OrderedCsr, RowClusters, RowGroups, Sell, SortedCsr};
use crate::Scalar;
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

/// A few diagonals with holes: what diagonal runs are made of.
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
        assert_eq!(&back(OrderedCsr::by_length(csr.view()).unwrap().to_coo()), &csr);
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
fn diagonal_runs_keep_every_entry() {
    check(|u| {
        for coo in [coo(u)?, near_diagonals(u)?] {
            for duplicates in [Duplicates::Keep, Duplicates::Sum] {
                let csr = Csr::from_coo(&coo, duplicates);
                assert_eq!(DiagonalRuns::from_csr(&csr).unwrap().to_csr(), csr);
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

/// A pattern by the columns of its rows, which need not be sorted and may repeat.
fn pattern(cols: usize, rows: Vec<Vec<usize>>) -> Csr<f64> {
    let mut offsets = vec![0];
    offsets.extend(rows.iter().scan(0, |end, row| {
        *end += row.len();
        Some(*end)
    }));
    let columns: Vec<u32> = rows.iter().flatten().map(|&col| col as u32).collect();
    let values = vec![0.0; columns.len()];
    Csr::from_parts(rows.len(), cols, offsets, columns, values).unwrap()
}

/// Patterns that some format keeps in a way of its own, with more rows than a window or a task has.
fn patterns() -> Vec<(&'static str, Csr<f64>)> {
    let scattered = |row: usize, count: usize| (0..count).map(move |i| (row * 7919 + i * i * 31 + i) % 997);
    let of_rows = |rows: usize, row: &dyn Fn(usize) -> Vec<usize>| (0..rows).map(row).collect::<Vec<_>>();
    let mut long = of_rows(700, &|row| scattered(row, row % 5).collect());
    long[300] = (0..40_000).map(|i| i * 3 % 50_000).collect(); // three pieces of long rows
    long[511] = (0..257).collect();
    long[512] = (0..300).rev().collect();
    let mut one_dense = vec![Vec::new(); 40];
    one_dense[17] = (0..3000).collect();
    let band = |row: usize, near: &[i64]| -> Vec<usize> {
        let columns = near.iter().map(|diagonal| row as i64 + diagonal);
        columns.filter(|col| (0..1500).contains(col)).map(|col| col as usize).collect()
    };
    let falling = |row: usize| scattered(row, row % 13).collect::<Vec<_>>().into_iter().rev().collect();
    vec![
        ("no rows", pattern(3, Vec::new())),
        ("empty rows", pattern(3, vec![Vec::new(); 1100])),
        ("some empty rows", pattern(997, of_rows(1100, &|row| scattered(row, row % 3 * 4).collect()))),
        ("duplicates", pattern(50, of_rows(1100, &|row| vec![row % 50, 3, 3, row % 50, 3]))),
        ("unsorted columns", pattern(997, of_rows(1100, &falling))),
        ("long rows", pattern(50_000, long)),
        ("one dense row", pattern(3000, one_dense)),
        ("blocks", pattern(3000, of_rows(9000, &|row| (row / 3 % 990 * 3..row / 3 % 990 * 3 + 9).collect()))),
        ("blocks of six", pattern(600, of_rows(600, &|row| (row / 6 * 6..row / 6 * 6 + 6).collect()))),
        ("a stencil", pattern(1500, of_rows(1500, &|row| band(row, &[-40, -1, 0, 1, 40])))),
        (
            "a stencil with holes",
            pattern(1500, of_rows(1500, &|row| band(row, &[-2 - (row % 7) as i64, 0, 1, 3]))),
        ),
        (
            "columns far apart",
            pattern(200_000, of_rows(600, &|row| (0..row % 9).map(|i| i * 24_000 + row).collect())),
        ),
    ]
}

/// The pattern with numbers that tell where they stand; with every factor others.
fn with_numbers<S: Scalar>(pattern: &Csr<f64>, factor: usize) -> Csr<S> {
    let (offsets, columns, zeros) = pattern.clone().into_parts();
    let values = (0..zeros.len()).map(|entry| S::from_f64((entry * factor % 99_991) as f64)).collect();
    Csr::from_parts(pattern.rows(), pattern.cols(), offsets, columns, values).unwrap()
}

/// Rows as they stand; their entries keep their order.
fn by_row<S: Scalar>(coo: &Coo<S>) -> Vec<(u32, u32, S)> {
    let mut entries: Vec<_> = coo.entries().collect();
    entries.sort_by_key(|&(row, _, _)| row);
    entries
}

/// Every format of old numbers that is given new ones is that of the new numbers, and has each where it belongs.
fn new_numbers_come_to_their_places<S: Scalar>(pattern: &Csr<f64>, name: &str) {
    let (old, new) = (with_numbers::<S>(pattern, 1), with_numbers::<S>(pattern, 7));
    let expected = by_row(&new.to_coo());

    let mut sorted = SortedCsr::from_csr(old.view()).unwrap();
    sorted.set_values(new.view());
    assert!(sorted == SortedCsr::from_csr(new.view()).unwrap(), "{name}");
    assert!(by_row(&sorted.to_coo()) == expected, "{name}");

    let clusters = || RowClusters::grow(old.view(), 100).unwrap();
    let mut ordered = OrderedCsr::in_clusters(old.view(), clusters()).unwrap();
    ordered.set_values(new.view());
    assert!(ordered == OrderedCsr::in_clusters(new.view(), clusters()).unwrap(), "{name}");
    assert!(by_row(&ordered.to_coo()) == expected, "{name}");

    for order in [Order::ByRow, Order::ByColumn] {
        let mut groups = RowGroups::from_csr(old.view(), order).unwrap();
        groups.set_values(new.view());
        assert!(groups == RowGroups::from_csr(new.view(), order).unwrap(), "{name}, {order:?}");
        assert!(by_row(&groups.to_coo()) == expected, "{name}, {order:?}");
    }

    let mut runs = DiagonalRuns::from_csr(&old).unwrap();
    runs.set_values(new.view());
    assert!(runs == DiagonalRuns::from_csr(&new).unwrap(), "{name}");
    assert!(runs.to_csr() == new, "{name}");

    let mut sell = Sell::from_csr(&old);
    assert!(sell.set_values(new.view()), "{name}");
    assert!(sell == Sell::from_csr(&new), "{name}");
    assert!(sell.to_csr().unwrap() == new, "{name}");
    // One value that all entries have is stored once.
    let all = |value: S| {
        let (rows, columns) = (pattern.row_offsets().to_vec(), pattern.col_indices().to_vec());
        Csr::from_parts(pattern.rows(), pattern.cols(), rows, columns, vec![value; pattern.nnz()]).unwrap()
    };
    let (ones, twos) = (all(S::ONE), all(S::ONE + S::ONE));
    let mut same = Sell::from_csr(&ones);
    assert!(same.to_csr().unwrap() == ones, "{name}");
    assert!(same.set_values(twos.view()) && same == Sell::from_csr(&twos), "{name}");
    assert!(same.to_csr().unwrap() == twos, "{name}");
    let differ = new.values().windows(2).any(|pair| pair[0] != pair[1]);
    assert_eq!((sell.set_values(ones.view()), same.set_values(new.view())), (!differ, !differ), "{name}");
    if differ {
        assert!(sell.bytes() + 1024 > same.bytes() + (pattern.nnz() * size_of::<S>()) as u64, "{name}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn formats_take_new_numbers() {
    for (name, pattern) in patterns() {
        new_numbers_come_to_their_places::<f32>(&pattern, name);
        new_numbers_come_to_their_places::<f64>(&pattern, name);
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn formats_of_matrices_nobody_thought_of_take_new_numbers() {
    check(|u| {
        for coo in [coo(u)?, near_diagonals(u)?] {
            let pattern = Csr::from_coo(&coo, Duplicates::Keep);
            new_numbers_come_to_their_places::<f32>(&pattern, "drawn");
            new_numbers_come_to_their_places::<f64>(&pattern, "drawn");
        }
        Ok(())
    });
}
