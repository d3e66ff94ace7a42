//! A process that outlives whoever starts it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A process that outlives whoever starts it, in a process group of its own: what ends the other by its terminal leaves it alone.
#[derive(Debug, Clone)]
pub struct Detached {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// What its environment has beside that of whoever starts it.
    pub env: Vec<(&'static str, OsString)>,
    /// Its working directory.
    pub dir: PathBuf,
    /// Where `stdout` and `stderr` are written, made where it is missing; its input is empty.
    pub outputs: PathBuf,
}

impl Detached {
    /// Starts it.
    ///
    /// # Errors
    /// There is no such program or directory, or no room for what it prints.
    pub fn start(&self) -> io::Result<Child> {
        fs::create_dir_all(&self.outputs)?;
        Command::new(&self.program)
            .args(&self.args)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.dir)
            .stdin(Stdio::null())
            .stdout(File::create(self.outputs.join("stdout"))?)
            .stderr(File::create(self.outputs.join("stderr"))?)
            .process_group(0)
            .spawn()
    }
}
