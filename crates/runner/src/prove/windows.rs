//! The windows of a proof: what is done in each, what it gave, and which of them count.

use analysis::{HostShares, Little, Steady};
use engine::Second;
use model::OperationKind;
use model::random::Random;
use model::record::ValidityCheck;
use model::record::diagnosis::LeftOut;
use wording::Asking;

/// Seconds of a window that count.
pub(super) const WINDOW_S: u32 = 8;
/// Seconds before them, in which what was taken makes itself felt.
pub(super) const SETTLE_S: u32 = 2;
/// Blocks of a window of each kind; seven are needed for an interval.
pub(super) const BLOCKS: u32 = 8;
/// The most kinds of windows.
pub(super) const MAX_KINDS: u32 = 4;
/// What is done in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Window {
    Baseline,
    Suspect,
    Innocent,
    /// The suspect gets more.
    More,
}

/// Blocks of all of `kinds`, each in an order drawn anew.
pub(super) fn order(seed: u64, kinds: &[Window]) -> Vec<Window> {
    let mut random = Random::new(seed);
    let mut windows = Vec::new();
    for _ in 0..BLOCKS {
        let mut block = kinds.to_vec();
        while !block.is_empty() {
            windows.push(block.swap_remove(random.below(block.len())));
        }
    }
    windows
}

/// What a whole window has given.
#[derive(Debug, Clone)]
pub(super) struct Driven {
    /// Its place among all windows, also those that are not whole.
    pub(super) index: usize,
    pub(super) window: Window,
    /// Operations completed.
    pub(super) completed: u64,
    /// The check of the generator that broke first.
    pub(super) broken: Option<ValidityCheck>,
}

/// One window is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    /// The one that is over; a baseline before the first.
    pub(super) before: Window,
    /// The next; absent after the last.
    pub(super) next: Option<Window>,
}

/// Counts what each window gives.
pub(super) struct Tally<'a> {
    /// At this end of a second the first window begins: 1 or later, since the end of no second is at 0.
    begins_s: u32,
    windows: &'a [Window],
    /// How many CPUs the generator has, and whether they are also the stack's.
    generator: (usize, bool),
    open: Option<Open>,
    whole: Vec<Driven>,
}

/// The window under way.
struct Open {
    index: usize,
    window: Window,
    steady: Steady,
    completed: u64,
}

impl<'a> Tally<'a> {
    pub(super) fn new(begins_s: u32, windows: &'a [Window], generator: (usize, bool)) -> Tally<'a> {
        Tally { begins_s, windows, generator, open: None, whole: Vec::new() }
    }

    /// A second is over; says so when a window is over with it.
    pub(super) fn second(&mut self, second: &Second<'_>) -> Option<Turn> {
        self.count(second);
        let ended_s = second.interval.second + 1;
        let done_s = ended_s.checked_sub(self.begins_s)?;
        let length_s = SETTLE_S + WINDOW_S;
        if !done_s.is_multiple_of(length_s) {
            return None;
        }
        let before = self.under_way().unwrap_or(Window::Baseline);
        self.close();
        let index = (done_s / length_s) as usize;
        let next = self.windows.get(index).copied();
        self.open = next.map(|window| {
            let from = f64::from(ended_s + SETTLE_S);
            let steady = Steady::new(from, from + f64::from(WINDOW_S));
            Open { index, window, steady, completed: 0 }
        });
        Some(Turn { before, next })
    }

    /// A second counts for the window under way when it has settled.
    fn count(&mut self, second: &Second<'_>) {
        let Some(open) = &mut self.open else { return };
        let before_s = open.steady.length_s();
        open.steady.push(second.interval);
        if open.steady.length_s() > before_s {
            let rows = second.names.iter().zip(&second.interval.operations);
            let operations = rows.filter(|(name, _)| name.kind == OperationKind::Operation);
            open.completed += operations.map(|(_, row)| row.completed).sum::<u64>();
        }
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        if open.steady.length_s() < f64::from(WINDOW_S) {
            return;
        }
        let (cpus, shares_cpus) = self.generator;
        let little = Little::of(&open.steady);
        let generator = analysis::generator(&open.steady, &little, cpus, 0, HostShares::default());
        let checks = analysis::generator_checks(&generator, shares_cpus);
        let broken = checks.iter().find(|check| !check.ok).map(|check| wording::check(check, Asking::Run));
        let Open { index, window, completed, .. } = open;
        self.whole.push(Driven { index, window, completed, broken });
    }

    /// What is done at the moment; nothing before the first window.
    pub(super) fn under_way(&self) -> Option<Window> {
        self.open.as_ref().map(|open| open.window)
    }

    /// The number of the window under way, of how many, and how far all is done.
    pub(super) fn progress(&self, ended_s: u32) -> (usize, usize, f64) {
        let all_s = self.begins_s + self.windows.len() as u32 * (SETTLE_S + WINDOW_S);
        let number = self.open.as_ref().map_or(0, |open| open.index + 1);
        (number, self.windows.len(), f64::from(ended_s) / f64::from(all_s))
    }

    /// The windows that are whole.
    pub(super) fn whole(self) -> Vec<Driven> {
        self.whole
    }
}

/// The operations completed (with nothing taken, in the wanted window) of each block whose windows of `kinds` are all whole and in
/// none of which the generator was too slow.
pub(super) fn pairs(driven: &[Driven], kinds: usize, wanted: Window) -> Vec<(u64, u64)> {
    let of = |block: &[Driven], wanted: Window| {
        block.iter().find(|one| one.window == wanted).map(|one| one.completed)
    };
    driven
        .chunk_by(|one, next| one.index / kinds == next.index / kinds)
        .filter(|block| block.len() == kinds && block.iter().all(|one| one.broken.is_none()))
        .filter_map(|block| Some((of(block, Window::Baseline)?, of(block, wanted)?)))
        .collect()
}

/// The windows in which the generator was too slow.
pub(super) fn left_out(driven: &[Driven]) -> Option<LeftOut> {
    let broken: Vec<&ValidityCheck> = driven.iter().filter_map(|one| one.broken.as_ref()).collect();
    let first = broken.first()?;
    let (check, sentence) = (first.check.clone(), first.sentence.clone());
    Some(LeftOut { windows: broken.len() as u32, check, sentence })
}

#[cfg(test)]
mod tests {
    use model::record::interval::OperationName;
    use model::{Interval, OperationInterval};

    use super::*;
    use model::Check;

    const KINDS: [Window; 3] = [Window::Baseline, Window::Suspect, Window::Innocent];

    /// What is seen when `of` makes each second of a proof that begins after 3 s of ramp-up.
    fn driven(windows: &[Window], of: impl Fn(Option<Window>, &mut Interval)) -> Vec<Driven> {
        let names = [OperationName { kind: OperationKind::Operation, name: "Browse".into() }];
        let mut tally = Tally::new(3, windows, (1, false));
        let mut turns = 0;
        for number in 0..3 + windows.len() as u32 * (SETTLE_S + WINDOW_S) {
            let mut interval = Interval::empty(number);
            interval.operations.push(OperationInterval::empty());
            of(tally.under_way(), &mut interval);
            let turn = tally.second(&Second { interval: &interval, names: &names, evidence: &[] });
            turns += usize::from(turn.is_some());
            assert_eq!(turn.is_some_and(|turn| turn.next.is_none()), turns == windows.len() + 1);
        }
        assert_eq!(turns, windows.len() + 1, "each begins once, and the last ends");
        tally.whole()
    }

    #[test]
    fn a_window_in_which_the_stack_stopped_is_in_the_pairs_with_nothing() {
        let windows = order(7, &KINDS);
        let seen = driven(&windows, |window, interval| {
            interval.operations[0].completed = if window == Some(Window::Suspect) { 0 } else { 50 };
        });
        let each = 50 * u64::from(WINDOW_S);
        assert_eq!(pairs(&seen, KINDS.len(), Window::Suspect), vec![(each, 0); BLOCKS as usize]);
        assert_eq!(pairs(&seen, KINDS.len(), Window::Innocent), vec![(each, each); BLOCKS as usize]);
        assert_eq!(left_out(&seen), None);
    }

    #[test]
    fn a_block_in_which_the_generator_was_too_slow_says_nothing_and_is_told() {
        let windows = order(7, &KINDS);
        let slow_from = 3 + 3 * (SETTLE_S + WINDOW_S);
        let slow = slow_from..slow_from + SETTLE_S + WINDOW_S;
        let seen = driven(&windows, |_, interval| {
            interval.operations[0].completed = 50;
            interval.generator_cpu_s = if slow.contains(&interval.second) { 0.97 } else { 0.2 };
        });
        assert_eq!(seen.len(), windows.len(), "the windows are whole");
        assert_eq!(pairs(&seen, KINDS.len(), Window::Suspect).len() as u32, BLOCKS - 1);
        let left_out = left_out(&seen).expect("one window");
        assert_eq!((left_out.windows, left_out.check.clone()), (1, Check::GeneratorCpu));
        assert!(left_out.sentence.contains("the generator used 97 % of its CPUs"), "{}", left_out.sentence);
    }

    #[test]
    fn every_block_has_each_kind_of_window_once_and_not_always_in_the_same_order() {
        let windows = order(7, &KINDS);
        assert_eq!(windows.len() as u32, BLOCKS * 3);
        let blocks: Vec<&[Window]> = windows.chunks(3).collect();
        for kind in KINDS {
            assert!(blocks.iter().all(|block| block.contains(&kind)));
        }
        assert!(blocks.iter().any(|block| block != &blocks[0]));
        assert_eq!(windows, order(7, &KINDS), "the same seed gives the same order");
        let four = [&KINDS[..], &[Window::More]].concat();
        assert_eq!(order(7, &four).len() as u32, BLOCKS * 4);
    }

    #[test]
    fn a_window_that_is_not_whole_takes_its_block_with_it_and_no_other() {
        let all: Vec<Driven> = order(7, &KINDS)
            .into_iter()
            .enumerate()
            .map(|(index, window)| Driven { index, window, completed: index as u64 / 3, broken: None })
            .collect();
        let of_blocks = |numbers: &[u64]| -> Vec<(u64, u64)> {
            numbers.iter().map(|number| (*number, *number)).collect()
        };
        assert_eq!(pairs(&all, KINDS.len(), Window::Suspect), of_blocks(&[0, 1, 2, 3, 4, 5, 6, 7]));
        for lost in [3, 4, 5] {
            let rest: Vec<Driven> = all.iter().filter(|one| one.index != lost).cloned().collect();
            assert_eq!(
                pairs(&rest, KINDS.len(), Window::Suspect),
                of_blocks(&[0, 2, 3, 4, 5, 6, 7]),
                "without {lost}"
            );
        }
        assert_eq!(pairs(&all[..5], KINDS.len(), Window::Innocent), of_blocks(&[0]));
        assert_eq!(pairs(&[], KINDS.len(), Window::Suspect), of_blocks(&[]));
    }
}
