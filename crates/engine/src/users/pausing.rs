//! Pauses between a user's sessions: how long they are to be, and how long they became.

use std::num::NonZeroU16;

use model::Distribution;

use crate::active_session::ActiveSession;
use crate::random::Stream;
use crate::recorder::Recorder;
use crate::scenario::Scenario;
use crate::schedule::nanos;

/// How long users pause after each session.
#[derive(Debug)]
pub(crate) struct Pace {
    /// From start to start, not from end to start.
    by_cycles: bool,
    /// In the order of the mix's names.
    after: Vec<Option<Distribution>>,
}

impl Pace {
    /// The pauses that the scenario asks for after the sessions of those names.
    pub(crate) fn of(scenario: &Scenario, sessions: &[String]) -> Pace {
        let usual = scenario.cycle.or(scenario.think);
        let after = |name: &String| scenario.by_session.get(name).copied().or(usual);
        Pace { by_cycles: scenario.cycle.is_some(), after: sessions.iter().map(after).collect() }
    }

    /// Whether pauses are the rest of a cycle.
    pub(crate) fn is_by_cycles(&self) -> bool {
        self.by_cycles
    }

    /// The pause after `session`, which ends now, and when the next session is intended to start; absent where there is
    /// to be none.
    pub(crate) fn draw(
        &self,
        session: &ActiveSession,
        now_ns: u64,
        stream: &mut Stream,
    ) -> Option<(Pause, u64)> {
        let asked_s = self.after[usize::from(session.number)]?.sample(stream.unit());
        let lasted_s = now_ns.saturating_sub(session.started_ns) as f64 / 1e9;
        let (from_ns, held_s) =
            if self.by_cycles { (session.intended_ns, asked_s.max(lasted_s)) } else { (now_ns, asked_s) };
        let number = NonZeroU16::MIN.saturating_add(session.number);
        let pause = Pause { session: number, asked_s: asked_s as f32, held_s: held_s as f32 };
        Some((pause, from_ns + nanos(asked_s)))
    }
}

/// A pause as it is recorded when it ends. Every user has one: its times are kept to seven digits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pause {
    /// The session's number in the mix and one more, so that a user without a pause is no larger.
    session: NonZeroU16,
    /// As drawn.
    asked_s: f32,
    /// As it is if the generator is not late.
    held_s: f32,
}

impl Pause {
    /// It begins.
    pub(crate) fn begin(self, recorder: &mut Recorder) {
        recorder.pause_drawn(self.session.get() - 1, f64::from(self.asked_s));
    }

    /// It ends, `late_ns` later than it could have.
    pub(crate) fn end(self, late_ns: u64, recorder: &mut Recorder) {
        let took_s = f64::from(self.held_s) + late_ns as f64 / 1e9;
        recorder.pause_ended(self.session.get() - 1, f64::from(self.asked_s), took_s);
    }
}
