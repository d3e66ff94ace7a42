//! What the page needs of the rest of the program.

use std::path::Path;

use model::progress::UsersAsked;
use model::signal::SignalRegistry;
use model::{Catalogue, Checked, ProcessIdentity, Result};
use store::Job;

/// What the page needs of the rest of the program, which hands it in.
pub trait Laboratory: Send + Sync + 'static {
    /// The directory below which everything is kept.
    fn home(&self) -> &Path;

    /// What can be measured.
    fn catalogue(&self) -> &Catalogue;

    /// The signals that runs may have.
    fn signals(&self) -> SignalRegistry;

    /// What is wrong with a measurement, by the words behind `plimsoll`, without starting anything.
    fn check(&self, command: &[String]) -> Checked;

    /// Puts a measurement into the queue; gives the job's number.
    ///
    /// # Errors
    /// It is none, or something is wrong with it.
    fn add(&self, command: &[String]) -> Result<i64>;

    /// Asks the process of a job to end well, or at once.
    ///
    /// # Errors
    /// It is not there any more.
    fn end(&self, process: ProcessIdentity, at_once: bool) -> Result<()>;

    /// Asks for another number of users of a job that explores; what is asked for now.
    ///
    /// # Errors
    /// Its users can't be changed, or not to that number.
    fn ask_users(&self, job: &Job, users: u32) -> Result<UsersAsked>;

    /// Whether that process is there.
    fn is_alive(&self, process: ProcessIdentity) -> bool;

    /// What this machine can and cannot do, as `plimsoll doctor --json` has it.
    ///
    /// # Errors
    /// A catalogue that can't be read.
    fn machine(&self) -> Result<serde_json::Value>;
}
