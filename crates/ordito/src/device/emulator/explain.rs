//! What a launch has to say when its kernel does what is not allowed.

use crate::device::emulator::access::Access;
use crate::device::emulator::collective::Missing;
use crate::device::emulator::fault::Fault;
use crate::device::emulator::memory::GAP;
use crate::device::emulator::scheduler::KERNEL_STACK_BYTES;
use crate::device::emulator::shared_memory::Wrong;
use crate::device::emulator::state::State;
use std::ops::Range;

/// Farther than that from every buffer, an address is not explained by one.
const NEAR: usize = 1 << 30;

impl State {
    /// An access to what is not the kernel's.
    #[cold]
    pub(crate) fn out_of_bounds(&self, access: &Access, from: usize) -> Fault {
        let Access { address, bytes, .. } = *access;
        let name = access.name();
        let shared =
            self.shared.iter().map(|shared| (&shared.range, format!("{} shared memory", shared.name)));
        let buffers =
            self.reaches.iter().map(|reach| (reach.start..reach.start + reach.len, reach.name.to_string()));
        let ranges = buffers.chain(shared.map(|(range, name)| (range.clone(), name)));
        let distance =
            |range: &Range<usize>| range.start.saturating_sub(address).max(address.saturating_sub(range.end));
        let nearest =
            ranges.min_by_key(|(range, _)| distance(range)).filter(|(range, _)| distance(range) < NEAR);
        let what = if address < 4096 {
            format!("{name} of {bytes} bytes through a null pointer (address {address:#x})")
        } else if let Some(offset) = self.beyond_no_dynamic_shared(address) {
            format!(
                "{name} of {bytes} bytes at byte {offset} of dynamic shared memory, of which this launch has none: \
                 how many bytes it has is the third number of <<<grid, block, bytes>>>"
            )
        } else if let Some(other) = self.registry.find(address).filter(|other| {
            distance(&(other.address..other.address + other.len)) == 0
                && !self.reaches.iter().any(|reach| reach.start == other.address)
        }) {
            format!(
                "out-of-bounds {name} of {bytes} bytes in {}, which is no argument of this launch",
                other.name
            )
        } else if let Some(freed) = self.registry.find_freed(address) {
            format!("{name} of {bytes} bytes in {freed}, which has been freed")
        } else if let Some((range, buffer)) = nearest {
            let (offset, len) = (address as i128 - range.start as i128, range.len());
            let element = offset.div_euclid(bytes.max(1) as i128);
            let elements = len / bytes.max(1);
            format!(
                "out-of-bounds {name} of {bytes} bytes at byte {offset} of {buffer}, which has {len} bytes \
                 (element {element} of {elements}, if elements have {bytes} bytes)"
            )
        } else {
            format!("{name} of {bytes} bytes at address {address:#x}, which is in no buffer")
        };
        self.fault_here(what, from)
    }

    /// Where in dynamic shared memory the address would be, if the launch had any.
    fn beyond_no_dynamic_shared(&self, address: usize) -> Option<usize> {
        let start = self.place.dynamic_shared as usize;
        let has_some = self.shared.iter().any(|shared| shared.range.start == start);
        // No more than lies before the next buffer.
        address.checked_sub(start).filter(|&offset| !has_some && offset < GAP)
    }

    /// An access that begins in shared memory.
    #[cold]
    pub(crate) fn wrong_in_shared(&self, index: usize, access: &Access, wrong: &Wrong, from: usize) -> Fault {
        let shared = &self.shared[index];
        let (offset, bytes, verb) = (access.address - shared.range.start, access.bytes, access.name());
        let place = format!("{bytes} bytes at byte {offset} of {} shared memory", shared.name);
        let what = match wrong {
            Wrong::OutOfBounds => {
                format!("out-of-bounds {verb} of {place}, which has {} bytes", shared.range.len())
            }
            Wrong::Misaligned => format!("misaligned {verb} of {place}"),
            Wrong::Uninitialised => {
                format!(
                    "read of uninitialised shared memory: {place}, which no thread of the block has written"
                )
            }
            Wrong::Race { other, other_wrote } => format!(
                "data race on shared memory: {verb} of {place}, which {} has {}; \
                 a barrier is missing between thread {other} and thread {}",
                self.shape.name_thread(*other),
                if *other_wrote { "written" } else { "read" },
                self.thread,
            ),
            Wrong::Copying { other } => format!(
                "{verb} of {place}, into which a copy_async of {} is under way: \
                 that thread must wait for it (copy_async_wait), and others for that thread (a barrier)",
                self.shape.name_thread(*other),
            ),
        };
        self.fault_here(what, from)
    }

    /// A fault of the present thread.
    #[cold]
    pub(crate) fn fault_here(&self, what: String, from: usize) -> Fault {
        let (thread, block) = (self.shape.name_thread(self.thread), self.shape.name_block(self.block_number));
        Fault::new(format!("{what}; by {thread} of {block}")).at(from)
    }

    /// A function began and had no room.
    #[cold]
    pub(crate) fn stack_is_full(&self, from: usize) -> Fault {
        let kib = KERNEL_STACK_BYTES >> 10;
        let what = format!(
            "the stack of a thread ({kib} KiB) is full: a recursion that is too deep or has no end, or too many local arrays"
        );
        self.fault_here(what, from)
    }

    #[cold]
    pub(crate) fn missing(&self, missing: &Missing, from: usize) -> Fault {
        let what = match missing {
            Missing::Source { lane, source } => {
                format!(
                    "shuffle to lane {lane} from lane {source}, which takes no part: its value is undefined"
                )
            }
            Missing::Lanes { kind, lanes } => {
                let (name, lanes) = (kind.name(), lanes.count_ones());
                format!("{name} by {lanes} lanes of a warp: it takes all 32, and the others have ended")
            }
        };
        self.fault_here(what, from)
    }

    /// Nobody can go on.
    #[cold]
    pub(crate) fn deadlock(&self) -> Fault {
        self.who_waits("deadlock")
    }

    /// A barrier opened that not all threads came to. GPUs from Volta on go on as well, where the others have ended or came to another
    /// barrier; CUDA allows it in conditional code only where the condition is the same for the whole block.
    #[cold]
    pub(crate) fn divergent_barrier(&self) -> Fault {
        self.who_waits("divergent barrier")
            .text(": all threads of a block must come to the same __syncthreads")
    }

    fn who_waits(&self, what: &str) -> Fault {
        let mut fault = Fault::new(format!("{what} in {}: ", self.shape.name_block(self.block_number)));
        for (number, waiting) in self.block.waiting().iter().enumerate() {
            let (count, verb) =
                (waiting.count, if waiting.count == 1 { "thread waits" } else { "threads wait" });
            let separator = if number == 0 { "" } else { ", " };
            fault = fault
                .text(format!("{separator}{count} {verb} at {}", waiting.wait.name()))
                .at(waiting.wait.from)
                .text(format!(" (first: {})", self.shape.name_thread(waiting.first)));
        }
        let Some(first) = self.block.first_ended() else { return fault };
        let ended = match self.block.ended() {
            1 => "1 has".into(),
            ended => format!("{ended} have"),
        };
        fault.text(format!(", {ended} ended (first: {})", self.shape.name_thread(first)))
    }
}

/// "4 bytes at byte 40 of Y"
pub(crate) fn element(access: &Access, start: usize, name: &str) -> String {
    format!("{} bytes at byte {} of {name}", access.bytes, access.address - start)
}
