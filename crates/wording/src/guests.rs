//! What is said of several guests side by side.

use model::record::GuestResult;
use model::record::guest::{slowest, spread_ratio};
use model::units::{percent, show_seconds};

/// Which of several guests missed their targets, and which was slowest, to follow a verdict; nothing of fewer than two.
pub fn guests(guests: &[GuestResult]) -> Option<String> {
    if guests.len() < 2 {
        return None;
    }
    let missing: Vec<String> = guests
        .iter()
        .filter(|guest| guest.pass == Some(false))
        .map(|guest| guest.guest.number.to_string())
        .collect();
    let apart =
        spread_ratio(guests).map(|ratio| format!("{} guests, {} apart", guests.len(), percent(ratio)));
    let missed = match missing.as_slice() {
        [] => None,
        all if all.len() == guests.len() => Some("all of them miss a target".to_string()),
        [one] => Some(format!("guest {one} misses a target")),
        many => Some(format!("guests {} miss a target", many.join(", "))),
    };
    let slow = slowest(guests).filter(|_| missed.is_some()).and_then(|guest| {
        let mean_s = guest.mean_s?;
        Some(format!("the slowest is guest {} (mean {})", guest.guest.number, show_seconds(mean_s)))
    });
    let said: Vec<String> = apart.into_iter().chain(missed).chain(slow).collect();
    (!said.is_empty()).then(|| format!("; {}", said.join("; ")))
}

#[cfg(test)]
mod tests {
    use model::record::plan::Guest;
    use model::record::{Cloned, Outcome};

    use super::*;

    fn guest(number: u32, per_s: f64, mean_s: f64, pass: bool) -> GuestResult {
        GuestResult {
            guest: Guest { number, cpu_limit_cores: None, memory_limit_bytes: None },
            run: "run".to_string(),
            cloned: Cloned::default(),
            users: 10,
            outcome: Outcome::Completed,
            valid: true,
            pass: Some(pass),
            missed: Vec::new(),
            per_s,
            mean_s: Some(mean_s),
            p95_s: None,
            p99_s: None,
            failed_ratio: 0.0,
            cpu_cores: None,
            memory_bytes: None,
            held_by: None,
        }
    }

    #[test]
    fn guests_that_miss_their_targets_are_named_and_the_slowest_with_its_mean() {
        let fine = [guest(1, 100.0, 0.1, true), guest(2, 100.0, 0.12, true)];
        assert_eq!(guests(&fine).as_deref(), Some("; 2 guests, 0 % apart"));
        let one = [guest(1, 110.0, 0.1, true), guest(2, 90.0, 0.5, false)];
        let said = guests(&one).expect("two guests");
        assert_eq!(
            said,
            "; 2 guests, 20 % apart; guest 2 misses a target; the slowest is guest 2 (mean 500 ms)"
        );
        assert_eq!(guests(&fine[..1]), None);
    }
}
