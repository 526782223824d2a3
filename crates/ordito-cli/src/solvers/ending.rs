//! How a command ends: files are written, the rest is shown, and the exit code says whether it converged.

use crate::args::is_same_file;
use crate::console::Console;
use crate::product::check_output;
use crate::solvers::options::{STANDARD_OUTPUT, SolverArgs};
use crate::solvers::solved::Solved;
use crate::solvers::{page, table};
use ordito::files::{check_writable, write_atomically};
use ordito::op::RunError;
use ordito::solve::SolveError;
use ordito::text::json_for_terminal;
use std::path::{Path, PathBuf};

/// Files that could not be written, or would overwrite each other or the input, are better known before anything is computed.
pub(crate) fn check_files(args: &SolverArgs, inputs: &[&str], arrays: &[PathBuf]) -> anyhow::Result<()> {
    let mut files: Vec<&Path> = Vec::new();
    for array in arrays {
        check_output(Some(array))?;
        files.push(array);
    }
    let json = args.json.as_deref().filter(|file| !is_standard_output(file));
    for file in json.into_iter().chain(args.page.as_deref()) {
        check_writable(file).map_err(|error| anyhow::anyhow!("{error}"))?;
        files.push(file);
    }
    for (index, file) in files.iter().enumerate() {
        let is_input = inputs.iter().any(|input| is_same_file(Path::new(input), file));
        anyhow::ensure!(!is_input, "{}: would be overwritten by the result", file.display());
        anyhow::ensure!(!files[..index].contains(file), "{}: two results under one name", file.display());
    }
    Ok(())
}

fn is_standard_output(file: &Path) -> bool {
    file.as_os_str() == STANDARD_OUTPUT
}

/// Writes, shows, and tells by the exit code. What could not be written is shown all the same.
pub(crate) fn conclude(
    args: &SolverArgs,
    solved: &Solved,
    write_arrays: impl FnOnce() -> anyhow::Result<()>,
    console: &Console,
) -> anyhow::Result<u8> {
    let written = write_arrays().and_then(|()| write_files(args, solved));
    show(args, solved, console)?;
    written?;
    Ok(u8::from(!solved.is_good()))
}

/// To the terminal.
pub(crate) fn show(args: &SolverArgs, solved: &Solved, console: &Console) -> anyhow::Result<()> {
    if args.json.as_deref().is_some_and(is_standard_output) {
        console.json(solved)
    } else {
        console.line(table::text(solved))
    }
}

/// What was asked for beside arrays.
pub(crate) fn write_files(args: &SolverArgs, solved: &Solved) -> anyhow::Result<()> {
    if let Some(file) = args.json.as_deref().filter(|file| !is_standard_output(file)) {
        let text = json_for_terminal(&serde_json::to_string(solved)?).into_owned() + "\n";
        write_atomically(file, |file| file.write_all(text.as_bytes()))?;
    }
    if let Some(file) = &args.page {
        page::write(file, solved)?;
    }
    Ok(())
}

/// Why there is no result: what failed while running is no fault of the arguments.
pub(crate) fn failed(error: SolveError, console: &Console) -> anyhow::Result<u8> {
    match error {
        SolveError::Run(error @ RunError::Refused(_)) => Err(error.into()),
        SolveError::Run(error) => {
            console.error(&error.into());
            Ok(1)
        }
        error => Err(error.into()),
    }
}
