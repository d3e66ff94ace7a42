//! What a study shows as Markdown, for pages that people write on too.

use crate::study::page::{Column, Fact, Table};
use crate::terminal::Align;
use model::outside::one_line;

/// A table with the columns that pages have. Small lines below a cell's text stand behind it.
pub(crate) fn table(table: &Table) -> String {
    let shown: Vec<(usize, &Column)> =
        table.columns.iter().enumerate().filter(|(_, column)| column.on.page()).collect();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let headings = shown.iter().map(|(_, column)| in_cell(&column.title)).collect();
    let rules: Vec<&str> =
        shown.iter().map(|(_, column)| if column.align == Align::Right { "---:" } else { "---" }).collect();
    let rows = table.rows.iter().map(|row| {
        let cells = shown.iter().filter_map(|(at, _)| row.cells.get(*at));
        let text = |texts: Vec<&str>| in_cell(&texts.join("; "));
        line(
            cells
                .map(|cell| text([&cell.text].into_iter().chain(&cell.notes).map(String::as_str).collect()))
                .collect(),
        )
    });
    let rows: String = rows.collect();
    format!("{}|{}|\n{rows}", line(headings), rules.join("|"))
}

/// A list of sentences; who is quoted stands before what is said of it.
pub(crate) fn facts(facts: &[Fact]) -> String {
    let one = |fact: &Fact| match &fact.quote {
        Some(quote) => format!("- “{}” – {}\n", text(quote), text(&fact.text)),
        None => format!("- {}\n", text(&fact.text)),
    };
    facts.iter().map(one).collect()
}

/// Text in one line in which nothing begins a tag or a comment.
pub(crate) fn text(text: &str) -> String {
    let line = one_line(text);
    let mut shown = String::with_capacity(line.len());
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let begins = |next: &char| next.is_ascii_alphabetic() || matches!(next, '!' | '/' | '?');
        if letter == '<' && letters.peek().is_some_and(begins) {
            shown.push_str("&lt;");
        } else {
            shown.push(letter);
        }
    }
    shown
}

fn in_cell(cell: &str) -> String {
    text(cell).replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::page::{Cell, On, Row};

    #[test]
    fn a_table_has_the_columns_of_pages_and_nothing_ends_a_cell_or_begins_a_tag() {
        let columns = vec![
            Column::words("a | b", ""),
            Column::numbers("short", "").on(On::Terminal),
            Column::numbers("n", ""),
        ];
        let noted = Cell { notes: vec!["2".into(), "none: <b>".into()], ..Cell::from("1") };
        let cells = vec![Cell::from("x|y\n<!-- z"), Cell::from("gone"), noted];
        let shown = table(&Table { columns, rows: vec![Row { cells, muted: false }], ..Table::default() });
        assert_eq!(shown, "| a \\| b | n |\n|---|---:|\n| x\\|y &lt;!-- z | 1; 2; none: &lt;b> |\n");
    }

    #[test]
    fn a_limit_stays_as_it_is_written() {
        assert_eq!(text("`p95 < 2s`, 3 <4"), "`p95 < 2s`, 3 <4");
    }

    #[test]
    fn what_was_claimed_stands_before_what_came_of_it() {
        let claim = Fact { quote: Some("more is more".into()), text: "Contradicted.".into() };
        assert_eq!(
            facts(&[claim, Fact::from("Order: none.".to_string())]),
            "- “more is more” – Contradicted.\n- Order: none.\n"
        );
    }
}
