//! What every verb needs: where things are kept, the catalogue, the console, and the wish of the user to stop.

use std::borrow::Cow;
use std::path::PathBuf;

use model::{Catalogue, Problem, Result};
use observe::CallCounting;

use crate::console::Console;
use crate::global_args::GlobalArgs;
use crate::progress_file::ProgressFile;
use crate::signals;
use crate::version::version;
use runner::catalogue_folder;
use runner::environment::{Environment, Helpers, Origin, Settings};
use runner::interrupt::Interrupt;
use runner::machine_lock::{MachineLock, WhileOthersMeasure};

/// The files of the catalogue and the sources of its servers, as `build.rs` lists them.
static EMBEDDED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

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
    /// What doesn't change while the process lives.
    pub(crate) settings: Settings,
    /// The right to measure on this machine.
    pub(crate) machine: MachineLock,
    /// This is a gate (`CI=true`): what is skipped there has failed.
    pub(crate) in_ci: bool,
}

impl Context {
    pub(crate) fn new(global: &GlobalArgs) -> Result<Context> {
        let mut catalogue = built_in();
        if let Some(dir) = &global.catalogue {
            catalogue_folder::lay(dir, &mut catalogue)?;
        }
        let progress = global.progress_file.as_deref().map(ProgressFile::create).transpose()?;
        let home = home()?;
        let measuring = store::measuring_file(&home);
        Ok(Context {
            home,
            catalogue,
            console: Console::new(global.quiet, progress, Some(measuring)),
            interrupt: signals::watch()?,
            settings: settings(global),
            machine: MachineLock::new(while_others_measure(global)),
            in_ci: std::env::var("CI").as_deref() == Ok("true"),
        })
    }

    /// The same for another thread, which prints nothing and measures nothing.
    pub(crate) fn beside(&self) -> Context {
        Context {
            home: self.home.clone(),
            catalogue: self.catalogue.clone(),
            console: Console::new(true, None, None),
            interrupt: self.interrupt.clone(),
            settings: self.settings.clone(),
            machine: MachineLock::new(WhileOthersMeasure::Refuse),
            in_ci: self.in_ci,
        }
    }

    /// What a run needs of it.
    pub(crate) fn environment(&mut self) -> Environment<'_> {
        Environment {
            home: &self.home,
            catalogue: &self.catalogue,
            settings: &self.settings,
            machine: &self.machine,
            interrupt: &self.interrupt,
            progress: &mut self.console,
        }
    }
}

fn settings(global: &GlobalArgs) -> Settings {
    let command: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    // Where there is no /proc, the name by which it was called may do.
    let program = std::env::current_exe().ok().or_else(|| std::env::args_os().next().map(PathBuf::from));
    Settings {
        observes: global.observe == "on",
        calls: match global.count_calls.as_str() {
            "off" => CallCounting::Off,
            "blocks" => CallCounting::Blocks,
            _ => CallCounting::Auto,
        },
        abort_on: None,
        fleet: None,
        tolerated: 0,
        origin: Origin { version: version(), command },
        helpers: Helpers { program: program.unwrap_or_default() },
    }
}

/// The variable is for tests that assert nothing about time.
fn while_others_measure(global: &GlobalArgs) -> WhileOthersMeasure {
    match std::env::var_os("PLIMSOLL_MEASURE_BESIDE") {
        Some(_) => WhileOthersMeasure::MeasureBeside,
        None if global.no_wait => WhileOthersMeasure::Refuse,
        None => WhileOthersMeasure::Wait,
    }
}

/// The catalogue without anything laid over it.
pub(crate) fn built_in() -> Catalogue {
    let file = |(path, bytes): &(&str, &'static [u8])| (path.to_string(), Cow::Borrowed(*bytes));
    Catalogue::new(EMBEDDED.iter().map(file).collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_has_the_catalogue_and_the_sources_of_its_servers_and_nothing_that_was_built() {
        let catalogue = built_in();
        assert!(catalogue.text("kits/dvdstore/kit.toml").is_ok_and(|text| text.contains("dvdstore")));
        assert!(catalogue.text("servers/README.md").is_ok_and(|text| text.starts_with("# ")));
        let sources: Vec<&str> = catalogue.below("servers").map(|(path, _)| path).collect();
        assert!(!sources.iter().any(|path| path.split('/').any(|part| part == "target")), "{sources:?}");
    }
}
