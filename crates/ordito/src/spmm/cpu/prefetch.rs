//! Whether a kernel asks for rows of X before it needs them: it pays where X is larger than the caches of a core and rows of A
//! jump about in it, and costs up to 40 % where they do not.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::CsrSlices;

/// Entries ahead. Measured at 16 and 64 on uniform and mesh-dual matrices, K = 8 to 64: 64 gave 1.0 to 1.2 times the speed.
const DISTANCE: usize = 64;
/// X must have so many times the second-level cache, and a row of X at least a cache line.
const CACHES: u64 = 4;
const LINE_BYTES: usize = 64;
/// Pairs of neighbouring rows that are looked at, and entries of each: enough to tell, in a few microseconds.
const PAIRS: usize = 256;
const ENTRIES: usize = 32;
/// Below this share of entries that have a neighbour in the row before, rows jump about.
const LOCAL: f64 = 0.25;
/// Rows that are not as long as the row before: where there are more, the matrix is a network, few columns of which have most
/// entries and stay in the caches (soc-Epinions1 in f64 at K = 16: 0.72 of MKL's speed with asking ahead, while row groups of one
/// row each, which never ask, had 0.88; the limit itself was not measured).
const CHANGES: f64 = 0.25;

/// How many entries ahead X is asked for; 0: not at all.
pub(crate) fn distance<S: Scalar>(machine: &Machine, a: CsrSlices<'_, S>, k: usize) -> usize {
    let row_bytes = k.saturating_mul(size_of::<S>());
    let x_bytes = a.cols().saturating_mul(row_bytes) as u64;
    let beyond = machine.cpu().l2_bytes.is_some_and(|l2| x_bytes > l2.saturating_mul(CACHES));
    if row_bytes >= LINE_BYTES && beyond && jumps_about(a) { DISTANCE } else { 0 }
}

/// Does a form of A of so many bytes not lie in the second-level caches of the threads that share it? Where it does, asking for it ahead
/// only takes time.
pub(crate) fn is_far(machine: &Machine, bytes: u64) -> bool {
    machine.cpu().l2_bytes.is_none_or(|l2| bytes / machine.threads() as u64 > l2)
}

/// Of a sample: are there few entries whose column, or one beside it, the row before has too, and few rows of another length?
fn jumps_about<S: Scalar>(a: CsrSlices<'_, S>) -> bool {
    let columns = |row: usize| {
        let columns = &a.columns()[a.range(row)];
        &columns[..columns.len().min(ENTRIES)]
    };
    let (mut near, mut all, mut changes, mut pairs) = (0, 0, 0, 0u32);
    for row in (1..a.rows()).step_by((a.rows() / PAIRS).max(1)) {
        pairs += 1;
        changes += usize::from(a.range(row).len() != a.range(row - 1).len());
        let before = columns(row - 1);
        near +=
            columns(row).iter().filter(|&&col| before.iter().any(|&other| other.abs_diff(col) <= 1)).count();
        all += columns(row).len();
    }
    (near as f64) < LOCAL * all as f64 && changes as f64 <= CHANGES * f64::from(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::CpuInfo;
    use crate::machine::Limits;
    use crate::matrix::Csr;

    /// Four entries in each of `n` rows.
    fn matrix(n: usize, column: impl Fn(usize, usize) -> usize) -> Csr<f64> {
        let columns = (0..4 * n).map(|i| (column(i / 4, i % 4) % n) as u32).collect();
        Csr::from_parts(n, n, (0..=n).map(|row| 4 * row).collect(), columns, vec![1.0; 4 * n]).unwrap()
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn only_where_rows_jump_about_in_a_large_x() {
        let cpu = CpuInfo { l2_bytes: Some(1 << 20), ..CpuInfo::default() };
        let machine = Machine::new(cpu.clone(), 1, Limits::of(&cpu)).unwrap();
        let random = matrix(100_000, |row, i| (4 * row + i) * 7_919 * 104_729);
        let band = matrix(100_000, |row, i| row + 300 * i);
        assert_eq!(distance(&machine, random.view(), 16), DISTANCE);
        assert_eq!(distance(&machine, random.view(), 4), 0);
        assert_eq!(distance(&machine, band.view(), 16), 0);
        assert_eq!(distance(&machine, matrix(1000, |row, i| row * 7_919 * i).view(), 16), 0);
        assert_eq!(distance(&machine, CsrSlices::<f64>::from_parts(0, 0, &[0], &[], &[]).unwrap(), 16), 0);
    }
}
