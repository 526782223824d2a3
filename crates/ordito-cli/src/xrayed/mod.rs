//! What CUDA kernels do, counted in the emulator, and how it is shown.
//!
//! `counted` runs variants in the emulator that counts, `own_kernel` files of others; `table`, `lines`, `compare`, `json` and `page` show
//! what was found, `budget` holds it against limits.

mod budget;
mod compare;
mod counted;
mod json;
mod lines;
pub(crate) mod own_kernel;
mod page;
mod picture;
mod table;

pub(crate) use crate::xrayed::budget::{Budget, read as read_budgets};
pub(crate) use crate::xrayed::counted::Xrayed;

use crate::console::Console;
use ordito::device::emulator::xray::{GpuModel, XrayOptions};
use std::path::PathBuf;

/// What was asked for.
pub(crate) struct XrayRequest {
    pub(crate) gpu: &'static GpuModel,
    pub(crate) most_blocks: Option<u64>,
    pub(crate) cores: usize,
    pub(crate) lines: bool,
    pub(crate) compare: Option<[String; 2]>,
    pub(crate) is_measured: bool,
    pub(crate) json: bool,
    pub(crate) page: Option<PathBuf>,
    pub(crate) budgets: Option<Vec<Budget>>,
}

impl XrayRequest {
    fn options(&self) -> XrayOptions {
        XrayOptions { gpu: self.gpu, most_blocks: self.most_blocks, cores: self.cores }
    }

    /// Prints what was counted; the exit code.
    pub(crate) fn show(&self, xrayed: &[Xrayed], console: &Console) -> anyhow::Result<u8> {
        if self.json {
            xrayed.iter().try_for_each(|one| console.json(&json::of(one)))?;
        } else {
            console.line(table::table(xrayed, self.gpu))?;
            if self.lines {
                xrayed.iter().try_for_each(|one| console.line(lines::listing(one)))?;
            }
        }
        if let Some([one, other]) = &self.compare {
            let text = compare::compare(xrayed, one, other)?;
            if !self.json {
                console.line(text)?;
            }
        }
        if let Some(path) = &self.page {
            let command = std::env::args().collect::<Vec<_>>().join(" ");
            page::write(path, xrayed, self.gpu, &command)?;
            console.note(&format!("wrote {}", path.display()));
        }
        let mut failed = xrayed.iter().any(|one| one.failure.is_some());
        if let Some(budgets) = &self.budgets {
            let (exceeded, kept) = budget::check(budgets, xrayed)?;
            exceeded.iter().for_each(|why| console.error(&anyhow::anyhow!("over budget: {why}")));
            failed |= !exceeded.is_empty();
            if !self.json {
                console.line(format!("budgets: {kept} limits kept, {} exceeded", exceeded.len()))?;
            }
        }
        let ran = xrayed.iter().any(|one| !one.launches.is_empty());
        if !ran && !failed {
            console.error(&anyhow::anyhow!("nothing could be counted: every variant refused"));
        }
        Ok(match (failed, ran) {
            (true, _) => 1,
            (false, true) => 0,
            (false, false) => 2,
        })
    }
}
