//! What `ordito spmm`, `ordito gemm` and `ordito columns` print: one result in a few lines.

use crate::report::record::Record;
use crate::report::table::ranks::of_one;
use crate::report::table::shown;
use ordito::units;

/// One product in a few lines.
pub fn one(record: &Record) -> String {
    let variant = record.chosen.as_ref().unwrap_or(&record.variant);
    let mut lines = vec![
        operands(record),
        format!(
            "variant   {variant}, {}",
            record.threads.map_or_else(|| format!("on {}", record.place), units::threads)
        ),
    ];
    lines.extend(record.reason.as_ref().map(|reason| format!("chosen    {reason}")));
    let rate = shown(record.gflops, |gflops| format!(", {} GFLOP/s", units::number(gflops)));
    lines.push(format!("time      {}{rate} (one run)", shown(record.median_ns, units::duration)));
    lines.push(format!("prepare   {}", shown(record.prepare_ns, units::duration)));
    if let (Some(upload), Some(download)) = (record.upload_ns, record.download_ns) {
        lines.push(format!("copies    {} up, {} down", units::duration(upload), units::duration(download)));
    }
    lines.extend(of_one(record).map(|of_ranks| format!("ranks     {of_ranks}")));
    if record.max_rel_err.is_some() || record.error.is_some() {
        let errors = shown(record.max_rel_err, |error| {
            format!(
                ", largest relative error {} ({} ε)",
                units::error(error),
                shown(record.max_err_eps, units::number)
            )
        });
        let mean = shown(record.mean_rel_err, |error| {
            format!(", mean {} ({} ε)", units::error(error), shown(record.mean_err_eps, units::number))
        });
        let sampled = if record.sampled { ", rows sampled" } else { "" };
        lines.push(format!("check     {}{sampled}{errors}{mean}", record.outcome));
        lines.extend(record.error.as_ref().map(|error| format!("          {error}")));
    }
    lines.join("\n")
}

/// What was multiplied.
fn operands(record: &Record) -> String {
    let dtype = &record.dtype;
    if let (Some(n), Some(m), Some(p)) = (record.n, record.m, record.p) {
        let [n, m, p] = [n, m, p].map(units::count);
        return format!("A {n} × {m} · B {m} × {p}, {dtype}");
    }
    let size = |count: Option<u64>| units::count(count.unwrap_or(0));
    let matrix = record.matrix.as_deref().unwrap_or("matrix");
    let [rows, cols, nonzeros, k] = [record.rows, record.cols, record.nnz, record.k].map(size);
    if record.nnz.is_none() {
        return format!("{matrix}: {rows} × {cols}, {dtype}");
    }
    format!("{matrix}: {rows} × {cols}, {nonzeros} nonzeros; K = {k}, {dtype}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::outcome::Outcome;

    #[test]
    fn a_dense_product_in_a_few_lines() {
        let mut record = Record::new("gemm", "auto", Outcome::Passed);
        (record.n, record.m, record.p) = (Some(1000), Some(777), Some(1234));
        (record.dtype, record.threads) = ("f64".to_owned(), Some(2));
        (record.chosen, record.reason) = (Some("dense-threads-packed".to_owned()), Some("why".to_owned()));
        (record.median_ns, record.gflops) = (Some(1.9e7), Some(100.9));
        record.prepare_ns = Some(1200.0);
        record.set_errors(0.0, 0.0, f64::EPSILON);
        let expected = "\
A 1 000 × 777 · B 777 × 1 234, f64
variant   dense-threads-packed, 2 threads
chosen    why
time      19.0 ms, 101 GFLOP/s (one run)
prepare   1.20 µs
check     passed, largest relative error 0 (0 ε), mean 0 (0 ε)";
        assert_eq!(one(&record), expected);
    }
}
