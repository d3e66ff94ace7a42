//! Points against two axes, drawn with letters.

use crate::scale::Scale;

/// What is drawn.
pub(super) struct Plot<'a> {
    pub(super) x: Scale,
    pub(super) y: Scale,
    /// Each point with its letter; later ones cover earlier ones.
    pub(super) points: Vec<(f64, f64, char)>,
    /// A horizontal line, named at its right end.
    pub(super) limit: Option<(f64, &'a str)>,
    /// A part of the x axis that is shaded.
    pub(super) band: Option<(f64, f64)>,
    pub(super) x_label: &'a dyn Fn(f64) -> String,
    pub(super) y_label: &'a dyn Fn(f64) -> String,
    /// What stands after the last label of the x axis.
    pub(super) unit: &'a str,
}

/// Lines of a plot.
const HEIGHT: usize = 12;

impl Plot<'_> {
    /// The drawing, `width` columns wide.
    pub(super) fn lines(&self, width: usize) -> String {
        let limit =
            self.limit.filter(|(limit, _)| self.y.holds(*limit)).map(|(limit, name)| (self.row(limit), name));
        let mut labels: Vec<(usize, String)> = Vec::new();
        let exact = self.limit.iter().map(|(limit, _)| *limit);
        for tick in exact.chain(self.y.ticks(5)).filter(|tick| self.y.holds(*tick)) {
            let row = self.row(tick);
            if labels.iter().all(|(taken, _)| taken.abs_diff(row) > 1) {
                labels.push((row, (self.y_label)(tick)));
            }
        }
        let left = labels.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0);
        let right = limit.map_or(0, |(_, name)| name.chars().count() + 1);
        let cells = width.saturating_sub(left + right + 4).max(16);
        let grid = self.grid(cells, limit.map(|(row, _)| row));
        let mut text = String::new();
        for (row, line) in grid.iter().enumerate() {
            let label = labels.iter().find(|(of, _)| *of == row);
            let name =
                limit.filter(|(of, _)| *of == row).map_or(String::new(), |(_, name)| format!(" {name}"));
            let (label, mark) = label.map_or(("", '│'), |(_, label)| (label.as_str(), '┤'));
            let line: String = line.iter().collect();
            text.push_str(format!("  {label:>left$} {mark}{line}{name}").trim_end());
            text.push('\n');
        }
        text + &self.x_axis(cells, left)
    }

    fn grid(&self, cells: usize, limit: Option<usize>) -> Vec<Vec<char>> {
        let column = |x: f64| (self.x.position(x).clamp(0.0, 1.0) * (cells - 1) as f64).round() as usize;
        let mut grid = vec![vec![' '; cells]; HEIGHT];
        if let Some((low, high)) = self.band {
            let columns = column(low)..=column(high);
            grid.iter_mut().for_each(|line| line[columns.clone()].fill('░'));
        }
        if let Some(row) = limit {
            grid[row].iter_mut().step_by(2).for_each(|cell| *cell = '─');
        }
        for (x, y, letter) in &self.points {
            grid[self.row(*y)][column(*x)] = *letter;
        }
        grid
    }

    fn row(&self, y: f64) -> usize {
        HEIGHT - 1 - (self.y.position(y).clamp(0.0, 1.0) * (HEIGHT - 1) as f64).round() as usize
    }

    fn x_axis(&self, cells: usize, left: usize) -> String {
        let (mut axis, mut names) = (vec!['─'; cells], String::new());
        for tick in self.x.ticks(cells / 8) {
            let place = (self.x.position(tick) * (cells - 1) as f64).round() as usize;
            let label = (self.x_label)(tick);
            let begins = place.saturating_sub(label.chars().count() / 2);
            if !label.is_empty() && (begins > names.chars().count() || names.is_empty()) {
                axis[place] = '┬';
                names.push_str(&" ".repeat(begins - names.chars().count()));
                names.push_str(&label);
            }
        }
        let axis: String = axis.into_iter().collect();
        format!("  {:>left$} └{axis}\n  {:>left$}  {names} {}\n", "", "", self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::Kind;

    #[test]
    fn a_point_stands_where_its_axes_say() {
        let scale = |low: f64, high: f64| Scale { kind: Kind::Linear, low, high };
        let plot = Plot {
            x: scale(0.0, 10.0),
            y: scale(0.0, 11.0),
            points: vec![(0.0, 0.0, 'a'), (10.0, 11.0, 'b')],
            limit: Some((11.0, "limit")),
            band: Some((4.0, 6.0)),
            x_label: &|x| format!("{x}"),
            y_label: &|y| format!("{y}"),
            unit: "users",
        };
        let text = plot.lines(40);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), HEIGHT + 2, "{text}");
        assert!(lines[0].trim_start().starts_with("11 ┤─") && lines[0].ends_with("b limit"), "{text}");
        assert!(lines[HEIGHT - 1].contains("┤a") && lines[5].contains("░░░"), "{text}");
        assert!(lines[HEIGHT + 1].ends_with("10 users"), "{text}");
    }
}
