//! What a find looks for, from its flags.

use clap::Args;
use model::record::study::{By, FindGoal};
use model::{Problem, Problems, Result, units};

const MIN_WINDOW_S: f64 = FindGoal::MIN_WINDOW_S;

/// What is looked for, how well it must be known, and what that may cost.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct GoalArgs {
    /// Count the load in users (the default) or in arrivals per second
    #[arg(long, value_parser = ["users", "rate"])]
    by: Option<String>,
    /// Six minutes and a wider interval instead of a quarter of an hour; targets that can't have their samples in windows so short
    /// are left out
    #[arg(long)]
    quick: bool,
    /// Half the interval's length at which the search may end [default: 5%]
    #[arg(long, value_name = "SHARE")]
    within: Option<String>,
    /// Probability with which the interval holds the load line [default: 90%]
    #[arg(long, value_name = "SHARE")]
    confidence: Option<String>,
    /// Time that the whole study may take [default: 15m]
    #[arg(long, value_name = "TIME")]
    budget: Option<String>,
    /// The first load that is tried [default: 10, or the kit's usual users where they pause]
    #[arg(long, value_name = "N")]
    start: Option<f64>,
    /// The load below which it doesn't look [default: 1]
    #[arg(long, value_name = "N")]
    least: Option<f64>,
    /// The load above which it doesn't look; users never more than the kit's data is for [default: that number, or
    /// 100000 where it is for any number]
    #[arg(long, value_name = "N")]
    most: Option<f64>,
    /// Steady time of a confirming trial [default: 90s]
    #[arg(long, value_name = "TIME")]
    confirm: Option<String>,
    /// Steady time of a search trial [default: 30s]
    #[arg(long, value_name = "TIME")]
    window: Option<String>,
}

impl GoalArgs {
    /// The flags that were given.
    pub(super) fn given(&self) -> Vec<&'static str> {
        let given = [
            ("--by", self.by.is_some()),
            ("--quick", self.quick),
            ("--within", self.within.is_some()),
            ("--confidence", self.confidence.is_some()),
            ("--budget", self.budget.is_some()),
            ("--start", self.start.is_some()),
            ("--least", self.least.is_some()),
            ("--most", self.most.is_some()),
            ("--confirm", self.confirm.is_some()),
            ("--window", self.window.is_some()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag).collect()
    }

    /// It is in a hurry.
    pub(crate) fn is_quick(&self) -> bool {
        self.quick
    }

    /// The first load was said.
    pub(crate) fn starts(&self) -> bool {
        self.start.is_some()
    }

    /// What is looked for; every mistake at once.
    pub(crate) fn goal(&self, seed: u64) -> Result<FindGoal> {
        let mut reading = Reading { problems: Vec::new() };
        let mut goal = if self.quick { FindGoal::default().quick() } else { FindGoal::default() };
        goal.seed = seed;
        if self.by.as_deref() == Some("rate") {
            goal.by = By::Rate;
        }
        let mut budget_s = goal.budget_s;
        reading.seconds("--budget", self.budget.as_deref(), FindGoal::MIN_BUDGET_S, &mut budget_s);
        // It shortens the windows, unless they are given too.
        goal = goal.within_budget(budget_s);
        reading.seconds("--window", self.window.as_deref(), MIN_WINDOW_S, &mut goal.window_s);
        reading.seconds("--confirm", self.confirm.as_deref(), MIN_WINDOW_S, &mut goal.confirm_s);
        goal.ramp_window_s = goal.ramp_window_s.min(goal.window_s);
        reading.share("--within", self.within.as_deref(), (0.005, 0.5), &mut goal.half_width_ratio);
        reading.share("--confidence", self.confidence.as_deref(), (0.5, 0.999), &mut goal.confidence_ratio);
        goal.least = self.least.unwrap_or(goal.least);
        goal.most = self.most.unwrap_or(goal.most);
        // `max` and `min` and not `clamp`: what is no number is refused below, and must not end the tool.
        goal.start = self.start.unwrap_or(goal.start.max(goal.least).min(goal.most));
        reading.loads(&goal);
        Problems::check(reading.problems).map(|()| goal)
    }
}

struct Reading {
    problems: Vec<Problem>,
}

impl Reading {
    fn problem(&mut self, flag: &str, what: String) {
        self.problems.push(Problem::recipe(what).key(flag));
    }

    fn seconds(&mut self, flag: &str, text: Option<&str>, min_s: f64, place: &mut f64) {
        match text.map(units::duration) {
            None => {}
            Some(Err(what)) => self.problem(flag, what),
            Some(Ok(time)) if time.as_secs_f64() < min_s => {
                let least = units::show_seconds(min_s);
                self.problem(flag, format!("it must be {least} or more: less says nothing"));
            }
            Some(Ok(time)) => *place = time.as_secs_f64(),
        }
    }

    fn share(&mut self, flag: &str, text: Option<&str>, (low, high): (f64, f64), place: &mut f64) {
        let Some(text) = text else { return };
        let (number, scale) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
        match number.trim().parse::<f64>().map(|value| value * scale) {
            Ok(value) if (low..=high).contains(&value) => *place = value,
            _ => {
                let (low, high) = (low * 100.0, high * 100.0);
                self.problem(flag, format!("`{text}` is no share between {low}% and {high}%, such as 5%"));
            }
        }
    }

    fn loads(&mut self, goal: &FindGoal) {
        let users = goal.by == By::Users;
        let least = if users { 1.0 } else { 0.01 };
        for (flag, load) in [("--start", goal.start), ("--least", goal.least), ("--most", goal.most)] {
            if !load.is_finite() || load < least || (users && load.fract() != 0.0) {
                let what = match users {
                    true => format!("`{load}` is no number of users"),
                    false => format!("`{load}` arrivals per second are too few to wait for"),
                };
                self.problem(flag, what);
            }
        }
        if !(goal.least..=goal.most).contains(&goal.start) {
            let (least, most) = (goal.least, goal.most);
            let what = format!("it starts at {}, which is not between {least} and {most}", goal.start);
            self.problem("--start", what);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(args: &GoalArgs) -> String {
        args.goal(1).err().map(|problems| problems.to_string()).unwrap_or_default()
    }

    #[test]
    fn without_flags_it_is_the_usual_goal_and_quick_is_the_quick_one() {
        assert_eq!(GoalArgs::default().goal(1), Ok(FindGoal::default()));
        let quick = GoalArgs { quick: true, ..GoalArgs::default() };
        assert_eq!(quick.goal(1), Ok(FindGoal::default().quick()));
    }

    #[test]
    fn less_time_shortens_the_windows_and_what_is_given_wins() {
        let short = GoalArgs { budget: Some("5m".into()), ..GoalArgs::default() };
        let goal = short.goal(7).expect("it is right");
        let third = |usual_s: f64| (usual_s / 3.0).round().max(MIN_WINDOW_S);
        let usual = FindGoal::default();
        assert_eq!((goal.budget_s, goal.seed), (300.0, 7));
        assert_eq!((goal.confirm_s, goal.window_s), (third(usual.confirm_s), third(usual.window_s)));
        assert!(goal.ramp_window_s >= MIN_WINDOW_S, "{goal:?}");
        let given = GoalArgs { confirm: Some("60s".into()), window: Some("6s".into()), ..short };
        let goal = given.goal(7).expect("it is right");
        assert_eq!((goal.confirm_s, goal.window_s), (60.0, 6.0));
        assert!(goal.ramp_window_s <= 6.0, "{goal:?}");
    }

    #[test]
    fn every_mistake_is_told_at_once() {
        let wrong = GoalArgs {
            within: Some("70%".into()),
            confidence: Some("much".into()),
            budget: Some("5s".into()),
            window: Some("soon".into()),
            start: Some(2.5),
            ..GoalArgs::default()
        };
        let told = refusal(&wrong);
        for part in ["--within", "--confidence", "--budget", "--window", "--start", "`2.5` is no number"] {
            assert!(told.contains(part), "{part} is missing in: {told}");
        }
    }

    #[test]
    fn the_start_lies_between_the_least_and_the_most() {
        let outside = GoalArgs { start: Some(50.0), most: Some(20.0), ..GoalArgs::default() };
        assert!(refusal(&outside).contains("not between 1 and 20"), "{}", refusal(&outside));
        let narrow = GoalArgs { most: Some(4.0), ..GoalArgs::default() };
        assert_eq!(narrow.goal(1).expect("it is right").start, 4.0, "the usual start is moved");
        let slow =
            GoalArgs { by: Some("rate".into()), start: Some(0.5), least: Some(0.1), ..GoalArgs::default() };
        assert_eq!(slow.goal(1).expect("it is right").by, By::Rate);
    }
}
