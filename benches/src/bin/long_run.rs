//! Keeps a recorded run of the DVD Store with a longer steady state, in which its seconds come again and again: `long_run HOME SECONDS`.
//! For measuring what shows runs (`benches/serve.mjs`), without an hour of measuring each time. It prints the run's id.

use std::path::Path;

use store::Runs;
use testkit::recorded::Specimen;

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [home, seconds] = words.as_slice() else { return Err("long_run HOME SECONDS".to_string()) };
    let seconds = seconds.parse().map_err(|error| format!("{seconds}: {error}"))?;
    let runs = Runs::open(Path::new(home)).map_err(|problems| problems.to_string())?;
    let recorded = Specimen::Passed.open().with_steady_s(seconds);
    let id = recorded.record.id.clone();
    recorded.keep(&runs);
    println!("{id}");
    Ok(())
}
