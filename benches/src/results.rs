//! Tables of docs/results: a row for each kept study, in the place of that of an earlier one that asked the same.

use std::path::{Path, PathBuf};

use model::StudyRecord;
use model::units::show_seconds;

use crate::{Failure, marks};

/// Where a row goes.
#[derive(Debug, clap::Args)]
pub(crate) struct Place {
    /// The commit that it was made with
    #[arg(long)]
    commit: String,
    /// Put the row into this page's table as well as printing it
    #[arg(long)]
    into: Option<PathBuf>,
}

impl Place {
    /// Prints the row of `cells`, of which the first two say what was asked; the last one is the commit.
    pub(crate) fn put<T: AsRef<str>>(&self, cells: &[T]) -> Result<(), Failure> {
        let all = cells.iter().map(AsRef::as_ref).chain([self.commit.as_str()]);
        // What would end a cell or a row.
        let all: Vec<String> = all.map(|cell| cell.replace('|', "/").replace('\n', " ")).collect();
        let row = format!("| {} |", all.join(" | "));
        println!("{row}");
        self.into.as_ref().map_or(Ok(()), |page| put_into(page, &row))
    }
}

/// A study that has its answer, and where its row goes.
#[derive(Debug, clap::Args)]
pub(crate) struct Kept {
    /// Its `study.json`
    study: PathBuf,
    #[command(flatten)]
    place: Place,
}

impl Kept {
    pub(crate) fn study(&self) -> Result<StudyRecord, Failure> {
        read_study(&self.study)
    }

    /// Puts the row of `cells`, of which the first two say what was asked; behind them comes what every study has: what it
    /// took, when, and the commit.
    pub(crate) fn put(&self, cells: &[&str], study: &StudyRecord) -> Result<(), Failure> {
        let took = format!("{} trials, {}", study.trials.len(), show_seconds(study.spent_s.round()));
        let day = study.started.get(..10).unwrap_or_default();
        self.place.put(&[cells, &[took.as_str(), day]].concat())
    }
}

/// The record in a `study.json`.
pub(crate) fn read_study(path: &Path) -> Result<StudyRecord, Failure> {
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read(path).map_err(|error| named(&error))?;
    Ok(serde_json::from_slice(&text).map_err(|error| named(&error))?)
}

fn put_into(path: &Path, row: &str) -> Result<(), Failure> {
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let page = std::fs::read_to_string(path).map_err(|error| named(&error))?;
    let page = with_row(&page, row).ok_or_else(|| named(&"it has no table"))?;
    marks::write(path, &page)
}

/// The page with the row in its first table, whose rows are in the order of their first two cells; absent where there is
/// no table.
fn with_row(page: &str, row: &str) -> Option<String> {
    let lines: Vec<&str> = page.lines().collect();
    let first = lines.iter().position(|line| line.starts_with("|---"))? + 1;
    let count = lines[first..].iter().take_while(|line| line.starts_with('|')).count();
    let mut rows: Vec<&str> = lines[first..first + count].to_vec();
    rows.retain(|known| key(known) != key(row));
    rows.push(row);
    rows.sort_by_key(|row| key(row));
    let all = [&lines[..first], &rows, &lines[first + count..]].concat();
    Some(all.join("\n") + "\n")
}

fn key(row: &str) -> (String, String) {
    let mut cells = row.split('|').skip(1).map(|cell| cell.trim().to_string());
    (cells.next().unwrap_or_default(), cells.next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_takes_the_place_of_that_which_asked_the_same_and_others_stay_in_order() {
        let page = "# Title\n\n| kit | stack | answer |\n|---|---|---|\n| a | one | 1 |\n| b | two | 2 |\n\nText | here.\n";
        let again = with_row(page, "| b | two | 3 |").expect("a table");
        assert_eq!(again, page.replace("| b | two | 2 |", "| b | two | 3 |"));
        let more = with_row(page, "| b | one | 4 |").expect("a table");
        assert_eq!(more, page.replace("| b | two | 2 |", "| b | one | 4 |\n| b | two | 2 |"));
        assert_eq!(with_row("no table\n", "| a | b |"), None);
    }
}
