//! Before, after and plain reads of the same bytes by 1, 4 and 8 streams, in turns; medians. The fastest read is the ceiling.
#[repr(C)]
struct Ts {
    s: i64,
    n: i64,
}
unsafe extern "C" {
    fn clock_gettime(c: i32, t: *mut Ts) -> i32;
}
/// CPU time where one thread works: what others take of the core does not count. Wall time where several do.
struct Instant(f64, i32);
static CLOCK: std::sync::atomic::AtomicI32 = std::sync::atomic::AtomicI32::new(1);
fn clock(c: i32) -> f64 {
    let mut t = Ts { s: 0, n: 0 };
    unsafe { clock_gettime(c, &mut t) };
    t.s as f64 + t.n as f64 * 1e-9
}
impl Instant {
    fn now() -> Self {
        let c = CLOCK.load(std::sync::atomic::Ordering::Relaxed);
        Instant(clock(c), c)
    }
    fn elapsed(&self) -> std::time::Duration {
        std::time::Duration::from_secs_f64(clock(self.1) - self.0)
    }
}

use std::hint::black_box;

use std::arch::x86_64::*;
/// Two lines of each of N streams a step, an accumulator for each line.
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,bmi1,bmi2")]
unsafe fn streams<const N: usize>(w: &[u64]) -> u64 {
    unsafe {
        let part = w.len() / N / 16 * 16;
        let mut s = [[_mm512_setzero_si512(); 2]; N];
        let mut at = 0;
        while at < part {
            for i in 0..N {
                for j in 0..2 {
                    s[i][j] = _mm512_add_epi64(
                        s[i][j],
                        _mm512_loadu_si512(w.as_ptr().add(i * part + at + 8 * j).cast()),
                    );
                }
            }
            at += 16;
        }
        let mut t = _mm512_setzero_si512();
        for p in s {
            for x in p {
                t = _mm512_add_epi64(t, x);
            }
        }
        _mm512_reduce_add_epi64(t) as u64
    }
}
fn read_one(n: usize, w: &[u64]) {
    black_box(unsafe {
        match n {
            1 => streams::<1>(w),
            4 => streams::<4>(w),
            _ => streams::<8>(w),
        }
    });
}
fn read(n: usize, words: &[u64], threads: usize) {
    if threads == 1 {
        return read_one(n, words);
    }
    let part = words.len().div_ceil(threads);
    std::thread::scope(|s| {
        for p in words.chunks(part) {
            s.spawn(move || read_one(n, p));
        }
    });
}
fn median(v: &mut Vec<f64>) -> f64 {
    v.sort_by(f64::total_cmp);
    v[v.len() / 2]
}

macro_rules! run { ($S:ty, $bytes:expr, $threads:expr, $ks:expr, $gap:expr) => {{
    for &k in $ks {
        let size = size_of::<$S>();
        let ld = k + $gap;
        let rows = ($bytes / size / ld).max(1);
        let mut x = 12345u64;
        let data: Vec<$S> = (0..rows * ld).map(|_| { x ^= x << 13; x ^= x >> 7; x ^= x << 17; (x >> 11) as $S / (1u64 << 53) as $S - 0.5 }).collect();
        let words = unsafe { std::slice::from_raw_parts(data.as_ptr() as *const u64, data.len() * size / 8) };
        let ma = after::Machine::with_threads($threads).unwrap();
        let mb = before::Machine::with_threads($threads).unwrap();
        let mut a = after::column_stats::Plan::<$S>::new(after::column_stats::Shape { rows, cols: k }, &ma).unwrap();
        let mut b = before::column_stats::Plan::<$S>::new(before::column_stats::Shape { rows, cols: k }, &mb).unwrap();
        let (fa, fb) = (a.apply(after::DenseView::new(&data, rows, k, ld).unwrap()).unwrap(), b.apply(before::DenseView::new(&data, rows, k, ld).unwrap()).unwrap());
        let same = [(&fa.mean, &fb.mean), (&fa.variance, &fb.variance), (&fa.min, &fb.min), (&fa.max, &fb.max)].iter().all(|(a, b)| a.iter().zip(*b).all(|(a, b)| a.to_bits() == b.to_bits()));
        let (mut ta, mut tb, mut trs) = (vec![], vec![], vec![vec![]; 3]);
        let total = rows * ld * size;
        let inner = (2_000_000 / total).max(1);
        let rounds = ((1usize << 32) / (total * inner)).clamp(7, 41);
        for round in 0..rounds {
            for (i, n) in [1, 4, 8].into_iter().enumerate() { let t = Instant::now(); for _ in 0..inner { read(n, words, $threads); } trs[i].push(t.elapsed().as_secs_f64() / inner as f64); }
            if round % 2 == 0 { let t = Instant::now(); for _ in 0..inner { black_box(b.apply(before::DenseView::new(&data, rows, k, ld).unwrap()).unwrap()); } tb.push(t.elapsed().as_secs_f64() / inner as f64); let t = Instant::now(); for _ in 0..inner { black_box(a.apply(after::DenseView::new(&data, rows, k, ld).unwrap()).unwrap()); } ta.push(t.elapsed().as_secs_f64() / inner as f64); } else { let t = Instant::now(); for _ in 0..inner { black_box(a.apply(after::DenseView::new(&data, rows, k, ld).unwrap()).unwrap()); } ta.push(t.elapsed().as_secs_f64() / inner as f64); let t = Instant::now(); for _ in 0..inner { black_box(b.apply(before::DenseView::new(&data, rows, k, ld).unwrap()).unwrap()); } tb.push(t.elapsed().as_secs_f64() / inner as f64); }
        }
        let g = |t: f64| total as f64 / t / 1e9;
        let rs: Vec<f64> = trs.iter_mut().map(median).collect();
        let r = rs.iter().copied().fold(f64::INFINITY, f64::min);
        let (b, a) = (median(&mut tb), median(&mut ta));
        println!("{} K {k:4} gap {} {:9} B {}t: read 1/4/8 streams {:.1}/{:.1}/{:.1} before {:6.1} after {:6.1} GB/s; of read {:3.0} % -> {:3.0} %; {:.2}x{}", stringify!($S), $gap, total, $threads, g(rs[0]), g(rs[1]), g(rs[2]), g(b), g(a), 100.0 * r / b, 100.0 * r / a, b / a, if same { " same bits" } else { "" });
    }
}}}
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let bytes: usize = args[0].parse::<f64>().unwrap() as usize;
    let threads: usize = args[1].parse().unwrap();
    if threads == 1 {
        CLOCK.store(3, std::sync::atomic::Ordering::Relaxed);
    }
    let gap: usize = args.iter().find_map(|a| a.strip_prefix("gap=")).map_or(0, |g| g.parse().unwrap());
    let ks: Vec<usize> =
        args[3..].iter().filter(|a| !a.starts_with("gap")).map(|a| a.parse().unwrap()).collect();
    if args[2] != "f64" {
        run!(f32, bytes, threads, &ks, gap);
    }
    if args[2] != "f32" {
        run!(f64, bytes, threads, &ks, gap);
    }
}
