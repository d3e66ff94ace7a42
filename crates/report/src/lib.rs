//! Results as people and programs read them (layer 2).
//!
//! The principal type is [`Page`], everything that is shown of a run: its record, its course over time, what could not
//! be read. The same page becomes text for a terminal ([`terminal`]) and one HTML file that needs nothing else
//! ([`html`]); its record alone is the JSON that programs read ([`json`]). The HTML's own code is plain ES modules and
//! CSS in `web/`.
//!
//! Kept runs side by side are a [`Beside`]: what differs of how they were made, and their figures against those of one of
//! them. [`trends`] are setups over time.
//!
//! Of a study of many runs [`study`] makes the same from its record alone, and CSV, JUnit XML and Markdown beside.
//!
//! Not here: what the numbers mean and whether they are good (`analysis`), where they are kept (`store`). Nothing here
//! runs, prints or opens a file.

mod beside;
mod calls;
mod checks;
mod explained;
mod figures;
mod fleet;
mod guests;
mod headline;
mod html;
mod inside;
mod json;
mod list;
mod markdown;
mod page;
mod scale;
mod series;
mod settings;
mod stacks;
mod statements;
pub mod study;
mod terminal;
mod threads;
mod timeline;
mod trend;
mod words;

pub use beside::{
    BESIDE_FORMAT, Beside, Change, ComparedFigure, Course, CourseMeasure, Difference, DifferenceKind,
    FileChange, FileDifference, Judged, KeptRun, Measure, RunBeside, SpentPart, SpentTime,
};
pub use headline::{Headline, Tone};
pub use html::{
    BesideHtml, beside as beside_html, html, html_with_bar, study as study_html,
    study_with_bar as study_html_with_bar, template_environment, trend as trend_html, visible_json,
};
pub use inside::{Figure, Inside, TierInside};
pub use json::{hit_json, hit_schema, json, schema};
pub use list::{folded_table, list_table};
pub use page::Page;
pub use series::{series_csv, series_json};
pub use stacks::folded;
pub use terminal::{
    PAINT, beside as beside_terminal, explain, explain_calls, explain_study, hit, study as study_terminal,
    terminal,
};
pub use timeline::{Column, Scope, Timeline};
pub use trend::{TREND_FORMAT, Trend, TrendMetric, TrendPoint, TrendSetup, VersionChange, trends};
