//! Whether figures of two runs may be held against each other: what differs between them that is no part of a stack.
//! The principal type is [`Aspect`]; how one is said is `wording`'s, what differs of the stacks themselves is `report`'s.

use std::collections::BTreeMap;

use model::RunRecord;
use model::catalogue::kit::DEFAULT_MIX;
use model::record::Setup;

/// Something that two runs must have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aspect {
    /// The kit, with its version.
    Kit,
    /// The kit's mix.
    Mix,
    /// The size of the data set.
    Size,
    /// What the data set holds.
    Data,
    /// Users who wait for answers (closed), or arrivals that don't (open).
    LoadModel,
    /// A load that is changed by hand, which is like no other.
    ByHand,
    /// The load.
    Load,
    /// The mean think time.
    ThinkTime,
    /// The kit's parameters.
    Parameters,
    /// The machine's processor.
    Machine,
    /// The CPUs of the stack.
    StackCpus,
}

/// What makes two runs different work, so that their figures don't belong beside each other.
pub fn different_work(a: &RunRecord, b: &RunRecord) -> Vec<Aspect> {
    let load_model = (Aspect::LoadModel, is_open(&a.setup) != is_open(&b.setup));
    let data = (Aspect::Data, data(a, same_server(a, b)) != data(b, same_server(a, b)));
    only_true(work(&a.setup, &b.setup).into_iter().chain([data, load_model, by_hand(&a.setup, &b.setup)]))
}

/// All because of which a difference of two runs' figures says nothing about their stacks.
pub fn different_conditions(a: &RunRecord, b: &RunRecord) -> Vec<Aspect> {
    let (one, other, same_server) = (&a.setup, &b.setup, same_server(a, b));
    // Rows that came from different seeds are others, and where they lie in different servers no id tells.
    let data = data(a, same_server) != data(b, same_server)
        || (!same_server && a.dataset.is_some() && one.seed != other.seed);
    only_true(work(one, other).into_iter().chain([
        (Aspect::Data, data),
        by_hand(one, other),
        (Aspect::Load, one.load_words() != other.load_words()),
        (Aspect::ThinkTime, one.think_mean_s != other.think_mean_s),
        (Aspect::Parameters, parameters(one) != parameters(other) || caches(one) != caches(other)),
        (Aspect::Machine, processor(one) != processor(other)),
        (Aspect::StackCpus, one.stack_cpus != other.stack_cpus),
    ]))
}

fn work(one: &Setup, other: &Setup) -> [(Aspect, bool); 3] {
    [
        (Aspect::Kit, one.kit != other.kit),
        (Aspect::Mix, mix(one) != mix(other)),
        (Aspect::Size, one.size != other.size),
    ]
}

/// Also two such loads differ: each was changed as somebody pleased.
fn by_hand(one: &Setup, other: &Setup) -> (Aspect, bool) {
    (Aspect::ByHand, one.is_by_hand() || other.is_by_hand())
}

fn only_true(aspects: impl Iterator<Item = (Aspect, bool)>) -> Vec<Aspect> {
    aspects.filter(|(_, differs)| *differs).map(|(aspect, _)| aspect).collect()
}

/// The mix that was in force.
pub fn mix(setup: &Setup) -> &str {
    setup.mix.as_deref().unwrap_or(DEFAULT_MIX)
}

/// As they are said: 5 is 5.0.
fn parameters(setup: &Setup) -> Vec<(&str, String)> {
    setup.params.iter().map(|(name, value)| (name.as_str(), value.to_string())).collect()
}

/// Whether users' caches took what didn't say so to be fresh.
fn caches(setup: &Setup) -> bool {
    setup.heuristic_freshness.unwrap_or(true)
}

/// The load is one of arrivals, which don't wait for answers.
pub fn is_open(setup: &Setup) -> bool {
    setup.load.as_ref().is_some_and(|load| load.arrivals.is_some())
}

/// What is known of the machine's processor.
pub fn processor(setup: &Setup) -> Vec<&str> {
    let named = setup.machine.iter().filter(|(name, _)| name.to_lowercase().contains("cpu"));
    named.map(|(_, value)| value.as_str()).collect()
}

/// What a run began with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Data<'a> {
    /// No data set of its own.
    Absent,
    /// A data set by its id.
    Set(&'a str),
    /// Rows by table.
    Rows(&'a BTreeMap<String, u64>),
}

/// What `record`'s run began with: its data set's id. That holds the version of the server too, because a data directory
/// is a server's own; where the servers differ (not `same_server`) the data is known by what fills it.
pub fn data(record: &RunRecord, same_server: bool) -> Data<'_> {
    match &record.dataset {
        None => Data::Absent,
        // The same rows, whoever has them.
        Some(set) if same_server => {
            Data::Set(set.id.split_once("-shards-").map_or(set.id.as_str(), |(whole, _)| whole))
        }
        Some(set) => Data::Rows(&set.rows),
    }
}

/// The same server, in the same version, holds the data of both.
pub fn same_server(a: &RunRecord, b: &RunRecord) -> bool {
    server(a) == server(b)
}

fn server(record: &RunRecord) -> Option<(&str, &str)> {
    let tier = record.setup.tiers.iter().find(|tier| tier.tier == "db")?;
    Some((tier.service.as_str(), tier.version.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Value;
    use testkit::recorded::Specimen;

    fn record() -> RunRecord {
        Specimen::Passed.open().record
    }

    #[test]
    fn runs_of_one_setup_are_the_same_work_whatever_their_seed_and_users_and_alike_only_with_as_many() {
        let (a, mut b) = (record(), record());
        b.setup.seed = 2;
        assert_eq!((different_work(&a, &b), different_conditions(&a, &b)), (Vec::new(), Vec::new()));
        b.setup.load.as_mut().expect("it has a load").users = 40;
        b.setup.stack_cpus = vec![0, 1];
        assert_eq!(different_work(&a, &b), []);
        assert_eq!(different_conditions(&a, &b), [Aspect::Load, Aspect::StackCpus]);
    }

    #[test]
    fn a_load_that_is_changed_by_hand_is_like_no_other() {
        let (planned, mut explored) = (record(), record());
        let load = explored.setup.load.as_mut().expect("it has a load");
        load.by_hand = Some(model::catalogue::load::ByHand { max_users: 200 });
        assert_eq!(different_work(&planned, &explored), [Aspect::ByHand]);
        assert_eq!(different_work(&explored, &explored.clone()), [Aspect::ByHand]);
        assert!(different_conditions(&explored, &planned).contains(&Aspect::ByHand));
    }

    #[test]
    fn another_kit_size_or_load_model_is_other_work() {
        let (a, by_rate) = (record(), Specimen::ByRate.open().record);
        let expected = [Aspect::Kit, Aspect::Size, Aspect::Data, Aspect::LoadModel];
        assert_eq!(different_work(&a, &by_rate), expected);
        let mut newer = record();
        newer.setup.kit = "dvdstore@2".to_string();
        assert_eq!(different_work(&a, &newer), [Aspect::Kit]);
    }

    #[test]
    fn rows_are_compared_where_the_servers_differ_and_their_seed_only_between_alike_conditions() {
        let (a, mut b) = (record(), record());
        b.setup.tiers.iter_mut().for_each(|tier| tier.version += ".1");
        b.dataset.as_mut().expect("it has data").id = "dvdstore-small-other".to_string();
        assert_eq!(different_conditions(&a, &b), [], "the same rows");
        b.setup.seed = 2;
        assert_eq!((different_work(&a, &b), different_conditions(&a, &b)), (Vec::new(), vec![Aspect::Data]));
        b.dataset.as_mut().expect("it has data").rows.insert("ORDERS".to_string(), 1);
        assert_eq!(different_work(&a, &b), [Aspect::Data]);
    }

    #[test]
    fn a_parameter_counts_by_what_it_says() {
        let (a, mut b) = (record(), record());
        let whole = Value::Float(5.0);
        b.setup.params.insert("n_line_items".to_string(), whole);
        assert_eq!(different_conditions(&a, &b), []);
        b.setup.params.insert("n_line_items".to_string(), Value::Int(6));
        assert_eq!(different_conditions(&a, &b), [Aspect::Parameters]);
    }
}
