//! A find: how many users does this stack carry?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::conditions::{Conditions, SizeForUsers, Unjudged};
use super::kind::Kind;
use super::trial::Purpose;
use crate::catalogue::qos::QosTarget;

/// What was looked for, and what was found.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Find {
    /// What was looked for.
    pub goal: FindGoal,
    /// Absent as long as the search goes on.
    pub answer: Option<FindAnswer>,
}

impl Kind for Find {
    fn verb(&self) -> &'static str {
        "find"
    }

    fn goal(&self) -> Option<&FindGoal> {
        Some(&self.goal)
    }

    fn by(&self) -> Option<By> {
        Some(self.goal.by)
    }

    fn load_line(&self) -> Option<&LoadLine> {
        match self.answer.as_ref()? {
            FindAnswer::LoadLine(line) => Some(line),
            FindAnswer::NoAnswer(_) => None,
        }
    }
}

/// What is looked for, how well it must be known, and what that may cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindGoal {
    /// Users or arrivals.
    pub by: By,
    /// Probability with which the interval holds the load line.
    pub confidence_ratio: f64,
    /// Half the interval's length as a share of the load line at which the search may end.
    pub half_width_ratio: f64,
    /// Seconds that the whole study may take.
    pub budget_s: f64,
    /// Steady seconds of a ramp trial.
    pub ramp_window_s: f64,
    /// Steady seconds of a search trial.
    pub window_s: f64,
    /// Steady seconds of a confirming trial.
    pub confirm_s: f64,
    /// Most search trials.
    pub most_trials: u32,
    /// The first load that is tried.
    pub start: f64,
    /// The load below which it doesn't look.
    #[serde(default = "one")]
    pub least: f64,
    /// The load above which it doesn't look.
    pub most: f64,
    /// The sizes of the data set that it may go through, for more users each, the arm's own first; empty where the size was
    /// said, or the data are for any number of users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<SizeForUsers>,
    /// CPUs that it may hold the web tier to, fewer each, as long as the generator or the machine is the limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub web_cores: Vec<f64>,
    /// CPUs that the stack has; absent where they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack_cores: Option<f64>,
    /// Seed of the trials' loads and of the bootstrap.
    pub seed: u64,
}

impl Default for FindGoal {
    /// 90 %, half-width 5 %, a quarter of an hour.
    fn default() -> FindGoal {
        FindGoal {
            by: By::Users,
            confidence_ratio: 0.9,
            half_width_ratio: 0.05,
            budget_s: 900.0,
            ramp_window_s: 12.0,
            window_s: 30.0,
            confirm_s: 90.0,
            most_trials: 12,
            start: 10.0,
            least: 1.0,
            most: 100_000.0,
            sizes: Vec::new(),
            web_cores: Vec::new(),
            stack_cores: None,
            seed: 1,
        }
    }
}

impl FindGoal {
    /// A window shorter than this says nothing: its steady state is found from batches of five seconds.
    pub const MIN_WINDOW_S: f64 = 5.0;
    /// The minimum number of seconds that a search needs for anything at all.
    pub const MIN_BUDGET_S: f64 = 30.0;

    /// The same goal in a hurry: six minutes, half-width 10 %, shorter windows.
    pub fn quick(self) -> FindGoal {
        FindGoal {
            half_width_ratio: 0.1,
            budget_s: 360.0,
            ramp_window_s: 5.0,
            window_s: 12.0,
            confirm_s: 30.0,
            most_trials: 7,
            ..self
        }
    }

    /// The same goal up to `most` users, or nothing where it doesn't look further anyway: a data set is for that number.
    pub fn up_to(&self, most: f64) -> Option<FindGoal> {
        let further = self.by == By::Users && most < self.most;
        further.then(|| FindGoal {
            most,
            start: self.start.min(most),
            least: self.least.min(most),
            ..self.clone()
        })
    }

    /// The same goal with data of these sizes to go through, up to the users of the last one; the first that it begins with is the
    /// smallest that is for its first load.
    pub fn through_sizes(self, sizes: Vec<SizeForUsers>) -> FindGoal {
        let Some(most) = sizes.last().map(|last| last.users) else { return self };
        let goal = self.up_to(most).unwrap_or(self);
        let sizes = sizes.into_iter().skip_while(|size| size.users < goal.start).collect();
        FindGoal { sizes, ..goal }
    }

    /// The same goal, beginning with `first` users where it counts in users, within what it looks at.
    pub fn starting_at(self, first: Option<f64>) -> FindGoal {
        let first = first.filter(|_| self.by == By::Users).unwrap_or(self.start);
        FindGoal { start: first.max(self.least).min(self.most), ..self }
    }

    /// The same goal for that number of guests, each of which has one user at least.
    pub fn for_guests(self, guests: usize) -> FindGoal {
        if self.by != By::Users || guests < 2 {
            return self;
        }
        let least = self.least.max(guests as f64);
        FindGoal { least, start: self.start.max(least), most: self.most.max(least), ..self }
    }

    /// The same goal within `budget_s`: less time than it has is shared out among the windows as theirs was.
    pub fn within_budget(self, budget_s: f64) -> FindGoal {
        let share = (budget_s / self.budget_s).min(1.0);
        let window = |usual_s: f64| (usual_s * share).max(FindGoal::MIN_WINDOW_S.min(usual_s)).round();
        FindGoal {
            budget_s,
            ramp_window_s: window(self.ramp_window_s),
            window_s: window(self.window_s),
            confirm_s: window(self.confirm_s),
            ..self
        }
    }
}

fn one() -> f64 {
    1.0
}

/// What the load line is counted in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// Emulated users of the closed model.
    #[default]
    Users,
    /// Arrivals per second of the open model.
    Rate,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindAnswer {
    /// There is a load line.
    LoadLine(LoadLine),
    /// There is none that could be stood behind.
    NoAnswer(NoAnswer),
}

/// The highest load that still passes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadLine {
    /// Users, or arrivals per second.
    pub load: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// What the find chose for the stack; absent where it chose nothing.
    #[serde(default, skip_serializing_if = "Conditions::are_the_arms")]
    pub conditions: Conditions,
    /// The interval is longer than was asked for.
    pub wide: bool,
    /// The target that is missed first, as people write it (so its limit is rounded once it was read from a record):
    /// `Browse p95 < 300 ms`; empty where none is missed.
    #[serde(with = "held_by_text")]
    #[schemars(with = "String")]
    pub held_by: Option<QosTarget>,
    /// Share of the resampled fits in which it is the first.
    pub held_by_ratio: f64,
    /// How steeply ln(observed/limit) of that target rises with ln(load).
    pub slope: f64,
    /// The confirming trial that passed just below.
    pub passed: Option<Confirmation>,
    /// The confirming trial that failed just above.
    pub failed: Option<Confirmation>,
    /// Confirming trials that went the wrong way: they failed at this load or below, or passed above it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradicted: Vec<Confirmation>,
    /// Targets of which no trial near the line had samples enough; it was judged by the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unjudged: Vec<Unjudged>,
    /// Confirming trials that were made, whatever they said.
    #[serde(default)]
    pub confirming: u32,
    /// Operations per second at the load line.
    pub throughput_per_s: Option<f64>,
    /// Where the line would be if averages were judged instead of percentiles; absent when no average reaches its
    /// limit in what was measured.
    pub by_average: Option<f64>,
}

/// A target as people write it; empty for none.
mod held_by_text {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::catalogue::qos::QosTarget;

    pub(super) fn serialize<S: Serializer>(
        target: &Option<QosTarget>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match target {
            Some(target) => serializer.collect_str(target),
            None => serializer.serialize_str(""),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<QosTarget>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let read = |text: &str| text.parse().map_err(serde::de::Error::custom);
        (!text.is_empty()).then(|| read(&text)).transpose()
    }
}

/// A trial that confirms one side of the line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Confirmation {
    /// The trial's number.
    pub trial: u32,
    /// Users, or arrivals per second.
    pub load: f64,
    /// Steady seconds.
    pub for_s: f64,
}

/// Why there is no load line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoAnswer {
    /// The reason.
    pub why: WhyNot,
    /// The load at which it showed.
    pub load: Option<f64>,
    /// What the find had chosen for the stack by then; absent where it chose nothing.
    #[serde(default, skip_serializing_if = "Conditions::are_the_arms")]
    pub conditions: Conditions,
    /// The evidence, in a sentence.
    pub evidence: String,
    /// The same in figures; absent in studies older than this field, and where no trial shows anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<NoAnswerFacts>,
    /// The highest load that passed, if any.
    pub highest_passed: Option<f64>,
    /// The lowest load that failed, if any.
    pub lowest_failed: Option<f64>,
}

/// What shows that there is no load line. A trial is given by its number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoAnswerFacts {
    /// This trial missed a target, or its load was not carried.
    Missed {
        /// The trial.
        trial: u32,
    },
    /// A target that asks for at least something is not met in this trial, where others are already at their limit.
    Wanting {
        /// The trial.
        trial: u32,
        /// The target.
        target: QosTarget,
    },
    /// This trial passed, nearer to the limit of a target than any other.
    Nearest {
        /// The trial.
        trial: u32,
    },
    /// Checks of the instrument broke in this trial, or it did not settle, or nothing was measured in it.
    Faults {
        /// The trial.
        trial: u32,
    },
    /// Trials followed one of two lines.
    TwoModes {
        /// The number of trials.
        trials: usize,
        /// The lower line: users, or arrivals per second.
        low: f64,
        /// The higher line.
        high: f64,
    },
    /// The line moved from the first trial to the last.
    Moved {
        /// The number of trials.
        trials: usize,
        /// The line at the first of them: users, or arrivals per second.
        first: f64,
        /// The line at the last of them.
        last: f64,
    },
    /// Time and trials were spent without an answer.
    Spent {
        /// Seconds.
        spent_s: f64,
        /// The number of trials.
        trials: usize,
    },
}

/// How far a find that is under way has come.
#[derive(Debug, Clone, PartialEq)]
pub struct FindOutlook {
    /// The highest load that passed and the lowest that failed.
    pub bracket: (Option<f64>, Option<f64>),
    /// The estimate in its interval: low, load, high.
    pub estimate: Option<(f64, f64, f64)>,
    /// The line that would be the answer if no trial followed; absent as long as trials don't tell it.
    pub line: Option<LoadLine>,
    /// Trials still to come, by what is known now.
    pub trials_left: usize,
    /// Seconds still to come, at most what is left of the time.
    pub left_s: f64,
    /// What the next trial is for; absent when the answer is known.
    pub next: Option<Purpose>,
}

/// Reasons for which there is no load line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhyNot {
    /// The stack fails at the least load: a target is missed there, or the load is not carried.
    FailsAtLeast,
    /// Where a target that asks for at least something begins to be met, another is already missed.
    NeverPasses,
    /// The targets are met at the highest load that was to be tried.
    NeverFails,
    /// The generator reached its limit first.
    GeneratorLimit,
    /// The machine ran out of ports, descriptors or the like first.
    MachineLimit,
    /// The same load gives two different results.
    Unstable,
    /// Results change with time at the same load.
    Drifts,
    /// No steady state was reached.
    Unsettled,
    /// Trials were not valid for another reason of the instrument's.
    NotValid,
    /// The time was up before the answer was known.
    OutOfTime,
    /// As many trials as were allowed did not tell it.
    NotKnown,
    /// The user ended it.
    Interrupted,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_goes_through_the_sizes_from_the_first_that_is_for_its_first_load() {
        let sizes = || {
            let size = |(size, users): (&str, f64)| SizeForUsers { size: size.to_string(), users };
            [("small", 100.0), ("medium", 400.0), ("large", 1600.0)].map(size).to_vec()
        };
        let through = |goal: FindGoal| {
            let goal = goal.through_sizes(sizes());
            let names: Vec<String> = goal.sizes.iter().map(|one| one.size.clone()).collect();
            (names.join(" "), goal.least, goal.start, goal.most)
        };
        let usual = FindGoal::default;
        assert_eq!(through(usual()), ("small medium large".to_string(), 1.0, 10.0, 1600.0));
        let at_least = FindGoal { least: 300.0, start: 300.0, ..usual() };
        assert_eq!(through(at_least), ("medium large".to_string(), 300.0, 300.0, 1600.0));
        let beyond = FindGoal { least: 2000.0, start: 3000.0, ..usual() };
        assert_eq!(through(beyond), ("large".to_string(), 1600.0, 1600.0, 1600.0), "there are no more");
        let few = FindGoal { most: 50.0, ..usual() };
        assert_eq!(
            through(few),
            ("small medium large".to_string(), 1.0, 10.0, 50.0),
            "more were not asked for"
        );
        assert_eq!(usual().through_sizes(Vec::new()), usual());
    }

    #[test]
    fn each_guest_has_a_user_wherever_a_find_looks() {
        let goal = FindGoal { by: By::Users, start: 10.0, least: 1.0, most: 12.0, ..FindGoal::default() };
        let of_16 = goal.clone().for_guests(16);
        assert_eq!((of_16.least, of_16.start, of_16.most), (16.0, 16.0, 16.0));
        let of_one = goal.clone().for_guests(1);
        assert_eq!((of_one.least, of_one.start), (1.0, 10.0), "one stack may have one user");
        let by_rate = FindGoal { by: By::Rate, ..goal }.for_guests(16);
        assert_eq!(by_rate.least, 1.0, "rates are shared out evenly, however low");
    }

    #[test]
    fn a_search_begins_where_it_is_told_within_what_it_looks_at() {
        let start = |goal: FindGoal, first| goal.starting_at(first).start;
        let users = FindGoal::default;
        assert_eq!(start(users(), Some(200.0)), 200.0);
        assert_eq!(start(users(), None), 10.0, "nobody said another");
        assert_eq!(start(FindGoal { most: 50.0, ..users() }, Some(200.0)), 50.0);
        assert_eq!(start(FindGoal { most: 4.0, ..users() }, None), 4.0, "the usual one is moved too");
        assert_eq!(start(FindGoal { least: 300.0, ..users() }, Some(200.0)), 300.0);
        let rate = FindGoal { by: By::Rate, ..users() };
        assert_eq!(start(rate, Some(200.0)), 10.0, "200 users are not 200 arrivals a second");
        let kept = users().starting_at(Some(200.0));
        assert_eq!(kept, FindGoal { start: 200.0, ..users() }, "nothing else changes");
    }
}
