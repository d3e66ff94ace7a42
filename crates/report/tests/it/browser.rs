//! The HTML file in a real browser. Without Chromium the test says so and passes, unless `CI` is set.

use std::path::{Path, PathBuf};
use std::process::Command;

use report::html;
use testkit::sample::{Ending, Shape};

use crate::{Kept, page};

#[allow(clippy::print_stdout)] // A skipped test says so.
fn chromium() -> Option<PathBuf> {
    let known = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    let found = known.into_iter().map(PathBuf::from).find(|path| path.exists());
    if found.is_none() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "no Chromium: `apt-get install chromium`");
        println!("skipped: no Chromium here; `apt-get install --no-install-recommends chromium` brings it");
    }
    found
}

/// The document after its code has run.
fn open(chromium: &Path, file: &Path) -> String {
    let profile = tempfile::tempdir().expect("a directory");
    let output = Command::new(chromium)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args([
            "--disable-dev-shm-usage",
            "--enable-logging=stderr",
            "--virtual-time-budget=5000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .expect("Chromium starts");
    let log = String::from_utf8_lossy(&output.stderr);
    let console: Vec<&str> = log.lines().filter(|line| line.contains(":CONSOLE")).collect();
    assert!(console.is_empty(), "the console is not clean: {console:#?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_page_draws_its_charts_without_a_word_on_the_console() {
    let Some(chromium) = chromium() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let shapes = [
        (Shape::ending(Ending::Failed), "throughput response users percentiles cpu errors"),
        (Shape { operations: 20, ..Shape::default() }, "throughput response users percentiles cpu"),
        (
            Shape { operations: 1, ..Shape::ending(Ending::Unfinished) },
            "throughput response users percentiles",
        ),
        (Shape { ramp_up_s: 0, steady_s: 1, ramp_down_s: 0, ..Shape::default() }, "nothing to draw"),
    ];
    for (shape, charts) in shapes {
        let file = directory.path().join("report.html");
        std::fs::write(&file, html(&Kept::new(shape).page())).unwrap();
        let document = open(&chromium, &file);
        let root = document.get(..document.find("<head").unwrap_or(0)).unwrap_or_default();
        assert!(!root.contains("data-errors"), "{shape:?}: {root}");
        assert!(root.contains(&format!("data-ready=\"{charts}\"")), "{shape:?}: {root}");
        assert_eq!(
            document.matches("<canvas").count(),
            charts.split(' ').filter(|_| charts != "nothing to draw").count()
        );
    }
}

#[test]
fn a_page_whose_code_fails_is_noticed() {
    let Some(chromium) = chromium() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("report.html");
    let page = html(page(Ending::Passed));
    let broken = page.replace("\"at_s\":", "\"at\":");
    assert_ne!(page, broken);
    std::fs::write(&file, broken).unwrap();
    let noticed = std::panic::catch_unwind(|| open(&chromium, &file))
        .map_or(true, |document| document.contains("data-errors"));
    assert!(noticed, "neither the console nor the page says that its code failed");
}
