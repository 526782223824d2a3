//! The command `ordito`: arguments, one file per command. See `ordito --help`.
//!
//! `operations` makes cases of inputs; `request` is what `verify` and `bench` were asked for, `targets` says where it runs, `instruments`
//! what it is measured with; `session` walks it, `results` keeps what `--out` asks for in an
//! `out_folder`, `summary` is what `bench` says at the end.
//! `xrayed` counts what kernels do. `product` is what `spmm` and `gemm` share; `solvers` has the commands that solve.

mod args;
mod bench;
mod check;
mod columns;
mod completions;
mod console;
mod convert;
#[cfg(feature = "mpi")]
mod distributed;
#[cfg(not(feature = "mpi"))]
#[path = "one_process.rs"]
mod distributed;
mod doctor;
#[cfg(test)]
mod documents;
mod erp;
mod erp_demo;
mod gemm;
mod geometry;
mod hints;
mod host;
mod info;
#[cfg(feature = "mpi")]
mod info_ranks;
mod instruments;
mod interrupt;
mod list;
mod lost;
mod matrix_input;
mod numbers;
mod operations;
mod out_folder;
mod product;
mod rank_options;
mod report;
mod request;
mod results;
mod row_groups;
mod session;
mod solvers;
mod spmm;
mod suite;
mod summary;
mod targets;
mod verify;
mod xray;
mod xrayed;

use crate::console::Console;
use clap::{Parser, Subcommand};
use ordito::files::{WriteError, take_cache_notes};
use ordito::io::synthetic::KINDS;
use ordito::text::for_terminal;
use std::process::ExitCode;

/// Sparse matrix times a block of vectors, and dense products: ladders of kernels, each verified against a serial oracle and
/// measured honestly
#[derive(Debug, Parser)]
#[command(name = "ordito", version, long_about = None, after_help = matrix_help())]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What a MATRIX is, and where to start.
fn matrix_help() -> String {
    let kinds = KINDS.iter().map(|kind| format!("  {}\n      {}", kind.form, kind.about));
    let kinds = kinds.collect::<Vec<_>>().join("\n");
    format!(
        "A MATRIX is a path (.mtx, .mtx.gz), the bare name of one in $ORDITO_MATRICES, or synthetic:\n{kinds}\n\n{EXAMPLES}"
    )
}

const EXAMPLES: &str = "\
Examples:
  ordito bench spmm stencil27:40 --k 8,32        every kernel, verified and timed
  ordito verify spmm my.mtx.gz --k 3,8,16        is every kernel right on my matrix?
  ordito spmm my.mtx --x X.npy -o Y.npy --check  the product itself
  ordito gemm A.npy B.npy -o C.npy               a dense product
  ordito eigen my.mtx --count 10 -o X.npy        eigenvalues and eigenvectors of a symmetric matrix
  ordito bench gemm 1000 --tile 8,16,32          what coalescing and tiling buy
  ordito erp target.txt nontarget.txt            event-related potentials
  ordito info my.mtx                             what is in it, and what auto would take

Exit codes: 0 all well; 1 something ran and was wrong or failed; 2 bad usage, unreadable input, or nothing could run or be verified.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Shape, row lengths, symmetry, bytes as COO, CSR and ELLPACK, what auto would choose and why
    Info(info::InfoArgs),
    /// Every variant: name, where it runs, one line
    List(list::ListArgs),
    /// The product Y = A·X itself
    Spmm(spmm::SpmmArgs),
    /// The product C = αAB + βC itself
    Gemm(gemm::GemmArgs),
    /// Mean, variance, least and greatest element of every column of a file
    Columns(columns::ColumnsArgs),
    /// Eigenvalues and eigenvectors of a symmetric matrix, with their residuals
    Eigen(Box<solvers::eigen::EigenArgs>),
    /// The largest singular values and their vectors, with their residuals
    Svd(Box<solvers::svd::SvdArgs>),
    /// X of A·X = B, for a symmetric and positive definite A and many columns at once
    Solve(Box<solvers::solve::SolveArgs>),
    /// Ranks of the nodes of a graph, for one seed or many at once
    Pagerank(Box<solvers::pagerank::PagerankArgs>),
    /// Event-related potentials of EEG epochs: averages, errors, difference, peaks
    Erp(Box<erp::ErpArgs>),
    /// Every selected variant against the serial oracle; exit 1 if any is wrong
    Verify(verify::VerifyArgs),
    /// Verify first, then sample; a table on the terminal, files with --out
    Bench(bench::BenchArgs),
    /// The faults of a CUDA kernel of one's own: bounds, races, barriers, order
    Check(check::CheckArgs),
    /// What CUDA kernels do, counted without a GPU: transactions, bank conflicts, idle lanes, caches, a predicted time
    Xray(Box<xray::XrayArgs>),
    /// Rewrite a matrix in another file format
    Convert(convert::ConvertArgs),
    /// What of this machine is usable, what was found where, what to do about the rest
    Doctor(doctor::DoctorArgs),
    /// An HTML page from kept results, several machines side by side
    Report(report::ReportArgs),
    /// Shell completions, to standard output
    Completions(completions::CompletionsArgs),
}

/// The parser's own way out, which repeats arguments as they are: those that could drive a terminal are shown here.
fn end_with(error: &clap::Error) -> ! {
    // A launcher that sees one rank leave ends the others: nobody may leave before the one that speaks has spoken. What goes wrong here is not worth a second message.
    let _ = distributed::begin();
    if distributed::speaks() {
        let safe = for_terminal(&error.to_string()).into_owned();
        let _ = match safe == error.to_string() {
            true => error.print(),
            false => std::io::Write::write_all(&mut std::io::stderr(), safe.as_bytes()),
        };
    }
    distributed::close();
    std::process::exit(error.exit_code())
}

/// Runs the command and says how it went.
pub fn main() -> ExitCode {
    interrupt::listen();
    let cli = Cli::try_parse().unwrap_or_else(|error| end_with(&error));
    let console = if distributed::speaks() { Console::new() } else { Console::silent() };
    let outcome = distributed::begin().and_then(|()| run(cli.command, &console));
    let outcome = distributed::end(outcome);
    take_cache_notes().iter().for_each(|note| console.warn(note));
    let code = match outcome {
        Ok(code) => code,
        Err(error) if console::is_broken_pipe(&error) => 0, // the reader has seen enough
        Err(error) => {
            console.error(&error);
            // What could not be written was computed before: that failed while running.
            let unwritten =
                error.chain().any(|cause| cause.is::<WriteError>()) || console::is_output_error(&error);
            if unwritten { 1 } else { 2 }
        }
    };
    distributed::close();
    ExitCode::from(code)
}

/// The command itself; the exit code.
fn run(command: Command, console: &Console) -> anyhow::Result<u8> {
    if let Some(name) = alone(&command) {
        distributed::alone(name)?;
    }
    #[cfg(feature = "mpi")]
    if let Some(ranks) = distributed::ranks()
        && let Some(outcome) = distributed::run(&command, &ranks, console)
    {
        return outcome;
    }
    match command {
        Command::Info(args) => info::run(&args, console),
        Command::List(args) => list::run(&args, console),
        Command::Spmm(args) => spmm::run(&args, console),
        Command::Gemm(args) => gemm::run(&args, console),
        Command::Columns(args) => columns::run(&args, console),
        Command::Eigen(args) => solvers::eigen::run(&args, console),
        Command::Svd(args) => solvers::svd::run(&args, console),
        Command::Solve(args) => solvers::solve::run(&args, console),
        Command::Pagerank(args) => solvers::pagerank::run(&args, console),
        Command::Erp(args) => erp::run(&args, console),
        Command::Verify(args) => verify::run(&args, console),
        Command::Bench(args) => bench::run(&args, console),
        Command::Check(args) => check::run(&args, console),
        Command::Xray(args) => xray::run(&args, console),
        Command::Convert(args) => convert::run(&args, console),
        Command::Doctor(args) => doctor::run(&args, console),
        Command::Report(args) => report::run(&args, console),
        Command::Completions(args) => completions::run(&args, console),
    }
}

/// The name of a command that ranks do not share.
fn alone(command: &Command) -> Option<&'static str> {
    match command {
        Command::Info(_) => Some("info"),
        Command::List(_) => Some("list"),
        Command::Gemm(_) => Some("gemm"),
        Command::Columns(_) => Some("columns"),
        Command::Erp(_) => Some("erp"),
        Command::Check(_) => Some("check"),
        Command::Xray(_) => Some("xray"),
        Command::Convert(_) => Some("convert"),
        Command::Report(_) => Some("report"),
        Command::Completions(_) => Some("completions"),
        Command::Eigen(_) | Command::Svd(_) | Command::Solve(_) | Command::Pagerank(_) => None,
        Command::Spmm(_) | Command::Verify(_) | Command::Bench(_) | Command::Doctor(_) => None,
    }
}
