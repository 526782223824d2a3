//! The whole job, from files to results.

use super::arrangement::Arrangement;
use super::job::{Job, NONTARGET, Reduced, Source, TARGET, same_shape};
use super::significance::FEWEST;
use super::{
    Analysis, Chosen, Difference, ErpError, Recording, Sensors, Settings, Wave, layout_check, peaks,
    permutations,
};
use crate::Scalar;
use crate::machine::Machine;
use std::path::PathBuf;
use std::slice;
use std::sync::Arc;
use std::time::Instant;

/// The files of both conditions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inputs {
    /// Target epochs.
    pub target: PathBuf,
    /// Nontarget epochs: several files are one condition, in this order.
    pub nontarget: Vec<PathBuf>,
}

/// Where to compute.
#[derive(Debug, Clone)]
pub struct Place {
    /// What was asked for.
    pub machine: Arc<Machine>,
    /// A GPU that the permutation test may open if that pays; none where the place was named.
    pub spare_gpu: Option<usize>,
}

/// Averages both conditions, compares them and finds their peaks.
///
/// ```
/// use ordito::erp::{Inputs, Place, Sensors, Settings, analyse};
/// use ordito::machine::Machine;
/// let path = std::env::temp_dir().join(format!("ordito-erp-example-{}.txt", std::process::id()));
/// std::fs::write(&path, "1 2 3 4\n3 4 5 8\n")?; // two epochs of two sensors and two samples
/// let settings = Settings { sensors: Sensors::Count(2), ..Settings::default() };
/// let place = Place { machine: Machine::whole()?, spare_gpu: None };
/// let analysis = analyse::<f64>(&Inputs { target: path.clone(), nontarget: vec![] }, &settings, &place)?;
/// assert_eq!(analysis.conditions[0].mean, [2.0, 3.0, 4.0, 6.0]);
/// assert_eq!(analysis.conditions[0].sem, [1.0, 1.0, 1.0, 2.0]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn analyse<S: Scalar>(inputs: &Inputs, settings: &Settings, place: &Place) -> Result<Analysis, ErpError> {
    check(inputs, settings)?;
    let mut job = Job::<S>::new(settings, &place.machine);
    let (shape, source) = job.read(slice::from_ref(&inputs.target))?;
    let arrangement = Arrangement::new(settings, &inputs.target, shape)?;
    let mut warnings = Vec::new();
    let unsaid = settings.sensors == Sensors::Unsaid && settings.samples.is_none();
    if unsaid && shape.stack.is_none() {
        let count = arrangement.all_sensors;
        warnings.push(format!(
            "no --sensors were given: {count} are assumed, with the names of the 10-10 system"
        ));
    }
    if let Source::Whole(files) = &source {
        warnings.extend(layout_check::warning(&arrangement, &files[0].matrix));
    }
    let mut target = job.reduce(TARGET, &arrangement, source)?;
    let mut nontarget = None;
    if let Some(first) = inputs.nontarget.first() {
        let (shape, source) = job.read(&inputs.nontarget)?;
        same_shape(arrangement.shape, &inputs.target, shape, first)?;
        nontarget = Some(job.reduce(NONTARGET, &arrangement, source)?);
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
        warnings.extend(nontarget.warning);
    }
    let recording = arrangement.recording;
    let mut analysis =
        Analysis { recording, conditions, groups, difference, peaks: Vec::new(), warnings, chosen, stages };
    analysis.peaks = all_peaks(&analysis.recording, &analysis);
    Ok(analysis)
}

/// What can be said before anything is read.
fn check(inputs: &Inputs, settings: &Settings) -> Result<(), ErpError> {
    if let Some(count) = settings.permutations.filter(|count| *count < FEWEST) {
        return Err(ErpError::FewPermutations(count));
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
    place: &Place,
) -> Result<Chosen, ErpError> {
    let whole = &mut target.statistics;
    whole.merge(&nontarget.statistics);
    let columns = arrangement.columns();
    let epochs = whole.count as usize;
    let at = permutations::machine_for(&place.machine, place.spare_gpu, epochs, columns.len(), asked.0);
    let labelled =
        permutations::Labelled { first: &target.kept, second: &nontarget.kept, columns: &columns, whole };
    let (test, chosen) = permutations::test(&labelled, &arrangement.recording, &difference.t, asked, &at)?;
    difference.permutations = Some(test);
    Ok(chosen)
}

fn all_peaks(recording: &Recording, analysis: &Analysis) -> Vec<super::Peak> {
    let conditions = analysis.conditions.iter().enumerate();
    let conditions = conditions.map(|(index, of)| (Wave::Condition(index), &of.mean, &of.field_power));
    let difference = analysis.difference.iter().map(|of| (Wave::Difference, &of.mean, &of.field_power));
    conditions
        .chain(difference)
        .flat_map(|(of, wave, power)| peaks::find(recording, of, wave, power))
        .collect()
}
