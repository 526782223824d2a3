use super::*;
use crate::io;
use crate::matrix::Duplicates;
use crate::op::Op;
use crate::spmm::product::Spmm;
use std::sync::Arc;

fn chosen<S: Scalar>(name: &str, k: usize) -> &'static str {
    chosen_from::<S>(name, k, false)
}

fn chosen_from<S: Scalar>(name: &str, k: usize, from_memory: bool) -> &'static str {
    chosen_at::<S>(SimdLevel::Avx512, name, k, if from_memory { 100.0 } else { 0.0 }, false)
}

/// With so many caches of Y; where there are several, all comes from memory.
fn chosen_at<S: Scalar>(
    simd: SimdLevel,
    name: &str,
    k: usize,
    caches_of_y: f64,
    one_row_is_a_share: bool,
) -> &'static str {
    let coo = io::load::<S>(name, &Default::default()).unwrap().coo;
    let subject = Subject { a: Arc::new(Csr::from_coo(&coo, Duplicates::Sum)), triplets: None, k };
    let neighbours = Neighbours::of_sample(&subject.a, WINDOWS, usize::MAX);
    let is_small = DiagonalRuns::<S>::is_small(subject.a.rows(), subject.a.nnz());
    let steps = Steps::of_sample(subject.a.view());
    let x = Columns {
        k,
        scalar_bytes: size_of::<S>(),
        from_memory: caches_of_y > 10.0,
        caches_of_y,
        one_row_is_a_share,
        is_small,
        steps,
    };
    by_neighbours(neighbours, mean_length(&subject.a), simd, x).0.description().name
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn structure_decides_with_k() {
    assert_eq!(
        [1, 2, 64].map(|k| chosen::<f64>("blocks:2000x12x3", k)),
        ["groups-threads-rows", "groups-threads-rows", "groups-threads-rows"]
    );
    assert_eq!(
        [1, 3, 16, 32].map(|k| chosen::<f64>("stencil5:60", k)),
        ["diagonals-threads-chunks", "diagonals-threads-chunks", "csr-threads-nnz", "csr-threads-nnz"]
    );
    assert_eq!(
        [8, 16, 64].map(|k| chosen::<f32>("stencil5:60", k)),
        ["diagonals-threads-chunks", "csr-threads-by-length", "csr-threads-nnz"]
    );
    assert_eq!(
        [8, 32, 64].map(|k| chosen::<f64>("band:3000x20", k)),
        ["diagonals-threads-chunks", "diagonals-threads-chunks", "csr-threads-nnz"]
    );
    assert_eq!(
        [1, 4, 16, 32, 64].map(|k| chosen::<f64>("powerlaw:3000x16", k)),
        [
            "sell-threads-slices",
            "csr-threads-sorted",
            "csr-threads-by-length",
            "csr-threads-by-length",
            "csr-threads-nnz"
        ]
    );
    // Long rows, and very short ones of one length.
    assert_eq!(chosen::<f64>("powerlaw:3000x40", 4), "csr-threads-by-length");
    assert_eq!(chosen::<f64>("uniform:3000x2", 32), "csr-threads-by-length");
    assert_eq!(chosen::<f32>("uniform:3000x16", 16), "csr-threads-by-length");
    assert_eq!(chosen::<f32>("uniform:3000x16", 32), "csr-threads-nnz");
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn narrower_vectors_take_eight_rows_of_fewer_columns() {
    let chosen = |simd, k| chosen_at::<f64>(simd, "powerlaw:3000x9", k, 0.0, false);
    let (eight, one, plain) = ("csr-threads-sorted", "csr-threads-by-length", "csr-threads-nnz");
    assert_eq!([1, 2, 4, 32].map(|k| chosen(SimdLevel::Avx2, k)), [eight, eight, one, one]);
    assert_eq!([1, 2, 4, 32].map(|k| chosen(SimdLevel::Portable, k)), [plain, one, one, one]);
    assert_eq!(chosen_at::<f64>(SimdLevel::Portable, "powerlaw:3000x3", 1, 0.0, false), eight);
    assert_eq!(chosen_at::<f64>(SimdLevel::Avx2, "powerlaw:3000x40", 1, 0.0, false), plain);
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn a_large_y_is_written_in_order() {
    let chosen = |k, caches| chosen_at::<f64>(SimdLevel::Avx512, "powerlaw:3000x9", k, caches, false);
    let (sorted, plain) = ("csr-threads-by-length", "csr-threads-nnz");
    assert_eq!([0.9, 1.5, 2.5].map(|caches| chosen(16, caches)), [sorted, sorted, plain]);
    assert_eq!([0.9, 1.5].map(|caches| chosen(32, caches)), [sorted, plain]);
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn a_row_that_is_more_than_a_share_is_cut() {
    let chosen = |simd, k| chosen_at::<f32>(simd, "powerlaw:3000x9", k, 0.0, true);
    assert_eq!(chosen(SimdLevel::Avx512, 1), "sell-threads-slices");
    assert_eq!([4, 32].map(|k| chosen(SimdLevel::Avx512, k)), ["csr-threads-nnz"; 2]);
    assert_eq!([1, 4].map(|k| chosen(SimdLevel::Avx2, k)), ["csr-threads-nnz"; 2]);

    // One row of 20 000, and 200 others of 100.
    let mut offsets = vec![0, 20_000];
    offsets.extend((1..=200).map(|row| 20_000 + 100 * row));
    let columns = (0..20_000).chain((0..20_000).map(|entry| entry % 100)).collect();
    let a = Arc::new(Csr::from_parts(201, 20_000, offsets, columns, vec![1.0f32; 40_000]).unwrap());
    let subject = Subject { a, triplets: None, k: 8 };
    let is_cut = |threads| one_row_is_a_share(&Machine::with_threads(threads).unwrap(), &subject);
    assert_eq!([1, 2, 3].map(is_cut), [false, false, true]);
}

/// One row in a lane is as long as all others together.
#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn rows_of_very_different_lengths_stay_apart() {
    let mut offsets = vec![0];
    (0..64).for_each(|row| offsets.push(offsets[row] + if row % 16 == 0 { 250 } else { 40 }));
    let columns = offsets.windows(2).flat_map(|row| 0..(row[1] - row[0]) as u32).collect();
    let values = vec![1.0f64; offsets[64]];
    let a = Arc::new(Csr::from_parts(64, 250, offsets, columns, values).unwrap());
    let steps = Steps::of_sample(a.view());
    assert!(steps.in_slices > steps.by_rows, "{steps:?}");
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn what_comes_from_memory_is_sorted_less() {
    let from_memory = |name, k| chosen_from::<f64>(name, k, true);
    assert_eq!(
        [4, 8, 16].map(|k| from_memory("uniform:3000x16", k)),
        ["csr-threads-sorted", "csr-threads-nnz", "csr-threads-nnz"]
    );
    assert_eq!(
        [8, 16].map(|k| from_memory("stencil5:60", k)),
        ["csr-threads-by-length", "csr-threads-nnz"],
        "short rows of one length"
    );
    assert_eq!(
        from_memory("powerlaw:3000x6", 16),
        "csr-threads-nnz",
        "rows whose lengths change, of a large Y"
    );
    assert_eq!(chosen_from::<f32>("uniform:3000x16", 16, true), "csr-threads-by-length");
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn every_choice_is_a_variant_with_a_reason() {
    let machine = Machine::with_threads(2).unwrap();
    for name in ["empty:0x0", "empty:5x7", "diagonal:3", "blocks:40x4x3", "powerlaw:300x9"] {
        let a = Arc::new(Csr::from_coo(&io::load(name, &Default::default()).unwrap().coo, Duplicates::Sum));
        for k in [0, 1, 2, 8, 100] {
            let choice = on_cpu(&machine, &Subject::<f32> { a: Arc::clone(&a), triplets: None, k });
            assert!(
                Spmm::<f32>::variant(choice.variant).is_some_and(|variant| variant.describe().can_be_chosen)
            );
            assert!(choice.reason.contains("thread"), "{}", choice.reason);
        }
    }
}
