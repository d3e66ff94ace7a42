//! The fields of a second that have no row, by name: what is kept of it in files and sent between machines is derived from this.

use super::{Interval, Times};

/// A scalar of a second: its name, how it is read from an interval and how it is put back.
pub type Figure = (&'static str, fn(&Interval) -> f64, fn(&mut Interval, f64));

/// The scalars of a second, each a column where it is kept. To add one, add a line; files and messages without it read as 0.
pub const FIGURES: [Figure; 26] = [
    ("busy_user_s", |i| i.busy_user_s, |i, v| i.busy_user_s = v),
    ("thinking_user_s", |i| i.thinking_user_s, |i, v| i.thinking_user_s = v),
    ("thinks", |i| i.thinks as f64, |i, v| i.thinks = v as u64),
    ("think_sum_s", |i| i.think_sum_s, |i, v| i.think_sum_s = v),
    ("think_sum_s2", |i| i.think_sum_s2, |i, v| i.think_sum_s2 = v),
    ("think_sum_s3", |i| i.think_sum_s3, |i, v| i.think_sum_s3 = v),
    ("sessions_ended", |i| i.sessions_ended as f64, |i, v| i.sessions_ended = v as u64),
    ("session_sum_s", |i| i.session_sum_s, |i, v| i.session_sum_s = v),
    ("session_sum_s2", |i| i.session_sum_s2, |i, v| i.session_sum_s2 = v),
    ("session_sum_s3", |i| i.session_sum_s3, |i, v| i.session_sum_s3 = v),
    ("session_age_s", |i| i.session_age_s, |i, v| i.session_age_s = v),
    ("think_age_s", |i| i.think_age_s, |i, v| i.think_age_s = v),
    ("generator_cpu_s", |i| i.generator_cpu_s, |i, v| i.generator_cpu_s = v),
    ("busiest_thread_cpu_s", |i| i.busiest_thread_cpu_s, |i, v| i.busiest_thread_cpu_s = v),
    ("generator_wait_s", |i| i.generator_wait_s, |i, v| i.generator_wait_s = v),
    ("connects", |i| i.connects as f64, |i, v| i.connects = v as u64),
    ("handshakes", |i| i.wire.handshakes as f64, |i, v| i.wire.handshakes = v as u64),
    ("resumptions", |i| i.wire.resumptions as f64, |i, v| i.wire.resumptions = v as u64),
    ("redirects", |i| i.wire.redirects as f64, |i, v| i.wire.redirects = v as u64),
    ("challenges", |i| i.wire.challenges as f64, |i, v| i.wire.challenges = v as u64),
    ("not_modified", |i| i.wire.not_modified as f64, |i, v| i.wire.not_modified = v as u64),
    ("cache_hits", |i| i.wire.cache_hits as f64, |i, v| i.wire.cache_hits = v as u64),
    ("exhausted", |i| i.wire.exhausted as f64, |i, v| i.wire.exhausted = v as u64),
    ("arrivals", |i| i.arrivals as f64, |i, v| i.arrivals = v as u64),
    ("waiting_users", |i| i.waiting_users as f64, |i, v| i.waiting_users = v as u64),
    ("arrivals_waited", |i| i.arrivals_waited as f64, |i, v| i.arrivals_waited = v as u64),
];

/// A histogram of a second: its name, where an interval has it and where it is put back.
pub type Distribution = (&'static str, fn(&Interval) -> &Times, fn(&mut Interval) -> &mut Times);

/// The histograms of a second that belong to no operation. To add one, add a line; files and messages without it read as empty.
pub const DISTRIBUTIONS: [Distribution; 6] = [
    ("lag", |i| &i.lag, |i| &mut i.lag),
    ("connect", |i| &i.phases.connect, |i| &mut i.phases.connect),
    ("tls", |i| &i.phases.tls, |i| &mut i.phases.tls),
    ("first_byte", |i| &i.phases.first_byte, |i| &mut i.phases.first_byte),
    ("transfer", |i| &i.phases.transfer, |i| &mut i.phases.transfer),
    ("untimed", |i| &i.untimed, |i| &mut i.untimed),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::interval::{Phases, Wire, record_ns};

    /// Does not compile when [`Interval`] has a field that nobody thought of here: name it in [`FIGURES`] or in
    /// [`DISTRIBUTIONS`], or let `store` and `fleet` have it in a place of its own, then name it below.
    #[test]
    fn every_scalar_of_an_interval_has_a_name_that_gives_it_back() {
        let mut interval = Interval::empty(0);
        for (index, (_, _, put)) in FIGURES.iter().enumerate() {
            put(&mut interval, index as f64 + 1.0);
        }
        let Interval {
            second: _,
            operations: _,
            lag: _,
            wire: Wire { handshakes, resumptions, redirects, challenges, not_modified, cache_hits, exhausted },
            phases: _,
            untimed: _,
            counters: _,
            choices: _,
            pauses: _,
            busy_user_s,
            thinking_user_s,
            thinks,
            think_sum_s,
            think_sum_s2,
            think_sum_s3,
            sessions_ended,
            session_sum_s,
            session_sum_s2,
            session_sum_s3,
            session_age_s,
            think_age_s,
            generator_cpu_s,
            busiest_thread_cpu_s,
            generator_wait_s,
            connects,
            arrivals,
            arrivals_waited,
            waiting_users,
            last_sessions: _,
        } = interval.clone();
        let scalars = [busy_user_s, thinking_user_s, thinks as f64, think_sum_s, think_sum_s2, think_sum_s3]
            .into_iter()
            .chain([sessions_ended as f64, session_sum_s, session_sum_s2, session_sum_s3])
            .chain([session_age_s, think_age_s, generator_cpu_s, busiest_thread_cpu_s, generator_wait_s])
            .chain(
                [
                    connects,
                    handshakes,
                    resumptions,
                    redirects,
                    challenges,
                    not_modified,
                    cache_hits,
                    exhausted,
                    arrivals,
                    waiting_users,
                    arrivals_waited,
                ]
                .map(|n| n as f64),
            );
        for ((index, scalar), (name, get, _)) in scalars.enumerate().zip(&FIGURES) {
            assert_eq!(scalar, index as f64 + 1.0, "{name} is put into another field");
            assert_eq!(get(&interval), scalar, "{name} is read from another field");
        }
    }

    #[test]
    fn every_histogram_of_an_interval_has_a_name_that_gives_it_back() {
        let mut interval = Interval::empty(0);
        for (index, (.., put)) in DISTRIBUTIONS.iter().enumerate() {
            (0..=index).for_each(|_| record_ns(put(&mut interval), 1_000));
        }
        let Interval { lag, phases: Phases { connect, tls, first_byte, transfer }, untimed, .. } =
            interval.clone();
        let histograms = [lag, connect, tls, first_byte, transfer, untimed];
        for ((index, times), (name, get, _)) in histograms.iter().enumerate().zip(&DISTRIBUTIONS) {
            assert_eq!(times.len(), index as u64 + 1, "{name} is put into another field");
            assert_eq!(get(&interval).len(), times.len(), "{name} is read from another field");
        }
    }
}
