//! Copies of memory as any program has it, through a ring of pinned chunks: while the GPU copies one, threads of the
//! host fill or empty the next. The driver does the same with one thread and reaches 7 to 10 GB/s where pinned memory
//! reaches 55 (H200).

use crate::cpu::Pool;
use crate::device::backend::DeviceError;
use crate::device::gpu::Gpu;
use crate::device::gpu::event::Event;
use crate::device::gpu::memory::{enqueue_read, enqueue_write};
use crate::device::gpu::pinned::PinnedBuffer;
use crate::device::gpu::stream::Stream;
use crate::refusal::Refusal;

/// Bytes of a chunk: copied in about 80 µs at 55 GB/s, against which starting a copy and waking threads is little. This and
/// the sizes below are estimates that no measurement has refined yet.
const CHUNK_BYTES: usize = 4 << 20;
/// One that the GPU copies, one that threads fill or empty, one between them.
const CHUNKS: usize = 3;
/// Below, the driver's own staging is left to it: the copy is over before threads are awake.
pub(crate) const LEAST_BYTES: usize = 1 << 20;
/// Bytes that make waking another thread worth while.
const BYTES_PER_THREAD: usize = 256 << 10;

/// The ring: every copy begins with the first chunk and takes them in turn.
#[derive(Debug)]
pub(crate) struct Staging(Vec<StagingBuffer>);

#[derive(Debug)]
struct StagingBuffer {
    bytes: PinnedBuffer<u8>,
    /// The GPU is done with it.
    passed: Event,
}

impl Staging {
    pub(crate) fn new(gpu: &Gpu) -> Result<Self, Refusal> {
        let chunk = |_| {
            let passed = Event::new(gpu).map_err(|error| Refusal::Device(error.to_string()))?;
            Ok(StagingBuffer { bytes: gpu.pinned(CHUNK_BYTES)?, passed })
        };
        (0..CHUNKS).map(chunk).collect::<Result<_, Refusal>>().map(Staging)
    }

    /// Host to device. When it returns, `from` is not needed any more.
    ///
    /// # Safety
    /// `to` is memory of the stream's device with room for the bytes.
    pub(crate) unsafe fn upload(
        &mut self,
        pool: Option<&Pool>,
        stream: &Stream,
        to: u64,
        from: &[u8],
    ) -> Result<(), DeviceError> {
        for (index, part) in from.chunks(CHUNK_BYTES).enumerate() {
            let chunk = &mut self.0[index % CHUNKS];
            chunk.passed.synchronize()?;
            let staged = &mut chunk.bytes.as_mut_slice()[..part.len()];
            copy(pool, part, staged);
            {
                let turn = stream.context().enter()?;
                // SAFETY: the chunk is not touched before its event has passed; there is room, the caller says.
                unsafe { enqueue_write(stream, to + (index * CHUNK_BYTES) as u64, staged, &turn) }?;
            }
            chunk.passed.record(stream)?;
        }
        Ok(())
    }

    /// Device to host. When it returns, `into` is complete.
    ///
    /// # Safety
    /// `from` is memory of the stream's device with so many bytes.
    pub(crate) unsafe fn download(
        &mut self,
        pool: Option<&Pool>,
        stream: &Stream,
        from: u64,
        into: &mut [u8],
    ) -> Result<(), DeviceError> {
        let mut parts: Vec<&mut [u8]> = into.chunks_mut(CHUNK_BYTES).collect();
        for index in 0..parts.len() + CHUNKS {
            let chunk = &mut self.0[index % CHUNKS];
            chunk.passed.synchronize()?;
            if let Some(part) = index.checked_sub(CHUNKS).map(|arrived| &mut parts[arrived]) {
                copy(pool, &chunk.bytes.as_slice()[..part.len()], part);
            }
            if let Some(part) = parts.get(index) {
                {
                    let turn = stream.context().enter()?;
                    let staged = &mut chunk.bytes.as_mut_slice()[..part.len()];
                    // SAFETY: the chunk is not looked at before its event has passed; there are so many bytes, the
                    // caller says.
                    unsafe { enqueue_read(stream, from + (index * CHUNK_BYTES) as u64, staged, &turn) }?;
                }
                chunk.passed.record(stream)?;
            }
        }
        Ok(())
    }
}

/// By as many threads as there is work for. A thread of somebody's rayon pool does it alone: while it waited for ours it would take up
/// other work of its own, which may want the very product whose X is copied here.
fn copy(pool: Option<&Pool>, from: &[u8], into: &mut [u8]) {
    let pool = pool.filter(|_| rayon::current_thread_index().is_none());
    let Some(pool) = pool else { return into.copy_from_slice(from) };
    let threads = pool.threads().min(from.len().div_ceil(BYTES_PER_THREAD)).max(1);
    let share = from.len().div_ceil(threads).max(1);
    let shares = from.chunks(share).zip(into.chunks_mut(share)).collect();
    pool.run_shares(shares, |(from, into): (&[u8], &mut [u8])| into.copy_from_slice(from));
}
