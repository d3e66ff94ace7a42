//! A series in the few figures that a run's results need of it: so nobody has to have the points of all series at once.

use model::record::Series;

use crate::steady::Steady;
use crate::tier::time_mean;

/// A part of the ramp-up shorter than this tells more of the start than of the stack; seconds.
pub(crate) const MIN_EARLY_S: f64 = 2.0;
/// A reading this much after the end of a span is still one of its last second.
const LATE_S: f64 = 1.0;

/// What a series told over the seconds that count.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesSeen {
    /// web, app, db, cache, `generator`, `observers`; absent for the host.
    pub tier: Option<String>,
    /// `docs/reference/signals.md`.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Mean, weighted by time, of points that each hold since the one before; absent where none lies inside.
    pub mean: Option<f64>,
    /// The same without what was read later than the last second: of a level that tells of another time, such as the
    /// answer of a server that was too full to give one before.
    pub level: Option<f64>,
    /// The largest point; absent without one inside.
    pub max: Option<f64>,
    /// The mean over the part of the ramp-up in which at most a third of the users were there; absent where that was too
    /// short to tell.
    pub early: Option<f64>,
}

impl SeriesSeen {
    /// What `series` told over `steady`, and before it over `early`.
    pub fn of(series: &Series, steady: &Steady, early: &Steady) -> SeriesSeen {
        let (span, points) = (steady.span_s(), &series.points);
        let inside = points.iter().filter(|(at, _)| *at > span.0 && *at <= span.1);
        let long_enough = early.length_s() >= MIN_EARLY_S;
        SeriesSeen {
            tier: series.tier.clone(),
            name: series.name.clone(),
            unit: series.unit.clone(),
            mean: time_mean(points, span),
            level: time_mean(&points[..points.partition_point(|(at, _)| *at <= span.1 + LATE_S)], span),
            max: inside.map(|(_, value)| *value).reduce(f64::max),
            early: if long_enough { time_mean(points, early.span_s()) } else { None },
        }
    }

    /// It counts something by the second, or is the time of CPUs.
    pub(crate) fn is_rate(&self) -> bool {
        self.unit.ends_with("/s") || self.unit == "cores"
    }
}
