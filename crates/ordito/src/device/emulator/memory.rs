//! Buffers: memory of this machine that only kernels and copies touch, each with a gap around it.

use crate::device::backend::{DeviceError, Memory};
use crate::refusal::Refusal;
use std::alloc::{Layout, alloc, dealloc};
use std::collections::{BTreeMap, VecDeque};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where buffers begin, as on a GPU.
const ALIGNMENT: usize = 256;
/// Before and behind each buffer, so that an index that is a little wrong is in no other buffer.
pub(crate) const GAP: usize = 4096;
/// Freed buffers whose addresses are not given out again yet, so that an access through an old pointer shows.
const KEPT_AFTER_FREEING: usize = 16 << 20;

/// Some bytes at a fixed address, all 0xFF at first.
#[derive(Debug)]
pub(crate) struct Region {
    whole: NonNull<u8>,
    layout: Layout,
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the memory belongs to the region alone, like a `Vec`'s.
unsafe impl Send for Region {}

impl Region {
    /// `len` bytes with a gap around them; without one where a sanitizer puts its own there. `None`: no memory.
    pub(crate) fn new(len: usize, gaps: bool) -> Option<Self> {
        let gap = if gaps { GAP } else { 0 };
        let bytes = len.max(1).checked_add(2 * gap)?;
        let layout = Layout::from_size_align(bytes, ALIGNMENT).ok()?;
        // SAFETY: the layout has at least one byte.
        let whole = NonNull::new(unsafe { alloc(layout) })?;
        // SAFETY: `gap + len` is within the layout.
        let start = unsafe {
            whole.write_bytes(0xFF, bytes);
            whole.add(gap)
        };
        Some(Region { whole, layout, start, len })
    }

    pub(crate) fn address(&self) -> usize {
        self.start.as_ptr() as usize
    }
    pub(crate) fn len(&self) -> usize {
        self.len
    }
    pub(crate) fn as_mut_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: initialised in `new`; kernels, which write behind the compiler's back, run on this thread, and
        // no slice is held meanwhile.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.whole.as_ptr(), self.layout) }
    }
}

/// One buffer. A launch holds the lock of each buffer that its arguments point to.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub(crate) name: Arc<str>,
    pub(crate) address: usize,
    pub(crate) len: usize,
    region: Mutex<Region>,
}

impl Allocation {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Region> {
        self.region.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn contains(&self, address: usize) -> bool {
        // An empty buffer has an address, too.
        address.wrapping_sub(self.address) < self.len.max(1)
    }
}

/// All buffers of an emulator.
#[derive(Debug)]
pub(crate) struct Registry {
    budget: u64,
    gaps: bool,
    lists: Mutex<Lists>,
}

#[derive(Debug, Default)]
struct Lists {
    live: BTreeMap<usize, Arc<Allocation>>,
    live_bytes: u64,
    freed: VecDeque<Arc<Allocation>>,
    freed_bytes: usize,
}

impl Registry {
    pub(crate) fn new(budget: u64, gaps: bool) -> Arc<Self> {
        Arc::new(Registry { budget, gaps, lists: Mutex::default() })
    }

    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn allocate(self: &Arc<Self>, what: &str, bytes: usize) -> Result<EmulatedMemory, Refusal> {
        let free = self.budget.saturating_sub(self.lists().live_bytes);
        let refusal = || Refusal::DeviceMemory { what: what.into(), needed: Some(bytes as u64), free };
        if bytes as u64 > free {
            return Err(refusal());
        }
        let region = Region::new(bytes, self.gaps).ok_or_else(refusal)?;
        let (address, len) = (region.address(), region.len());
        let allocation = Arc::new(Allocation { name: what.into(), address, len, region: Mutex::new(region) });
        let mut lists = self.lists();
        lists.live_bytes += bytes as u64;
        lists.live.insert(address, allocation.clone());
        Ok(EmulatedMemory { allocation, registry: self.clone() })
    }

    /// The live buffer around an address.
    pub(crate) fn find(&self, address: usize) -> Option<Arc<Allocation>> {
        let lists = self.lists();
        let (_, last) = lists.live.range(..=address).next_back()?;
        last.contains(address).then(|| last.clone())
    }

    /// The name of a buffer that was there and has been freed.
    pub(crate) fn find_freed(&self, address: usize) -> Option<Arc<str>> {
        let lists = self.lists();
        lists.freed.iter().rev().find(|freed| freed.contains(address)).map(|freed| freed.name.clone())
    }

    fn free(&self, allocation: &Arc<Allocation>) {
        let mut lists = self.lists();
        lists.live.remove(&allocation.address);
        lists.live_bytes -= allocation.len as u64;
        lists.freed_bytes += allocation.len;
        lists.freed.push_back(allocation.clone());
        // 64: of many small buffers nobody needs to know all the names.
        while lists.freed_bytes > KEPT_AFTER_FREEING || lists.freed.len() > 64 {
            let Some(oldest) = lists.freed.pop_front() else { break };
            lists.freed_bytes -= oldest.len;
        }
    }
}

/// A buffer of the emulator.
#[derive(Debug)]
pub(crate) struct EmulatedMemory {
    allocation: Arc<Allocation>,
    registry: Arc<Registry>,
}

impl Drop for EmulatedMemory {
    fn drop(&mut self) {
        self.registry.free(&self.allocation);
    }
}

impl Memory for EmulatedMemory {
    fn address(&self) -> u64 {
        self.allocation.address as u64
    }
    fn write(&self, first_byte: usize, from: &[u8]) -> Result<(), DeviceError> {
        self.allocation.lock().bytes_mut()[first_byte..][..from.len()].copy_from_slice(from);
        Ok(())
    }
    fn read(&self, first_byte: usize, into: &mut [u8]) -> Result<(), DeviceError> {
        into.copy_from_slice(&self.allocation.lock().bytes()[first_byte..][..into.len()]);
        Ok(())
    }
    fn fill(&self, first_byte: usize, bytes: usize, value: u8) -> Result<(), DeviceError> {
        self.allocation.lock().bytes_mut()[first_byte..][..bytes].fill(value);
        Ok(())
    }
    fn copy_from(&self, other: &dyn Memory, bytes: usize) -> Result<(), DeviceError> {
        let mut copy = vec![0; bytes];
        other.read(0, &mut copy)?;
        self.write(0, &copy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_poisoned_aligned_and_apart() {
        let registry = Registry::new(1 << 20, true);
        let mut buffers: Vec<_> = [100, 0, 0, 256].map(|bytes| registry.allocate("b", bytes).unwrap()).into();
        let mut read = [0; 100];
        buffers[0].read(0, &mut read).unwrap();
        assert_eq!(read, [0xFF; 100]);
        let mut addresses: Vec<u64> = buffers.iter().map(|buffer| buffer.address()).collect();
        addresses.sort_unstable();
        assert!(addresses.iter().all(|address| address % 256 == 0 && *address != 0));
        assert!(addresses.windows(2).all(|pair| pair[1] - pair[0] >= 4096));
        let address = buffers[3].address() as usize;
        assert!(registry.find(address + 255).is_some() && registry.find(address + 256).is_none());
        assert!(registry.find(address - 1).is_none());
        buffers.pop();
        assert!(registry.find(address).is_none());
        assert_eq!(registry.find_freed(address + 10).as_deref(), Some("b"));
    }

    #[test]
    fn the_budget_holds_and_comes_back() {
        let registry = Registry::new(1000, true);
        let first = registry.allocate("X", 600).unwrap();
        let refusal = registry.allocate("Y", 401).unwrap_err();
        assert_eq!(refusal, Refusal::DeviceMemory { what: "Y".into(), needed: Some(401), free: 400 });
        drop(first);
        assert!(registry.allocate("Y", 1000).is_ok());
    }

    #[test]
    fn copies_between_buffers() {
        let registry = Registry::new(1000, false);
        let (from, to) = (registry.allocate("a", 8).unwrap(), registry.allocate("b", 8).unwrap());
        from.write(2, &[1, 2]).unwrap();
        to.fill(0, 8, 9).unwrap();
        to.copy_from(&from, 4).unwrap();
        let mut found = [0; 8];
        to.read(0, &mut found).unwrap();
        assert_eq!(found, [255, 255, 1, 2, 9, 9, 9, 9]);
    }
}
