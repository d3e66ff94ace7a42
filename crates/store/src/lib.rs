//! What the lab keeps of its runs and studies (layer 1): a directory for each, and an index over all runs. The only
//! room that knows the formats on disk; `docs/reference/run-directory.md` describes them.
//!
//! The principal types are [`Runs`], all runs below a home; [`RunWriter`], one run while it is measured, each second
//! on the disk as soon as it ends, without a sync; and [`Run`], one run as it was kept, also when the tool was killed
//! in the middle of it. [`Studies`], [`StudyWriter`] and [`Study`] are the same for studies, whose trials are runs.
//!
//! ```text
//! HOME/index.sqlite           a cache over all runs, rebuilt whenever it is missing, damaged or old
//! HOME/queue.sqlite           the jobs of the queue
//! HOME/measuring.jsonl        what is being measured now, or was last: lines of progress
//! HOME/serve/process.json     which process serves the laboratory's page
//! HOME/runs/ID/run.json       model::RunRecord; `unfinished` until the run ends, then replaced at once
//! HOME/runs/ID/run.sqlite     seconds, operations, histograms, series, calls, statements, threads, events, evidence
//! HOME/runs/ID/plan.json      what was to be done
//! HOME/runs/ID/notes.json     what people say of it: a note, tags, whether it is pinned; a study's likewise
//! HOME/runs/ID/conf/ logs/    rendered configurations and the servers' own logs
//! HOME/runs/ID/runs/RUN/      of a run with guests: that of each guest, a run as above
//! HOME/studies/ID/study.json  model::StudyRecord, replaced at once after each trial
//! HOME/studies/ID/runs/RUN/   the trials, each a run as above
//! ```
//!
//! Not here: what the numbers mean (`analysis`), how they are shown (`report`), a clock or random numbers (a run's id
//! is made from a time and entropy that the caller passes).

mod archive;
mod beneath;
mod call_steps;
mod columns;
mod disk;
mod fault;
mod filter;
mod format;
mod groups;
mod guests;
mod id;
mod index;
mod lists;
mod look;
mod notes;
mod now;
mod queue;
mod run;
mod runs;
mod select;
mod serve_process;
mod shelf;
mod statements;
mod stored;
mod studies;
mod study;
mod summary;
mod threads;
mod touch;
mod verdict;
mod writer;

pub use beneath::open_beneath;
pub use filter::Filter;
pub use groups::{Fold, Folded, RunGroup, Spread};
pub use id::{new_id, utc};
pub use look::Look;
pub use notes::{Mark, Notes};
pub use now::{measuring_file, under_way};
pub use queue::{Job, JobState, Queue};
pub use run::{Run, Seconds};
pub use runs::Runs;
pub use select::{Order, Selected, Selection};
pub use serve_process::ServeProcess;
pub use stored::{Record, Stored};
pub use studies::{Studies, StudySummary};
pub use study::{Study, StudyWriter};
pub use summary::{FleetSummary, RunSummary};
pub use verdict::verdict_of;
pub use writer::RunWriter;
