//! Ours, and what the library uses (`Csr::from_coo`): entries are dealt into buckets of neighbouring rows, then each
//! bucket is counted, placed and its rows sorted. The same result for any number of threads, sorted columns.
//! Touches every entry in two passes over memory, the second in pieces that fit the L2 cache. Loses to the serial cursor,
//! which leaves rows unsorted, on a single thread.

use crate::convert::parts::Parts;
use crate::convert::{Convert, OnHost};
use ordito::Scalar;
use ordito::machine::Machine;
use ordito::matrix::{Coo, Duplicates, sort_entries};
use ordito::op::{Place, Prepared, Variant};
use ordito::refusal::Refusal;
use std::sync::Arc;

pub(crate) struct CountingCsr {
    pub(crate) place: Place,
}

fn convert<S: Scalar>(coo: &Coo<S>, threads: usize) -> Parts<S> {
    let (offsets, columns, values) = sort_entries(coo, Duplicates::Keep, threads);
    Parts::Csr { offsets, columns, values }
}

impl<S: Scalar> Variant<Convert<S>> for CountingCsr {
    fn name(&self) -> &'static str {
        if self.place == Place::Serial { "csr-serial-counting" } else { "csr-threads-counting" }
    }
    fn about(&self) -> &'static str {
        "CSR: counting sort by row buckets, deterministic, sorted columns"
    }
    fn place(&self) -> Place {
        self.place
    }
    fn source(&self) -> &'static str {
        ordito::matrix::coo_to_csr::SOURCE
    }
    fn prepare(
        &self,
        machine: &Arc<Machine>,
        coo: &Arc<Coo<S>>,
    ) -> Result<Box<dyn Prepared<Convert<S>>>, Refusal> {
        let machine = machine.clone();
        Ok(if self.place == Place::Serial {
            OnHost::boxed(coo, |coo| convert(coo, 1))
        } else {
            OnHost::boxed(coo, move |coo| machine.pool().install(|| convert(coo, machine.threads())))
        })
    }
}
