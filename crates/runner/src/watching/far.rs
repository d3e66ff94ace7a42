//! What observers on other machines have seen, beside what the run's own observer has.

use model::record::Series;
use model::record::instrument::INSTRUMENT;
use observe::Answer;

use super::Watching;

impl Watching {
    /// Takes what an observer on another machine has seen; gives its points.
    pub(crate) fn take_far(&mut self, agent: &str, answer: Answer) -> Vec<Series> {
        let Answer { series, sources, unseen, .. } = answer;
        // Before what is the instrument's own.
        let is_own = |(tier, _): &(String, String)| INSTRUMENT.contains(&tier.as_str());
        let place = self.sources.iter().position(is_own).unwrap_or(self.sources.len());
        let there = sources.into_iter().map(|(tier, source)| (tier, format!("{source} on {agent}")));
        self.sources.splice(place..place, there);
        self.unseen.extend(unseen.into_iter().map(|what| format!("on {agent}: {what}")));
        self.keep(&series);
        series
    }

    /// Notes what can't be seen from now on.
    pub(crate) fn leave_unseen(&mut self, what: Option<String>) {
        self.unseen.extend(what);
    }
}

#[cfg(test)]
mod tests {
    use observe::GENERATOR;

    use super::*;

    #[test]
    fn tiers_on_another_machine_are_among_the_stack_s_with_where_they_were_seen() {
        let mut watching = Watching::with(Err("nobody watches this one".to_string()));
        let series = Series {
            name: "cpu.cores".to_string(),
            tier: Some("db".to_string()),
            unit: "cores".to_string(),
            points: vec![(1.0, 0.5)],
        };
        let sources = vec![("db".to_string(), "/proc".to_string())];
        let unseen = vec!["its memory".to_string()];
        let answer = Answer { sources, unseen, series: vec![series], ..Answer::default() };
        let series = watching.take_far("db1", answer);
        assert_eq!(series[0].points, [(1.0, 0.5)]);
        watching.leave_unseen(Some("tier db: the observer on db1 was lost".to_string()));
        let seen = watching.end();
        let tiers: Vec<(&str, &str)> =
            seen.sources.iter().map(|(tier, source)| (tier.as_str(), source.as_str())).collect();
        assert_eq!(tiers, [("db", "/proc on db1"), (GENERATOR, "clock_gettime")]);
        assert_eq!(seen.unseen[1..], ["on db1: its memory", "tier db: the observer on db1 was lost"]);
    }
}
