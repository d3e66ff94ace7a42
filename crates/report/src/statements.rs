//! The statements that a database's clients spent their time in, in words.

use model::record::statements::{PlanStep, RowWaitResult, StatementResult};

use crate::figures;

/// From this number of rows on, looking at them is worth a word even where an index finds them.
const MANY_ROWS: u64 = 1_000;
/// A statement is shown with no more of its text.
const MAX_CHARS: usize = 160;

/// A statement as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shown {
    /// Its text without values.
    pub(crate) text: String,
    /// How much time was spent in it.
    pub(crate) time: String,
    /// How the database carries it out; absent where nobody asked.
    pub(crate) verdict: Option<String>,
    /// Whose rows its clients waited for, one sentence each.
    pub(crate) row_waits: Vec<String>,
}

/// A statement in words.
pub(crate) fn shown(one: &StatementResult) -> Shown {
    let time = format!(
        "{} clients of {} on average, {} of all that were in one (seen {} times)",
        figures::number(Some(one.clients)),
        one.tier,
        figures::percent(Some(one.share_ratio)),
        figures::count(one.seen),
    );
    Shown {
        text: cut(&one.digest),
        time,
        verdict: verdict(&one.plan),
        row_waits: one.row_waits.iter().map(row_wait).collect(),
    }
}

fn cut(statement: &str) -> String {
    let mut text: String = statement.chars().take(MAX_CHARS).collect();
    if text.len() < statement.len() && !text.ends_with('…') {
        text.push('…');
    }
    text
}

/// `7.5 of them waited for a row of shop.products that a transaction in `COMMIT` had locked (seen 75 times)`.
fn row_wait(wait: &RowWaitResult) -> String {
    let holder = match &wait.holder {
        Some(statement) => format!("a transaction in `{}` had locked", cut(statement)),
        None => {
            "an open transaction had locked whose client was in no statement: it did something else meanwhile"
                .to_string()
        }
    };
    format!(
        "{} of them waited for a row of {} that {holder} (seen {} times)",
        figures::number(Some(wait.clients)),
        wait.table,
        figures::count(wait.seen),
    )
}

/// What of its plan takes time: `reads all of products (about 20 000 rows); sorts`.
fn verdict(plan: &[PlanStep]) -> Option<String> {
    if plan.is_empty() {
        return None;
    }
    let mut parts: Vec<String> = plan.iter().filter_map(access).collect();
    let extra = |what: &str| plan.iter().any(|step| step.extra.contains(what));
    if extra("Using temporary") {
        parts.push("makes a temporary table".to_string());
    }
    if extra("Using filesort") {
        parts.push("sorts".to_string());
    }
    if extra("Using join buffer") {
        parts.push("joins without an index".to_string());
    }
    Some(if parts.is_empty() { "finds its rows by indexes".to_string() } else { parts.join("; ") })
}

fn access(step: &PlanStep) -> Option<String> {
    let table = step.table.as_ref()?;
    let rows = step.rows.unwrap_or(0);
    let about = format!("about {} rows", figures::count(rows));
    let key = step.key.as_deref().unwrap_or("an index");
    match step.access.as_deref()? {
        "ALL" => Some(format!("reads all of {table} ({about})")),
        "index" => Some(format!("walks all of {key} of {table} ({about})")),
        _ if rows >= MANY_ROWS => Some(format!("looks at {about} of {table} by {key}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(table: &str, access: &str, rows: u64, extra: &str) -> PlanStep {
        PlanStep {
            table: Some(table.to_string()),
            access: Some(access.to_string()),
            key: (access != "ALL").then(|| "by_name".to_string()),
            rows: Some(rows),
            extra: extra.to_string(),
        }
    }

    #[test]
    fn a_plan_is_told_by_what_takes_time_in_it() {
        let plan = [
            step("products", "ALL", 20_000, "Using where; Using temporary; Using filesort"),
            step("c", "ref", 1, ""),
        ];
        let said = verdict(&plan).expect("a plan");
        assert!(said.starts_with("reads all of products (about 20"), "{said}");
        assert!(said.ends_with("makes a temporary table; sorts"), "{said}");
        assert_eq!(verdict(&[step("c", "const", 1, "")]).as_deref(), Some("finds its rows by indexes"));
        assert!(
            verdict(&[step("o", "range", 5_000, "")]).is_some_and(|said| said.contains("of o by by_name"))
        );
        assert_eq!(verdict(&[]), None);
    }

    #[test]
    fn long_statements_are_cut_and_say_how_often_they_were_seen() {
        let one = StatementResult {
            tier: "db".to_string(),
            digest: "x".repeat(500),
            clients: 1.5,
            share_ratio: 0.6,
            seen: 45,
            ..StatementResult::default()
        };
        let shown = shown(&one);
        assert_eq!(shown.text.chars().count(), MAX_CHARS + 1);
        assert_eq!(shown.time, "1.5 clients of db on average, 60 % of all that were in one (seen 45 times)");
        assert_eq!(shown.verdict, None);
    }

    #[test]
    fn who_waits_for_a_row_is_told_with_what_its_holder_did() {
        let wait = |holder: Option<&str>| RowWaitResult {
            table: "shop.products".to_string(),
            holder: holder.map(str::to_string),
            clients: 7.5,
            seen: 75,
        };
        let row_waits = vec![wait(Some("COMMIT")), wait(None)];
        let shown = shown(&StatementResult { row_waits, ..StatementResult::default() });
        let waited = "7.5 of them waited for a row of shop.products that";
        assert_eq!(
            shown.row_waits[0],
            format!("{waited} a transaction in `COMMIT` had locked (seen 75 times)")
        );
        assert!(
            shown.row_waits[1].starts_with(&format!("{waited} an open transaction had locked")),
            "{shown:?}"
        );
    }
}
