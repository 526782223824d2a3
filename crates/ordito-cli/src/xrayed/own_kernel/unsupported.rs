//! What the emulator cannot run of a `.cu` file, found in its text.

/// Words, each with what to say of it. `cudaMemcpy*`: `cudaMemcpyAsync` is meant as well.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("<<<", LAUNCH),
    ("main", HOST),
    ("cudaDevice*", HOST),
    ("cudaError*", HOST),
    ("cudaEvent*", HOST),
    ("cudaFree*", HOST),
    ("cudaGet*", HOST),
    ("cudaLaunch*", HOST),
    ("cudaMalloc*", HOST),
    ("cudaMem*", HOST),
    ("cudaSet*", HOST),
    ("cudaStream*", HOST),
    ("cooperative_groups", "cooperative groups"),
    ("cuda_fp16", HALF),
    ("cuda_bf16", HALF),
    ("cuda_fp8", "numbers of 8 bits"),
    ("__half*", HALF),
    ("__nv_bfloat16*", HALF),
    ("curand*", "random numbers of cuRAND"),
    ("<cub/", "CUB"),
    ("<thrust/", "Thrust"),
    ("asm", PTX),
    ("__asm__", PTX),
    ("cudaTextureObject_t", "textures"),
    ("cudaSurfaceObject_t", "surfaces"),
    ("__managed__", "managed memory"),
    ("nvcuda", "`nvcuda::wmma`; multiply_16x8x8 of ptx.cuh is what the emulator has of tensor cores"),
    ("__cluster_dims__", "clusters of blocks"),
    ("printf", "printing from a kernel"),
    ("__shfl", OLD),
    ("__shfl_up", OLD),
    ("__shfl_down", OLD),
    ("__shfl_xor", OLD),
    ("__ballot", OLD),
    ("__any", OLD),
    ("__all", OLD),
];
const HOST: &str = "code of the host: a file may hold kernels and what they call; put the rest between `#ifndef ORDITO_EMULATOR` and `#endif`";
const LAUNCH: &str = "a launch: a file may hold kernels and what they call, no code of the host; put that between `#ifndef ORDITO_EMULATOR` and `#endif`";
const HALF: &str = "half precision";
const PTX: &str = "inline PTX";
const OLD: &str = "a shuffle or vote without a mask, which CUDA 9 took away; there is one with `_sync` at its end, and the mask first";

/// What in the text, whose comments are blank, cannot be run: line and sentence.
pub(crate) fn unsupported(code: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for (index, line) in code.lines().enumerate() {
        for (word, what) in UNSUPPORTED {
            let (word, is_beginning) = word.strip_suffix('*').map_or((*word, false), |word| (word, true));
            let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
            let is_word = |at: usize| {
                let before = line[..at].chars().next_back();
                let behind = line[at + word.len()..].chars().next();
                !word.starts_with(part_of_name)
                    || !before.is_some_and(part_of_name)
                        && (is_beginning || !behind.is_some_and(part_of_name))
            };
            let one = (index + 1, (*what).to_owned());
            if line.match_indices(word).any(|(at, _)| is_word(at)) && !found.contains(&one) {
                found.push(one);
            }
        }
        let start = line.trim_start().trim_start_matches("static ").trim_start();
        let declared = |word| {
            start.strip_prefix(word).filter(|rest: &&str| {
                rest.find([';', '=', '[']).is_some_and(|end| !rest[..end].contains('('))
            })
        };
        if declared("__device__").is_some() {
            found.push((index + 1, "a variable in memory of the device; give it as an argument".into()));
        }
        if declared("__constant__").is_some_and(|rest| rest.contains(';') && !rest.contains(['=', '{'])) {
            found.push((index + 1, "a table that the host fills; give it values, or as an argument".into()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xrayed::own_kernel::plain::plain;

    fn lines(text: &str) -> Vec<usize> {
        unsupported(&plain(text)).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn what_cannot_be_run_is_found_with_its_line() {
        let text = "__device__ int counter;\n__device__ int f(int a) { return a; }\nint main() { k<<<1, 2>>>(); }\n// asm\nint masm = 1;\ncudaMemcpyAsync(a);\n";
        assert_eq!(lines(text), [1, 3, 3, 6]);
        assert_eq!(lines("#include <cuda_fp16.h>\n__half2 x;\nint half = 2, cubic, remain;\n"), [1, 2]);
        assert_eq!(
            lines("__constant__ float a[4];\n__constant__ float b[2] = {1, 2};\n__constant__ int c[] {1};\n"),
            [1]
        );
        assert_eq!(lines("x = __shfl_down(x, 1);\nx = __shfl_down_sync(~0u, x, 1);\n"), [1]);
    }
}
