//! What all Lua files of a kit share: the state they run in, the tables `size` and `param`, and how an error in one
//! becomes a [`Problem`] with the file and line that people know.

use engine::script::budget::{Allowance, Budget};
use engine::script::{constants, sandbox};
use mlua::Lua;
use model::Problem;

use crate::folder::{Kit, Setup};

/// No kit's data generator or check needs more; one that does is in an endless loop.
const MEMORY_LIMIT_BYTES: usize = 256 << 20;

/// What a file may spend at its top level, in one call of `make`, or between two questions to a server.
const ALLOWANCE: Allowance =
    Allowance { million_instructions: 1_000, seconds: 10, without: "in one go (smaller chunks take less)" };

/// A sandboxed state in which the kit's modules, `size` and `param` are known, and what its script may spend there.
pub(crate) fn new_state(kit: &Kit, setup: &Setup) -> mlua::Result<(Lua, Budget)> {
    let lua = sandbox::new_lua(kit.modules.clone(), MEMORY_LIMIT_BYTES)?;
    constants::install(&lua, &setup.size, &setup.params)?;
    let budget = Budget::install(&lua, ALLOWANCE)?;
    Ok((lua, budget))
}

/// A Lua error as a problem of the kit's author: its first line, at the first place in one of the kit's files, or of
/// those that it borrows, that its message or traceback names.
pub(crate) fn problem(kit: &Kit, file: &str, error: &mlua::Error) -> Problem {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let main = kit.path_of(file);
    let mut places = vec![(main.clone(), main.clone())];
    places.extend(kit.places.iter().map(|(module, place)| (format!("{module}.lua"), place.clone())));
    let found = places
        .iter()
        .filter_map(|(chunk, place)| line_after(&text, chunk).map(|(at, line)| (at, place.clone(), line)))
        .min();
    match found {
        Some((_, place, line)) => Problem::recipe(without_place(first, line)).file(place).line(line),
        None => Problem::recipe(without_prefix(first)).file(main),
    }
}

/// Where `chunk:NUMBER` first stands in `text`, and the number.
fn line_after(text: &str, chunk: &str) -> Option<(usize, u32)> {
    let marker = format!("{chunk}:");
    text.match_indices(&marker).find_map(|(at, _)| {
        let boundary =
            text[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && !"_/.".contains(c));
        let digits: String = text[at + marker.len()..].chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok().filter(|_| boundary).map(|line| (at, line))
    })
}

fn without_place(message: &str, line: u32) -> String {
    let marker = format!(":{line}: ");
    without_prefix(message.split_once(&marker).map_or(message, |(_, rest)| rest)).to_string()
}

fn without_prefix(message: &str) -> &str {
    ["syntax error: ", "runtime error: "]
        .iter()
        .fold(message, |text, prefix| text.strip_prefix(prefix).unwrap_or(text))
}
