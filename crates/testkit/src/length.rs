//! How many simulations a test makes: as many as its claim is about in `make test-long`, fewer in the gate.

/// Set to run simulations at full length.
const FULL: &str = "PLIMSOLL_FULL_LENGTH";

/// `full` of them where `PLIMSOLL_FULL_LENGTH` is set, else half as many, with the seeds that come first.
pub fn simulations(full: u64) -> u64 {
    if std::env::var_os(FULL).is_some() { full } else { full.div_ceil(2) }
}
