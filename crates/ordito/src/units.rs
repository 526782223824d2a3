//! Numbers as people read them: three significant digits, decimal units.

/// About three significant digits: `0.123`, `1.23`, `12.3`, `123`, `1234`; with an exponent only where the
/// text would be long or all zeros.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let size = value.abs();
    if size != 0.0 && !(0.0005..999_999.5).contains(&size) {
        return format!("{value:.1e}");
    }
    // Rounding can add a digit (9.996 is 10.0), hence the odd limits.
    let decimals = match size {
        _ if size >= 99.95 || size == 0.0 => 0,
        _ if size >= 9.995 => 1,
        _ if size >= 0.9995 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// Nanoseconds in a unit that keeps the number short: `840 ns`, `12.3 µs`, `1.24 ms`, `75.0 s`.
///
/// ```
/// assert_eq!(ordito::units::duration(12_345.0), "12.3 µs");
/// ```
pub fn duration(ns: f64) -> String {
    scaled(ns, &[(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")])
}

/// Bytes in decimal units: `512 B`, `3.40 GB`.
pub fn bytes(count: u64) -> String {
    if count < 1000 {
        return format!("{count} B"); // there are no tenths of a byte
    }
    scaled(count as f64, &[(1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB")])
}

/// Bytes in binary units, for caches and memory, whose makers count so: `48 KiB`, `2 MiB`, `23.5 GiB`.
pub fn binary_bytes(count: u64) -> String {
    let unit = |power: i32| 1024f64.powi(power);
    let text = scaled(
        count as f64,
        &[(1.0, "B"), (unit(1), "KiB"), (unit(2), "MiB"), (unit(3), "GiB"), (unit(4), "TiB")],
    );
    text.replace(".00 ", " ").replace(".0 ", " ")
}

/// In the largest unit in which the number, as it will be shown, is at least 1.
fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    let fits = |(size, _): &&(f64, &str)| value.abs() / size >= 0.9995;
    let (size, name) = units.iter().rev().find(fits).or(units.first()).copied().unwrap_or((1.0, ""));
    format!("{} {name}", number(value / size))
}

/// Thousands apart: `26 463 592`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// `1 thread`, `2 threads`.
pub fn threads(count: u64) -> String {
    format!("{count} thread{}", if count == 1 { "" } else { "s" })
}

/// `1 rank`, `2 ranks`.
pub fn ranks(count: u64) -> String {
    format!("{count} rank{}", if count == 1 { "" } else { "s" })
}

/// Two significant digits: `2.2e-16`, and a plain `0`.
pub fn error(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value if value.is_finite() => format!("{value:.1e}"),
        _ => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_whatever_the_rounding() {
        for (value, text) in [
            (0.0, "0"),
            (0.0004, "4.0e-4"),
            (-2.5e15, "-2.5e15"),
            (0.12345, "0.123"),
            (0.99951, "1.00"),
            (1.239, "1.24"),
            (9.996, "10.0"),
            (99.96, "100"),
            (1234.4, "1234"),
            (-12.34, "-12.3"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn units_change_where_the_number_does() {
        for (ns, text) in [
            (0.0, "0 ns"),
            (840.0, "840 ns"),
            (999.6, "1.00 µs"),
            (12_345.0, "12.3 µs"),
            (1_239_000.0, "1.24 ms"),
            (75e9, "75.0 s"),
            (0.25, "0.250 ns"),
        ] {
            assert_eq!(duration(ns), text);
        }
        assert_eq!((bytes(512), bytes(3_400_000_000)), ("512 B".to_owned(), "3.40 GB".to_owned()));
        assert_eq!((binary_bytes(48 << 10), binary_bytes(300 << 20)), ("48 KiB".into(), "300 MiB".into()));
        assert_eq!(binary_bytes(25_232_932_864), "23.5 GiB");
        assert_eq!((bytes(64), bytes(u64::MAX)), ("64 B".to_owned(), "1.8e7 TB".to_owned()));
    }

    #[test]
    fn counts_and_errors() {
        for (value, text) in [(0, "0"), (999, "999"), (1000, "1 000"), (26_463_592, "26 463 592")] {
            assert_eq!(count(value), text);
        }
        assert_eq!(
            (error(0.0), error(2.22e-16), error(f64::INFINITY)),
            ("0".into(), "2.2e-16".into(), "–".into())
        );
    }
}
