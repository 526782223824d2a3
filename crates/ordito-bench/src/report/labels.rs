//! Names of runs, as short as tells them apart.

/// File names without what all have in common: `laptop/samples.json` and `server/samples.json` are `laptop` and `server`.
/// What is then still the same gets a number.
///
/// ```
/// use ordito_bench::report::labels::shortened;
/// assert_eq!(shortened(["out/laptop/samples.json", "out/server/samples.json"]), ["laptop", "server"]);
/// assert_eq!(shortened(["before.json", "after.json"]), ["before", "after"]);
/// assert_eq!(shortened(["a.json", "a.json"]), ["a", "a (2)"]);
/// ```
pub fn shortened<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let split = |name: &'a str| name.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".");
    let names: Vec<Vec<&str>> = names.into_iter().map(|name| split(name).collect()).collect();
    // One part is left of each, whatever they share; and all of a single name.
    let fewest = names.iter().map(Vec::len).min().filter(|_| names.len() > 1);
    let spare = fewest.unwrap_or(0).saturating_sub(1);
    let same = |part: fn(&[&'a str], usize) -> &'a str, at: usize| {
        names.iter().all(|parts| part(parts, at) == part(&names[0], at))
    };
    let leading = (0..spare).take_while(|&at| same(|parts, at| parts[at], at)).count();
    let from_end = |parts: &[&'a str], at: usize| parts[parts.len() - 1 - at];
    let trailing = (0..spare - leading).take_while(|&at| same(from_end, at)).count();
    let mut labels: Vec<String> = Vec::new();
    for parts in &names {
        let name = parts[leading..parts.len() - trailing].join("/");
        let short = name.strip_suffix(".json").filter(|short| !short.is_empty()).unwrap_or(&name).to_owned();
        let numbered = (2..).map(|number| format!("{short} ({number})"));
        let free = std::iter::once(short.clone()).chain(numbered).find(|label| !labels.contains(label));
        labels.push(free.unwrap_or(short));
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn something_is_left_of_every_name() {
        assert_eq!(shortened(["r/samples.json", "r/x/samples.json"]), ["samples", "x/samples"]);
        assert_eq!(shortened(["samples.json", "./x/samples.json"]), ["samples", "x/samples"]);
        assert_eq!(shortened(["r/samples.json"]), ["r/samples"]);
        assert_eq!(shortened(["", ".json", "/"]), ["", ".json", " (2)"]);
        assert_eq!(shortened(["a/b.json", "a/b.json", "a/b.json"]), ["b", "b (2)", "b (3)"]);
        assert!(shortened([]).is_empty());
    }
}
