//! Is what was asked for really seen?

use super::*;
use crate::frame::Frame;
use crate::ink::Letters;
use crate::ink::{Edge, TITLE, of_look};
use crate::outline::{polygon, polyline, rectangle};
use crate::palette::look;
use crate::paper::{HeadLine, MARGIN};
use crate::pen::{Anchor, Cells, Element, Lettering, Run, Shape, Stroke};
use crate::{Bar, Bars, Guide, Plot, Point, Series, Style};

/// A sheet of 100 by 60 units whose drawing begins at (10, 10).
fn drawn(drawing: Vec<Element>) -> Pixels {
    draw(&Sheet { width: 100.0, height: 60.0, drawing_top: 10.0, drawing, ..Sheet::default() }).unwrap()
}

/// Red, green and blue at a place of the drawing.
fn at(pixels: &Pixels, x: f64, y: f64) -> (u8, u8, u8) {
    let pixel = |units: f64| ((units + MARGIN) * SCALE) as usize;
    pixels.colours()[pixel(y) * pixels.width() + pixel(x)].into()
}

fn rgb(number: usize) -> (u8, u8, u8) {
    let [_, red, green, blue] = of_look(look(number)).0.to_be_bytes();
    (red, green, blue)
}

/// Pixels in a rectangle of the whole sheet, in units, that are darker than grey.
fn dark(pixels: &Pixels, frame: Frame) -> usize {
    let inside = |index: usize| {
        let unit = |pixel: usize| (pixel as f64 + 0.5) / SCALE;
        frame.holds((unit(index % pixels.width()), unit(index / pixels.width())))
    };
    let is_dark = |(index, pixel): &(usize, &[u8; 3])| pixel[1] < 128 && inside(*index);
    pixels.colours().iter().enumerate().filter(is_dark).count()
}

const WHITE: (u8, u8, u8) = (255, 255, 255);

fn shape(shape: Shape, number: usize, outline: crate::outline::Outline) -> Element {
    Element::Shape { shape, look: look(number), outline, told: "not seen".to_owned() }
}

#[test]
fn an_empty_sheet_is_white_and_twice_as_large() {
    let pixels = drawn(Vec::new());
    assert_eq!((pixels.width(), pixels.height()), (200, 120));
    assert!(pixels.colours().len() == 200 * 120 && pixels.colours().iter().all(|&pixel| pixel == [255; 3]));
}

#[test]
fn a_bar_has_its_colour_and_its_strength() {
    let bar = |number, left| shape(Shape::Bar, number, rectangle(left, 10.0, 20.0, 10.0));
    let pixels = drawn(vec![bar(1, 0.0), bar(9, 30.0)]);
    assert_eq!((at(&pixels, 10.0, 15.0), at(&pixels, 25.0, 15.0)), (rgb(1), WHITE));
    assert_eq!(at(&pixels, 10.0, 8.0), WHITE);
    // The second round of looks is paler.
    let ((red, ..), (full, ..)) = (at(&pixels, 40.0, 15.0), rgb(9));
    assert!(red > full && red < 255, "{red} {full}");
}

#[test]
fn lines_have_their_width_and_dashes_have_gaps() {
    let line = |number, y| shape(Shape::Line, number, polyline(vec![(0.0, y), (70.0, y)]));
    let pixels = drawn(vec![line(0, 10.0), line(8, 20.0)]);
    assert_eq!((at(&pixels, 30.0, 9.2), at(&pixels, 30.0, 10.7)), (rgb(0), rgb(0)));
    assert_eq!((at(&pixels, 30.0, 8.2), at(&pixels, 30.0, 11.7)), (WHITE, WHITE));
    // Seven units of colour, four without.
    assert_eq!((at(&pixels, 3.0, 20.0), at(&pixels, 9.0, 20.0)), (rgb(8), WHITE));
}

#[test]
fn bands_let_what_is_below_be_seen() {
    let around = polygon(vec![(0.0, 5.0), (40.0, 5.0), (40.0, 25.0), (0.0, 25.0)]);
    let pixels =
        drawn(vec![Element::Line(Stroke::Axis, (20.0, 0.0), (20.0, 30.0)), shape(Shape::Band, 0, around)]);
    let (band, below) = (at(&pixels, 10.0, 15.0), at(&pixels, 20.1, 15.0));
    assert!(band != WHITE && band.0 > 180 && below.0 < 120, "{band:?} {below:?}");
}

#[test]
fn cells_leave_no_lines_between_them() {
    let runs = (0..3).map(|row| Run { row, col: 0, length: 3 }).collect();
    let cells = Cells { hue: look(2), corner: (0.3, 0.3), size: (9.37, 7.91), shades: vec![(1.0, runs)] };
    let pixels = drawn(vec![Element::Cells(cells)]);
    for step in 2..40 {
        assert_eq!(at(&pixels, f64::from(step) * 0.5, f64::from(step) * 0.5), rgb(2), "{step}");
    }
    assert_eq!(at(&pixels, 30.0, 10.0), WHITE);
}

#[test]
fn what_is_not_in_the_picture_changes_nothing_and_takes_no_time() {
    let far = 1e300;
    let round = shape(Shape::Line, 8, polyline(vec![(-far, far), (200.0, 300.0), (far, 61.0)]));
    let drawing = vec![
        round,
        shape(Shape::Bar, 0, rectangle(-far, -far, far, 10.0)),
        shape(Shape::Point, 0, crate::outline::mark(crate::palette::Mark::Circle, (200.0, -40.0), 9.0)),
        Element::Text {
            lettering: Lettering::Value,
            anchor: Anchor::Start,
            place: (-far, 20.0),
            text: "l".to_owned(),
        },
        Element::Cells(Cells {
            hue: look(2),
            corner: (100.0, -20.0),
            size: (far, 3.0),
            shades: vec![(1.0, vec![Run { row: 9, col: 0, length: usize::MAX }])],
        }),
    ];
    let pixels = drawn(drawing);
    assert!(pixels.colours().iter().all(|&pixel| pixel == [255; 3]));
    // What is there only in part is drawn there.
    let pixels = drawn(vec![
        shape(Shape::Bar, 0, rectangle(-1e5, 10.0, 3e5, 10.0)),
        shape(Shape::Line, 1, polyline(vec![(-far, 35.0), (far, 35.0)])),
    ]);
    for x in [-9.5, 0.0, 40.0, 89.5] {
        assert_eq!((at(&pixels, x, 15.0), at(&pixels, x, 25.0)), (rgb(0), WHITE), "{x}");
        assert_eq!((at(&pixels, x, 35.0), at(&pixels, x, 37.0)), (rgb(1), WHITE), "{x}");
    }
}

#[test]
fn a_mask_covers_all_but_its_hole() {
    let hole = rectangle(10.0, 10.0, 10.0, 10.0);
    let pixels = drawn(vec![
        shape(Shape::Bar, 0, rectangle(0.0, 0.0, 30.0, 30.0)),
        Element::Mask(rectangle(0.0, 0.0, 30.0, 30.0).and(hole)),
        Element::Dot { place: (60.0, 10.0), radius: 3.0, told: String::new() },
    ]);
    assert_eq!((at(&pixels, 15.0, 15.0), at(&pixels, 5.0, 15.0)), (rgb(0), WHITE));
    assert_eq!((at(&pixels, 60.0, 10.0), at(&pixels, 60.0, 14.0)), ((0x1c, 0x1e, 0x21), WHITE));
}

#[test]
fn text_leaves_dark_pixels_where_its_anchor_puts_it() {
    let text = |anchor| Element::Text {
        lettering: Lettering::Tick,
        anchor,
        place: (40.0, 20.0),
        text: "MMM".to_owned(),
    };
    let [left, right] =
        [(0.0, 50.0), (50.0, 100.0)].map(|(left, right)| Frame { left, top: 18.0, right, bottom: 30.5 });
    let (start, end) = (drawn(vec![text(Anchor::Start)]), drawn(vec![text(Anchor::End)]));
    assert!(dark(&start, right) > 50 && dark(&start, left) == 0);
    assert!(dark(&end, left) > 50 && dark(&end, right) == 0);
    let beyond = Frame { left: 0.0, top: 31.0, right: 100.0, bottom: 60.0 };
    assert_eq!(dark(&start, beyond), 0);
}

#[test]
fn labels_have_a_halo_and_titles_are_stronger() {
    let bar = shape(Shape::Bar, 0, rectangle(0.0, 0.0, 80.0, 40.0));
    let text = Element::Text {
        lettering: Lettering::Value,
        anchor: Anchor::Middle,
        place: (40.0, 20.0),
        text: "l".to_owned(),
    };
    let pixels = drawn(vec![bar, text]);
    let is_white = |step: i32| at(&pixels, 35.0 + f64::from(step) * 0.5, 15.0) == WHITE;
    assert!((0..20).any(is_white));
    let head = |letters: Letters| {
        let head = vec![HeadLine { baseline: 30.0, letters, text: "title".to_owned() }];
        let pixels = draw(&Sheet { width: 100.0, height: 60.0, head, ..Sheet::default() }).unwrap();
        dark(&pixels, Frame { left: 0.0, top: 0.0, right: 100.0, bottom: 60.0 })
    };
    assert!(head(TITLE) > head(Letters { edge: Edge::None, ..TITLE }));
}

#[test]
fn whole_figures_are_where_their_sheets_say() {
    let rows = vec![Bar { name: "a".into(), values: vec![4.0], text: "4".into() }];
    let sheet = paper::sheet(&Figure::Bars(Bars { title: "Title".into(), rows, ..Bars::default() }));
    let pixels = draw(&sheet).unwrap();
    let bar = |element: &&Element| matches!(element, Element::Shape { .. });
    let Some(Element::Shape { outline, .. }) = sheet.drawing.iter().find(bar) else { panic!("no bar") };
    let crate::outline::Piece::Rectangle { left, top, width, height } = outline.0[0] else {
        panic!("no rectangle")
    };
    assert_eq!(at(&pixels, left + width / 2.0, sheet.drawing_top - MARGIN + top + height / 2.0), rgb(0));
    let title = Frame { left: MARGIN, top: MARGIN, right: 100.0, bottom: sheet.head[0].baseline + 4.0 };
    assert!(dark(&pixels, title) > 100);
}

#[test]
fn guides_stay_within_the_plot() {
    let point = |x: f64| Point { x, y: 1.0 + x, ..Point::default() };
    let series = Series { style: Style::Dots, points: vec![point(0.0), point(1.0)], ..Series::default() };
    let path = vec![(f64::NEG_INFINITY, -1e6), (0.5, 1.5), (f64::INFINITY, 1e6)];
    let guides = vec![Guide { label: String::new(), path }];
    let plot = Plot { series: vec![series], guides, ..Plot::default() };
    let (with, without) = (
        paper::sheet(&Figure::Plot(plot.clone())),
        paper::sheet(&Figure::Plot(Plot { guides: Vec::new(), ..plot })),
    );
    let guide = |element: &Element| matches!(element, Element::Line(Stroke::Guide, ..));
    let lines: Vec<Element> = with.drawing.iter().filter(|element| guide(element)).cloned().collect();
    assert!(!lines.is_empty());
    let pixels = draw(&Sheet { drawing: lines, ..without.clone() }).unwrap();
    let height = without.legend_top - 3.0 * 14.0;
    let inside = Frame { left: MARGIN, top: without.drawing_top, right: 490.0, bottom: height };
    let everywhere = Frame { left: 0.0, top: 0.0, right: 500.0, bottom: 1000.0 };
    assert!(dark(&pixels, inside) > 100);
    assert_eq!(dark(&pixels, inside), dark(&pixels, everywhere));
}

#[test]
fn what_is_too_large_is_refused() {
    let sized = |width, height| encode_sheet(&Sheet { width, height, ..Sheet::default() });
    assert!(matches!(sized(8001.0, 10.0), Err(PngError::TooLarge { width: 8001, height: 10 })));
    assert!(matches!(sized(7000.0, 7000.0), Err(PngError::TooLarge { .. })));
    assert!(sized(f64::NAN, 7.0).is_ok_and(|png| png.starts_with(b"\x89PNG")));
}
