//! The page's own code and style, as they stand in the HTML file.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Marks a page whose code failed, so that a test can see it from outside.
pub(super) const TRAP: &str = "addEventListener('error',function(e){var d=document.documentElement.dataset;\
                               d.errors=(d.errors||'')+String(e.message||e.target)+' '},true)";

/// The chart library.
pub(super) const LIBRARY: &str = include_str!("../../../../web/vendor/uplot/uPlot.iife.min.js");

/// The modules in the order in which they depend on each other.
const MODULES: [&str; 7] = [
    include_str!("../../../../web/format.mjs"),
    include_str!("../../../../web/series.mjs"),
    include_str!("../../../../web/canvas.mjs"),
    include_str!("../../../../web/charts.mjs"),
    include_str!("../../../../web/points.mjs"),
    include_str!("../../../../web/flames.mjs"),
    include_str!("../../../../web/main.mjs"),
];

const STYLES: [&str; 2] =
    [include_str!("../../../../web/vendor/uplot/uPlot.min.css"), include_str!("../../../../web/page.css")];

/// The style sheets of a run's page as one.
pub(super) fn style() -> String {
    STYLES.join("\n")
}

/// The style sheets of a study's page as one.
pub(super) fn study_style() -> String {
    [STYLES[0], STYLES[1], include_str!("../../../../web/study.css")].join("\n")
}

/// The modules as one: imports of each other fall away, and so does the word `export`. In `web/`, therefore, an
/// import stands on one line, an export is `export function` or `export const`, and names are unique.
pub(super) fn code() -> String {
    let lines = MODULES.iter().flat_map(|module| module.lines());
    let lines = lines.filter(|line| !line.starts_with("import "));
    lines.map(|line| line.strip_prefix("export ").unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

/// The only scripts that the page's policy lets run, by what they say: CSP's `'sha256-…'`.
pub(super) fn sources(scripts: &[&str]) -> String {
    let source = |script: &&str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script.as_bytes())));
    scripts.iter().map(source).collect::<Vec<_>>().join(" ")
}

/// `json` so that it can stand in a `<script>`: nothing in it can end one, or start a comment.
pub(super) fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundle_has_neither_imports_nor_exports_and_can_not_end_its_script() {
        let code = code();
        for line in code.lines() {
            let trimmed = line.trim_start();
            assert!(!trimmed.starts_with("import ") && !trimmed.starts_with("export "), "left over: {line}");
        }
        for (name, text) in [("the code", code.as_str()), ("the library", LIBRARY), ("the trap", TRAP)] {
            assert!(
                !text.to_lowercase().contains("</script") && !text.contains("<!--"),
                "{name} would end its script"
            );
        }
        assert!(!style().to_lowercase().contains("</style"));
    }

    #[test]
    fn no_two_modules_declare_the_same_name() {
        let mut seen = std::collections::BTreeMap::new();
        for (number, module) in MODULES.iter().enumerate() {
            for line in module.lines() {
                let line = line.strip_prefix("export ").unwrap_or(line);
                let Some(rest) =
                    ["function ", "const ", "let "].iter().find_map(|word| line.strip_prefix(word))
                else {
                    continue;
                };
                let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if let Some(other) = seen.insert(name.clone(), number) {
                    panic!(
                        "`{name}` is declared in modules {other} and {number}: they share a scope in the report"
                    );
                }
            }
        }
        assert!(seen.len() > 20, "the search finds declarations: {seen:?}");
    }

    #[test]
    fn data_can_not_end_its_script() {
        assert_eq!(in_script("</script><!--\u{2028}"), "\\u003c/script>\\u003c!--\\u2028");
    }
}
