//! How much longer a product takes where X and Y lie in columns: by turns with rows, medians of eleven.

use ordito::spmm::Plan;
use ordito::{ColumnsView, ColumnsViewMut, Csr, DenseView, DenseViewMut, Error, Machine};
use std::time::Instant;

const TURNS: usize = 11;

fn main() -> Result<(), Error> {
    for threads in [1, 2] {
        let machine = Machine::with_threads(threads)?;
        for name in std::env::args().skip(1) {
            let a: Csr<f64> = ordito::io::read_csr(&name)?;
            let (rows, cols) = a.shape();
            let plan = Plan::new(a, &machine)?;
            for k in [4, 8, 16, 32] {
                let (x, mut y) = (vec![0.5; cols * k], vec![0.0; rows * k]);
                let kernel = plan.prepare(k)?.choice.variant;
                let (mut in_rows, mut in_columns) = (Vec::new(), Vec::new());
                for _ in 0..TURNS {
                    let begin = Instant::now();
                    plan.apply(1.0, DenseView::new(&x, cols, k, k)?, 0.0, DenseViewMut::new(&mut y, rows, k, k)?)?;
                    in_rows.push(begin.elapsed().as_secs_f64());
                    let begin = Instant::now();
                    let (x, y) = (ColumnsView::new(&x, cols, k, cols)?, ColumnsViewMut::new(&mut y, rows, k, rows)?);
                    plan.apply(1.0, x, 0.0, y)?;
                    in_columns.push(begin.elapsed().as_secs_f64());
                }
                let (in_rows, in_columns) = (median(in_rows), median(in_columns));
                let ratio = in_columns / in_rows;
                println!(
                    "threads {threads}  {name:20} K = {k:2}  {kernel:24} rows {:8.3} ms  columns {:8.3} ms  {ratio:.2}",
                    in_rows * 1e3,
                    in_columns * 1e3
                );
            }
        }
    }
    Ok(())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
