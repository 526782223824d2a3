//! What was done, in words: enough to do it again.

use crate::groups::GroupOrder;
use crate::inputs::Inputs;
use crate::settings::{Layout, Settings};
use ordito::units;
use std::path::Path;

/// Name and value of everything that the results depend on; what was not asked for is left out.
pub(crate) fn protocol(
    inputs: &Inputs,
    settings: &Settings,
    variant: Option<&str>,
    dtype: &str,
) -> Vec<(&'static str, String)> {
    let path = |path: &Path| path.display().to_string();
    let nontarget: Vec<String> = inputs.nontarget.iter().map(|file| path(file)).collect();
    let milliseconds = |seconds: f64| units::number(1e3 * seconds);
    let mut done = vec![("target", path(&inputs.target))];
    if !nontarget.is_empty() {
        done.push(("nontarget", nontarget.join(", ")));
    }
    if settings.layout == Layout::SampleMajor {
        done.push(("layout", "sample-major".to_owned()));
    }
    if !settings.bad_channels.is_empty() {
        done.push(("left out", settings.bad_channels.join(", ")));
    }
    if settings.average_reference {
        done.push(("reference", "average of all sensors".to_owned()));
    }
    if let Some(baseline) = settings.baseline {
        let (from, to) = (milliseconds(baseline.from_s), milliseconds(baseline.to_s));
        done.push(("baseline", format!("{from} ms to {to} ms")));
    }
    if let Some(limit) = settings.reject {
        done.push(("rejected above", format!("{} {}, peak to peak", units::number(limit), settings.unit)));
    }
    if let Some(groups) = settings.groups {
        let order = match groups.order {
            GroupOrder::Interleaved => "interleaved",
            GroupOrder::Blocked => "blocked",
        };
        done.push(("groups", format!("{}, {order}", groups.count)));
    }
    if let Some(start_s) = settings.window_start_s {
        done.push(("first window", format!("{} ms", milliseconds(start_s))));
    }
    if let Some(step_s) = settings.window_step_s {
        done.push(("windows of a group", format!("every {} ms", milliseconds(step_s))));
    }
    if let Some(count) = settings.permutations {
        done.push(("permutations", format!("{count}, seed {}", settings.seed)));
    }
    if let Some(variant) = variant {
        done.push(("variant", variant.to_owned()));
    }
    done.push(("precision", dtype.to_owned()));
    done.push(("program", concat!("ordito ", env!("CARGO_PKG_VERSION")).to_owned()));
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groups::Groups;
    use crate::settings::Baseline;

    #[test]
    fn what_was_asked_for_is_told_and_nothing_else() {
        let inputs = Inputs { target: "a.txt".into(), nontarget: vec!["b.txt".into(), "c.npy".into()] };
        let program = ("program", format!("ordito {}", env!("CARGO_PKG_VERSION")));
        let plain = protocol(&inputs, &Settings::default(), None, "f64");
        let expected = [("target", "a.txt"), ("nontarget", "b.txt, c.npy"), ("precision", "f64")];
        let expected: Vec<_> = expected.map(|(name, value)| (name, value.to_owned())).into();
        assert_eq!(plain, [expected, vec![program]].concat());
        let settings = Settings {
            layout: Layout::SampleMajor,
            bad_channels: vec!["T9".into(), "T10".into()],
            average_reference: true,
            baseline: Some(Baseline { from_s: -0.1, to_s: 0.0 }),
            reject: Some(150.0),
            groups: Some(Groups { count: 7, order: GroupOrder::Blocked }),
            window_start_s: Some(2.0),
            window_step_s: Some(0.8),
            permutations: Some(1000),
            seed: 3,
            ..Settings::default()
        };
        let told = protocol(&inputs, &settings, Some("dense-threads-blocks"), "f32");
        let of = |name| told.iter().find(|(found, _)| *found == name).map(|(_, value)| value.as_str());
        assert_eq!(of("left out"), Some("T9, T10"));
        assert_eq!(of("baseline"), Some("-100 ms to 0 ms"));
        assert_eq!(of("rejected above"), Some("150 µV, peak to peak"));
        assert_eq!(of("groups"), Some("7, blocked"));
        assert_eq!((of("first window"), of("windows of a group")), (Some("2000 ms"), Some("every 800 ms")));
        assert_eq!(of("permutations"), Some("1000, seed 3"));
        assert_eq!(of("variant"), Some("dense-threads-blocks"));
        assert_eq!((of("layout"), of("precision")), (Some("sample-major"), Some("f32")));
    }
}
