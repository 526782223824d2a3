//! `ordito xray OP INPUT…` and `ordito xray FILE.cu --launch …`: what CUDA kernels do, counted without a GPU.

use crate::args::{Device, Dtype, ReadArgs, machine};
use crate::console::Console;
use crate::geometry::{Block, LocalSize, geometries, parse_block, parse_local_size};
use crate::numbers::{Numbers, all, parse_numbers};
use crate::operations;
use crate::rank_options::RankOptions;
use crate::request::Request;
use crate::targets::{Selection, Targets};
use crate::xrayed::own_kernel::OwnKernel;
use crate::xrayed::{XrayRequest, read_budgets};
use anyhow::Context;
use clap::Args;
use ordito::device::emulator::xray::{GPUS, GpuModel, SM_90};
use ordito_bench::workbench::Wanted;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

/// What CUDA kernels do, counted in the emulator.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ordito xray spmm stencil27:20 --variant 'csr-cuda-*' --k 8
  ordito xray spmm my.mtx --variant 'csr-cuda-thread*' --lines
  ordito xray gemm 256 --tile 32 --dtype f32 --compare kernel1,kernel2
  ordito xray spmm stencil27:8 --variant 'csr-cuda-rows*' --budget budgets.toml
  ordito xray my.cu --launch 'saxpy<<<(4),(128)>>>(n=512, a=2.0f, x=f32[512], y=f32[512])' --page saxpy.html

Counts are of whole warps: instructions, the sectors of 32 bytes that each touches, passes over the
banks of shared memory, lanes that take part. Those are exact. What caches find, bytes to memory and
predicted times are models of the GPU that --gpu names; its caches are empty at first.

Defaults: K = 8; dtype f64; all CUDA variants that the emulator runs.")]
pub(crate) struct XrayArgs {
    /// The operation, or a file with a kernel of one's own
    #[arg(value_name = "OP|FILE.cu", help = format!("The operation ({}), or a file with a kernel of one's own and what it calls", operations::names()))]
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
    /// The launch of one's own kernel, e.g. 'saxpy<<<(4),(128)>>>(n=512, a=2.0f, x=f32[512], y=f32[512])';
    /// `ordito check --help` says what arguments may be
    #[arg(long, value_name = "LAUNCH")]
    launch: Option<String>,
    /// Define NAME, or NAME=VALUE, before one's own file is compiled
    #[arg(long, short = 'D', value_name = "NAME", requires = "launch")]
    define: Vec<String>,
    /// A page with all of it, and pictures of what warps touch
    #[arg(long, value_name = "FILE.html")]
    page: Option<PathBuf>,
    /// Limits that kernels must keep; exit code 1 where one does not
    #[arg(long, value_name = "FILE.toml")]
    budget: Option<PathBuf>,
    /// Beside the prediction the time of a GPU, if there is one: do without
    #[arg(long)]
    no_measure: bool,
    #[command(flatten)]
    read: ReadArgs,
    /// One JSON object per variant on standard output, and nothing else there
    #[arg(long)]
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
        page: args.page.clone(),
        budgets: args.budget.as_deref().map(read_budgets).transpose()?,
    };
    let path = Path::new(&args.operation);
    if path.extension().is_some_and(|extension| extension == "cu") {
        return run_own(args, path, &asked, console);
    }
    anyhow::ensure!(args.launch.is_none(), "--launch: of a file FILE.cu, and `{}` is none", args.operation);
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
        targets: Targets::new(&[Device::Emulator], || 0, vec![machine], &geometries, selection)?,
        ks: if ks.is_empty() { vec![8] } else { ks },
        dtypes: if args.dtype.is_empty() { vec![Dtype::F64] } else { args.dtype.clone() },
        groups: None,
        beta: None,
        pads: vec![0],
        read: args.read.options(),
        dump: None,
        ranks: RankOptions::default(),
        json: args.json,
        verbose: false,
        limited_by_products: operation.is_limited_by_products(),
        suite: None,
        measure: None,
        xray: Some(asked),
    };
    operations::run(operation, &request, console)
}

/// A kernel of one's own.
fn run_own(args: &XrayArgs, path: &Path, asked: &XrayRequest, console: &Console) -> anyhow::Result<u8> {
    let launch = args.launch.as_deref().with_context(|| {
        format!("{}: how is it launched? --launch 'kernel<<<(4),(128)>>>(n=512, x=f32[512])'", path.display())
    })?;
    anyhow::ensure!(
        args.inputs.is_empty(),
        "`{}`: a kernel of one's own has no further inputs",
        args.inputs[0]
    );
    let own = OwnKernel::read(path, launch, &args.define)?;
    let xrayed = asked.count_own(&own)?;
    asked.show(&[xrayed], console)
}
