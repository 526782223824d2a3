//! Requests as MPI keeps them: handles in a row, whose size depends on the MPI.

use crate::ranks::RanksError;
use crate::ranks::mpi::abi::Handle;
use crate::ranks::mpi::library::Library;
use std::ffi::{c_int, c_void};
use std::time::{Duration, Instant};

/// So many requests, of one communicator. Those that were not made are null, which MPI takes for complete.
pub(crate) struct Requests {
    library: &'static Library,
    comm: Handle,
    /// As many bytes as the handles take, aligned for any of them.
    memory: Vec<u64>,
    made: usize,
}

/// To or from whom, under which number.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub(crate) rank: c_int,
    pub(crate) tag: c_int,
}

impl Requests {
    /// Room for so many.
    pub(crate) fn new(library: &'static Library, comm: Handle, count: usize) -> Self {
        let mut memory = vec![0u64; (count * library.abi.request_bytes).div_ceil(size_of::<u64>())];
        let null = library.abi.request_null;
        let nulls = match library.abi.request_bytes {
            4 => null as u64 | (null as u64) << 32,
            _ => null as u64,
        };
        memory.fill(nulls);
        Requests { library, comm, memory, made: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.made
    }

    fn at(&mut self, index: usize) -> *mut c_void {
        assert!((index + 1) * self.library.abi.request_bytes <= size_of_val(&self.memory[..]), "room for it");
        // SAFETY: within the memory, as was just seen.
        unsafe { self.memory.as_mut_ptr().cast::<u8>().add(index * self.library.abi.request_bytes).cast() }
    }

    /// One more that sends these bytes whenever it is started; at most `c_int::MAX` of them.
    ///
    /// # Safety
    /// The bytes lie there until the request is freed, and do not change while it is under way.
    pub(crate) unsafe fn will_send(
        &mut self,
        from: *const u8,
        bytes: usize,
        to: Way,
    ) -> Result<(), RanksError> {
        let (library, comm, request) = (self.library, self.comm, self.at(self.made));
        let byte = library.abi.byte;
        // SAFETY: the caller's promise; the request has room.
        unsafe {
            library.functions.send_init(from.cast(), bytes as c_int, byte, to.rank, to.tag, comm, request)?;
        }
        self.made += 1;
        Ok(())
    }

    /// One more that receives so many bytes whenever it is started.
    ///
    /// # Safety
    /// There is room for them until the request is freed, and nobody looks there while it is under way.
    pub(crate) unsafe fn will_receive(
        &mut self,
        into: *mut u8,
        bytes: usize,
        from: Way,
    ) -> Result<(), RanksError> {
        let (library, comm, request) = (self.library, self.comm, self.at(self.made));
        let byte = library.abi.byte;
        // SAFETY: the caller's promise; the request has room.
        unsafe {
            library.functions.recv_init(
                into.cast(),
                bytes as c_int,
                byte,
                from.rank,
                from.tag,
                comm,
                request,
            )?;
        }
        self.made += 1;
        Ok(())
    }

    /// Begins a round of all of them, in their order: `MPI_Startall` may take any, and messages between the same two ranks are
    /// matched in the order in which they were begun.
    pub(crate) fn start(&mut self) -> Result<(), RanksError> {
        for index in 0..self.made {
            let request = self.at(index);
            // SAFETY: a request that was made and is not under way.
            unsafe { self.library.functions.start(request)? };
        }
        Ok(())
    }

    /// Are all complete?
    pub(crate) fn poll(&mut self) -> Result<bool, RanksError> {
        let mut flag = 0;
        let (library, count, requests) = (self.library, self.made as c_int, self.memory.as_mut_ptr().cast());
        // SAFETY: as many requests as were made.
        unsafe { library.functions.testall(count, requests, &raw mut flag, library.abi.status_ignore)? };
        Ok(flag != 0)
    }

    /// Is this one?
    pub(crate) fn is_complete(&mut self, index: usize) -> Result<bool, RanksError> {
        let mut flag = 0;
        let (library, request) = (self.library, self.at(index));
        // SAFETY: a request that was made, or null.
        unsafe { library.functions.test(request, &raw mut flag, library.abi.status_ignore)? };
        Ok(flag != 0)
    }

    /// This one is not wanted any more: it will soon be complete, one way or the other. For those that receive.
    pub(crate) fn cancel(&mut self, index: usize) -> Result<(), RanksError> {
        let request = self.at(index);
        // SAFETY: a request that was made and is under way.
        unsafe { self.library.functions.cancel(request) }
    }

    /// Waits for all, but not for long.
    pub(crate) fn settle(&mut self, limit: Duration) -> bool {
        let begin = Instant::now();
        loop {
            match self.poll() {
                Ok(true) => return true,
                Ok(false) if begin.elapsed() < limit => std::thread::yield_now(),
                _ => return false,
            }
        }
    }

    /// Gives all back; none is under way.
    pub(crate) fn free(&mut self) {
        for index in 0..std::mem::take(&mut self.made) {
            let request = self.at(index);
            // SAFETY: a persistent request that was made and is at rest. What MPI says about it changes nothing.
            let _ = unsafe { self.library.functions.request_free(request) };
        }
    }

    /// Sends once; what was there before is complete.
    ///
    /// # Safety
    /// The bytes lie there, and do not change, until the request is complete.
    pub(crate) unsafe fn send(&mut self, from: *const u8, bytes: usize, to: Way) -> Result<(), RanksError> {
        let (library, comm, request) = (self.library, self.comm, self.at(self.made));
        let byte = library.abi.byte;
        // SAFETY: the caller's promise; the request has room.
        unsafe {
            library.functions.isend(from.cast(), bytes as c_int, byte, to.rank, to.tag, comm, request)?
        };
        self.made += 1;
        Ok(())
    }

    /// Receives once.
    ///
    /// # Safety
    /// There is room for so many bytes until the request is complete, and nobody looks there before.
    pub(crate) unsafe fn receive(
        &mut self,
        into: *mut u8,
        bytes: usize,
        from: Way,
    ) -> Result<(), RanksError> {
        let (library, comm, request) = (self.library, self.comm, self.at(self.made));
        let byte = library.abi.byte;
        // SAFETY: the caller's promise; the request has room.
        unsafe {
            library.functions.irecv(into.cast(), bytes as c_int, byte, from.rank, from.tag, comm, request)?
        };
        self.made += 1;
        Ok(())
    }
}
