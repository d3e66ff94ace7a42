//! A page as one HTML file that needs nothing else: everything readable is in the document itself, the charts are
//! drawn from its data by the code in `web/`.

mod bundle;
mod holds;
mod inside;
mod study;
mod view;

use minijinja::{AutoEscape, Environment, HtmlEscape, UndefinedBehavior};
use serde_json::Value;

use crate::terminal::hidden;
use crate::{Page, figures};

pub use study::html as study;
#[cfg(test)]
pub(crate) use study::page as study_page;

const TEMPLATE: &str = include_str!("../../../web/report.html");

/// The tiers' own figures over time.
const INSIDE: &str = include_str!("../../../web/inside.html");

/// Parts that pages share: what holds the stack, how the machine and the tiers were set up.
const SHARED: [(&str, &str); 3] = [
    ("holds.html", include_str!("../../../web/holds.html")),
    ("machine.html", include_str!("../../../web/machine.html")),
    ("tiers.html", include_str!("../../../web/tiers.html")),
];

/// The page as one HTML file. It works offline, in a browser from 2023 on; without JavaScript it lacks only the
/// charts. Whatever servers and users supplied is escaped, and the file's own policy lets no script run but ours.
pub fn html(page: &Page) -> String {
    let mut environment = environment();
    environment.add_template("inside.html", INSIDE).expect("the template is a constant; a test renders it");
    environment.render_str(TEMPLATE, view::of(page)).expect(
        "the template is a constant and the view has every name in it; a test renders each kind of run",
    )
}

/// What all templates can do: escape, and show numbers with their units.
fn environment() -> Environment<'static> {
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
    environment.add_filter("unbroken", |text: String| minijinja::Value::from_safe_string(unbroken(&text)));
    environment.add_filter("margin", |ratio: Option<f64>, unit: String| figures::margin(ratio, &unit));
    environment
        .add_filter("in_unit", |value: Option<f64>, unit: String| thin(&figures::in_unit(value, &unit)));
    for (name, text) in SHARED {
        environment.add_template(name, text).expect("the template is a constant; a test renders it");
    }
    environment
}

/// The colour of a tier; those without one of their own share three.
pub(crate) fn tier_class(tier: &str, index: usize) -> String {
    match tier {
        "web" | "app" | "db" | "cache" | "generator" | "observers" => format!("tier-{tier}"),
        _ => format!("tier-other-{}", index % 3 + 1),
    }
}

/// Groups of digits of the numbers in a sentence stay on one line.
fn thin_groups(sentence: &str) -> String {
    let letters: Vec<char> = sentence.chars().collect();
    let digit = |at: usize| letters.get(at).is_some_and(char::is_ascii_digit);
    let thin = |(at, c): (usize, &char)| match c {
        ' ' if at > 0 && digit(at - 1) && digit(at + 1) => '\u{202f}',
        c => *c,
    };
    letters.iter().enumerate().map(thin).collect()
}

/// The markup of a sentence in which options stay on one line: browsers may break `--budget` after either of its hyphens.
fn unbroken(sentence: &str) -> String {
    let word = |word: &str| {
        let escaped = HtmlEscape(word);
        let option = word.trim_start_matches(['(', '`', '"']).starts_with("--");
        if option { format!("<span class=\"unbroken\">{escaped}</span>") } else { escaped.to_string() }
    };
    sentence.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Groups of digits and units stay on one line.
fn thin(text: &str) -> String {
    text.replace(' ', "\u{202f}")
}

/// `text` with its lines, but with `·` for other control characters and for those that turn the direction of writing.
fn visible(text: &str) -> String {
    text.chars().map(|c| if matches!(c, '\n' | '\t') || !hidden(c) { c } else { '·' }).collect()
}

/// The view without characters that have no shape of their own and could turn the direction of writing.
fn visible_json(view: Value) -> Value {
    match view {
        Value::String(text) => Value::String(visible(&text)),
        Value::Array(values) => values.into_iter().map(visible_json).collect(),
        Value::Object(values) => {
            values.into_iter().map(|(name, value)| (visible(&name), visible_json(value))).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_in_a_headline_is_not_broken_and_all_else_is_escaped_as_ever() {
        let said = "5 < 6: give it more time (--budget), or `--resume` it - as <b> is";
        let expected = "5 &lt; 6: give it more time <span class=\"unbroken\">(--budget),</span> or \
                        <span class=\"unbroken\">`--resume`</span> it - as &lt;b&gt; is";
        assert_eq!(unbroken(said), expected);
    }
}
