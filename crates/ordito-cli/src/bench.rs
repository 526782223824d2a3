//! `ordito bench OP INPUT…`

use crate::args::{Dtype, parse_seconds};
use crate::console::Console;
use crate::request::{Caches, MeasureRequest};
use crate::verify::RunArgs;
use clap::Args;
use ordito_bench::catalogue::name_of_today;
use ordito_bench::sample::StopRule;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// Verify first, then sample.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ordito bench spmm stencil27:40 --k 8,32
  ordito bench spmm my.mtx.gz --k 3,4,8,12,16,32,64 --threads 1,2 --out results
  ordito bench convert powerlaw:100000x16 --variant '*-counting,*-cursor'
  ordito bench spmm --suite cpu --data folder-of-matrices --threads 1,2 --json
  ordito bench spmm --suite gpu --data folder-of-matrices --out yardstick
  ordito bench gemm --suite ladder --tile 8,10,16,32
  ordito bench gemm 1000x777x1234 --variant kernel1,MatrixMulKernel --dtype f32
  ordito bench columns 358x5248 epochs.txt --dtype f32
  ordito bench spmm my.mtx --k 1..64*2 --threads 1..8 --statistics

Columns: time is the median, ± half the distance from the 5 % to the 95 % quantile; flushed
the median with the GPU's cache emptied before every run, where time is with a warm one;
ceiling the share of what this machine could do at best (`ordito doctor`); prepare the
conversion from CSR, once per matrix, of which compile (or loading compiled kernels) and
A up (to the device) are parts; repack the rearrangement of X, part of every run; speed-up is
over the serial variant; host copy rearranges operands before they travel; total is that, upload,
kernel and download; error/bound above 1 would be wrong.

Defaults: K = 8,32; dtype f64; samples until the standard error of the mean is below 0.5 %,
10 to 1000 of them, at most 0.5 s per variant (--suite cpu and gpu of spmm: 10 to 30 in 0.05 s);
on a GPU once with a warm and once with an empty cache. Variants of one case are sampled in turn.
Ctrl-C keeps the samples already taken (exit code 1).")]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    run: RunArgs,
    /// Exactly so many samples, unless --time ends them
    #[arg(long, value_name = "N")]
    samples: Option<NonZeroUsize>,
    /// At most so long for each variant
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    time: Option<Duration>,
    /// Empty the caches before every run, of CPU and GPU
    #[arg(long, conflicts_with = "hot")]
    cold: bool,
    /// Warm caches only: what runs on a GPU is not also timed with an empty cache
    #[arg(long)]
    hot: bool,
    /// Write samples.csv, samples.json, report.html and its figures in plots/ into DIR; samples.json of an
    /// earlier run is kept under a name with its date
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// With --out: every single sample with its start, in DIR/runs.csv and in samples.json
    #[arg(long, requires = "out")]
    keep_samples: bool,
    /// A second table: mean and standard deviation of time and GFLOP/s, largest and mean relative error
    #[arg(long)]
    statistics: bool,
    /// The variant that the report's speed-ups are held against [default: the serial one]
    #[arg(long, value_name = "VARIANT", requires = "out")]
    baseline: Option<String>,
    /// Draw the best rate of every variant below each table, as on a terminal
    #[arg(long)]
    bars: bool,
    /// Draw bars with # on a terminal too
    #[arg(long)]
    ascii: bool,
}

pub(crate) fn run(args: &BenchArgs, console: &Console) -> anyhow::Result<u8> {
    let given = args.samples.is_some() || args.time.is_some();
    let rule = match !given && args.run.is_brief()? {
        true => StopRule::brief(),
        false => StopRule::from_options(args.samples.map(NonZeroUsize::get), args.time),
    };
    let caches = match (args.cold, args.hot) {
        (true, _) => Caches::Cold,
        (false, true) => Caches::Hot,
        (false, false) => Caches::Both,
    };
    let bars = (args.bars || console.is_terminal()).then(|| console.ink(args.ascii));
    let measure = MeasureRequest {
        rule,
        keep_samples: args.keep_samples,
        statistics: args.statistics,
        caches,
        out: args.out.clone(),
        baseline: args.baseline.as_deref().map(name_of_today),
        bars,
    };
    args.run.run(&[8, 32], &[Dtype::F64], Some(measure), console)
}
