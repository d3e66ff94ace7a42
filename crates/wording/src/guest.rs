//! What is said of a guest, and of several beside their figures.

use model::record::GuestResult;
use model::record::guest::{slowest, spread_ratio};
use model::record::plan::Guest;
use model::units::{number, percent, show_bytes, show_seconds};

/// `0.5 cores, 2.62 GB of memory`: what all servers of a guest may use together; absent where neither is limited.
pub fn guest_limits(cpu_cores: Option<f64>, memory_bytes: Option<u64>) -> Option<String> {
    let cores = cpu_cores.map(|cores| match number(cores).as_str() {
        "1" => "1 core".to_string(),
        cores => format!("{cores} cores"),
    });
    let memory = memory_bytes.map(|bytes| format!("{} of memory", show_bytes(bytes)));
    let limits: Vec<String> = cores.into_iter().chain(memory).collect();
    (!limits.is_empty()).then(|| limits.join(", "))
}

/// `guest 2 of a run with guests; 0.5 cores`: whose run it is.
pub fn guest(guest: &Guest) -> String {
    let limits = guest_limits(guest.cpu_limit_cores, guest.memory_limit_bytes);
    let limits = limits.map(|limits| format!("; {limits}")).unwrap_or_default();
    format!("guest {} of a run with guests{limits}", guest.number)
}

/// How far guests are apart and which was slowest; absent for fewer than two, and where nothing completed.
pub fn guests_apart(guests: &[GuestResult]) -> Option<String> {
    let apart = percent(spread_ratio(guests)?);
    let slowest = slowest(guests).and_then(|slowest| {
        let mean_s = slowest.mean_s?;
        Some(format!("; slowest: guest {}, mean {}", slowest.guest.number, show_seconds(mean_s)))
    });
    let slowest = slowest.unwrap_or_default();
    Some(format!("guests are {apart} apart, by the operations that each of their users gets{slowest}"))
}

/// Which of several guests missed their targets, and which was slowest then, to follow a run's verdict; absent for fewer than two.
pub fn guests_verdict(guests: &[GuestResult]) -> Option<String> {
    let apart = percent(spread_ratio(guests)?);
    let missing = guests.iter().filter(|guest| guest.pass == Some(false));
    let missing: Vec<u32> = missing.map(|guest| guest.guest.number).collect();
    let missed = match missing.as_slice() {
        [] => return Some(format!("; {} guests, {apart} apart", guests.len())),
        all if all.len() == guests.len() => "all of them miss a target".to_string(),
        [one] => format!("{} misses a target", guest_numbers(&[*one])),
        some => format!("{} miss a target", guest_numbers(some)),
    };
    let slowest = slowest(guests).and_then(|slowest| {
        Some(format!(
            "; the slowest is guest {} (mean {})",
            slowest.guest.number,
            show_seconds(slowest.mean_s?)
        ))
    });
    Some(format!("; {} guests, {apart} apart; {missed}{}", guests.len(), slowest.unwrap_or_default()))
}

/// What it took to make the guests' stacks of what was made once, from the least to the most; absent where there are none.
pub fn clones(guests: &[GuestResult]) -> Option<String> {
    let times =
        |of: fn(&GuestResult) -> f64| range(guests.iter().map(of), f64::total_cmp, |s| show_seconds(*s));
    let copies = times(|guest| guest.cloned.copy_s)?;
    let starts = times(|guest| guest.cloned.start_s)?;
    let ready = times(|guest| guest.cloned.ready_s)?;
    let disk =
        range(guests.iter().map(|guest| guest.cloned.disk_bytes), u64::cmp, |bytes| show_bytes(*bytes))?;
    if guests.iter().all(|guest| guest.cloned.copy_s == 0.0) {
        return Some(format!(
            "clones: servers started in {starts}, first answer after {ready}; no data to copy"
        ));
    }
    let disk = if guests.iter().all(|guest| guest.cloned.disk_bytes == 0) {
        "copies share their blocks on the disk".to_string()
    } else {
        format!("a copy takes {disk} of the disk")
    };
    Some(format!(
        "clones: data copied in {copies}, servers started in {starts}, first answer after {ready}; {disk}"
    ))
}

/// `1`, `1 and 3`, `1, 2 and 4`: which guests.
pub fn guest_numbers(numbers: &[u32]) -> String {
    let words: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("guests {} and {last}", rest.join(", ")),
        _ => format!("guest {}", words.concat()),
    }
}

/// `210 ms to 350 ms`, or once what reads the same.
fn range<T>(
    values: impl Iterator<Item = T>,
    order: impl Fn(&T, &T) -> std::cmp::Ordering,
    show: impl Fn(&T) -> String,
) -> Option<String> {
    let mut values: Vec<T> = values.collect();
    values.sort_by(order);
    let (least, most) = (show(values.first()?), show(values.last()?));
    Some(if least == most { least } else { format!("{least} to {most}") })
}

#[cfg(test)]
mod tests {
    use model::record::{Cloned, Outcome};

    use super::*;

    fn one(number: u32, per_s: f64, mean_s: f64, cloned: Cloned) -> GuestResult {
        GuestResult {
            guest: Guest { number, cpu_limit_cores: Some(0.5), memory_limit_bytes: Some(2_621_440_000) },
            run: format!("20261127-050000-dvdstore-000{number}"),
            cloned,
            users: 10,
            load_ratio: 0.5,
            outcome: Outcome::Completed,
            valid: true,
            pass: Some(true),
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
    fn a_guest_is_named_with_what_it_may_use() {
        let mut limited = one(2, 1.0, 1.0, Cloned::default()).guest;
        assert_eq!(guest(&limited), "guest 2 of a run with guests; 0.5 cores, 2.62 GB of memory");
        limited.cpu_limit_cores = None;
        limited.memory_limit_bytes = None;
        assert_eq!(guest(&limited), "guest 2 of a run with guests");
        assert_eq!(guest_limits(Some(1.0), None).as_deref(), Some("1 core"));
    }

    #[test]
    fn guests_are_as_far_apart_as_what_their_users_get_and_the_slowest_is_named() {
        let guests = [one(1, 110.0, 0.1, Cloned::default()), one(3, 90.0, 0.12, Cloned::default())];
        let said = guests_apart(&guests).expect("there are two");
        assert_eq!(
            said,
            "guests are 20 % apart, by the operations that each of their users gets; slowest: guest 3, mean 120 ms"
        );
        assert_eq!(guests_apart(&guests[..1]), None);
    }

    #[test]
    fn guests_that_miss_their_targets_are_named_and_the_slowest_with_its_mean() {
        let mut guests = [one(1, 110.0, 0.1, Cloned::default()), one(2, 90.0, 0.5, Cloned::default())];
        assert_eq!(guests_verdict(&guests).as_deref(), Some("; 2 guests, 20 % apart"));
        guests[1].pass = Some(false);
        let said = guests_verdict(&guests).expect("two guests");
        assert_eq!(
            said,
            "; 2 guests, 20 % apart; guest 2 misses a target; the slowest is guest 2 (mean 500 ms)"
        );
        guests[0].pass = Some(false);
        assert!(guests_verdict(&guests).expect("two guests").contains("all of them miss a target"));
        assert_eq!(guests_verdict(&guests[..1]), None);
    }

    #[test]
    fn clones_are_told_from_the_least_to_the_most_and_once_where_they_are_alike() {
        let first = Cloned { copy_s: 0.35, start_s: 1.0, ready_s: 1.5, disk_bytes: 0 };
        let second = Cloned { copy_s: 0.21, ..first.clone() };
        let said = clones(&[one(1, 1.0, 1.0, first.clone()), one(2, 1.0, 1.0, second)]).expect("two clones");
        assert_eq!(
            said,
            "clones: data copied in 210 ms to 350 ms, servers started in 1.00 s, first answer after 1.50 s; copies share \
             their blocks on the disk"
        );
        let large = Cloned { disk_bytes: 52_000_000, ..first };
        assert!(
            clones(&[one(1, 1.0, 1.0, large)]).expect("one").ends_with("a copy takes 52.0 MB of the disk")
        );
        let without_data =
            clones(&[one(1, 1.0, 1.0, Cloned { start_s: 1.0, ready_s: 1.5, ..Cloned::default() })]);
        assert!(without_data.expect("one").ends_with("first answer after 1.50 s; no data to copy"));
        assert_eq!(clones(&[]), None);
    }

    #[test]
    fn guests_are_named_by_their_numbers() {
        assert_eq!([vec![3], vec![1, 2, 4]].map(|all| guest_numbers(&all)), ["guest 3", "guests 1, 2 and 4"]);
    }
}
