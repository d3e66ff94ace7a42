//! A kind of study that the outputs have never heard of: what it gives as data is all that they need.

use std::path::Path;

use model::StudyRecord;
use testkit::studies::{CompareEnding, compare};

use super::{Answer, View};
use crate::study::chart::{Axis, Chart, Drawing, Format, Line, Mark, Shape, Style};
use crate::study::page::{Body, Cell, Column, Content, Figure, Judged, Link, Row, Section, Table};
use crate::{Tone, scale::Scale, study::words};

/// Which values of these knobs are best? Each with its effect on the load line, its interval, and what follows.
struct Tune {
    tried: Vec<(&'static str, f64, (f64, f64), &'static str)>,
    /// The load line of each trial, in their order.
    lines: Vec<f64>,
}

impl View for Tune {
    fn answer(&self, _: &StudyRecord) -> Answer {
        Answer::new(Tone::Good, "Tuned")
    }

    fn has_answer(&self) -> bool {
        true
    }

    fn body(&self, _: &StudyRecord, _: Link<'_>) -> Body {
        let chart = |chart: Chart| Content::Chart(Box::new(chart)).both();
        Body {
            figures: vec![Figure::new("Best", self.tried[0].0)],
            sections: vec![
                Section::new(
                    "knobs",
                    "Knobs",
                    vec![Content::Table(self.table()).both(), chart(self.effects())],
                ),
                Section::new("course", "Course", vec![chart(self.course())]),
            ],
        }
    }
}

impl Tune {
    fn table(&self) -> Table {
        let row = |(knob, ratio, ends, verdict): &(&str, f64, (f64, f64), &str)| {
            let judged = if *ratio > 1.0 { Judged::Met } else { Judged::Missed };
            let texts = [words::change(*ratio), words::ends(Some(*ends))].map(Cell::from);
            let cells = [Cell::from(*knob)].into_iter().chain(texts).chain([Cell::judged(*verdict, judged)]);
            Row { cells: cells.collect(), muted: false }
        };
        let columns = vec![
            Column::words("Knob", "Knobs"),
            Column::numbers("Change", "change"),
            Column::numbers("Interval", "interval"),
            Column::words("", ""),
        ];
        Table { columns, rows: self.tried.iter().map(row).collect(), ..Table::default() }
    }

    fn effects(&self) -> Chart {
        let marks: Vec<Mark> = (self.tried.iter().enumerate())
            .map(|(at, (knob, ratio, ends, _))| Mark {
                interval: Some(*ends),
                ..mark((*ratio, (self.tried.len() - at) as f64), knob)
            })
            .collect();
        let ends = self.tried.iter().flat_map(|(_, _, (low, high), _)| [*low, *high]);
        let x =
            Axis::round(Scale::around(ends.chain([1.0]), 0.06).expect("there are some"), Format::Change, "");
        let names = marks.iter().map(|mark| (mark.y, mark.title.clone())).collect();
        let y = Axis::at(Axis::numbered(marks.len(), "").scale, names, "");
        Chart {
            marks,
            drawing: Some(Drawing::Intervals("Effects".into())),
            ..Chart::new("Effects", "Effects on the load line", x, y)
        }
    }

    fn course(&self) -> Chart {
        let points = self.lines.iter().enumerate().map(|(at, line)| ((at + 1) as f64, *line));
        let marks: Vec<Mark> =
            points.clone().map(|(x, y)| mark((x, y), &format!("trial {x}: {y} users"))).collect();
        let best = points.scan(0.0, |best, (x, y)| {
            *best = f64::max(*best, y);
            Some((x, *best))
        });
        let y =
            Axis::round(Scale::from_zero(self.lines.iter().copied()).expect("some"), Format::Number, "users");
        Chart {
            lines: vec![Line::new("ink-1", best.collect())],
            marks,
            drawing: Some(Drawing::Points("Load line of each trial".into())),
            ..Chart::new(
                "Course",
                "The load line of each trial",
                Axis::numbered(self.lines.len(), "trial"),
                y,
            )
        }
    }
}

fn mark((x, y): (f64, f64), title: &str) -> Mark {
    let (shape, style) = (Shape::Square, Style::Solid);
    Mark { x, y, shape, style, ink: "ink-1".into(), title: title.into(), interval: None }
}

#[test]
fn a_new_kind_of_study_is_shown_by_every_output_without_new_code_for_it() {
    let tune = Tune {
        tried: vec![
            ("app.max_children=32", 1.12, (1.05, 1.2), "kept"),
            ("db.max_connections=50", 0.97, (0.9, 1.04), "dropped"),
        ],
        lines: vec![400.0, 420.0, 390.0, 448.0],
    };
    let record = compare(CompareEnding::Faster);
    let body = || tune.body(&record, &|_| None);
    let text = crate::terminal::study_text(&record, &body(), Path::new("/srv"), 80, false);
    for row in [
        "  app.max_children=32       +12 %  +5.0 to +20 %  kept",
        "  db.max_connections=50     -3.0 %  -10 to +4.0 %  dropped",
        "Load line of each trial",
    ] {
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.lines().any(|line| squeezed(line) == squeezed(row)), "{row}: {text}");
    }
    let intervals = text.split("\nEffects\n").nth(1).expect("a chart of intervals");
    assert!(intervals.lines().take(2).all(|line| line.contains('├') && line.contains('┤')), "{text}");
    let course = text.split("Load line of each trial\n").nth(1).expect("a chart of points");
    assert_eq!(course.lines().take(14).map(|line| line.matches('●').count()).sum::<usize>(), 4, "{text}");
    let page = crate::html::study_page(&record, Path::new("/srv"), body(), "");
    assert!(page.contains("<th scope=\"row\">app.max_children=32</th>"), "{page}");
    assert!(page.contains("<td class=\"words\"><span class=\"missed\">dropped</span>"), "{page}");
    assert_eq!(page.matches("<figure data-chart=\"points\"").count(), 2, "{page}");
    assert!(page.contains("<li>trial 4: 448 users</li>"), "{page}");
    let csv = tune.csv(&record);
    assert_eq!((csv.before.len(), csv.before[0].values.len(), csv.after.len()), (1, record.trials.len(), 0));
    assert_eq!(tune.answer(&record).word, "Tuned");
}
