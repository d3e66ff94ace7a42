//! When calls are counted: in windows of a second, no more of them than the budget allows.

use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

use super::kernel::Kernel;
use crate::random::Random;

/// How long a window lasts.
const WINDOW: Duration = Duration::from_secs(1);
/// At most this share of the time is in windows.
const MAX_RATIO: f64 = 0.25;
/// Below this share there are none: what they count would be of too few moments.
const MIN_RATIO: f64 = 0.02;
/// CPU seconds a second, of each CPU, that counting may take in the kernel.
const BUDGET: f64 = 0.03;
/// Entering a call takes longer for every process of the machine while calls are counted; the kernel's measure of the
/// programs doesn't have that. Assumed to be as much as the programs themselves take, of which half was measured.
const UNSEEN_FACTOR: f64 = 2.0;
/// Of this number of windows the kernel measures in one what the programs cost: measuring costs something itself.
const MEASURED_EVERY: u32 = 8;

/// The windows of a run.
#[derive(Debug)]
pub(super) struct Windows {
    /// When the next one opens, or the one that is open closes; none when there are to be none.
    next: Option<Instant>,
    open: Option<Open>,
    /// The share of the time that is in windows.
    ratio: f64,
    random: Random,
    opened: u32,
    /// CPU seconds a second of the programs of blocks, and those of calls while a window is open; once measured.
    price: Option<(f64, f64)>,
    /// Seconds in windows since [`Windows::spent`], and when that was.
    counted: Duration,
    asked: Instant,
}

/// A window that is open.
#[derive(Debug)]
struct Open {
    since: Instant,
    /// Kept while the kernel measures, with what it had measured before.
    measure: Option<(OwnedFd, (f64, f64))>,
}

impl Windows {
    /// Windows, or none at all.
    pub(super) fn new(wanted: bool) -> Windows {
        let now = Instant::now();
        Windows {
            next: wanted.then_some(now + WINDOW),
            open: None,
            ratio: MAX_RATIO,
            random: Random::seeded(),
            opened: 0,
            price: None,
            counted: Duration::ZERO,
            asked: now,
        }
    }

    /// How long until a window opens or closes.
    pub(super) fn next_turn(&self) -> Option<Duration> {
        self.next.map(|next| next.saturating_duration_since(Instant::now()))
    }

    /// Opens or closes one, if it is time.
    pub(super) fn turn(&mut self, kernel: &mut Kernel) -> Result<(), String> {
        let now = Instant::now();
        if self.next.is_none_or(|next| now < next) {
            return Ok(());
        }
        match self.open.take() {
            None => self.open(kernel),
            Some(open) => self.close(open, kernel),
        }
    }

    fn open(&mut self, kernel: &mut Kernel) -> Result<(), String> {
        let measured = self.opened.is_multiple_of(MEASURED_EVERY);
        let measure = if measured { Kernel::measure().map(|kept| (kept, kernel.run_s())) } else { None };
        self.opened += 1;
        kernel.open_window()?;
        let since = Instant::now();
        self.next = Some(since + WINDOW);
        self.open = Some(Open { since, measure });
        Ok(())
    }

    fn close(&mut self, open: Open, kernel: &mut Kernel) -> Result<(), String> {
        kernel.close_window()?;
        let lasted = open.since.elapsed();
        self.counted += lasted.saturating_sub(self.asked_within(&open));
        if let Some((_kept, (blocks_s, calls_s))) = open.measure {
            let (blocks_now_s, calls_now_s) = kernel.run_s();
            let per_s = |spent_s: f64| spent_s / lasted.as_secs_f64();
            let price = (per_s(blocks_now_s - blocks_s), per_s(calls_now_s - calls_s));
            self.price = Some(price);
            let cpus = thread::available_parallelism().map_or(1, std::num::NonZero::get);
            self.ratio = affordable(price, BUDGET * cpus as f64);
        }
        // Between half and one and a half times the mean pause: no rhythm of the servers can hide from it.
        self.next = (self.ratio > 0.0).then(|| {
            let pause_s = WINDOW.as_secs_f64() * (1.0 / self.ratio - 1.0);
            Instant::now() + Duration::from_secs_f64(pause_s * (0.5 + self.random.ratio()))
        });
        Ok(())
    }

    /// The part of an open window that was asked for already.
    fn asked_within(&self, open: &Open) -> Duration {
        self.asked.saturating_duration_since(open.since)
    }

    /// Seconds in windows since the last call, and the CPU seconds that counting took meanwhile, once that was measured.
    pub(super) fn spent(&mut self) -> (f64, Option<f64>) {
        let now = Instant::now();
        let running = self.open.as_ref().map_or(Duration::ZERO, |open| {
            now.saturating_duration_since(open.since).saturating_sub(self.asked_within(open))
        });
        let counted_s = (std::mem::take(&mut self.counted) + running).as_secs_f64();
        let took_s = now.saturating_duration_since(std::mem::replace(&mut self.asked, now)).as_secs_f64();
        (counted_s, self.price.map(|(blocks, calls)| blocks * took_s + calls * counted_s))
    }
}

/// The share of the time in windows that `budget` CPU seconds a second allow for, at the price of blocks and of calls.
fn affordable((blocks, calls): (f64, f64), budget: f64) -> f64 {
    let left = (budget - blocks).max(0.0);
    let ratio = if calls > 0.0 { (left / (calls * UNSEEN_FACTOR)).min(MAX_RATIO) } else { MAX_RATIO };
    if ratio < MIN_RATIO { 0.0 } else { ratio }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_take_what_blocks_leave_of_the_budget_and_none_are_better_than_few() {
        assert_eq!(affordable((0.01, 0.02), 0.06), MAX_RATIO, "a quarter at most");
        assert!((affordable((0.02, 0.2), 0.06) - 0.1).abs() < 1e-9);
        assert_eq!(affordable((0.05, 0.5), 0.06), 0.0, "a hundredth of the time says little");
        assert_eq!(affordable((0.07, 0.01), 0.06), 0.0, "blocks alone are too dear");
        assert_eq!(affordable((0.0, 0.0), 0.06), MAX_RATIO);
    }

    #[test]
    fn without_windows_nothing_is_ever_due() {
        let mut none = Windows::new(false);
        assert_eq!(none.next_turn(), None);
        assert_eq!(none.spent().0, 0.0);
    }
}
