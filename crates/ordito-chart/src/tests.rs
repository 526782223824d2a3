//! Every figure, however odd, is a picture that can be read.

use crate::*;

/// Numbers that are hard on axes.
const AWKWARD: [f64; 12] = [
    0.0,
    -0.0,
    1.0,
    -5.0,
    1e-300,
    1e300,
    -1e300,
    f64::MAX,
    5e-324,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
];

fn hostile() -> [String; 5] {
    [
        "<script>alert('x')</script>\"&".to_owned(),
        "x".repeat(500),
        "行列 Ünïcödé 🚀 \u{202E}back".to_owned(),
        "two\nlines\tand \0 nothing \u{FFFF}".to_owned(),
        String::new(),
    ]
}

/// Both pictures can be parsed, and no number in them went wrong.
fn check(figure: &Figure) {
    let (html, svg) = (page::render(figure, "f1"), paper::render(figure));
    for text in [&html, &svg] {
        let read = roxmltree::Document::parse(text);
        assert!(read.is_ok(), "{:?} in {text}", read.err());
        for node in read.unwrap().descendants() {
            for attribute in node.attributes() {
                let value = attribute.value();
                assert!(!value.contains("NaN") && !value.contains("inf"), "{attribute:?} of {node:?}");
            }
        }
        assert!(!text.contains("<script"));
    }
    inside(&html);
    inside(&svg);
}

/// No text begins or ends outside the picture, as far as that can be told without its font.
fn inside(text: &str) {
    let read = roxmltree::Document::parse(text).unwrap();
    let svg = read.descendants().find(|node| node.has_tag_name("svg")).unwrap();
    let size: Vec<f64> = svg.attribute("viewBox").unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
    for node in svg.descendants().filter(|node| node.has_tag_name("text")) {
        let number = |name| node.attribute(name).unwrap().parse::<f64>().unwrap();
        let small = node.attribute("font-size").map(|size| size.parse().unwrap());
        let small = small.or((node.attribute("class") == Some("panel")).then_some(ink::PANEL_LETTERS));
        let width = crate::text::width(node.text().unwrap_or(""), small.unwrap_or(13.0));
        let (x, y) = (number("x"), number("y"));
        let (left, right) = match node.attribute("text-anchor") {
            Some("end") => (x - width, x),
            Some("middle") => (x - width / 2.0, x + width / 2.0),
            _ => (x, x + width),
        };
        assert!(
            left >= -1.0 && right <= size[2] + 1.0 && y > 0.0 && y <= size[3],
            "{node:?} {left} {right} {size:?}"
        );
    }
}

fn plot(scale: Scale, style: Style, name: &str, points: Vec<Point>, guide: (f64, f64)) -> Figure {
    let axis = Axis { label: name.to_owned(), scale, ..Axis::default() };
    let series = Series { name: name.to_owned(), style, points, look: None };
    Figure::Plot(Plot {
        title: name.to_owned(),
        note: name.to_owned(),
        x: axis.clone(),
        y: axis,
        series: vec![series.clone(), series],
        guides: vec![
            Guide {
                label: name.to_owned(),
                path: vec![(f64::NEG_INFINITY, guide.1), (f64::INFINITY, guide.1)],
            },
            Guide { label: name.to_owned(), path: vec![guide, (1.0, 2.0), (3.0, f64::NAN)] },
        ],
    })
}

#[test]
fn the_gallery_is_sound() {
    for (_, figure) in gallery::all() {
        check(&figure);
    }
}

#[test]
fn awkward_numbers_make_sound_plots() {
    for scale in [Scale::Linear, Scale::Log2, Scale::Log10] {
        for style in [Style::Line, Style::Dots, Style::Curve] {
            for one in AWKWARD {
                for other in AWKWARD {
                    let points = [one, other].map(|y| Point {
                        x: one,
                        y,
                        range: Some((other, one)),
                        ..Point::default()
                    });
                    check(&plot(scale, style, "a", points[..1].to_vec(), (one, other)));
                    check(&plot(scale, style, "a", points.to_vec(), (other, one)));
                }
            }
        }
    }
}

#[test]
fn awkward_numbers_make_sound_bars_and_grids() {
    for scale in [Scale::Linear, Scale::Log2, Scale::Log10] {
        for one in AWKWARD {
            for other in AWKWARD {
                let row = |values: &[f64]| Bar {
                    name: "b".to_owned(),
                    values: values.to_vec(),
                    text: String::new(),
                };
                check(&Figure::Bars(Bars {
                    scale,
                    rows: vec![row(&[one]), row(&[other])],
                    ..Bars::default()
                }));
                check(&Figure::Bars(Bars {
                    scale,
                    rows: vec![row(&[one, other]), row(&[])],
                    ..Bars::default()
                }));
            }
        }
    }
    for shades in [Shades::Counts, Shades::Signed] {
        let edge = || Edge { label: "e".to_owned(), first: f64::NAN, last: 1e300 };
        let grid = Grid {
            rows: 3,
            cols: 4,
            shades,
            values: AWKWARD.to_vec(),
            x: edge(),
            y: edge(),
            ..Grid::default()
        };
        check(&Figure::Grid(grid.clone()));
        // More cells than values, and the other way round.
        check(&Figure::Grid(Grid { rows: 100, ..grid.clone() }));
        check(&Figure::Grid(Grid { rows: 1, cols: 1, ..grid.clone() }));
        check(&Figure::Grid(Grid { rows: usize::MAX, cols: 0, ..grid }));
    }
}

#[test]
fn awkward_numbers_make_sound_multiples_and_dots() {
    for scale in [Scale::Linear, Scale::Log2, Scale::Log10] {
        for one in AWKWARD {
            for other in AWKWARD {
                let Figure::Plot(plot) = plot(
                    scale,
                    Style::Line,
                    "a",
                    vec![Point { x: one, y: other, ..Point::default() }; 2],
                    (one, other),
                ) else {
                    panic!("no plot")
                };
                let panel = Multiple { name: "p".to_owned(), series: plot.series.clone() };
                check(&Figure::Multiples(Multiples {
                    x: plot.x.clone(),
                    y: plot.y,
                    panels: vec![panel; 5],
                    others: plot.series,
                    with_others: true,
                    guides: plot.guides,
                    ..Multiples::default()
                }));
                let series = |is_grey| DotSeries {
                    is_grey,
                    values: vec![vec![one, other], vec![other], vec![], vec![one, one, one]],
                    ..DotSeries::default()
                };
                check(&Figure::Dots(Dots {
                    axes: vec![plot.x.clone(), plot.x],
                    rows: vec!["r".to_owned(); 3],
                    series: vec![series(false), series(true)],
                    ..Dots::default()
                }));
            }
        }
    }
}

#[test]
fn hostile_names_are_harmless() {
    for name in hostile() {
        let points = vec![Point { x: 1.0, y: 2.0, text: name.clone(), ..Point::default() }];
        for style in [Style::Line, Style::Dots] {
            check(&plot(Scale::Linear, style, &name, points.clone(), (1.0, 1.5)));
        }
        let rows = vec![Bar { name: name.clone(), values: vec![1.0, 2.0], text: name.clone() }];
        let texts = (name.clone(), name.clone(), name.clone());
        let (title, note, label) = texts.clone();
        check(&Figure::Bars(Bars {
            title,
            note,
            label,
            parts: vec![name.clone()],
            rows,
            scale: Scale::Linear,
        }));
        let series = Series { name: name.clone(), points: points.clone(), ..Series::default() };
        let label = || Axis { label: name.clone(), ..Axis::default() };
        let panel = Multiple { name: name.clone(), series: vec![series.clone(), Series::default()] };
        let panels = vec![panel; 7];
        let (x, y, others) = (label(), label(), vec![series]);
        check(&Figure::Multiples(Multiples { x, y, panels, others, ..Multiples::default() }));
        let series = DotSeries {
            name: name.clone(),
            values: vec![vec![1.0, 2.0]; 2],
            texts: vec![name.clone()],
            ..DotSeries::default()
        };
        check(&Figure::Dots(Dots {
            axes: vec![label(), label()],
            rows: vec![name.clone(); 2],
            series: vec![series],
            ..Dots::default()
        }));
        let edge = || Edge { label: name.clone(), first: 0.0, last: 1.0 };
        let (title, note, label) = texts;
        let (x, y) = (edge(), edge());
        check(&Figure::Grid(Grid {
            title,
            note,
            label,
            x,
            y,
            rows: 1,
            cols: 2,
            values: vec![1.0, 2.0],
            shades: Shades::Counts,
        }));
        assert!(roxmltree::Document::parse(&page::render(&gallery::rates(2), &name)).is_ok());
    }
}

#[test]
fn figures_without_data_say_so() {
    for figure in
        [Figure::Plot(Plot::default()), Figure::Bars(Bars::default()), Figure::Grid(Grid::default())]
    {
        check(&figure);
        assert!(page::render(&figure, "f").contains("nothing to draw"));
        assert!(paper::render(&figure).contains("nothing to draw"));
    }
}

#[test]
fn a_page_has_buttons_marks_and_numbers() {
    let html = page::render(&gallery::rates(12), "rates");
    assert_eq!(html.matches("<button type=\"button\" aria-pressed=\"true\" data-series=").count(), 12);
    assert_eq!(html.matches("<g class=\"series s").count(), 24);
    assert_eq!(html.matches("<path class=\"point\"").count(), 12 * 6 + 12);
    assert!(html.contains("<details><summary>Numbers</summary>"));
    assert!(html.contains("aria-labelledby=\"rates-title rates-desc\""));
    assert!(!page::render(&gallery::rates(1), "one").contains("class=\"legend\""));
}

#[test]
fn missing_points_leave_a_gap() {
    let ys = [1.0, 2.0, f64::NAN, 3.0, 4.0];
    let points = ys.iter().enumerate().map(|(x, &y)| Point { x: x as f64, y, ..Point::default() }).collect();
    let series = vec![Series { points, ..Series::default() }];
    let html = page::render(&Figure::Plot(Plot { series, ..Plot::default() }), "gap");
    assert_eq!((html.matches("class=\"line\"").count(), html.matches("class=\"point\"").count()), (2, 4));
}

#[test]
fn paper_grows_with_its_legend() {
    let height = |count| {
        let svg = paper::render(&gallery::rates(count));
        let read = roxmltree::Document::parse(&svg).unwrap();
        read.root_element().attribute("height").unwrap().parse::<u32>().unwrap()
    };
    let (few, many) = (height(2), height(30));
    assert!(many > few + 200, "{few} {many}");
}

/// Both ways to a file have the same size.
#[cfg(feature = "png")]
#[test]
fn pixels_are_twice_as_many_as_units() {
    let figure = gallery::rates(2);
    let (svg, png) = (paper::render(&figure), png::encode(&figure).unwrap());
    let read = roxmltree::Document::parse(&svg).unwrap();
    let side = |name| read.root_element().attribute(name).unwrap().parse::<u32>().unwrap();
    assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
    assert_eq!(png[16..20], (2 * side("width")).to_be_bytes());
    assert_eq!(png[20..24], (2 * side("height")).to_be_bytes());
}

#[test]
fn a_large_grid_stays_small() {
    let svg = paper::render(&gallery::spy());
    assert!(svg.len() < 60_000, "{}", svg.len());
}

#[test]
fn a_curve_of_very_many_points_stays_small() {
    let points =
        (0..200_000).map(|step| Point { x: f64::from(step), y: f64::from(step % 97), ..Point::default() });
    let series = vec![Series { style: Style::Curve, points: points.collect(), ..Series::default() }];
    let figure = Figure::Plot(Plot { series, ..Plot::default() });
    check(&figure);
    assert!(page::render(&figure, "curve").len() < 80_000);
}
