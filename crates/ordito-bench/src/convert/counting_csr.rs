//! Ours, and what the library uses (`Csr::from_coo`): entries are dealt into buckets of neighbouring rows, then each
//! bucket is counted, placed and its rows sorted. The same result for any number of threads, sorted columns.
//! Touches every entry in two passes over memory, the second in pieces that fit the L2 cache. Loses to the serial cursor,
//! which leaves rows unsorted, on a single thread.

use crate::convert::parts::{Format, Parts, check_memory};
use crate::convert::{Convert, OnHost};
use ordito::Scalar;
use ordito::machine::Machine;
use ordito::matrix::{Coo, Duplicates, sort_entries};
use ordito::op::{Description, Place, Prepared, SourceFile, Variant};
use ordito::refusal::Refusal;
use std::sync::Arc;

pub(crate) struct CountingCsr {
    pub(crate) description: Description,
}

/// The first of the files of it, and the text of all.
const FILE: SourceFile = SourceFile {
    path: "crates/ordito/src/matrix/coo_to_csr/counting_sort.rs",
    text: ordito::matrix::coo_to_csr::SOURCE,
};

pub(crate) const SERIAL: CountingCsr = CountingCsr {
    description: Description::new(
        "csr-serial-counting",
        "CSR: counting sort by row buckets, deterministic, sorted columns",
        Place::Serial,
        FILE,
    ),
};
pub(crate) const THREADS: CountingCsr = CountingCsr {
    description: Description::new(
        "csr-threads-counting",
        "CSR: counting sort by row buckets, deterministic, sorted columns",
        Place::Threads,
        FILE,
    ),
};

fn convert<S: Scalar>(coo: &Coo<S>, threads: usize) -> Parts<S> {
    let (offsets, columns, values) = sort_entries(coo, Duplicates::Keep, threads);
    Parts::Csr { offsets, columns, values }
}

impl<S: Scalar> Variant<Convert<S>> for CountingCsr {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn prepare(
        &self,
        machine: &Arc<Machine>,
        coo: &Arc<Coo<S>>,
    ) -> Result<Box<dyn Prepared<Convert<S>>>, Refusal> {
        check_memory(machine, Format::Csr, coo)?;
        Ok(if self.description.place == Place::Serial {
            OnHost::boxed(machine, coo, |coo, _| convert(coo, 1))
        } else {
            OnHost::boxed(machine, coo, |coo, machine| {
                machine.pool().install(|| convert(coo, machine.threads()))
            })
        })
    }
}
