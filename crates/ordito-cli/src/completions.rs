//! `ordito completions SHELL`

use crate::Cli;
use crate::console::Console;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// Shell completions, to standard output.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ordito completions bash > ~/.local/share/bash-completion/completions/ordito
  ordito completions zsh > ~/.zfunc/_ordito")]
pub(crate) struct CompletionsArgs {
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, console: &Console) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "ordito", &mut script);
    console.line(String::from_utf8_lossy(&script).trim_end())?;
    Ok(0)
}
