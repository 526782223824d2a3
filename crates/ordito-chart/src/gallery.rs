//! One figure of every kind, for tests and for the eye:
//! `ORDITO_GALLERY=folder cargo test -p ordito-chart --features png gallery` writes them all.

use crate::*;

fn axis(label: &str, scale: Scale) -> Axis {
    Axis { label: label.to_owned(), scale, ..Axis::default() }
}

fn point(x: f64, y: f64) -> Point {
    Point { x, y, ..Point::default() }
}

/// Made-up numbers that look like measured ones, between 0 and 1.
fn noise(seed: usize) -> f64 {
    let mixed = (seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as f64 / (1u64 << 24) as f64
}

/// A rate over K, as many series as asked for.
pub(crate) fn rates(count: usize) -> Figure {
    let ks = [1.0, 4.0, 8.0, 16.0, 32.0, 64.0];
    let series = (0..count).map(|number| Series {
        name: format!("csr-cuda-lanes{}-per-{}", 1 << (number % 6), ["element", "row", "block"][number % 3]),
        style: Style::Line,
        points: ks
            .iter()
            .enumerate()
            .map(|(step, &k)| {
                let top = 150.0 + 1300.0 * noise(number);
                point(k, top * k / (k + 12.0) * (0.9 + 0.2 * noise(number * 7 + step)))
            })
            .collect(),
        look: None,
    });
    Figure::Plot(Plot {
        title: "Rate over K, stencil27:128, f32".to_owned(),
        note: "Higher is better. Medians of 30 samples; the dashed line is what memory bandwidth allows."
            .to_owned(),
        x: Axis { ticks: ks.to_vec(), ..axis("K, columns of the block (log scale)", Scale::Log2) },
        y: Axis { from_zero: true, ..axis("GFLOP/s", Scale::Linear) },
        series: series.collect(),
        guides: vec![Guide {
            label: "ceiling by bandwidth, 1450 GFLOP/s".to_owned(),
            path: vec![(f64::NEG_INFINITY, 1450.0), (f64::INFINITY, 1450.0)],
        }],
    })
}

fn roofline() -> Figure {
    let names = ["csr-serial", "csr-threads", "ell-cuda-per-row", "csr-cuda-lanes8", "auto", "cusparse-csr"];
    let series = names.iter().enumerate().map(|(number, name)| {
        let x = 0.18 + 0.1 * number as f64;
        let y = 30.0 * 2.3f64.powi(number as i32);
        let range = Some((y * 0.8, y * 1.2));
        Series {
            name: (*name).to_owned(),
            style: Style::Dots,
            points: vec![Point { range, ..point(x, y) }],
            look: None,
        }
    });
    let roof = |label: &str, bandwidth: f64, peak: f64| Guide {
        label: label.to_owned(),
        path: vec![(0.001, 0.001 * bandwidth), (peak / bandwidth, peak), (f64::INFINITY, peak)],
    };
    Figure::Plot(Plot {
        title: "Roofline, NVIDIA H200".to_owned(),
        note: "Both ceilings were measured.".to_owned(),
        x: axis("flops per byte", Scale::Log10),
        y: axis("GFLOP/s", Scale::Log10),
        series: series.collect(),
        guides: vec![
            roof("4.1 TB/s, 52 TFLOP/s", 4100.0, 52_000.0),
            roof("host 40 GB/s, 900 GFLOP/s", 40.0, 900.0),
        ],
    })
}

fn stacked() -> Figure {
    let rows = (0..14).map(|number| {
        let values: Vec<f64> =
            (0..4).map(|part| 40.0 * noise(number * 4 + part) / (1.0 + part as f64)).collect();
        let total: f64 = values.iter().sum();
        Bar { name: format!("csr-cuda-lanes{number}-per-element"), values, text: format!("{total:.1} ms") }
    });
    Figure::Bars(Bars {
        title: "Where the time goes".to_owned(),
        note: "A whole call, from a matrix in host memory to a result in host memory.".to_owned(),
        label: "ms".to_owned(),
        parts: ["prepare", "upload", "kernel", "download"].map(str::to_owned).to_vec(),
        rows: rows.collect(),
        ..Bars::default()
    })
}

fn plain_bars(scale: Scale) -> Figure {
    let rows =
        ["csr-serial", "csr-threads", "ell-cuda-per-row", "auto"].iter().enumerate().map(|(number, name)| {
            Bar {
                name: (*name).to_owned(),
                values: vec![0.9 * 11f64.powi(number as i32)],
                text: String::new(),
            }
        });
    Figure::Bars(Bars {
        title: "Speedup over csr-serial".to_owned(),
        label: "times faster".to_owned(),
        scale,
        rows: rows.collect(),
        ..Bars::default()
    })
}

fn histogram() -> Figure {
    let rows = (0..9).map(|bin| Bar {
        name: format!("{} to {}", 1 << bin, (2 << bin) - 1),
        values: vec![(9000.0 * (-0.5 * (f64::from(bin) - 4.0).powi(2)).exp()).round()],
        text: String::new(),
    });
    Figure::Bars(Bars {
        title: "Rows by their number of nonzeros".to_owned(),
        label: "rows".to_owned(),
        parts: vec![String::new()],
        rows: rows.collect(),
        ..Bars::default()
    })
}

/// Where nonzeros lie.
pub(crate) fn spy() -> Figure {
    let values = (0..96 * 96).map(|cell: usize| {
        let (row, col) = (cell / 96, cell % 96);
        match row.abs_diff(col) {
            0 => 4000.0,
            distance if distance < 4 => 900.0,
            distance if distance == 24 || distance == 48 => 120.0,
            _ if noise(cell) > 0.97 => 3.0,
            _ => 0.0,
        }
    });
    let edge = |label: &str| Edge { label: label.to_owned(), first: 0.0, last: 2_097_152.0 };
    Figure::Grid(Grid {
        title: "Where the nonzeros are".to_owned(),
        note: "Every cell stands for 21 846 rows and columns.".to_owned(),
        x: edge("column"),
        y: edge("row"),
        rows: 96,
        cols: 96,
        values: values.collect(),
        shades: Shades::Counts,
        label: "nonzeros per cell".to_owned(),
    })
}

fn signed() -> Figure {
    let values = (0..8 * 20).map(|cell| (f64::from(cell % 20) - 9.5) * (1.0 + f64::from(cell / 20)));
    Figure::Grid(Grid {
        title: "Faster and slower than the baseline".to_owned(),
        x: Edge { label: "size".to_owned(), first: 1.0, last: 20.0 },
        y: Edge { label: "K".to_owned(), first: 1.0, last: 8.0 },
        rows: 8,
        cols: 20,
        values: values.collect(),
        shades: Shades::Signed,
        label: "percent faster".to_owned(),
        ..Grid::default()
    })
}

fn time_curve() -> Figure {
    let curve = |name: &str, level: f64, seed: usize| Series {
        name: name.to_owned(),
        style: Style::Curve,
        points: (0..120)
            .map(|step| {
                let y =
                    level * (1.0 + 0.5 * (-f64::from(step) / 15.0).exp()) + 0.4 * noise(seed + step as usize);
                Point { range: Some((y * 0.93, y * 1.07)), ..point(f64::from(step) * 0.5, y) }
            })
            .collect(),
        look: None,
    };
    Figure::Plot(Plot {
        title: "Time of a sample since the start".to_owned(),
        note: "The band holds 95 % of the samples.".to_owned(),
        x: Axis { from_zero: true, ..axis("seconds since the start", Scale::Linear) },
        y: axis("ms", Scale::Linear),
        series: vec![curve("clocks locked", 11.0, 1), curve("clocks free", 8.0, 900)],
        guides: vec![Guide {
            label: "warm-up ends".to_owned(),
            path: vec![(10.0, f64::NEG_INFINITY), (10.0, f64::INFINITY)],
        }],
    })
}

/// Names that nobody should give.
fn hostile() -> Figure {
    let names = ["<script>alert(1)</script> & \"quotes\"", "two\nlines, Ünïcödé, µs ≥ σ², α → 10⁻³, 行列"];
    let long = "a name that does not end ".repeat(20);
    let series = names.iter().copied().chain([long.as_str()]).enumerate().map(|(number, name)| Series {
        name: name.to_owned(),
        style: Style::Dots,
        points: vec![point(-3.0 * number as f64, 1e7 * (number as f64 - 1.0))],
        look: None,
    });
    Figure::Plot(Plot {
        title: long.clone(),
        note: long.clone(),
        x: axis(&long, Scale::Linear),
        y: axis(&long, Scale::Linear),
        series: series.collect(),
        guides: vec![Guide {
            label: long.clone(),
            path: vec![(f64::NEG_INFINITY, 0.0), (f64::INFINITY, 5e6)],
        }],
    })
}

fn gains_and_losses() -> Figure {
    let rows = (0..6).map(|number| Bar {
        name: format!(
            "{} {}",
            if number == 3 { "a very long name ".repeat(9) } else { "case".to_owned() },
            number
        ),
        values: vec![30.0 - 12.0 * f64::from(number), if number > 2 { -9.0 } else { 9.0 }],
        text: String::new(),
    });
    Figure::Bars(Bars {
        title: "Gains and losses".to_owned(),
        label: "percent".to_owned(),
        parts: vec!["by format".to_owned(), "by threads".to_owned()],
        rows: rows.collect(),
        ..Bars::default()
    })
}

/// Fields over a round outline, one of them without a value.
fn maps() -> Figure {
    let round = |radius: f64| -> Vec<(f64, f64)> {
        let turn = |part: i32| f64::from(part) / 36.0 * std::f64::consts::TAU;
        (0..=36).map(|part| (0.5 + radius * turn(part).sin(), 0.5 - radius * turn(part).cos())).collect()
    };
    let field = |shift: f64| -> Vec<f64> {
        let cell = |cell: i32| (f64::from(cell % 32) / 31.0 - 0.5, f64::from(cell / 32) / 31.0 - 0.5);
        (0..32 * 32)
            .map(cell)
            .map(|(x, y)| if x.hypot(y) < 0.47 { x * 9.0 + shift * y } else { f64::NAN })
            .collect()
    };
    let map = |title: &str, shift: f64| Map {
        title: title.to_owned(),
        measured: vec![0.0, shift],
        values: field(shift),
    };
    Figure::Maps(Maps {
        title: "Fields side by side".to_owned(),
        label: "µV".to_owned(),
        side: 32,
        outline: vec![round(0.45), vec![(0.45, 0.06), (0.5, 0.01), (0.55, 0.06)]],
        dots: vec![("middle".to_owned(), (0.5, 0.5)), ("<below>".to_owned(), (0.5, 0.75))],
        maps: vec![
            map("100 ms", 3.0),
            map("200 ms", -8.0),
            Map { title: "none".to_owned(), ..Map::default() },
        ],
        ..Maps::default()
    })
}

/// Many thin lines with one name.
fn thin() -> Figure {
    let line = |number: usize| {
        let at = move |step: usize| Point {
            text: format!("line {number}"),
            ..point(step as f64, noise(number) * (step as f64 / 9.0).sin())
        };
        (0..60).map(at).chain([point(f64::NAN, 0.0)])
    };
    let points = (0..40).flat_map(line).collect();
    let series = Series { name: "40 lines".to_owned(), style: Style::Thin, look: Some(7), points };
    Figure::Plot(Plot { title: "Many lines".to_owned(), series: vec![series], ..Plot::default() })
}

fn panels() -> Figure {
    let panel = |number: usize| Panel {
        name: format!("P{number}"),
        at: ((number % 3) as f64, (number / 3) as f64 + 0.2 * (number % 3) as f64),
        curves: (0..2)
            .map(|curve| {
                let value = |step: usize| {
                    if step == 20 { f64::NAN } else { noise(number + curve) * (step as f64 / 5.0).sin() }
                };
                (0..40).map(|step| (step as f64, value(step))).collect()
            })
            .collect(),
    };
    Figure::Panels(Panels {
        title: "Panels at places".to_owned(),
        note: "Both have the same axes.".to_owned(),
        x: (0.0, 39.0),
        y: (-1.0, 1.0),
        names: vec!["one".to_owned(), "other".to_owned()],
        size: (0.9, 0.7),
        panels: (0..7).map(panel).collect(),
    })
}

/// A panel for each of many lines.
pub(crate) fn multiples(count: usize) -> Figure {
    let Figure::Plot(plot) = rates(count) else { return rates(count) };
    let named = |series: &Series, name: &str, factor: f64| Series {
        name: name.to_owned(),
        points: series.points.iter().map(|at| point(at.x, at.y * factor)).collect(),
        ..Series::default()
    };
    let panel = |series: &Series| Multiple {
        name: series.name.clone(),
        series: vec![named(series, "1 thread", 0.6), named(series, "2 threads", 1.0)],
    };
    Figure::Multiples(Multiples {
        title: plot.title,
        note: "A panel for every variant, all others in grey.".to_owned(),
        x: plot.x,
        y: plot.y,
        panels: plot.series.iter().map(panel).collect(),
        others: vec![named(&plot.series[0], "left out", 0.2)],
        with_others: true,
        guides: plot.guides,
    })
}

/// Rates and times of some variants on matrices.
fn dots() -> Figure {
    let rows =
        ["stencil27:40", "powerlaw:100000x16", "a-matrix-with-a-very-long-name-of-a-file.mtx.gz", "band"];
    let series = |number: usize| DotSeries {
        name: format!("variant {number}"),
        is_grey: number > 7,
        values: (0..rows.len())
            .map(|row| {
                let rate = 4.0 + 12.0 * noise(number * 11 + row);
                vec![rate, 10f64.powi(row as i32) / rate]
            })
            .collect(),
        ..DotSeries::default()
    };
    Figure::Dots(Dots {
        title: "Across matrices".to_owned(),
        note: "Those that are not in colour are grey strokes.".to_owned(),
        axes: vec![
            Axis { from_zero: true, ..axis("GFLOP/s", Scale::Linear) },
            axis("time in ms", Scale::Log10),
        ],
        rows: rows.map(str::to_owned).to_vec(),
        series: (0..20).map(series).collect(),
    })
}

/// All of them by name.
pub(crate) fn all() -> Vec<(&'static str, Figure)> {
    vec![
        ("rates", rates(12)),
        ("thirty", rates(30)),
        ("roofline", roofline()),
        ("stacked", stacked()),
        ("bars", plain_bars(Scale::Linear)),
        ("bars-log", plain_bars(Scale::Log10)),
        ("histogram", histogram()),
        ("spy", spy()),
        ("signed", signed()),
        ("time-curve", time_curve()),
        ("maps", maps()),
        ("thin", thin()),
        ("panels", panels()),
        ("multiples", multiples(23)),
        ("few-multiples", multiples(2)),
        ("dots", dots()),
        ("hostile", hostile()),
        ("gains-and-losses", gains_and_losses()),
        ("empty", Figure::Plot(Plot { title: "Nothing measured".to_owned(), ..Plot::default() })),
    ]
}

/// Every figure in every way; in the folder `ORDITO_GALLERY`, where that is set, for the eye.
#[test]
fn every_figure_can_be_drawn_in_every_way() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = std::env::var_os("ORDITO_GALLERY")
        .map_or_else(|| scratch.path().to_owned(), std::path::PathBuf::from);
    std::fs::create_dir_all(&folder).unwrap();
    let mut body = String::new();
    for (name, figure) in all() {
        let svg = paper::render(&figure);
        let part = page::render(&figure, name);
        assert!(part.contains("<svg"), "{name}");
        assert!(![&svg, &part].iter().any(|text| text.contains("NaN") || text.contains("<script")), "{name}");
        #[cfg(feature = "png")]
        std::fs::write(folder.join(format!("{name}.png")), png::encode(&figure).unwrap()).unwrap();
        std::fs::write(folder.join(format!("{name}.svg")), svg).unwrap();
        body.push_str(&part);
    }
    let sheets = format!("{}{STYLE}", include_str!("style.css"));
    let head = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">";
    std::fs::write(
        folder.join("page.html"),
        format!("{head}<title>Gallery</title><style>{sheets}</style>{body}"),
    )
    .unwrap();
}
