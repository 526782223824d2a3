//! Generic functions that are compiled here, once for f32 and once for f64, and not again with every program that calls
//! them: there they would take the time of its build, and its settings instead of ours.

use crate::Scalar;
use std::any::TypeId;

/// The function of the precision `S` among those of both.
///
/// # Safety
/// `F` is `F32` where `S` is f32, and `F64` where it is f64.
pub(crate) unsafe fn of<S: Scalar, F32: Copy, F64: Copy, F: Copy>(in_f32: F32, in_f64: F64) -> F {
    const { assert!(size_of::<F32>() == size_of::<F>() && size_of::<F64>() == size_of::<F>()) };
    if TypeId::of::<S>() == TypeId::of::<f32>() {
        // SAFETY: the caller's promise: it is the same type.
        unsafe { std::mem::transmute_copy(&in_f32) }
    } else {
        // SAFETY: the same; a sealed `Scalar` is f32 or f64.
        unsafe { std::mem::transmute_copy(&in_f64) }
    }
}

/// `compiled_here!(S, sort, Sort)`: the function `sort::<S>`, whose type is `Sort<S>`.
macro_rules! compiled_here {
    ($scalar:ident, $function:ident, $signature:ident) => {{
        // Not generic, hence compiled with this crate; not inlined, hence not with others.
        #[inline(never)]
        fn in_f32() -> $signature<f32> {
            $function::<f32>
        }
        #[inline(never)]
        fn in_f64() -> $signature<f64> {
            $function::<f64>
        }
        // SAFETY: the same alias of both precisions, and of the one that is asked for.
        unsafe {
            $crate::precision::of::<$scalar, $signature<f32>, $signature<f64>, $signature<$scalar>>(
                in_f32(),
                in_f64(),
            )
        }
    }};
}
pub(crate) use compiled_here;

#[cfg(test)]
mod tests {
    use super::*;

    type Name<S> = fn(S) -> (&'static str, S);

    fn name<S: Scalar>(value: S) -> (&'static str, S) {
        (S::NAME, value)
    }

    fn asked<S: Scalar>(value: S) -> (&'static str, S) {
        compiled_here!(S, name, Name)(value)
    }

    #[test]
    fn each_precision_has_its_function() {
        assert_eq!(asked(1.5_f32), ("f32", 1.5));
        assert_eq!(asked(-2.5_f64), ("f64", -2.5));
    }
}
