//! Pages that people write, with a part between two marks that is made by machine.

use std::fs;
use std::path::Path;

use crate::Failure;

pub(crate) const BEGIN: &str = "<!-- measured: begin -->";
pub(crate) const END: &str = "<!-- measured: end -->";

/// Puts `text` into the page at `path` between its marks; what people wrote around them stays.
pub(crate) fn fill(path: &Path, text: &str) -> Result<(), Failure> {
    let page = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let page = between(&page, text).ok_or_else(|| {
        format!("{}: it is written by hand, without the lines {BEGIN} and {END}: put them where the measured part belongs", path.display())
    })?;
    write(path, &page)
}

/// The page with `text` between its marks; absent where it has none.
fn between(page: &str, text: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{text}{END}{after}"))
}

/// Writes the page whole or not at all: what else it has took hours.
pub(crate) fn write(path: &Path, page: &str) -> Result<(), Failure> {
    let half = path.with_extension("new");
    let written = fs::write(&half, page).and_then(|()| fs::rename(&half, path));
    written.map_err(|error| format!("{}: {error}", path.display()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        let page = format!("# Mine\n\n{BEGIN}\nold\n{END}\n\nMine, too.\n");
        let again = between(&page, "new\n").expect("it has marks");
        assert_eq!(again, page.replace("old", "new"));
        assert_eq!(between("# Mine\n", "new\n"), None);
        assert_eq!(between(&format!("{END}\n{BEGIN}\n"), "new\n"), None, "their order counts");
    }
}
