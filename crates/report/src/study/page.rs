//! What a kind of study shows, as data: the terminal and the HTML file draw it without knowing the kind.

use serde::Serialize;

use super::chart::{Chart, Shape, Style};
use crate::terminal::Align;

/// From a run's id to the address of its own report, as seen from the study's page.
pub(crate) type Link<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Everything that only one kind of study shows.
#[derive(Serialize)]
pub(crate) struct Body {
    /// What stands large at the top of the page.
    pub(crate) figures: Vec<Figure>,
    pub(crate) sections: Vec<Section>,
}

/// A figure at the top.
#[derive(Serialize)]
pub(crate) struct Figure {
    pub(crate) title: String,
    pub(crate) value: String,
}

impl Figure {
    pub(crate) fn new(title: impl Into<String>, value: impl Into<String>) -> Figure {
        Figure { title: title.into(), value: value.into() }
    }
}

/// Parts that belong together.
#[derive(Serialize)]
pub(crate) struct Section {
    /// Its anchor on the page.
    pub(crate) id: &'static str,
    /// Its heading on the page; without one its parts stand by themselves. A terminal has the parts' own headings.
    pub(crate) title: &'static str,
    pub(crate) parts: Vec<Part>,
}

impl Section {
    pub(crate) fn new(id: &'static str, title: &'static str, parts: Vec<Part>) -> Section {
        Section { id, title, parts }
    }
}

/// A part of a section, and where it is shown.
#[derive(Serialize)]
pub(crate) struct Part {
    #[serde(skip)]
    pub(crate) on: On,
    #[serde(flatten)]
    pub(crate) content: Content,
}

/// Where a part or a column is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    Both,
    /// The HTML file alone.
    Page,
    Terminal,
}

impl On {
    pub(crate) fn page(self) -> bool {
        self != On::Terminal
    }

    pub(crate) fn terminal(self) -> bool {
        self != On::Page
    }
}

/// What a part is.
#[derive(Serialize)]
#[serde(tag = "content", content = "of", rename_all = "snake_case")]
pub(crate) enum Content {
    /// A heading inside of a section.
    Heading(String),
    /// A paragraph that explains what follows.
    Lead(String),
    /// Short sentences, one below the other.
    Facts(Vec<Fact>),
    /// Names with their values.
    Pairs(Vec<(String, String)>),
    /// What marks mean.
    Key(Vec<Key>),
    Table(Table),
    Chart(Box<Chart>),
    /// Tables of a figure by two factors, the larger values darker.
    Maps(Vec<Map>),
    /// Where the time went and what holds the stack, from the study's diagnosis.
    Reasons,
}

impl Content {
    pub(crate) fn both(self) -> Part {
        Part { on: On::Both, content: self }
    }

    pub(crate) fn page(self) -> Part {
        Part { on: On::Page, content: self }
    }

    pub(crate) fn terminal(self) -> Part {
        Part { on: On::Terminal, content: self }
    }

    /// Facts that nobody is quoted with.
    pub(crate) fn facts(texts: impl IntoIterator<Item = String>) -> Content {
        Content::Facts(texts.into_iter().map(Fact::from).collect())
    }
}

/// A short sentence.
#[derive(Serialize)]
pub(crate) struct Fact {
    /// Somebody's words that it is about.
    pub(crate) quote: Option<String>,
    pub(crate) text: String,
}

impl From<String> for Fact {
    fn from(text: String) -> Fact {
        Fact { quote: None, text }
    }
}

/// What a mark or a shaded part means.
#[derive(Serialize)]
pub(crate) struct Key {
    /// The mark; absent for a shaded part.
    pub(crate) mark: Option<(Shape, Style)>,
    /// The CSS variable of its colour.
    pub(crate) ink: &'static str,
    pub(crate) name: String,
}

/// Rows of cells, as many in each as there are columns.
#[derive(Default, Serialize)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    /// On the page it is folded away behind this summary.
    pub(crate) folded: Option<String>,
    /// It says at length what maps say: a terminal on which those fit leaves it out.
    pub(crate) long_form: bool,
}

/// A column and its heading.
#[derive(Serialize)]
pub(crate) struct Column {
    pub(crate) title: String,
    /// The heading on a terminal.
    #[serde(skip)]
    pub(crate) short: String,
    pub(crate) align: Align,
    #[serde(skip)]
    pub(crate) on: On,
}

impl Column {
    /// Numbers, under that heading on the page and the other one on a terminal.
    pub(crate) fn numbers(title: impl Into<String>, short: impl Into<String>) -> Column {
        Column { title: title.into(), short: short.into(), align: Align::Right, on: On::Both }
    }

    /// Words.
    pub(crate) fn words(title: impl Into<String>, short: impl Into<String>) -> Column {
        Column { align: Align::Left, ..Column::numbers(title, short) }
    }

    /// The same column where only one of the two shows it.
    pub(crate) fn on(self, on: On) -> Column {
        Column { on, ..self }
    }
}

/// A row of a table.
#[derive(Default, Serialize)]
pub(crate) struct Row {
    pub(crate) cells: Vec<Cell>,
    /// What it says does not count.
    pub(crate) muted: bool,
}

/// A cell: its text, and what stands with it.
#[derive(Default, Clone, Serialize)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) judged: Judged,
    /// Where it leads.
    pub(crate) link: Option<String>,
    /// Small lines below the text; a terminal has no room for them.
    pub(crate) notes: Vec<String>,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell { text: text.into(), ..Cell::default() }
    }
}

impl Cell {
    pub(crate) fn judged(text: impl Into<String>, judged: Judged) -> Cell {
        Cell { judged, ..Cell::from(text.into()) }
    }
}

/// Whether a cell's value is good or bad news.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Judged {
    #[default]
    Plain,
    Met,
    Missed,
    Quiet,
}

/// A figure by two factors.
#[derive(Serialize)]
pub(crate) struct Map {
    /// The figure with its unit.
    pub(crate) title: String,
    /// The levels of all other factors.
    pub(crate) of: String,
    /// The title on a terminal.
    #[serde(skip)]
    pub(crate) short: String,
    pub(crate) rows_title: String,
    pub(crate) columns_title: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<(String, Vec<Heat>)>,
}

/// A cell of a map.
#[derive(Serialize)]
pub(crate) struct Heat {
    /// The value as text; in a cell without one why there is none, in a word.
    pub(crate) text: String,
    /// Why there is no value; absent where there is one.
    pub(crate) why: Option<&'static str>,
    /// Where the value lies among all of its figure, in percent.
    pub(crate) percent: f64,
}
