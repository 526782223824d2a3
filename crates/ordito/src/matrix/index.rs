//! Index types of others: row offsets become `usize`, column indices `u32`, in place where the bits are the same.

use std::borrow::Cow;

mod sealed {
    pub trait Sealed {}
}

/// A type that row offsets and column indices may have: `i32`, `u32`, `i64`, `u64`, `isize`, `usize`.
///
/// Kernels work on `usize` offsets and `u32` columns. Arrays of a type of the same size (`i64`, `u64`, `isize` as offsets;
/// `i32` as columns) are used where they lie; others are converted once.
pub trait Index: sealed::Sealed + Copy + Send + Sync + 'static {
    /// As a number that all index types fit.
    #[doc(hidden)]
    fn wide(self) -> i128;
    /// Row offsets, or where the first negative one stands.
    #[doc(hidden)]
    fn offsets(array: &[Self]) -> Result<Cow<'_, [usize]>, usize>;
    /// Column indices, or where the first stands that is no `u32`.
    #[doc(hidden)]
    fn columns(array: &[Self]) -> Result<Cow<'_, [u32]>, usize>;
}

/// Where the first element is that does not pass.
fn first<T: Copy>(array: &[T], wrong: impl Fn(T) -> bool) -> Result<(), usize> {
    array.iter().position(|&element| wrong(element)).map_or(Ok(()), Err)
}

macro_rules! index {
    ($($type:ty: $offsets:ident, $columns:ident;)*) => {$(
        impl sealed::Sealed for $type {}
        impl Index for $type {
            fn wide(self) -> i128 {
                self as i128
            }
            fn offsets(array: &[Self]) -> Result<Cow<'_, [usize]>, usize> {
                first(array, |offset| usize::try_from(offset).is_err())?;
                Ok($offsets!(array, usize))
            }
            fn columns(array: &[Self]) -> Result<Cow<'_, [u32]>, usize> {
                first(array, |column| u32::try_from(column).is_err())?;
                Ok($columns!(array, u32))
            }
        }
    )*};
}

/// The bits are the same: nothing is copied.
macro_rules! in_place {
    ($array:expr, $to:ty) => {
        Cow::Borrowed(bytemuck::cast_slice($array))
    };
}

/// Every element has been checked to fit.
macro_rules! converted {
    ($array:expr, $to:ty) => {
        Cow::Owned($array.iter().map(|&element| element as $to).collect())
    };
}

index! {
    i32: converted, in_place;
    u32: converted, in_place;
    i64: in_place, converted;
    u64: in_place, converted;
    isize: in_place, converted;
    usize: in_place, converted;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same_numbers<I: Index + TryFrom<u8>>(offsets_in_place: bool, columns_in_place: bool) {
        let array: Vec<I> = [0, 3, 7].into_iter().filter_map(|n: u8| I::try_from(n).ok()).collect();
        let (offsets, columns) = (I::offsets(&array).unwrap(), I::columns(&array).unwrap());
        assert_eq!((&*offsets, &*columns), (&[0_usize, 3, 7][..], &[0_u32, 3, 7][..]));
        assert_eq!(matches!(offsets, Cow::Borrowed(_)), offsets_in_place);
        assert_eq!(matches!(columns, Cow::Borrowed(_)), columns_in_place);
    }

    #[test]
    fn arrays_are_used_where_they_lie_if_the_bits_are_the_same() {
        same_numbers::<i32>(false, true);
        same_numbers::<u32>(false, true);
        same_numbers::<i64>(true, false);
        same_numbers::<u64>(true, false);
        same_numbers::<isize>(true, false);
        same_numbers::<usize>(true, false);
    }

    #[test]
    fn what_does_not_fit_is_named_by_its_place() {
        assert_eq!(i32::offsets(&[0, -1]), Err(1));
        assert_eq!(i32::columns(&[0, 5, -3]), Err(2));
        assert_eq!(i64::columns(&[1 << 32]), Err(0));
        assert_eq!(usize::columns(&[0, usize::MAX]), Err(1));
        assert_eq!(i64::offsets(&[i64::MIN]), Err(0));
    }
}
