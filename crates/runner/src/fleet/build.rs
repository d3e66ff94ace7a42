//! Which build this program is of.

use std::fmt::Write as _;
use std::fs::File;
use std::sync::OnceLock;

use model::{Problem, Result};
use sha2::{Digest, Sha256};

/// The build that this program is of: the beginning of the SHA-256 of its file.
///
/// # Errors
/// The file can't be read.
pub(super) fn build() -> Result<String> {
    Ok(digest()?[..BUILD_LETTERS].to_string())
}

/// Letters of a SHA-256 that tell builds apart.
const BUILD_LETTERS: usize = 16;

/// The SHA-256 of this program's file, in hexadecimal.
///
/// # Errors
/// The file can't be read.
pub(super) fn digest() -> Result<String> {
    static DIGEST: OnceLock<std::result::Result<String, String>> = OnceLock::new();
    let read = || {
        let mut hash = Sha256::new();
        let mut file = File::open("/proc/self/exe").map_err(|error| error.to_string())?;
        std::io::copy(&mut file, &mut hash).map_err(|error| error.to_string())?;
        Ok(hash.finalize().iter().fold(String::new(), |mut text, byte| {
            // Writing to a string can't fail.
            _ = write!(text, "{byte:02x}");
            text
        }))
    };
    let known = DIGEST.get_or_init(read).clone();
    known.map_err(|why| Problem::environment(format!("failed to read this program's own file: {why}")).into())
}
