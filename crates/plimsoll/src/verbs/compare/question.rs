//! What a comparison asks, from its flags, and how it goes.

use analysis::paired::min_planned;
use clap::Args;
use experiment::compare::LOAD_LINE;
use model::record::study::{Arm, By, Compare, FindGoal};
use model::{Plan, Problem, Problems, Result, units};

use super::side;
use crate::context::Context;
use crate::verbs::finish::BESIDE_S;
use runner::awake::Awake;
use runner::progress::Progress;
use runner::{cpus, trial};

/// Unless said otherwise a comparison has as many blocks as fit into this, within these numbers: fewer say too little,
/// and more are only worth it to who asks for them.
const USUAL_S: f64 = 15.0 * 60.0;
const MIN_USUAL_BLOCKS: u32 = 10;
const MAX_USUAL_BLOCKS: u32 = 30;
/// Seconds that a trial takes beside warm-up and window, roughly: start, finding the steady state, stop.
const SETTLING_S: f64 = 7.0;

/// How it is compared.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct QuestionArgs {
    /// Emulated users [default: the kit's]
    #[arg(long, short)]
    users: Option<u32>,
    /// Arrivals per second instead of a number of users: 200/s
    #[arg(long, value_name = "RATE", conflicts_with = "users")]
    rate: Option<String>,
    /// Steady time of each trial [default: 20s, or as long as its users take to warm up if that is longer]
    #[arg(long, value_name = "TIME")]
    window: Option<String>,
    /// Blocks of one trial of each that it may take at most [default: what fits into 15 minutes, 10 to 30]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    most_blocks: Option<u32>,
    /// Differences smaller than this don't matter [default: 1%]
    #[arg(long, value_name = "SHARE")]
    band: Option<String>,
    /// Probability with which each interval holds at every look, one after each block [default: 95%]
    #[arg(long, value_name = "SHARE")]
    confidence: Option<String>,
    /// Let idle CPUs sleep between requests, as they do in use. Usually they are kept awake: times are then shorter by what
    /// waking up takes, and differ less from trial to trial
    #[arg(long)]
    let_cpus_sleep: bool,
    /// The figure that decides [default: mean]
    #[arg(long, value_parser = ["mean", "p50", "p95", "p99", "throughput", "cpu", "load-line"])]
    by: Option<String>,
    /// B may be worse by this much: exit 99 when it certainly is by more
    #[arg(long, value_name = "SHARE")]
    gate: Option<String>,
}

impl QuestionArgs {
    /// Keeps the machine's idle CPUs awake unless they are to be let sleep, or nobody can keep them; `compare` says what
    /// came of it.
    pub(super) fn keep_awake(&self, compare: &mut Compare, context: &mut Context) -> Option<Awake> {
        if self.let_cpus_sleep {
            return None;
        }
        let awake = Awake::keep().unwrap_or_else(|problems| {
            context.console.note(&format!("note: {problems}"));
            None
        });
        compare.cpus_awake = awake.is_some();
        awake
    }

    /// The flags that were given.
    pub(super) fn given(&self) -> Vec<&'static str> {
        let given = [
            ("--users", self.users.is_some()),
            ("--rate", self.rate.is_some()),
            ("--window", self.window.is_some()),
            ("--most-blocks", self.most_blocks.is_some()),
            ("--band", self.band.is_some()),
            ("--confidence", self.confidence.is_some()),
            ("--let-cpus-sleep", self.let_cpus_sleep),
            ("--by", self.by.is_some()),
            ("--gate", self.gate.is_some()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag).collect()
    }

    /// What is asked, without the load; every mistake at once.
    fn terms(&self, seed: u64) -> Result<Compare> {
        let usual = Compare::default();
        let mut problems = Vec::new();
        let mut ratio = |flag: &str, text: &Option<String>, default: f64, low: f64, high: f64| {
            let Some(text) = text else { return default };
            let (number, scale) =
                text.strip_suffix('%').map_or((text.as_str(), 1.0), |number| (number, 0.01));
            match number.trim().parse::<f64>().map(|value| value * scale) {
                Ok(value) if (low..=high).contains(&value) => value,
                _ => {
                    let (low, high) = (low * 100.0, high * 100.0);
                    let what = format!("`{text}` is no share between {low}% and {high}%, such as 3%");
                    problems.push(Problem::recipe(what).key(flag));
                    default
                }
            }
        };
        let band_ratio = ratio("--band", &self.band, usual.band_ratio, 0.0001, 1.0);
        let confidence_ratio = ratio("--confidence", &self.confidence, usual.confidence_ratio, 0.5, 0.999);
        let gate = ratio("--gate", &self.gate, 0.0, 0.0001, 10.0);
        let window_s = match self.window.as_deref().map(units::duration) {
            None => usual.window_s,
            Some(Ok(window)) if window.as_secs_f64() >= 2.0 => window.as_secs_f64(),
            Some(Ok(_)) => {
                problems.push(Problem::recipe("it must be 2 s or more: less says nothing").key("--window"));
                usual.window_s
            }
            Some(Err(what)) => {
                problems.push(Problem::recipe(what).key("--window"));
                usual.window_s
            }
        };
        let by = self.by.as_deref().unwrap_or(&usual.by).replace('-', "_");
        problems.extend(self.senseless(&by));
        problems.extend(self.too_few(confidence_ratio));
        Problems::check(problems)?;
        let goal = (by == LOAD_LINE).then(|| FindGoal { seed, ..FindGoal::default().quick() });
        Ok(Compare {
            by,
            band_ratio,
            gate_ratio: self.gate.is_some().then_some(gate),
            confidence_ratio,
            most_blocks: self.most_blocks.unwrap_or(usual.most_blocks),
            window_s,
            seed,
            goal,
            ..usual
        })
    }

    /// Flags that say nothing where load lines are compared.
    fn senseless(&self, by: &str) -> Vec<Problem> {
        let given = [("--users", self.users.is_some()), ("--window", self.window.is_some())];
        let problem = |(flag, _): (&str, bool)| {
            Problem::recipe("it says nothing where load lines are compared")
                .key(flag)
                .why("each search tries loads and windows of its own")
                .remedy("leave it out")
        };
        given.into_iter().filter(|(_, given)| *given && by == LOAD_LINE).map(problem).collect()
    }

    /// Fewer blocks than any answer takes would be measured in vain.
    fn too_few(&self, confidence_ratio: f64) -> Option<Problem> {
        let least = min_planned(confidence_ratio);
        self.most_blocks.filter(|most| *most < least).map(|_| {
            let percent = (confidence_ratio * 1e5).round() / 1e3;
            Problem::recipe(format!("at {percent} % at least {least} blocks are needed"))
                .key("--most-blocks")
                .why("fewer can't give an answer, however clear they are")
                .remedy(format!("{least} or more, or a lower --confidence"))
        })
    }

    /// The question, and the arms with the load in their recipes.
    pub(super) fn question(
        &self,
        mut arms: Vec<Arm>,
        seed: u64,
        context: &Context,
    ) -> Result<(Vec<Arm>, Compare, (By, f64))> {
        let mut compare = self.terms(seed)?;
        for arm in &mut arms {
            arm.recipe.users = self.users.or(arm.recipe.users);
            if self.users.is_some() {
                arm.recipe.rate = None;
            }
            arm.recipe.rate = self.rate.clone().or(arm.recipe.rate.take());
            arm.recipe.stages.clear();
        }
        let catalogue = side::catalogue(&arms[0], &context.catalogue)?;
        let first = Plan::resolve(&arms[0].recipe, None, &catalogue, &cpus::allowed())?;
        let other = side::catalogue(&arms[1], &context.catalogue)?;
        let second = Plan::resolve(&arms[1].recipe, None, &other, &cpus::allowed())?;
        if !first.load.is_steady() {
            let problem = Problem::recipe("a comparison is made at one rate").key("--rate");
            return Err(problem.remedy("--rate 200/s").into());
        }
        let load = match &first.load.arrivals {
            Some(open) => (By::Rate, open.from_per_s),
            None => (By::Users, f64::from(first.load.users)),
        };
        compare.in_turn =
            compare.goal.is_none() && trial::can_take_turns(&first) && trial::can_take_turns(&second);
        let warm_up_s = trial::warm_up_s(load.0, load.1, &first.kit);
        compare.window_s =
            if self.window.is_some() { compare.window_s } else { compare.window_s.max(warm_up_s.ceil()) };
        compare.load = first.load.headline();
        if let Some(goal) = &mut compare.goal {
            goal.by = load.0;
            compare.load = "the load line of each".to_string();
        } else if self.most_blocks.is_none() {
            compare.most_blocks = usual_blocks(warm_up_s + compare.window_s);
        }
        // Whoever says how many wants them all, also where the steady state comes late.
        let driven_s = match self.most_blocks {
            Some(_) => trial::longest_s(load, compare.window_s, &first.kit),
            None => warm_up_s + compare.window_s,
        };
        let trial_s = compare.goal.as_ref().map_or(driven_s + BESIDE_S, |goal| goal.budget_s);
        compare.max_s = Some(f64::from(compare.most_blocks) * 2.0 * trial_s);
        for arm in arms.iter_mut().filter(|_| load.0 == By::Users) {
            arm.recipe.users = Some(load.1 as u32);
        }
        Ok((arms, compare, load))
    }

    /// What two stored runs are asked.
    pub(super) fn stored(&self) -> Result<Compare> {
        let compare = self.terms(1)?;
        if compare.by == LOAD_LINE {
            let problem = Problem::recipe("a stored run has no load line").key("--by");
            return Err(problem.remedy("mean, p50, p95, p99 or throughput").into());
        }
        Ok(compare)
    }

    /// The flags that were given and are about trials: stored runs have their load and their length.
    pub(super) fn given_of_trials(&self) -> Vec<&'static str> {
        let of_trials = ["--users", "--rate", "--window", "--most-blocks", "--let-cpus-sleep"];
        self.given().into_iter().filter(|flag| of_trials.contains(flag)).collect()
    }
}

/// How many blocks fit into the usual time when a trial drives its users for `driven_s`.
fn usual_blocks(driven_s: f64) -> u32 {
    ((USUAL_S / (2.0 * (driven_s + SETTLING_S))) as u32).clamp(MIN_USUAL_BLOCKS, MAX_USUAL_BLOCKS)
}

/// What loads are counted in, and that of both arms.
pub(super) fn load_of(compare: &Compare, arms: &[Arm]) -> (By, f64) {
    if let Some(goal) = &compare.goal {
        return (goal.by, goal.start);
    }
    let recipe = arms.first().map(|arm| &arm.recipe);
    match recipe.and_then(|recipe| recipe.rate.as_deref()) {
        Some(rate) => (By::Rate, units::rates(rate).map_or(1.0, |(from, _)| from)),
        None => (By::Users, recipe.and_then(|recipe| recipe.users).map_or(1.0, f64::from)),
    }
}

/// Seconds that a block of windows takes, before one is over.
pub(super) fn block_s(compare: &Compare) -> f64 {
    2.0 * (compare.window_s + BESIDE_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_flags_the_mean_decides_in_windows_of_twenty_seconds() {
        let compare = QuestionArgs::default().terms(4).expect("it is right");
        assert_eq!((compare.by.as_str(), compare.window_s, compare.seed), ("mean", 20.0, 4));
        assert_eq!((compare.band_ratio, compare.confidence_ratio, compare.gate_ratio), (0.01, 0.95, None));
    }

    #[test]
    fn as_many_blocks_are_planned_as_fit_into_a_quarter_of_an_hour() {
        for (driven_s, expected) in [(3.0, 30), (12.0, 23), (30.0, 12), (90.0, 10)] {
            assert_eq!(usual_blocks(driven_s), expected, "{driven_s} s");
        }
    }

    #[test]
    fn every_mistake_is_told_at_once() {
        let wrong = QuestionArgs {
            band: Some("much".into()),
            confidence: Some("20%".into()),
            gate: Some("-3%".into()),
            window: Some("1s".into()),
            ..QuestionArgs::default()
        };
        let told = wrong.terms(1).expect_err("it is wrong").to_string();
        for part in ["--band", "--confidence", "--gate", "--window"] {
            assert!(told.contains(part), "{part} is missing in: {told}");
        }
    }

    #[test]
    fn blocks_that_can_not_give_an_answer_are_refused() {
        let few = |most_blocks, confidence: &str| QuestionArgs {
            most_blocks: Some(most_blocks),
            confidence: Some(confidence.to_string()),
            ..QuestionArgs::default()
        };
        let told = few(5, "95%").terms(1).expect_err("too few").to_string();
        assert!(told.contains("--most-blocks: at 95 % at least 6 blocks are needed"), "{told}");
        assert!(few(6, "95%").terms(1).is_ok());
        assert!(few(5, "80%").terms(1).is_ok(), "less certainty takes fewer");
    }

    #[test]
    fn load_lines_have_loads_and_windows_of_their_own() {
        let of = |users, window: Option<&str>| QuestionArgs {
            users,
            window: window.map(str::to_string),
            by: Some("load-line".into()),
            ..QuestionArgs::default()
        };
        let told = of(Some(5), Some("9s")).terms(1).expect_err("both say nothing").to_string();
        assert!(told.contains("--users: it says nothing") && told.contains("--window: it says nothing"));
        assert!(of(None, None).terms(1).is_ok_and(|compare| compare.goal.is_some()));
    }

    #[test]
    fn a_gate_is_a_share() {
        let gated = QuestionArgs { gate: Some("3%".into()), ..QuestionArgs::default() };
        let compare = gated.terms(1).expect("it is right");
        assert!((compare.gate_ratio.expect("a gate") - 0.03).abs() < 1e-12);
    }
}
