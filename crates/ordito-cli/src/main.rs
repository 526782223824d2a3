//! The program: all of it lies in the library beside it, which is compiled while `ordito` still is. A program would wait for that.

/// Runs the command.
fn main() -> std::process::ExitCode {
    ordito_cli::main()
}
