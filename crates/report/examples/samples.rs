//! Writes the report of each recorded run and of simulated studies into a directory, for work on `web/`:
//! `cargo run -p report --example samples -- DIRECTORY`. With `study.json` files behind it, only the pages of these.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;

use model::{SignalRegistry, StudyRecord};
use report::{Page, html, list_table, terminal};
use store::Runs;
use testkit::recorded::Specimen;
use testkit::studies::{CompareEnding, FindEnding, SweepShape, compare, find, sweep};

fn main() -> Result<(), Box<dyn Error>> {
    let target = std::env::args().nth(1).ok_or("a directory is needed")?;
    let (target, home) = (Path::new(&target), tempfile::tempdir()?);
    std::fs::create_dir_all(target)?;
    let given: Vec<String> = std::env::args().skip(2).collect();
    if !given.is_empty() {
        return given
            .iter()
            .try_for_each(|path| show(target, &serde_json::from_str(&std::fs::read_to_string(path)?)?));
    }
    let runs = Runs::open(home.path())?;
    let recorded = Specimen::ALL.map(|specimen| (specimen.name(), specimen.open()));
    let long = ("ten-minutes", Specimen::ManyOperations.open().with_steady_s(590));
    for (name, mut recorded) in recorded.into_iter().chain([long]) {
        recorded.record.id = format!("20261121-034512-recorded-{name}");
        recorded.keep(&runs);
        let signals = observe::signals().chain(analysis::declared::signals());
        let page = Page::of(&runs.find(&recorded.record.id)?, &SignalRegistry::new(signals, []));
        let text = html(&page);
        println!("{name}: {} kB\n\n{}", text.len() / 1024, terminal(&page, 80, true));
        std::fs::write(target.join(format!("{name}.html")), text)?;
        std::fs::write(target.join(format!("{name}.txt")), terminal(&page, 80, false))?;
    }
    println!("{}", list_table(&runs.list()?, 80));
    studies(target)
}

fn studies(target: &Path) -> Result<(), Box<dyn Error>> {
    let finds = FindEnding::ALL.into_iter().map(find);
    let compares = CompareEnding::ALL.into_iter().map(compare);
    let sweeps = SweepShape::ALL.into_iter().map(sweep);
    finds.chain(compares).chain(sweeps).try_for_each(|record| show(target, &record))
}

fn show(target: &Path, record: &StudyRecord) -> Result<(), Box<dyn Error>> {
    let name = record.id.trim_start_matches("20261121-101500-");
    let text = report::study_html(record, target, |run| Some(format!("{run}/report.html")));
    println!("{name}: {} kB\n\n{}", text.len() / 1024, report::study_terminal(record, target, 80, true));
    std::fs::write(target.join(format!("{name}.html")), text)?;
    Ok(())
}
