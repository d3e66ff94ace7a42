use serde_json::json;

use super::*;

/// A run of the DVD Store that began at that hour.
fn run(hour: u32, kit: &str, users: u32, settings: &serde_json::Value) -> RunSummary {
    serde_json::from_value(json!({
        "id": format!("20261127-{hour:02}0000-dvdstore-0001"), "started": format!("2026-11-27T{hour:02}:00:00Z"),
        "kit": kit, "stack": "nginx", "size": "small", "given": settings, "users": users, "steady_s": 20.0,
        "load": format!("{users} users"), "outcome": "completed", "under_way": false, "valid": true, "pass": true,
        "sentence": "passed", "operations_per_s": 400.0 + f64::from(hour), "worst_p95_s": 0.01,
        "metric": {"title": "Orders", "value": 9.0, "unit": "orders/min"}, "bytes": 1,
        "versions": {"plimsoll": "0.1.0", "db (mariadb)": "10.11.18"},
    }))
    .expect("it is a summary")
}

fn usual(hour: u32) -> RunSummary {
    run(hour, "dvdstore@1", 20, &json!({}))
}

#[test]
fn runs_of_one_setup_are_a_line_in_the_order_of_time_and_a_single_run_is_none() {
    let other = json!({"set": {"web.workers": 64}});
    let runs = [
        usual(5),
        usual(3),
        run(9, "dvdstore@1", 40, &json!({})),
        run(8, "dvdstore@1", 20, &other),
        run(7, "dvdstore@1", 20, &other),
    ];
    let trends = trends(&runs);
    let hours = |trend: &Trend| {
        trend.points.iter().map(|point| point.started[11..13].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        trends.iter().map(hours).collect::<Vec<_>>(),
        [["07", "08"], ["03", "05"]],
        "the latest first"
    );
    assert_eq!(trends[0].setup.settings, ["web.workers=64"]);
    assert_eq!(trends[1].setup.load, "20 users");
    assert_eq!(trends[1].points[0].operations_per_s, Some(403.0));
    assert_eq!(trends[1].points[0].metric, Some(9.0));
}

#[test]
fn a_version_that_changes_is_marked_where_it_does_and_one_that_is_not_known_changes_nothing() {
    let mut runs = [usual(1), usual(2), run(3, "dvdstore@2", 20, &json!({})), usual(4)];
    runs[1].versions.clear();
    runs[2].versions.insert("db (mariadb)".to_string(), "10.11.19".to_string());
    runs[3] = RunSummary { kit: "dvdstore@2".to_string(), versions: runs[2].versions.clone(), ..usual(4) };
    let trends = trends(&runs);
    let changed = |at: usize| {
        let names = trends[0].points[at].changed.iter();
        names.map(|one| format!("{} {} {}", one.name, one.from, one.to)).collect::<Vec<_>>()
    };
    assert_eq!(changed(0), Vec::<String>::new());
    assert_eq!(changed(1), Vec::<String>::new());
    assert_eq!(changed(2), ["db (mariadb) 10.11.18 10.11.19", "kit 1 2"]);
    assert_eq!(changed(3), Vec::<String>::new());
}

#[test]
fn runs_that_have_not_ended_can_not_be_read_or_were_changed_by_hand_are_no_points_and_invalid_ones_are() {
    let mut runs = [usual(1), usual(2), usual(3), usual(4), usual(5)];
    runs[4].by_hand = true;
    runs[1].outcome = None;
    runs[2].outcome = Some(Outcome::Unfinished);
    assert_eq!(trends(&runs[..3]).len(), 0);
    (runs[3].valid, runs[3].pass) = (false, None);
    let trends = trends(&runs);
    let verdicts: Vec<&str> = trends[0].points.iter().map(|point| point.verdict.as_str()).collect();
    assert_eq!(verdicts, ["passed", "not valid"]);
}

#[test]
fn another_figure_of_a_newer_kit_is_no_part_of_the_line() {
    let mut runs = [usual(1), usual(2)];
    runs[1].metric.as_mut().expect("it has one").unit = "orders/s".to_string();
    let trends = trends(&runs);
    assert_eq!(trends[0].points.iter().map(|point| point.metric).collect::<Vec<_>>(), [None, Some(9.0)]);
}
