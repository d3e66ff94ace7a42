//! Columns of text.

use serde::Serialize;

/// On which side a column's text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Rows of cells; the first row is the heading. A cell may be painted: see [`Table::row_painted`].
pub(crate) struct Table {
    columns: Vec<Align>,
    rows: Vec<(Vec<String>, Option<Painter>)>,
}

type Painter = Box<dyn Fn(usize, &str) -> String>;

impl Table {
    /// A table with a heading.
    pub(crate) fn new(heading: &[(&str, Align)]) -> Table {
        let columns = heading.iter().map(|(_, align)| *align).collect();
        let mut table = Table { columns, rows: Vec::new() };
        table.row(heading.iter().map(|(text, _)| text.to_string()).collect());
        table
    }

    /// Appends a row.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push((cells, None));
    }

    /// Appends a row whose cells, already filled up to their width, go through `paint` with their column's number.
    pub(crate) fn row_painted(
        &mut self,
        cells: Vec<String>,
        paint: impl Fn(usize, &str) -> String + 'static,
    ) {
        self.rows.push((cells, Some(Box::new(paint))));
    }

    /// Whether nothing has to be cut in that many columns.
    pub(crate) fn fits(&self, width: usize) -> bool {
        total(&self.widths(), 1) <= width
    }

    /// How wide the columns are of their own.
    fn widths(&self) -> Vec<usize> {
        let widest = |column: usize| {
            self.rows
                .iter()
                .filter_map(|(row, _)| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        (0..self.columns.len()).map(widest).collect()
    }

    /// The lines where the last column gives way, down to its title: the others can't be copied when they are cut.
    pub(crate) fn lines_cut_last(mut self, width: usize) -> String {
        let widths = self.widths();
        let taken: usize = widths.iter().rev().skip(1).map(|width| width + 2).sum();
        let title =
            self.rows.first().and_then(|(heading, _)| heading.last()).map_or(0, |cell| cell.chars().count());
        let room = width.saturating_sub(taken).max(title);
        for cell in self.rows.iter_mut().filter_map(|(row, _)| row.last_mut()) {
            *cell = shorten(cell, room);
        }
        self.lines(width)
    }

    /// The lines, at most `width` columns wide: first the gaps give way, then the first column, down to 8 characters.
    pub(crate) fn lines(&self, width: usize) -> String {
        let mut widths = self.widths();
        let gap = if total(&widths, 2) <= width { 2 } else { 1 };
        let total = total(&widths, gap);
        if let Some(first) = widths.first_mut() {
            *first = (*first).min((*first + width).saturating_sub(total).max(8));
        }
        let line = |(row, paint): &(Vec<String>, Option<Painter>)| {
            let cells = row.iter().enumerate().map(|(column, cell)| {
                let width = widths.get(column).copied().unwrap_or(0);
                let cell = shorten(cell, width);
                let cell = match self.columns.get(column) {
                    Some(Align::Right) => format!("{cell:>width$}"),
                    _ => format!("{cell:<width$}"),
                };
                paint.as_ref().map_or_else(|| cell.clone(), |paint| paint(column, &cell))
            });
            cells.collect::<Vec<_>>().join(&" ".repeat(gap)).trim_end().to_string() + "\n"
        };
        self.rows.iter().map(line).collect()
    }
}

/// How wide columns are together, with that much between them.
fn total(widths: &[usize], gap: usize) -> usize {
    (widths.iter().sum::<usize>() + gap * widths.len()).saturating_sub(gap)
}

/// `text` in at most `width` characters; what is cut away is marked.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_string();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// `text` in lines of at most `width` characters: the first keeps the blanks it begins with, the others follow
/// `indent`.
pub(crate) fn wrap(text: &str, width: usize, indent: &str) -> String {
    let words = text.trim_start();
    let mut line = text[..text.len() - words.len()].to_string();
    let mut lines = Vec::new();
    let mut begun = false;
    for word in words.split(' ') {
        if begun && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::replace(&mut line, indent.to_string()));
        } else if begun {
            line.push(' ');
        }
        line.push_str(word);
        begun = true;
    }
    lines.push(line);
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_gives_way_in_its_first_column() {
        let mut table = Table::new(&[("name", Align::Left), ("value", Align::Right)]);
        table.row(vec!["a name that is long".into(), "1".into()]);
        assert_eq!(table.lines(80), "name                 value\na name that is long      1\n");
        assert_eq!(table.lines(20), "name           value\na name that i…     1\n");
        assert!(table.fits(25) && !table.fits(24), "19 and 5, and one between them");
    }

    #[test]
    fn long_text_is_wrapped_at_words() {
        assert_eq!(wrap("one two three four", 9, "  "), "one two\n  three\n  four");
        assert_eq!(wrap("  one two", 6, "    "), "  one\n    two");
        assert_eq!(wrap("unbreakable", 4, "  "), "unbreakable");
    }
}
