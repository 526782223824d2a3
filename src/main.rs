//! The command `ordito`: see `ordito --help`.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    ordito::cli::run(ordito::cli::Cli::parse())
}
