//! What another machine said, as it may be shown here.

/// Characters of a line that are shown.
const MAX_LINE: usize = 300;

/// The last lines that are not empty of what another machine said, each without control characters and not too long.
pub(super) fn clean(bytes: &[u8], count: usize) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.split(['\n', '\r']).map(|line| {
        let shown = line.chars().map(|c| if c == '\t' { ' ' } else { c }).filter(|c| !hides(*c));
        shown.take(MAX_LINE).collect::<String>().trim_end().to_string()
    });
    let lines: Vec<String> = lines.filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].to_vec()
}

/// Whether a terminal would do something else than show it: control characters, and those that turn a line's direction.
fn hides(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}
