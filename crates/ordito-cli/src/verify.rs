//! `ordito verify OP INPUT…`

use crate::args::{Device, Dtype, ReadArgs, machine, parse_count, parse_elements, parse_finite};
use crate::console::Console;
use crate::geometry::{Block, LocalSize, geometries, parse_block, parse_local_size};
use crate::host::gpu;
use crate::numbers::{Numbers, all, parse_numbers};
use crate::operations::{self, Operation};
use crate::rank_options::RankOptions;
use crate::request::{MeasureRequest, Request, SuiteRequest};
use crate::row_groups::{GroupOrderArg, RowGroups};
use crate::suite::{Suite, SuiteFiles};
use crate::targets::{Selection, Targets};
use clap::Args;
use ordito::machine::{Limits, Machine};
use ordito_bench::workbench::Wanted;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

/// What `verify` and `bench` have in common.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The operation
    #[arg(value_name = "OP", help = format!("The operation: {}", operations::names()))]
    operation: String,
    /// Matrices: paths, bare names or synthetic ones; sizes N or NxMxP for `gemm`, sizes RxC,
    /// text or .npy files for `columns`, sizes RxP or RxPxQ for `gram`, RxPxQ for `combine`, numbers of bytes for `transfer`
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    /// A fixed list of inputs, K and dtypes
    #[arg(long, value_enum)]
    suite: Option<Suite>,
    /// The folder of the suite's real matrices [default: $ORDITO_MATRICES]
    #[arg(long, value_name = "DIR", requires = "suite")]
    data: Option<PathBuf>,
    /// Variants by name or pattern, e.g. 'csr-*,auto'; with ! in front all but those [default: all]
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    variant: Vec<String>,
    /// Of the variants with tiles only those of these widths [default: all]
    #[arg(long, value_name = "WIDTH", value_delimiter = ',')]
    tile: Vec<u32>,
    /// Threads per block of the CUDA ladder, e.g. 64,128,256,512 (spmm; sub-blocks have as many at most) [default: 512],
    /// or rows and columns of C that a block of kernel1 and kernel2 computes, e.g. 16x32 (gemm) [default: 32x32]
    #[arg(long, value_name = "BLOCK", value_delimiter = ',', value_parser = parse_block)]
    block: Vec<Block>,
    /// Most nonzeros of several rows in a row block of CSR_Adaptive: numbers, or `mean` for those of the
    /// mean row (spmm) [default: mean]
    #[arg(long, value_name = "NONZEROS", value_delimiter = ',', value_parser = parse_local_size)]
    local_size: Vec<LocalSize>,
    /// Where to run [default: everything this machine can]
    #[arg(long, value_enum, value_delimiter = ',', default_value = "all", hide_default_value = true)]
    on: Vec<Device>,
    /// Which GPU, as `ordito doctor` numbers them [default: 0; each rank of a computer takes its own]
    #[arg(long, value_name = "N")]
    device: Option<usize>,
    /// Columns of X: numbers, and ranges such as 1..64*2 (1, 2, 4 … 64) or 4..12+4
    #[arg(long, value_name = "K", value_delimiter = ',', value_parser = parse_numbers, hide_default_value = true)]
    k: Vec<Numbers>,
    /// β of C = A·B + βC, for gemm; with 0, C is not read [default: 1]
    #[arg(long, value_name = "BETA", allow_negative_numbers = true, value_parser = parse_finite)]
    beta: Option<f64>,
    /// Elements between the rows of dense operands, for gemm, gram and combine: what leading dimensions cost. A case for each [default: 0]
    #[arg(long, value_name = "N", value_delimiter = ',', allow_negative_numbers = true, value_parser = parse_elements)]
    pad: Vec<usize>,
    /// Take the rows in so many groups, a launch for each; for columns
    #[arg(long, value_name = "N")]
    groups: Option<NonZeroUsize>,
    /// Which rows belong together [default: interleaved]
    #[arg(long, value_enum, requires = "groups")]
    group_order: Option<GroupOrderArg>,
    /// Precisions
    #[arg(long, value_enum, value_delimiter = ',')]
    dtype: Vec<Dtype>,
    /// Numbers of threads, and ranges such as 1..8 [default: ORDITO_THREADS, or all cores]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = parse_numbers)]
    threads: Vec<Numbers>,
    /// Most steps of the conversions that scan all nonzeros for every row [default: 2e9], multiply-adds of padded ELLPACK on the
    /// CPU where most are of padding [default: 2e9], and of a serial dense product [default: 2e10]
    #[arg(long, value_name = "STEPS", value_parser = parse_count)]
    work_limit: Option<u64>,
    #[command(flatten)]
    ranks: RankOptions,
    #[command(flatten)]
    read: ReadArgs,
    /// Write operands and result of every incorrect case into folders below DIR
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,
    /// Show the launches of every CUDA variant: blocks, threads, registers, shared memory, occupancy
    #[arg(long, short)]
    verbose: bool,
    /// One JSON object per line on standard output, and nothing else there
    #[arg(long)]
    json: bool,
}

impl RunArgs {
    /// Does the suite ask for few samples?
    pub(crate) fn is_brief(&self) -> anyhow::Result<bool> {
        let Some(suite) = self.suite else { return Ok(false) };
        let operation = operations::find(&self.operation).map_err(anyhow::Error::msg)?;
        Ok(operations::yardstick(operation, suite)?.is_brief)
    }

    /// Puts arguments, suite and defaults together, and runs it all.
    pub(crate) fn run(
        &self,
        default_ks: &[usize],
        default_dtypes: &[Dtype],
        measure: Option<MeasureRequest>,
        console: &Console,
    ) -> anyhow::Result<u8> {
        let operation = operations::find(&self.operation).map_err(anyhow::Error::msg)?;
        if let Some(why) = operation.no_k().filter(|_| !self.k.is_empty()) {
            anyhow::bail!("--k: {why}");
        }
        anyhow::ensure!(
            self.beta.is_none() || operation.has_beta(),
            "--beta: {} has no β; gemm has",
            operation.name()
        );
        anyhow::ensure!(
            self.pad.is_empty() || operation.has_pads(),
            "--pad: {} has no leading dimensions to choose; gemm, gram and combine have",
            operation.name()
        );
        anyhow::ensure!(
            self.groups.is_none() || operation.has_groups(),
            "--groups: {} has none; columns has",
            operation.name()
        );
        let (blocks, local_sizes) = (distinct(&self.block), distinct(&self.local_size));
        let yardstick = self.suite.map(|suite| operations::yardstick(operation, suite)).transpose()?;
        let mut inputs: Vec<String> = self.inputs.clone();
        inputs.extend(yardstick.iter().flat_map(|suite| suite.inputs).map(|input| input.to_string()));
        let suite = self.suite.zip(yardstick.as_ref()).map(|(suite, yardstick)| SuiteRequest {
            name: suite.name(),
            files: SuiteFiles::find(yardstick.files, self.data.as_deref()),
            is_brief: yardstick.is_brief,
        });
        inputs.extend(suite.iter().flat_map(|suite| suite.files.found.iter().cloned()));
        if inputs.is_empty() {
            inputs = operation.default_inputs();
        }
        anyhow::ensure!(!inputs.is_empty(), "no input: name {}", operation.input_hint());
        let given: Vec<usize> = distinct(&all(&self.k)).iter().map(|k| k.get()).collect();
        let ks = or_else(given, yardstick.as_ref().map_or(default_ks, |suite| suite.ks));
        let dtypes =
            or_else(distinct(&self.dtype), yardstick.as_ref().map_or(default_dtypes, |suite| suite.dtypes));
        let limits = Limits { work_steps: self.work_limit, ..self.read.limits() };
        let threads: Vec<Option<NonZeroUsize>> = if self.threads.is_empty() {
            vec![None]
        } else {
            distinct(&all(&self.threads)).into_iter().map(Some).collect()
        };
        let machines = threads.into_iter().map(|threads| machine(threads, limits));
        let machines: Vec<Arc<Machine>> = machines.collect::<anyhow::Result<_>>()?;
        let of_suite = yardstick.as_ref().and_then(|suite| suite.kind);
        let wanted = Wanted {
            patterns: self.variant.clone(),
            tiles: self.tile.clone(),
            kind: of_suite.filter(|_| self.variant.is_empty()),
        };
        let on = match yardstick.as_ref().and_then(|suite| suite.on) {
            Some(device) if self.on == [Device::All] => vec![device],
            _ => self.on.clone(),
        };
        let is_launch_chosen = !(blocks.is_empty() && local_sizes.is_empty());
        anyhow::ensure!(
            !is_launch_chosen || on.iter().any(|device| *device != Device::Cpu),
            "--block, --local-size: kernels of a GPU have them, and --on names the CPU alone"
        );
        let open = operation.adjustable(&wanted)?;
        let geometries = geometries(&blocks, &local_sizes, operation.name(), &open)?;
        let selection = Selection::new(&wanted, |wanted, side| operation.selects(wanted, side))?;
        let selection = selection.naming_device(is_launch_chosen);
        let request = Request {
            inputs,
            wanted,
            machine: machines[0].clone(),
            targets: Targets::new(&on, || gpu(self.device), machines, &geometries, selection)?,
            ks,
            dtypes,
            groups: RowGroups::new(self.groups, self.group_order),
            beta: self.beta.filter(|beta| *beta != 1.0),
            pads: or_else(distinct(&self.pad), &[0]),
            read: self.read.options(),
            dump: self.dump.clone(),
            ranks: self.ranks.clone(),
            json: self.json,
            verbose: self.verbose,
            limited_by_products: operation.is_limited_by_products(),
            suite,
            measure,
            xray: None,
        };
        #[cfg(feature = "mpi")]
        if let Some(ranks) = crate::distributed::ranks() {
            use crate::distributed::{alone, operation::DistributedSpmm, same_targets};
            if operation.name() != DistributedSpmm.name() {
                alone(&format!("… {}", operation.name()))?;
            }
            same_targets(&*ranks, &request.targets)?;
            return operations::run(&DistributedSpmm, &request, console);
        }
        self.ranks.check_alone()?;
        operations::run(operation, &request, console)
    }
}

/// Each value once, in the order given.
fn distinct<T: Copy + PartialEq>(values: &[T]) -> Vec<T> {
    let mut distinct = Vec::new();
    for value in values {
        if !distinct.contains(value) {
            distinct.push(*value);
        }
    }
    distinct
}

fn or_else<T: Clone>(given: Vec<T>, default: &[T]) -> Vec<T> {
    if given.is_empty() { default.to_vec() } else { given }
}

/// Every selected variant against the oracle; exit 1 if any is wrong.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ordito verify spmm stencil27:20 powerlaw:10000x16 --k 3,8,16
  ordito verify convert my.mtx.gz --dtype f64 --work-limit 1e10
  ordito verify spmm my.mtx --variant 'csr-*' --threads 1,2,4 --dump failing --json
  ordito verify gemm 100 33x7x65 --on emulator --tile 8,16

Errors are relative to each element, so one near 0 left over by cancellation may have a
large one and be right; error/bound is what counts: above 1 is more than rounding can do.

Defaults: K = 3,8,16; dtypes f32,f64.")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    run: RunArgs,
}

pub(crate) fn run(args: &VerifyArgs, console: &Console) -> anyhow::Result<u8> {
    args.run.run(&[3, 8, 16], &[Dtype::F32, Dtype::F64], None, console)
}
