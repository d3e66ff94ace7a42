//! One setup over time as a page's main part.

use report::{trend_html, trends};
use store::{RunSummary, Runs};
use testkit::recorded::Specimen;

/// Recorded runs as one setup that was measured three times; between the first two the database became newer.
fn three() -> Vec<RunSummary> {
    let home = tempfile::tempdir().expect("a directory");
    let runs = Runs::open(home.path()).expect("the home can be made");
    for (hour, specimen) in [Specimen::Passed, Specimen::Passed, Specimen::Invalid].into_iter().enumerate() {
        let mut recorded = specimen.open().first(2);
        recorded.record.id = format!("20260101-{hour:02}0000-dvdstore-000a");
        recorded.record.started = format!("2026-01-01T{hour:02}:00:00Z");
        let setup = Specimen::Passed.open().record.setup;
        recorded.record.setup.tiers = setup.tiers;
        (recorded.record.setup.users, recorded.record.setup.load) = (setup.users, setup.load);
        (recorded.record.setup.given, recorded.record.setup.stack) = (setup.given, setup.stack);
        recorded.record.setup.machine = setup.machine;
        if hour > 0 {
            let db =
                recorded.record.setup.tiers.iter_mut().find(|tier| tier.tier == "db").expect("a database");
            db.version = "mariadbd <b>11</b>".to_string();
        }
        recorded.keep(&runs);
    }
    let mut summaries = runs.list().expect("they are listed");
    summaries[1].notes.note = "after the <script>upgrade</script>".to_string();
    summaries
}

#[test]
fn a_trend_has_a_picture_of_each_figure_and_a_table_of_all_runs() {
    let trends = trends(&three());
    let [trend] = &trends[..] else { panic!("one setup: {:?}", trends.iter().map(|one| &one.setup)) };
    assert_eq!(trend.points.iter().map(|point| point.valid).collect::<Vec<_>>(), [true, true, false]);
    let changed =
        trend.points.iter().map(|point| point.changed.iter().map(|one| one.name.as_str()).collect());
    let changed: Vec<Vec<&str>> = changed.collect();
    let hidden_plimsoll = changed.iter().flatten().filter(|name| **name == "db (mariadb)").count();
    assert_eq!(hidden_plimsoll, 1, "{changed:?}");
    let page = trend_html(trend);
    assert_eq!(page.matches("<figure>").count(), 3, "throughput, p95 and the kit's own: {page}");
    assert_eq!(page.matches("role=\"img\"").count(), 3);
    assert_eq!(page.matches("<tr").count(), 4, "{page}");
    assert!(page.contains("class=\"changed\"") && page.contains("mariadbd &lt;b&gt;11"), "{page}");
    assert!(page.contains("class=\"void\"") && page.contains("class=\"course\""), "{page}");
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script") && !page.contains("NaN"), "{page}");
    assert!(!page.contains("style="), "a strict policy allows no style in an attribute");
}

#[test]
fn a_trend_without_figures_is_a_table() {
    let mut runs = three();
    for run in &mut runs {
        (run.operations_per_s, run.worst_p95_s, run.metric) = (None, None, None);
    }
    let page = trend_html(&trends(&runs)[0]);
    assert!(!page.contains("<figure>") && page.contains("20260101-010000-dvdstore-000a"), "{page}");
}
