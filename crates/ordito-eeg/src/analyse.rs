//! The whole job, from files to results.

use crate::analysis::{Analysis, Chosen};
use crate::arrangement::Arrangement;
use crate::cycle::Cycle;
use crate::difference::Difference;
use crate::error::ErpError;
use crate::inputs::Inputs;
use crate::job::{Job, NONTARGET, Reduced, TARGET, same_shape};
use crate::peaks::Wave;
use crate::protocol::protocol;
use crate::recording::Recording;
use crate::settings::{Sensors, Settings};
use crate::variant::statistics_variant;
use crate::{peaks, permutations, spare_gpu, unit_check};
use ordito::Scalar;
use ordito::io::TextOptions;
use ordito::machine::Machine;
use std::slice;
use std::sync::Arc;
use std::time::Instant;

/// Where to compute.
#[derive(Debug, Clone)]
pub struct ComputeOn {
    /// What was asked for.
    pub machine: Arc<Machine>,
    /// A GPU that the permutation test may open if that pays; none where the place was named.
    pub spare_gpu: Option<usize>,
    /// The variant of `columns` that computes the statistics, by its name; where none is named, what fits.
    pub variant: Option<String>,
}

/// Averages both conditions, compares them and finds their peaks.
///
/// ```
/// use ordito::Machine;
/// use ordito_eeg::{Inputs, ComputeOn, Sensors, Settings, analyse};
/// let path = std::env::temp_dir().join(format!("ordito-erp-example-{}.txt", std::process::id()));
/// std::fs::write(&path, "1 2 3 4\n3 4 5 8\n")?; // two epochs of two sensors and two samples
/// let settings = Settings { sensors: Sensors::Count(2), ..Settings::default() };
/// let place = ComputeOn { machine: Machine::all_cores()?, spare_gpu: None, variant: None };
/// let analysis = analyse::<f64>(&Inputs { target: path.clone(), nontarget: vec![] }, &settings, &place)?;
/// assert_eq!(analysis.conditions[0].mean, [2.0, 3.0, 4.0, 6.0]);
/// assert_eq!(analysis.conditions[0].sem, [1.0, 1.0, 1.0, 2.0]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn analyse<S: Scalar>(
    inputs: &Inputs,
    settings: &Settings,
    place: &ComputeOn,
) -> Result<Analysis, ErpError> {
    let in_f32 = std::any::TypeId::of::<S>() == std::any::TypeId::of::<f32>();
    let run = if in_f32 { analyse_f32 } else { analyse_f64 };
    run(inputs, settings, place)
}

// Not generic, hence compiled with this crate and its settings, and not with every program that calls it.
#[inline(never)]
fn analyse_f32(inputs: &Inputs, settings: &Settings, place: &ComputeOn) -> Result<Analysis, ErpError> {
    analyse_in_blocks::<f32>(inputs, settings, place, TextOptions::default().block_bytes)
}

#[inline(never)]
fn analyse_f64(inputs: &Inputs, settings: &Settings, place: &ComputeOn) -> Result<Analysis, ErpError> {
    analyse_in_blocks::<f64>(inputs, settings, place, TextOptions::default().block_bytes)
}

/// The same; so many bytes of text become a block.
fn analyse_in_blocks<S: Scalar>(
    inputs: &Inputs,
    settings: &Settings,
    place: &ComputeOn,
    block_bytes: usize,
) -> Result<Analysis, ErpError> {
    check(inputs, settings, &place.machine)?;
    let variant = place.variant.as_deref().map(statistics_variant::<S>).transpose()?;
    let mut job = Job::<S>::new(settings, &place.machine, variant, block_bytes);
    let (shape, files) = job.read(slice::from_ref(&inputs.target))?;
    let arrangement = Arrangement::new(settings, &inputs.target, shape)?;
    let cycle = Cycle::new(settings, &arrangement.recording)?;
    let mut warnings = Vec::new();
    let unsaid = settings.sensors == Sensors::Unsaid && settings.samples.is_none();
    if unsaid && shape.stack.is_none() {
        let count = arrangement.reading.sensors;
        warnings.push(format!(
            "no --sensors were given: {count} are assumed, with the names of the 10-10 system"
        ));
    }
    let mut target = job.reduce(TARGET, &arrangement, files)?;
    warnings.append(&mut target.warnings);
    let mut nontarget = None;
    if let Some(first) = inputs.nontarget.first() {
        let (shape, files) = job.read(&inputs.nontarget)?;
        same_shape(arrangement.shape, &inputs.target, shape, first)?;
        nontarget = Some(job.reduce(NONTARGET, &arrangement, files)?);
    }
    let mut chosen: Vec<Chosen> = job.engine.chosen.take().into_iter().collect();
    let mut stages = job.engine.stages;
    let mut difference = None;
    if let Some(nontarget) = &mut nontarget {
        let mut found = Difference::new(&arrangement.recording, &target.condition, &nontarget.condition);
        if let Some(count) = settings.permutations {
            let start = Instant::now();
            let asked = (count, settings.seed);
            chosen.push(permute(&mut found, asked, &arrangement, &mut target, nontarget, place)?);
            stages.permutations_ns = start.elapsed().as_nanos() as f64;
        }
        difference = Some(found);
    }
    let (mut conditions, mut groups) = (vec![target.condition], Vec::new());
    if let Some(nontarget) = nontarget {
        conditions.push(nontarget.condition);
        groups = nontarget.groups;
        warnings.extend(nontarget.warnings);
    }
    let recording = arrangement.recording;
    if let Some(cycle) = cycle {
        let rows = conditions.last().map_or(0, |nontarget| nontarget.read);
        let windows = cycle.windows(rows);
        groups.iter_mut().zip(windows).for_each(|(group, windows)| group.windows = Some(windows));
        conditions[0].windows = cycle.windows_of_target();
    }
    let protocol = protocol(inputs, settings, variant.map(|variant| variant.name), S::NAME);
    warnings.extend(unit_check::warning(&recording, &conditions));
    let mut analysis = Analysis {
        protocol,
        recording,
        conditions,
        groups,
        difference,
        peaks: Vec::new(),
        warnings,
        chosen,
        stages,
    };
    analysis.peaks = all_peaks(&analysis.recording, &analysis);
    Ok(analysis)
}

/// What can be said before anything is read.
fn check(inputs: &Inputs, settings: &Settings, machine: &Machine) -> Result<(), ErpError> {
    settings.check()?;
    if let Some(count) = settings.permutations {
        machine.check_memory(format!("--permutations {count}"), permutations::bytes_of_maxima(count))?;
    }
    let comparison =
        [("--groups", settings.groups.is_some()), ("--permutations", settings.permutations.is_some())];
    match comparison.iter().find(|(_, asked)| *asked && inputs.nontarget.is_empty()) {
        Some((option, _)) => Err(ErpError::NeedsNontarget(option)),
        None => Ok(()),
    }
}

/// Adds the permutation test to the difference; says who computed it.
fn permute<S: Scalar>(
    difference: &mut Difference,
    asked: (usize, u64),
    arrangement: &Arrangement,
    target: &mut Reduced<S>,
    nontarget: &Reduced<S>,
    place: &ComputeOn,
) -> Result<Chosen, ErpError> {
    let whole = &mut target.statistics;
    whole.merge(&nontarget.statistics);
    let columns = arrangement.columns();
    let epochs = whole.count as usize;
    let at = spare_gpu::machine_for(&place.machine, place.spare_gpu, epochs, columns.len(), asked.0);
    let labelled =
        permutations::Labelled { first: &target.kept, second: &nontarget.kept, columns: &columns, whole };
    let (test, chosen) = spare_gpu::unless_it_fails(at, &place.machine, |at| {
        permutations::test(&labelled, &arrangement.recording, &difference.t, asked, at)
    })?;
    difference.permutations = Some(test);
    Ok(chosen)
}

fn all_peaks(recording: &Recording, analysis: &Analysis) -> Vec<crate::peaks::Peak> {
    let conditions = analysis.conditions.iter().enumerate();
    let conditions = conditions.map(|(index, of)| (Wave::Condition(index), &of.mean, &of.field_power));
    let difference = analysis.difference.iter().map(|of| (Wave::Difference, &of.mean, &of.field_power));
    conditions
        .chain(difference)
        .flat_map(|(of, wave, power)| peaks::find(recording, of, wave, power))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::Condition;
    use crate::demo::Demo;
    use crate::groups::{GroupOrder, Groups};
    use crate::settings::{Baseline, Sensors};
    use ordito::cpu::{CpuInfo, Pool};
    use ordito::machine::Limits;

    /// Text of about seven of the epochs below.
    const SEVEN_ROWS: usize = 7 * 4 * 82 * 25;

    /// Memory that holds the statistics, but not the epochs.
    fn small_machine(memory_bytes: u64) -> ComputeOn {
        let cpu = CpuInfo::detect();
        let limits = Limits { memory_bytes, ..Limits::of(&cpu) };
        ComputeOn { machine: Machine::new(cpu, 2, limits).unwrap(), spare_gpu: None, variant: None }
    }

    fn whole_machine() -> ComputeOn {
        ComputeOn { machine: Machine::with_threads(2).unwrap(), spare_gpu: None, variant: None }
    }

    /// Four sensors, 80 and 161 epochs, two of them spoilt.
    fn written() -> (tempfile::TempDir, Inputs, Settings) {
        let sensors = ["Fpz", "Cz", "Pz", "Oz"].map(String::from).to_vec();
        let recording = Recording { sensors: sensors.clone(), ..Demo::standard(0).recording };
        let bad_epochs = vec![17, 43];
        let demo = Demo { recording, targets: 80, nontargets: 161, bad_epochs, response: 1.0, seed: 11 };
        let folder = tempfile::tempdir().unwrap();
        demo.write(folder.path(), &Pool::new(2).unwrap()).unwrap();
        let file = |name: &str| folder.path().join(name);
        let inputs = Inputs { target: file("target.txt"), nontarget: vec![file("nontarget.txt")] };
        let settings = Settings {
            sensors: Sensors::Named(sensors),
            start_s: demo.recording.start_s,
            baseline: Some(Baseline { from_s: -0.1, to_s: 0.0 }),
            reject: Some(150.0),
            groups: Some(Groups { count: 7, order: GroupOrder::Interleaved }),
            ..Settings::default()
        };
        (folder, inputs, settings)
    }

    #[test]
    fn files_larger_than_memory_give_the_same_numbers() {
        let (_folder, inputs, settings) = written();
        let whole = analyse::<f64>(&inputs, &settings, &whole_machine()).unwrap();
        let small = small_machine(100_000);
        let blocks = analyse_in_blocks::<f64>(&inputs, &settings, &small, SEVEN_ROWS).unwrap();
        fn all(of: &Analysis) -> impl Iterator<Item = &Condition> {
            of.conditions.iter().chain(&of.groups)
        }
        assert_eq!((all(&whole).count(), all(&blocks).count()), (9, 9));
        for (whole, blocks) in all(&whole).zip(all(&blocks)) {
            assert_eq!((whole.kept, &whole.rejected), (blocks.kept, &blocks.rejected));
            let waves = [(&whole.mean, &blocks.mean), (&whole.sem, &blocks.sem)];
            let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-10;
            assert!(waves.iter().all(|(a, b)| a.iter().zip(*b).all(close)), "{}", whole.name);
        }
        assert_ne!(whole.conditions[1].mean, blocks.conditions[1].mean, "blocks round otherwise");
    }

    #[test]
    fn threads_do_not_change_a_bit_of_many_blocks() {
        let (_folder, inputs, settings) = written();
        let [one, five] = [1, 5].map(|threads| {
            let place = ComputeOn { machine: Machine::with_threads(threads).unwrap(), ..whole_machine() };
            analyse_in_blocks::<f64>(&inputs, &settings, &place, SEVEN_ROWS).unwrap()
        });
        assert_eq!((one.conditions, one.groups, one.peaks), (five.conditions, five.groups, five.peaks));
    }

    #[test]
    fn what_does_not_fit_is_refused_before_it_is_allocated() {
        let (_folder, inputs, settings) = written();
        let fault = |settings: &Settings| {
            analyse::<f64>(&inputs, settings, &small_machine(100_000)).unwrap_err().to_string()
        };
        let groups = |count| Settings {
            groups: Some(Groups { count, order: GroupOrder::Interleaved }),
            ..settings.clone()
        };
        assert_eq!(fault(&groups(0)), "--groups 0: at least one is needed");
        for count in [1000, usize::MAX] {
            let said = fault(&groups(count));
            assert!(said.starts_with(&format!("--groups {count} would need")), "{said}");
        }
        let permutations = |count| Settings { permutations: Some(count), ..settings.clone() };
        for count in [1_000_000_000_000, usize::MAX] {
            let said = fault(&permutations(count));
            assert!(said.starts_with(&format!("--permutations {count} would need")), "{said}");
        }
        let said = fault(&permutations(99));
        assert!(said.starts_with("--permutations needs all epochs in memory at once"), "{said}");
    }

    /// What one thread does to a block needs no whole file; what all threads share does.
    #[test]
    fn a_variant_takes_blocks_or_whole_files() {
        let (_folder, inputs, settings) = written();
        let by = |name: &str| ComputeOn { variant: Some(name.into()), ..small_machine(100_000) };
        let run = |place: &ComputeOn| analyse_in_blocks::<f64>(&inputs, &settings, place, SEVEN_ROWS);
        let unasked = run(&small_machine(100_000)).unwrap();
        let asked = run(&by("dense-serial-blocks")).unwrap();
        assert_eq!((&asked.conditions, &asked.groups), (&unasked.conditions, &unasked.groups));
        assert!(asked.chosen[0].reason.starts_with("asked for by name; "), "{:?}", asked.chosen);
        let said = run(&by("dense-threads-blocks")).unwrap_err().to_string();
        assert!(
            said.starts_with("the variant that was asked for needs all epochs in memory at once"),
            "{said}"
        );
        let whole = ComputeOn { variant: Some("dense-threads-blocks".into()), ..whole_machine() };
        assert_eq!(run(&whole).unwrap().chosen[0].variant, "dense-threads-blocks");
        let said = run(&by("dense-magic")).unwrap_err().to_string();
        assert_eq!(said, "there is no variant `dense-magic`");
    }

    #[test]
    #[cfg(unix)]
    fn a_pipe_that_does_not_fit_is_refused() {
        let (folder, mut inputs, settings) = written();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let text = std::fs::read(&inputs.target).unwrap();
        let end = pipe.clone();
        // Whether all of it can be written before the reader goes away does not matter.
        let writer = std::thread::spawn(move || std::fs::write(end, text));
        inputs.target = pipe;
        let said = analyse::<f64>(&inputs, &settings, &small_machine(100_000)).unwrap_err().to_string();
        assert!(said.contains("pipe is no regular file"), "{said}");
        let _ = writer.join().unwrap();
    }

    #[test]
    fn groups_of_one_epoch_or_none_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("t.txt"), "1 2\n2 4\n").unwrap();
        // By threes: two epochs, one (the other moves too far), none (both do).
        std::fs::write(path("n.txt"), "1 2\n1 3\n0 900\n2 2\n0 900\n0 900\n").unwrap();
        let inputs = Inputs { target: path("t.txt"), nontarget: vec![path("n.txt")] };
        let settings = Settings {
            sensors: Sensors::Count(1),
            reject: Some(100.0),
            groups: Some(Groups { count: 3, order: GroupOrder::Interleaved }),
            ..Settings::default()
        };
        let analysis = analyse::<f64>(&inputs, &settings, &whole_machine()).unwrap();
        let expected = [
            "group 2 has one epoch left of 2: its standard error is not known (NaN)",
            "group 3 has none of its 2 epochs left: its mean is not known (NaN)",
        ];
        assert_eq!(analysis.warnings, expected);
    }
}
