//! Another machine, by the system's OpenSSH client: what it is, copying a program to it, and processes there that outlive
//! the connection.
//!
//! The principal type is [`SshHost`]. Every call is one `ssh` with the user's own configuration, which is never asked for a
//! password, has a deadline and is killed at it. On the far side only a POSIX `sh` with the usual small programs is needed
//! (`dd`, `mktemp`, `setsid`, `sha256sum`; dash and busybox do). All that is written there is below one folder of the user's
//! cache: `${XDG_CACHE_HOME:-~/.cache}/plimsoll`.
//!
//! What the far side says is data of another machine: bounded in size, and without control characters when it is shown.
//!
//! Not here: what is started there and what is told to it.

mod ask;
mod call;
mod facts;
mod failure;
mod files;
mod host;
mod remote;
mod script;
#[cfg(test)]
mod tests;
mod text;

pub use facts::Facts;
pub use host::SshHost;
pub use remote::{RemoteProcess, RemoteState};
