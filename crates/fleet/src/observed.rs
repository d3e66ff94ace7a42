//! What an observing agent tells: a reading of its tiers in JSON, each with the run's second at which it was taken. What comes from
//! another machine is checked, and cut down to what may be another machine's, before anybody takes it.

use model::record::Series;
use observe::Answer;
use serde::{Deserialize, Serialize};

/// Counts up when a reader of the old ones would misread the new ones.
const VERSION: u32 = 1;

/// More series are of no observer.
const MAX_SERIES: usize = 1_000;

/// Of text about itself there are no more pieces than this in a reading.
const MAX_SENTENCES: usize = 32;

/// And no longer ones; also of names and units.
const MAX_TEXT: usize = 500;

/// A reading.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Observed {
    version: u32,
    /// Its number, from 0: the seconds since the run began, but for those that a machine which stood still has left out.
    pub(crate) second: u32,
    /// It is the last one.
    #[serde(default)]
    pub(crate) is_last: bool,
    /// New points, by the run's seconds; in the first one where they come from, too.
    pub(crate) answer: Answer,
}

impl Observed {
    /// The reading of that second.
    pub(crate) fn of(second: u32, is_last: bool, answer: Answer) -> Observed {
        Observed { version: VERSION, second, is_last, answer }
    }

    /// As it is told.
    ///
    /// # Errors
    /// It can't be written down.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, String> {
        serde_json::to_vec(self).map_err(|error| error.to_string())
    }

    /// Reads what [`Self::encode`] wrote for an agent that watches `tiers`. Of what else an observer may tell nothing is taken: it
    /// would be of the controller's own stack.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn read(bytes: &[u8], tiers: &[String]) -> Result<Observed, String> {
        let damaged = |error: serde_json::Error| format!("it is no reading: {error}");
        let read: Observed = serde_json::from_slice(bytes).map_err(damaged)?;
        if read.version > VERSION {
            return Err(format!(
                "it is of version {}, and this program knows {VERSION} and older ones",
                read.version
            ));
        }
        let Answer { series, sources, unseen, .. } = read.answer;
        if series.len() > MAX_SERIES || unseen.len() > MAX_SENTENCES || sources.len() > tiers.len() {
            return Err("it has more in it than an observer says".to_string());
        }
        let is_short = |text: &str| text.len() <= MAX_TEXT;
        if let Some(one) = series.iter().find(|one| !is_right(one, tiers)) {
            let tier = one.tier.as_deref().unwrap_or("no tier");
            return Err(format!(
                "a series of it ({} of {tier}) is none of its tiers', or no number",
                one.name
            ));
        }
        let are_ours = sources.iter().all(|(tier, source)| tiers.contains(tier) && is_short(source));
        if !are_ours || !unseen.iter().all(|one| is_short(one)) {
            return Err("what it says of its tiers is too long, or not of its tiers".to_string());
        }
        Ok(Observed { answer: Answer { series, sources, unseen, ..Answer::default() }, ..read })
    }
}

fn is_right(series: &Series, tiers: &[String]) -> bool {
    let is_ours = series.tier.as_ref().is_some_and(|tier| tiers.contains(tier));
    let are_numbers =
        series.points.iter().all(|(at_s, value)| *at_s >= 0.0 && at_s.is_finite() && value.is_finite());
    is_ours && are_numbers && series.name.len() <= MAX_TEXT && series.unit.len() <= MAX_TEXT
}

#[cfg(test)]
mod tests {
    use model::record::calls::{Aborted, Core};

    use super::*;

    fn series(tier: Option<&str>, value: f64) -> Series {
        let (name, unit) = ("cpu.cores".to_string(), "cores".to_string());
        Series { name, tier: tier.map(str::to_string), unit, points: vec![(1.0, value)] }
    }

    fn read(answer: Answer) -> Result<Observed, String> {
        let bytes = Observed::of(3, true, answer).encode().expect("it is written");
        Observed::read(&bytes, &["db".to_string()])
    }

    #[test]
    fn a_reading_comes_as_it_was_told() {
        let sources = vec![("db".to_string(), "/proc".to_string())];
        let answer = Answer { series: vec![series(Some("db"), 0.5)], sources, ..Answer::default() };
        assert_eq!(read(answer.clone()), Ok(Observed::of(3, true, answer)));
    }

    #[test]
    fn what_is_not_of_its_own_tiers_is_refused_or_left_out() {
        for one in [series(Some("generator"), 1.0), series(None, 1.0), series(Some("web"), 1.0)] {
            let refused =
                read(Answer { series: vec![one], ..Answer::default() }).expect_err("it isn't its own");
            assert!(refused.contains("none of its tiers'"), "{refused}");
        }
        let sources = vec![("web".to_string(), "/proc".to_string())];
        assert!(read(Answer { sources, ..Answer::default() }).is_err());
        assert!(read(Answer { unseen: vec!["x".repeat(501)], ..Answer::default() }).is_err());
        let many = vec![series(Some("db"), 1.0); 1_001];
        assert!(read(Answer { series: many, ..Answer::default() }).is_err());
        // It would end the run.
        let aborted = Some(Aborted {
            tier: "db".to_string(),
            thread: "t".to_string(),
            call: "futex".to_string(),
            object: "o".to_string(),
            at_s: 1.0,
            waited_s: 1.0,
            process: 1,
            core: Core::default(),
        });
        let taken = read(Answer { aborted, ..Answer::default() }).expect("it is left out");
        assert_eq!(taken.answer, Answer::default());
        let later = br#"{"version":2,"second":0,"answer":{}}"#;
        assert!(Observed::read(later, &[]).expect_err("it is of version 2").contains("version 2"));
        assert!(Observed::read(b"{}", &[]).expect_err("it is none").contains("no reading"));
    }
}
