//! `ordito check FILE.cu --launch …`: the faults of a kernel of one's own, found by the emulator.

use crate::console::Console;
use crate::xrayed::own_kernel::OwnKernel;
use anyhow::Context;
use clap::Args;
use ordito::device::emulator::Order;
use ordito::device::{Device, DeviceError, Emulator};
use std::path::PathBuf;

/// Runs a kernel of one's own with every access checked.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ordito check my.cu --launch 'saxpy<<<(4),(128)>>>(n=512, a=2.0f, x=f32[512], y=f32[512])'

Found are: accesses out of bounds and misaligned, races on global and shared memory, shared memory that
nobody wrote, barriers that not all threads of a block come to (some have ended, or came to another one),
results that depend on the order of threads.

An argument is a number as in C, or an array: f32[1000] (also f64, i8 … u64), filled with numbers between 0 and 1
(whole numbers with 0), f32[1000]=2.5 with this number, u32[1000]=index with 0, 1, 2 …
Exit codes: 0 no fault; 1 a fault; 2 the file or the launch cannot be used.")]
pub(crate) struct CheckArgs {
    /// A file with the kernel and what it calls, without code of the host
    #[arg(value_name = "FILE.cu")]
    file: PathBuf,
    /// The launch, e.g. 'saxpy<<<(4),(128)>>>(n=512, a=2.0f, x=f32[512], y=f32[512])'
    #[arg(long, value_name = "LAUNCH")]
    launch: String,
    /// Define NAME, or NAME=VALUE, before the file is compiled
    #[arg(long, short = 'D', value_name = "NAME")]
    define: Vec<String>,
}

pub(crate) fn run(args: &CheckArgs, console: &Console) -> anyhow::Result<u8> {
    let own = OwnKernel::read(&args.file, &args.launch, &args.define)?;
    let device = Device::Emulator(Emulator::following()?);
    let busy = console.busy(format!("{} in the emulator", own.launch.kernel));
    let ran = own.run(&device);
    drop(busy);
    match ran {
        Ok(()) => {
            let orders = Order::ALL.map(|order| format!("{order:?}").to_lowercase()).join(", ");
            let blocks: u64 = own.launch.grid.iter().product();
            let threads: u32 = own.launch.block.iter().product();
            console.line(format!(
                "{}: no fault in {blocks} blocks of {threads} threads, run in {} orders ({orders})",
                own.launch.kernel,
                Order::ALL.len()
            ))?;
            Ok(0)
        }
        Err(error) if error.downcast_ref::<DeviceError>().is_some() => {
            console.error(&error);
            Ok(1)
        }
        Err(error) => Err(error).context(args.file.display().to_string()),
    }
}
