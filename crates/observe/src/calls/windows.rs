//! When calls are counted: in windows of a second, no more of them than the budget allows.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

use super::kernel::Kernel;
use crate::random::Random;

/// How long a window lasts.
const WINDOW: Duration = Duration::from_secs(1);
/// At most this share of the time is in windows.
const MAX_RATIO: f64 = 0.25;
/// Below this share they are not worth their price: what they count would be of too few moments. Then one of that share is
/// opened all the same, so that a time that was dear, or was only measured so, is no verdict on the whole run.
const MIN_RATIO: f64 = 0.02;
/// The pause after a first window that was too dear. On a shared machine the kernel's measure has the time in it that the
/// host took away.
const RETRY_PAUSE: Duration = Duration::from_secs(10);
/// CPU seconds a second, of each CPU, that counting may take in the kernel.
const BUDGET: f64 = 0.03;
/// Entering a call takes longer for every process of the machine while calls are counted; the kernel's measure of the
/// programs doesn't have that. Assumed to be as much as the programs themselves take, of which half was measured.
const UNSEEN_FACTOR: f64 = 2.0;
/// Of this number of windows, but for the first ones, the kernel measures in one what the programs cost: measuring costs
/// something itself.
const MEASURED_EVERY: u32 = 8;
/// The cheapest of this number of measurements counts: what disturbs one makes it dearer.
const NUMBER_OF_PRICES: usize = 3;

/// CPU seconds a second that the kernel's programs took.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Price {
    /// Those of blocks, which are always counted.
    blocks: f64,
    /// Those of calls, while a window is open.
    calls: f64,
}

/// The windows of a run.
#[derive(Debug)]
pub(super) struct Windows {
    /// When the next one opens, or the one that is open closes; none when there are to be none.
    next: Option<Instant>,
    open: Option<Open>,
    random: Random,
    opened: u32,
    /// The last that were measured.
    prices: VecDeque<Price>,
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
            random: Random::seeded(),
            opened: 0,
            prices: VecDeque::new(),
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
        let measured = self.prices.len() < NUMBER_OF_PRICES || self.opened.is_multiple_of(MEASURED_EVERY);
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
            let price = Price { blocks: per_s(blocks_now_s - blocks_s), calls: per_s(calls_now_s - calls_s) };
            self.prices.truncate(NUMBER_OF_PRICES - 1);
            self.prices.push_front(price);
        }
        let cpus = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        // Between half and one and a half times the mean pause: no rhythm of the servers can hide from it.
        let pause_s = self.mean_pause_s(BUDGET * cpus as f64) * (0.5 + self.random.ratio());
        self.next = Some(Instant::now() + Duration::from_secs_f64(pause_s));
        Ok(())
    }

    /// The cheapest that was measured, if any was.
    fn price(&self) -> Option<Price> {
        let all = |price: &Price| price.blocks + price.calls;
        self.prices.iter().copied().min_by(|one, other| all(one).total_cmp(&all(other)))
    }

    /// From a window's end to the next one's beginning, with `budget` CPU seconds a second.
    fn mean_pause_s(&self, budget: f64) -> f64 {
        let ratio = self.price().map_or(MAX_RATIO, |price| affordable(price, budget));
        if ratio < MIN_RATIO && self.prices.len() == 1 {
            return RETRY_PAUSE.as_secs_f64();
        }
        WINDOW.as_secs_f64() * (1.0 / ratio.max(MIN_RATIO) - 1.0)
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
        (counted_s, self.price().map(|price| price.blocks * took_s + price.calls * counted_s))
    }
}

/// The share of the time in windows that `budget` CPU seconds a second allow for; 0 where blocks take all of it.
fn affordable(price: Price, budget: f64) -> f64 {
    let left = (budget - price.blocks).max(0.0);
    if price.calls > 0.0 { (left / (price.calls * UNSEEN_FACTOR)).min(MAX_RATIO) } else { MAX_RATIO }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn price(blocks: f64, calls: f64) -> Price {
        Price { blocks, calls }
    }

    #[test]
    fn windows_take_what_blocks_leave_of_the_budget() {
        assert_eq!(affordable(price(0.01, 0.02), 0.06), MAX_RATIO, "a quarter at most");
        assert!((affordable(price(0.02, 0.2), 0.06) - 0.1).abs() < 1e-9);
        assert_eq!(affordable(price(0.07, 0.01), 0.06), 0.0, "blocks alone are too dear");
        assert_eq!(affordable(price(0.0, 0.0), 0.06), MAX_RATIO);
    }

    #[test]
    fn one_dear_second_is_no_verdict_on_the_run_and_a_dear_run_has_few_windows() {
        let pause_s = |prices: &[Price]| {
            let windows = Windows { prices: prices.iter().copied().collect(), ..Windows::new(true) };
            windows.mean_pause_s(0.06)
        };
        let (dear, cheap) = (price(0.05, 0.5), price(0.01, 0.02));
        assert_eq!(pause_s(&[dear]), 10.0, "it is looked at again before long");
        assert_eq!(pause_s(&[cheap, dear]), 3.0, "the cheapest counts");
        let rare_s = pause_s(&[dear, dear]);
        assert!((rare_s - 49.0).abs() < 1e-9, "a window in fifty seconds, not {rare_s}");
    }

    #[test]
    fn without_windows_nothing_is_ever_due() {
        let mut none = Windows::new(false);
        assert_eq!(none.next_turn(), None);
        assert_eq!(none.spent().0, 0.0);
    }
}
