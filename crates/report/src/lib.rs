//! Results as people and programs read them (layer 2).
//!
//! The principal type is [`Page`], everything that is shown of a run: its record, its course over time, what could not
//! be read. The same page becomes text for a terminal ([`terminal`]) and one HTML file that needs nothing else
//! ([`html`]); its record alone is the JSON that programs read ([`json`]). The HTML's own code is plain ES modules and
//! CSS in `web/`.
//!
//! Of a study of many runs [`study`] makes the same from its record alone, and CSV and JUnit XML beside.
//!
//! Not here: what the numbers mean and whether they are good (`analysis`), where they are kept (`store`). Nothing here
//! runs, prints or opens a file.

mod calls;
mod checks;
mod explained;
mod figures;
mod guests;
mod headline;
mod html;
mod inside;
mod json;
mod list;
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
mod words;

pub use headline::{Headline, Tone};
pub use html::{html, study as study_html};
pub use inside::{Figure, Inside, TierInside};
pub use json::{hit_json, hit_schema, json, schema};
pub use list::list_table;
pub use page::Page;
pub use series::{series_csv, series_json};
pub use stacks::folded;
pub use terminal::{PAINT, explain, explain_calls, explain_study, hit, study as study_terminal, terminal};
pub use timeline::{Column, Scope, Timeline};
