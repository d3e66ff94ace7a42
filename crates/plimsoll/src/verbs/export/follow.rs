//! A run as it grows: what has come since the last look is added up.

use std::time::{Duration, SystemTime};

use model::record::Series;
use model::record::interval::{ErrorKind, OperationKind, OperationName, Times, add_times, new_times};
use model::{Interval, Result, RunRecord};
use store::Run;

/// Percentiles are over the last one to two spans of this number of seconds.
const SPAN_S: u32 = 5;
/// A series whose last point is older than this is not told: its server is gone, or doesn't answer.
const STALE_S: f64 = 10.0;

/// A run that is followed.
pub(super) struct Followed {
    run: Run,
    /// The last second that was read.
    last: Option<u32>,
    rows: Vec<Row>,
    latest: Vec<Series>,
    busy_users: f64,
    thinking_users: f64,
    waiting_users: u64,
    connects: u64,
    under_way: bool,
    /// When the run's first second began, as far as the first look told: it must not move between two pushes.
    began: Option<SystemTime>,
}

/// An operation or a request since the run's start.
pub(super) struct Row {
    pub(super) name: OperationName,
    pub(super) completed: u64,
    pub(super) errors: [u64; 6],
    pub(super) bytes: u64,
    /// Seconds: the sum of the response times of what completed.
    pub(super) response_sum_s: f64,
    spans: [Times; 2],
}

impl Followed {
    pub(super) fn new(run: Run) -> Followed {
        Followed {
            run,
            last: None,
            rows: Vec::new(),
            latest: Vec::new(),
            busy_users: 0.0,
            thinking_users: 0.0,
            waiting_users: 0,
            connects: 0,
            under_way: true,
            began: None,
        }
    }

    /// When the run's first second began.
    pub(super) fn began(&self) -> Option<SystemTime> {
        self.began
    }

    pub(super) fn id(&self) -> &str {
        &self.run.record().id
    }

    pub(super) fn record(&self) -> &RunRecord {
        self.run.record()
    }

    /// Whether it was being measured at the last look.
    pub(super) fn under_way(&self) -> bool {
        self.under_way
    }

    /// Seconds of the run that have ended.
    pub(super) fn second(&self) -> u32 {
        self.last.map_or(0, |last| last + 1)
    }

    /// Operations and requests; sessions are left out.
    pub(super) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.name.kind != OperationKind::Session)
    }

    /// Users at the end: what, and how many. Nothing once the run is over.
    pub(super) fn users(&self) -> Vec<(&'static str, f64)> {
        if !self.under_way {
            return Vec::new();
        }
        vec![
            ("busy", self.busy_users),
            ("thinking", self.thinking_users),
            ("waiting", self.waiting_users as f64),
        ]
    }

    /// Connections that were opened.
    pub(super) fn connects(&self) -> u64 {
        self.connects
    }

    /// The last point of every series that is not too old. Nothing once the run is over.
    pub(super) fn series(&self) -> impl Iterator<Item = (&Series, f64)> {
        let from_s = f64::from(self.second()) - STALE_S;
        let last = |series: &'_ Series| series.points.last().copied();
        let fresh = self.latest.iter().filter_map(move |series| Some((series, last(series)?)));
        let fresh = fresh.filter(move |(_, (second, _))| self.under_way && *second >= from_s);
        fresh.map(|(series, (_, value))| (series, value))
    }

    /// Reads what has come; whether that was anything.
    ///
    /// # Errors
    /// A file that can't be read. One that isn't there yet is no error: the run has only begun.
    pub(super) fn look(&mut self) -> Result<bool> {
        // Before the reading: what a run writes in its last moment is read once more.
        let under_way = self.run.under_way();
        let changed = under_way != self.under_way;
        self.under_way = under_way;
        let seconds = self.run.seconds_after(self.last)?;
        self.learn(seconds.names());
        let mut fresh = changed;
        for second in seconds {
            self.add(&second?);
            fresh = true;
        }
        if fresh {
            self.latest = self.run.latest()?;
        }
        if self.began.is_none() && self.last.is_some() {
            self.began = SystemTime::now().checked_sub(Duration::from_secs(self.second().into()));
        }
        Ok(fresh)
    }

    fn learn(&mut self, names: &[OperationName]) {
        let known = self.rows.len();
        self.rows.extend(names.iter().skip(known).map(|name| Row {
            name: name.clone(),
            completed: 0,
            errors: [0; 6],
            bytes: 0,
            response_sum_s: 0.0,
            spans: [new_times(), new_times()],
        }));
    }

    fn add(&mut self, second: &Interval) {
        if second.second.is_multiple_of(SPAN_S) {
            self.rows.iter_mut().for_each(Row::turn);
        }
        for (row, part) in self.rows.iter_mut().zip(&second.operations) {
            row.completed += part.completed;
            row.bytes += part.bytes;
            row.errors.iter_mut().zip(part.errors).for_each(|(sum, count)| *sum += count);
            if row.name.kind == OperationKind::Operation && !part.response.is_empty() {
                row.response_sum_s += part.response.mean() * part.response.len() as f64 / 1e6;
                add_times(&mut row.spans[1], &part.response);
            }
        }
        self.busy_users = second.busy_user_s;
        self.thinking_users = second.thinking_user_s;
        self.waiting_users = second.waiting_users;
        self.connects += second.connects;
        self.last = Some(second.second);
    }
}

impl Row {
    fn turn(&mut self) {
        self.spans.swap(0, 1);
        self.spans[1].reset();
    }

    /// The kinds of errors, by their words.
    pub(super) fn failures(&self) -> impl Iterator<Item = (&'static str, u64)> {
        ErrorKind::ALL.iter().map(|kind| kind.word()).zip(self.errors)
    }

    /// Percentiles of the last 5 to 10 seconds as (share, seconds); those that the samples support.
    pub(super) fn quantiles(&self) -> Vec<(f64, f64)> {
        let mut times = self.spans[0].clone();
        add_times(&mut times, &self.spans[1]);
        let quantile = |share: f64| Some((share, analysis::percentile_s(&times, 100.0 * share)?));
        [0.5, 0.9, 0.95, 0.99].into_iter().filter_map(quantile).collect()
    }
}
