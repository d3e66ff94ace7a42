//! What a sweep has beside published figures.

use model::record::study::{Claim, ClaimOrder, Figure, Published, PublishedFigure, PublishedRow, Trial};

use super::stack::wobble;

/// Mbit/s of each cell.
const MBIT_PER_S: [f64; 6] = [2_310.0, 412.0, 4_120.0, 405.0, 4_630.0, 380.0];

/// Gives a trial the metric of its cell; each repeat has a mood of its own.
pub(super) fn metric(trial: &mut Trial) {
    let moved = 0.03 * wobble(trial.block, 77) + 0.012 * wobble(trial.number, 78);
    let figure = Figure {
        name: "mbit_per_s".into(),
        operation: None,
        value: MBIT_PER_S[trial.arm] * moved.exp(),
        log_se: Some(0.004),
        degrees: None,
    };
    trial.measured.iter_mut().for_each(|measured| measured.metrics = vec![figure.clone()]);
}

/// Two tables: of a metric, with servers that were not measured, and of a time, with a claim.
pub(super) fn tables() -> Vec<Published> {
    let table = |title: &str, of: &str, figure: PublishedFigure, unit: &str| Published {
        title: title.into(),
        of: of.into(),
        figure,
        unit: unit.into(),
        relative: false,
        source: "DeBox 2004, table 10".into(),
        rows: Vec::new(),
        base: None,
        pairs: Vec::new(),
        claims: Vec::new(),
    };
    let metric =
        PublishedFigure { name: "mbit_per_s".into(), metric: true, times: 1.0, ..PublishedFigure::default() };
    let p95 = PublishedFigure { name: "p95".into(), times: 1e3, ..PublishedFigure::default() };
    let row = PublishedRow::new;
    let mut throughput = table("Throughput on Linux with 1 GB of memory", "mbit_per_s", metric, "Mbit/s");
    throughput.rows = vec![
        row("500 MB, Haboob", 324.9, None),
        row("500 MB, Apache", 434.3, Some(0)),
        row("500 MB, New Flash", 1284.7, Some(4)),
        row("3.3 GB, Apache", 177.4, Some(1)),
        row("3.3 GB, New Flash", 199.1, Some(5)),
    ];
    throughput.claims = vec![Claim {
        says: "all servers have similar throughput on the larger workload".into(),
        order: ClaimOrder::Same,
        cells: vec![1, 3, 5],
        pairs: Vec::new(),
    }];
    let mut times = table("Response time at 3.3 GB", "p95", p95, "ms");
    times.rows = vec![row("Apache", 661.8, Some(1)), row("New Flash", 3.68, Some(5))];
    vec![throughput, times]
}

/// What differs from the paper.
pub(super) fn differs() -> Vec<String> {
    ["The paper's server had a 3.0 GHz Pentium 4 and two gigabit adapters.", "Apache was 1.3.27."]
        .map(String::from)
        .to_vec()
}
