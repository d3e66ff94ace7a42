//! Passwords: kept as argon2id makes them, with the parameters that OWASP advises (19 MiB, two passes).

use argon2::Argon2;
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};
use model::{Problem, Result};

/// Shorter ones are guessed.
const MIN_CHARS: usize = 12;
/// Longer ones only take time.
const MAX_BYTES: usize = 1_024;

/// What `password` is checked by later.
///
/// # Errors
/// It is too short or too long.
pub(crate) fn hash(password: &str, salt: &[u8]) -> Result<String> {
    if password.chars().count() < MIN_CHARS || password.len() > MAX_BYTES {
        let what = format!("a password has {MIN_CHARS} characters at least, and {MAX_BYTES} bytes at most");
        return Err(Problem::recipe(what).key("--set-password").into());
    }
    let bug =
        |error: argon2::password_hash::Error| Problem::bug(format!("a password can't be hashed: {error}"));
    let salt = SaltString::encode_b64(&salt[..16.min(salt.len())]).map_err(bug)?;
    Ok(Argon2::default().hash_password(password.as_bytes(), &salt).map_err(bug)?.to_string())
}

/// Whether `password` is the one that `hash` was made of.
pub(crate) fn verify(password: &str, hash: &str) -> bool {
    password.len() <= MAX_BYTES
        && PasswordHash::new(hash.trim())
            .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
}
