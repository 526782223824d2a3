//! What was found, for a terminal.

use crate::solvers::solved::{OnRanks, Row, Solved, TopNode};
use ordito::text::for_one_line;
use ordito::units;
use ordito_bench::report::table::{Printed, laid_out};

/// Question, values, how it ended, where the time went.
pub(crate) fn text(solved: &Solved) -> String {
    let mut lines = vec![heading(solved), format!("solver    {}", solver(solved))];
    lines.extend(ranks(solved).map(|ranks| format!("ranks     {ranks}")));
    lines.push(String::new());
    lines.extend(values(solved));
    lines.push(String::new());
    if !solved.top.is_empty() {
        lines.extend(ranking(solved));
        lines.push(String::new());
    }
    lines.push(format!("outcome   {}", solved.outcome()));
    lines.extend(solved.bound.map(|bound| format!("bound     {bound}")));
    lines.push(format!("time      {}", time(solved)));
    lines.join("\n")
}

/// `stencil5:40 as (A + Aᵀ)/2: 1 600 × 1 600, 7 840 nonzeros, f64`
pub(crate) fn heading(solved: &Solved) -> String {
    let question = &solved.question;
    let taken_as = question.taken_as.as_ref().map(|form| format!(" as {form}")).unwrap_or_default();
    let [rows, cols, nnz] = [question.rows, question.cols, question.nnz].map(|it| units::count(it as u64));
    let name = for_one_line(&question.matrix);
    format!("{name}{taken_as}: {rows} × {cols}, {nnz} nonzeros, {}", question.dtype)
}

/// `lobpcg on cpu, 2 threads: 10 largest eigenvalues`
pub(crate) fn solver(solved: &Solved) -> String {
    let question = &solved.question;
    let threads = units::threads(question.threads as u64);
    format!("{} on {}, {threads}: {}", question.method, question.place, question.asked)
}

/// `4 ranks of MPICH 4.3 on 2 computers; 12.8 kB travel with every product, 3.20 kB are read in place; largest part 1.02 of the mean`
pub(crate) fn ranks(solved: &Solved) -> Option<String> {
    let OnRanks { computers, by, imbalance, .. } = solved.question.ranks.as_ref()?;
    let OnRanks { bytes_per_product, bytes_read_in_place, .. } = solved.question.ranks.as_ref()?;
    let computers = match computers {
        1 => "one computer".to_owned(),
        several => format!("{several} computers"),
    };
    let [travel, in_place] = [*bytes_per_product, *bytes_read_in_place].map(units::bytes);
    Some(format!(
        "{by} on {computers}; {travel} travel with every product, {in_place} are read in place; largest part {imbalance:.2} of the mean"
    ))
}

/// `1.23 s, 45 iterations, 560 products: products 40 %, inner products 25 %, …`
pub(crate) fn time(solved: &Solved) -> String {
    let total = solved.times_ns.total;
    let share = |(name, ns): (&str, f64)| format!("{name} {:.0} %", 100.0 * ns / total);
    let parts: Vec<String> = solved.times_ns.parts().into_iter().map(share).collect();
    let parts = match solved.parts_are_known {
        true => parts.join(", "),
        false => "--time-parts tells where it went".into(),
    };
    format!(
        "{}, {}, {}: {parts}",
        units::duration(total),
        several(solved.iterations, "iteration"),
        several(solved.products, "product")
    )
}

fn several(count: usize, what: &str) -> String {
    format!("{} {what}{}", units::count(count as u64), if count == 1 { "" } else { "s" })
}

fn values(solved: &Solved) -> Vec<String> {
    let relative = format!("residual/{}", solved.question.tolerance_of);
    let cells = |cell: &dyn Fn(usize, &Row) -> String| -> Vec<String> {
        solved.results.iter().enumerate().map(|(number, row)| cell(number, row)).collect()
    };
    let column = |title, cells| Printed { title, is_text: false, cells };
    let mut columns = vec![column("#", cells(&|number, _| (number + 1).to_string()))];
    if let Some(name) = solved.value_name {
        columns.push(column(name, cells(&|_, row| row.value.map_or(String::new(), |it| digits(it, solved)))));
    }
    columns.push(column("residual", cells(&|_, row| units::error(row.residual))));
    columns.push(column(&relative, cells(&|_, row| units::error(row.relative_residual))));
    if !solved.has_goal || solved.results.iter().all(|row| row.converged) {
        return laid_out(&columns);
    }
    let text = |title, cells| Printed { title, is_text: true, cells };
    columns
        .push(text("", cells(&|_, row| if row.converged { String::new() } else { "not converged".into() })));
    laid_out(&columns)
}

/// The first nodes of every ranking.
fn ranking(solved: &Solved) -> Vec<String> {
    let cells = |cell: &dyn Fn(&TopNode) -> String| solved.top.iter().map(cell).collect();
    let column = |title, cells| Printed { title, is_text: false, cells };
    let mut columns = vec![
        column("place", cells(&|top| top.place.to_string())),
        column("node", cells(&|top| top.node.to_string())),
        column("rank", cells(&|top| format!("{:.6e}", top.rank))),
    ];
    if solved.top.iter().any(|top| top.seed != solved.top[0].seed) {
        columns.insert(0, column("seed", cells(&|top| top.seed.to_string())));
    }
    laid_out(&columns)
}

/// As many digits as the precision is good for.
pub(crate) fn digits(value: f64, solved: &Solved) -> String {
    let significant: i32 = if solved.question.dtype == "f32" { 7 } else { 12 };
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let before = value.abs().log10().floor() as i32 + 1;
    match before {
        -3..=7 => format!("{value:.*}", (significant - before).max(0) as usize),
        _ => format!("{value:.*e}", significant as usize - 1),
    }
}
