//! Warm-ups whose end is known. What is found is printed: it stands in `docs/method/intervals.md`.

use analysis::warm_up::{mser, steady_from};
use model::random::Random;
use proptest::prelude::*;

/// What a warm-up adds to a series, in standard deviations of the noise.
#[derive(Debug, Clone, Copy)]
enum Shape {
    /// Falls by the same share every second; its end is where one standard deviation is left.
    Decay,
    /// The same until its end.
    Level,
    /// Falls evenly to nothing at its end.
    Ramp,
    /// Rises evenly, and never stops.
    Drift,
}

/// A series of seconds.
#[derive(Debug, Clone, Copy)]
struct Series {
    shape: Shape,
    /// Standard deviations of the noise at the beginning; of a drift, over the whole length.
    height: f64,
    end: usize,
    length: usize,
}

/// Correlation of the noise of neighbouring seconds.
const MEMORY: f64 = 0.2;

impl Series {
    fn transient(&self, second: usize) -> f64 {
        let (at, end) = (second as f64, self.end as f64);
        match self.shape {
            Shape::Decay => self.height * (-at / end * self.height.ln()).exp(),
            Shape::Level if second < self.end => self.height,
            Shape::Ramp if second < self.end => self.height * (1.0 - at / end),
            Shape::Drift => self.height * at / self.length as f64,
            _ => 0.0,
        }
    }

    fn draw(&self, random: &mut Random) -> Vec<f64> {
        let mut noise = random.normal();
        (0..self.length)
            .map(|second| {
                noise = MEMORY * noise + (1.0 - MEMORY * MEMORY).sqrt() * random.normal();
                self.transient(second) + noise
            })
            .collect()
    }

    /// Shares of 400 draws in which the end was found within a tenth of the length, and in which there was none; and the
    /// mean of what was found.
    fn shares(&self) -> (f64, f64, f64) {
        let mut random = Random::new(5);
        let cuts: Vec<Option<usize>> = (0..400).map(|_| mser(&self.draw(&mut random))).collect();
        let near = |cut: &&Option<usize>| cut.is_some_and(|cut| cut.abs_diff(self.end) * 10 <= self.length);
        let share = |count: usize| count as f64 / cuts.len() as f64;
        let some: Vec<f64> = cuts.iter().flatten().map(|cut| *cut as f64).collect();
        let none = cuts.iter().filter(|cut| cut.is_none()).count();
        (share(cuts.iter().filter(near).count()), share(none), some.iter().sum::<f64>() / some.len() as f64)
    }
}

#[test]
fn the_end_of_a_warm_up_is_found_within_a_tenth_of_the_run() {
    for (length, least) in [(20usize, 0.7), (30, 0.8), (60, 0.75), (120, 0.75), (300, 0.85)] {
        let end = length / 4;
        let kinds = [(Shape::Decay, 30.0), (Shape::Decay, 10.0), (Shape::Level, 5.0), (Shape::Ramp, 10.0)];
        let warm = kinds.map(|(shape, height)| Series { shape, height, end, length });
        let steady = Series { shape: Shape::Level, height: 0.0, end: 0, length };
        for series in warm.into_iter().chain([steady]) {
            let (near, none, mean) = series.shares();
            println!(
                "{length} s, {:?} from {} sd to second {}: {:.0} % within a tenth, {:.0} % none, mean {mean:.1}",
                series.shape,
                series.height,
                series.end,
                100.0 * near,
                100.0 * none
            );
            assert!(near >= least - 0.3, "{series:?}: {near} within a tenth");
            assert!(none <= 0.15, "{series:?}: {none} without an end");
        }
    }
}

#[test]
fn a_series_that_keeps_drifting_has_no_steady_state() {
    for length in [20, 30, 60, 120] {
        let series = Series { shape: Shape::Drift, height: 15.0, end: 0, length };
        let mut random = Random::new(5);
        let drawn = (0..400).map(|_| series.draw(&mut random));
        let none = drawn.filter(|values| {
            let times: Vec<f64> = values.iter().map(|value| (0.03 * value).exp()).collect();
            steady_from(&vec![1000.0; length], &times).is_none()
        });
        let none = none.count() as f64 / 400.0;
        println!("{length} s of drift by 15 sd: {:.0} % none", 100.0 * none);
        assert!(none >= 0.95, "{series:?}: {none}");
    }
}

/// A stack that is asked each second whether it is steady.
#[derive(Debug, Clone, Copy)]
struct Warming {
    /// Standard deviation of a second's logarithm.
    noise: f64,
    /// By how much throughput is lower and times are longer at the beginning, as logarithms.
    height: f64,
    /// Seconds in which that falls by a factor of e.
    each_s: f64,
    /// Change of the response time's logarithm each second.
    drift: f64,
}

impl Warming {
    /// Asks after each second until a steady state of `window` seconds is found, for `window` seconds or 20 more than it
    /// takes at least: where it begins.
    fn steady_from(&self, window: usize, random: &mut Random) -> Option<usize> {
        let (mut completed, mut response) = (Vec::new(), Vec::new());
        for second in 0..window + window.max(20) {
            let cold = self.height * (-(second as f64) / self.each_s).exp();
            let drift = self.drift * second as f64;
            completed.push((1000f64.ln() - 0.5 * cold + 0.3 * self.noise * random.normal()).exp());
            response.push((0.02f64.ln() + cold + drift + self.noise * random.normal()).exp());
            let from = steady_from(&completed, &response).filter(|from| second + 1 - from >= window);
            if from.is_some() {
                return from;
            }
        }
        None
    }

    /// Share of 200 that were steady in time; the mean beginning; the mean of what is left there of the warm-up.
    fn shares(&self, window: usize) -> (f64, f64, f64) {
        let mut random = Random::new(9);
        let found: Vec<f64> =
            (0..200).filter_map(|_| self.steady_from(window, &mut random)).map(|from| from as f64).collect();
        let mean =
            |of: &dyn Fn(f64) -> f64| found.iter().map(|from| of(*from)).sum::<f64>() / found.len() as f64;
        let left = |from: f64| self.height * (-from / self.each_s).exp();
        (found.len() as f64 / 200.0, mean(&|from| from), mean(&left))
    }
}

#[test]
fn asked_every_second_a_steady_stack_is_hardly_cut_and_a_warming_one_is_waited_for() {
    let steady = Warming { noise: 0.05, height: 0.0, each_s: 1.0, drift: 0.0 };
    let warming = Warming { height: 1.5, each_s: 3.0, ..steady };
    for window in [8, 15, 25, 60, 90] {
        let (share, from, _) = steady.shares(window);
        println!("{window} s window, steady: {:.0} % in time, begins at {from:.1} s", 100.0 * share);
        assert!(share >= 0.98 && from <= 2.0 + window as f64 / 10.0, "{window} s: {share} {from}");
        let (share, from, left) = warming.shares(window);
        println!(
            "{window} s window, warming: {:.0} % in time, begins at {from:.1} s, {:.1} % left",
            100.0 * share,
            100.0 * left
        );
        assert!(share >= 0.95, "{window} s: {share}");
        assert!(left < 0.1, "{window} s: {left} left of 1.5, beginning at {from}");
    }
}

#[test]
fn asked_every_second_a_stack_that_keeps_slowing_down_is_never_called_steady() {
    let drifting = Warming { noise: 0.05, height: 0.0, each_s: 1.0, drift: 0.03 };
    for (window, most) in [(8, 0.6), (15, 0.05), (25, 0.05), (60, 0.05)] {
        let (share, _, _) = drifting.shares(window);
        println!("{window} s window, times 3 % longer each second: {:.0} % called steady", 100.0 * share);
        assert!(share <= most, "{window} s: {share}");
    }
}

#[test]
fn one_stalled_second_is_no_warm_up() {
    let mut random = Random::new(3);
    let late = (0..200).filter(|_| {
        let mut series = Series { shape: Shape::Level, height: 0.0, end: 0, length: 60 }.draw(&mut random);
        let at = 5 + random.below(50);
        series[at] += 40.0;
        mser(&series).is_none_or(|cut| cut > 6)
    });
    let late = late.count();
    println!("one stalled second: {late} of 200 cut by more than a tenth or not at all");
    assert!(late <= 40, "{late} of 200");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_numbers_whatever_have_a_cut_in_the_first_half_or_none(values in prop::collection::vec(any::<f64>(), 0..80)) {
        if let Some(cut) = mser(&values) {
            prop_assert!(2 * cut <= values.len());
        }
        let turned: Vec<f64> = values.iter().rev().copied().collect();
        if let Some(from) = steady_from(&values, &turned) {
            prop_assert!(2 * from <= values.len());
        }
    }

    #[test]
    fn units_move_no_cut(values in prop::collection::vec(-10.0f64..10.0, 6..80), scale in 0.01f64..100.0) {
        // Powers of two, so that rounding is the same.
        let scale = 2f64.powf(scale.log2().round());
        let scaled: Vec<f64> = values.iter().map(|value| value * scale).collect();
        prop_assert_eq!(mser(&values), mser(&scaled));
    }
}
