// What the fast kernels of gemm share. Their words:
//
//     tile     ROWS × COLS elements of C, the work of a block; WARP_ROWS × WARP_COLS of them are the work of a warp
//     slab     DEPTH terms of its sums: ROWS × DEPTH of A and DEPTH × COLS of B, in shared memory
//     stage    room for one slab; there are STAGES of them, filled in turn by asynchronous copies
//     step     the part of a slab that a warp takes into registers at once
//     slice    the terms that one block adds: all, or a part where there would be too few blocks (tiling.rs)
//     team     warps that cover the tile once; where there are TEAMS of them, each takes other steps of every slab
//     chunk    16 bytes of a row, what one instruction moves; every row of a matrix starts with a whole one
#pragma once
#include "ptx.cuh"
#include "tile_order.cuh"

constexpr u32 CHUNK = 16 / sizeof(SCALAR);
constexpr u32 TEAM_THREADS = (ROWS / WARP_ROWS) * (COLS / WARP_COLS) * WARP, THREADS = TEAM_THREADS * TEAMS;
static_assert(ROWS % WARP_ROWS == 0 && COLS % WARP_COLS == 0, "warps divide the tile");
constexpr u32 MOST_REGISTERS = (64 << 10) / (THREADS * BLOCKS_PER_MULTIPROCESSOR);  // of a thread

struct __align__(16) Chunk {
    SCALAR at[CHUNK];
};

__device__ __forceinline__ Chunk read_chunk(const SCALAR* from) { return *reinterpret_cast<const Chunk*>(from); }
__device__ __forceinline__ void write_chunk(SCALAR* to, const Chunk& chunk) { *reinterpret_cast<Chunk*>(to) = chunk; }

// C = alpha · A · B + beta · C with A n × m and B m × p; `distance` is from one row to the next.
struct Product {
    u32 n, m, p;
    const SCALAR* a;
    u64 a_distance;
    const SCALAR* b;
    u64 b_distance;
    SCALAR* c;
    u64 c_distance;
    SCALAR alpha, beta;
    u32 whole_tiles;  // the first tiles, of one slice; the others are cut into `slices`
    u32 slices;
    u32 slice_terms;  // terms of a slice, whole slabs; the last one may have fewer
    // Sums of the slices: where nobody counts who has arrived, a matrix for each, which lies as C does, for add_slices.cu. Otherwise
    // those of every thread, tile after tile, and the last block to arrive adds them up.
    SCALAR* partial;
    u32* arrived;
};

// What a block does: the tile's first row and column, and its slice of the terms. A tile that would reach beyond C is
// moved back until it lies inside, if C is that large: copying then never has to look for the edge (at 1000 × 1000 that took
// 47 µs instead of 44). What it so has in common with the tile before is not its own to store.
struct Work {
    u32 row, col, first_term, terms;
    u32 cut, slice;  // number of the tile among those that are cut, and of the slice
    bool is_cut;

    static __device__ __forceinline__ Work of_block(const Product& product) {
        const bool is_cut = blockIdx.x >= product.whole_tiles;
        u32 number = blockIdx.x, cut = 0, slice = 0;
        if (is_cut) {
            cut = (blockIdx.x - product.whole_tiles) / product.slices, slice = (blockIdx.x - product.whole_tiles) % product.slices;
            number = product.whole_tiles + cut;
        }
        const Tile tile = grouped_tile(number, (product.n + ROWS - 1) / ROWS, (product.p + COLS - 1) / COLS);
        const u32 last_row = product.n > ROWS ? product.n - ROWS : 0;
        const u32 last_col = whole_chunks(product.p) > COLS ? whole_chunks(product.p) - COLS : 0;
        const u32 first_term = slice * product.slice_terms, most = is_cut ? product.slice_terms : product.m;
        const u32 terms = first_term < product.m ? min(product.m - first_term, most) : 0;
        return {min(tile.row * ROWS, last_row), min(tile.col * COLS, last_col), first_term, terms, cut, slice, is_cut};
    }

    // Columns of rows on the device, which are filled up: what is read there only reaches columns beyond C.
    static __device__ __forceinline__ u32 whole_chunks(u32 cols) { return (cols + CHUNK - 1) / CHUNK * CHUNK; }

    __device__ __forceinline__ u32 slabs() const { return (terms + DEPTH - 1) / DEPTH; }
    __device__ __forceinline__ u32 whole_slabs() const { return terms / DEPTH; }
    // Does all of the tile lie in C and in what fills up its rows? Then nothing of its rows and columns has to be cut off.
    __device__ __forceinline__ bool is_inside(const Product& product) const {
        return row + ROWS <= product.n && col + COLS <= whole_chunks(product.p);
    }
    // Does all of the tile lie in C, and is all of it this block's to store?
    __device__ __forceinline__ bool is_plain(const Product& product) const {
        return row % ROWS == 0 && col % COLS == 0 && row + ROWS <= product.n && col + COLS <= product.p;
    }
    // Is this row and column of C, which lies in the tile, this block's to store? Its own begin at a multiple of ROWS or
    // COLS, where the tile began before it was moved.
    __device__ __forceinline__ bool owns(const Product& product, u32 of_row, u32 of_col) const {
        const u32 own_row = (row + ROWS - 1) / ROWS * ROWS, own_col = (col + COLS - 1) / COLS * COLS;
        return of_row >= own_row && of_row < product.n && of_col >= own_col && of_col < product.p;
    }
};

// ---- global to shared memory -------------------------------------------------------------------------------------------

// Copies Rows × Cols numbers of a matrix into a slab, by all threads of the block: each takes the same chunk of every
// ROWS_AT_ONCE-th row. Place::of(row, chunk) says where in the slab a chunk goes.
template <u32 Rows, u32 Cols, typename Place>
struct ChunkCopy {
    static constexpr u32 SLAB = Rows * Cols;  // numbers of it
    static constexpr u32 CHUNKS = Cols / CHUNK, ROWS_AT_ONCE = THREADS / CHUNKS, TIMES = Rows / ROWS_AT_ONCE;
    static_assert(THREADS % CHUNKS == 0 && Rows % ROWS_AT_ONCE == 0, "every thread copies the same number of chunks");

    const SCALAR* matrix;
    u64 distance;
    u32 row, chunk;
    const SCALAR* from;

    // Of what begins at this row and column of the matrix.
    __device__ __forceinline__ ChunkCopy(const SCALAR* matrix, u64 distance, u32 first_row, u32 first_col)
        : matrix(matrix), distance(distance), row(threadIdx.x / CHUNKS), chunk(threadIdx.x % CHUNKS) {
        from = matrix + (first_row + row) * distance + first_col + chunk * CHUNK;
    }

    // Where all of it lies in the matrix.
    __device__ __forceinline__ void whole(SCALAR* slab) const {
        const SCALAR* next = from;
#pragma unroll
        for (u32 time = 0; time < TIMES; ++time) {
            copy_async<16>(slab + Place::of(row + time * ROWS_AT_ONCE, chunk), next);
            next += ROWS_AT_ONCE * distance;
        }
    }

    // Where only so many rows and columns are left; zeros stand for the others, which are not read.
    __device__ __forceinline__ void part(SCALAR* slab, u32 rows, u32 cols) const {
        const u32 col = chunk * CHUNK, valid_cols = col < cols ? min(cols - col, CHUNK) : 0;
#pragma unroll 1
        for (u32 time = 0; time < TIMES; ++time) {
            const u32 skipped = time * ROWS_AT_ONCE, valid = row + skipped < rows ? valid_cols : 0;
            const SCALAR* const place = valid ? from + skipped * distance : matrix;
            copy_async<16>(slab + Place::of(row + skipped, chunk), place, valid * u32(sizeof(SCALAR)));
        }
    }
};

// The copies of slabs, one after the other: A's part by CopyOfA, B's by CopyOfB, first all stages of A in shared memory,
// then those of B.
template <typename CopyOfA, typename CopyOfB>
struct SlabCopies {
    const Product& product;
    const Work& work;
    SCALAR *stages_of_a, *stages_of_b;
    CopyOfA a;
    CopyOfB b;
    bool inside;

    __device__ __forceinline__ SlabCopies(const Product& product, const Work& work, SCALAR* shared)
        : product(product), work(work), stages_of_a(shared), stages_of_b(shared + STAGES * CopyOfA::SLAB),
          a(product.a, product.a_distance, work.row, work.first_term),
          b(product.b, product.b_distance, work.first_term, work.col), inside(work.is_inside(product)) {}

    // How many of the tile's slabs lie in A and B from edge to edge.
    __device__ __forceinline__ u32 whole_slabs() const { return inside ? work.whole_slabs() : 0; }

    // The next slab, of this number, at the edge too.
    __device__ __forceinline__ void start(u32 slab) {
        const u32 terms_left = work.terms - slab * DEPTH;
        a.part(stage_of_a(slab % STAGES), product.n - work.row, terms_left);
        b.part(stage_of_b(slab % STAGES), terms_left, product.p - work.col);
        advance();
    }

    // The next slab, a whole one, into this stage.
    __device__ __forceinline__ void start_whole(u32 stage) {
        a.whole(stage_of_a(stage));
        b.whole(stage_of_b(stage));
        advance();
    }

    __device__ __forceinline__ void advance() {
        a.from += DEPTH;
        b.from += DEPTH * product.b_distance;
    }

    __device__ __forceinline__ SCALAR* stage_of_a(u32 stage) const { return stages_of_a + stage * CopyOfA::SLAB; }
    __device__ __forceinline__ SCALAR* stage_of_b(u32 stage) const { return stages_of_b + stage * CopyOfB::SLAB; }
};

// ---- the pipeline ------------------------------------------------------------------------------------------------------
//
// `copies.start(slab)` starts the copies of the next slab into its stage, slab % STAGES. `sums.read(buffer, stage, step)`
// takes a step from shared memory into registers, `sums.multiply(buffer)` adds its products, `sums.end_slab()` comes after
// the last step of a slab. STAGES − 1 slabs are under way while one is multiplied. In the end a thread has CHUNKS chunks of
// sums: `sums.take(first, chunks)`, at `sums.row_of(i)` and `sums.col_of(i)` of the tile.

// One group of copies per slab, empty behind the last one, so that they can be counted.
template <typename Copies>
__device__ __forceinline__ void start_slab(Copies& copies, u32 slab, u32 slabs) {
    if (slab < slabs) copies.start(slab);
    copy_async_commit();
}

// Where they are whole, without a look at the edge: nothing is multiplied until the first is there.
template <typename Copies>
__device__ __forceinline__ void start_first_slabs(Copies& copies, u32 slabs) {
    if (copies.whole_slabs() >= STAGES - 1) {
#pragma unroll
        for (u32 slab = 0; slab < STAGES - 1; ++slab) {
            copies.start_whole(slab);
            copy_async_commit();
        }
    } else {
#pragma unroll 1
        for (u32 slab = 0; slab < STAGES - 1; ++slab) start_slab(copies, slab, slabs);
    }
}

// Waits for the oldest slab that is under way, and until no warp reads the stage that is filled next.
__device__ __forceinline__ void await_slab() {
    copy_async_wait<STAGES - 2>();
    __syncthreads();
}

// Registers hold two steps: one is read, also across the end of a slab, while the other is multiplied.
template <u32 Steps, typename Sums>
__device__ __forceinline__ void multiply_slab(Sums& sums, u32 stage, u32 next_stage) {
    static_assert(Steps % 2 == 0, "every slab begins with the same buffer");
#pragma unroll
    for (u32 step = 0; step < Steps; ++step) {
        if (step + 1 < Steps) {
            sums.read((step + 1) % 2, stage, step + 1);
        } else {
            await_slab();
            sums.read(0, next_stage, 0);
        }
        sums.multiply(step % 2);
    }
    sums.end_slab();
}

// What `start_first_slabs` has begun. There are two loops since little is multiplied while warps work out what to copy: as long as whole slabs follow, no edge
// has to be looked for (4096 in f64 on an H200, β = 0: 2.24 ms instead of 2.40). What is not in the first loop is not unrolled, which
// leaves it enough registers.
template <u32 Steps, typename Copies, typename Sums>
__device__ __forceinline__ void multiply_slabs(Copies& copies, Sums& sums, u32 slabs) {
    if (slabs == 0) return;
    await_slab();
    sums.read(0, 0, 0);
    const u32 whole = copies.whole_slabs(), quick = whole < STAGES ? 0 : whole - STAGES + 1;
    u32 slab = 0;
#pragma unroll 1
    for (; slab < quick; ++slab) {
        copies.start_whole((slab + STAGES - 1) % STAGES);
        copy_async_commit();
        multiply_slab<Steps>(sums, slab % STAGES, (slab + 1) % STAGES);
    }
#pragma unroll 1
    for (; slab < slabs; ++slab) {
        start_slab(copies, slab + STAGES - 1, slabs);
        // Behind the last slab there is nothing to read: the last one is read again, and not used.
        multiply_slab<Steps>(sums, slab % STAGES, slab + 1 < slabs ? (slab + 1) % STAGES : slab % STAGES);
    }
}

// ---- registers to global memory ----------------------------------------------------------------------------------------

// What stood before the product in a chunk of C, at a row and column of the tile, a multiple of CHUNK; 0 where `store` does not
// ask for it.
__device__ __forceinline__ Chunk read_old(const Product& product, const Work& work, u32 row_of_tile, u32 col_of_tile) {
    const u32 row = work.row + row_of_tile, col = work.col + col_of_tile;
    const bool asked = product.beta != SCALAR(0) && work.owns(product, row, col) && col + CHUNK <= product.p;
    if (!asked) return Chunk{};
    return read_chunk(product.c + row * product.c_distance + col);
}

// The chunks of `sums` from `first` on, which stand in registers.
template <typename Sums, u32 Count>
__device__ __forceinline__ void take_chunks(const Sums& sums, u32 first, Chunk (&chunks)[Count]) {
#pragma unroll
    for (u32 i = 0; i < Count; ++i) chunks[i] = sums.chunk(first + i);
}

// A chunk of finished sums into C.
__device__ __forceinline__ void store(const Product& product, const Work& work, u32 row_of_tile, u32 col_of_tile,
                                      const Chunk& sums, Chunk old) {
    const u32 row = work.row + row_of_tile, col = work.col + col_of_tile;
    if (!work.owns(product, row, col)) return;
    SCALAR* const c = product.c + row * product.c_distance + col;
    if (col + CHUNK <= product.p) {
#pragma unroll
        for (u32 i = 0; i < CHUNK; ++i) update(old.at[i], product.alpha, sums.at[i], product.beta);
        write_chunk(c, old);
    } else {
#pragma unroll
        for (u32 i = 0; i < CHUNK; ++i)
            if (col + i < product.p) update(c[i], product.alpha, sums.at[i], product.beta);
    }
}

// How many chunks a thread reads of C at once: as many as there are registers for, in equal batches.
__host__ __device__ constexpr u32 batch(u32 chunks) {
#if __CUDA_ARCH__ >= 1000
    u32 most = 8;  // there, 16 would not fit the registers
#else
    u32 most = MOST_REGISTERS > 200 ? 16 : 8;
#endif
    while (chunks % most != 0) --most;
    return most;
}

// All chunks of a thread. C is read for several of them at once, since a thread that waits for each has nothing else to do:
// at 2048 in f64 on an H200 that took 30 µs of 320.
template <typename Sums>
__device__ __forceinline__ void store_all(const Product& product, const Work& work, const Sums& sums) {
    constexpr u32 AT_ONCE = batch(Sums::CHUNKS);
#pragma unroll
    for (u32 first = 0; first < Sums::CHUNKS; first += AT_ONCE) {
        Chunk old[AT_ONCE], chunks[AT_ONCE];
#pragma unroll
        for (u32 i = 0; i < AT_ONCE; ++i) old[i] = read_old(product, work, sums.row_of(first + i), sums.col_of(first + i));
        sums.take(first, chunks);
#pragma unroll
        for (u32 i = 0; i < AT_ONCE; ++i) store(product, work, sums.row_of(first + i), sums.col_of(first + i), chunks[i], old[i]);
    }
}

// The same where nothing has to be looked for at the edge.
template <typename Sums>
__device__ __forceinline__ void store_plain(const Product& product, const Work& work, const Sums& sums) {
    constexpr u32 AT_ONCE = batch(Sums::CHUNKS);
    SCALAR* const c = product.c + u64(work.row + sums.row_of(0)) * product.c_distance + work.col + sums.col_of(0);
    const auto place = [&](u32 i) { return c + (sums.row_of(i) - sums.row_of(0)) * product.c_distance + (sums.col_of(i) - sums.col_of(0)); };
#pragma unroll
    for (u32 first = 0; first < Sums::CHUNKS; first += AT_ONCE) {
        Chunk old[AT_ONCE] = {}, chunks[AT_ONCE];
        if (product.beta != SCALAR(0))
#pragma unroll
            for (u32 i = 0; i < AT_ONCE; ++i) old[i] = read_chunk(place(first + i));
        sums.take(first, chunks);
#pragma unroll
        for (u32 i = 0; i < AT_ONCE; ++i) {
#pragma unroll
            for (u32 e = 0; e < CHUNK; ++e) update(old[i].at[e], product.alpha, chunks[i].at[e], product.beta);
            write_chunk(place(first + i), old[i]);
        }
    }
}

// Sums of a slice as they are into its matrix, which lies as C does. What fills up the last chunk of a row may be written here, but not in C.
template <typename Sums>
__device__ __forceinline__ void store_slice(const Product& product, const Work& work, const Sums& sums) {
    SCALAR* const slice = product.partial + work.slice * (product.n * product.c_distance);
    Chunk chunks[Sums::CHUNKS];
    sums.take(0, chunks);
#pragma unroll
    for (u32 i = 0; i < Sums::CHUNKS; ++i) {
        const u32 row = work.row + sums.row_of(i), col = work.col + sums.col_of(i);
        if (work.owns(product, row, col)) write_chunk(slice + row * product.c_distance + col, chunks[i]);
    }
}

// ---- sums of one tile that several have: teams through shared memory, blocks through global memory ------------------------

// All chunks of all threads of a team, one list behind the other: chunk i of a thread stands beside those of its neighbours.
template <typename Sums, u32 Threads>
struct Lists {
    static constexpr u32 LIST = Sums::CHUNKS * Threads * CHUNK;  // numbers of it

    static __device__ __forceinline__ void write(SCALAR* list, const Sums& sums) {
        Chunk chunks[Sums::CHUNKS];
        sums.take(0, chunks);
#pragma unroll
        for (u32 i = 0; i < Sums::CHUNKS; ++i) write_chunk(list + (i * Threads + threadIdx.x % Threads) * CHUNK, chunks[i]);
    }

    // Chunks from `first` on, each the sum of `count` lists in rising order. Reads of one list do not wait for each other.
    template <u32 Count>
    static __device__ __forceinline__ void sum(const SCALAR* lists, u32 count, u32 first, Chunk (&sums)[Count]) {
        const SCALAR* from = lists + (first * Threads + threadIdx.x % Threads) * CHUNK;
#pragma unroll
        for (u32 i = 0; i < Count; ++i) sums[i] = read_chunk(from + i * Threads * CHUNK);
#pragma unroll 1
        for (u32 list = 1; list < count; ++list) {
            Chunk next[Count];
            from += LIST;
#pragma unroll
            for (u32 i = 0; i < Count; ++i) next[i] = read_chunk(from + i * Threads * CHUNK);
#pragma unroll
            for (u32 i = 0; i < Count; ++i)
#pragma unroll
                for (u32 e = 0; e < CHUNK; ++e) sums[i].at[e] += next[i].at[e];
        }
    }
};

// Sums of all teams, of which every team finishes as many.
template <typename Sums>
struct SumsOfTeams {
    typedef Lists<Sums, TEAM_THREADS> OfTeam;
    static constexpr u32 CHUNKS = Sums::CHUNKS / TEAMS;
    static_assert(Sums::CHUNKS % TEAMS == 0, "teams finish equally many chunks");
    static_assert(TEAMS == 1 || TEAMS * OfTeam::LIST <= STAGES * DEPTH * (ROWS + COLS), "sums fit where slabs stood");
    const Sums& sums;
    const SCALAR* lists;

    // Of this thread's team.
    static __device__ __forceinline__ u32 first() { return threadIdx.x / TEAM_THREADS * CHUNKS; }

    __device__ __forceinline__ SumsOfTeams(const Sums& sums, SCALAR* shared) : sums(sums), lists(shared) {
        __syncthreads();
        OfTeam::write(shared + threadIdx.x / TEAM_THREADS * OfTeam::LIST, sums);
        __syncthreads();
    }
    __device__ __forceinline__ u32 row_of(u32 i) const { return sums.row_of(first() + i); }
    __device__ __forceinline__ u32 col_of(u32 i) const { return sums.col_of(first() + i); }
    template <u32 Count>
    __device__ __forceinline__ void take(u32 from, Chunk (&chunks)[Count]) const {
        OfTeam::sum(lists, TEAMS, first() + from, chunks);
    }
};

// Sums of all slices, whose lists stand in global memory.
template <typename Sums>
struct SumsOfSlices {
    static constexpr u32 CHUNKS = Sums::CHUNKS;
    const Sums& sums;
    const SCALAR* lists;
    u32 slices;

    __device__ __forceinline__ u32 row_of(u32 i) const { return sums.row_of(i); }
    __device__ __forceinline__ u32 col_of(u32 i) const { return sums.col_of(i); }
    template <u32 Count>
    __device__ __forceinline__ void take(u32 from, Chunk (&chunks)[Count]) const {
        Lists<Sums, THREADS>::sum(lists, slices, from, chunks);
    }
};

// Are all other slices of the tile there? The counter returns to 0 by itself, for the next run.
// The answer stands where slabs stood: a variable of its own in shared memory would move them all, and their rows would no longer begin
// at multiples of 128 bytes (1024 in f64 on an H200: 72 µs instead of 42).
__device__ __forceinline__ bool is_last(u32* arrived, u32 slices, SCALAR* shared) {
    bool& last = *reinterpret_cast<bool*>(shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        // For the whole block, which has met at the barrier: published before it is counted, seen after.
        __threadfence();
        last = atomicInc(arrived, slices - 1) == slices - 1;
        __threadfence();
    }
    __syncthreads();
    return last;
}

// Finished sums go into C, those of a slice where they are added up.
template <typename Sums>
__device__ __forceinline__ void finish(const Product& product, const Work& work, const Sums& sums, SCALAR* shared) {
    if (!work.is_cut) {
        if (work.is_plain(product))
            store_plain(product, work, sums);
        else
            store_all(product, work, sums);
    } else if (product.arrived == nullptr) {
        store_slice(product, work, sums);
    } else {
        typedef Lists<Sums, THREADS> OfBlock;
        SCALAR* const lists = product.partial + u64(work.cut * product.slices) * OfBlock::LIST;
        OfBlock::write(lists + u64(work.slice) * OfBlock::LIST, sums);
        if (is_last(product.arrived + work.cut, product.slices, shared)) store_all(product, work, SumsOfSlices<Sums>{sums, lists, product.slices});
    }
}

// Has what stood in C before brought into L2 while sums grow, where the host says that this pays (tiling.rs). Elsewhere nothing of it may be
// left in the kernel: it moves registers in the loop (f64 on an H200 in tiles of 64×64: 1024 41.3 µs instead of 39.5, 2048 318 instead of 303).
__device__ __forceinline__ void ask_for_old(const Product& product, const Work& work) {
    constexpr u32 LINE = 128 / sizeof(SCALAR), LINES = COLS / LINE;
    static_assert(COLS % LINE == 0, "rows of a tile are whole cache lines");
    const bool asks = product.beta != SCALAR(0) && !work.is_cut;
#pragma unroll 1
    for (u32 line = asks ? threadIdx.x : ROWS * LINES; line < ROWS * LINES; line += THREADS) {
        const u32 row = work.row + line / LINES, col = work.col + line % LINES * LINE;
        if (row < product.n && col < product.p) prefetch_into_l2(product.c + row * product.c_distance + col);
    }
}

// ---- a block's work ----------------------------------------------------------------------------------------------------

// Its tile from beginning to end, by the Copies and Sums of a kernel, in slabs of so many Steps for a team.
template <typename Copies, typename Sums, u32 Steps>
__device__ __forceinline__ void multiply_tile(const Product& product, SCALAR* shared) {
    const Work work = Work::of_block(product);
    Copies copies(product, work, shared);
    Sums sums(copies);
    start_first_slabs(copies, work.slabs());
    if constexpr (ASKS_FOR_OLD) ask_for_old(product, work);
    if constexpr (TEAMS == 1) {
        multiply_slabs<Steps>(copies, sums, work.slabs());
        copy_async_wait<0>();
        finish(product, work, sums, shared);
    } else {
        // Where a thread has few chunks to finish, they are read before anything else is done.
        typedef SumsOfTeams<Sums> All;
        constexpr bool EARLY = All::CHUNKS <= 2;
        Chunk old[All::CHUNKS];
#pragma unroll
        for (u32 i = 0; i < All::CHUNKS; ++i)
            old[i] = work.is_cut || !EARLY ? Chunk{} : read_old(product, work, sums.row_of(All::first() + i), sums.col_of(All::first() + i));
        multiply_slabs<Steps>(copies, sums, work.slabs());
        copy_async_wait<0>();
        const All all(sums, shared);
        if (work.is_cut || !EARLY) {
            finish(product, work, all, shared);
        } else {
            Chunk chunks[All::CHUNKS];
            all.take(0, chunks);
#pragma unroll
            for (u32 i = 0; i < All::CHUNKS; ++i) store(product, work, all.row_of(i), all.col_of(i), chunks[i], old[i]);
        }
    }
}
