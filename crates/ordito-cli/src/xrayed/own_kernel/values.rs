//! Numbers of a launch, from their text to bytes.

use crate::xrayed::own_kernel::element::Element;
use crate::xrayed::own_kernel::launch_text::Fill;
use ordito::device::Argument;
use std::str::FromStr;

/// A type of numbers that arrays are made of.
pub(crate) trait Number: FromStr + Copy {
    const NAME: &'static str;
    fn of_index(index: usize) -> Self;
    /// What an array holds where nothing was said.
    fn usual(index: usize) -> Self;
}

/// Spread evenly over 0 … 1, always in the same way.
fn between_0_and_1(index: usize) -> f64 {
    f64::from((index as u32).wrapping_mul(0x9E37_79B9)) / 4_294_967_296.0
}

macro_rules! number {
    ($name:literal, $scalar:ty, |$index:ident| $usual:expr) => {
        impl Number for $scalar {
            const NAME: &'static str = $name;
            fn of_index(index: usize) -> Self {
                index as $scalar
            }
            fn usual($index: usize) -> Self {
                $usual
            }
        }
    };
}
number!("f32", f32, |index| between_0_and_1(index) as f32);
number!("f64", f64, |index| between_0_and_1(index));
number!("i8", i8, |_index| 0);
number!("u8", u8, |_index| 0);
number!("i16", i16, |_index| 0);
number!("u16", u16, |_index| 0);
number!("i32", i32, |_index| 0);
number!("u32", u32, |_index| 0);
number!("i64", i64, |_index| 0);
number!("u64", u64, |_index| 0);

fn parsed<T: Number>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text} is no {}", T::NAME))
}

/// An array that is filled so.
pub(crate) fn filled<T: Number>(len: usize, fill: &Fill) -> anyhow::Result<Vec<T>> {
    Ok(match fill {
        Fill::Usual => (0..len).map(T::usual).collect(),
        Fill::Index => (0..len).map(T::of_index).collect(),
        Fill::Number(text) => vec![parsed::<T>(text).map_err(anyhow::Error::msg)?; len],
    })
}

/// A number as an argument.
pub(crate) fn scalar(element: Element, text: &str) -> Result<Argument, String> {
    Ok(match element {
        Element::F32 => Argument::of(parsed::<f32>(text)?),
        Element::F64 => Argument::of(parsed::<f64>(text)?),
        Element::I8 => Argument::of(parsed::<i8>(text)?),
        Element::U8 => Argument::of(parsed::<u8>(text)?),
        Element::I16 => Argument::of(parsed::<i16>(text)?),
        Element::U16 => Argument::of(parsed::<u16>(text)?),
        Element::I32 => Argument::of(parsed::<i32>(text)?),
        Element::U32 => Argument::of(parsed::<u32>(text)?),
        Element::I64 => Argument::of(parsed::<i64>(text)?),
        Element::U64 => Argument::of(parsed::<u64>(text)?),
    })
}

/// Bytes of one.
pub(crate) fn bytes_of(element: Element) -> u64 {
    match element {
        Element::I8 | Element::U8 => 1,
        Element::I16 | Element::U16 => 2,
        Element::F32 | Element::I32 | Element::U32 => 4,
        Element::F64 | Element::I64 | Element::U64 => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_filled_as_asked() {
        assert_eq!(filled::<u32>(3, &Fill::Index).unwrap(), [0, 1, 2]);
        assert_eq!(filled::<f32>(2, &Fill::Number("1.5".into())).unwrap(), [1.5, 1.5]);
        assert_eq!(filled::<i8>(2, &Fill::Usual).unwrap(), [0, 0]);
        let usual = filled::<f64>(100, &Fill::Usual).unwrap();
        assert!(usual.iter().all(|value| (0.0..1.0).contains(value)) && usual[1] != usual[2]);
        assert_eq!(filled::<u8>(1, &Fill::Number("300".into())).unwrap_err().to_string(), "300 is no u8");
    }

    #[test]
    fn numbers_must_fit_their_type() {
        assert_eq!(scalar(Element::U32, "7"), Ok(Argument::of(7_u32)));
        assert_eq!(scalar(Element::F32, "2"), Ok(Argument::of(2.0_f32)));
        assert_eq!(scalar(Element::I32, "2.5").unwrap_err(), "2.5 is no i32");
        assert_eq!(scalar(Element::U64, "-1").unwrap_err(), "-1 is no u64");
    }
}
