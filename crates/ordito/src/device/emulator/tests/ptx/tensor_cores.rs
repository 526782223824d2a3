//! Tensor cores: what they do, and what must be found.

use crate::device::emulator::tests::ptx::*;

/// Numbers between −1 and 1 that are the same every time.
fn random(count: usize) -> Vec<f64> {
    let next = |state: &u64| {
        Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
    };
    let states = std::iter::successors(Some(1), next).skip(1).take(count);
    states.map(|state| (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0).collect()
}

/// Several warps multiply, each its own operands: `y` is their C before and after.
fn multiply_body(scalar: &str, register: &str, convert: &str) -> String {
    format!(
        r#"
extern "C" __global__ void k({scalar}* y, const {scalar}* x) {{
    const u32 warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const {scalar}* a_at = x + warp * (128 + 64);
    const {scalar}* b_at = a_at + 128;
    {scalar}* c_at = y + warp * 128;
    {register} a[4], b[2];
    {scalar} c[4];
    for (u32 i = 0; i < 4; ++i) a[i] = {convert}(a_at[(g + 8 * (i % 2)) * 8 + t + 4 * (i / 2)]);
    for (u32 i = 0; i < 2; ++i) b[i] = {convert}(b_at[(t + 4 * i) * 8 + g]);
    for (u32 i = 0; i < 4; ++i) c[i] = c_at[(g + 8 * (i / 2)) * 8 + 2 * t + i % 2];
    for (u32 again = 0; again < 3; ++again) multiply_16x8x8(c, a, b);
    for (u32 i = 0; i < 4; ++i) c_at[(g + 8 * (i / 2)) * 8 + 2 * t + i % 2] = c[i];
}}"#
    )
}

const WARPS: usize = 3;

#[test]
fn tensor_cores_multiply_doubles() {
    if no_compiler() {
        return;
    }
    let (y, x) = (random(WARPS * 128), random(WARPS * 192));
    let found = run_all(&multiply_body("double", "double", ""), 32 * WARPS as u32, &y, &x).unwrap();
    for (at, &found) in found.iter().enumerate() {
        let (warp, row, column) = (at / 128, at % 128 / 8, at % 8);
        let (a, b) = x[warp * 192..][..192].split_at(128);
        let mut expected = y[at];
        for k in (0..8).cycle().take(24) {
            expected += a[row * 8 + k] * b[k * 8 + column];
        }
        assert_eq!(found, expected, "element {at}");
    }
}

/// To 10 bits of mantissa, ties away from zero.
fn rounded(value: f32) -> f32 {
    f32::from_bits((value.to_bits() + 0x1000) & !0x1fff)
}

#[test]
fn tensor_cores_multiply_tf32() {
    if no_compiler() {
        return;
    }
    let narrow = |values: Vec<f64>| values.into_iter().map(|value| value as f32).collect::<Vec<_>>();
    let (y, x) = (narrow(random(WARPS * 128)), narrow(random(WARPS * 192)));
    let truncated = |value: f32| f32::from_bits(value.to_bits() & !0x1fff);
    for (convert, operand) in [("to_tf32", rounded as fn(f32) -> f32), ("__float_as_uint", truncated)] {
        let body = multiply_body("float", "u32", convert);
        let found = run_all(&body, 32 * WARPS as u32, &y, &x).unwrap();
        for (at, &found) in found.iter().enumerate() {
            let (warp, row, column) = (at / 128, at % 128 / 8, at % 8);
            let (a, b) = x[warp * 192..][..192].split_at(128);
            let product =
                |k: usize| f64::from(operand(a[row * 8 + k])) * f64::from(operand(b[k * 8 + column]));
            let once = |c: f32| (0..8).fold(f64::from(c), |sum, k| sum + product(k)) as f32;
            assert_eq!(found, once(once(once(y[at]))), "element {at} with {convert}");
        }
    }
}

#[test]
fn rounding_to_tf32() {
    if no_compiler() {
        return;
    }
    let body = "extern \"C\" __global__ void k(u32* y, const float* x) { y[threadIdx.x] = to_tf32(x[threadIdx.x]); }";
    let cases = [
        (0x3f80_0fff, 0x3f80_0000), // just below half of the last place
        (0x3f80_1000, 0x3f80_2000), // half: away from zero
        (0xbf80_1000, 0xbf80_2000),
        (0x3f80_3000, 0x3f80_4000),
        (0x3fff_f000, 0x4000_0000), // into the next binade
        (0x0000_1000, 0x0000_2000), // subnormal
        (0x0000_0fff, 0x0000_0000),
        (0x8000_0000, 0x8000_0000),
        (0x7f7f_ffff, 0x7f80_0000), // beyond the largest
        (0x7f80_0000, 0x7f80_0000), // infinities stay
        (0xff80_0000, 0xff80_0000),
    ];
    let x: Vec<f32> = cases.iter().map(|&(from, _)| f32::from_bits(from)).collect();
    let found = run_all(body, cases.len() as u32, &[0_u32; 11], &x).unwrap();
    for ((from, expected), found) in cases.into_iter().zip(found) {
        assert_eq!(found, expected, "{from:#010x} became {found:#010x}");
    }
    let nans = [0x7fc0_0000, 0xffc0_0000, 0x7fff_ffff, 0xffff_ffff, 0x7f80_2001].map(f32::from_bits);
    let found = run_all(body, 5, &[0_u32; 5], &nans).unwrap();
    assert_eq!(found, [0x7fc0_0000, 0xffc0_0000, 0x7fff_e000, 0xffff_e000, 0x7f80_2000]);
}

#[test]
fn half_a_warp_cannot_multiply() {
    if no_compiler() {
        return;
    }
    let body = r#"
extern "C" __global__ void k(double* y, const double* x) {
    double c[4] = {}, a[4] = {}, b[2] = {};
    if (threadIdx.x < 16)
        multiply_16x8x8(c, a, b);
    REST
    y[threadIdx.x] = c[0];
}"#;
    assert_says(
        &fault(&body.replace("REST", ""), 32, &[0.0_f64; 32], &[0.0_f64]),
        &["multiply_16x8x8 by 16 lanes of a warp: it takes all 32, and the others have ended"],
    );
    assert_says(
        &fault(&body.replace("REST", "__syncthreads();"), 32, &[0.0_f64; 32], &[0.0_f64]),
        &[
            "deadlock in block (0,0,0): 16 threads wait at multiply_16x8x8(mask 0xffffffff) at k.cu:7 (first: thread (0,0,0))",
            "16 threads wait at __syncthreads at k.cu:8",
        ],
    );
    let all = body.replace("threadIdx.x < 16", "true").replace("REST", "");
    assert_says(&fault(&all, 40, &[0.0_f64; 40], &[0.0_f64]), &["multiply_16x8x8 by 8 lanes of a warp"]);
    assert!(run_all(&all, 64, &[0.0_f64; 64], &[0.0_f64]).is_ok());
}

#[test]
fn tensor_cores_do_not_order_memory() {
    if no_compiler() {
        return;
    }
    let body = r#"
extern "C" __global__ void k(double* y, const double* x) {
    __shared__ double all[32];
    double c[4] = {}, a[4] = {}, b[2] = {};
    all[threadIdx.x] = 1;
    multiply_16x8x8(c, a, b);
    y[threadIdx.x] = all[threadIdx.x ^ 1];
}"#;
    assert_says(
        &fault(body, 32, &[0.0_f64; 32], &[0.0_f64]),
        &["data race on shared memory: read of 8 bytes", "at k.cu:9"],
    );
}
