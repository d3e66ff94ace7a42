//! A run with several guests, and a guest's own.

use model::record::plan::Guest;
use model::record::{GuestResult, Outcome};
use report::{Page, explain, html, list_table, terminal};
use testkit::guests::guest;
use testkit::recorded::Specimen;

use crate::Kept;

/// Four guests: the second misses targets and is the slowest, the third is not valid, and the last was ended by the user.
fn four() -> Vec<GuestResult> {
    let slow = GuestResult {
        pass: Some(false),
        missed: vec!["Browse p95 < 100 ms".into(), "Login p99 < 400 ms".into()],
        per_s: 96.0,
        mean_s: Some(0.12),
        ..guest(2)
    };
    let invalid = GuestResult { valid: false, pass: None, held_by: None, ..guest(3) };
    let ended = GuestResult { outcome: Outcome::Interrupted, pass: None, cpu_cores: None, ..guest(4) };
    vec![guest(1), slow, invalid, ended]
}

fn page(guests: Vec<GuestResult>) -> Page {
    let mut recorded = Specimen::Passed.open();
    recorded.record.guests = guests;
    Kept::of(recorded).page()
}

/// The part of the text that begins with `Guests`.
fn section(page: &Page, width: usize) -> String {
    let text = terminal(page, width, false);
    let part = text.split("\n\n").find(|part| part.starts_with("Guests")).map(str::to_string);
    part.unwrap_or_else(|| panic!("no guests in:\n{text}"))
}

/// The same without the ends of its lines.
fn sentences(page: &Page, width: usize) -> String {
    section(page, width).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_wide_terminal_has_one_row_for_each_guest() {
    let section = section(&page(four()), 110);
    let rows: Vec<&str> = section.lines().take(5).map(str::trim).collect();
    let heading: Vec<&str> = rows[0].split_whitespace().collect();
    let titles =
        ["Guests", "limits", "users", "/s", "mean", "p95", "p99", "failed", "cores", "memory", "verdict"];
    assert_eq!(heading, titles, "{section}");
    assert!(rows[1].starts_with("1  ") && rows[1].ends_with("  pass"), "{section}");
    for part in
        ["0.5 cores, 2.62 GB", " 10 ", " 96 ", " 120 ms ", " 200 ms ", " 300 ms ", " 0 % ", "0.48", "340 MB"]
    {
        assert!(rows[2].contains(part), "{part:?} is missing in:\n{section}");
    }
    let verdicts: Vec<&str> = rows[2..].iter().map(|row| row.rsplit("  ").next().expect("a cell")).collect();
    assert_eq!(verdicts, ["misses", "not valid", "interrupted"], "{section}");
}

#[test]
fn what_guests_miss_what_holds_them_and_how_far_apart_they_are_follows_in_sentences() {
    let said = sentences(&page(four()), 110);
    for part in [
        "guest 2 misses Browse p95 < 100 ms, Login p99 < 400 ms",
        "what holds guests 1, 2 and 4: web: its CPU limit is used up",
        "Guests are 4.04 % apart, by the operations that each of their users gets; slowest: guest 2, mean 120 ms.",
        "Clones: data copied in 210 ms, servers started in 1.02 s, first answer after 1.50 s; a copy takes 52.0 MB of the \
         disk.",
    ] {
        assert!(said.contains(part), "{part:?} is missing in:\n{said}");
    }
}

#[test]
fn a_narrow_terminal_has_the_same_in_two_tables() {
    for width in [60, 80] {
        let page = page(four());
        let narrow = section(&page, width);
        let widest = narrow.lines().map(|line| line.chars().count()).max().expect("lines");
        assert!(widest <= width, "{widest} columns of {width}:\n{narrow}");
        let headings: Vec<&str> = narrow.lines().filter(|line| line.starts_with("Guests")).collect();
        assert_eq!(headings.len(), 2, "{narrow}");
        for part in ["96", "misses", "0.5 cores, 2.62 GB", "340 MB"] {
            assert!(narrow.contains(part), "{part:?} is missing in:\n{narrow}");
        }
    }
}

#[test]
fn limits_have_no_column_where_no_guest_has_one() {
    let free = Guest { number: 1, cpu_limit_cores: None, memory_limit_bytes: None };
    let page = page(vec![GuestResult { guest: free, held_by: None, ..guest(1) }]);
    let section = section(&page, 110);
    assert!(!section.contains("limits") && !section.contains("apart"), "one alone:\n{section}");
    assert!(!html(&page).contains("<th scope=\"row\">Limits</th>"));
}

#[test]
fn a_page_has_a_column_for_each_guest_that_leads_to_its_own_report() {
    let html = html(&page(four()));
    let part = html.split("<section id=\"guests\">").nth(1).and_then(|rest| rest.split("</section>").next());
    let part = part.expect("a section about guests");
    for number in 1..=4 {
        let link = format!(
            "<a href=\"runs&#x2f;20261127-050000-dvdstore-000{number}&#x2f;report.html\">{number}</a>"
        );
        assert!(part.contains(&link), "{link} is missing in:\n{part}");
    }
    let row = |title: &str| {
        let row = part.split(&format!("<th scope=\"row\">{title}</th>")).nth(1);
        row.and_then(|rest| rest.split("</tr>").next()).unwrap_or_else(|| panic!("no {title} in:\n{part}"))
    };
    for title in
        ["Limits", "Users", "Operations per second", "Data copied in", "Taken of the disk by the copy"]
    {
        assert_eq!(row(title).matches("<td").count(), 4, "{title}");
    }
    let mean = row("Mean response time");
    assert_eq!(mean.matches("<td>100\u{202f}ms</td>").count(), 3, "{mean}");
    assert!(mean.contains("<td>120\u{202f}ms</td>"), "{mean}");
    let verdict = row("Verdict");
    assert!(verdict.contains("<td class=\"met\">pass</td>"), "{verdict}");
    assert!(
        verdict.contains("<td class=\"missed\">misses<br>Browse p95 &lt; 100 ms<br>Login p99"),
        "{verdict}"
    );
    assert!(verdict.contains("not valid") && verdict.contains("interrupted"), "{verdict}");
    assert_eq!(row("What holds it").matches("its CPU limit is used up").count(), 3);
    assert!(
        part.contains("Guests are 4.04 % apart") && part.contains("slowest: guest 2, mean 120 ms."),
        "{part}"
    );
}

#[test]
fn a_run_of_one_stack_says_nothing_of_guests() {
    let page = page(Vec::new());
    assert!(!html(&page).contains("Guest") && !html(&page).contains("guests\""));
    let text = terminal(&page, 110, false);
    assert!(!text.contains("Guest") && !text.contains("guest "), "{text}");
}

#[test]
fn a_guests_own_run_says_which_it_is_and_what_it_may_use() {
    let mut page = page(Vec::new());
    page.record.setup.guest = Some(guest(2).guest);
    let said = "guest 2 of a run with guests; 0.5 cores, 2.62 GB of memory";
    assert!(terminal(&page, 110, false).contains(&format!("\n{said}\n")));
    let html = html(&page);
    assert!(
        html.contains(&format!("<p class=\"answer\">This is {said}.</p>")),
        "it stands below the verdict"
    );
    assert!(html.contains(", guest 2</title>"), "tabs are told apart");
}

#[test]
fn nothing_that_a_guest_is_said_to_be_held_by_is_more_than_text() {
    let hostile = "<script>window.hostile=1</script>\u{1b}[2J\u{202e}";
    let one = GuestResult { held_by: Some(hostile.into()), run: "\"><script>".into(), ..guest(1) };
    let page = page(vec![one]);
    let html = html(&page);
    assert!(!html.contains("<script>window.hostile") && !html.contains('\u{202e}'));
    assert_eq!(html.matches("<script").count(), 4, "ours and no other");
    let text = terminal(&page, 80, false);
    assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
}

#[test]
fn what_holds_several_guests_is_explained_with_the_runs_that_say_why() {
    let mut record = Specimen::Passed.open().record;
    record.diagnosis = None;
    record.guests = four();
    let text = explain(&record, 110, false);
    assert!(text.contains("what holds guests 1, 2 and 4: web: its CPU limit is used up"), "{text}");
    assert!(text.contains(&format!("plimsoll explain {}/1", record.id)), "{text}");
    assert!(!text.contains("Nothing was watched"), "{text}");
}

#[test]
fn the_list_says_how_many_guests_a_run_had() {
    let mut recorded = Specimen::Passed.open();
    recorded.record.guests = four();
    let list = Kept::of(recorded).runs().list().expect("a list");
    assert!(list_table(&list, 80).contains("4 guests of "), "{}", list_table(&list, 80));
}
