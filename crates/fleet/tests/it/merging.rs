//! Seconds that several agents recorded come to those that one would have recorded, bit for bit.

use std::collections::BTreeMap;

use engine::{Second, Totals};
use fleet::second::encode;
use fleet::{Merge, Misfit, totals};
use model::Interval;
use model::record::interval::encoded::Encoder;
use model::record::interval::{OperationInterval, OperationKind, OperationName, SessionEnd, record_ns};
use proptest::prelude::*;

fn name(row: usize) -> OperationName {
    OperationName { kind: OperationKind::Operation, name: format!("op{row}") }
}

/// An operation that some agent recorded: in which second, of which of five names, its time.
type Recorded = (u32, usize, u64);

/// An agent that numbers its rows as they come up.
#[derive(Default)]
struct Agent {
    names: Vec<OperationName>,
    told: usize,
    encoder: Encoder,
}

impl Agent {
    fn second(&mut self, second: u32, recorded: &[Recorded]) -> Interval {
        let mut interval = Interval::empty(second);
        interval.operations = self.names.iter().map(|_| OperationInterval::empty()).collect();
        for (_, name_of, nanos) in recorded.iter().filter(|(of, ..)| *of == second) {
            let name = name(*name_of);
            let row = self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
                self.names.push(name);
                interval.operations.push(OperationInterval::empty());
                self.names.len() - 1
            });
            let operation = &mut interval.operations[row];
            operation.completed += 1;
            record_ns(&mut operation.response, *nanos);
            record_ns(&mut interval.lag, nanos / 1_000);
            interval.connects += 1;
            interval.busy_user_s += *nanos as f64 / 1e9;
            *interval.counters.entry(format!("of {name_of}")).or_default() += nanos % 7;
            let ended_ns = u64::from(second) * 1_000_000_000 + nanos % 1_000_000_000;
            interval.last_sessions.push(SessionEnd { operation: row, ended_ns, took_ns: *nanos });
        }
        interval.last_sessions.sort_by_key(|session| session.ended_ns);
        interval
    }

    fn message(&mut self, second: u32, recorded: &[Recorded]) -> Vec<u8> {
        let interval = self.second(second, recorded);
        let told = Second { interval: &interval, names: &self.names, evidence: &[] };
        let bytes = encode(&told, self.told, &mut self.encoder).expect("it encodes");
        self.told = self.names.len();
        bytes
    }
}

fn end_of(agent: &Agent) -> Vec<u8> {
    let unanswered = vec![1; agent.names.len()];
    let ended = Totals { names: agent.names.clone(), unanswered, elapsed_s: 5.0, ..Totals::default() };
    totals::encode(&ended).expect("it encodes")
}

/// The rows in which something happened, by name: how they are numbered is each recorder's own affair.
fn by_name<'a>(
    interval: &'a Interval,
    names: &'a [OperationName],
) -> BTreeMap<&'a str, &'a OperationInterval> {
    let rows = names.iter().zip(&interval.operations);
    rows.filter(|(_, row)| row.completed > 0).map(|(name, row)| (name.name.as_str(), row)).collect()
}

/// The first row that differs.
fn difference(
    found: &BTreeMap<&str, &OperationInterval>,
    expected: &BTreeMap<&str, &OperationInterval>,
) -> Option<String> {
    let names: Vec<&&str> = found.keys().collect();
    if names != expected.keys().collect::<Vec<_>>() {
        return Some(format!("rows {names:?}"));
    }
    let differs = |name: &&&str| {
        let (found, expected) = (found[**name], expected[**name]);
        found.completed != expected.completed || found.response != expected.response
    };
    names.iter().copied().find(|name| differs(name)).map(|name| (*name).to_string())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_merged_seconds_are_those_of_one_recorder(
        parts in prop::collection::vec(
            prop::collection::vec((0u32..4, 0usize..5, 1_000u64..60_000_000_000), 0..60), 1..6),
        order in any::<u64>(),
    ) {
        let all: Vec<Recorded> = parts.concat();
        let mut one = Agent::default();
        let mut agents: Vec<Agent> = parts.iter().map(|_| Agent::default()).collect();
        let mut merge = Merge::of(parts.len());
        let mut waiting: Vec<(usize, u32)> = (0..4).flat_map(|k| (0..parts.len()).map(move |a| (a, k))).collect();
        // Each agent's in order, the agents in any.
        waiting.sort_by_key(|(agent, second)| (second + ((order >> (agent * 2)) & 3) as u32, *second));
        let mut seconds = 0;
        let mut completed = 0;
        for (agent, second) in waiting {
            let bytes = agents[agent].message(second, &parts[agent]);
            merge.take_second(agent, bytes.clone()).expect("the next one");
            merge.take_second(agent, bytes).expect("once more is once");
            while let Some(merged) = merge.next_second() {
                let alone = one.second(seconds, &all);
                prop_assert_eq!(merged.interval.second, seconds);
                let difference = difference(&by_name(merged.interval, merged.names), &by_name(&alone, &one.names));
                prop_assert_eq!(difference, None);
                prop_assert!(merged.interval.lag == alone.lag, "the histogram of lags");
                prop_assert_eq!(merged.interval.connects, alone.connects);
                prop_assert_eq!(&merged.interval.counters, &alone.counters);
                let (sum, expected) = (merged.interval.busy_user_s, alone.busy_user_s);
                prop_assert!((sum - expected).abs() <= 1e-12 * expected.max(1.0), "{sum} and {expected}");
                let ends = |interval: &Interval| -> Vec<u64> {
                    interval.last_sessions.iter().map(|session| session.ended_ns).collect()
                };
                prop_assert_eq!(ends(merged.interval), ends(&alone));
                seconds += 1;
                completed += alone.connects;
            }
        }
        prop_assert_eq!(seconds, 4, "every second has passed the watermark");
        for (index, agent) in agents.iter().enumerate() {
            merge.take_end(index, &end_of(agent)).expect("an end");
        }
        prop_assert!(merge.is_over());
        let totals = merge.into_totals();
        prop_assert_eq!(totals.completed.iter().sum::<u64>(), completed);
        prop_assert_eq!(totals.connects, completed);
        let named: usize = agents.iter().map(|agent| agent.names.len()).sum();
        prop_assert_eq!(totals.unanswered.iter().sum::<u64>(), named as u64);
    }
}

#[test]
fn a_second_waits_for_the_slowest_agent_and_says_which_it_is() {
    let (mut quick, mut slow) = (Agent::default(), Agent::default());
    let mut merge = Merge::of(2);
    for second in 0..3 {
        merge.take_second(0, quick.message(second, &[(second, 0, 1_000_000)])).expect("the next one");
    }
    assert!(merge.next_second().is_none());
    assert_eq!(merge.laggards().collect::<Vec<_>>(), [1]);
    merge.take_second(1, slow.message(0, &[(0, 1, 1_000_000)])).expect("the next one");
    assert_eq!(merge.next_second().expect("both told it").interval.connects, 2);
    assert!(merge.next_second().is_none());
    // One that has ended is waited for no longer.
    merge.take_end(1, &end_of(&slow)).expect("an end");
    assert_eq!(merge.next_second().expect("the second one").interval.connects, 1);
    assert_eq!(merge.next_second().expect("the third one").interval.second, 2);
    assert!(!merge.is_over(), "the first agent has not ended");
}

#[test]
fn what_does_not_follow_is_refused_and_changes_nothing() {
    let mut agent = Agent::default();
    let [first, second, third] = [0, 1, 2].map(|second| agent.message(second, &[(second, 0, 1_000_000)]));
    let mut merge = Merge::of(1);
    merge.take_second(0, first).expect("the first one");
    let gap = merge.take_second(0, third.clone()).expect_err("one is missing");
    assert_eq!(gap, Misfit::Gap { expected: 1, found: 2 });
    assert_eq!(gap.to_string(), "second 2 came where 1 is missing");
    assert!(matches!(merge.take_second(0, b"PLF1".to_vec()), Err(Misfit::Damaged(_))));
    merge.take_second(0, second).expect("the missing one");
    merge.take_end(0, &end_of(&agent)).expect("an end");
    assert_eq!(merge.take_second(0, third), Err(Misfit::AfterEnd));
    let mut seconds = 0;
    while merge.next_second().is_some() {
        seconds += 1;
    }
    assert_eq!(seconds, 2);
    assert!(matches!(merge.take_end(0, b"{"), Err(Misfit::Damaged(_))));
}
