//! Generic functions that are compiled here, once for f32 and once for f64, and not again with every program that calls
//! them: there they would take the time of its build, and its settings instead of ours.

use crate::Scalar;
use std::any::TypeId;

/// The function of the precision `S` among those of both.
///
/// # Safety
/// `F` is `F32` where `S` is f32, and `F64` where it is f64.
pub unsafe fn of<S: Scalar, F32: Copy, F64: Copy, F: Copy>(in_f32: F32, in_f64: F64) -> F {
    const { assert!(size_of::<F32>() == size_of::<F>() && size_of::<F64>() == size_of::<F>()) };
    if TypeId::of::<S>() == TypeId::of::<f32>() {
        // SAFETY: the caller's promise: it is the same type.
        unsafe { std::mem::transmute_copy(&in_f32) }
    } else {
        // SAFETY: the same; a sealed `Scalar` is f32 or f64.
        unsafe { std::mem::transmute_copy(&in_f64) }
    }
}

/// `compiled_here!(S, sort, Sort)`: the function `sort::<S>`, whose type is `Sort<S>`; `compiled_here!(S, Plan::apply, Apply)`:
/// the function `Plan::<S>::apply`.
#[doc(hidden)]
#[macro_export]
macro_rules! compiled_here {
    ($scalar:ident, $function:ident, $signature:ident) => {
        $crate::compiled_here!($scalar, [$function::<f32>], [$function::<f64>], $signature)
    };
    ($scalar:ident, $owner:ident::$function:ident, $signature:ident) => {
        $crate::compiled_here!($scalar, [$owner::<f32>::$function], [$owner::<f64>::$function], $signature)
    };
    ($scalar:ident, [$($in_f32:tt)+], [$($in_f64:tt)+], $signature:ident) => {{
        // Not generic, hence compiled with this crate; not inlined, hence not with others.
        #[inline(never)]
        fn in_f32() -> $signature<f32> {
            $($in_f32)+
        }
        #[inline(never)]
        fn in_f64() -> $signature<f64> {
            $($in_f64)+
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
pub use compiled_here;

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

    struct Pair<S>(S, S);

    impl<S: Scalar> Pair<S> {
        fn sum(&self) -> S {
            self.0 + self.1
        }
    }

    type Sum<S> = fn(&Pair<S>) -> S;

    fn asked_of_a_pair<S: Scalar>(pair: &Pair<S>) -> S {
        compiled_here!(S, Pair::sum, Sum)(pair)
    }

    #[test]
    fn methods_too() {
        assert_eq!(asked_of_a_pair(&Pair(1.5_f32, 2.0)), 3.5);
        assert_eq!(asked_of_a_pair(&Pair(1.5_f64, -2.0)), -0.5);
    }

    #[test]
    fn each_precision_has_its_function() {
        assert_eq!(asked(1.5_f32), ("f32", 1.5));
        assert_eq!(asked(-2.5_f64), ("f64", -2.5));
    }
}
