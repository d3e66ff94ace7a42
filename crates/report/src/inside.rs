//! What tiers, their servers and the machine told over time: those figures first that the diagnosis cites.

use analysis::signals::names::{CPU, CPU_WAIT};
use model::record::Series;
use model::record::diagnosis::{Limited, SignalSummary};
use model::record::instrument::{GENERATOR, OBSERVERS, VIEWER};
use model::{RunRecord, SignalRegistry, Subject};
use serde::Serialize;

use crate::timeline::{STEPS_S, Timeline, spread};

/// A small chart shows no more points than this, so that the report of a long run stays small.
const POINTS: u32 = 300;

/// Nothing that is watched is read less often; a longer gap is one, in seconds.
const LONGEST_GAP_S: u32 = 15;

/// The tiers from the users to the data; others follow, the instrument's own last.
const ORDER: [&str; 8] = ["web", "app", "cache", "db", "data", GENERATOR, OBSERVERS, VIEWER];

/// What was told from inside, over time. All vectors of values are as long as `at_s`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inside {
    /// Width of a step, in seconds.
    pub step_s: u32,
    /// Where each step begins, in seconds of the run.
    pub at_s: Vec<u32>,
    /// The tiers, the one that the diagnosis names first; the machine last.
    pub tiers: Vec<TierInside>,
}

/// A tier's figures, or the machine's.
#[derive(Debug, Clone, PartialEq)]
pub struct TierInside {
    /// web, app, db, cache, `generator`, `observers`, `viewer`; absent for the machine.
    pub tier: Option<String>,
    /// The figures that matter: what the diagnosis cites, then what the service calls its key figures.
    pub first: Vec<Figure>,
    /// The others that moved.
    pub more: Vec<Figure>,
    /// Those that were the same throughout.
    pub still: Vec<Figure>,
}

/// A figure over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// `workers.busy` (`docs/reference/signals.md`).
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// What it tells; empty where nothing is known of it.
    pub help: String,
    /// The diagnosis cites it.
    pub cited: bool,
    /// Over the steady state; absent in records without signals.
    pub signal: Option<SignalSummary>,
    /// One value a step.
    pub values: Vec<Option<f64>>,
}

/// What `series` tell of a run whose course is `timeline`; `signals` say what those mean that are no server's own.
pub(crate) fn of(
    record: &RunRecord,
    series: &[Series],
    timeline: &Timeline,
    signals: &SignalRegistry,
) -> Inside {
    let meanings = Meanings { record, signals };
    let (Some(first), Some(last)) = (timeline.at_s.first(), timeline.at_s.last()) else {
        return Inside::default();
    };
    let end_s = last + timeline.step_s;
    let fits = |step: &u32| *step >= timeline.step_s && (end_s - first).div_ceil(*step) <= POINTS;
    let step_s = STEPS_S.into_iter().find(fits).unwrap_or(STEPS_S[STEPS_S.len() - 1]);
    let at_s: Vec<u32> = (first / step_s * step_s..end_s).step_by(step_s as usize).collect();
    let mut names: Vec<Option<&str>> = Vec::new();
    for one in series {
        if !names.contains(&one.tier.as_deref()) {
            names.push(one.tier.as_deref());
        }
    }
    let limiting = record.diagnosis.as_ref().filter(|diagnosis| diagnosis.state == Limited::Yes);
    let limiting = limiting.and_then(|diagnosis| Some(diagnosis.suspects.first()?.tier.as_str()));
    let place = |tier: &Option<&str>| match tier {
        None => (2, 0),
        Some(tier) if Some(*tier) == limiting => (0, 0),
        Some(tier) => (1, ORDER.iter().position(|known| known == tier).unwrap_or(3)),
    };
    names.sort_by_key(place);
    let tiers = names.into_iter().map(|tier| {
        let own = series.iter().filter(|one| one.tier.as_deref() == tier);
        sorted(&meanings, tier, own.map(|one| figure(&meanings, one, &at_s, step_s)).collect())
    });
    Inside { step_s, tiers: tiers.collect(), at_s }
}

fn figure(meanings: &Meanings<'_>, one: &Series, at_s: &[u32], step_s: u32) -> Figure {
    let own = |signal: &&SignalSummary| signal.name == one.name && signal.tier == one.tier;
    let (help, _) = meanings.of(one.tier.as_deref(), &one.name);
    Figure {
        name: one.name.clone(),
        unit: one.unit.clone(),
        help: help.to_string(),
        cited: false,
        signal: meanings.record.signals.iter().find(own).cloned(),
        values: filled(
            spread(&one.points, at_s, step_s),
            one.unit.ends_with("/s"),
            LONGEST_GAP_S.div_ceil(step_s),
        ),
    }
}

/// What is read less often than once a step holds until it is read again, and a rate since it was read before. A gap of
/// more than `most` steps stays one.
fn filled(mut values: Vec<Option<f64>>, rate: bool, most: u32) -> Vec<Option<f64>> {
    let known: Vec<usize> = (0..values.len()).filter(|index| values[*index].is_some()).collect();
    for pair in known.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        if to - from <= most as usize {
            let value = values[if rate { to } else { from }];
            values[from + 1..to].fill(value);
        }
    }
    values
}

/// What is known of the meaning of figures.
struct Meanings<'a> {
    record: &'a RunRecord,
    signals: &'a SignalRegistry,
}

impl Meanings<'_> {
    /// What a figure tells, and whether it is a key one: as the tier's service said when the run began, else as whoever
    /// reads it declares. Nothing where nobody does any more.
    fn of(&self, tier: Option<&str>, name: &str) -> (&str, bool) {
        let setup = self.record.setup.tiers.iter().find(|one| Some(one.tier.as_str()) == tier);
        if let Some(counter) = setup.and_then(|tier| tier.counters.get(name)) {
            return (&counter.help, counter.key);
        }
        let declared = self.signals.find(Subject::of(tier, name), name);
        declared.map_or(("", false), |signal| (signal.help.as_ref(), signal.key))
    }
}

fn sorted(meanings: &Meanings<'_>, tier: Option<&str>, figures: Vec<Figure>) -> TierInside {
    let cited = cited(meanings.record, tier);
    let mut parts =
        TierInside { tier: tier.map(str::to_string), first: Vec::new(), more: Vec::new(), still: Vec::new() };
    for mut figure in figures {
        let place = cited.iter().position(|name| *name == figure.name);
        figure.cited = place.is_some();
        let (_, key) = meanings.of(tier, &figure.name);
        let moved =
            figure.values.iter().flatten().collect::<Vec<_>>().windows(2).any(|pair| pair[0] != pair[1]);
        match (figure.cited, key, moved) {
            (true, ..) => parts.first.push(figure),
            (_, _, false) => parts.still.push(figure),
            // The CPU of all tiers has a chart of its own.
            _ if figure.name == CPU => {}
            (_, true, _) => parts.first.push(figure),
            _ => parts.more.push(figure),
        }
    }
    let place = |figure: &Figure| cited.iter().position(|name| *name == figure.name).unwrap_or(cited.len());
    parts.first.sort_by_key(place);
    parts
}

/// The figures of a tier that the evidence of any suspect names, in that order; each once. A signal is the suspect's
/// own unless it says otherwise: `host:NAME`, `callee:NAME`, `run:NAME` (`model::catalogue::rules`).
fn cited<'a>(record: &'a RunRecord, tier: Option<&str>) -> Vec<&'a str> {
    let suspects = record.diagnosis.iter().flat_map(|diagnosis| &diagnosis.suspects);
    let clues = suspects.flat_map(|suspect| {
        suspect.evidence.iter().map(|clue| (suspect.tier.as_str(), clue.signal.as_str()))
    });
    let mut names = Vec::new();
    for (suspect, signal) in clues {
        let (of, name) = match signal.split_once(':') {
            Some(("host", name)) => (None, name),
            Some(("callee", name)) if callee(record, suspect).is_some() => (callee(record, suspect), name),
            Some(_) => continue,
            None => (Some(suspect).filter(|tier| *tier != "host"), signal),
        };
        if of == tier && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The tier behind: the next one on the way from the users to the data.
fn callee<'a>(record: &'a RunRecord, tier: &str) -> Option<&'a str> {
    let names = || record.setup.tiers.iter().map(|one| one.tier.as_str());
    let place = |tier: &str| ORDER.iter().position(|known| *known == tier);
    names().filter(|name| place(name) > place(tier)).min_by_key(|name| place(name))
}

impl Figure {
    /// `mean 5.4, at most 34 of 150 workers; 0.09 per operation`; empty in records without signals.
    pub fn summary(&self) -> String {
        let Some(signal) = &self.signal else { return String::new() };
        let shown = |value: f64| crate::figures::in_series_unit(value, &self.unit);
        let mut text = format!("mean {}, at most {}", shown(signal.mean), self.of_limit(signal.max));
        if let Some(per) = signal.per_operation.filter(|per| *per > 0.0) {
            let unit = self.unit.strip_suffix("/s").unwrap_or_default();
            text.push_str(&format!("; {} per operation", crate::figures::in_series_unit(per, unit)));
        }
        text
    }

    /// The most that it can be, where that is known.
    pub fn limit(&self) -> Option<f64> {
        // Older runs give one to threads that wait for a CPU, of which any number can.
        self.signal.as_ref().filter(|_| self.name != CPU_WAIT)?.limit
    }

    /// `37 of 150 workers`: a value beside what it can be at most, which of a share goes without saying.
    pub fn of_limit(&self, value: f64) -> String {
        let shown = crate::figures::in_series_unit(value, &self.unit);
        match self.limit() {
            Some(limit) if self.unit != "ratio" => {
                let limit = crate::figures::in_series_unit(limit, &self.unit);
                format!("{} of {limit}", shown.trim_end_matches(&self.unit).trim_end())
            }
            _ => shown,
        }
    }

    /// The value of a figure that was the same throughout.
    pub fn constant(&self) -> Option<f64> {
        self.values.iter().flatten().next().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stands_beside_its_limit_but_for_threads_that_wait_for_a_cpu() {
        let figure = |name: &str| Figure {
            name: name.into(),
            unit: "cores".into(),
            help: String::new(),
            cited: false,
            signal: Some(SignalSummary {
                tier: Some("web".into()),
                name: name.into(),
                unit: "cores".into(),
                mean: 0.5,
                max: 0.7,
                early: None,
                limit: Some(1.0),
                per_operation: None,
            }),
            values: Vec::new(),
        };
        assert_eq!(figure("cpu.cores").of_limit(0.7), "0.7 of 1 cores");
        assert_eq!(figure("cpu.wait_cores").of_limit(10.1), "10.1 cores");
        assert_eq!((figure("cpu.cores").limit(), figure("cpu.wait_cores").limit()), (Some(1.0), None));
    }

    #[test]
    fn what_is_read_now_and_then_holds_until_it_is_read_again_and_a_long_gap_stays() {
        let values = vec![None, Some(1.0), None, None, Some(4.0), None];
        let some = |values: [f64; 4]| values.map(Some).to_vec();
        assert_eq!(filled(values.clone(), false, 5)[1..5], some([1.0, 1.0, 1.0, 4.0]));
        assert_eq!(filled(values.clone(), true, 5)[1..5], some([1.0, 4.0, 4.0, 4.0]));
        assert_eq!(filled(values.clone(), true, 2), values);
    }
}
