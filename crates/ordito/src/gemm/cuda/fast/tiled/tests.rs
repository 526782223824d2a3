use crate::device::DeviceDense;
use crate::gemm::cuda::fast::dense_cuda_registers::REGISTERS;
use crate::gemm::cuda::fast::dense_cuda_tensor_f64::TENSOR_F64;
use crate::gemm::cuda::fast::dense_cuda_tensor_tf32x3::TENSOR_TF32X3;
use crate::gemm::cuda::fast::tiled::*;
use crate::gemm::product::Inputs;
use crate::gemm::reference::oracle;
use crate::gemm::testing::emulator;
use crate::machine::Interrupt;
use crate::matrix::Dense;
use crate::matrix::random_dense;
use crate::op::{Extent, Op};

fn all() -> impl Iterator<Item = &'static Tiled> {
    REGISTERS.iter().chain(&TENSOR_F64).chain(&TENSOR_TF32X3)
}

fn inputs<S: Scalar>(shape: Shape, alpha: f64, beta: f64) -> Inputs<S> {
    let Shape { m, k, n } = shape;
    let dense = |rows, cols, seed| Arc::new(random_dense::<S>(rows, cols, seed).unwrap());
    let (alpha, beta) = (S::from_f64(alpha), S::from_f64(beta));
    Inputs { a: dense(m, k, 1), b: dense(k, n, 2), alpha, beta, c: Some(dense(m, n, 3)) }
}

fn upload<S: Scalar>(device: &Device, dense: &Dense<S>) -> DeviceDense<S> {
    let mut on_device = DeviceDense::new(device, "operand", dense.rows(), dense.cols()).unwrap();
    let distance = on_device.leading_dimension;
    let mut rows = vec![S::POISON; dense.rows() * distance];
    for row in 0..dense.rows() {
        rows[row * distance..][..dense.cols()].copy_from_slice(dense.view().row(row));
    }
    on_device.buffer.write(&rows).unwrap();
    on_device
}

/// C of a kernel on the emulator; what fills up the rows of C on the device must stay NaN.
fn product<S: Scalar>(
    launch: &mut Launch<S>,
    device: &Device,
    inputs: &Inputs<S>,
) -> Result<Dense<S>, RunError> {
    let before = inputs.c.as_ref().unwrap();
    let (a, b, mut c) = (upload(device, &inputs.a), upload(device, &inputs.b), upload(device, before));
    if inputs.beta == S::ZERO {
        c.buffer.fill_bytes(0xFF).unwrap();
    }
    let terms = if inputs.alpha == S::ZERO { 0 } else { inputs.a.cols() };
    launch.multiply(terms, inputs.alpha, a.view(), b.view(), inputs.beta, c.view_mut())?;
    let mut found = vec![S::ZERO; c.buffer.len()];
    c.buffer.read(&mut found).unwrap();
    let rows = || found.chunks_exact(c.leading_dimension);
    assert!(rows().all(|row| row[c.cols..].iter().all(|gap| !gap.is_finite())), "wrote a gap of C");
    let found = rows().flat_map(|row| &row[..c.cols]).copied().collect();
    Ok(Dense::from_rows(c.rows, c.cols, found).unwrap())
}

/// "passed", or which element is beyond γₙ·Σ|a||b|; NaN is.
fn verdict<S: Scalar>(tiled: &Tiled, shape: Shape, inputs: &Inputs<S>, found: &Dense<S>) -> String {
    let reference = oracle(shape, inputs, Extent::Whole, &Interrupt::default()).unwrap();
    for (place, (found, expected)) in found.data().iter().zip(&reference.expected).enumerate() {
        let terms = reference.terms[place / reference.cols] as f64 * S::UNIT_ROUNDOFF;
        let bound =
            terms / (1.0 - terms) * (tiled.description.error_factor + 1.0) * reference.magnitude[place];
        let error = (found.to_f64() - expected).abs();
        if error.is_nan() || error > bound {
            return format!("incorrect: element {place} is {found}, {expected} expected");
        }
    }
    assert_eq!(found.data().len(), reference.expected.len());
    "passed".into()
}

fn in_slices<S: Scalar>(count: u64) {
    let Some(device) = emulator() else { return };
    // More than three slabs of the deepest, and edges in every direction.
    let shape = Shape { m: 34, k: 201, n: 67 };
    let scalings = [(1.0, 1.0), (-1.5, 0.0), (1.0, 2.5), (0.5, 1.0), (0.0, 2.5), (0.0, 0.0)];
    for (number, tiled) in all().enumerate() {
        let Ok(tiling) = tiled.tiling::<S>() else { continue };
        for turn in [0, 3] {
            let (alpha, beta) = scalings[(number + turn) % scalings.len()];
            // All tiles, and, where there are several, the last one only.
            let whole = if turn == 0 { 0 } else { tiling.tiles(shape) - 1 };
            let slices = tiling.cut(shape, whole, count);
            assert!(slices.count > 1);
            let inputs = inputs::<S>(shape, alpha, beta);
            let mut launch = tiled.launch(&device, shape, tiling, slices).unwrap();
            let mut run = || product(&mut launch, &device, &inputs).unwrap();
            let found = run();
            let what = format!("{} {}, {slices:?}, α = {alpha}, β = {beta}", tiled.description.name, S::NAME);
            assert_eq!(verdict(tiled, shape, &inputs, &found), "passed", "{what}");
            assert_eq!(run(), found, "{what}: other bits in the second run");
        }
    }
}

#[test]
fn three_slices_give_the_whole_sum() {
    in_slices::<f32>(3);
    in_slices::<f64>(3);
}

#[test]
fn thirteen_slices_are_added_by_eight_threads_each() {
    let Some(device) = emulator() else { return };
    let (tiled, shape) = (&REGISTERS[1], Shape { m: 9, k: 104, n: 7 });
    let tiling = tiled.tiling::<f64>().unwrap();
    let inputs = inputs::<f64>(shape, 2.0, -1.0);
    let mut launch = tiled.launch(&device, shape, tiling, tiling.cut(shape, 0, 13)).unwrap();
    let kernels: Vec<String> = launch.launches().into_iter().map(|launch| launch.kernel).collect();
    assert_eq!(kernels, ["registers", "add_many_slices"]);
    let found = product(&mut launch, &device, &inputs).unwrap();
    assert_eq!(verdict(tiled, shape, &inputs, &found), "passed");
}

/// The verdict, or the emulator's complaint, where `line` of the kernel or of `gemm.cuh` reads `wrong`.
fn plant<S: Scalar>(tiled: &Tiled, shape: Shape, line: &str, wrong: &str) -> String {
    plant_in_slices::<S>(tiled, shape, (0, 1), line, wrong)
}

/// The same with all but the first tiles cut.
fn plant_in_slices<S: Scalar>(
    tiled: &Tiled,
    shape: Shape,
    (whole_tiles, count): (u64, u64),
    line: &str,
    wrong: &str,
) -> String {
    let device = emulator().unwrap();
    let (tiling, inputs) = (tiled.tiling::<S>().unwrap(), inputs::<S>(shape, 1.0, 1.0));
    let mut source = tiled.kernel::<S>(tiling, tiling.may_ask_for_old(size_of::<S>()));
    let texts = [&mut source.text, &mut source.headers[0].1];
    let text = texts.into_iter().find(|text| text.contains(line));
    let text = text.unwrap_or_else(|| panic!("`{line}` is no longer in the kernel"));
    *text = text.replace(line, wrong).leak();
    let right = tiled.launch(&device, shape, tiling, tiling.cut(shape, whole_tiles, count)).unwrap();
    let mut launch = Launch { kernel: device.kernel(&source).unwrap(), ..right };
    // Twice: counters of slices must stand at zero again.
    for _ in 0..2 {
        match product(&mut launch, &device, &inputs).map(|found| verdict(tiled, shape, &inputs, &found)) {
            Ok(found) if found == "passed" => {}
            Ok(found) => return found,
            Err(error) => return error.to_string(),
        }
    }
    "passed".into()
}

/// The bound of three products is 16 times that of one, and still catches a part that is left out.
#[test]
fn a_lost_part_of_a_split_number_is_caught() {
    if emulator().is_none() {
        return;
    }
    let plant = |line, wrong| plant::<f32>(&TENSOR_TF32X3[2], Shape { m: 20, k: 5, n: 24 }, line, wrong);
    assert_eq!(plant("#include", "#include"), "passed");
    for (line, wrong) in [
        ("multiply_row(i, a_low, b_high);", ""),
        ("multiply_row(i, a_high, b_low);", ""),
        ("multiply_row(i, a_low, b_high);", "multiply_row(i, a_low, b_low);"),
        ("low = to_tf32(x - __uint_as_float(high));", "low = 0;"),
        ("high = to_tf32(x);", "high = __float_as_uint(x) & 0xfffe0000;"), // 7 bits
    ] {
        let found = plant(line, wrong);
        assert!(found.starts_with("incorrect"), "{line} -> {wrong}: {found}");
    }
}

#[test]
fn nothing_of_the_pipeline_can_be_left_out() {
    if emulator().is_none() {
        return;
    }
    // A tile larger than C, whose copies are cut off.
    let cut = |line, wrong| plant::<f64>(&TENSOR_F64[4], Shape { m: 33, k: 129, n: 35 }, line, wrong);
    assert_eq!(cut("#include", "#include"), "passed");
    for (line, wrong, said) in [
        ("    __syncthreads();\n", "", "shared memory"),
        ("copy_async_wait<STAGES - 2>();", "copy_async_wait<STAGES - 1>();", "under way"),
        ("start_slab(copies, slab + STAGES - 1, slabs)", "start_slab(copies, slab + STAGES, slabs)", ""),
        ("valid * u32(sizeof(SCALAR))", "16", ""),
        ("row + skipped < rows ? valid_cols : 0", "valid_cols", "out-of-bounds"),
        ("chunk ^ term / 2 % 4 * 2", "chunk ^ term % 4 * 2", ""),
    ] {
        let found = cut(line, wrong);
        assert!(found != "passed" && found.contains(said), "{line} -> {wrong}: {found}");
    }
    // Tiles whose slabs are whole ones.
    let whole = |line, wrong| plant::<f64>(&TENSOR_F64[7], Shape { m: 64, k: 160, n: 64 }, line, wrong);
    assert_eq!(whole("#include", "#include"), "passed");
    for (line, wrong) in [
        ("copies.start_whole((slab + STAGES - 1) % STAGES);", "copies.start_whole(slab % STAGES);"),
        ("whole - STAGES + 1", "whole - STAGES + 2"),
        ("        advance();\n", ""),
        ("copies.start_whole(slab);", "copies.start_whole(0);"),
        ("OfTeam::sum(lists, TEAMS,", "OfTeam::sum(lists, TEAMS - 1,"),
        ("threadIdx.x / TEAM_THREADS * (STEPS * STEP)", "0"),
    ] {
        assert_ne!(whole(line, wrong), "passed", "{line} -> {wrong}");
    }
    // Tiles that several blocks share.
    let shared = |line, wrong| {
        plant_in_slices::<f64>(&TENSOR_F64[7], Shape { m: 64, k: 160, n: 64 }, (2, 3), line, wrong)
    };
    assert_eq!(shared("#include", "#include"), "passed");
    for (line, wrong) in [
        ("atomicInc(arrived, slices - 1) == slices - 1", "atomicInc(arrived, slices - 1) == 0"),
        ("atomicInc(arrived, slices - 1)", "atomicAdd(arrived, 1u)"),
        ("lists + u64(work.slice) * OfBlock::LIST", "lists"),
        ("product.arrived + work.cut", "product.arrived"),
        ("slice * product.slice_terms", "0"),
    ] {
        assert_ne!(shared(line, wrong), "passed", "{line} -> {wrong}");
    }
    // Tiles that are moved back, over each other.
    let moved = |line, wrong| plant::<f64>(&TENSOR_F64[7], Shape { m: 33, k: 17, n: 35 }, line, wrong);
    assert_eq!(moved("#include", "#include"), "passed");
    for (line, wrong) in [
        ("min(tile.row * ROWS, last_row)", "tile.row * ROWS"),
        ("min(tile.col * COLS, last_col)", "tile.col * COLS"),
    ] {
        assert_eq!(moved(line, wrong), "passed", "not moved, and cut off: {line}");
    }
    for (line, wrong) in [
        ("of_row >= own_row && ", ""),
        ("of_col >= own_col && ", ""),
        ("whole_chunks(product.p) - COLS", "product.p - COLS"),
        ("product.n - ROWS", "0"),
    ] {
        let found = moved(line, wrong);
        assert_ne!(found, "passed", "{line} -> {wrong}");
    }
    let short = plant::<f64>(
        &TENSOR_F64[7],
        Shape { m: 3, k: 3, n: 3 },
        "slab + 1 < slabs ? (slab + 1) % STAGES : slab % STAGES",
        "(slab + 1) % STAGES",
    );
    assert!(short.contains("uninitialised shared memory"), "{short}");
}

#[test]
fn what_it_does_not_multiply_is_refused_in_a_sentence() {
    let machine = Machine::all_cores().unwrap();
    let refusal = |shape: Shape| {
        let variant = Gemm::<f32>::variant("dense-cuda-tensor-tf32x3-64x64").unwrap();
        variant.prepare(&machine, &shape).err().unwrap().to_string()
    };
    let long = Shape { m: 1, k: 1 << 31, n: 1 };
    assert_eq!(
        refusal(long),
        "takes matrices of at most 2147483647 rows and columns; here is a side of 2147483648"
    );
    assert_eq!(refusal(Shape::square(2)), Refusal::NoDevice.to_string());
    let variant = Gemm::<f64>::variant("dense-cuda-tensor-tf32x3-64x64").unwrap();
    let refusal = variant.prepare(&machine, &Shape::square(2)).err().unwrap();
    assert_eq!(refusal, Refusal::Unsupported("multiplies f32 only".into()));
    assert!(variant.kernels().is_empty());
}
