//! Standard output for results, standard error for everything else. Names of others drive no terminal: all text goes through here.

use crate::hints;
use indicatif::{ProgressBar, ProgressStyle};
use ordito::text::{for_one_line, for_terminal, json_for_terminal};
use ordito_bench::report::bar::Ink;
use serde::Serialize;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

/// The two streams. Results go to standard output, one JSON object per line where that was asked for; errors and
/// notes go to standard error.
pub(crate) struct Console {
    /// One of several ranks, and not the one that speaks.
    is_silent: bool,
}

impl Console {
    pub(crate) fn new() -> Self {
        Console { is_silent: false }
    }

    /// Of a rank that another one speaks for.
    pub(crate) fn silent() -> Self {
        Console { is_silent: true }
    }

    /// A line (or several) of results.
    pub(crate) fn line(&self, text: impl AsRef<str>) -> anyhow::Result<()> {
        if self.is_silent {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        writeln!(out, "{}", for_terminal(text.as_ref()))?;
        out.flush()?;
        Ok(())
    }

    /// One JSON object, on one line.
    pub(crate) fn json(&self, value: &impl Serialize) -> anyhow::Result<()> {
        self.line(json_for_terminal(&serde_json::to_string(value)?))
    }

    /// Columns of the terminal; a width that fits most where there is none.
    pub(crate) fn width(&self) -> u16 {
        terminal_size::terminal_size_of(io::stdout()).map_or(120, |(width, _)| width.0)
    }

    /// Does a person read the results as they are printed?
    pub(crate) fn is_terminal(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// What bars are drawn with: blocks where a person looks at them, unless they want it plain.
    pub(crate) fn ink(&self, ascii: bool) -> Ink {
        if self.is_terminal() && !ascii { Ink::Blocks } else { Ink::Ascii }
    }

    /// A spinner with a text, on standard error and only on a terminal, until it is dropped.
    pub(crate) fn busy(&self, what: impl Into<String>) -> Busy {
        let bar = ProgressBar::new_spinner();
        bar.set_message(for_one_line(&what.into()).into_owned());
        self.show(bar)
    }

    /// The same with a bar that fills in `steps` steps.
    pub(crate) fn progress(&self, steps: usize) -> Busy {
        let bar = ProgressBar::new(steps as u64);
        let template = "{spinner} {bar:24} {pos}/{len} {elapsed} {wide_msg}";
        bar.set_style(ProgressStyle::with_template(template).unwrap_or(ProgressStyle::default_bar()));
        self.show(bar)
    }

    fn show(&self, bar: ProgressBar) -> Busy {
        if self.is_silent {
            bar.set_draw_target(indicatif::ProgressDrawTarget::hidden());
        }
        Busy::new(bar)
    }

    /// What went wrong, on one line.
    pub(crate) fn error(&self, error: &anyhow::Error) {
        if self.is_silent {
            return;
        }
        // There is nobody left to tell when standard error is closed.
        let _ = writeln!(
            io::stderr(),
            "ordito: {}{}",
            for_terminal(&format!("{error:#}")),
            hints::of_error(error)
        );
    }

    /// What did not stop the command, but should be mended.
    pub(crate) fn warn(&self, text: &str) {
        if self.is_silent {
            return;
        }
        let _ = writeln!(io::stderr(), "ordito: note: {}", for_terminal(text));
    }

    /// Something worth knowing that is no result: only a person at a terminal sees it.
    pub(crate) fn note(&self, text: &str) {
        if !self.is_silent && io::stderr().is_terminal() {
            let _ = writeln!(io::stderr(), "{}", for_terminal(text));
        }
    }
}

/// Something is being done.
pub(crate) struct Busy(ProgressBar);

const TICK: Duration = Duration::from_millis(120);

impl Busy {
    fn new(bar: ProgressBar) -> Self {
        // What nobody sees needs no thread that moves it.
        if !bar.is_hidden() {
            bar.enable_steady_tick(TICK);
        }
        Busy(bar)
    }
    /// Shows another text.
    pub(crate) fn say(&self, what: impl Into<String>) {
        self.0.set_message(for_one_line(&what.into()).into_owned());
    }
    /// One step is done.
    pub(crate) fn step(&self) {
        self.0.inc(1);
    }
    /// So many steps are done.
    pub(crate) fn at(&self, steps: usize) {
        self.0.set_position(steps as u64);
    }
    /// Prints without the bar in the way.
    pub(crate) fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        self.0.suspend(print)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Could standard output not be written? (Errors of files that are read or written have types of their own.)
pub(crate) fn is_output_error(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.is::<io::Error>())
}

/// Did the reader of our output go away, as `head` does?
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is_broken = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(is_broken))
}
