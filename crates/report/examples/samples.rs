//! Writes the report of each kind of made-up run and study into a directory, for work on `web/`:
//! `cargo run -p report --example samples -- DIRECTORY`. With `study.json` files behind it, only the pages of these.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;

use model::{SignalRegistry, StudyRecord};
use report::{Page, html, list_table, terminal};
use store::Runs;
use testkit::sample::study::{CompareEnding, FindEnding, SweepShape, compare, find, sweep};
use testkit::sample::{Ending, Sample, Shape, run};

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
    let long = Shape { ramp_up_s: 30, steady_s: 560, ..Shape::default() };
    let shapes = [
        ("passed", Shape::default()),
        ("failed", Shape::ending(Ending::Failed)),
        ("invalid", Shape::ending(Ending::Invalid)),
        ("interrupted", Shape::ending(Ending::Interrupted)),
        ("unfinished", Shape::ending(Ending::Unfinished)),
        ("one-operation", Shape { operations: 1, ..Shape::default() }),
        ("twenty-operations", Shape { operations: 20, ..Shape::ending(Ending::Failed) }),
        ("ten-minutes", Shape { operations: 20, ..long }),
    ];
    for (name, shape) in shapes {
        let mut sample = run(shape);
        sample.record.id = format!("20261121-034512-dvdstore-{name}");
        keep(&runs, &sample)?;
        let signals = observe::signals().chain(analysis::declared::signals());
        let page = Page::of(&runs.find(&sample.record.id)?, &SignalRegistry::new(signals, []));
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

fn keep(runs: &Runs, sample: &Sample) -> model::Result<()> {
    let mut skeleton = sample.skeleton();
    skeleton.id.clone_from(&sample.record.id);
    let mut writer = runs.create(&skeleton)?;
    for interval in sample.intervals() {
        writer.second(&interval, &sample.names)?;
    }
    writer.samples(&sample.series)?;
    sample.events.iter().try_for_each(|event| writer.event(event))?;
    writer.evidence(&sample.record.evidence)?;
    writer.finish(&sample.record).map(|_| ())
}
