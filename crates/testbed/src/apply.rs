//! A knob of a standing tier takes another value: its rendered files are changed where the directive stands, and the
//! server takes them over as its manifest says.

use std::io;
use std::path::Path;

use model::{Problem, Result};

use crate::stack::Stack;
use crate::{disk, guarded};

impl Stack {
    /// Gives a knob of a tier another value while it stands. The directive must stand once in the tier's files, by the
    /// knob's own name. Returns when the server was told; it takes a moment until it is done.
    ///
    /// # Errors
    /// A tier without a reload, and a directive that does not stand in its files exactly once.
    pub fn set_knob(&mut self, tier: &str, knob: &str, value: &str) -> Result<()> {
        let wrong = |what: String| Problem::recipe(what).tier(tier).key(knob);
        let files = self.tier(tier).map(|tier| tier.files.clone()).unwrap_or_default();
        let texts = files.iter().map(|path| Ok((path, read(path)?))).collect::<Result<Vec<_>>>()?;
        let lines = |text: &String| text.lines().filter(|line| names(line, knob)).count();
        let count: usize = texts.iter().map(|(_, text)| lines(text)).sum();
        if count != 1 {
            return Err(wrong(format!("stands {count} times in the tier's files, not once")).into());
        }
        for (path, text) in texts.iter().filter(|(_, text)| lines(text) == 1) {
            // Over the old file: it keeps its owner and mode.
            guarded::overwrite(path, changed(text, knob, value).as_bytes())
                .map_err(|error| disk::failed("write", path, &error))?;
        }
        if self.reload(tier) {
            return Ok(());
        }
        Err(wrong("the tier can't take over changed files while it runs".to_string()).into())
    }
}

fn read(path: &Path) -> Result<String> {
    guarded::open(path)
        .and_then(io::read_to_string)
        .map_err(|error| disk::failed("read", path, &error).into())
}

/// Whether a line sets the directive: `MaxRequestWorkers 4`, `pm.max_children = 2`.
fn names(line: &str, knob: &str) -> bool {
    let rest = line.trim_start().strip_prefix(knob);
    rest.is_some_and(|rest| rest.starts_with([' ', '\t', '=']))
}

fn changed(text: &str, knob: &str, value: &str) -> String {
    let line = |line: &str| {
        if !names(line, knob) {
            return format!("{line}\n");
        }
        let sign = if line.contains('=') { " = " } else { " " };
        format!("{knob}{sign}{value}\n")
    };
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directive_is_changed_in_its_own_words_and_no_other_with_a_similar_name() {
        let text = "pm.max_children = 2\npm.max_children_of = 9\n";
        assert_eq!(changed(text, "pm.max_children", "1"), "pm.max_children = 1\npm.max_children_of = 9\n");
        let text = "ServerLimit 256\nMaxRequestWorkers 4\n";
        assert_eq!(changed(text, "MaxRequestWorkers", "3"), "ServerLimit 256\nMaxRequestWorkers 3\n");
    }
}
