//! Points and lines over two axes.

use crate::drawing::{Drawing, nothing};
use crate::frame::{Frame, Spot};
use crate::outline::{mark, polygon, polyline};
use crate::palette::{Look, look};
use crate::pen::{Anchor, Lettering, Medium, Pen, Shape, Stroke};
use crate::room::{Room, along};
use crate::scale::{Fit, Ruler, drawable};
use crate::thin::thinned;
use crate::{Guide, Plot, Point, Series, Style, axes, text, ticks};

/// Of a mark.
pub(crate) const RADIUS: f64 = 4.0;
/// Half the width of the ends of an error bar.
const CAP: f64 = 4.0;

/// A plot's area and what its axes say about places in it.
pub(crate) struct Field<'a> {
    pub(crate) plot: &'a Plot,
    pub(crate) x: Ruler,
    pub(crate) y: Ruler,
    pub(crate) area: Frame,
    /// Of its marks.
    pub(crate) radius: f64,
}

/// The plot without title and legend.
pub(crate) fn draw(plot: &Plot, medium: Medium) -> Drawing {
    let points: Vec<&Point> =
        plot.series.iter().flat_map(|series| &series.points).filter(|point| usable(plot, point)).collect();
    if points.is_empty() {
        return nothing(medium);
    }
    let (x, y) = rulers(plot, &points);
    let area = axes::area(medium, &y, &plot.y.label);
    let field = Field { plot, x, y, area, radius: RADIUS };
    let mut pen = Pen::new(medium);
    pen.area(&field.area, field.x.linear_ends());
    axes::draw(&mut pen, &field.area, (&field.x, &plot.x.label), (&field.y, &plot.y.label));

    let mut room = Room::new(field.area);
    let guides: Vec<Vec<(Spot, Spot)>> = plot.guides.iter().map(|guide| field.guide(guide)).collect();
    for &(from, to) in guides.iter().flatten() {
        pen.line(Stroke::Guide, from, to);
        room.add_line(from, to);
    }
    for series in &plot.series {
        field.block(series, &mut room);
    }
    for (number, series) in plot.series.iter().enumerate() {
        let look = look(series.look.unwrap_or(number));
        pen.begin_series(number, look);
        field.series(&mut pen, series, look);
        field.lone_name(&mut pen, series, &mut room);
        pen.end_series();
    }
    for (guide, segments) in plot.guides.iter().zip(&guides) {
        let anchors: Vec<Spot> =
            segments.iter().rev().flat_map(|&(from, to)| along(from, to, 12.0)).collect();
        write(&mut pen, &mut room, Lettering::GuideLabel, &guide.label, &anchors, field.area.width());
    }
    Drawing { height: field.area.bottom + axes::below(medium), elements: pen.finish() }
}

/// Can this point be drawn?
pub(crate) fn usable(plot: &Plot, point: &Point) -> bool {
    drawable(plot.x.scale, point.x) && drawable(plot.y.scale, point.y)
}

/// What a reader who points at a point is told.
fn told(plot: &Plot, series: &Series, point: &Point) -> String {
    if !point.text.is_empty() {
        return point.text.clone();
    }
    let named = |label: &str, value: f64| match label {
        "" => ticks::plain(value),
        label => format!("{label}: {}", ticks::plain(value)),
    };
    let parts = [series.name.clone(), named(&plot.x.label, point.x), named(&plot.y.label, point.y)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Axes that hold the points, their ranges, the corners of guides, and guides where they pass through the plot.
pub(crate) fn rulers(plot: &Plot, points: &[&Point]) -> (Ruler, Ruler) {
    let corners = || {
        plot.guides.iter().flat_map(|guide| {
            let inner = guide.path.len().saturating_sub(2);
            guide.path.iter().skip(1).take(inner)
        })
    };
    let xs: Vec<f64> = points.iter().map(|point| point.x).chain(corners().map(|corner| corner.0)).collect();
    let x = Ruler::new(&plot.x, &xs, Fit::Padded);
    let passing = plot.guides.iter().flat_map(|guide| &guide.path);
    let passing = passing.filter(|(at, _)| at.is_infinite() || x.holds(*at)).map(|(_, y)| *y);
    let ranges = points.iter().filter_map(|point| point.range).flat_map(|(from, to)| [from, to]);
    let ys: Vec<f64> = points.iter().map(|point| point.y).chain(ranges).chain(passing).collect();
    let y = Ruler::new(&plot.y, &ys, Fit::Round);
    (x, y)
}

impl Field<'_> {
    fn place(&self, point: &Point) -> Option<Spot> {
        let (across, up) = (self.x.at(point.x)?, self.y.at(point.y)?);
        usable(self.plot, point).then(|| self.area.place(across, up))
    }

    /// Heights of the ends of a point's uncertainty.
    fn range(&self, point: &Point) -> Option<(f64, f64)> {
        let (from, to) = point.range?;
        let height = |value| Some(self.area.place(0.0, self.y.at_or_end(value)?.clamp(0.0, 1.0)).1);
        Some((height(from)?, height(to)?))
    }

    /// The parts of a guide inside the plot.
    pub(crate) fn guide(&self, guide: &Guide) -> Vec<(Spot, Spot)> {
        let place = |&(x, y): &(f64, f64)| Some(self.area.place(self.x.at_or_end(x)?, self.y.at_or_end(y)?));
        let places: Vec<Spot> = guide.path.iter().filter_map(place).collect();
        places.windows(2).filter_map(|ends| self.area.clip(*ends.first()?, *ends.get(1)?)).collect()
    }

    /// Points that follow one another without a gap: a line drawn across one that is missing would claim a value there.
    pub(crate) fn runs<'s>(&self, series: &'s Series) -> Vec<Vec<(&'s Point, Spot)>> {
        let placed: Vec<_> = series.points.iter().map(|point| (point, self.place(point))).collect();
        let runs = placed.split(|(_, place)| place.is_none());
        let run = |run: &[(&'s Point, Option<Spot>)]| {
            let run: Vec<_> = run.iter().filter_map(|(point, place)| Some((*point, (*place)?))).collect();
            match series.style {
                Style::Curve | Style::Thin => thinned(&run),
                Style::Line | Style::Dots => run,
            }
        };
        runs.map(run).filter(|run| !run.is_empty()).collect()
    }

    /// Labels keep off this series.
    fn block(&self, series: &Series, room: &mut Room) {
        for run in self.runs(series) {
            for &(point, place) in &run {
                room.add_mark(place);
                if let Some((from, to)) = self.range(point).filter(|_| series.style == Style::Dots) {
                    room.add_line((place.0, from), (place.0, to));
                }
            }
            if series.style != Style::Dots {
                for ends in run.windows(2) {
                    if let [(_, from), (_, to)] = ends {
                        room.add_line(*from, *to);
                    }
                }
            }
        }
    }

    pub(crate) fn series(&self, pen: &mut Pen, series: &Series, look: Look) {
        let runs = self.runs(series);
        for run in &runs {
            match series.style {
                Style::Dots => self.error_bars(pen, run, look),
                Style::Line | Style::Curve | Style::Thin => {
                    self.band(pen, run, look);
                    let places: Vec<Spot> = run.iter().map(|(_, place)| *place).collect();
                    let (shape, name) = match (series.style, run.first()) {
                        (Style::Thin, Some((first, _))) => (Shape::Thin, &first.text),
                        _ => (Shape::Line, &series.name),
                    };
                    if places.len() > 1 {
                        pen.shape(shape, look, polyline(places), name);
                    }
                }
            }
        }
        for run in &runs {
            // A curve of one point would not be seen.
            if matches!(series.style, Style::Curve | Style::Thin) && run.len() > 1 {
                continue;
            }
            for &(point, place) in run {
                let mark = mark(look.mark, place, self.radius);
                pen.shape(Shape::Point, look, mark, &told(self.plot, series, point));
            }
        }
    }

    fn band(&self, pen: &mut Pen, run: &[(&Point, Spot)], look: Look) {
        let with_range: Vec<(f64, (f64, f64))> =
            run.iter().filter_map(|(point, place)| Some((place.0, self.range(point)?))).collect();
        if with_range.len() == 1 {
            self.error_bars(pen, run, look);
        } else if with_range.len() > 1 {
            let there = with_range.iter().map(|&(x, (from, _))| (x, from));
            let back = with_range.iter().rev().map(|&(x, (_, to))| (x, to));
            let around: Vec<Spot> = there.chain(back).collect();
            pen.shape(Shape::Band, look, polygon(around), "");
        }
    }

    fn error_bars(&self, pen: &mut Pen, run: &[(&Point, Spot)], look: Look) {
        for &(point, (x, _)) in run {
            if let Some((from, to)) = self.range(point) {
                let cap = |y: f64| polyline(vec![(x - CAP, y), (x + CAP, y)]);
                let bar = polyline(vec![(x, from), (x, to)]).and(cap(from)).and(cap(to));
                pen.shape(Shape::Range, look, bar, "");
            }
        }
    }

    /// A series of a single dot bears its name where there is room for it.
    fn lone_name(&self, pen: &mut Pen, series: &Series, room: &mut Room) {
        let places: Vec<Spot> = series.points.iter().filter_map(|point| self.place(point)).collect();
        if series.style == Style::Dots && places.len() == 1 {
            write(pen, room, Lettering::PointLabel, &series.name, &places, self.area.width() / 2.5);
        }
    }
}

/// Writes beside one of the anchors: names of points only where they lie on nothing, for the legend has them, too.
fn write(pen: &mut Pen, room: &mut Room, lettering: Lettering, label: &str, anchors: &[Spot], widest: f64) {
    let letters = pen.medium.letters();
    let label = text::cut(label, letters, widest - 12.0);
    let size = (text::width(&label, letters), letters * 1.1);
    if label.is_empty() {
        return;
    }
    if let Some(frame) = room.take(anchors, size, lettering == Lettering::PointLabel) {
        // Widths are estimates: the end that lies beside the anchor is the one that is kept.
        let left_of_anchor =
            anchors.iter().any(|anchor| anchor.0 > frame.right && anchor.0 < frame.right + 12.0);
        let (anchor, x) =
            if left_of_anchor { (Anchor::End, frame.right) } else { (Anchor::Start, frame.left) };
        pen.text(lettering, anchor, (x, frame.bottom - letters * 0.25), &label);
    }
}
