//! How a run that goes on tells what it is at. Nothing here prints: whoever starts a run listens.

use model::Problems;
use model::progress::SecondProgress;
use model::progress::study::StudyProgress;

/// Listens to what a run is at. Texts are for people.
pub trait Progress {
    /// Measuring begins: the machine's lock is held, or measuring beside others is allowed. Once in a process.
    fn begin(&mut self) {}

    /// A step begins.
    fn step(&mut self, text: &str);

    /// How far the step under way has come, 0 to 1.
    fn advance(&mut self, text: &str, done_ratio: f64);

    /// The step under way goes on; how far it has come nobody knows.
    fn still(&mut self, text: &str);

    /// Something is done and worth a line that stays.
    fn done(&mut self, text: &str);

    /// Something that the user should know.
    fn note(&mut self, text: &str);

    /// Something failed that takes nothing away from the result.
    fn problem(&mut self, problems: &Problems);

    /// What stands below the progress while a study goes on; empty for nothing.
    fn below(&mut self, text: &str);

    /// A trial of a study begins, or its last one is over: what is known.
    fn study(&mut self, _study: &StudyProgress) {}

    /// A second of a run has ended.
    fn second(&mut self, _second: &SecondProgress) {}

    /// Whether steps and what is done are left out for a while; returns what it was before.
    fn mute(&mut self, muted: bool) -> bool;
}

/// Listens, and shows nothing.
#[derive(Debug, Clone, Copy)]
pub struct Nobody;

impl Progress for Nobody {
    fn step(&mut self, _text: &str) {}
    fn advance(&mut self, _text: &str, _done_ratio: f64) {}
    fn still(&mut self, _text: &str) {}
    fn done(&mut self, _text: &str) {}
    fn note(&mut self, _text: &str) {}
    fn problem(&mut self, _problems: &Problems) {}
    fn below(&mut self, _text: &str) {}
    fn mute(&mut self, _muted: bool) -> bool {
        true
    }
}
