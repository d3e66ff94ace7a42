//! The settings that somebody gave a run or a study, as flags of a command line and in a line of a page.

use model::catalogue::setting::{GivenSettings, Values};
use model::{RunRecord, StudyRecord};

/// Settings as the flags that give them take them: `name=value`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Values of `--param`.
    pub(crate) param: Vec<String>,
    /// Values of `--set`.
    pub(crate) set: Vec<String>,
    /// The value of `--topology`.
    pub(crate) topology: Option<String>,
    /// The value of `--guests`.
    pub(crate) guests: Option<u32>,
}

impl Settings {
    /// Of a run. A record that is older than their place in it has those of its command line, and where that is a
    /// sweep's, which names a file, they are not known.
    pub(crate) fn of_run(record: &RunRecord) -> Option<Settings> {
        if let Some(given) = &record.setup.given {
            let (topology, guests) = (record.setup.topology.clone(), record.setup.guests);
            return Some(Settings { topology, guests, ..Settings::of(given) });
        }
        let of_sweep = record.command.iter().skip(1).any(|word| word == "sweep");
        (!of_sweep).then(|| Settings::of_command(&record.command))
    }

    /// Of a study: those that all it measures have in common.
    pub(crate) fn of_study(record: &StudyRecord) -> Settings {
        let mut recipes = record.arms.iter().map(|arm| &arm.recipe);
        let Some(first) = recipes.next() else { return Settings::default() };
        let mut common = GivenSettings { param: first.param.clone(), set: first.set.clone() };
        let (mut topology, mut guests) = (first.topology.clone(), first.guests);
        for recipe in recipes {
            topology = topology.filter(|name| recipe.topology.as_ref() == Some(name));
            guests = guests.filter(|count| recipe.guests == Some(*count));
            common.param.retain(|name, value| recipe.param.get(name) == Some(value));
            common.set.retain(|name, value| recipe.set.get(name) == Some(value));
        }
        Settings { topology, guests, ..Settings::of(&common) }
    }

    fn of(given: &GivenSettings) -> Settings {
        let flags = |values: &Values| {
            values.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
        };
        Settings { param: flags(&given.param), set: flags(&given.set), ..Settings::default() }
    }

    fn of_command(command: &[String]) -> Settings {
        let flags = |flag: &str| {
            let after = command.iter().zip(command.iter().skip(1)).filter(|(word, _)| *word == flag);
            let joined = command.iter().filter_map(|word| word.strip_prefix(flag)?.strip_prefix('='));
            after.map(|(_, value)| value.clone()).chain(joined.map(str::to_string)).collect()
        };
        Settings { param: flags("--param"), set: flags("--set"), ..Settings::default() }
    }

    /// `topology: dolphin-2x2; guests: 4; set: think_time=0.7, web.proxy=ajp`; absent where there are none.
    pub(crate) fn line(&self) -> Option<String> {
        let all = [self.param.as_slice(), &self.set].concat();
        let set = (!all.is_empty()).then(|| format!("set: {}", all.join(", ")));
        let topology = self.topology.iter().map(|name| format!("topology: {name}"));
        let guests = self.guests.iter().map(|count| format!("guests: {count}"));
        let parts: Vec<String> = topology.chain(guests).chain(set).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Value;
    use testkit::recorded::Specimen;
    use testkit::studies;

    fn line(record: &RunRecord) -> Option<String> {
        Settings::of_run(record)?.line()
    }

    fn values(pairs: &[(&str, Value)]) -> Values {
        pairs.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()
    }

    #[test]
    fn what_a_recipe_file_sets_is_shown_although_no_command_line_has_it() {
        let mut record = Specimen::Passed.open().record;
        record.command = ["plimsoll", "run", "shop.toml"].map(str::to_string).to_vec();
        assert_eq!(line(&record), None);
        let (param, set) = (
            values(&[("think_time", Value::Float(0.7))]),
            values(&[("web.proxy", Value::Text("ajp".into())), ("db.max_connections", Value::Int(9))]),
        );
        record.setup.given = Some(GivenSettings { param, set });
        assert_eq!(
            line(&record).as_deref(),
            Some("set: think_time=0.7, db.max_connections=9, web.proxy=ajp")
        );
        record.setup.topology = Some("dolphin-2x2".into());
        record.setup.given = Some(GivenSettings::default());
        assert_eq!(line(&record).as_deref(), Some("topology: dolphin-2x2"));
        record.setup.guests = Some(4);
        assert_eq!(line(&record).as_deref(), Some("topology: dolphin-2x2; guests: 4"));
    }

    #[test]
    fn a_record_older_than_the_field_has_what_its_command_line_set() {
        let mut record = Specimen::Passed.open().record;
        record.setup.given = None;
        let words = ["plimsoll", "run", "tpcw", "--set", "web.proxy=ajp", "--param=think_time=0.7"];
        record.command = words.map(str::to_string).to_vec();
        let text = serde_json::to_string(&record).expect("a record is JSON");
        assert!(!text.contains("\"given\""), "it is as an older one was");
        let record: RunRecord = serde_json::from_str(&text).expect("it opens");
        assert_eq!(line(&record).as_deref(), Some("set: think_time=0.7, web.proxy=ajp"));
    }

    #[test]
    fn a_study_shows_what_all_its_arms_have_in_common() {
        let mut record = studies::compare(studies::CompareEnding::Faster);
        let own = ["64", "128"].map(|workers| {
            values(&[("web.workers", Value::Text(workers.into())), ("db.sync", Value::Bool(true))])
        });
        record.arms.iter_mut().zip(own).for_each(|(arm, set)| arm.recipe.set = set);
        assert_eq!(Settings::of_study(&record).line().as_deref(), Some("set: db.sync=true"));
        record.arms.iter_mut().for_each(|arm| arm.recipe.guests = Some(4));
        assert_eq!(Settings::of_study(&record).line().as_deref(), Some("guests: 4; set: db.sync=true"));
        record.arms[0].recipe.guests = None;
        assert_eq!(Settings::of_study(&record).guests, None, "one arm has one stack");
    }
}
