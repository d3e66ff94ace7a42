//! How often something may be done: a bucket that fills evenly and is emptied by each.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Addresses that are remembered at once.
const MAX_ADDRESSES: usize = 1_024;

/// Something that an address may do `burst` times at once, and once more each `every`.
pub(crate) struct Rate {
    burst: f64,
    every: Duration,
    left: Mutex<HashMap<IpAddr, (f64, Instant)>>,
}

impl Rate {
    pub(crate) fn new(burst: u32, every: Duration) -> Rate {
        Rate { burst: f64::from(burst), every, left: Mutex::default() }
    }

    /// Whether `address` may do it now, which counts as having done it.
    pub(crate) fn allows(&self, address: IpAddr, now: Instant) -> bool {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if left.len() >= MAX_ADDRESSES && !left.contains_key(&address) {
            left.retain(|_, (tokens, since)| self.filled(*tokens, *since, now) < self.burst);
            if left.len() >= MAX_ADDRESSES {
                return false;
            }
        }
        let (tokens, since) = left.entry(address).or_insert((self.burst, now));
        *tokens = self.filled(*tokens, *since, now);
        *since = now;
        if *tokens < 1.0 {
            return false;
        }
        *tokens -= 1.0;
        true
    }

    fn filled(&self, tokens: f64, since: Instant, now: Instant) -> f64 {
        let more = now.saturating_duration_since(since).as_secs_f64() / self.every.as_secs_f64();
        (tokens + more).min(self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn five_tries_are_free_and_then_one_each_twelve_seconds() {
        let (rate, start) = (Rate::new(5, Duration::from_secs(12)), Instant::now());
        let at = |s: u64| rate.allows(HERE, start + Duration::from_secs(s));
        assert_eq!([0, 0, 0, 0, 0, 0].map(at), [true, true, true, true, true, false]);
        assert_eq!([11, 13, 14, 90].map(at), [false, true, false, true]);
        assert!(rate.allows(IpAddr::from([127, 0, 0, 2]), start), "another address has tries of its own");
    }

    #[test]
    fn a_thousand_addresses_do_not_take_all_memory() {
        let (rate, start) = (Rate::new(1, Duration::from_secs(1)), Instant::now());
        let address = |number: u32| IpAddr::from(number.to_be_bytes());
        let allowed = (0..5_000).filter(|number| rate.allows(address(*number), start)).count();
        assert_eq!(allowed, MAX_ADDRESSES);
        assert!(rate.allows(address(9_999), start + Duration::from_secs(2)), "old ones are forgotten");
    }
}
