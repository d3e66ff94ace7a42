//! An SQL file of a kit: rendered when its name ends in `.j2`, split into statements that know their lines.

use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};
use model::{Problem, Result, catalogue::setting};
use mysql::Conn;
use mysql::prelude::Queryable;

use super::server;
use crate::folder::{Kit, Setup};

/// One statement and the line on which it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) line: u32,
    pub(crate) text: String,
}

impl Statement {
    /// Its first words, for progress and messages: `alter table ORDERLINES`.
    pub(crate) fn title(&self) -> String {
        self.text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
    }

    /// Runs it; `file` is where it stands.
    pub(crate) fn run(&self, conn: &mut Conn, file: &str) -> Result<()> {
        conn.query_drop(&self.text)
            .map_err(|error| server::problem(&error, &self.title()).file(file).line(self.line).into())
    }
}

/// The text of one of the kit's SQL files. One that ends in `.j2` is rendered with `kit.name`, `kit.size.NAME` and
/// `kit.params.NAME`, like the files of the application.
pub(crate) fn text(kit: &Kit, file: &str, setup: &Setup) -> Result<String> {
    let text = kit.text(file)?;
    if !file.ends_with(".j2") {
        return Ok(text.to_string());
    }
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    let size = setup.size.iter().map(|(name, value)| (name.clone(), number(*value)));
    let params = setup.params.iter().map(|(name, value)| (name.clone(), param(value)));
    let about = [
        ("name", Value::from(kit.manifest.name.as_str())),
        ("size", Value::from_pairs(size)),
        ("params", Value::from_pairs(params)),
    ];
    let context = Value::from_pairs([("kit", Value::from_pairs(about))]);
    environment.render_str(text, context).map_err(|error| {
        let problem = Problem::recipe(format!("can't be rendered: {error}")).file(kit.path_of(file));
        match error.line() {
            Some(line) => problem.line(line as u32).into(),
            None => problem.into(),
        }
    })
}

/// Whole numbers are printed without a point.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 { Value::from(value as i64) } else { Value::from(value) }
}

fn param(value: &setting::Value) -> Value {
    match value {
        setting::Value::Bool(value) => Value::from(*value),
        setting::Value::Int(value) => Value::from(*value),
        setting::Value::Float(value) => Value::from(*value),
        setting::Value::Text(value) => Value::from(value.as_str()),
    }
}

/// Splits `text` as the mysql client does: at `;` outside of quotes and comments, or at what the last `DELIMITER`
/// line says. Comments before a statement are left out.
pub(crate) fn statements(text: &str) -> Vec<Statement> {
    let mut splitter =
        Splitter { delimiter: ";".to_string(), line: 1, start: 1, current: String::new(), list: Vec::new() };
    let mut rest = text;
    while !rest.is_empty() {
        rest = splitter.step(rest);
    }
    splitter.end();
    splitter.list
}

struct Splitter {
    delimiter: String,
    line: u32,
    start: u32,
    current: String,
    list: Vec<Statement>,
}

impl Splitter {
    /// Takes the next piece of `rest` and gives what remains.
    fn step<'a>(&mut self, rest: &'a str) -> &'a str {
        let blank = self.current.trim().is_empty();
        if blank && rest.get(..10).is_some_and(|word| word.eq_ignore_ascii_case("delimiter ")) {
            let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
            self.delimiter = line[10..].trim().to_string();
            self.line += 1;
            return after;
        }
        if rest.starts_with(&self.delimiter) {
            self.end();
            return &rest[self.delimiter.len()..];
        }
        if rest.starts_with("-- ") || rest.starts_with("--\n") || rest.starts_with('#') {
            return &rest[rest.find('\n').unwrap_or(rest.len())..];
        }
        if rest.starts_with("/*") && !rest.starts_with("/*!") {
            let length = rest.find("*/").map_or(rest.len(), |at| at + 2);
            self.line += count_lines(&rest[..length]);
            return &rest[length..];
        }
        let first = rest.chars().next().unwrap_or_default();
        let length = if matches!(first, '\'' | '"' | '`') { quoted(rest, first) } else { first.len_utf8() };
        if blank && !first.is_whitespace() {
            self.start = self.line;
        }
        self.current.push_str(&rest[..length]);
        self.line += count_lines(&rest[..length]);
        &rest[length..]
    }

    fn end(&mut self) {
        let text = std::mem::take(&mut self.current);
        if !text.trim().is_empty() {
            self.list.push(Statement { line: self.start, text: text.trim().to_string() });
        }
    }
}

/// The length of the quoted text at the beginning of `rest`, both quotes included. A doubled quote is two texts side
/// by side to a splitter.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote != '`' => escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

fn count_lines(text: &str) -> u32 {
    text.bytes().filter(|byte| *byte == b'\n').count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(u32, String)> {
        statements(text).into_iter().map(|statement| (statement.line, statement.text)).collect()
    }

    #[test]
    fn statements_end_at_semicolons_outside_of_quotes_and_comments() {
        let text = "-- first; not a statement\nselect ';', \"a\\\";b\";\n\n/* ;\n */ select `;`\n  from t -- x;\n;select 1";
        let expected = [(2, "select ';', \"a\\\";b\""), (5, "select `;`\n  from t"), (7, "select 1")]
            .map(|(line, text)| (line, text.to_string()));
        assert_eq!(split(text), expected);
    }

    #[test]
    fn a_delimiter_line_keeps_the_body_of_a_trigger_together() {
        let text = "DELIMITER //\ncreate trigger t begin\n  a;\n  b;\nend //\nDELIMITER ;\nselect 1;\n";
        let expected = [(2, "create trigger t begin\n  a;\n  b;\nend"), (7, "select 1")]
            .map(|(line, text)| (line, text.to_string()));
        assert_eq!(split(text), expected);
    }

    #[test]
    fn an_unclosed_quote_or_comment_ends_with_the_file() {
        assert_eq!(split("select 'a; b"), [(1, "select 'a; b".to_string())]);
        assert_eq!(split("/* a; b"), []);
    }
}
