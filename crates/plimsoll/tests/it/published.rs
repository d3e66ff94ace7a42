//! A study beside published figures on real servers: a scaled form of `debox-2004-table10`.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::tool::{Finished, Home, have, overlay};

const STUDY: &str = "\
format = 1
name = \"table10\"
title = \"Servers over sets of files\"
source = \"DeBox 2004, table 10\"
kit = \"static\"
stacks = [\"apache-prefork\"]
sizes = [\"5mb\", \"20mb\"]
users = [16]
repeats = 2
window = \"3s\"
differs = [\"The paper had 1 GB of memory.\"]
[set]
\"web.cgroup.memory\" = \"256M\"
[full]
sizes = [\"500mb\", \"3.3gb\"]
users = [1024]
[[published]]
title = \"Throughput on Linux\"
of = \"throughput\"
unit = \"Mbit/s\"
[[published.value]]
as = \"500 MB, Haboob\"
value = 324.9
[[published.value]]
where = { stack = \"apache-prefork\", size = [\"5mb\", \"500mb\"] }
as = \"500 MB, Apache\"
value = 434.3
[[published.value]]
where = { stack = \"apache-prefork\", size = [\"20mb\", \"3.3gb\"] }
as = \"3.3 GB, Apache\"
value = 177.4
[[published]]
title = \"Response time at 3.3 GB\"
of = \"response_median\"
unit = \"ms\"
[[published.value]]
where = { stack = \"apache-prefork\", size = [\"20mb\", \"3.3gb\"] }
as = \"Apache\"
value = 0.61
";

/// Sweeps the study, and finds what it kept: the latest of the home's studies. On a busy machine a cell may be without a
/// valid trial.
fn swept(home: &Home, file: &Path) -> (Finished, PathBuf, Json) {
    let finished = home.plimsoll("sweep").arg(file).run();
    assert!(matches!(finished.code, Some(0 | 3)), "{finished:#?}");
    let studies = std::fs::read_dir(home.path().join("studies")).expect("studies").flatten();
    let kept = studies.map(|entry| entry.path()).filter(|path| path.join("study.json").is_file());
    let directory = kept.max().expect("the study is kept");
    let text = std::fs::read_to_string(directory.join("study.json")).expect("study.json is there");
    let record = serde_json::from_str(&text).expect("it is JSON");
    (finished, directory, record)
}

/// A value of ours stands beside a published one.
fn any_of_ours(record: &Json) -> bool {
    let rows = record["question"]["sweep"]["published"][0]["rows"].as_array();
    rows.is_some_and(|rows| rows.iter().any(|row| row["ours"]["value"].is_number()))
}

fn faults(record: &Json) -> Vec<&Json> {
    record["trials"].as_array().into_iter().flatten().map(|trial| &trial["faults"]).collect()
}

#[test]
fn the_papers_numbers_stand_beside_ours_cell_by_cell() {
    if !have("apache-prefork") {
        return;
    }
    let home = Home::empty();
    let dir = overlay(&[("table10.toml", STUDY)]);
    let file = dir.path().join("table10.toml");
    home.plimsoll("check").arg(&file).run().expect(0).says("2 cells, 4 trials; --full: 2 cells, 4 trials");
    home.plimsoll("sweep --full --plan").arg(&file).run().expect(0).says("500mb, 3.3gb").says("the full one");
    let (mut finished, mut directory, mut record) = swept(&home, &file);
    if !any_of_ours(&record) {
        (finished, directory, record) = swept(&home, &file);
    }
    assert!(any_of_ours(&record), "no trial of two sweeps is valid: {:#?}", faults(&record));
    finished
        .says("Beside what was published: Throughput on Linux, Mbit/s")
        .says("500 MB, Haboob")
        .says("The paper had 1 GB of memory.")
        .says("These servers: apache (");
    let rows = record["question"]["sweep"]["published"][0]["rows"].as_array().expect("rows");
    let published: Vec<f64> = rows.iter().filter_map(|row| row["value"].as_f64()).collect();
    assert_eq!(published, [324.9, 434.3, 177.4]);
    assert!(rows[0]["ours"].is_null(), "nobody has Haboob any more: {rows:#?}");
    for (row, arm) in [(&rows[1], 0), (&rows[2], 1)] {
        assert_eq!(row["cell"], arm, "{row:#}");
        let valid =
            |trial: &&Json| trial["arm"] == arm && trial["faults"].as_array().is_some_and(Vec::is_empty);
        let metric = |trial: &Json| {
            let metrics = trial["measured"]["metrics"].as_array()?;
            metrics.iter().find(|metric| metric["name"] == "throughput")?["value"].as_f64()
        };
        let trials = record["trials"].as_array().expect("trials");
        let values: Vec<f64> = trials.iter().filter(valid).filter_map(metric).collect();
        let mean = (values.iter().map(|value| value.ln()).sum::<f64>() / values.len().max(1) as f64).exp();
        let ours = row["ours"]["value"].as_f64();
        assert_eq!(ours.is_some(), !values.is_empty(), "{row:#}");
        assert!(ours.is_none_or(|ours| ours > 0.0 && (ours / mean - 1.0).abs() < 1e-9), "{ours:?} {mean}");
    }
    let page = std::fs::read_to_string(directory.join("report.html")).expect("the page is there");
    assert!(
        page.contains("id=\"published\"") && page.contains("500 MB, Haboob") && page.contains("What differs")
    );
    let csv = std::fs::read_to_string(directory.join("results.csv")).expect("results.csv is there");
    assert!(csv.lines().next().is_some_and(|head| head.contains("throughput,published_throughput")), "{csv}");
    home.expect_nothing_left();
}
