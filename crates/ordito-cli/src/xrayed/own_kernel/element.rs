//! Numbers that kernels take, and arrays of them: what the command line calls them, and what C++ does.

/// What arrays are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    F32,
    F64,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

impl Element {
    pub(crate) const ALL: [(&'static str, Element); 10] = [
        ("f32", Element::F32),
        ("f64", Element::F64),
        ("i8", Element::I8),
        ("u8", Element::U8),
        ("i16", Element::I16),
        ("u16", Element::U16),
        ("i32", Element::I32),
        ("u32", Element::U32),
        ("i64", Element::I64),
        ("u64", Element::U64),
    ];

    pub(crate) fn name(self) -> &'static str {
        Element::ALL.iter().find(|(_, element)| *element == self).map_or("", |(name, _)| name)
    }

    /// The number that a C++ type stands for.
    pub(crate) fn of_cpp(written: &str) -> Option<Self> {
        let plain = written.trim_start_matches("std::");
        Some(match plain {
            "float" => Element::F32,
            "double" => Element::F64,
            "char" | "signed char" | "int8_t" => Element::I8,
            "unsigned char" | "uint8_t" | "uchar" => Element::U8,
            "short" | "short int" | "int16_t" => Element::I16,
            "unsigned short" | "unsigned short int" | "uint16_t" | "ushort" => Element::U16,
            "int" | "signed" | "signed int" | "int32_t" => Element::I32,
            "unsigned" | "unsigned int" | "uint32_t" | "uint" | "u32" => Element::U32,
            "long" | "long int" | "long long" | "long long int" | "int64_t" | "ptrdiff_t" => Element::I64,
            "unsigned long"
            | "unsigned long int"
            | "unsigned long long"
            | "unsigned long long int"
            | "uint64_t"
            | "size_t"
            | "u64" => Element::U64,
            _ => return None,
        })
    }
}
