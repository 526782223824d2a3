//! `--budget`: limits that kernels must keep, as a file, so that a change that spoils one fails without a GPU.
//!
//! ```toml
//! [[kernel]]
//! op = "spmm"
//! variant = "csr-cuda-rows*"
//! input = "stencil27:8"
//! k = 8
//! dtype = "f64"
//! sectors_per_product = 0.4
//! idle_lanes_percent = 10
//! ```
//!
//! Each `[[kernel]]` says what it is for (all but `variant` may be left out) and what there may be at most. A product is a nonzero times a
//! column of X, or one of the n·m·p of a dense product, or an element of the input.

use crate::xrayed::counted::Xrayed;
use crate::xrayed::own_kernel::read_text;
use crate::xrayed::table::{heading, total};
use ordito::device::emulator::xray::{AccessCounts, LaunchXray, Space};
use ordito_bench::workbench::is_called;
use std::path::Path;

/// One `[[kernel]]` of the file.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Budget {
    line: usize,
    op: Option<String>,
    variant: String,
    input: Option<String>,
    k: Option<u64>,
    dtype: Option<String>,
    /// What is limited, and to what.
    limits: Vec<(&'static Limit, f64)>,
}

/// Something that can be limited.
#[derive(Debug)]
pub(crate) struct Limit {
    name: &'static str,
    of: fn(&Xrayed) -> Option<f64>,
}

impl PartialEq for Limit {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

const LIMITS: &[Limit] = &[
    Limit { name: "sectors_per_product", of: |one| per_product(one, |launch| launch.global().sectors) },
    Limit {
        name: "global_instructions_per_product",
        of: |one| per_product(one, |launch| launch.global().instructions),
    },
    Limit {
        name: "shared_passes_per_product",
        of: |one| per_product(one, |launch| launch.shared().wavefronts),
    },
    Limit {
        name: "conflicts_per_product",
        of: |one| per_product(one, |launch| AccessCounts::conflicts(&launch.shared())),
    },
    Limit { name: "collisions_per_product", of: |one| per_product(one, |launch| launch.global().collisions) },
    Limit {
        name: "barriers_per_product",
        of: |one| per_product(one, |launch| launch.blocks_total().barriers),
    },
    Limit {
        name: "dram_bytes_per_product",
        of: |one| per_product(one, |launch| launch.caches.dram_read_bytes + launch.caches.dram_written_bytes),
    },
    Limit {
        name: "idle_lanes_percent",
        of: |one| {
            let count = |of: fn(&AccessCounts) -> u64| {
                total(one, |launch| of(&launch.sum(|line| line.space != Space::Local)))
            };
            Some(100.0 * (1.0 - count(|all| all.lanes) / (32.0 * count(|all| all.instructions).max(1.0))))
        },
    },
    Limit {
        name: "unused_bytes_percent",
        of: |one| {
            let moved = 32.0 * total(one, |launch| launch.global().sectors);
            Some(100.0 * (1.0 - total(one, |launch| launch.global().used_bytes) / moved.max(1.0)))
        },
    },
];

fn per_product(one: &Xrayed, count: impl Fn(&LaunchXray) -> u64) -> Option<f64> {
    let products = one.products().filter(|&products| products > 0)?;
    Some(total(one, count) / products as f64)
}

/// Reads the file.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Budget>> {
    let text = read_text(path)?;
    let budgets = parse(&text).map_err(|(line, why)| anyhow::anyhow!("{}:{line}: {why}", path.display()))?;
    anyhow::ensure!(!budgets.is_empty(), "{}: no [[kernel]] in it", path.display());
    Ok(budgets)
}

fn parse(text: &str) -> Result<Vec<Budget>, (usize, String)> {
    let mut budgets: Vec<Budget> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let wrong = |why: String| Err((number, why));
        let line = without_comment(line).trim();
        if line.is_empty() {
            continue;
        }
        if line == "[[kernel]]" {
            budgets.push(Budget { line: number, ..Budget::default() });
            continue;
        }
        let Some((name, value)) = line.split_once('=').map(|(name, value)| (name.trim(), value.trim()))
        else {
            return wrong(format!("`{line}` is neither [[kernel]] nor NAME = VALUE"));
        };
        let Some(budget) = budgets.last_mut() else {
            return wrong("[[kernel]] expected first".into());
        };
        let quoted = || {
            let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
            inner
                .filter(|inner| !inner.contains(['"', '\\']))
                .map(str::to_owned)
                .ok_or((number, format!("{name}: a text in quotes expected")))
        };
        match name {
            "op" => budget.op = Some(quoted()?),
            "variant" => budget.variant = quoted()?,
            "input" => budget.input = Some(quoted()?),
            "dtype" => budget.dtype = Some(quoted()?),
            "k" => {
                budget.k =
                    Some(value.parse().map_err(|_| (number, format!("k: `{value}` is no whole number")))?)
            }
            _ => {
                let Some(limit) = LIMITS.iter().find(|limit| limit.name == name) else {
                    let known: Vec<&str> = LIMITS.iter().map(|limit| limit.name).collect();
                    return wrong(format!("nothing is called `{name}`; limits are: {}", known.join(", ")));
                };
                let most: f64 = value
                    .parse()
                    .ok()
                    .filter(|most: &f64| most.is_finite() && *most >= 0.0)
                    .ok_or((number, format!("{name}: `{value}` is no number from 0 on")))?;
                budget.limits.push((limit, most));
            }
        }
    }
    for budget in &budgets {
        if budget.variant.is_empty() {
            return Err((budget.line, "a [[kernel]] without variant".into()));
        }
        if budget.limits.is_empty() {
            return Err((budget.line, "a [[kernel]] without a limit".into()));
        }
    }
    Ok(budgets)
}

fn without_comment(line: &str) -> &str {
    let mut in_quotes = false;
    let end = line.char_indices().find(|&(_, c)| {
        in_quotes ^= c == '"';
        c == '#' && !in_quotes
    });
    end.map_or(line, |(at, _)| &line[..at])
}

impl Budget {
    fn is_for(&self, one: &Xrayed) -> bool {
        let record = &one.record;
        let same = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|wanted| wanted == is);
        let called = one.name() == self.variant
            || one.description.is_some_and(|known| is_called(known, &self.variant));
        called
            && same(&self.op, &record.op)
            && same(&self.dtype, &record.dtype)
            && self.input.as_deref().is_none_or(|input| one.input == input)
            && self.k.is_none_or(|k| record.k == Some(k))
    }
}

/// What was held against the budgets: a sentence for each limit that was exceeded, and how many were kept.
pub(crate) fn check(budgets: &[Budget], xrayed: &[Xrayed]) -> anyhow::Result<(Vec<String>, usize)> {
    let (mut exceeded, mut kept) = (Vec::new(), 0);
    // A file may be for several operations, of which one is counted at a time.
    let is_of =
        |budget: &&Budget| budget.op.as_ref().is_none_or(|op| xrayed.iter().any(|one| one.record.op == *op));
    for budget in budgets.iter().filter(is_of) {
        let meant: Vec<&Xrayed> =
            xrayed.iter().filter(|one| !one.launches.is_empty() && budget.is_for(one)).collect();
        // What is not looked at must not pass.
        anyhow::ensure!(
            !meant.is_empty(),
            "--budget, line {}: `{}` was not counted",
            budget.line,
            budget.variant
        );
        for one in meant {
            for (limit, most) in &budget.limits {
                let Some(found) = (limit.of)(one) else {
                    anyhow::bail!("--budget, line {}: {} has no {}", budget.line, one.name(), limit.name);
                };
                // Written so that a NaN is too much.
                if found <= *most + 1e-9 {
                    kept += 1;
                } else {
                    let (name, heading) = (one.name(), heading(one));
                    exceeded.push(format!(
                        "{name} on {heading}: {} is {found:.4}, at most {most} (line {})",
                        limit.name, budget.line
                    ));
                }
            }
        }
    }
    Ok((exceeded, kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_with_comments() {
        let text = "# ours\n[[kernel]]\nop = \"spmm\" # which\nvariant = \"a-#*\"\nk = 8\nsectors_per_product = 0.5\n\n[[kernel]]\nvariant = \"b\"\nidle_lanes_percent = 10\n";
        let budgets = parse(text).unwrap();
        assert_eq!(budgets.len(), 2);
        assert_eq!(
            (budgets[0].variant.as_str(), budgets[0].k, budgets[0].limits.len()),
            ("a-#*", Some(8), 1)
        );
        assert_eq!((budgets[1].line, budgets[1].limits[0].1), (8, 10.0));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let wrong = |text: &str| parse(text).unwrap_err();
        assert_eq!(wrong("k = 8\n"), (1, "[[kernel]] expected first".into()));
        assert_eq!(wrong("[[kernel]]\nk = \"8\"\n").0, 2);
        assert_eq!(wrong("[[kernel]]\nvariant = a\n"), (2, "variant: a text in quotes expected".into()));
        assert!(wrong("[[kernel]]\nvariant = \"a\"\nspeed = 1\n").1.starts_with("nothing is called `speed`"));
        assert_eq!(wrong("[[kernel]]\nvariant = \"a\"\n"), (1, "a [[kernel]] without a limit".into()));
        assert_eq!(wrong("[[kernel]]\nidle_lanes_percent = 1\n"), (1, "a [[kernel]] without variant".into()));
        assert_eq!(wrong("[[kernel]]\nidle_lanes_percent = nan\n").0, 2);
        assert_eq!(wrong("[kernel]\n").1, "`[kernel]` is neither [[kernel]] nor NAME = VALUE");
    }
}
