//! `ordito erp TARGET [NONTARGET…]`

use crate::args::{Device, Dtype, MemoryArgs, with_scalar};
use crate::console::Console;
use crate::erp_demo::write_demo;
use crate::out_folder::OutFolder;
use crate::product::select_one;
use crate::row_groups::GroupOrderArg;
use crate::targets::missing_device;
use anyhow::Context;
use clap::{Args, ValueEnum};
use ordito::Scalar;
use ordito::column_stats::Columns;
use ordito::machine::{Accelerator, Machine};
use ordito::op::RunError;
use ordito_bench::workbench::AUTO;
use ordito_chart::plots;
use ordito_eeg::{
    Analysis, Baseline, ComputeOn, ErpError, Groups, Inputs, Layout, STANDARD_RATE_HZ, Sensors, Settings,
    analyse, figures, json, page, sensors, statistics_variant, summary, write_files,
};
use std::fs::File;
use std::io::Read;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Event-related potentials of EEG epochs: averages, their errors, the difference, its peaks.
#[derive(Debug, Args)]
#[command(
    after_help = "TARGET and NONTARGET hold one epoch per row, columns = sensors × samples: text (also .gz; blanks, tabs, commas or
semicolons between numbers) or .npy, of two dimensions or of three (epochs × sensors × samples, or as --layout says). Several NONTARGET files
are one condition.

Bad channels are left out first; then every epoch has the average reference subtracted, then its baseline; epochs that
then move farther than --reject are left out. SEM = s / √n with n − 1 in s. t is Welch's.

Examples:
  ordito erp --demo demo                                  files to try it on
  ordito erp target.txt nontarget.txt --rate 102.4
  ordito erp target.txt nontarget.txt --start -0.1 --baseline -100ms:0 --reject 150 --out results
  ordito erp target.npy nontarget.npy --reference average --permutations 1000 --on cuda"
)]
pub(crate) struct ErpArgs {
    /// Target epochs
    #[arg(value_name = "TARGET", required_unless_present = "demo")]
    target: Option<PathBuf>,
    /// Nontarget epochs
    #[arg(value_name = "NONTARGET")]
    nontarget: Vec<PathBuf>,
    /// How many sensors, or a file with their names, one per line or in one line [default: 64, named after the 10-10 system]
    #[arg(long, value_name = "N|names.txt")]
    sensors: Option<String>,
    /// Samples per sensor and epoch [default: columns / sensors]
    #[arg(long, value_name = "N")]
    samples: Option<usize>,
    /// Samples per second [default: 102.4]
    #[arg(long, value_name = "HZ", allow_negative_numbers = true)]
    rate: Option<f64>,
    /// Time of the first sample, in seconds or with `ms`
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = parse_time, allow_hyphen_values = true)]
    start: f64,
    /// Order of the columns, or of the dimensions of a .npy of three
    #[arg(long, value_enum, default_value = "sensor-major")]
    layout: LayoutArg,
    /// Unit of the amplitudes
    #[arg(long, default_value = "µV")]
    unit: String,
    /// Sensors to leave out, by name
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    bad_channels: Vec<String>,
    /// Subtract the mean over sensors at every sample
    #[arg(long, value_enum)]
    reference: Option<ReferenceArg>,
    /// Subtract the mean of this interval from every sensor of every epoch: seconds, or with `ms`
    #[arg(long, value_name = "FROM:TO", value_parser = parse_baseline, allow_hyphen_values = true)]
    baseline: Option<Baseline>,
    /// Leave out epochs in which a sensor moves farther, peak to peak
    #[arg(long, value_name = "PEAK_TO_PEAK", allow_negative_numbers = true)]
    reject: Option<f64>,
    /// Average nontarget epochs by groups too; 7 are the offsets 0 to 7 without the target's 6
    #[arg(long, value_name = "N")]
    groups: Option<usize>,
    /// Which nontarget rows belong together
    #[arg(long, value_enum, default_value = "interleaved")]
    group_order: GroupOrderArg,
    /// When the first group's first window begins in the recording, in seconds or with `ms` [default: 0]
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_hyphen_values = true, requires = "groups")]
    window_start: Option<f64>,
    /// From one window of a group to its next: the cycle of the recording [default: 800ms, of 7 groups and epochs of that length]
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_hyphen_values = true, requires = "groups")]
    window_step: Option<f64>,
    /// Test the difference by permuting labels so many times: p corrected for all sensors and samples
    #[arg(long, value_name = "N")]
    permutations: Option<usize>,
    /// Seed of permutations and of --demo
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Which variant of `columns` computes the statistics: one that computes more than the mean
    #[arg(long, value_name = "NAME", default_value = AUTO)]
    variant: String,
    /// Where to compute [default: the CPU, and a GPU for large permutation tests; a variant of a GPU runs there]
    #[arg(long, value_enum, default_value = "all", hide_default_value = true)]
    on: Device,
    /// Which GPU, as `ordito doctor` numbers them
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    device: usize,
    /// Precision of the epochs; results are f64
    #[arg(long, value_enum, default_value = "f64")]
    dtype: Dtype,
    /// Threads [default: ORDITO_THREADS, or all cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Write waves (.npy, .csv), peaks, rejected epochs, report.html and its figures (SVG, PNG) to this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
    /// Write synthetic target.txt and nontarget.txt with known peaks to this folder instead
    #[arg(long, value_name = "DIR", conflicts_with_all = ["target", "nontarget", "out"])]
    demo: Option<PathBuf>,
    #[command(flatten)]
    memory: MemoryArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LayoutArg {
    /// All samples of the first sensor, then all of the second; of three dimensions, epochs × sensors × samples
    SensorMajor,
    /// All sensors at the first sample, then all at the second; of three dimensions, epochs × samples × sensors
    SampleMajor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReferenceArg {
    /// The mean over all sensors that are not bad
    Average,
}

/// `-0.1`, `-100ms`, `0.2s`: seconds.
fn parse_time(text: &str) -> Result<f64, String> {
    let (number, factor) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(number), _) => (number, 1e-3),
        (_, Some(number)) => (number, 1.0),
        _ => (text, 1.0),
    };
    let seconds = number.trim().parse::<f64>().ok().map(|number| number * factor);
    seconds.filter(|seconds| seconds.is_finite()).ok_or_else(|| "a time such as -0.1 or -100ms".into())
}

/// `-100ms:0`, from when to when.
fn parse_baseline(text: &str) -> Result<Baseline, String> {
    let (from, to) = text.split_once(':').ok_or("two times such as -0.1:0 or -100ms:0")?;
    let (from_s, to_s) = (parse_time(from)?, parse_time(to)?);
    if from_s <= to_s { Ok(Baseline { from_s, to_s }) } else { Err("the first time is the later one".into()) }
}

pub(crate) fn run(args: &ErpArgs, console: &Console) -> anyhow::Result<u8> {
    let machine = crate::args::machine(args.threads, args.memory.limits())?;
    match (&args.demo, &args.target) {
        (Some(folder), _) => write_demo(folder, args.seed, args.json, &machine, console),
        (None, Some(target)) => with_scalar!(args.dtype, S => compute::<S>(args, target, &machine, console)),
        (None, None) => anyhow::bail!("TARGET is missing"), // the parser has seen to it
    }
}

fn compute<S: Scalar>(
    args: &ErpArgs,
    target: &Path,
    machine: &Arc<Machine>,
    console: &Console,
) -> anyhow::Result<u8> {
    let (settings, inputs) =
        (settings(args)?, Inputs { target: target.to_owned(), nontarget: args.nontarget.clone() });
    // Without --on, `auto` is the CPU's: opening a GPU takes longer than averaging any file that was just read.
    let (selected, accelerator) = select_one::<Columns<S>>(&args.variant, args.on, || args.device)?;
    let spare_gpu = (args.on == Device::All && accelerator == Accelerator::None).then_some(args.device);
    let variant = selected.describe().map(|known| known.name);
    variant.map(statistics_variant::<S>).transpose().context(format!("--variant {}", args.variant))?;
    let out = args.out.as_deref().map(|folder| OutFolder::make(folder, console)).transpose()?;
    let machine = machine.with_accelerator(accelerator);
    let start = Instant::now();
    if accelerator != Accelerator::None
        && let Err(refusal) = machine.device()
    {
        return missing_device(&refusal, console);
    }
    let opening_ns = start.elapsed().as_nanos() as f64;
    let place = ComputeOn { machine, spare_gpu, variant: variant.map(str::to_owned) };
    let busy = console.busy(format!("averaging {}", target.display()));
    let analysis = analyse::<S>(&inputs, &settings, &place);
    drop(busy);
    let mut analysis = match analysis {
        // What failed while running is no fault of the arguments.
        Err(ErpError::Run(error)) if !matches!(error, RunError::Refused(_)) => {
            console.error(&error.into());
            return Ok(1);
        }
        analysis => analysis?,
    };
    analysis.stages.prepare_ns += opening_ns;
    if args.rate.is_none() {
        let warning = format!("no --rate was given: latencies are those of {STANDARD_RATE_HZ} Hz");
        analysis.warnings.push(warning);
    }
    if let Some(out) = &out {
        let (start, folder) = (Instant::now(), out.path());
        out.begin()?;
        write_files(&analysis, folder)?;
        let notes = plots::write(&folder.join("plots"), &figures::sections(&analysis))?;
        notes.iter().for_each(|note| console.note(note));
        // The page comes last: it tells how long the rest took.
        analysis.stages.write_ns = start.elapsed().as_nanos() as f64;
        page::write(&folder.join("report.html"), &analysis)?;
        out.finish()?;
    }
    tell(&analysis, args, console)
}

fn tell(analysis: &Analysis, args: &ErpArgs, console: &Console) -> anyhow::Result<u8> {
    if args.json {
        let dtype = with_scalar!(args.dtype, S => S::NAME);
        console.json(&json(analysis, dtype))?;
    } else {
        console.line(summary(analysis))?;
        if let Some(folder) = &args.out {
            console.line(format!("{:<13}{}", "written to", folder.display()))?;
        }
    }
    Ok(0)
}

fn settings(args: &ErpArgs) -> anyhow::Result<Settings> {
    let sensors = match args.sensors.as_deref() {
        None => Sensors::Unsaid,
        Some(text) => match text.parse() {
            Ok(count) => Sensors::Count(count),
            Err(_) => Sensors::Named(read_names(text)?),
        },
    };
    let order = args.group_order.into();
    let settings = Settings {
        sensors,
        samples: args.samples,
        rate_hz: args.rate.unwrap_or(STANDARD_RATE_HZ),
        start_s: args.start,
        layout: match args.layout {
            LayoutArg::SensorMajor => Layout::SensorMajor,
            LayoutArg::SampleMajor => Layout::SampleMajor,
        },
        unit: args.unit.clone(),
        bad_channels: args.bad_channels.clone(),
        average_reference: args.reference == Some(ReferenceArg::Average),
        baseline: args.baseline,
        reject: args.reject,
        groups: args.groups.map(|count| Groups { count, order }),
        window_start_s: args.window_start,
        window_step_s: args.window_step,
        permutations: args.permutations,
        seed: args.seed,
    };
    settings.check()?;
    Ok(settings)
}

fn read_names(path: &str) -> anyhow::Result<Vec<String>> {
    let explain = || format!("--sensors {path}: neither a number nor a file of names");
    /// Thousands of names: what is longer is another file.
    const MOST_BYTES: u64 = 1 << 20;
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut text));
    read.map_err(|error| anyhow::anyhow!("{error}")).with_context(explain)?;
    anyhow::ensure!(
        text.len() as u64 <= MOST_BYTES,
        "--sensors {path}: more than {MOST_BYTES} bytes are no file of names"
    );
    Ok(sensors::parse_names(&String::from_utf8_lossy(&text))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_or_milliseconds() {
        assert_eq!((parse_time("-0.1"), parse_time("200ms"), parse_time("2s")), (Ok(-0.1), Ok(0.2), Ok(2.0)));
        assert_eq!(parse_baseline("-100ms:0"), Ok(Baseline { from_s: -0.1, to_s: 0.0 }));
        for wrong in ["", "x", "1", "1:", "2:1", "nan:0", "1:inf"] {
            assert!(parse_baseline(wrong).is_err(), "{wrong}");
        }
    }
}
