//! What scripts read: one object, sensors and waves by name, what is not a number absent or null.

use crate::analysis::Analysis;
use crate::condition::Condition;
use serde_json::{Value, json};

/// Changes when a field changes its meaning or goes.
const SCHEMA: u32 = 1;

/// All but the waves themselves, which are in the files of `--out`.
pub fn json(analysis: &Analysis, dtype: &str) -> Value {
    let recording = &analysis.recording;
    let sensor = |sensor: usize| recording.sensors[sensor].as_str();
    let condition = |of: &Condition| {
        let rejected = of.rejected.iter().map(|rejected| {
            json!({
                "epoch": rejected.epoch,
                "sensor": sensor(rejected.sensor),
                "peak_to_peak": rejected.peak_to_peak,
            })
        });
        let mut object = json!({
            "name": of.name,
            "read": of.read,
            "kept": of.kept,
            "rejected": rejected.collect::<Vec<_>>(),
        });
        if let Some(windows) = of.windows {
            object["windows"] = json!(windows);
        }
        object
    };
    let peaks = analysis.peaks.iter().map(|peak| {
        json!({
            "wave": analysis.name_of(peak.of),
            "sensor": peak.sensor.map_or("field power", sensor),
            "time_s": peak.time_s,
            "amplitude": peak.amplitude,
        })
    });
    let protocol: serde_json::Map<String, Value> =
        analysis.protocol.iter().map(|(name, value)| ((*name).to_owned(), value.as_str().into())).collect();
    let mut object = json!({
        "op": "erp",
        "schema": SCHEMA,
        "dtype": dtype,
        "protocol": protocol,
        "sensors": recording.sensors,
        "samples": recording.samples,
        "rate_hz": recording.rate_hz,
        "start_s": recording.start_s,
        "unit": recording.unit,
        "conditions": analysis.conditions.iter().map(condition).collect::<Vec<_>>(),
        "groups": analysis.groups.iter().map(condition).collect::<Vec<_>>(),
        "peaks": peaks.collect::<Vec<_>>(),
        "warnings": analysis.warnings,
        "chosen": analysis.chosen,
        "stages": analysis.stages,
    });
    if let Some(test) = analysis.difference.as_ref().and_then(|difference| difference.permutations.as_ref()) {
        let intervals = test.intervals.iter().map(|found| {
            json!({
                "sensor": sensor(found.sensor),
                "from_s": recording.time_s(found.from),
                "to_s": recording.time_s(found.to),
                "p": found.p,
            })
        });
        object["permutations"] = json!({
            "count": test.count,
            "seed": test.seed,
            "critical_t": test.critical_t,
            "intervals": intervals.collect::<Vec<_>>(),
        });
    }
    object
}
