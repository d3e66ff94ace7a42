//! A page as one HTML file that needs nothing else: everything readable is in the document itself, the charts are
//! drawn from its data by the code in `web/`.

mod bundle;
mod calls;
mod environment;
mod guests;
mod holds;
mod inside;
mod study;
mod text;
mod topology;
mod view;

use crate::Page;
use environment::environment;

pub use study::html as study;
#[cfg(test)]
pub(crate) use study::page as study_page;
pub(crate) use text::tier_class;

const TEMPLATE: &str = include_str!("../../../web/report.html");

/// The tiers' own figures over time.
const INSIDE: &str = include_str!("../../../web/inside.html");

/// Guests of a run with several.
const GUESTS: &str = include_str!("../../../web/guests.html");

/// The page as one HTML file. It works offline, in a browser from 2023 on; without JavaScript it lacks only the
/// charts. Whatever servers and users supplied is escaped, and the file's own policy lets no script run but ours.
pub fn html(page: &Page) -> String {
    let mut environment = environment();
    for (name, text) in [("inside.html", INSIDE), ("guests.html", GUESTS)] {
        environment.add_template(name, text).expect("the template is a constant; a test renders it");
    }
    environment.render_str(TEMPLATE, view::of(page)).expect(
        "the template is a constant and the view has every name in it; a test renders each kind of run",
    )
}
