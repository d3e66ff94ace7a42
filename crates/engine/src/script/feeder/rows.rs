//! A feeder's file, read: CSV with a header, or JSON's list of objects.

use csv::ByteRecord;
use model::{Problem, Result};
use serde_json::Value;

use crate::script::stack::Answer;

/// The rows of a feeder's file.
#[derive(Debug)]
pub enum Rows {
    /// The names, and for each row its values.
    Csv(ByteRecord, Vec<ByteRecord>),
    /// Objects.
    Json(Vec<Value>),
}

impl Rows {
    /// Reads the text of `file`, as JSON when its name ends so, else as CSV.
    ///
    /// # Errors
    /// No rows, names that are empty or there twice, rows of another length, elements that are no objects: each with
    /// the file and, where there is one, the line.
    pub fn read(file: &str, text: &[u8]) -> Result<Rows> {
        let rows = if file.ends_with(".json") { json(file, text)? } else { csv(file, text)? };
        if rows.len() == 0 {
            return Err(problem(file, None, "a feeder's file has no rows").into());
        }
        Ok(rows)
    }

    /// How many there are.
    #[expect(clippy::len_without_is_empty, reason = "rows that are read are never empty")]
    pub fn len(&self) -> usize {
        match self {
            Rows::Csv(_, rows) => rows.len(),
            Rows::Json(rows) => rows.len(),
        }
    }

    /// The row of that number, from 0, as a script gets it.
    pub(super) fn row(&self, number: usize) -> Option<Answer<'_>> {
        match self {
            Rows::Csv(names, rows) => rows.get(number).map(|row| Answer::Row(names, row)),
            Rows::Json(rows) => rows.get(number).map(Answer::Json),
        }
    }
}

fn problem(file: &str, line: Option<u64>, what: impl Into<String>) -> Problem {
    let problem = Problem::recipe(what).file(file).why("sessions would be fed wrong rows");
    line.map_or(problem.clone(), |line| problem.line(line as u32))
}

fn csv(file: &str, text: &[u8]) -> Result<Rows> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut reader = csv::ReaderBuilder::new().from_reader(text);
    let wrong = |error: csv::Error| {
        let line = error.position().map(csv::Position::line);
        let what = match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                format!("this row has {len} values, but the header names {expected_len}")
            }
            _ => error.to_string(),
        };
        problem(file, line, what)
    };
    let names = reader.byte_headers().map_err(wrong)?.clone();
    for (index, name) in names.iter().enumerate() {
        if name.is_empty() || names.iter().take(index).any(|before| before == name) {
            let name = String::from_utf8_lossy(name);
            return Err(problem(
                file,
                Some(1),
                format!("the header's name `{name}` is empty or there twice"),
            )
            .into());
        }
    }
    let rows = reader.byte_records().collect::<std::result::Result<_, _>>().map_err(wrong)?;
    Ok(Rows::Csv(names, rows))
}

fn json(file: &str, text: &[u8]) -> Result<Rows> {
    let rows: Vec<Value> = serde_json::from_slice(text).map_err(|error| {
        let line = Some(error.line() as u64).filter(|line| *line > 0);
        problem(file, line, format!("a feeder's file is a JSON list of objects: {error}"))
    })?;
    match rows.iter().position(|row| !row.is_object()) {
        Some(index) => Err(problem(file, None, format!("element {} is not an object", index + 1)).into()),
        None => Ok(Rows::Json(rows)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_with_their_names() {
        let csv =
            Rows::read("users.csv", b"\xef\xbb\xbfname,password\r\n\"ann, b\",x\nbob,\n").expect("right");
        let Rows::Csv(names, rows) = &csv else { panic!("{csv:?}") };
        assert_eq!((names.len(), rows.len(), &rows[0][0], &rows[1][1]), (2, 2, &b"ann, b"[..], &b""[..]));
        let json = Rows::read("users.json", b"[{\"name\": \"ann\", \"age\": 7}, {}]").expect("right");
        assert_eq!(json.len(), 2);
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said_with_its_line() {
        for (file, text, expected) in [
            ("a.csv", "a,b\n1,2\n3\n", "a.csv:3: this row has 1 values, but the header names 2"),
            ("a.csv", "a,b\n", "a.csv: a feeder's file has no rows"),
            ("a.csv", "", "a.csv: a feeder's file has no rows"),
            ("a.csv", "a,a\n1,2\n", "a.csv:1: the header's name `a`"),
            ("a.json", "[{}\n,", "a.json:2: a feeder's file is a JSON list of objects"),
            ("a.json", "{}", "a.json:1: a feeder's file is a JSON list"),
            ("a.json", "[]", "a.json: a feeder's file has no rows"),
            ("a.json", "[{}, 1]", "a.json: element 2 is not an object"),
        ] {
            let problems = Rows::read(file, text.as_bytes()).expect_err(text).to_string();
            assert!(problems.starts_with(expected), "{text:?}: {problems}");
        }
    }
}
