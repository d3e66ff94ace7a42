//! How a run that goes on tells what it is at. Nothing here prints: whoever starts a run listens.

use model::Problems;

/// Listens to what a run is at. Texts are for people.
pub trait Progress {
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

    /// Whether steps and what is done are left out for a while; returns what it was before.
    fn mute(&mut self, muted: bool) -> bool;
}
