//! A run that four generators share, each on the virtual clock, comes to what one of them records of the whole load.

use std::collections::BTreeMap;

use engine::{Audience, RunOptions, Second, Slice, run_on};
use fleet::{Merge, second, totals};
use model::record::interval::encoded::Encoder;
use model::record::interval::fields::{DISTRIBUTIONS, FIGURES};
use model::record::interval::{OperationInterval, OperationName};
use model::{Distribution, Interval, Result};

use crate::virtual_net::{MS, Reply, VirtualNet, ok};
use crate::virtual_time::{Bench, bench};

const SLICES: u32 = 4;

/// Keeps what an agent would send.
#[derive(Default)]
struct Agent {
    messages: Vec<Vec<u8>>,
    named: usize,
    encoder: Encoder,
}

impl Audience for Agent {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        self.messages.push(second::encode(second, self.named, &mut self.encoder).expect("it encodes"));
        self.named = second.names.len();
        Ok(())
    }
}

/// Answers at once or late by what is asked for, whoever asks and when.
fn answer(text: &str) -> Reply {
    let n: u64 = text.split("n=").nth(1).map_or(0, |rest| {
        rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0)
    });
    Reply::After(MS + n * MS / 7, ok("yes"))
}

/// The run's seconds as generators with these slices record and send them.
fn merged(slices: &[Slice]) -> (Vec<(Interval, Vec<OperationName>)>, engine::Totals) {
    let mut merge = Merge::of(slices.len());
    for (index, slice) in slices.iter().enumerate() {
        let options = RunOptions { slice: Some(*slice), ..options() };
        let (clock, net, _) = VirtualNet::new(|_, text| answer(text));
        let mut agent = Agent::default();
        let end = run_on(&options, clock, net, &mut agent).expect("the run works");
        for message in agent.messages {
            merge.take_second(index, message).expect("the next one");
        }
        merge.take_end(index, &totals::encode(&end).expect("it encodes")).expect("an end");
    }
    let mut seconds = Vec::new();
    while let Some(second) = merge.next_second() {
        seconds.push((second.interval.clone(), second.names.to_vec()));
    }
    assert!(merge.is_over());
    (seconds, merge.into_totals())
}

fn options() -> RunOptions {
    let script = "function visit(user)
        operation 'Look' get('/look', { n = random(1, 300) })
        if chance(0.3) then operation 'Save' get('/save', { n = random(1, 900) }) told('u' .. user.number, 'saved') end
        count('visits', 1)
    end";
    let think = Some(Distribution::Exponential { mean: 0.4, min: 0.0, max: 4.0 });
    Bench { users: 23, seconds: 8.0, ramp_up_s: 2.0, think, ..bench(script) }.options()
}

fn by_name(seconds: &(Interval, Vec<OperationName>)) -> BTreeMap<String, &OperationInterval> {
    let (interval, names) = seconds;
    let rows = names.iter().map(|name| format!("{:?} {}", name.kind, name.name)).zip(&interval.operations);
    rows.filter(|(_, row)| row.completed > 0).collect()
}

#[test]
fn four_slices_come_to_the_histograms_and_counts_of_one_generator() {
    let lane = |first| Slice { first, lanes: 1, all: SLICES };
    let (alone, totals_alone) = merged(&[Slice { first: 0, lanes: 1, all: 1 }]);
    let (together, totals) = merged(&[0, 1, 2, 3].map(lane));
    assert_eq!(alone.len(), together.len());
    let mut completed = 0;
    for (second, (one, four)) in alone.iter().zip(&together).enumerate() {
        let (rows, expected) = (by_name(four), by_name(one));
        assert_eq!(rows.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "second {second}");
        for (name, row) in &rows {
            let same = row.response == expected[name].response && row.service == expected[name].service;
            assert!(same && row.completed == expected[name].completed, "second {second}, {name}");
            completed += row.completed;
        }
        for (name, get, _) in DISTRIBUTIONS.iter().filter(|(name, ..)| *name != "lag") {
            assert!(get(&four.0) == get(&one.0), "second {second}, histogram {name}");
        }
        // Virtual time takes no CPU, but the threads that it passes on do.
        for (name, get, _) in
            FIGURES.iter().filter(|(name, ..)| !name.contains("cpu") && !name.contains("wait_s"))
        {
            let (sum, expected) = (get(&four.0), get(&one.0));
            assert!(
                (sum - expected).abs() <= 1e-12 * expected.abs().max(1.0),
                "second {second}, {name}: {sum} for {expected}"
            );
        }
        assert_eq!(four.0.counters, one.0.counters, "second {second}");
    }
    assert!(completed > 500, "{completed} rows are too few to tell anything");
    assert_eq!(totals.told, totals_alone.told);
    assert_eq!((totals.connects, &totals.counters), (totals_alone.connects, &totals_alone.counters));
    assert_eq!(totals.completed.iter().sum::<u64>(), totals_alone.completed.iter().sum::<u64>());
}
