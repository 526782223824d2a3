//! Standard output for results, standard error for everything else.

use serde::Serialize;
use std::io::{self, Write};

/// The two streams. Results go to standard output, one JSON object per line where that was asked for; errors and
/// notes go to standard error.
pub(super) struct Console {
    _private: (),
}

impl Console {
    pub(super) fn new() -> Self {
        Console { _private: () }
    }

    /// A line (or several) of results.
    pub(super) fn line(&self, text: impl AsRef<str>) -> anyhow::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{}", text.as_ref())?;
        out.flush()?;
        Ok(())
    }

    /// One JSON object, on one line.
    pub(super) fn json(&self, value: &impl Serialize) -> anyhow::Result<()> {
        self.line(serde_json::to_string(value)?)
    }

    /// Columns of the terminal; a width that fits most where there is none.
    pub(super) fn width(&self) -> u16 {
        terminal_size::terminal_size().map_or(120, |(width, _)| width.0)
    }

    /// What went wrong, on one line.
    pub(super) fn error(&self, error: &anyhow::Error) {
        // There is nobody left to tell when standard error is closed.
        let _ = writeln!(io::stderr(), "ordito: {error:#}");
    }

    /// Something worth knowing that is no result: only a person at a terminal sees it.
    pub(super) fn note(&self, text: &str) {
        if io::IsTerminal::is_terminal(&io::stderr()) {
            let _ = writeln!(io::stderr(), "{text}");
        }
    }
}

/// Did the reader of our output go away, as `head` does?
pub(super) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is_broken = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(is_broken))
}
