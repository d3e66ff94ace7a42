//! The load line: the load at which the first of the targets is missed, from trials at several loads.
//!
//! The principal type is [`Line`], a cloud of equally likely lines. Each target's crossing is a distribution
//! ([`crossing`]); the load line is the lowest of the crossings, so a line of the cloud takes one crossing from each
//! target and keeps the lowest. Two targets are partly measured by the same operations: half of the lines take all
//! crossings at the same height of their distributions, half at independent ones. The method, and what it reached on
//! simulated stacks, is in `docs/method/load-line.md`.

mod aside;
mod crossing;
mod stability;
mod usability;

use model::QosTarget;
use model::random::Random;
use model::record::study::{Measured, Purpose, Trial};

use crossing::{Crossing, Point, Reading};
pub use stability::Stability;
pub use usability::{LONG_ENOUGH_S, UnusableReason, Usability, by_overload, overloaded, trial_verdict};

/// Lines in the cloud.
const CLOUD: usize = 400;

/// Margins below this at every load: the target limits nothing here.
const FAR: f64 = -0.7;

/// Standard deviation added to margins of the ramp: they are short, and the stack may still be warming.
const RAMP_SPREAD: f64 = 0.1;

/// Trials further than this from the middle of those around the line, in ln(load), say nothing of its stability.
const NEAR: f64 = 0.35;

/// The weight of a margin's own standard error beside the noise of all trials.
const OWN: f64 = 0.2;

/// Variance of a margin in a window of one second where batches say nothing: that of a busy stack, 0.35 in 30 s.
const SUPPOSED_NOISE: f64 = 3.7;

/// How far beyond the loads tried the line may lie, in ln(load).
const BEYOND: f64 = 0.7;

/// A find's trials, and what each is good for.
#[derive(Debug, Clone)]
pub struct JudgedTrials<'a> {
    trials: &'a [Trial],
    rising: Vec<bool>,
    /// A trial of the ramp that failed is believed above the first of these loads, one that passed below the second.
    ramp_counts: (f64, f64),
}

impl<'a> JudgedTrials<'a> {
    /// Looks at all trials of a find so far.
    pub fn of(trials: &'a [Trial]) -> JudgedTrials<'a> {
        let rising = usability::rising(trials.iter());
        let ramp_counts = usability::ramp_counts(trials, &rising);
        let judged = JudgedTrials { trials, rising, ramp_counts };
        // Where nothing else says on which other side the line lies, the ramp does.
        let bracket = judged.highest_passed().is_some() && judged.lowest_failed().is_some();
        let ramp_counts = if bracket { judged.ramp_counts } else { (f64::NEG_INFINITY, f64::INFINITY) };
        JudgedTrials { ramp_counts, ..judged }
    }

    /// What this trial is good for.
    pub fn usability(&self, trial: &Trial) -> Usability {
        match usability::usability(trial, &self.rising) {
            Usability::Unusable(reason) => Usability::Unusable(reason),
            _ if self.is_overruled(trial) => Usability::Unusable(UnusableReason::Overruled),
            usability => usability,
        }
    }

    /// Whether it met the targets that get worse with load; absent when it doesn't say.
    pub fn passes(&self, trial: &Trial) -> Option<bool> {
        usability::passes(trial, &self.rising).filter(|_| !self.is_overruled(trial))
    }

    /// Whether a trial of the ramp failed without missing a target. Short as it is, that may be how its users began.
    pub fn is_doubtful(&self, trial: &Trial) -> bool {
        let clauses = trial.measured.iter().flat_map(|seen| &seen.targets).zip(&self.rising);
        let missed = clauses.filter(|(_, rising)| **rising).any(|(clause, _)| clause.is_missed());
        trial.purpose == Purpose::Ramp && usability::passes(trial, &self.rising) == Some(false) && !missed
    }

    /// A trial of the ramp, short and on a stack that has served before, says the opposite of one that began anew; or a
    /// doubtful one, of any other.
    fn is_overruled(&self, trial: &Trial) -> bool {
        let (above, below) = self.ramp_counts;
        let denied = || {
            let counts = |other: &&Trial| other.purpose != Purpose::WarmUp && other.load >= trial.load;
            let passes = |other: &Trial| usability::passes(other, &self.rising) == Some(true);
            self.is_doubtful(trial) && self.trials.iter().filter(counts).any(passes)
        };
        trial.purpose == Purpose::Ramp
            && match usability::passes(trial, &self.rising) {
                Some(true) => trial.load >= below,
                Some(false) => trial.load <= above || denied(),
                None => false,
            }
    }

    /// The largest margin of a target that gets worse with load, and the target's number in the plan.
    pub fn worst(&self, trial: &Trial) -> Option<(f64, usize)> {
        let clauses = &trial.measured.as_ref()?.targets;
        let rising = clauses.iter().zip(&self.rising).enumerate().filter(|(_, (_, rising))| **rising);
        rising
            .filter(|(_, (clause, _))| !clause.is_of_nothing())
            .filter_map(|(number, (clause, _))| Some((clause.margin.log?, number)))
            .max_by(|one, other| one.0.total_cmp(&other.0))
    }

    /// The first target that asks for at least something, gets better with load, and is missed in this trial.
    pub fn wanting(&self, trial: &Trial) -> Option<&'a QosTarget> {
        let number = self.trials.iter().position(|known| known.number == trial.number)?;
        let clauses = self.trials[number].measured.iter().flat_map(|seen| &seen.targets);
        let mut missed = clauses.zip(&self.rising).filter(|(clause, rising)| !**rising && !clause.pass);
        missed.next().map(|(clause, _)| &clause.target)
    }

    /// The highest load that passed.
    pub fn highest_passed(&self) -> Option<f64> {
        self.loads(true).max_by(f64::total_cmp)
    }

    /// The lowest load that failed.
    pub fn lowest_failed(&self) -> Option<f64> {
        self.loads(false).min_by(f64::total_cmp)
    }

    fn loads(&self, pass: bool) -> impl Iterator<Item = f64> {
        self.trials.iter().filter(move |trial| self.passes(trial) == Some(pass)).map(|trial| trial.load)
    }

    /// The targets, in the plan's order.
    fn targets(&self) -> Vec<&'a QosTarget> {
        let seen = self.trials.iter().find_map(|trial| trial.measured.as_ref());
        seen.iter().flat_map(|seen| &seen.targets).map(|clause| &clause.target).collect()
    }

    fn usable(&self) -> impl Iterator<Item = (&'a Trial, Usability)> {
        let all = self.trials.iter().map(|trial| (trial, self.usability(trial)));
        all.filter(|(_, usability)| !matches!(usability, Usability::Unusable(_)))
    }

    /// The noise of target `number`: the median variance of its margin in a window of one second.
    fn noise(&self, number: usize) -> f64 {
        let of = |(trial, _): (&Trial, Usability)| {
            let se = trial.measured.as_ref()?.targets.get(number)?.margin.log_se?;
            se.is_finite().then_some(se * se * trial.window_s)
        };
        let mut known: Vec<f64> = self.usable().filter_map(of).collect();
        known.sort_by(f64::total_cmp);
        known.get(known.len() / 2).copied().unwrap_or(SUPPOSED_NOISE)
    }

    fn readings(&self, number: usize) -> Vec<(&'a Trial, Point)> {
        let noise = self.noise(number);
        let of = |(trial, usability)| Some((trial, reading(trial, usability, number, noise)?));
        self.usable().filter_map(of).collect()
    }

    /// What the trials say of target `number`; empty when it limits nothing here.
    fn points(&self, number: usize) -> Vec<Point> {
        if !self.rising.get(number).is_some_and(|rising| *rising) {
            return Vec::new();
        }
        let points: Vec<Point> = self.readings(number).into_iter().map(|(_, point)| point).collect();
        let near = |point: &Point| match point.reading {
            Reading::Margin(margin, _) => margin > FAR,
            Reading::Over => true,
            Reading::Under => false,
        };
        if points.iter().any(near) { points } else { Vec::new() }
    }

    /// Whether one line explains the search and confirming trials around `line`; absent when there are too few of them, or
    /// no target is known to hold it.
    pub fn stability(&self, line: &Line) -> Option<Stability> {
        let clear: Vec<(&Trial, f64, f64)> = self
            .readings(line.held_by_number?)
            .into_iter()
            .filter(|(trial, _)| matches!(trial.purpose, Purpose::Search | Purpose::Confirm))
            .filter_map(|(trial, point)| match point.reading {
                Reading::Margin(margin, variance) => Some((trial, margin, variance)),
                Reading::Over | Reading::Under => None,
            })
            .collect();
        // The line itself may have left the trials behind where it moves, or where confirming trials deny it.
        let mut loads: Vec<f64> = clear.iter().map(|(trial, ..)| trial.load).collect();
        loads.sort_by(f64::total_cmp);
        let middle = *loads.get(loads.len() / 2)?;
        let near: Vec<(&Trial, f64, f64)> =
            clear.into_iter().filter(|(trial, ..)| (trial.load / middle).ln().abs() < NEAR).collect();
        let first_s = near.first()?.0.began_s;
        let length_s = (near.last()?.0.began_s - first_s).max(1.0);
        let timed = near.iter().map(|(trial, margin, variance)| stability::Timed {
            x: trial.load.ln(),
            margin: *margin,
            variance: *variance,
            when: (trial.began_s - first_s) / length_s,
        });
        stability::stability(&timed.collect::<Vec<_>>())
    }

    /// Where the load was carried and where it was not although no target was missed there; empty when it always was.
    /// A target's own points know nothing of it, and its margins would put the line above.
    fn carried(&self) -> Vec<Point> {
        let missed = |trial: &Trial| {
            let clauses = trial.measured.iter().flat_map(|seen| &seen.targets);
            clauses.zip(&self.rising).any(|(clause, rising)| *rising && clause.is_missed())
        };
        let point = |(trial, usability): (&Trial, Usability)| {
            let reading = match usability {
                Usability::Bound if missed(trial) => return None,
                Usability::Bound => Reading::Over,
                _ => Reading::Under,
            };
            Some(Point { x: trial.load.ln(), reading })
        };
        let points: Vec<Point> = self.usable().filter_map(point).collect();
        if points.iter().any(|point| point.reading == Reading::Over) { points } else { Vec::new() }
    }

    /// Where it passed and where it failed, of no target in particular.
    fn sides(&self) -> Vec<Point> {
        let side = |trial: &Trial| {
            let reading = if self.passes(trial)? { Reading::Under } else { Reading::Over };
            Some(Point { x: trial.load.ln(), reading })
        };
        self.trials.iter().filter_map(side).collect()
    }
}

fn reading(trial: &Trial, usability: Usability, number: usize, noise: f64) -> Option<Point> {
    let clause = |seen: &Measured| seen.targets.get(number).cloned();
    let clause = trial.measured.as_ref().and_then(clause);
    let reading = match (usability, clause) {
        (Usability::PassFail, Some(clause)) if !clause.is_sampled() && clause.is_missed() => return None,
        (Usability::PassFail, Some(clause)) if !clause.is_sampled() => Reading::Under,
        (Usability::Bound, Some(clause)) if clause.pass => return None,
        (Usability::Bound, _) => Reading::Over,
        (Usability::Full | Usability::PassFail, Some(clause)) if clause.is_of_nothing() => Reading::Under,
        (Usability::Full | Usability::PassFail, Some(clause)) => match clause.margin.log {
            Some(margin) if margin.is_finite() => {
                Reading::Margin(margin, variance(trial, clause.margin.log_se, noise))
            }
            _ => return None,
        },
        _ => return None,
    };
    Some(Point { x: trial.load.ln(), reading })
}

/// The variance of a margin: that of its own batches and the one that the stack's `noise` lets expect, weighed.
/// Ten batches know their variance by a factor of two; a stray trial that happens to look exact would pull the line.
fn variance(trial: &Trial, margin_se: Option<f64>, noise: f64) -> f64 {
    let expected = noise / trial.window_s.max(1.0);
    let own = margin_se.filter(|se| se.is_finite()).map_or(expected, |se| se * se);
    let ramp = if trial.purpose == Purpose::Ramp { RAMP_SPREAD } else { 0.0 };
    OWN * own + (1.0 - OWN) * expected + ramp * ramp
}

/// One of the equally likely lines.
#[derive(Debug, Clone, Copy)]
struct Draw {
    /// ln(load).
    x: f64,
    slope: f64,
    /// The target that is missed first, by its place in [`Line::held`].
    target: usize,
}

/// The load line and how well it is known.
#[derive(Debug, Clone)]
pub struct Line {
    /// The most likely load: the median.
    pub load: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The target that is missed first in most of the cloud's lines.
    pub held_by: Option<QosTarget>,
    /// Its number in the plan.
    pub held_by_number: Option<usize>,
    /// The share of these lines.
    pub held_by_ratio: f64,
    /// How steeply that target's margin rises with ln(load): the median.
    pub slope: f64,
    /// Spread of margins from trial to trial.
    pub spread: f64,
    /// In rising order of x.
    cloud: Vec<Draw>,
}

impl Line {
    /// The line with its interval of probability `confidence_ratio`; absent when nothing usable was measured.
    ///
    /// `seed` draws which crossings go together.
    pub fn of(trials: &JudgedTrials<'_>, confidence_ratio: f64, seed: u64) -> Option<Line> {
        let loads = || trials.usable().map(|(trial, _)| trial.load.ln());
        let range = (loads().min_by(f64::total_cmp)? - BEYOND, loads().max_by(f64::total_cmp)? + BEYOND);
        let targets = trials.targets();
        let mut held: Vec<Option<usize>> = Vec::new();
        let mut crossings = Vec::new();
        for number in 0..targets.len() {
            let points = trials.points(number);
            if !points.is_empty() {
                held.push(Some(number));
                crossings.push(Crossing::of(&points, range));
            }
        }
        if crossings.is_empty() {
            held.push(None);
            crossings.push(Crossing::of(&trials.sides(), range));
        } else {
            let carried = trials.carried();
            if !carried.is_empty() {
                held.push(None);
                crossings.push(Crossing::of(&carried, range));
            }
        }
        let cloud = cloud(&crossings, seed);
        let share = |target: usize| {
            cloud.iter().filter(|draw| draw.target == target).count() as f64 / cloud.len() as f64
        };
        let first = (0..held.len()).max_by(|one, other| share(*one).total_cmp(&share(*other)))?;
        let tail = (1.0 - confidence_ratio.clamp(0.0, 1.0)) / 2.0;
        let at = |u: f64| cloud[((u * CLOUD as f64) as usize).min(CLOUD - 1)].x.exp();
        let mut slopes: Vec<f64> =
            cloud.iter().filter(|draw| draw.target == first).map(|draw| draw.slope).collect();
        slopes.sort_by(f64::total_cmp);
        Some(Line {
            load: at(0.5),
            low: at(tail),
            high: at(1.0 - tail),
            held_by: held[first].map(|number| targets[number].clone()),
            held_by_number: held[first],
            held_by_ratio: share(first),
            slope: slopes.get(slopes.len() / 2).copied().unwrap_or(1.0),
            spread: crossings[first].spread_square.sqrt(),
            cloud,
        })
    }

    /// The median of the cloud's lines between two loads; absent where there is none.
    pub fn median_within(&self, low: f64, high: f64) -> Option<f64> {
        let within: Vec<f64> =
            self.cloud.iter().map(|draw| draw.x.exp()).filter(|load| (low..high).contains(load)).collect();
        within.get(within.len() / 2).copied()
    }

    /// Half the interval's length as a share of the load line.
    pub fn half_width_ratio(&self) -> f64 {
        (self.high - self.low) / (2.0 * self.load)
    }

    /// Probability that a trial at `load` meets the targets, if its margin has the standard error `margin_se` of its
    /// own besides the spread from trial to trial.
    pub fn pass_probability(&self, load: f64, margin_se: f64) -> f64 {
        let noise = (margin_se * margin_se + self.spread * self.spread).sqrt().max(0.01);
        let x = load.ln();
        // The normal distribution by the logistic one, which differs by 0.01 at most (Bowling et al. 2009).
        let pass =
            |draw: &Draw| 1.0 / (1.0 + (1.702 * draw.slope * (x - draw.x) / noise).clamp(-50.0, 50.0).exp());
        self.cloud.iter().map(pass).sum::<f64>() / self.cloud.len() as f64
    }
}

fn cloud(crossings: &[Crossing], seed: u64) -> Vec<Draw> {
    let mut random = Random::new(seed);
    let mut cloud: Vec<Draw> = (0..CLOUD)
        .map(|index| {
            let together = (index as f64 + 0.5) / CLOUD as f64;
            let apart = crossings.len() > 1 && index % 2 == 1;
            let draw = |(target, crossing): (usize, &Crossing)| {
                let u = if apart { random.open_unit() } else { together };
                let (x, slope) = crossing.at(u, random.open_unit());
                Draw { x, slope, target }
            };
            let lowest =
                crossings.iter().enumerate().map(draw).min_by(|one, other| one.x.total_cmp(&other.x));
            lowest.expect("there is at least one crossing")
        })
        .collect();
    cloud.sort_by(|one, other| one.x.total_cmp(&other.x));
    cloud
}
