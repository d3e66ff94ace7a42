//! Closed-loop users with known behaviour, recorded second by second as the engine does it.

use analysis::{Little, Steady};
use model::Interval;
use model::random::Random;

/// How long a session takes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Service {
    /// Exponential, independent of everything else.
    Delay(f64),
    /// Always the same.
    Fixed(f64),
    /// One server, first come first served, with exponential service times: sessions wait for each other.
    Queue(f64),
    /// As `Delay`, and all sessions stand still for `stall_s` after every `every_s` (exponential): a checkpoint.
    Stalls { mean_s: f64, every_s: f64, stall_s: f64 },
    /// 95 % of one mean, 5 % of twenty times that: a heavy tail.
    Tail(f64),
}

/// A closed loop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loop {
    pub(crate) users: usize,
    pub(crate) service: Service,
    pub(crate) think_mean_s: f64,
    /// Share of completions that the recorder forgets.
    pub(crate) lost_ratio: f64,
}

impl Loop {
    /// Runs for `seconds` after 20 s of settling and gives all seconds, those of the settling first.
    pub(crate) fn run(&self, seconds: u32, random: &mut Random) -> Recording {
        let total = seconds + 20;
        let mut record = Recording::new(total);
        let stalls = self.stalls(f64::from(total), random);
        let mut server_free_at = 0.0f64;
        let mut arrivals: Vec<f64> = Vec::new();
        for _ in 0..self.users {
            let first = random.unit() * 2.0 * self.think_mean_s.max(0.1);
            record.think(0.0, first);
            arrivals.push(first);
        }
        loop {
            let (user, start) = earliest(&arrivals);
            if start >= f64::from(total) {
                return record;
            }
            let end = match self.service {
                Service::Delay(mean) => start + random.exponential(mean),
                Service::Fixed(value) => start + value,
                Service::Tail(mean) => {
                    let mean = if random.unit() < 0.05 { 20.0 * mean } else { mean };
                    start + random.exponential(mean)
                }
                Service::Queue(mean) => {
                    server_free_at = server_free_at.max(start) + random.exponential(mean);
                    server_free_at
                }
                Service::Stalls { mean_s, stall_s, .. } => {
                    let end = start + random.exponential(mean_s);
                    let hit = stalls.iter().find(|at| (**at..**at + stall_s).contains(&end));
                    hit.map_or(end, |at| at + stall_s)
                }
            };
            record.session(start, end, random.unit() < self.lost_ratio);
            let think = random.unit() * 2.0 * self.think_mean_s;
            record.think(end, end + think);
            arrivals[user] = end + think;
        }
    }

    fn stalls(&self, total: f64, random: &mut Random) -> Vec<f64> {
        let mut found = Vec::new();
        if let Service::Stalls { every_s, stall_s, .. } = self.service {
            let mut at = random.exponential(every_s);
            while at < total {
                found.push(at);
                at += stall_s + random.exponential(every_s);
            }
        }
        found
    }
}

fn earliest(arrivals: &[f64]) -> (usize, f64) {
    let first = arrivals.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
    first.expect("a loop has users")
}

/// What a second holds for Little's law; an [`Interval`] without its histograms, so that days can be simulated.
#[derive(Debug, Clone, Copy, Default)]
struct Second {
    busy_s: f64,
    thinking_s: f64,
    sessions: Ended,
    thinks: Ended,
    session_age_s: f64,
    think_age_s: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Ended {
    count: u64,
    sums: [f64; 3],
}

impl Ended {
    fn add(&mut self, duration: f64) {
        self.count += 1;
        self.sums.iter_mut().zip(1..).for_each(|(sum, power)| *sum += duration.powi(power));
    }
}

/// All seconds of a run.
pub(crate) struct Recording(Vec<Second>);

impl Recording {
    fn new(total: u32) -> Recording {
        Recording(vec![Second::default(); total as usize])
    }

    /// Little's law over `[from, to)`.
    pub(crate) fn little(&self, from: u32, to: u32) -> Little {
        let mut steady = Steady::new(f64::from(from), f64::from(to));
        let mut interval = Interval::empty(0);
        for number in from.saturating_sub(1)..to {
            let second = self.0[number as usize];
            interval.second = number;
            interval.busy_user_s = second.busy_s;
            interval.thinking_user_s = second.thinking_s;
            interval.sessions_ended = second.sessions.count;
            [interval.session_sum_s, interval.session_sum_s2, interval.session_sum_s3] = second.sessions.sums;
            interval.thinks = second.thinks.count;
            [interval.think_sum_s, interval.think_sum_s2, interval.think_sum_s3] = second.thinks.sums;
            interval.session_age_s = second.session_age_s;
            interval.think_age_s = second.think_age_s;
            steady.push(&interval);
        }
        Little::of(&steady)
    }

    /// A user who begins a session at the start of the run and never ends it.
    pub(crate) fn hang_a_user(&mut self) {
        self.session(0.0, f64::INFINITY, true);
    }

    fn session(&mut self, start: f64, end: f64, lost: bool) {
        self.spread(start, end, |second| (&mut second.busy_s, &mut second.session_age_s));
        if let (false, Some(second)) = (lost, self.0.get_mut(end as usize)) {
            second.sessions.add(end - start);
        }
    }

    fn think(&mut self, start: f64, end: f64) {
        self.spread(start, end, |second| (&mut second.thinking_s, &mut second.think_age_s));
        if let Some(second) = self.0.get_mut(end as usize) {
            second.thinks.add(end - start);
        }
    }

    fn spread(&mut self, start: f64, end: f64, fields: fn(&mut Second) -> (&mut f64, &mut f64)) {
        for (number, second) in self.0.iter_mut().enumerate().skip(start as usize) {
            let (from, to) = (number as f64, (number + 1) as f64);
            if from >= end {
                break;
            }
            let (integral, age) = fields(second);
            *integral += (end.min(to) - start.max(from)).max(0.0);
            if end > to {
                *age += to - start;
            }
        }
    }
}
