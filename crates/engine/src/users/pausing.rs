//! Pauses between a user's sessions: how long they are to be, and how long they became.

use std::num::NonZeroU16;

use model::Distribution;
use model::catalogue::population::Populations;

use crate::active_session::ActiveSession;
use crate::random::Stream;
use crate::recorder::Recorder;
use crate::schedule::nanos;

/// How long users pause after each session, by the sessions' numbers through all populations.
#[derive(Debug)]
pub(crate) struct Pace {
    after: Vec<After>,
}

/// The pause after one session.
#[derive(Debug, Clone, Copy)]
struct After {
    pause: Option<Distribution>,
    /// From start to start, not from end to start.
    by_cycles: bool,
}

impl Pace {
    /// The pauses that the populations ask for.
    pub(crate) fn of(populations: &Populations) -> Pace {
        let after = populations.iter().flat_map(|population| {
            population.pauses.iter().map(|pause| After { pause: *pause, by_cycles: population.by_cycles })
        });
        Pace { after: after.collect() }
    }

    /// Whether the pause after session number `session` is the rest of a cycle.
    pub(crate) fn is_by_cycles(&self, session: u16) -> bool {
        self.after[usize::from(session)].by_cycles
    }

    /// The pause after `session`, which ends now, and when the next session is intended to start; absent where there is
    /// to be none.
    pub(crate) fn draw(
        &self,
        session: &ActiveSession,
        now_ns: u64,
        stream: &mut Stream,
    ) -> Option<(Pause, u64)> {
        let After { pause, by_cycles } = self.after[usize::from(session.number)];
        let asked_s = pause?.sample(stream.unit());
        let lasted_s = now_ns.saturating_sub(session.started_ns) as f64 / 1e9;
        let (from_ns, held_s) =
            if by_cycles { (session.intended_ns, asked_s.max(lasted_s)) } else { (now_ns, asked_s) };
        let number = NonZeroU16::MIN.saturating_add(session.number);
        let pause = Pause { session: number, asked_s: asked_s as f32, held_s: held_s as f32 };
        Some((pause, from_ns + nanos(asked_s)))
    }
}

/// A pause as it is recorded when it ends. Every user has one: its times are kept to seven digits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pause {
    /// The session's number and one more, so that a user without a pause is no larger.
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
