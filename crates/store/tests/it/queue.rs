//! Whatever is done with a queue, in whatever order: jobs are done once, in their order, one at a time, and none is lost.

use std::path::Path;

use proptest::prelude::*;
use store::{JobState, Queue};

const NOW: &str = "2026-11-27T12:00:00Z";

/// Something that is done with a queue. Numbers are of jobs that were added, whatever became of them.
#[derive(Debug, Clone, Copy)]
enum Act {
    Add,
    Move(usize, usize),
    Remove(usize),
    Pause(bool),
    /// What a worker does: the next job begins.
    Begin,
    /// The job that runs ends, or its process is gone.
    End(Option<u8>),
    /// The process that uses the queue dies, another one opens it.
    Reopen,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        3 => Just(Act::Add),
        2 => (0..12_usize, 0..12_usize).prop_map(|(job, place)| Act::Move(job, place)),
        1 => (0..12_usize).prop_map(Act::Remove),
        1 => any::<bool>().prop_map(Act::Pause),
        2 => Just(Act::Begin),
        2 => proptest::option::of(0..4_u8).prop_map(Act::End),
        1 => Just(Act::Reopen),
    ];
    proptest::collection::vec(act, 1..60)
}

/// What a queue should be, as simply as it can be said.
#[derive(Debug, Default)]
struct Expected {
    added: Vec<i64>,
    waiting: Vec<i64>,
    running: Option<i64>,
    over: Vec<(i64, JobState)>,
    paused: bool,
}

impl Expected {
    fn id(&self, number: usize) -> i64 {
        self.added.get(number).copied().unwrap_or(9_999)
    }
}

fn act(queue: &mut Queue, expected: &mut Expected, act: Act) {
    match act {
        Act::Add => {
            let id = queue.add(&["run".to_string()], Path::new("/"), NOW).expect("there is room");
            assert!(!expected.added.contains(&id), "no number comes again");
            expected.added.push(id);
            expected.waiting.push(id);
        }
        Act::Move(number, place) => {
            let id = expected.id(number);
            let at = expected.waiting.iter().position(|one| *one == id);
            assert_eq!(queue.move_to(id, place).is_ok(), at.is_some(), "only what waits can be moved");
            if let Some(at) = at {
                expected.waiting.remove(at);
                expected.waiting.insert(place.saturating_sub(1).min(expected.waiting.len()), id);
            }
        }
        Act::Remove(number) => {
            let id = expected.id(number);
            let is_there =
                expected.waiting.contains(&id) || expected.over.iter().any(|(over, _)| *over == id);
            assert_eq!(queue.remove(id).is_ok(), is_there, "what runs can't be removed");
            expected.waiting.retain(|one| *one != id);
            expected.over.retain(|(one, _)| *one != id);
        }
        Act::Pause(paused) => {
            queue.set_paused(paused, NOW).expect("there is room");
            expected.paused = paused;
        }
        Act::Begin => {
            let next = queue.next().expect("it can be read").map(|job| job.id);
            let should =
                (!expected.paused && expected.running.is_none()).then(|| expected.waiting.first().copied());
            assert_eq!(next, should.flatten());
            if let Some(id) = next {
                assert!(queue.begin(id, NOW).expect("there is room"));
                assert!(!queue.begin(id, NOW).expect("there is room"), "once");
                expected.waiting.remove(0);
                expected.running = Some(id);
            }
        }
        Act::End(code) => {
            if let Some(id) = expected.running.take() {
                queue.end(id, code, NOW).expect("there is room");
                let state = if code.is_some() { JobState::Ended } else { JobState::Interrupted };
                expected.over.push((id, state));
            }
        }
        Act::Reopen => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn jobs_are_done_once_in_their_order_one_at_a_time_and_none_is_lost(all in acts()) {
        let home = tempfile::tempdir().expect("a directory");
        let mut queue = Queue::open(home.path()).expect("a queue");
        let mut expected = Expected::default();
        for one in all {
            if matches!(one, Act::Reopen) {
                queue = Queue::open(home.path()).expect("a queue");
            }
            act(&mut queue, &mut expected, one);
            let jobs = queue.jobs().expect("it can be read");
            let of = |state: JobState| jobs.iter().filter(|job| job.state == state).map(|job| job.id).collect::<Vec<_>>();
            prop_assert_eq!(of(JobState::Waiting), expected.waiting.clone());
            prop_assert_eq!(of(JobState::Running), expected.running.into_iter().collect::<Vec<_>>());
            for (id, state) in &expected.over {
                prop_assert_eq!(queue.job(*id).expect("it is kept").state, *state);
            }
            prop_assert_eq!(jobs.len(), expected.waiting.len() + usize::from(expected.running.is_some()) + expected.over.len());
            prop_assert_eq!(queue.is_paused().expect("it can be read"), expected.paused);
        }
    }
}
