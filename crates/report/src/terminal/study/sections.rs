//! What a kind of study shows, as text.

use model::StudyRecord;

use super::charts;
use crate::explained::Tried;
use crate::study::page::{Body, Content, Fact, Judged, Key, Map, On, Section, Table};
use crate::terminal::holds::{self, Detail};
use crate::terminal::paint::Paint;
use crate::terminal::table::{self, Align, wrap};
use model::outside::one_line as plain;

/// The text of each section; empty where a section has nothing for a terminal.
pub(super) fn sections(record: &StudyRecord, body: &Body, width: usize, paint: Paint) -> Vec<String> {
    let parts = body.sections.iter().flat_map(|section| &section.parts);
    let mut maps = parts.filter(|part| part.on.terminal()).flat_map(|part| match &part.content {
        Content::Maps(maps) => maps.as_slice(),
        _ => &[],
    });
    // Maps that don't fit give way to the table that says the same at length.
    let maps = maps.next().is_some_and(|first| fits(first, width)) && maps.all(|map| fits(map, width));
    let of_section = |section: &Section| section_text(record, section, maps, width, paint);
    body.sections.iter().map(of_section).collect()
}

/// The parts one below the other, with a blank line above whatever has a heading of its own.
fn section_text(record: &StudyRecord, section: &Section, maps: bool, width: usize, paint: Paint) -> String {
    let mut text = String::new();
    for part in section.parts.iter().filter(|part| part.on.terminal()) {
        let (headed, block) = match &part.content {
            Content::Heading(heading) => (true, lines(heading, width, "  ")),
            Content::Lead(lead) => (false, lines(&format!("  {lead}"), width, "    ")),
            Content::Facts(facts) => (false, facts.iter().map(|fact| self::fact(fact, width)).collect()),
            Content::Pairs(pairs) => (false, pairs.iter().map(|pair| self::pair(pair, width)).collect()),
            Content::Key(keys) => (false, key(keys)),
            Content::Table(table) if table.long_form && maps => (false, String::new()),
            Content::Table(table) => (false, self::table(table, width, paint)),
            Content::Chart(chart) => (true, charts::drawing(chart, width)),
            Content::Maps(all) if maps => {
                (true, all.iter().map(|one| map(one, width)).collect::<Vec<_>>().join("\n"))
            }
            Content::Maps(_) => (true, String::new()),
            Content::Reasons => (true, reasons(record, width)),
        };
        if headed && !text.is_empty() && !block.is_empty() {
            text.push('\n');
        }
        text.push_str(&block);
    }
    text
}

fn lines(text: &str, width: usize, indent: &str) -> String {
    let own = text.len() - text.trim_start().len();
    wrap(&format!("{}{}", &text[..own], plain(text.trim_start())), width, indent) + "\n"
}

fn fact(fact: &Fact, width: usize) -> String {
    match &fact.quote {
        None => lines(&format!("  {}", fact.text), width, "    "),
        Some(quote) => {
            lines(&format!("  \"{quote}\""), width, "    ")
                + &lines(&format!("    {}", fact.text), width, "      ")
        }
    }
}

fn pair((name, value): &(String, String), width: usize) -> String {
    wrap(&format!("  {}  {}", plain(name), plain(value)), width, "    ") + "\n"
}

/// What the letters and the shaded parts of the drawing above mean.
fn key(keys: &[Key]) -> String {
    let one = |key: &Key| {
        let letter = key.mark.map_or('░', |(shape, style)| charts::letter(shape, style));
        format!("  {letter} {}", plain(&key.name))
    };
    keys.iter().map(one).collect::<String>() + "\n"
}

/// A table whose rows are indented below their heading; what is missed is red.
fn table(data: &Table, width: usize, paint: Paint) -> String {
    let shown: Vec<usize> = (0..data.columns.len()).filter(|at| data.columns[*at].on.terminal()).collect();
    let headings: Vec<String> = shown.iter().map(|at| plain(&data.columns[*at].short)).collect();
    let heading: Vec<(&str, Align)> =
        shown.iter().zip(&headings).map(|(at, name)| (name.as_str(), data.columns[*at].align)).collect();
    let mut table = table::Table::new(&heading);
    for row in &data.rows {
        let cells = shown.iter().filter_map(|at| row.cells.get(*at));
        let texts = cells.clone().enumerate().map(|(column, cell)| {
            let text = plain(&cell.text);
            if column == 0 { format!("  {text}") } else { text }
        });
        // What the page alone judges, a terminal leaves in its own colour.
        let missed: Vec<bool> = cells
            .zip(&shown)
            .map(|(cell, at)| cell.judged == Judged::Missed && data.columns[*at].on == On::Terminal)
            .collect();
        table.row_painted(texts.collect(), move |column, text| {
            if missed.get(column) == Some(&true) { paint.bad(text.trim_end()) } else { text.to_string() }
        });
    }
    table.lines(width)
}

/// One figure of two factors: rows and columns are their levels.
fn map(map: &Map, width: usize) -> String {
    let titles: Vec<String> = map.columns.iter().map(|level| plain(level)).collect();
    let corner = plain(&map.rows_title);
    let heading = std::iter::once((corner.as_str(), Align::Left))
        .chain(titles.iter().map(|title| (title.as_str(), Align::Right)));
    let mut table = table::Table::new(&heading.collect::<Vec<_>>());
    for (level, heats) in &map.rows {
        let values = heats.iter().map(|heat| match heat.why {
            None => heat.text.clone(),
            Some(_) => crate::figures::NOTHING.to_string(),
        });
        table.row(std::iter::once(format!("  {}", plain(level))).chain(values).collect());
    }
    format!("{}\n{}", plain(&map.short), table.lines(width))
}

/// Whether a map's columns have room.
fn fits(map: &Map, width: usize) -> bool {
    map.columns.iter().map(|level| level.chars().count().max(9) + 2).sum::<usize>() + 20 <= width
}

/// Where the time goes at the line, who is suspected, what to try.
fn reasons(record: &StudyRecord, width: usize) -> String {
    let reasons = |diagnosis| holds::reasons(diagnosis, Tried::of_study(record), Detail::Brief, width);
    record.diagnosis.as_ref().map(reasons).unwrap_or_default()
}
