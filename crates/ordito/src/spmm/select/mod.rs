//! Which variant `auto` takes: decisions as data, from what `analysis` knows and what the machine is.

pub(crate) mod on_cpu;
pub(crate) mod on_device;
