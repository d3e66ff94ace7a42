//! The reports in Debian's Chromium, driven by playwright-core: `web/browser/pages.mjs`. Without Node.js, Chromium or
//! the package the test is skipped.

use std::path::Path;
use std::process::Command;

use testkit::browser::{chromium, scripts};
use testkit::recorded::Specimen;
use testkit::studies::{FindEnding, SweepShape, find, sweep};

use crate::Kept;

/// Writes the pages that are looked at, each with the JSON behind it.
fn write(directory: &Path) {
    let write = |name: &str, text: String| {
        std::fs::write(directory.join(name), text).expect("the directory is there");
    };
    for specimen in [Specimen::Failed, Specimen::ByRate, Specimen::ManyOperations] {
        let (name, page) = (specimen.name(), Kept::specimen(specimen).page());
        write(&format!("{name}.html"), report::html(&page));
        write(&format!("{name}.json"), report::json(&page.record));
    }
    let record = find(FindEnding::LoadLine);
    write("find.html", report::study_html(&record, directory, |_| None));
    write("find.json", report::study::json(&record));
    let record = sweep(SweepShape::Published);
    write("published.html", report::study_html(&record, directory, |_| None));
    write("published.json", report::study::json(&record));
}

#[test]
fn the_reports_do_in_a_browser_what_a_reader_expects_of_them() {
    let (Some(chromium), Some(folder)) = (chromium(), scripts()) else { return };
    let directory = tempfile::tempdir().expect("a directory");
    write(directory.path());
    let output = Command::new("node")
        .arg("--test")
        .arg(folder.join("pages.mjs"))
        .env("PAGES", directory.path())
        .env("CHROMIUM", chromium)
        .output()
        .expect("node starts");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(!told.contains("# pass 0"), "no test ran:\n{told}");
}
