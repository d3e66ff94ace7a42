//! A real queue, event by event: users who think, a pool of servers, first come first served.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use experiment::{Bench, Order};
use model::catalogue::qos::Measure;
use model::record::study::{Figure, Measured, Trial};
use model::{QosTarget, Result};

use super::{BATCHES, OVERHEAD_S, Random, outcome, trial};

/// Seconds before a window that don't count.
const WARM_UP_S: f64 = 20.0;

/// A closed queue.
#[derive(Debug, Clone, Copy)]
pub struct Queue {
    /// Mean think time, exponential.
    pub think_s: f64,
    /// Mean service time, exponential.
    pub service_s: f64,
    /// Servers in the pool.
    pub pool: usize,
    /// The limit of the 95th percentile.
    pub limit_s: f64,
}

impl Queue {
    /// Response times that ended within a window of that length, with when they ended, from its start.
    pub fn responses(&self, users: usize, window_s: f64, random: &mut Random) -> Vec<(f64, f64)> {
        let end_s = WARM_UP_S + window_s;
        // Times are kept in whole nanoseconds: they order, and no two of note are equal.
        let ns = |seconds: f64| (seconds * 1e9) as u64;
        let thinks = |random: &mut Random| random.exponential(self.think_s);
        let mut arrivals: BinaryHeap<Reverse<u64>> =
            (0..users).map(|_| Reverse(ns(thinks(random)))).collect();
        let mut free: BinaryHeap<Reverse<u64>> = (0..self.pool).map(|_| Reverse(0)).collect();
        let mut found = Vec::new();
        while let Some(Reverse(arrival)) = arrivals.pop() {
            if arrival > ns(end_s) {
                break;
            }
            let Reverse(server) = free.pop().expect("a pool has a server");
            let done = server.max(arrival) + ns(random.exponential(self.service_s));
            free.push(Reverse(done));
            arrivals.push(Reverse(done + ns(thinks(random))));
            let done_s = done as f64 / 1e9;
            if (WARM_UP_S..end_s).contains(&done_s) {
                found.push((done_s - WARM_UP_S, (done - arrival) as f64 / 1e9));
            }
        }
        found
    }

    /// ln(p95/limit) with that many users, from an hour and more of the queue: the truth.
    pub fn margin(&self, users: usize, seed: u64) -> f64 {
        let all = self.responses(users, 4000.0, &mut Random::new(seed));
        let mut times: Vec<f64> = all.into_iter().map(|response| response.1).collect();
        (p95(&mut times) / self.limit_s).ln()
    }
}

fn p95(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() * 95 / 100).copied().unwrap_or(f64::MIN_POSITIVE)
}

/// A bench on a queue.
#[derive(Debug, Clone)]
pub struct QueueBench {
    /// The queue.
    pub queue: Queue,
    /// Seconds that all trials took so far.
    pub spent_s: f64,
}

impl Bench for QueueBench {
    fn trial(&mut self, order: &Order, trials: &[Trial]) -> Result<Trial> {
        let all = self.queue.responses(order.load as usize, order.window_s, &mut Random::new(order.seed));
        let length_s = order.window_s / BATCHES as f64;
        let of_batch = |batch: usize| {
            let within = |(at, _): &&(f64, f64)| (*at / length_s) as usize == batch;
            let mut times: Vec<f64> = all.iter().filter(within).map(|response| response.1).collect();
            (p95(&mut times) / self.queue.limit_s).ln()
        };
        let target =
            QosTarget { operation: None, measure: Measure::Percentile(95.0), limit: self.queue.limit_s };
        let mut seen = outcome(target, &(0..BATCHES).map(of_batch).collect::<Vec<_>>());
        let mut times: Vec<f64> = all.iter().map(|response| response.1).collect();
        let mean_s = times.iter().sum::<f64>() / times.len().max(1) as f64;
        let observed = p95(&mut times);
        let margin = (observed / self.queue.limit_s).ln();
        (seen.observed, seen.margin.log, seen.pass) = (Some(observed), Some(margin), margin < 0.0);
        (seen.samples, seen.samples_needed) = (times.len() as u64, 100);
        seen.average_s = Some(mean_s);
        let value = times.len() as f64 / order.window_s;
        let throughput =
            Figure { name: "throughput".into(), operation: None, value, log_se: None, degrees: None };
        let measured = Measured { targets: vec![seen], figures: vec![throughput], ..Measured::default() };
        let began_s = self.spent_s;
        self.spent_s += OVERHEAD_S + order.window_s;
        Ok(trial(order, trials.len() + 1, began_s, measured))
    }
}
