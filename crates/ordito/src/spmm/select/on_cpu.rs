//! What `auto` takes on the CPU, as data: from what neighbouring rows have in common, K and the precision.
//!
//! The thresholds below were fitted to times of the yardstick's matrices (`benches/spmm_beside_mkl`) that it does not hold out, and
//! of 62 made ones in each of which one property has a chosen value, on a Xeon with AVX-512; no time of a matrix held out was taken
//! or looked up for it. What had all matrices in view: which kernels there are and their own constants (`SHORT` of `row_kernel`,
//! `AHEAD` of `sell`, chunks of rows), which statistics are taken, and the order of the questions. When rows stand in clusters is
//! decided in `x_fetches`.
//!
//! Time of what is chosen over that of the fastest variant (`spmm_beside_mkl --variants …`), in the geometric mean over 900 cases:
//! 1.037 with the thresholds before, 1.028 with these, and 1.028 with those fitted without the matrix that is looked at: none hangs
//! on one matrix.
//!
//! What is said of rows sorted by length was fitted to `small:1` to `small:48` and `sketched:1` to `sketched:36`, K = 2 to 64, on one thread
//! of a Xeon with two cores, with AVX-512 and with AVX2 (`measurements/2026-11-19-xeon-2-cores/by-length`). No real one was looked at.
//!
//! What is said of diagonals was fitted to 61 generated matrices, 48 of them `drawn:…`, on one thread of that Xeon; no real one was looked at.
//! What is said of small matrices, short rows and neighbours on them was fitted to `drawn:1` to `drawn:170` and 57 others with chosen
//! diagonals on a newer Xeon with two cores. No time of a real one was fitted to, but they were in view.

use crate::Scalar;
use crate::cpu::SimdLevel;
use crate::machine::Machine;
use crate::matrix::Csr;
use crate::op::{Choice, Description};
use crate::spmm::analysis::neighbours::Neighbours;
use crate::spmm::analysis::x_fetches::Cache;
use crate::spmm::cpu::formats::{DiagonalRuns, Steps};
use crate::spmm::cpu::partition::{PIECE, threads_for, work};
use crate::spmm::cpu::{
    csr_threads_by_length, csr_threads_clustered, csr_threads_nnz, csr_threads_sorted, diagonals,
    groups_threads_rows, sell,
};
use crate::spmm::product::Subject;

/// Nonzeros in rows with the columns of the row above, for every row of the matrix, from which on rows are taken in groups: a group
/// costs as much as so many. Where it begins to pay moves with the length of rows just so (9 to 45 nonzeros). For one column gathering
/// is the rival, which costs less for a row.
const SHARED: f64 = 4.0;
const SHARED_FOR_ONE: f64 = 8.0;
/// Of few columns of X groups save little, and this part of a row has to be shared besides: anything from 0.35 to 0.45 does as well.
const SHARED_PART_FOR_FEW: f64 = 0.4;
/// Places on diagonals that hold a nonzero, from which on rows are taken by diagonals (f32, f64): where vectors hold several rows of X,
/// that is up to four columns, and eight of f32. In f32 half full loses and 0.6 gains up to twice; in f64 0.67 loses and 0.8 gains.
const DIAGONAL: [f64; 2] = [0.55, 0.75];
const DIAGONAL_OF_EIGHT: f64 = 0.7;
/// In f64 a chunk less than 0.73 full takes more memory than CSR and stays rows, which cost three times as much. Of short rows some chunks
/// are much emptier than the mean: the more so, the shorter they are. K = 1, fastest other over diagonals: rows of 2.1 to 2.2 nonzeros,
/// 0.78 to 0.81 full 0.35 to 0.5; of 2.4 and 0.80 1.1; of 2.5 and 0.85 1.1 to 1.35; of 2.8 and 0.96 2.2 (`drawn:47`, 79, 159, 143, 95, 127, 111).
const DIAGONAL_OF_SHORT_ROWS: f64 = 0.7;
const OVER_LENGTH: f64 = 0.3;
/// Of a small matrix emptier chunks are kept on diagonals. 37 generated ones of 1000 and 6000 rows on 3 to 24 diagonals with holes, K = 1, 2
/// and 4: half full they lose (0.33 to 0.76), 0.6 full 0.87 to 1.5, 0.7 full 0.95 to 1.8.
const DIAGONAL_OF_SMALL: f64 = 0.62;
/// Rows of f64 shorter than this in the mean are not taken by diagonals: at 0.8 they lose half, at 1.9 they gain 1.4 times.
const LEAST_ON_DIAGONALS: f64 = 1.5;
/// The same for more columns, from so many bytes of a row of X up to so many: each row of X then is loaded once for all rows that share
/// it, which takes long rows. 29 generated matrices on one thread, diagonals over the fastest other: rows of 12 to 100 nonzeros and at
/// least 0.93 full 0.95 to 1.9, 0.87 full 0.7 to 1.0; rows of 5 to 9 nonzeros 0.6 to 1.1.
const DIAGONAL_WIDE: f64 = 0.93;
const LEAST_ON_DIAGONALS_WIDE: f64 = 11.0;
/// And such a row must be there: of 20 matrices on 12 and 24 full diagonals, K = 8, 16 and 32 in f64, 16 and 32 in f32, diagonals one beside
/// the other 0.91 to 1.62, in threes 0.95 to 1.32, in pairs 0.74 to 1.05, apart 0.68 to 1.03.
const BESIDE_ANOTHER: f64 = 0.6;
const WIDE_X_ON_DIAGONALS: std::ops::RangeInclusive<usize> = 32..=256;
/// Bytes of a row of X that are few for groups, and from which on 16 registers do not hold their sums.
const FEW_X: usize = 32;
const GROUPS_IN_16_REGISTERS: usize = 128;
/// Of so few columns that those of two rows fit a vector, eight rows are taken in one loop: up to 2.3 times as fast as one after the other in
/// the same order, of rows of 13 to 20 nonzeros as fast, of longer ones 0.75 to 1. One column with AVX2, over plain rows: of 2 to 4
/// nonzeros 2.3 and 2.8 times as fast, of 13 to 20 1.25 and 1.35, of more than 40 0.84.
const LONG_ROW: f64 = 20.0;
/// Plain loops do so with one column only: of 2 to 4 nonzeros 1.25 and 1.4 times as fast, of 4 to 9 0.92.
const LONG_ROW_WITHOUT_VECTORS: f64 = 4.0;
/// Bytes of a row of X up to which sorting rows by their lengths pays whatever these are: 1.04 to 1.4 times as fast.
const NARROW_X: usize = 64;
/// And where lengths change (rows as long as the row above are foreseen by the processor) or rows are very short, up to so many bytes, as
/// long as a thread's part of Y is not larger than so many second-level caches: the processor fetches what is written in order by itself.
/// 128 bytes: 1.05 to 1.17 times as fast, up to twice; of Y beyond 0.97. 256: 1.02 to 1.12, where Y is larger 0.93 to 0.98. 512: 0.97.
const UNEVEN_X: [(usize, f64); 2] = [(128, 2.0), (256, 1.0)];
/// Rows that are not as long as the row above: 0.15 gain little, 0.3 gain.
const LENGTHS_CHANGE: f64 = 0.3;
/// Rows of fewer nonzeros in the mean end so often that sorting pays although lengths hardly change: 1.05 to 1.15 times as fast.
const VERY_SHORT: f64 = 3.0;
/// In f64 where A, X and Y exceed the caches: there memory is waited for, whichever way rows are taken, and sorting makes a
/// second copy of A. Sorted over plain rows, two cores, six generated matrices of 36 to 80 million nonzeros: K = 4 0.98 to 1.07, K = 8
/// 0.92 to 1.04 and with rows of 6 1.17. (Nine of 1.2 to 9.6 million on 1 and 16 cores: K = 8 0.91 to 1.17; in f32 they gain.)
const NARROW_X_FROM_MEMORY: usize = 32;
/// Nonzeros of a row, in the mean, where memory is waited for: 9 gain up to a tenth, 13 lose a little, so that any threshold from 6 to 20
/// does about as well.
const SHORT_ROW: f64 = 10.0;
/// Windows of rows that are looked at, at most, and multiply-adds for every nonzero in them: looking takes less time than the
/// product.
const WINDOWS: usize = 64;
const STEPS_PER_NONZERO: usize = 64;
/// But so many nonzeros are looked at: fewer are no sample. Of a small grid they would be its first rows among others, which lack neighbours.
/// It takes some 20 µs.
const LEAST_NONZEROS: usize = 4096;

/// How the rows are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rows {
    InGroups,
    OnDiagonals,
    InLanes,
    EightOfOneLength,
    ByLength,
    AsTheyStand,
    /// And the threads share the longest.
    Shared,
}

impl Rows {
    /// The variant that takes them so.
    fn description(self) -> &'static Description {
        match self {
            Rows::InGroups => &groups_threads_rows::DESCRIPTION,
            Rows::OnDiagonals => &diagonals::DESCRIPTION,
            Rows::InLanes => &sell::DESCRIPTION,
            Rows::EightOfOneLength => &csr_threads_sorted::DESCRIPTION,
            Rows::ByLength => &csr_threads_by_length::DESCRIPTION,
            Rows::AsTheyStand | Rows::Shared => &csr_threads_nnz::DESCRIPTION,
        }
    }
}

pub(crate) fn on_cpu<S: Scalar>(machine: &Machine, subject: &Subject<S>) -> Choice {
    let (rows, why) = by_structure(machine, subject);
    let waits_for_x =
        matches!(rows, Rows::AsTheyStand | Rows::EightOfOneLength | Rows::ByLength) && subject.k > 1;
    let cache = Cache::of(machine, subject.k, size_of::<S>()).filter(|_| waits_for_x);
    let (variant, why) = match cache.and_then(|cache| cache.wasted(subject.a.view())) {
        Some(fetched) => {
            let why = format!(
                "{fetched:.2} rows of X and Y are fetched for a nonzero: rows that share columns are put together, if that turns out to pay"
            );
            (&csr_threads_clustered::DESCRIPTION, why)
        }
        None => (rows.description(), why),
    };
    choice(machine, subject, variant, &why)
}

/// The choice without clusters of rows, which were tried in vain.
pub(crate) fn with_rows_as_they_stand<S: Scalar>(machine: &Machine, subject: &Subject<S>) -> Choice {
    let (rows, why) = by_structure(machine, subject);
    choice(machine, subject, rows.description(), &why)
}

fn by_structure<S: Scalar>(machine: &Machine, subject: &Subject<S>) -> (Rows, String) {
    let steps = (subject.a.nnz() + subject.a.rows()).saturating_mul(subject.k);
    let nonzeros = (steps / STEPS_PER_NONZERO).max(LEAST_NONZEROS);
    let neighbours = Neighbours::of_sample(&subject.a, WINDOWS, nonzeros);
    let x = Columns {
        k: subject.k,
        scalar_bytes: size_of::<S>(),
        from_memory: exceeds_caches(machine, subject),
        caches_of_y: caches_of_y(machine, subject),
        one_row_is_a_share: one_row_is_a_share(machine, subject),
        is_small: DiagonalRuns::<S>::is_small(subject.a.rows(), subject.a.nnz()),
        steps: if subject.k == 1 { Steps::of_sample(subject.a.view()) } else { Steps::default() },
    };
    by_neighbours(neighbours, mean_length(&subject.a), machine.cpu().simd, x)
}

/// Do A, X and Y have to come from memory for every product? Not where nothing is known of the caches.
fn exceeds_caches<S: Scalar>(machine: &Machine, subject: &Subject<S>) -> bool {
    let of_a = subject.a.nnz().saturating_mul(size_of::<u32>() + size_of::<S>());
    let of_x_and_y =
        (subject.a.rows() + subject.a.cols()).saturating_mul(subject.k).saturating_mul(size_of::<S>());
    let cache = machine.cpu().last_level_cache_bytes();
    cache.is_some_and(|bytes| of_a.saturating_add(of_x_and_y) as u64 > bytes)
}

/// How many second-level caches every thread's part of Y takes; none where nothing is known of them.
fn caches_of_y<S: Scalar>(machine: &Machine, subject: &Subject<S>) -> f64 {
    let (rows, k) = (subject.a.rows(), subject.k);
    let threads = threads_for(machine.threads(), work(subject.a.nnz(), rows, k));
    let part = rows.saturating_mul(k).saturating_mul(size_of::<S>()) / threads;
    machine.cpu().l2_bytes.map_or(0.0, |cache| part as f64 / cache.max(1) as f64)
}

/// Has one row more nonzeros than a thread's share? Only plain CSR and slices cut such a row into pieces.
fn one_row_is_a_share<S: Scalar>(machine: &Machine, subject: &Subject<S>) -> bool {
    let lengths = || subject.a.view().offsets().windows(2).map(|row| row[1] - row[0]);
    let most = PIECE.max(subject.a.nnz() / machine.threads());
    machine.threads() > 1 && lengths().any(|length| length > most)
}

/// What X and Y are to a choice.
#[derive(Debug, Clone, Copy)]
struct Columns {
    k: usize,
    scalar_bytes: usize,
    from_memory: bool,
    caches_of_y: f64,
    one_row_is_a_share: bool,
    /// A lies in two MiB of cache on diagonals with holes, too.
    is_small: bool,
    /// Of one column; for more nobody counts them.
    steps: Steps,
}

fn choice<S: Scalar>(machine: &Machine, subject: &Subject<S>, variant: &Description, why: &str) -> Choice {
    let steps = work(subject.a.nnz(), subject.a.rows(), subject.k);
    let threads = match (machine.threads(), threads_for(machine.threads(), steps)) {
        (1, _) => "one thread".to_owned(),
        (_, 1) => "too little work to wake a second thread".to_owned(),
        (all, threads) if threads < all => {
            format!("at most {threads} of {all} threads: more would wait for each other")
        }
        (all, _) => format!("{all} threads"),
    };
    Choice::new(variant, format!("{why}; {threads}"))
}

fn mean_length<S: Scalar>(a: &Csr<S>) -> f64 {
    a.nnz() as f64 / a.rows().max(1) as f64
}

fn by_neighbours(
    rows: Neighbours,
    mean_length: f64,
    simd: SimdLevel,
    Columns { k, scalar_bytes, from_memory, caches_of_y, one_row_is_a_share, is_small, steps }: Columns,
) -> (Rows, String) {
    let (is_f64, x_bytes) = (scalar_bytes == 8, k.saturating_mul(scalar_bytes));
    let percent = |share: f64| (100.0 * share).round();
    let on_diagonals = if is_f64 { rows.diagonals_of_8 } else { rows.diagonals_of_16 };
    let in_lanes = k == 1 && simd == SimdLevel::Avx512;
    if one_row_is_a_share {
        let why = "one row is more than a thread's share, and cut into pieces";
        return (if in_lanes { Rows::InLanes } else { Rows::Shared }, why.into());
    }
    let shared_enough = match x_bytes {
        _ if k == 1 => SHARED_FOR_ONE + SHARED_PART_FOR_FEW * mean_length,
        ..=FEW_X => SHARED + SHARED_PART_FOR_FEW * mean_length,
        _ => SHARED,
    };
    // Groups would have to read A again for every few columns.
    let groups_pay = simd == SimdLevel::Avx512 || x_bytes < GROUPS_IN_16_REGISTERS;
    if rows.same_columns * mean_length >= shared_enough && groups_pay {
        let why = format!(
            "{} % of the nonzeros are in rows with the columns of the row above: such rows share what they read of X",
            percent(rows.same_columns)
        );
        return (Rows::InGroups, why);
    }
    let enough = match (k, is_f64) {
        (1..=4, true) if mean_length < LEAST_ON_DIAGONALS => f64::INFINITY,
        (1..=4, true) if is_small => DIAGONAL_OF_SMALL,
        (1..=4, true) => DIAGONAL[1].max(DIAGONAL_OF_SHORT_ROWS + OVER_LENGTH / mean_length),
        (1..=4, false) => DIAGONAL[0],
        (8, false) => DIAGONAL_OF_EIGHT,
        _ if WIDE_X_ON_DIAGONALS.contains(&x_bytes)
            && mean_length >= LEAST_ON_DIAGONALS_WIDE
            && rows.beside_another >= BESIDE_ANOTHER =>
        {
            DIAGONAL_WIDE
        }
        _ => f64::INFINITY,
    };
    if on_diagonals >= enough && simd == SimdLevel::Avx512 {
        let why = format!(
            "nonzeros fill {} % of the diagonals that they are on: X is read in order",
            percent(on_diagonals)
        );
        return (Rows::OnDiagonals, why);
    }
    if in_lanes {
        let percent_less = percent(1.0 - steps.in_slices / steps.by_rows.max(1.0));
        if steps.in_slices <= steps.by_rows {
            let why = format!(
                "one column: rows side by side in the lanes of vectors, {percent_less} % fewer steps than one after the other"
            );
            return (Rows::InLanes, why);
        }
        let why = format!(
            "one column: rows side by side would take {} % more steps, their lengths are too different",
            -percent_less
        );
        return (Rows::AsTheyStand, why);
    }
    let eight = mean_length < long_row(simd, k, x_bytes);
    if k == 1 && eight {
        return (Rows::EightOfOneLength, "one column: eight rows of one length in a loop".into());
    }
    let waits = from_memory && is_f64 && mean_length >= SHORT_ROW;
    if k > 1 && x_bytes <= if waits { NARROW_X_FROM_MEMORY } else { NARROW_X } {
        if eight {
            let why = "few columns: eight rows of one length in a loop, which ends once for all of them";
            return (Rows::EightOfOneLength, why.into());
        }
        let why = "few columns: rows sorted by length, so that their ends are foreseen";
        return (Rows::ByLength, why.into());
    }
    let uneven = rows.length_changes >= LENGTHS_CHANGE || mean_length < VERY_SHORT;
    let y_is_near = UNEVEN_X.iter().any(|&(bytes, caches)| x_bytes <= bytes && caches_of_y <= caches);
    if k > 1 && uneven && y_is_near && !waits {
        let why = format!(
            "{} % of the rows are not as long as the row above, {mean_length:.1} nonzeros in the mean: sorted by length, their ends are foreseen",
            percent(rows.length_changes)
        );
        return (Rows::ByLength, why);
    }
    let why =
        if k == 1 { "one column, no conversion" } else { "vector instructions across K, no conversion" };
    (Rows::AsTheyStand, why.into())
}

/// From so many nonzeros on rows are not taken eight at a time. (NEON was not measured, and does as plain loops.)
fn long_row(simd: SimdLevel, k: usize, x_bytes: usize) -> f64 {
    match simd {
        SimdLevel::Avx512 if 2 * x_bytes <= 64 => LONG_ROW,
        SimdLevel::Avx2 if 2 * x_bytes <= 32 => LONG_ROW,
        SimdLevel::Portable | SimdLevel::Neon if k == 1 => LONG_ROW_WITHOUT_VECTORS,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests;
