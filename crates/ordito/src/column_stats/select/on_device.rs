//! What `auto` takes on a device, from the shape and the limits of the device.

use crate::column_stats::cuda::dense_cuda_strips::{NARROW, NARROW_MANY_ROWS, WIDE};
use crate::column_stats::reduction::Shape;
use crate::device::DeviceLimits;
use crate::op::Choice;

/// Rows from which a thread of a narrow strip has use for 24 of them at a time (100000×64 on an H200, f64: 13.0 µs, with 8
/// of them 16.7; 358×5248: 5.2 and 4.1 µs).
const MANY_ROWS: usize = 4096;

/// Narrow strips are more blocks, which is what a small matrix lacks; wide loads ask for more at a time, which is what
/// counts where everything comes from memory.
pub(super) fn on_device(limits: &DeviceLimits, shape: Shape, bytes: u64) -> Choice {
    let (strips, why) = if bytes > limits.l2_bytes {
        (&WIDE, "larger than the last-level cache: loads of 16 bytes")
    } else if shape.rows >= MANY_ROWS {
        (&NARROW_MANY_ROWS, "fits the last-level cache, and has many rows: narrow strips, 24 rows in flight")
    } else {
        (&NARROW, "fits the last-level cache: many narrow strips, one element per load")
    };
    Choice::new(&strips.description, format!("{shape}: {why}"))
}
