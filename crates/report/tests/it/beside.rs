//! Kept runs side by side, as text and as a page's main part.

use model::Value;
use report::{Beside, KeptRun, beside_html, beside_terminal};
use testkit::recorded::Specimen;

use crate::assert_golden;

/// The run that passed and one that failed with another number of workers, on a newer kernel, after which somebody said
/// something that would rather be more than text.
fn two() -> Vec<KeptRun> {
    let [first, mut second] = [Specimen::Passed, Specimen::Failed].map(|one| KeptRun::read(one.open().run()));
    let record = &mut second.record;
    record.injected = None;
    record.setup.seed = 2;
    record.setup.machine = first.record.setup.machine.clone();
    record.setup.machine.insert("kernel".into(), "6.19.1".into());
    record.dataset = first.record.dataset.clone();
    let given = record.setup.given.get_or_insert_default();
    given.set.insert("web.MaxRequestWorkers".into(), Value::Int(64));
    for (tier, was) in record.setup.tiers.iter_mut().zip(&first.record.setup.tiers) {
        tier.version = was.version.clone();
        tier.files = was.files.clone();
        if tier.tier == "web" {
            tier.values.insert("MaxRequestWorkers".into(), Value::Int(64));
            let file = tier.files.get_mut("conf/web/conf/httpd.conf").expect("its file");
            *file = file.replace("MaxRequestWorkers 150", "MaxRequestWorkers 64");
        }
    }
    second.notes.note = "after the <script>alert(1)</script>\u{1b}[2J upgrade".to_string();
    second.notes.tags.insert("night".to_string());
    vec![first, second]
}

fn beside(runs: &[KeptRun]) -> Beside {
    Beside::of(runs, 0).expect("they are runs")
}

#[test]
fn two_runs_side_by_side_read_as_the_golden_file() {
    assert_golden("beside.txt", &beside_terminal(&beside(&two()), 80, false));
}

#[test]
fn runs_of_different_kits_read_as_the_golden_file() {
    let runs = [Specimen::Passed, Specimen::ByRate].map(|one| KeptRun::read(one.open().run()));
    let text = beside_terminal(&beside(&runs), 80, false);
    assert_golden("beside-refused.txt", &text);
}

#[test]
fn no_line_is_wider_than_the_terminal_and_nothing_steers_it() {
    let mut runs = two();
    runs.push(KeptRun::read(Specimen::Invalid.open().run()));
    let text = beside_terminal(&beside(&runs), 80, false);
    let widest = text.lines().filter(|line| !line.starts_with("  +") && !line.starts_with("  -"));
    let widest = widest.max_by_key(|line| line.chars().count()).expect("there is text");
    assert!(widest.chars().count() <= 80, "{widest}");
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn the_page_has_what_the_text_has_and_what_people_wrote_is_text_in_it() {
    let beside = beside(&two());
    let page = beside_html(&beside).inside;
    for part in [
        "2 runs side by side",
        "web.MaxRequestWorkers",
        "+MaxRequestWorkers 64",
        "p95 of Browse",
        "#night",
        "CPU of db, cores",
        "db: waiting for a lock",
    ] {
        assert!(page.contains(part), "{part} is missing in:\n{page}");
    }
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script"), "{page}");
    assert!(!page.contains('\u{1b}'), "{page}");
    assert!(!page.contains("<main"), "the frame is the laboratory's");
    assert_eq!(page.matches("<div class=\"scroll\" tabindex=\"0\"").count(), page.matches("<table").count());
}

#[test]
fn the_page_of_runs_that_are_not_comparable_says_why_and_has_no_figures() {
    let runs = [Specimen::Passed, Specimen::ByRate].map(|one| KeptRun::read(one.open().run()));
    let page = beside_html(&beside(&runs)).inside;
    assert!(page.contains("Not comparable.") && page.contains("differ in their work (kit "), "{page}");
    assert!(!page.contains("id=\"figures\""), "{page}");
}

#[test]
fn programs_read_what_people_see() {
    let json = serde_json::to_value(beside(&two())).expect("it is JSON");
    assert_eq!((&json["format"], &json["unpaired"], &json["base"]), (&1.into(), &true.into(), &0.into()));
    assert_eq!(json["differences"][0]["kind"], "setting");
    assert_eq!(json["configuration"][0]["runs"], serde_json::json!([1]));
}

#[test]
fn the_charts_have_a_line_a_run_and_the_page_neither_script_nor_style_of_its_own() {
    let shown = beside_html(&beside(&two()));
    let data: serde_json::Value = serde_json::from_str(&shown.data).expect("it is JSON");
    let charts = data["charts"].as_array().expect("there are charts");
    assert_eq!(charts[0]["title"], "Operations completed per second");
    let names: Vec<_> =
        charts[0]["lines"].as_array().expect("lines").iter().map(|line| &line["name"]).collect();
    assert_eq!(names, ["A", "B"]);
    assert_eq!(charts[0]["x_band"][0], 0.0, "the steady states begin there");
    assert_eq!(shown.inside.matches("data-chart").count(), charts.len());
    assert!(!shown.inside.contains("<script") && !shown.inside.contains("style="), "{}", shown.inside);
}
