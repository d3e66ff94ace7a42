//! The templates' engine: what templates of all pages can do and share.

use minijinja::{AutoEscape, Environment, UndefinedBehavior};

use super::text::{sentence, thin, thin_groups, unbroken, visible};
use crate::figures;

/// Parts that pages share: the ledger of calls, the database's statements, what threads were at, what holds the stack, how the machine and the tiers were set up,
/// where the servers were.
const SHARED: [(&str, &str); 7] = [
    ("calls.html", include_str!("../../../../web/calls.html")),
    ("holds.html", include_str!("../../../../web/holds.html")),
    ("machine.html", include_str!("../../../../web/machine.html")),
    ("statements.html", include_str!("../../../../web/statements.html")),
    ("threads.html", include_str!("../../../../web/threads.html")),
    ("tiers.html", include_str!("../../../../web/tiers.html")),
    ("topology.html", include_str!("../../../../web/topology.html")),
];

/// What all templates can do: escape, and show numbers with their units.
pub fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_filter("time", |seconds: Option<f64>| thin(&figures::time(seconds)));
    environment.add_filter("duration", |seconds: Option<f64>| thin(&figures::duration(seconds)));
    environment.add_filter("moment", |rfc3339: String| figures::moment(&rfc3339));
    environment.add_filter("number", |value: Option<f64>| thin(&figures::number(value)));
    environment.add_filter("bytes", |bytes: Option<u64>| thin(&figures::bytes(bytes)));
    environment.add_filter("thin", |text: String| thin_groups(&text));
    environment.add_filter("bound", |text: String| thin(&text));
    environment.add_filter("visible", |text: String| visible(&text));
    environment.add_filter("sentence", |text: String| minijinja::Value::from_safe_string(sentence(&text)));
    environment.add_filter("unbroken", |text: String| minijinja::Value::from_safe_string(unbroken(&text)));
    environment.add_filter("margin", |ratio: Option<f64>, unit: String| figures::margin(ratio, &unit));
    environment
        .add_filter("in_unit", |value: Option<f64>, unit: String| thin(&figures::in_unit(value, &unit)));
    for (name, text) in SHARED {
        environment.add_template(name, text).expect("the template is a constant; a test renders it");
    }
    environment
}
