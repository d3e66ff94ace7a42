//! Programs of the system's that the lab is made with: `ip` and `tc` of iproute2, `losetup`, `mkfs.ext4`.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::network::enter;

/// Where the programs are, whatever PATH the tool was started with.
pub(crate) const PLACES: &str = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin";

/// Runs a command of iproute2, in the network behind `door` where one is given; the error is what it said.
pub(crate) fn run(program: &str, line: &str, door: Option<&OwnedFd>) -> Result<(), String> {
    output_of(program, line.split_ascii_whitespace().map(Into::into).collect(), door).map(drop)
}

/// Runs a program of the system's with these arguments and gives its output; the error is what it said.
pub(crate) fn output_of(
    program: &str,
    arguments: Vec<OsString>,
    door: Option<&OwnedFd>,
) -> Result<String, String> {
    let mut command = Command::new(program);
    command
        .args(&arguments)
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
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    let line: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    Err(format!("`{program} {}` ended with {}: {said}", line.join(" "), output.status))
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
