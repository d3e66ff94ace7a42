//! What stands or runs until a test is done with it.

use rustix::process::Signal;

use crate::tool::{Finished, Running};

/// A process that is told to end, as by Ctrl-C, when it is dropped: a test that fails leaves nothing standing.
pub(crate) struct Standing(Option<Running>);

impl Running {
    pub(crate) fn until_dropped(self) -> Standing {
        Standing(Some(self))
    }

    /// Host and port of what `plimsoll up` has stood up.
    pub(crate) fn address(&mut self) -> String {
        self.first_line(|line| line.strip_prefix("http://")?.split('/').next().map(str::to_string))
    }

    /// The number of a tier's process: `plimsoll up` tells it behind the address.
    pub(crate) fn pid_of(&mut self, tier: &str) -> u32 {
        let name = format!("{tier} ");
        let pid = self.first_line(|line| {
            let rest = line.trim_start().strip_prefix(&name)?.split("pid ").nth(1)?;
            rest.split_whitespace().next().map(str::to_string)
        });
        pid.parse().expect("a process number")
    }
}

impl Standing {
    /// Waits until it ends by itself.
    pub(crate) fn wait(mut self) -> Finished {
        self.0.take().expect("nobody else takes it").wait()
    }

    /// Tells it to end, and waits.
    pub(crate) fn end(mut self) -> Finished {
        let running = self.0.take().expect("nobody else takes it");
        running.signal(Signal::INT);
        running.wait()
    }

    /// Kills it, and waits.
    pub(crate) fn kill(mut self) -> Finished {
        let running = self.0.take().expect("nobody else takes it");
        running.signal(Signal::KILL);
        running.wait()
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        if let Some(running) = self.0.take() {
            running.signal(Signal::INT);
            running.wait();
        }
    }
}
