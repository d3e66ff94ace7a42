//! Which runs are meant: `kit:dvdstore tag:night users>50 since:7d`, as a command line and a page's field have it.

use model::document::nearest;
use model::{Problem, Problems, Result, units};
use rusqlite::types::Value as Cell;

use crate::columns::{Asked, COLUMNS, Column, GROUPED, SETUP, STUDY};
use crate::id::utc;
use crate::verdict::VERDICTS;

/// Terms that all hold for a run that is meant. Empty, it means all runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    conditions: Vec<Condition>,
}

/// A term as the index is asked for it.
#[derive(Debug, Clone, PartialEq)]
struct Condition {
    sql: String,
    cells: Vec<Cell>,
    /// It names the study that runs belong to.
    of_study: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Ordering {
    Below,
    UpTo,
    Above,
    From,
    Equal,
}

/// Longer operators first: `<=` begins with `<`.
const OPERATORS: [(&str, Ordering); 5] = [
    ("<=", Ordering::UpTo),
    (">=", Ordering::From),
    ("<", Ordering::Below),
    (">", Ordering::Above),
    ("=", Ordering::Equal),
];

const SINCE: &str = "since";
const UNTIL: &str = "until";
const IS: &str = "is";
const LIKE: &str = "like";

impl Filter {
    /// The filter that `text` says; `now_s` is the time in seconds of the Unix epoch, which `since:7d` counts from.
    ///
    /// # Errors
    /// Every term that says nothing, with what there is.
    pub fn read(text: &str, now_s: u64) -> Result<Filter> {
        let (mut conditions, mut problems) = (Vec::new(), Vec::new());
        for part in text.split_whitespace() {
            match condition(part, now_s) {
                Ok(condition) => conditions.push(condition),
                Err(problem) => problems.push(*problem),
            }
        }
        Problems::check(problems)?;
        Ok(Filter { conditions })
    }

    /// The runs of the same setup as that run, with whatever versions they were made.
    pub fn of_setup(run: &str) -> Filter {
        Filter { conditions: vec![Condition::like(run, &[SETUP])] }
    }

    /// Whether it names the study that runs belong to.
    pub(crate) fn names_study(&self) -> bool {
        self.conditions.iter().any(|condition| condition.of_study)
    }

    /// What it asks of a row of the index, as SQL with `?` for each of the cells.
    pub(crate) fn sql(&self) -> (String, Vec<Cell>) {
        let terms = self.conditions.iter().map(|condition| format!(" AND {}", condition.sql));
        let cells = self.conditions.iter().flat_map(|condition| condition.cells.clone());
        (format!("true{}", terms.collect::<String>()), cells.collect())
    }
}

type Read<T> = std::result::Result<T, Box<Problem>>;

fn wrong<T>(what: String, remedy: impl Into<String>) -> Read<T> {
    Err(Box::new(Problem::recipe(what).key("--where").remedy(remedy)))
}

fn condition(part: &str, now_s: u64) -> Read<Condition> {
    if let Some((column, ordering, value)) = compared(part) {
        let value = match column.asked {
            Asked::Seconds => units::duration(value).map(|duration| duration.as_secs_f64()),
            _ => value.parse().map_err(|_| format!("`{value}` is no number")),
        };
        return match value {
            Ok(value) => Ok(ordering.condition(column, value)),
            Err(what) => wrong(format!("`{part}`: {what}"), "users>50, ops>=100, p95<300ms"),
        };
    }
    let Some((name, value)) = part.split_once(':') else {
        return Ok(contains(of_kind(Asked::Word), &part.to_lowercase()));
    };
    match name {
        SINCE => Ok(Condition::of(of_kind(Asked::Moment), ">= ?", text(moment(part, value, now_s)?))),
        UNTIL => Ok(Condition::of(of_kind(Asked::Moment), "< ?", text(moment(part, value, now_s)?))),
        IS => flag(value),
        LIKE => Ok(Condition::like(value, &GROUPED.map(|(name, _)| name))),
        _ => match COLUMNS.iter().find(|column| column.name == name) {
            Some(column) => named(column, part, value),
            None => unknown(name, part, value),
        },
    }
}

/// `users>50`, where there is such a column.
fn compared(part: &str) -> Option<(&'static Column, Ordering, &str)> {
    OPERATORS.iter().find_map(|(sign, ordering)| {
        let (name, value) = part.split_once(sign)?;
        let is_meant =
            |column: &&Column| column.name == name && matches!(column.asked, Asked::Number | Asked::Seconds);
        Some((COLUMNS.iter().find(is_meant)?, *ordering, value))
    })
}

/// The first column that is asked for like that; of these kinds there is one.
fn of_kind(asked: Asked) -> &'static Column {
    COLUMNS
        .iter()
        .find(|column| column.asked == asked)
        .expect("the list of columns has one; a test asks for each")
}

/// `kit:dvd`.
fn named(column: &'static Column, part: &str, value: &str) -> Read<Condition> {
    match column.asked {
        Asked::Part => Ok(contains(column, &value.to_lowercase())),
        Asked::Line => Ok(contains(column, &format!("\n{}\n", value.to_lowercase()))),
        Asked::Setting if value.contains('=') => Ok(contains(column, &format!("\n{value}\n"))),
        Asked::Setting => Ok(contains(column, &format!("\n{value}="))),
        Asked::Verdict => match VERDICTS.into_iter().find(|verdict| verdict.replace(' ', "-") == value) {
            Some(verdict) => Ok(Condition::of(column, "= ?", text(verdict.to_string()))),
            None => {
                let known = VERDICTS.map(|verdict| verdict.replace(' ', "-")).join(", ");
                wrong(format!("there is no verdict `{value}`"), format!("one of {known}"))
            }
        },
        _ => unknown(column.name, part, value),
    }
}

/// `is:pinned`.
fn flag(value: &str) -> Read<Condition> {
    let flags = || COLUMNS.iter().filter(|column| column.asked == Asked::Flag);
    match flags().find(|column| column.name == value) {
        Some(column) => Ok(Condition::of(column, "= ?", Cell::Integer(1))),
        None => {
            let known = flags().map(|column| format!("{IS}:{}", column.name)).collect::<Vec<_>>();
            wrong(format!("a run can't be `{value}`"), known.join(", "))
        }
    }
}

fn unknown(name: &str, part: &str, value: &str) -> Read<Condition> {
    let with_colon = |asked| matches!(asked, Asked::Part | Asked::Line | Asked::Setting | Asked::Verdict);
    let named = COLUMNS.iter().filter(|column| with_colon(column.asked)).map(|column| column.name);
    let known = named.chain([SINCE, UNTIL, IS, LIKE]);
    let all = known.clone().map(|name| format!("{name}:")).collect::<Vec<_>>().join(" ");
    let remedy = match nearest(name, known) {
        Some(near) if near != name => format!("`{near}:{value}`"),
        _ => format!("{all} users> ops> p95< or a word"),
    };
    wrong(format!("`{part}`: runs have no `{name}:`"), remedy)
}

impl Condition {
    /// The column's cell compared as `sql` has it.
    fn of(column: &Column, sql: &str, cell: Cell) -> Condition {
        Condition { sql: format!("\"{}\" {sql}", column.name), cells: vec![cell], of_study: false }
    }

    /// What a run of that id has in common with itself.
    fn like(run: &str, columns: &[&str]) -> Condition {
        let columns = columns.join(", ");
        let sql = format!("({columns}) IN (SELECT {columns} FROM run WHERE id = ?)");
        Condition { sql, cells: vec![text(run.to_string())], of_study: false }
    }
}

fn contains(column: &Column, part: &str) -> Condition {
    let sql = format!("instr(\"{}\", ?) > 0", column.name);
    Condition { sql, cells: vec![text(part.to_string())], of_study: column.name == STUDY }
}

fn text(value: String) -> Cell {
    Cell::Text(value)
}

/// `2026-11-21` and what is longer as it is, `36h` and `7d` as long before now.
fn moment(part: &str, value: &str, now_s: u64) -> Read<String> {
    let is_date = value.len() >= 10
        && value.char_indices().all(|(place, one)| match place {
            4 | 7 => one == '-',
            10 => one == 'T' || one == 'Z',
            _ => one.is_ascii_digit() || ":Z".contains(one),
        });
    if is_date {
        return Ok(value.to_string());
    }
    let ago_s = match value.strip_suffix('d') {
        Some(days) => days.parse::<f64>().ok().filter(|days| *days >= 0.0).map(|days| days * 86_400.0),
        None => units::duration(value).ok().map(|duration| duration.as_secs_f64()),
    };
    match ago_s {
        Some(ago_s) => Ok(utc(now_s.saturating_sub(ago_s as u64))),
        None => wrong(
            format!("`{part}` is neither a day nor a length of time"),
            "since:2026-11-21, since:2026-11-21T08:00 or since:36h",
        ),
    }
}

impl Ordering {
    fn condition(self, column: &Column, value: f64) -> Condition {
        let sql = match self {
            Ordering::Below => "< ?",
            Ordering::UpTo => "<= ?",
            Ordering::Above => "> ?",
            Ordering::From => ">= ?",
            Ordering::Equal => "BETWEEN ? AND ?",
        };
        let mut condition = Condition::of(column, sql, Cell::Real(value));
        if self == Ordering::Equal {
            // What is written in decimals is rarely what was measured, to the last bit.
            let width = 1e-9 * value.abs();
            condition.cells = vec![Cell::Real(value - width), Cell::Real(value + width)];
        }
        condition
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use model::Value;
    use model::record::Outcome;

    use super::*;
    use crate::index::{Entry, Index};
    use crate::notes::Notes;
    use crate::select::Scope;
    use crate::summary::RunSummary;

    /// 2026-11-27T12:00:00Z.
    const NOW_S: u64 = 1_795_780_800;

    fn run() -> RunSummary {
        let mut run = RunSummary::unreadable(
            "20261126-091500-dvdstore-7f3a",
            std::path::Path::new("/nowhere"),
            String::new(),
        );
        run.started = "2026-11-26T09:15:00Z".to_string();
        run.kit = "dvdstore@1".to_string();
        run.stack = "apache-prefork-modphp-mariadb".to_string();
        run.size = "small".to_string();
        run.users = 60;
        run.outcome = Some(Outcome::Completed);
        (run.valid, run.pass) = (true, Some(false));
        (run.operations_per_s, run.worst_p95_s) = (Some(112.5), Some(0.31));
        run.study = Some("20261126-090000-find-dvdstore-1111".to_string());
        run.given.set = BTreeMap::from([("web.MaxRequestWorkers".to_string(), Value::Int(64))]);
        run.notes = Notes {
            note: "After the upgrade".to_string(),
            tags: BTreeSet::from(["Night".to_string()]),
            pinned: true,
            ..Notes::default()
        };
        run
    }

    fn holds(text: &str) -> bool {
        let filter = Filter::read(text, NOW_S).unwrap_or_else(|problems| panic!("{text}: {problems}"));
        let mut index = Index::in_memory().expect("there is memory");
        index.put(&[Entry { stamp: String::new(), summary: run() }]).expect("there is room");
        index.count(&filter, Scope::All).expect("it can be asked") == 1
    }

    #[test]
    fn every_term_holds_for_what_it_says_and_for_nothing_else() {
        for (yes, no) in [
            ("", "webshop"),
            ("kit:dvd", "kit:tpcw"),
            ("stack:prefork", "stack:nginx"),
            ("size:small", "size:large"),
            ("study:20261126-09", "study:20261127"),
            ("like:20261126-091500-dvdstore-7f3a", "like:20261126-091500-dvdstore-0000"),
            ("tag:night", "tag:nig"),
            ("verdict:failed", "verdict:passed"),
            ("set:web.MaxRequestWorkers=64", "set:web.MaxRequestWorkers=6"),
            ("set:web.MaxRequestWorkers", "set:db.max_connections"),
            ("users>59", "users>60"),
            ("users>=60", "users<60"),
            ("users=60", "users=61"),
            ("ops=112.5", "ops=112.6"),
            ("ops>100", "ops<100"),
            ("p95<0.4s", "p95<300ms"),
            ("since:2026-11-26", "since:2026-11-27"),
            ("since:2026-11-26T09:15", "since:2026-11-26T09:16"),
            ("until:2026-11-27", "until:2026-11-26"),
            ("since:2d", "since:1d"),
            ("since:27h", "since:90min"),
            ("is:pinned", "is:baseline"),
            ("UPGRADE after", "upgrade before"),
            ("7f3a kit:dvdstore users>50", "7f3a kit:dvdstore users>70"),
        ] {
            assert!(holds(yes), "{yes}");
            assert!(!holds(no), "{no}");
        }
    }

    #[test]
    fn every_term_that_says_nothing_is_told_at_once_with_what_there_is() {
        let text = "kti:dvdstore verdict:good users>many p95<slow since:yesterday is:nice fine";
        let problems = Filter::read(text, NOW_S).expect_err("six terms").to_string();
        for part in
            ["`kit:dvdstore`", "not-valid", "`many` is no number", "p95<slow", "since:36h", "is:pinned"]
        {
            assert!(problems.contains(part), "{part} in {problems}");
        }
    }
}
