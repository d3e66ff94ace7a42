//! A page as one HTML file that needs nothing else: everything readable is in the document itself, the charts are
//! drawn from its data by the code in `web/`.

mod beside;
mod bundle;
mod calls;
mod environment;
mod guests;
mod holds;
mod inside;
mod study;
mod text;
mod topology;
mod trend;
mod view;

use crate::Page;
pub use beside::{BesideHtml, beside};
pub use environment::environment as template_environment;
#[cfg(test)]
pub(crate) use study::page as study_page;
pub use study::{html as study, html_with_bar as study_with_bar};
pub(crate) use text::tier_class;
pub use text::visible_json;
pub use trend::trend;

const TEMPLATE: &str = include_str!("../../../web/report.html");

/// The tiers' own figures over time.
const INSIDE: &str = include_str!("../../../web/inside.html");

/// Guests of a run with several.
const GUESTS: &str = include_str!("../../../web/guests.html");

/// The agents of a run that a fleet drove.
const FLEET: &str = include_str!("../../../web/fleet.html");

/// The page as one HTML file. It works offline, in a browser from 2023 on; without JavaScript it lacks only the
/// charts. Whatever servers and users supplied is escaped, and the file's own policy lets no script run but ours.
pub fn html(page: &Page) -> String {
    html_with_bar(page, "")
}

/// The same with `bar`, which is HTML, above it, and forms that may be sent to where the page comes from: as the laboratory's page shows
/// it.
pub fn html_with_bar(page: &Page, bar: &str) -> String {
    let mut environment = environment::environment();
    for (name, text) in [("inside.html", INSIDE), ("guests.html", GUESTS), ("fleet.html", FLEET)] {
        environment.add_template(name, text).expect("the template is a constant; a test renders it");
    }
    environment.render_str(TEMPLATE, view::of(page, bar)).expect(
        "the template is a constant and the view has every name in it; a test renders each kind of run",
    )
}
