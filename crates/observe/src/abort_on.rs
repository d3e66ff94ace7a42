//! The wait for which a server is ended, as a user names it.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use libc::c_long;
use serde::{Deserialize, Serialize};
use syscalls::Sysno;

/// The wait for which a server is ended: `open:disk`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AbortOn {
    said: String,
    calls: Vec<i32>,
}

/// Calls that do the same: which of them a program uses is its library's affair.
const FAMILIES: [(&str, &[c_long]); 4] = [
    ("open", &[libc::SYS_openat, libc::SYS_openat2]),
    ("stat", &[libc::SYS_newfstatat, libc::SYS_statx, libc::SYS_fstat]),
    ("read", &[libc::SYS_pread64, libc::SYS_readv, libc::SYS_preadv, libc::SYS_preadv2]),
    ("write", &[libc::SYS_pwrite64, libc::SYS_writev, libc::SYS_pwritev, libc::SYS_pwritev2]),
];
/// What a thread waits for.
const DISK: &str = "disk";

impl FromStr for AbortOn {
    type Err = String;

    fn from_str(text: &str) -> Result<AbortOn, String> {
        let (name, awaited) = text
            .split_once(':')
            .ok_or_else(|| format!("`{text}` names no call and what it waits for, as in open:disk"))?;
        if awaited != DISK {
            return Err(format!(
                "a wait for `{awaited}` is never unexpected; only disk can be named, as in open:disk"
            ));
        }
        let own = Sysno::from_str(name).ok().map(|number| number.id());
        let family = FAMILIES.iter().find(|(family, _)| *family == name).map_or(&[][..], |(_, calls)| calls);
        let calls: Vec<i32> = own.into_iter().chain(family.iter().map(|call| *call as i32)).collect();
        if calls.is_empty() {
            return Err(format!("`{name}` is no system call; `plimsoll explain last --calls` names them"));
        }
        Ok(AbortOn { said: text.to_string(), calls })
    }
}

impl AbortOn {
    /// The numbers of its calls.
    pub(crate) fn calls(&self) -> &[i32] {
        &self.calls
    }
}

impl Display for AbortOn {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.said)
    }
}

impl TryFrom<String> for AbortOn {
    type Error = String;

    fn try_from(text: String) -> Result<AbortOn, String> {
        text.parse()
    }
}

impl From<AbortOn> for String {
    fn from(wait: AbortOn) -> String {
        wait.said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        text.parse::<AbortOn>().expect_err(text)
    }

    #[test]
    fn a_wait_is_a_call_or_all_that_do_the_same_and_the_disk() {
        let calls = |text: &str| text.parse::<AbortOn>().expect(text).calls;
        assert_eq!(calls("openat:disk"), [libc::SYS_openat as i32]);
        assert!(calls("open:disk").contains(&(libc::SYS_openat2 as i32)), "{:?}", calls("open:disk"));
        assert!(refusal("open").contains("open:disk"), "{}", refusal("open"));
        assert!(refusal("open:lock").contains("`lock`"), "{}", refusal("open:lock"));
        assert!(refusal("opne:disk").contains("`opne`"), "{}", refusal("opne:disk"));
    }
}
