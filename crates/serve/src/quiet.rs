//! What is being measured must not notice that somebody looks: while its seconds count, what takes CPU time is put off.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use model::progress::study::StudyProgress;
use model::progress::{Begin, ProgressLine, SecondProgress, Told};
use store::Look;

use crate::app::App;
use crate::files::text_end;
use crate::live::{begin_of, measuring_file};

/// Of what was told, so much of the end is looked at.
const MAX_END_BYTES: u64 = 256 << 10;

/// So often a list looks at every run on the disk: what others than Plimsoll have changed is seen then.
const LOOK_AT_ALL_EVERY: Duration = Duration::from_secs(30);

/// How closely a list may look at the disk now: each run is not looked at while seconds count.
pub(crate) fn look(app: &App) -> Look {
    let mut looked = app.looked.lock().unwrap_or_else(PoisonError::into_inner);
    if looked.is_some_and(|looked| looked.elapsed() < LOOK_AT_ALL_EVERY)
        || Measuring::now(app).is_some_and(|measuring| measuring.counts())
    {
        return Look::Changes;
    }
    *looked = Some(Instant::now());
    Look::All
}

/// What is being measured.
#[derive(Debug, Clone)]
pub(crate) struct Measuring {
    pub(crate) begin: Begin,
    /// The step that it is at.
    pub(crate) step: String,
    /// What its study knows.
    pub(crate) study: Option<Box<StudyProgress>>,
    /// The last second of the run under way.
    pub(crate) second: Option<Box<SecondProgress>>,
}

impl Measuring {
    /// Now; nothing where nothing is.
    pub(crate) fn now(app: &App) -> Option<Measuring> {
        let path = measuring_file(app);
        let begin = begin_of(&path)?;
        if !app.laboratory.is_alive(begin.process?) {
            return None;
        }
        let (mut step, mut study, mut second) = (String::new(), None, None);
        for line in text_end(&path, MAX_END_BYTES).lines() {
            let Ok(line) = serde_json::from_str::<ProgressLine>(line) else { continue };
            match line.told {
                Told::Step { text } => (step, second) = (text, None),
                Told::Advance { text, .. } => step = text,
                Told::Study(known) => study = Some(known),
                Told::Second(ended) => second = Some(ended),
                Told::End { .. } => return None,
                _ => {}
            }
        }
        Some(Measuring { begin, step, study, second })
    }

    /// Whether its seconds count.
    pub(crate) fn counts(&self) -> bool {
        self.second.as_ref().is_some_and(|second| second.counts)
    }
}
