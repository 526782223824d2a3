//! `ordito xray OP INPUT…` and `ordito xray FILE.cu --launch …`: what CUDA kernels do, counted without a GPU.
//!
//! `counted` runs variants in the emulator that counts; `table`, `lines`, `compare`, `json` and `page` show what was found, `budget` holds
//! it against limits.

mod compare;
mod counted;
mod json;
mod lines;
mod table;

pub(crate) use crate::xray::counted::Xrayed;

use crate::args::{Device, Dtype, ReadArgs, machine};
use crate::console::Console;
use crate::geometry::{Block, LocalSize, geometries, parse_block, parse_local_size};
use crate::numbers::{Numbers, all, parse_numbers};
use crate::operations;
use crate::request::Request;
use crate::targets::{Selection, Targets};
use clap::Args;
use ordito::device::emulator::xray::{GPUS, GpuModel, SM_90};
use ordito_bench::workbench::Wanted;
use std::num::{NonZeroU64, NonZeroUsize};

/// What CUDA kernels do, counted in the emulator.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ordito xray spmm stencil27:20 --variant 'csr-cuda-*' --k 8
  ordito xray spmm my.mtx --variant csr-cuda-thread-per-element --lines
  ordito xray gemm 256 --variant kernel1,kernel2 --dtype f32 --compare kernel1,kernel2

Counts are of whole warps: instructions, the sectors of 32 bytes that each touches, passes over the
banks of shared memory, lanes that take part. Those are exact. What caches find, bytes to memory and
predicted times are models of the GPU that --gpu names; its caches are empty at first.

Defaults: K = 8; dtype f64; all CUDA variants that the emulator runs.")]
pub(crate) struct XrayArgs {
    /// The operation
    #[arg(value_name = "OP", help = format!("The operation ({})", operations::names()))]
    operation: String,
    /// As of `ordito verify`
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    /// Variants by name or pattern, e.g. 'csr-*'; with ! in front all but those [default: all]
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    variant: Vec<String>,
    /// Of the variants with tiles only those of these widths [default: all]
    #[arg(long, value_name = "WIDTH", value_delimiter = ',')]
    tile: Vec<u32>,
    /// As of `ordito verify`: threads per block, or its rows and columns
    #[arg(long, value_name = "BLOCK", value_parser = parse_block)]
    block: Option<Block>,
    /// As of `ordito verify`: most nonzeros of several rows in a row block
    #[arg(long, value_name = "NONZEROS", value_parser = parse_local_size)]
    local_size: Option<LocalSize>,
    /// Columns of X
    #[arg(long, value_name = "K", value_delimiter = ',', value_parser = parse_numbers)]
    k: Vec<Numbers>,
    /// Precisions
    #[arg(long, value_enum, value_delimiter = ',')]
    dtype: Vec<Dtype>,
    /// The GPU whose caches and ceilings are modelled
    #[arg(long, value_name = "ARCHITECTURE", default_value = SM_90.architecture, value_parser = parse_gpu)]
    gpu: &'static GpuModel,
    /// Run only so many blocks of each launch, spread over all of them; counts are then multiplied, and the table says so
    #[arg(long, value_name = "N")]
    blocks: Option<NonZeroU64>,
    /// Cores that run blocks [default: ORDITO_THREADS, or all]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// The source with the counts beside each line, and the lines that cost most
    #[arg(long)]
    lines: bool,
    /// Two variants side by side: what of the second is more or less
    #[arg(long, value_name = "VARIANT,VARIANT", value_delimiter = ',', num_args = 1)]
    compare: Vec<String>,
    /// Beside the prediction the time of a GPU, if there is one: do without
    #[arg(long)]
    no_measure: bool,
    #[command(flatten)]
    read: ReadArgs,
    /// One JSON object per variant on standard output, and nothing else there
    #[arg(long)]
    json: bool,
}

/// What was asked for.
pub(crate) struct XrayRequest {
    gpu: &'static GpuModel,
    most_blocks: Option<u64>,
    cores: usize,
    lines: bool,
    compare: Option<[String; 2]>,
    is_measured: bool,
    json: bool,
}

fn parse_gpu(text: &str) -> Result<&'static GpuModel, String> {
    let known = || GPUS.map(|gpu| format!("{} ({})", gpu.architecture, gpu.name)).join(", ");
    GpuModel::find(text).ok_or_else(|| format!("nothing is known of `{text}`; there are: {}", known()))
}

pub(crate) fn run(args: &XrayArgs, console: &Console) -> anyhow::Result<u8> {
    let machine = machine(args.threads, args.read.limits())?;
    let compare = match args.compare.as_slice() {
        [] => None,
        [one, other] => Some([one.clone(), other.clone()]),
        _ => anyhow::bail!("--compare: two variants with a comma between them"),
    };
    let asked = XrayRequest {
        gpu: args.gpu,
        most_blocks: args.blocks.map(NonZeroU64::get),
        cores: machine.threads(),
        lines: args.lines,
        compare,
        is_measured: !args.no_measure,
        json: args.json,
    };
    let operation = operations::find(&args.operation).map_err(anyhow::Error::msg)?;
    if let Some(why) = operation.no_k().filter(|_| !args.k.is_empty()) {
        anyhow::bail!("--k: {why}");
    }
    let inputs = if args.inputs.is_empty() { operation.default_inputs() } else { args.inputs.clone() };
    anyhow::ensure!(!inputs.is_empty(), "no input: name {}", operation.input_hint());
    let mut patterns = args.variant.clone();
    if patterns.is_empty() {
        patterns.extend(asked.compare.iter().flatten().cloned());
    }
    let wanted = Wanted { patterns, tiles: args.tile.clone(), kind: None };
    let open = operation.adjustable(&wanted)?;
    let (blocks, local_sizes) = (Vec::from_iter(args.block), Vec::from_iter(args.local_size));
    let geometries = geometries(&blocks, &local_sizes, operation.name(), &open)?;
    let selection = Selection::new(&wanted, |wanted, side| operation.selects(wanted, side))?;
    let ks: Vec<usize> = all(&args.k).iter().map(|k| k.get()).collect();
    let request = Request {
        inputs,
        wanted,
        machine: machine.clone(),
        targets: Targets::new(&[Device::Emulator], 0, vec![machine], &geometries, selection)?,
        ks: if ks.is_empty() { vec![8] } else { ks },
        dtypes: if args.dtype.is_empty() { vec![Dtype::F64] } else { args.dtype.clone() },
        groups: None,
        beta: None,
        pads: vec![0],
        read: args.read.options(),
        dump: None,
        json: args.json,
        verbose: false,
        limited_by_products: operation.is_limited_by_products(),
        suite: None,
        measure: None,
        xray: Some(asked),
    };
    operations::run(operation, &request, console)
}

impl XrayRequest {
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
        let failed = xrayed.iter().any(|one| one.failure.is_some());
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
