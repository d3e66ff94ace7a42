//! What a terminal shows. `UPDATE_GOLDEN=1 cargo test -p report text` writes the golden files anew.

use model::record::diagnosis::SignalSummary;
use model::record::{FileSetResult, PageCacheResult};
use report::{explain, html, json, list_table, terminal};
use testkit::recorded::Specimen;

use crate::{Kept, assert_golden, page, proved, with_a_hostile_answer};

#[test]
fn each_kind_of_run_reads_as_its_golden_file() {
    for specimen in Specimen::ALL {
        assert_golden(&format!("{}.txt", specimen.name()), &terminal(page(specimen), 80, false));
    }
}

#[test]
fn what_holds_a_stack_is_explained_with_every_reason() {
    let record = &proved().record;
    assert_golden("explained.txt", &explain(record, 80, false));
    let unwatched = model::RunRecord { diagnosis: None, ..record.clone() };
    assert!(explain(&unwatched, 80, false).contains("Nothing was watched that tells what holds it."));
}

#[test]
fn fourteen_operations_with_long_names_fit_into_80_columns() {
    let text = terminal(page(Specimen::ManyOperations), 80, false);
    let widest = text.lines().max_by_key(|line| line.chars().count()).expect("there is text");
    assert!(widest.chars().count() <= 80, "{} columns: {widest}", widest.chars().count());
}

#[test]
fn standard_deviations_stand_beside_the_means_where_no_name_is_cut_for_them() {
    let page = page(Specimen::Passed);
    let row = |width: usize, name: &str| -> Vec<String> {
        let text = terminal(page, width, false);
        let table = text.split("\n\n").find(|part| part.starts_with("Operations  ")).expect("a table");
        let line = table.lines().find(|line| line.trim_start().starts_with(name)).expect("its row");
        line.split("  ").map(|cell| cell.trim().to_string()).filter(|cell| !cell.is_empty()).collect()
    };
    assert!(!row(80, "Operations").contains(&"sd".to_string()), "80 columns are too few");
    let place =
        row(110, "Operations").iter().position(|title| title == "sd").expect("110 columns are enough");
    let browse = page.record.operations.iter().find(|one| one.name == "Browse").expect("an operation");
    let sd_s = browse.response.sd_s.expect("it has one");
    assert_eq!(row(110, "Browse")[place], model::units::show_seconds(sd_s));
    assert_eq!(row(110, "Operations")[place - 1], "mean");
}

#[test]
fn a_session_named_as_its_only_operation_is_shown_once_and_kept_in_the_record() {
    let mut page = Kept::specimen(Specimen::Passed).page();
    assert!(terminal(&page, 80, false).contains("order_cycle is the whole session"));
    assert!(html(&page).contains("Whole sessions"));
    let name = page.record.operations[1].name.clone();
    page.record.operations[0].name = name.clone();
    let text = terminal(&page, 80, false);
    let table = text.split("Operations  ").nth(1).expect("a table").split("\n\n").next().expect("its lines");
    let rows = table.lines().filter(|line| line.starts_with(&format!("  {name} "))).count();
    assert_eq!((rows, text.contains("is the whole session")), (1, false), "{text}");
    assert!(!html(&page).contains("Whole sessions"));
    let kept = json(&page.record).matches(&format!("\"name\": \"{name}\"")).count();
    assert_eq!(kept, 2, "programs read both");
}

#[test]
fn a_file_set_is_told_with_what_of_it_was_in_memory_and_how_much_the_server_may_take() {
    let mut page = Kept::specimen(Specimen::Passed).page();
    assert!(!terminal(&page, 80, false).contains("file set"));
    let cache = PageCacheResult {
        asked: "warm".into(),
        left_bytes: 0,
        resident_bytes: 986_000_000,
        resident_ratio: 0.3,
        took_s: 2.1,
    };
    let set = FileSetResult {
        id: "static-3.3gb-1-v1-9d41c0".into(),
        files: 23_184,
        bytes: 3_300_000_000,
        made_s: 4.2,
        reused: true,
        page_cache: Some(cache),
    };
    page.record.file_set = Some(set.clone());
    let limit = SignalSummary {
        tier: Some("web".into()),
        name: "memory.limit_bytes".into(),
        ..page.record.signals[0].clone()
    };
    page.record.signals.push(SignalSummary { mean: 1_073_741_824.0, ..limit });
    let text = terminal(&page, 80, false).replace("\n  ", " ");
    let told = "file set of 23 184 files, 3.30 GB; page cache warm, 986 MB of the set in memory when users started; memory of \
                web limited to 1.07 GB\n";
    assert!(text.contains(told), "{text}");
    page.record.file_set = Some(FileSetResult { page_cache: None, ..set });
    page.record.signals.clear();
    assert!(terminal(&page, 80, false).contains("file set of 23 184 files, 3.30 GB\n"));
}

#[test]
fn a_mix_that_is_not_the_kit_s_own_is_told() {
    let mut page = Kept::specimen(Specimen::Passed).page();
    assert!(!terminal(&page, 80, false).contains("mix ") && !html(&page).contains("<dt>Mix</dt>"));
    page.record.setup.mix = Some("browsing".to_string());
    let text = terminal(&page, 110, false);
    assert!(text.contains(" users, mix browsing, "), "{text}");
    let page = html(&page);
    assert!(page.contains(", mix browsing, ") && page.contains("<dt>Mix</dt><dd>browsing</dd>"));
}

#[test]
fn colour_adds_nothing_but_colour() {
    let page = page(Specimen::Failed);
    let (plain, painted) = (terminal(page, 80, false), terminal(page, 80, true));
    assert!(!plain.contains('\u{1b}'));
    let mut stripped = painted.clone();
    for sequence in report::PAINT {
        stripped = stripped.replace(sequence, "");
    }
    assert_eq!(stripped, plain);
    assert_ne!(painted, plain);
}

#[test]
fn the_verdict_is_the_first_line() {
    let text = terminal(page(Specimen::Failed), 80, false);
    assert!(text.starts_with("FAILED  70 users, "), "{text}");
    assert!(text.contains("p99 1.03 s, not < 250 ms"), "{text}");
}

#[test]
fn nothing_that_a_server_sent_steers_the_terminal() {
    let text = terminal(&Kept::of(with_a_hostile_answer()).page(), 80, false);
    assert!(text.contains("Deadlock found"), "the hostile answer is shown:\n{text}");
    let steering = text.chars().filter(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}').count();
    assert_eq!(steering, 0, "{text:?}");
}

#[test]
fn a_run_whose_seconds_are_damaged_still_shows_its_result_and_says_what_is_missing() {
    let kept = Kept::specimen(Specimen::Passed);
    let directory = kept.runs().find("last").unwrap().directory().to_path_buf();
    std::fs::write(
        directory.join("run.sqlite"),
        b"not a database at all, but longer than its header, to be sure of it, here and there",
    )
    .unwrap();
    let text = terminal(&kept.page(), 80, false);
    assert!(text.starts_with("PASSED"), "{text}");
    assert!(text.contains("Browse") && text.contains("Note: ") && text.contains("damaged"), "{text}");
    assert!(!text.contains("Over time"), "{text}");
}

#[test]
fn the_list_shows_each_verdict_in_a_line_that_can_be_copied_from() {
    let kept = Kept::specimen(Specimen::Invalid);
    let list = kept.runs().list().expect("a list");
    let narrow = list_table(&list, 80);
    assert!(narrow.contains(&kept.recorded.record.id) && narrow.contains("not valid"), "{narrow}");
    assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
    assert!(
        narrow.contains("stack") && narrow.contains("apache-pref") && narrow.contains("…"),
        "the stack gives way, not the id: {narrow}"
    );
    assert!(list_table(&list, 120).contains("apache-prefork-modphp-mariadb"));
    assert_eq!(list_table(&[], 80), "There are no runs yet.\n");
}
