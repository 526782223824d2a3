//! What the test program does when it is started again among fake libraries.

use ordito::Scalar;
use ordito::device::DeviceDense;
use ordito::device::gpu::cublas::{Cublas, GemmShape, Operand, OperandMut};
use ordito::device::gpu::cusparse::{
    Algorithm, CsrOperand, Cusparse, CusparseSpmm, CusparseSpmv, DenseOperand, Layout, VectorAlgorithm,
};
use ordito::device::gpu::{Event, Library};
use ordito::device::{Argument, Buffer, Device, DeviceError, Gpu, KernelSource, LaunchPlan};
use ordito::machine::{Accelerator, Machine};
use ordito::matrix::{Coo, Csr, Dense, DenseView, Duplicates};
use ordito::op::Op;
use ordito::refusal::Refusal;
use ordito::spmm::Step;
use ordito::spmm::{Inputs, Plan, Spmm, Subject};
use ordito_bench::sample::DeviceFlush;
use std::sync::Arc;
use std::time::Instant;

/// Names what to do; without it nothing is done.
pub(crate) const ACTION: &str = "ORDITO_FAKE_ACTION";
/// Stands before what is told: the test harness prints on the same lines.
pub(crate) const MARK: &str = "told: ";

#[test]
fn act() {
    let Ok(action) = std::env::var(ACTION) else { return };
    let number = || action.split(' ').nth(1).unwrap().parse::<usize>().unwrap();
    let told = match action.split(' ').next().unwrap() {
        "open" => Gpu::open(number()).map(|gpu| format!("opened {}", gpu.info().name)),
        "allocate" => device().and_then(|device| {
            let buffer = device.allocate::<f64>("Y", number())?;
            Ok(format!("allocated {}", buffer.len()))
        }),
        "memory" => memory(),
        "graph" => graph(),
        "compile" => compile(),
        "library" => library(),
        "launch" => launch(),
        "flush" => flush(),
        "cusparse" => cusparse(),
        "cusparse-variants" => cusparse_variants(),
        "find-cublas" => Library::Cublas.find().map(|found| format!("found {found}")),
        "cublas" => cublas(),
        "foreign" => foreign(),
        other => panic!("{other}"),
    };
    let told = told.unwrap_or_else(|refusal| format!("refused: {refusal}"));
    for line in told.lines() {
        println!("\n{MARK}{line}");
    }
}

fn device() -> Result<Device, Refusal> {
    Gpu::open(0).map(Device::Cuda)
}

fn memory() -> Result<String, Refusal> {
    let device = device()?;
    let gpu: Arc<Gpu> = device.gpu().unwrap().clone();
    let free = gpu.free_memory().unwrap();
    let numbers: Vec<f64> = (0..1000).map(f64::from).collect();
    let mut found = vec![0.0; 1000];
    {
        let mut first = device.allocate::<f64>("first", 1000)?;
        first.read(&mut found).unwrap();
        assert!(found.iter().all(|x| x.to_bits() == u64::MAX), "not poisoned");
        let mut second = device.upload("second", &numbers)?;
        first.copy_from(&second).unwrap();
        second.fill_bytes(0).unwrap();
        first.read(&mut found).unwrap();
        assert_eq!(found, numbers);
        second.read(&mut found).unwrap();
        assert_eq!(found, [0.0; 1000]);
        assert_eq!(gpu.free_memory().unwrap(), free - 16_000);

        let mut host = gpu.pinned::<f64>(1000)?;
        assert_eq!(host.as_slice(), [0.0; 1000]);
        host.as_mut_slice().copy_from_slice(&numbers);
        second.write(host.as_slice()).unwrap();
        host.as_mut_slice().fill(7.0);
        second.read(host.as_mut_slice()).unwrap();
        assert_eq!(host.as_slice(), numbers);
        let mut short = device.allocate::<f64>("short", 999)?;
        assert!(short.write(host.as_slice()).is_err() && short.read(host.as_mut_slice()).is_err());
        drop(short);
        assert!(gpu.pinned::<u8>(0)?.as_slice().is_empty());
        assert!(gpu.pinned::<f64>(usize::MAX).is_err());

        let mut empty = device.allocate::<u32>("empty", 0)?;
        assert!(empty.is_empty() && empty.address() != 0);
        empty.write(&[]).unwrap();
        empty.read(&mut []).unwrap();
        empty.fill_bytes(1).unwrap();
    }
    assert_eq!(gpu.free_memory().unwrap(), free);
    assert!(Arc::ptr_eq(&gpu, &Gpu::open(0)?));
    Ok("memory is right".into())
}

fn graph() -> Result<String, Refusal> {
    let device = device()?;
    let gpu = device.gpu().unwrap();
    let (start, end) = (Event::new(gpu).unwrap(), Event::new(gpu).unwrap());
    start.record(gpu.stream()).unwrap();
    end.record(gpu.stream()).unwrap();
    let elapsed = Event::elapsed_ns(&start, &end).unwrap();

    let mut buffer = device.allocate::<u8>("bytes", 10)?;
    let refused = gpu.capture::<DeviceError>(&mut || buffer.write(&[0; 10])).unwrap_err();
    let failed = || DeviceError::Emulated("on purpose".into());
    assert_eq!(gpu.capture::<DeviceError>(&mut || Err(failed())).unwrap_err(), failed());
    let waits = gpu.capture::<DeviceError>(&mut || device.synchronize()).unwrap_err();
    assert!(waits.to_string().contains("900"), "{waits}");
    let mut allocates = || device.allocate::<u8>("inside", 1).map(drop).map_err(|_| failed());
    assert!(gpu.capture::<DeviceError>(&mut allocates).is_err());
    let mut host = gpu.pinned::<u8>(10)?;
    assert!(gpu.capture::<DeviceError>(&mut || buffer.read(host.as_mut_slice())).is_err());

    // Each of those captures has ended, or this one would not begin; other threads wait for it.
    let mut graph = std::thread::scope(|scope| {
        let graph = gpu.capture::<DeviceError>(&mut || {
            scope.spawn(|| device.synchronize().unwrap());
            std::thread::sleep(std::time::Duration::from_millis(50));
            buffer.fill_bytes(1)
        });
        graph.unwrap()
    });
    // SAFETY: the buffer is still there.
    unsafe { graph.launch() }.unwrap();
    device.synchronize().unwrap();
    buffer.write(&[0; 10]).unwrap();
    Ok(format!("elapsed {elapsed} ns\n{refused}\ngraph is right"))
}

fn source() -> KernelSource {
    Spmm::<f64>::variant("csr-cuda-thread-per-element").unwrap().kernels().remove(0)
}

fn compile() -> Result<String, Refusal> {
    let device = device()?;
    device.kernel(&source())?; // the second time it is there
    let kernel = device.kernel(&source())?;
    let plan = LaunchPlan::linear(device.limits(), Some(1), 32)?;
    let report = kernel.report(&plan);
    let (registers, blocks) =
        (report.attributes.registers.unwrap(), report.blocks_per_multiprocessor.unwrap());
    Ok(format!("compiled, {registers} registers, {blocks} blocks"))
}

fn launch() -> Result<String, Refusal> {
    let device = device()?;
    let (kernel, plan) = (device.kernel(&source())?, LaunchPlan::linear(device.limits(), Some(1), 32)?);
    let shared = plan.with_shared(device.limits(), 100_000)?;
    // SAFETY: kernels of the fake driver do nothing.
    let launch = |plan: &LaunchPlan, arguments: &[Argument]| unsafe { kernel.launch(plan, arguments) };
    // What is wrong first says nothing about what is right: the driver is asked, not the first launch.
    for count in [0, 10, 12, 65] {
        launch(&plan, &vec![Argument::of(0_u64); count]).unwrap_err();
    }
    launch(&plan, &[(); 11].map(|()| Argument::of(0_u64))).unwrap();
    launch(&shared, &[(); 11].map(|()| Argument::of(0_u64))).unwrap();
    let error = launch(&plan, &[Argument::of(0_u64), Argument::of(0_u32)]).unwrap_err();
    Ok(error.to_string())
}

/// The library's calls, on kernels that do nothing: what is copied is right, and what the host does per call is counted.
fn library() -> Result<String, Refusal> {
    let machine = Machine::with_threads(2)?.with_accelerator(Accelerator::Cuda(0));
    let device = machine.device()?;
    // More than the ring of chunks has, and no multiple of them.
    let numbers: Vec<u64> = (0..2_000_003).collect();
    let big = device.upload("big", &numbers)?;
    let mut found = vec![0; numbers.len()];
    big.read(&mut found).unwrap();
    assert_eq!(found, numbers, "staged upload");
    let numbers: Vec<f64> = (0..2_000_003).map(f64::from).collect();
    let dense = Dense::from_rows(2_000_003, 1, numbers).unwrap();
    let mut even = DeviceDense::<f64>::new(&device, "even", 1_000_001, 2)?;
    let view = DenseView::new(dense.data(), 1_000_001, 2, 2).unwrap();
    even.write(view).unwrap();
    let mut back = Dense::filled(1_000_001, 2, f64::NAN).unwrap();
    even.read(back.view_mut()).unwrap();
    assert_eq!(back.data(), &dense.data()[..2_000_002], "staged download");

    let a = ordito::io::load::<f64>("band:600000x2", &Default::default()).unwrap().coo;
    let a = Arc::new(Csr::from_coo(&a, Duplicates::Sum));
    let variant = "csr-cuda-thread-per-element"; // its parameters are those that the fake driver tells
    let plan = Plan::with_variant(variant, a.clone(), &machine.with_new_stream()?)?;
    let (mut x, mut y) = (machine.pinned_dense::<f64>(600_000, 1)?, machine.pinned_dense::<f64>(600_000, 1)?);
    assert!(x.is_pinned());
    x.data_mut().fill(1.0);
    plan.apply(1.0, x.view(), 0.0, y.view_mut()).unwrap();
    assert!(plan.phases().upload_ns.is_some());
    y.data_mut().fill(0.0);
    assert!(plan.overlap_copies(1)?);
    plan.apply(1.0, x.view(), 0.0, y.view_mut()).unwrap();
    // No kernel wrote Y: what came back is what fresh memory holds.
    assert!(plan.phases().overlapped_ns.is_some() && y.data().iter().all(|y| y.is_nan()));

    let [on_x, mut on_y] = [0, 1].map(|_| DeviceDense::<f64>::new(&device, "X or Y", 600_000, 1).unwrap());
    let here = Plan::with_variant(variant, a, &machine)?;
    let calls = 100_000;
    let start = Instant::now();
    for _ in 0..calls {
        here.apply_on_device(1.0, on_x.view(), 0.0, on_y.view_mut()).unwrap();
    }
    let same_stream = start.elapsed().as_secs_f64() * 1e6 / f64::from(calls);
    let start = Instant::now();
    for _ in 0..calls {
        plan.apply_on_device(1.0, on_x.view(), 0.0, on_y.view_mut()).unwrap();
    }
    let other_stream = start.elapsed().as_secs_f64() * 1e6 / f64::from(calls);
    let step = Step::new(1.0, on_x.view(), 0.0, on_y.view_mut());
    here.record(vec![step]).unwrap().launch().unwrap();
    // Of the host alone: the driver's part is missing. 5 µs are what is promised of all of it.
    assert!(same_stream < 5.0 && other_stream < 10.0, "{same_stream} µs, {other_stream} µs");
    let odd = machine.with_accelerator(Accelerator::Emulator);
    let foreign = match odd.device() {
        Ok(emulator) => {
            let x = DeviceDense::new(&emulator, "X", 600_000, 1)?;
            here.apply_on_device(1.0, x.view(), 0.0, on_y.view_mut()).unwrap_err().to_string()
        }
        Err(_) => "another device".into(),
    };
    Ok(format!(
        "library is right, {same_stream:.2} µs per call, {other_stream:.2} µs across streams\n{foreign}"
    ))
}

/// Twice, whichever way it is done.
fn flush() -> Result<String, Refusal> {
    let device = device()?;
    let flush = DeviceFlush::new(&device)?;
    flush.flush();
    flush.flush();
    device.synchronize().unwrap();
    Ok(if flush.reads() { "reads" } else { "fills" }.into())
}

fn cusparse() -> Result<String, Refusal> {
    let device = device()?;
    let library = Cusparse::open(device.gpu().unwrap())?;
    let (row_starts, columns) =
        (device.upload("row starts", &[0_u32, 1, 2])?, device.upload("columns", &[0_u32, 1])?);
    let values = device.upload("values", &[1.0, 2.0])?;
    let a = CsrOperand { rows: 2, cols: 2, row_starts: &row_starts, columns: &columns, values: &values };
    let empty = CusparseSpmm::new(&library, &a, 0, Algorithm::Csr2, Layout::Rows).unwrap_err();
    let mut product = CusparseSpmm::new(&library, &a, 3, Algorithm::Csr3, Layout::Rows)?;
    let unbound = product.run(1.0, 0.0).unwrap_err();
    let (x, y) = (device.allocate::<f64>("X", 8)?, device.allocate::<f64>("Y", 8)?);
    let lies = |buffer: &Buffer<f64>, leading_dimension| DenseOperand {
        address: buffer.address(),
        leading_dimension,
    };
    // SAFETY: here and below, the fake library computes nothing.
    let bind = |product: &mut CusparseSpmm<f64>, x, y| unsafe { product.bind(x, y) };
    assert!(bind(&mut product, lies(&x, 2), lies(&y, 3)).is_err());
    for (x_distance, y_distance) in [(3, 3), (3, 3), (4, 3)] {
        bind(&mut product, lies(&x, x_distance), lies(&y, y_distance))?;
        product.run(1.0, 0.0).unwrap();
        bind(&mut product, lies(&y, x_distance), lies(&x, y_distance))?;
        product.run(2.0, 1.0).unwrap();
    }
    assert!(!product.is_preprocessed());
    let mut by_columns = CusparseSpmm::new(&library, &a, 3, Algorithm::Default, Layout::Columns)?;
    assert_eq!((Layout::column_distance::<f64>(3), Layout::column_distance::<f32>(3)), (4, 4));
    assert!(bind(&mut by_columns, lies(&x, 1), lies(&y, 2)).is_err(), "columns of two rows");
    bind(&mut by_columns, lies(&x, 2), lies(&y, 2))?;
    by_columns.run(1.0, 0.0).unwrap();
    let mut vector = CusparseSpmv::new(&library, &a, VectorAlgorithm::Csr1)?;
    assert!(vector.run(1.0, 0.0).unwrap_err().to_string().contains("no x and y have been bound"));
    for (x, y) in [(&x, &y), (&y, &x)] {
        // SAFETY: as above.
        unsafe { vector.bind(x.address(), y.address()) }?;
        vector.run(1.0, 0.0).unwrap();
    }
    assert!(!vector.is_preprocessed());
    fn movable<T: Send>(_: &T) {}
    movable(&product);
    movable(&vector);
    Ok(format!("{}\n{unbound}\n{empty}\nproduct is right", library.found()))
}

/// Operands find their way to cuSPARSE's variants and back, though nothing is computed.
fn cusparse_variants() -> Result<String, Refusal> {
    let machine = Machine::with_threads(1)?.with_accelerator(Accelerator::Cuda(0));
    let a = Csr::from_coo(&Coo::new(3, 2, vec![0, 1], vec![0, 1], vec![1.0, 2.0]).unwrap(), Duplicates::Keep);
    let a = Arc::new(a);
    let prepared = |variant: &str, k: usize| {
        let subject = Subject { a: a.clone(), triplets: None, k };
        Spmm::<f64>::variant(variant).unwrap().prepare(&machine, &subject)
    };
    for (variant, k) in [("csr-cuda-cusparse-alg1-columns", 2), ("csr-cuda-cusparse-spmv-alg2", 1)] {
        let mut product = prepared(variant, k)?;
        assert_eq!(product.fetch().unwrap_err().to_string(), "no inputs have been loaded");
        let x = Arc::new(Dense::from_rows(2, k, vec![1.0; 2 * k]).unwrap());
        product.load(&Inputs::product(x.clone())).unwrap();
        product.reset().unwrap();
        product.run().unwrap();
        let found = product.fetch().unwrap();
        assert_eq!((found.rows(), found.cols()), (3, k));
        assert!(found.data().iter().all(|y| y.is_nan()), "poisoned, and never computed");
        assert!(product.phases().upload_ns.is_some() && product.phases().download_ns.is_some());
        let mut y = Dense::from_rows(3, k, vec![5.0; 3 * k]).unwrap();
        product.apply(1.0, x.view(), 1.0, y.view_mut()).unwrap();
        let adds = Inputs { x, alpha: 1.0, beta: 1.0, y: None };
        assert_eq!(product.load(&adds).unwrap_err().to_string(), "β is not 0, but no Y was given to add to");
    }
    let refusal = prepared("csr-cuda-cusparse-spmv-default", 2).map(drop).unwrap_err();
    Ok(format!("{refusal}\nvariants are right"))
}

fn cublas() -> Result<String, Refusal> {
    let device = device()?;
    let gpu = device.gpu().unwrap();
    let free = gpu.free_memory().unwrap();
    let library = Cublas::open(gpu)?;
    let found = library.found();
    let double = gemm::<f64>(&device, &library)?;
    let single = gemm::<f32>(&device, &library)?;
    assert_eq!(single, double);
    drop(library);
    assert_eq!(gpu.free_memory().unwrap(), free);
    drop(Cublas::open(gpu)?); // the fake has one handle only: it was given back
    fn shared<T: Send + Sync>() {}
    shared::<Cublas>();
    Ok(format!("{found}\n{double}"))
}

fn into<S>(buffer: &mut Buffer<S>, leading_dimension: usize) -> OperandMut<'_, S> {
    OperandMut { buffer, leading_dimension }
}

/// Products with gaps between the rows, which stay as they are; then what is empty and what is wrong.
fn gemm<S: Scalar>(device: &Device, library: &Cublas) -> Result<String, Refusal> {
    let numbers = |numbers: &[f64]| numbers.iter().copied().map(S::from_f64).collect::<Vec<S>>();
    let (one, zero) = (S::ONE, S::ZERO);
    let gap = f64::NAN;
    let a = device.upload("A", &numbers(&[1., 2., 3., gap, 4., 5., 6.]))?;
    let b = device.upload("B", &numbers(&[1., 2., 3., 4., gap, 5., 6., 7., 8., gap, 9., 10., 11., 12.]))?;
    let before: Vec<f64> = (0..11).map(f64::from).collect();
    let mut c = device.upload("C", &numbers(&before))?;
    let (a, b) = (Operand { buffer: &a, leading_dimension: 4 }, Operand { buffer: &b, leading_dimension: 5 });
    let shape = GemmShape { m: 2, k: 3, n: 4 };
    let mut found = vec![zero; 11];

    // SAFETY: the fake library is done when it returns, and every buffer outlives it.
    let gemm =
        |shape, alpha, a, b, beta, c: OperandMut<'_, S>| unsafe { library.gemm(shape, alpha, a, b, beta, c) };
    gemm(shape, S::from_f64(2.), a, b, -one, into(&mut c, 7))
        .map_err(|error| Refusal::Device(error.to_string()))?;
    c.read(&mut found).unwrap();
    // Rows of A·B: 38 44 50 56, 83 98 113 128.
    assert_eq!(found, numbers(&[76., 87., 98., 109., 4., 5., 6., 159., 188., 217., 246.]));
    c.write(&numbers(&[gap; 11])).unwrap();
    let mut run = || gemm(shape, one, a, b, zero, into(&mut c, 4));
    device.gpu().unwrap().capture::<DeviceError>(&mut run).unwrap();
    c.read(&mut found).unwrap();
    assert_eq!(found[..8], numbers(&[38., 44., 50., 56., 83., 98., 113., 128.]));
    assert!(found[8..].iter().all(|x| x.to_f64().is_nan()));

    // Of a single row the distance does not matter.
    let (row, far) = (GemmShape { m: 1, ..shape }, Operand { leading_dimension: usize::MAX, ..a });
    c.write(&numbers(&before)).unwrap();
    gemm(row, one, far, b, zero, into(&mut c, usize::MAX)).unwrap();
    c.read(&mut found).unwrap();
    assert_eq!(found[..5], numbers(&[38., 44., 50., 56., 4.]));

    let nothing = device.allocate::<S>("nothing", 0)?;
    let nothing = Operand { buffer: &nothing, leading_dimension: 0 };
    for shape in [GemmShape { m: 0, ..shape }, GemmShape { n: 0, ..shape }] {
        let mut empty = device.allocate::<S>("empty", 0)?;
        gemm(shape, one, a, b, zero, into(&mut empty, 0)).unwrap();
    }
    let no_terms = GemmShape { k: 0, ..shape };
    c.write(&numbers(&before)).unwrap();
    gemm(no_terms, one, nothing, nothing, S::from_f64(3.), into(&mut c, 7)).unwrap();
    c.read(&mut found).unwrap();
    assert_eq!(found, numbers(&[0., 3., 6., 9., 4., 5., 6., 21., 24., 27., 30.]));
    c.fill_bytes(0xFF).unwrap();
    gemm(no_terms, one, nothing, nothing, zero, into(&mut c, 7)).unwrap();
    c.read(&mut found).unwrap();
    assert!(found[..4].iter().chain(&found[7..]).all(|&x| x == zero) && found[4].to_f64().is_nan());

    let mut told = Vec::new();
    for (a, b, ldc) in [
        (Operand { leading_dimension: 5, ..a }, b, 7),
        (a, Operand { leading_dimension: 3, ..b }, 7),
        (a, b, 8),
        (a, nothing, 7),
        (a, b, usize::MAX),
    ] {
        let shape = if ldc == usize::MAX { GemmShape { m: 3, ..shape } } else { shape };
        told.push(gemm(shape, one, a, b, zero, into(&mut c, ldc)).unwrap_err().to_string());
    }
    Ok(told.join("\n"))
}

/// Operands in the memory of another GPU: every way to hand them over refuses them.
fn foreign() -> Result<String, Refusal> {
    let [here, there] = [Gpu::open(0)?, Gpu::open(1)?].map(Device::Cuda);
    let ours = || here.upload("ours", &[1.0_f64; 4]);
    let theirs = || there.upload("theirs", &[1.0_f64; 4]);
    let mut told = vec![ours()?.copy_from(&theirs()?).unwrap_err().to_string()];

    let library = Cublas::open(here.gpu().unwrap())?;
    let shape = GemmShape { m: 2, k: 2, n: 2 };
    let gemm = |a: &Buffer<f64>, b: &Buffer<f64>, c: &mut Buffer<f64>| {
        let of = |buffer| Operand { buffer, leading_dimension: 2 };
        // SAFETY: the fake library is done when it returns, and every buffer outlives it.
        unsafe { library.gemm(shape, 1.0, of(a), of(b), 0.0, into(c, 2)) }
    };
    gemm(&ours()?, &ours()?, &mut ours()?).unwrap();
    for error in [
        gemm(&theirs()?, &ours()?, &mut ours()?),
        gemm(&ours()?, &theirs()?, &mut ours()?),
        gemm(&ours()?, &ours()?, &mut theirs()?),
    ] {
        told.push(error.unwrap_err().to_string());
    }

    let library = Cusparse::open(here.gpu().unwrap())?;
    let indices = |device: &Device, numbers: &[u32]| device.upload("indices", numbers);
    for (starts_on, columns_on, values_on) in
        [(&there, &here, &here), (&here, &there, &here), (&here, &here, &there)]
    {
        let row_starts = indices(starts_on, &[0, 1, 2])?;
        let columns = indices(columns_on, &[0, 1])?;
        let values = values_on.upload("values", &[1.0_f64, 2.0])?;
        let a = CsrOperand { rows: 2, cols: 2, row_starts: &row_starts, columns: &columns, values: &values };
        let many = CusparseSpmm::new(&library, &a, 3, Algorithm::Csr2, Layout::Rows).map(drop);
        let one = CusparseSpmv::new(&library, &a, VectorAlgorithm::Csr1).map(drop);
        told.extend([many.unwrap_err().to_string(), one.unwrap_err().to_string()]);
    }
    Ok(told.join("\n"))
}
