//! Simulated walks: a right generator is not accused, a broken one is, of the session that it passes over.

use model::catalogue::mix::Order;

use super::*;
use crate::limits;
use model::random::Random;

const HOME: usize = 0;
const REQUEST: usize = 3;
const CONFIRM: usize = 4;

fn missing_session<'a>(mix: &'a Mix, counts: &[u64]) -> Option<Rare<'a>> {
    too_rare(mix, counts, limits::FALSE_ALARM / 2.0)
}

/// A shop, with administrators in 2 of 1,000 sessions.
fn shop() -> Mix {
    let rows = vec![
        vec![0.0, 0.3, 0.7, 0.0, 0.0],
        vec![0.2, 0.194, 0.6, 0.006, 0.0],
        vec![0.3, 0.7, 0.0, 0.0, 0.0],
        vec![0.1, 0.0, 0.0, 0.0, 0.9],
        vec![0.9, 0.0, 0.1, 0.0, 0.0],
    ];
    let names = ["Home", "Product", "Search", "Request", "Confirm"].map(String::from).to_vec();
    Mix { names, order: Order::Matrix { first: HOME, rows } }
}

/// The counts of a number of draws by users who live for 20 each. `done` says what a generator makes of what it drew.
fn walked(mix: &Mix, draws: usize, seed: u64, done: impl Fn(usize, &mut Random) -> usize) -> Vec<u64> {
    let Order::Matrix { first, rows } = &mix.order else { panic!("the shop has a matrix") };
    let (mut counts, mut random, mut at) = (vec![0; mix.cells()], Random::new(seed), *first);
    for draw in 0..draws {
        if draw % 20 == 0 {
            at = *first;
        }
        let next = done(pick(&rows[at], &mut random), &mut random);
        counts[at * rows.len() + next] += 1;
        at = next;
    }
    counts
}

fn pick(shares: &[f64], random: &mut Random) -> usize {
    let mut left = random.unit();
    let found = shares.iter().position(|share| {
        left -= share;
        left < 0.0
    });
    found.unwrap_or(HOME)
}

#[test]
fn a_draw_of_a_right_generator_multiplies_a_stake_by_one_on_average() {
    for share in [1e-6, 0.001, 0.3, 0.9, 1.0] {
        for kept in KEPT {
            let came = share * gain(1.0, 1.0, share, kept).exp();
            let average = came + (1.0 - share) * gain(0.0, 1.0, share, kept).exp();
            assert!((average - 1.0).abs() < 1e-12, "{share}, {kept}: {average}");
        }
    }
}

#[test]
fn what_always_or_never_comes_next_is_no_question_of_chance() {
    let names = || ["in", "out"].map(String::from).to_vec();
    let rows = vec![vec![0.0, 1.0], vec![1.0, 0.0]];
    let turns = Mix { names: names(), order: Order::Matrix { first: 0, rows } };
    assert_eq!(missing_session(&turns, &[0, 1_000_000, 1_000_000, 0, 5, 0]), None);
    let one = Mix { names: names(), order: Order::Weights(vec![1.0, 0.0]) };
    assert_eq!(missing_session(&one, &[1_000_000, 0]), None);
    let sequence = Mix { names: names(), order: Order::Sequence(vec![0, 1]) };
    assert_eq!(missing_session(&sequence, &[]), None);
}

#[test]
fn a_right_generator_is_not_accused_however_few_its_draws() {
    let mix = shop();
    for run in 0..600 {
        let draws = 10_usize << (run % 11);
        let counts = walked(&mix, draws, run, |drawn, _| drawn);
        assert_eq!(missing_session(&mix, &counts), None, "run {run}, {draws} draws");
    }
}

#[test]
fn chance_exceeds_a_limit_no_more_often_than_is_said() {
    let mix = shop();
    let limit = limit(&mix, 0.05);
    let exceeds = |run: &u64| {
        let counts = walked(&mix, 50_usize << (run % 6), 1_000 + run, |drawn, _| drawn);
        rarest(&mix, &counts).expect("there are sessions").evidence > limit
    };
    let exceeded = (0..2_000).filter(exceeds).count();
    assert!(exceeded <= 100, "{exceeded} of 2,000 runs");
}

#[test]
fn a_session_that_never_comes_is_found_in_a_run_of_the_usual_length() {
    let mix = shop();
    for (missing, name) in [(REQUEST, "Request"), (CONFIRM, "Confirm")] {
        for seed in 0..10 {
            let passes_over = |drawn: usize, _: &mut Random| if drawn == missing { HOME } else { drawn };
            let counts = walked(&mix, 8_000, seed, passes_over);
            let rare =
                missing_session(&mix, &counts).unwrap_or_else(|| panic!("{name} is missing, seed {seed}"));
            assert_eq!((rare.name, rare.drawn), (name, 0.0), "seed {seed}");
            assert!((5.0..50.0).contains(&rare.asked), "{rare:?}");
        }
    }
}

#[test]
fn a_session_that_comes_half_as_often_is_found_in_a_long_run() {
    let mix = shop();
    let halved = |drawn: usize, random: &mut Random| match drawn == REQUEST && random.unit() < 0.5 {
        true => HOME,
        false => drawn,
    };
    let counts = walked(&mix, 200_000, 1, halved);
    let rare = missing_session(&mix, &counts).expect("half of the requests are missing");
    assert!(rare.name == "Request" && rare.drawn < 0.65 * rare.asked, "{rare:?}");
}

#[test]
fn a_rare_weight_is_missed_as_soon_as_chance_can_t_be_why() {
    let names = ["often", "seldom", "hardly"].map(String::from).to_vec();
    let mix = Mix { names, order: Order::Weights(vec![0.7, 0.299, 0.001]) };
    assert_eq!(missing_session(&mix, &[7_007, 2_993, 0]), None, "10 were asked for");
    let rare = missing_session(&mix, &[10_511, 4_489, 0]).expect("15 were asked for");
    assert_eq!((rare.name, rare.drawn), ("hardly", 0.0));
    assert_eq!(
        missing_session(&mix, &[10_507, 4_487, 6]),
        None,
        "6 for 15 come by chance once in a hundred runs"
    );
    assert_eq!(missing_session(&mix, &[]), None, "nothing was drawn");
}
