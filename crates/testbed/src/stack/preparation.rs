//! What is done with a stack that stands before users come: the kit's own command, as the user of its servers.

use std::path::PathBuf;
use std::time::Duration;

use model::{Problem, Result};

use crate::job::Job;
use crate::log;
use crate::prepare::ReadyCommand;
use crate::stack::Stack;

/// Where the command's output goes, in the directory of its tier.
const OUTPUT: &str = "logs/prepare.log";
/// Lines of its output that are shown when it fails.
const SHOWN_LINES: usize = 10;

/// A command that prepares the application, ready to be run.
#[derive(Debug)]
pub(crate) struct Preparation {
    /// Whose settings it has, and with whom it is confined.
    pub(crate) tier: String,
    pub(crate) run: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    /// The tier's directory.
    pub(crate) dir: PathBuf,
    /// Where it is run.
    pub(crate) web_root: PathBuf,
    pub(crate) cpus: Vec<usize>,
}

impl Stack {
    pub(crate) fn set_preparation(&mut self, preparation: Option<Preparation>) {
        self.preparation = preparation;
    }

    /// Runs the command of the kit's `[prepare]`, called `title` where it fails. `on_wait` is told how long it has been running and
    /// ends it with `true`.
    ///
    /// # Errors
    /// A command that ends with another status than 0 or not within `within`, with the end of what it said; the user's wish to
    /// stop. What still runs of its tier is ended then, and the stack is of no use.
    pub fn run_preparation(
        &self,
        title: &str,
        within: Duration,
        on_wait: &mut dyn FnMut(Duration) -> bool,
    ) -> Result<()> {
        let ready = self.preparation.as_ref();
        let ready = ready.ok_or_else(|| Problem::bug("a stack without the kit's command is to run it"))?;
        let output = ready.dir.join(OUTPUT);
        let command = ReadyCommand { title: title.to_string(), run: ready.run.clone(), input: None };
        let job = Job::new(&self.site, &self.instance, &ready.tier, &ready.dir, &ready.cpus)
            .within_folder(&ready.web_root)
            .with_env(&ready.env)
            .writing_to(&output);
        let Err(what) = job.run_within(&command, Some(within), on_wait)? else { return Ok(()) };
        let lines = log::tail(&output, SHOWN_LINES);
        let said = match lines.is_empty() {
            true => "; it said nothing".to_string(),
            false => format!("; it said at last:\n    {}", lines.join("\n    ")),
        };
        Err(Problem::environment(format!("{what}{said}")).tier(&ready.tier).key("prepare.run").into())
    }
}
