//! Shared memory as CUDA declares it, in words that the emulator knows.

/// The text in those words; lines stay where they are.
pub(crate) fn with_shared(text: &str) -> String {
    with_dynamic_shared(
        &text.replace("static __shared__", "__shared__").replace("__shared__ static", "__shared__"),
    )
}

/// `extern __shared__ float sums[];`
fn with_dynamic_shared(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("extern") {
        let (before, from) = rest.split_at(at);
        result.push_str(before);
        let replaced = from.find(';').and_then(|end| Some((dynamic_shared(&from[..end])?, end)));
        match replaced {
            Some((words, end)) => {
                let lines = "\n".repeat(from[..end].matches('\n').count());
                result.push_str(&format!("{words}{lines}"));
                rest = &from[end..];
            }
            None => {
                result.push_str("extern");
                rest = &from["extern".len()..];
            }
        }
    }
    result + rest
}

fn dynamic_shared(declaration: &str) -> Option<String> {
    let words = declaration.strip_prefix("extern")?.trim_start().strip_prefix("__shared__")?.trim();
    let words = match words.strip_prefix("__align__") {
        Some(rest) => rest.split_once(')')?.1.trim(),
        None => words,
    };
    let name_and_kind = words.strip_suffix(']')?.trim_end().strip_suffix('[')?.trim_end();
    let at = name_and_kind.rfind(|c: char| !(c.is_alphanumeric() || c == '_'))?;
    let (kind, name) = name_and_kind.split_at(at + 1);
    (!name.is_empty()).then(|| format!("DYNAMIC_SHARED({}, {name})", kind.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dynamic_shared_memory_is_declared_in_other_words() {
        let text = "extern __shared__ float sums[];\nextern \"C\" void f();\nextern __shared__\n  __align__(16) unsigned char b [ ];";
        let expected =
            "DYNAMIC_SHARED(float, sums);\nextern \"C\" void f();\nDYNAMIC_SHARED(unsigned char, b)\n;";
        assert_eq!(with_shared(text), expected);
        assert_eq!(with_shared("static __shared__ float a[2];"), "__shared__ float a[2];");
    }
}
