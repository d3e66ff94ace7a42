//! The steady state: the whole seconds of a run that count.

use model::Interval;
use model::record::interval::Sums;

/// The steady-state seconds of a run merged into one, and of each second the little that a merged one can't tell.
/// Its memory doesn't depend on the load and hardly on the run's length: 32 bytes a second.
#[derive(Debug, Clone)]
pub struct Steady {
    from: f64,
    to: f64,
    whole: Interval,
    before: Option<Ages>,
    seconds: Vec<Second>,
}

/// What is in progress at the end of a second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Ages {
    /// Summed ages of sessions.
    pub(crate) session_s: f64,
    /// Summed ages of thinks.
    pub(crate) think_s: f64,
}

/// What is kept of each second of the steady state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Second {
    pub(crate) number: u32,
    pub(crate) arrivals: u32,
    pub(crate) ages: Ages,
    pub(crate) busiest_thread_cpu_s: f64,
}

impl Steady {
    /// No second yet of the phase `[from_s, to_s)`.
    pub fn new(from_s: f64, to_s: f64) -> Steady {
        let (from, to) = (from_s.ceil(), to_s.floor());
        Steady { from, to, whole: Interval::empty(from as u32), before: None, seconds: Vec::new() }
    }

    /// The steady state of a whole recording.
    pub fn of(intervals: &[Interval], from_s: f64, to_s: f64) -> Steady {
        let mut steady = Steady::new(from_s, to_s);
        intervals.iter().for_each(|interval| steady.push(interval));
        steady
    }

    /// Takes the run's next second, merged over the generator's threads. Only one that lies wholly in the phase
    /// counts: a second that the phase only touches belongs to another phase too, and would bring its users in.
    pub fn push(&mut self, interval: &Interval) {
        self.take(interval);
    }

    /// Consecutive parts as one; nothing of none.
    pub(crate) fn joined<'a>(parts: impl IntoIterator<Item = &'a Steady>) -> Steady {
        let mut parts = parts.into_iter();
        let Some(first) = parts.next() else { return Steady::new(0.0, 0.0) };
        let mut joined = first.clone();
        for part in parts {
            joined.to = part.to;
            joined.whole.merge(&part.whole);
            joined.seconds.extend_from_slice(&part.seconds);
        }
        joined
    }

    /// All seconds merged. Its ages are without meaning; see [`model::Interval::session_age_s`].
    pub fn whole(&self) -> &Interval {
        &self.whole
    }

    pub(crate) fn seconds(&self) -> &[Second] {
        &self.seconds
    }

    /// What was in progress at the window's start; absent when the run starts with the steady state.
    pub(crate) fn before(&self) -> Option<Ages> {
        self.before
    }

    /// How many seconds were recorded; every rate is per these.
    pub fn length_s(&self) -> f64 {
        self.seconds.len() as f64
    }

    /// Start of the first recorded second and end of the last one, in seconds of the run.
    pub fn span_s(&self) -> (f64, f64) {
        let first = self.seconds.first().map_or(0, |second| second.number);
        let end = self.seconds.last().map_or(0, |second| second.number + 1);
        (f64::from(first), f64::from(end))
    }

    /// `count` per second; 0 when nothing was recorded.
    pub fn per_second(&self, count: f64) -> f64 {
        if self.seconds.is_empty() { 0.0 } else { count / self.length_s() }
    }
}

impl Sums for Steady {
    fn take(&mut self, interval: &Interval) -> Option<&mut Interval> {
        let second = f64::from(interval.second);
        let ages = Ages { session_s: interval.session_age_s, think_s: interval.think_age_s };
        if second == self.from - 1.0 {
            self.before = Some(ages);
        }
        if !(self.from..self.to).contains(&second) {
            return None;
        }
        let busiest_thread_cpu_s = interval.busiest_thread_cpu_s;
        let arrivals = u32::try_from(interval.arrivals).unwrap_or(u32::MAX);
        self.seconds.push(Second { number: interval.second, arrivals, ages, busiest_thread_cpu_s });
        self.whole.merge(interval);
        Some(&mut self.whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Vec<Interval> {
        let second = |second: u32| Interval {
            thinks: 1 << second,
            session_age_s: f64::from(second),
            ..Interval::empty(second)
        };
        (0..10).map(second).collect()
    }

    #[test]
    fn only_whole_seconds_inside_the_phase_count() {
        let run = run();
        let table = [
            (2.0, 5.0, 0b11100, "the bounds are whole seconds"),
            (1.5, 5.0, 0b11100, "second 1 also belongs to the ramp-up"),
            (2.0, 5.9, 0b11100, "second 5 also belongs to the ramp-down"),
            (0.0, 99.0, 0b11_1111_1111, "a run that ended early has fewer seconds"),
            (5.0, 5.0, 0, "no second fits"),
        ];
        for (from, to, expected, why) in table {
            let steady = Steady::of(&run, from, to);
            assert_eq!(steady.whole().thinks, expected, "{from}..{to}: {why}");
            assert_eq!(steady.length_s(), f64::from(expected.count_ones()), "{from}..{to}: {why}");
        }
    }

    #[test]
    fn the_state_at_the_windows_start_is_known_when_there_was_a_second_before() {
        let run = run();
        let before = |from| Steady::of(&run, from, 6.0).before().map(|ages| ages.session_s);
        assert_eq!(before(3.0), Some(2.0));
        assert_eq!(before(2.5), Some(2.0));
        assert_eq!(before(0.0), None);
    }

    #[test]
    fn seconds_pushed_one_by_one_equal_the_whole_recording() {
        let run = run();
        let mut steady = Steady::new(2.0, 8.0);
        run.iter().for_each(|interval| steady.push(interval));
        let whole = Steady::of(&run, 2.0, 8.0);
        assert_eq!(steady.span_s(), whole.span_s());
        assert_eq!(steady.whole().thinks, whole.whole().thinks);
    }
}
