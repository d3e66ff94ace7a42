//! The commands of iproute2: `ip` and `tc`.

use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::network::enter;

/// Where the programs are, whatever PATH the tool was started with.
const PLACES: &str = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin";

/// Runs a command of iproute2, in the network behind `door` where one is given; the error is what it said.
pub(crate) fn run(program: &str, line: &str, door: Option<&OwnedFd>) -> Result<(), String> {
    let mut command = Command::new(program);
    command
        .args(line.split_ascii_whitespace())
        .env_clear()
        .env("PATH", PLACES)
        .env("LC_ALL", "C")
        .current_dir("/")
        .stdin(Stdio::null());
    if let Some(door) = door {
        let door = door.try_clone().map_err(|error| error.to_string())?;
        // SAFETY: the closure runs between fork and exec; it makes one system call on a descriptor that it holds, and
        // neither allocates nor locks.
        unsafe { command.pre_exec(move || enter(&door)) };
    }
    let output = command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("there is no program {program}"),
        _ => format!("{program} can't be started: {error}"),
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    Err(format!("`{program} {line}` ended with {}: {said}", output.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_says_when_it_fails_is_told_with_the_command() {
        let said = run("ls", "/nonexistent-of-a-test", None).expect_err("it is not there");
        assert!(said.starts_with("`ls /nonexistent-of-a-test` ended with exit status"), "{said}");
        assert!(said.contains("No such file"), "{said}");
        let said = run("no-such-program-at-all", "x", None).expect_err("there is none");
        assert_eq!(said, "there is no program no-such-program-at-all");
    }
}
