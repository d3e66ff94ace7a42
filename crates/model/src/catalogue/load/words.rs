//! The load in words: the same on the terminal, in the report and in the verdict.

use super::{Arriving, Lifetime, Load, Pattern};
use crate::catalogue::population::PopulationShare;
use crate::catalogue::think::Distribution;
use crate::units;

impl Load {
    /// What loads the stack in steady state, briefly: `20 users`, `200 sessions/s`, `50 to 400 operations/s`, `20 users at first`.
    pub fn headline(&self) -> String {
        let Some(open) = &self.arrivals else {
            let plural = if self.users == 1 { "user" } else { "users" };
            let at_first = if self.by_hand.is_some() { " at first" } else { "" };
            return format!("{} {plural}{at_first}", grouped(f64::from(self.users)));
        };
        let what = match open.arriving {
            Arriving::Sessions => "sessions/s",
            Arriving::Operations => "operations/s",
        };
        if open.from_per_s == open.to_per_s {
            return format!("{} {what}", grouped(open.from_per_s));
        }
        format!("{} to {} {what}", grouped(open.from_per_s), grouped(open.to_per_s))
    }

    /// The kinds of users: `90 % readers, 10 % editors`; empty where all are alike.
    fn populations(&self) -> String {
        let share = |one: &PopulationShare| format!("{} % {}", grouped(100.0 * one.share_ratio), one.name);
        let mut populations: Vec<&PopulationShare> = self.populations.iter().collect();
        populations.sort_by(|one, other| other.share_ratio.total_cmp(&one.share_ratio));
        populations.into_iter().map(share).collect::<Vec<_>>().join(", ")
    }

    /// The whole load: `200 sessions/s arriving at random (Poisson), at most 1 000 users at once`.
    pub fn words(&self) -> String {
        let mut words = self.headline();
        if !self.populations.is_empty() {
            words = format!("{words} ({})", self.populations());
        }
        if let Some(open) = &self.arrivals {
            let how = open.pattern.words();
            let most = grouped(f64::from(self.users));
            words = format!("{words} arriving {how}, at most {most} users at once");
        }
        if let Some(by_hand) = &self.by_hand {
            let most = grouped(f64::from(by_hand.max_users));
            words = format!("{words}, changed by hand, at most {most} at once");
        }
        if !self.stages.is_empty() {
            let levels: Vec<String> = self.stages.iter().map(|stage| grouped(stage.level)).collect();
            words = format!("{words} (stages {})", levels.join(", "));
        }
        if let Some(lifetime) = &self.lifetime {
            words = format!("{words}, each user living {}", lifetime.words());
        }
        match self.sessions {
            Some(sessions) if self.arrivals.is_some() => {
                format!("{words}, {} arrivals in all", grouped(sessions as f64))
            }
            Some(sessions) => format!("{words}, {} sessions in all", grouped(sessions as f64)),
            None => words,
        }
    }
}

impl Lifetime {
    /// `20 operations`, `15 min 00 s on average`.
    pub fn words(&self) -> String {
        let drawn = self.distribution();
        let mean = drawn.mean();
        let text = match self {
            Lifetime::Seconds(_) => units::show_seconds(mean),
            Lifetime::Sessions(_) => {
                format!("{} {}", grouped(mean), if mean == 1.0 { "session" } else { "sessions" })
            }
            Lifetime::Operations(_) => format!("{} operations", grouped(mean)),
        };
        if matches!(drawn, Distribution::Fixed { .. }) { text } else { format!("{text} on average") }
    }
}

/// `1 234.5`: groups of three, at most three decimals.
fn grouped(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    if fraction.is_empty() { grouped } else { format!("{grouped}.{fraction}") }
}

impl Pattern {
    /// How arrivals follow each other, for people.
    pub fn words(self) -> &'static str {
        match self {
            Pattern::Poisson => "at random (Poisson)",
            Pattern::Constant => "evenly",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Arrivals, ByHand, Stage};
    use super::*;

    #[test]
    fn every_load_has_words() {
        let closed = Load { users: 2500, ..Load::default() };
        assert_eq!(closed.words(), "2 500 users");
        let lifetime = Some(Lifetime::Operations(Distribution::Fixed { value: 5.0 }));
        assert_eq!(Load { lifetime, ..closed.clone() }.words(), "2 500 users, each user living 5 operations");
        let arrivals = Arrivals {
            pattern: Pattern::Poisson,
            arriving: Arriving::Sessions,
            from_per_s: 200.0,
            to_per_s: 200.0,
        };
        let open = Load { users: 400, arrivals: Some(arrivals), ..closed.clone() };
        assert_eq!(open.words(), "200 sessions/s arriving at random (Poisson), at most 400 users at once");
        let (pattern, arriving) = (Pattern::Constant, Arriving::Operations);
        let ramp = Arrivals { pattern, arriving, from_per_s: 0.5, to_per_s: 1200.0 };
        assert_eq!(Load { arrivals: Some(ramp), ..open }.headline(), "0.5 to 1 200 operations/s");
        let counted = Load { sessions: Some(1200), ..closed.clone() };
        assert_eq!(counted.words(), "2 500 users, 1 200 sessions in all");
        let share = |name: &str, share_ratio| PopulationShare { name: name.to_string(), share_ratio };
        let populations = vec![share("editors", 0.1), share("readers", 0.9)];
        let of_two = Load { populations, ..closed.clone() };
        assert_eq!(of_two.words(), "2 500 users (90 % readers, 10 % editors)");
        let by_hand = Load { by_hand: Some(ByHand { max_users: 25_000 }), ..closed.clone() };
        assert_eq!(by_hand.words(), "2 500 users at first, changed by hand, at most 25 000 at once");
        let stage = |level| Stage { level, ramp_s: 1.0, hold_s: 5.0 };
        let staged = Load { users: 20, stages: vec![stage(50.0), stage(20.0)], ..closed };
        assert_eq!(staged.words(), "20 users (stages 50, 20)");
    }
}
