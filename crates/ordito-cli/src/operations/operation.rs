//! What an operation is to `list`, `verify` and `bench`.

use crate::args::Dtype;
use crate::request::Request;
use crate::session::Session;
use crate::suite::{Suite, Yardstick};
use ordito::device::{Adjustable, KernelSource};
use ordito::machine::Machine;
use ordito::op::{Description, Op, Variant};
use ordito_bench::workbench::{AUTO, SelectError, Selected, Side, Wanted, select};

/// An operation behind the command line: its name, its variants, and how to run it on inputs.
pub(crate) trait Operation: Sync {
    fn name(&self) -> &'static str;
    fn about(&self) -> &'static str;
    /// Every variant, `auto` last, and which of them this machine, if one is given, refuses.
    fn catalogue(&self, machine: Option<&Machine>) -> Vec<Listed>;
    /// Does the selection hold anything of that side? Asked before any input is read.
    fn selects(&self, wanted: &Wanted, side: Side) -> Result<bool, SelectError>;
    /// What to name as an input.
    fn input_hint(&self) -> &'static str;
    /// What stands for no input; nothing where one must be named.
    fn default_inputs(&self) -> Vec<String> {
        Vec::new()
    }
    /// What that suite stands for here, if it does.
    fn yardstick(&self, _: Suite) -> Option<Yardstick> {
        None
    }
    /// What to say to `--k`, where it would be taken for something that it is not.
    fn no_k(&self) -> Option<&'static str> {
        None
    }
    /// Does it add to what is there, scaled by β?
    fn has_beta(&self) -> bool {
        false
    }
    /// Can rows of its operands lie farther apart than they are long?
    fn has_pads(&self) -> bool {
        false
    }
    /// Can its rows be taken in groups?
    fn has_groups(&self) -> bool {
        false
    }
    /// What of their launches the selected kernels leave open.
    fn adjustable(&self, _: &Wanted) -> Result<Vec<Adjustable>, SelectError> {
        Ok(Vec::new())
    }
    /// Is it limited by what is multiplied, rather than by what is moved?
    fn is_limited_by_products(&self) -> bool {
        false
    }
    /// How many cases an input makes, for the progress bar.
    fn cases_per_input(&self, request: &Request) -> usize;
    /// Every case that the input, the dtypes and the Ks make.
    fn run(&self, session: &mut Session<'_>, input: &str) -> anyhow::Result<()>;
}

/// A line of `ordito list`.
pub(crate) struct Listed {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// What the variant is; nothing of `auto`, which is whatever it takes.
    pub(crate) description: Option<&'static Description>,
    /// What its kernels are made of: names and texts of CUDA files and headers.
    pub(crate) files: Vec<(&'static str, &'static str)>,
    pub(crate) refusal: Option<String>,
}

/// All variants of an operation.
pub(crate) fn catalogue<O: Op>(machine: Option<&Machine>) -> Vec<Listed> {
    let listed = |variant: &&'static dyn Variant<O>| Listed {
        name: variant.name(),
        about: variant.describe().about,
        description: Some(variant.describe()),
        files: variant.kernels().iter().flat_map(KernelSource::files).collect(),
        refusal: machine
            .and_then(|machine| variant.available(machine).err())
            .map(|refusal| refusal.to_string()),
    };
    let auto = Listed {
        name: AUTO,
        about: "whatever of these fits the operands and the machine; says what and why",
        description: None,
        files: Vec::new(),
        refusal: None,
    };
    O::variants().iter().map(listed).chain([auto]).collect()
}

/// What the selected kernels of an operation leave open of their launches.
pub(crate) fn left_open<O: Op>(wanted: &Wanted) -> Result<Vec<Adjustable>, SelectError> {
    let selected = select::<O>(wanted, Side::Device)?;
    let described = selected.iter().filter_map(Selected::describe);
    Ok(described.flat_map(|description| description.adjustable.iter().copied()).collect())
}

/// Elements of a dense matrix, `None` beyond 64 bits. One without any counts by its sides: loops go over them, and variants
/// keep something for each.
pub(crate) fn count_elements(rows: usize, cols: usize) -> Option<u64> {
    (rows.max(1) as u64).checked_mul(cols.max(1) as u64)
}

/// All precisions, even if the input cannot be read in one of them (a number beyond f32); the first error.
pub(crate) fn for_each_dtype(
    session: &mut Session<'_>,
    run: impl Fn(&mut Session<'_>, Dtype) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut first = Ok(());
    for dtype in session.request().dtypes.clone() {
        if session.interrupted() {
            break;
        }
        first = first.and(run(session, dtype));
    }
    first
}
