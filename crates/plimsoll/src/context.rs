//! What every verb needs: where things are kept, the catalogue, the console, and the wish of the user to stop.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};
use model::{Catalogue, Problem, Result};

use crate::bench::measuring::WhileOthersMeasure;
use crate::cli::Global;
use crate::console::Console;
use crate::interrupt::Interrupt;

static EMBEDDED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../catalogue");

/// What every verb needs.
pub(crate) struct Context {
    /// `$PLIMSOLL_HOME` or its default.
    pub(crate) home: PathBuf,
    /// The embedded catalogue, with `--catalogue DIR` laid over it.
    pub(crate) catalogue: Catalogue,
    /// Output.
    pub(crate) console: Console,
    /// Ctrl-C and SIGTERM.
    pub(crate) interrupt: Interrupt,
    /// Whether the machine and the tiers are watched while users run.
    pub(crate) observes: bool,
    /// What is done while another plimsoll measures on this machine.
    pub(crate) while_others_measure: WhileOthersMeasure,
    /// The lock on this machine's measurements, once it is held.
    pub(crate) measuring: Option<fs::File>,
    /// The command line as given, for the record.
    pub(crate) command: Vec<String>,
}

impl Context {
    pub(crate) fn new(global: &Global) -> Result<Context> {
        let mut catalogue = built_in();
        if let Some(dir) = &global.catalogue {
            catalogue.overlay(read_folder(dir)?);
        }
        Ok(Context {
            home: home()?,
            catalogue,
            console: Console::new(global.quiet),
            interrupt: Interrupt::watch()?,
            observes: global.observe == "on",
            while_others_measure: WhileOthersMeasure::of(global.no_wait),
            measuring: None,
            command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        })
    }
}

/// The catalogue without anything laid over it.
pub(crate) fn built_in() -> Catalogue {
    Catalogue::new(embedded(&EMBEDDED))
}

/// `$PLIMSOLL_HOME`; as root /srv/plimsoll, because servers under a user of their own can't enter root's home;
/// otherwise the user's data directory.
fn home() -> Result<PathBuf> {
    if let Some(home) = std::env::var_os("PLIMSOLL_HOME").filter(|home| !home.is_empty()) {
        return std::path::absolute(PathBuf::from(home))
            .map_err(|error| Problem::environment(format!("PLIMSOLL_HOME can't be used: {error}")).into());
    }
    if rustix::process::geteuid().is_root() {
        return Ok(PathBuf::from("/srv/plimsoll"));
    }
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME");
    let user = absolute("HOME").map(|home| home.join(".local/share"));
    data.or(user).map(|data| data.join("plimsoll")).ok_or_else(|| {
        Problem::environment("neither PLIMSOLL_HOME nor HOME is set")
            .remedy("PLIMSOLL_HOME=/some/directory plimsoll …")
            .into()
    })
}

fn embedded(dir: &'static Dir<'static>) -> BTreeMap<String, Cow<'static, [u8]>> {
    let mut files = BTreeMap::new();
    for file in dir.files() {
        files.insert(file.path().to_string_lossy().into_owned(), Cow::Borrowed(file.contents()));
    }
    dir.dirs().for_each(|inner| files.extend(embedded(inner)));
    files
}

/// Every file below `folder` by its path relative to it.
pub(crate) fn read_folder(folder: &Path) -> Result<BTreeMap<String, Cow<'static, [u8]>>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(dir) = open.pop() {
        let entries = fs::read_dir(&dir).map_err(|error| unreadable(&dir, &error))?;
        for entry in entries {
            let path = entry.map_err(|error| unreadable(&dir, &error))?.path();
            if path.is_dir() {
                open.push(path);
            } else if let Ok(relative) = path.strip_prefix(folder) {
                let bytes = fs::read(&path).map_err(|error| unreadable(&path, &error))?;
                files.insert(relative.to_string_lossy().into_owned(), Cow::Owned(bytes));
            }
        }
    }
    Ok(files)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    Problem::recipe(format!("failed to read: {error}")).file(path.display().to_string())
}
