//! What two runs must have in common, and what each of them has, as people read it.

use analysis::comparable::{self, Aspect, Data};
use model::RunRecord;

/// The aspect's name: `data`.
pub fn aspect(aspect: Aspect) -> &'static str {
    match aspect {
        Aspect::Kit => "kit",
        Aspect::Mix => "mix",
        Aspect::Size => "size",
        Aspect::Data => "data",
        Aspect::LoadModel => "load model",
        Aspect::ByHand => "way of loading",
        Aspect::Load => "load",
        Aspect::ThinkTime => "think time",
        Aspect::Parameters => "parameters",
        Aspect::Machine => "machine",
        Aspect::StackCpus => "stack's CPUs",
    }
}

/// `the runs differ in their kit: dvdstore@1; tpcw@1`.
pub fn runs_differ(what: Aspect, a: &RunRecord, b: &RunRecord) -> String {
    let same_server = comparable::same_server(a, b);
    let [one, other] = [a, b].map(|record| value(what, record, same_server));
    format!("the runs differ in their {}: {one}; {other}", aspect(what))
}

/// Why figures of `others` don't belong beside those of `base`, each run with its letter and what makes it different work.
pub fn not_comparable(
    (letter, base): (&str, &RunRecord),
    others: &[(String, &RunRecord, Vec<Aspect>)],
) -> String {
    let one = |(other, record, aspects): &(String, &RunRecord, Vec<Aspect>)| {
        // Another kit or size has other data: that says nothing more.
        let follows = aspects.iter().any(|one| matches!(one, Aspect::Kit | Aspect::Size));
        let own = aspects.iter().filter(|one| !follows || **one != Aspect::Data);
        let own = own.map(|one| {
            let [a, b] =
                [base, record].map(|record| value(*one, record, comparable::same_server(base, record)));
            format!("{} {a} and {b}", aspect(*one))
        });
        format!("{letter} and {other} differ in their work ({})", own.collect::<Vec<_>>().join(", "))
    };
    let all = others.iter().map(one).collect::<Vec<_>>().join("; ");
    format!("the runs can't be held against each other: {all}")
}

/// What `record` has of it.
fn value(aspect: Aspect, record: &RunRecord, same_server: bool) -> String {
    let setup = &record.setup;
    match aspect {
        Aspect::Kit => setup.kit.clone(),
        Aspect::Mix => comparable::mix(setup).to_string(),
        Aspect::Size => setup.size.clone(),
        Aspect::Data => match comparable::data(record, same_server) {
            Data::Absent => "none of its own".to_string(),
            Data::Set(id) => id.to_string(),
            Data::Rows(rows) => format!("rows {rows:?}, seed {}", setup.seed),
        },
        Aspect::ByHand if setup.is_by_hand() => "load changed by hand".to_string(),
        Aspect::ByHand => "load as planned".to_string(),
        Aspect::LoadModel if comparable::is_open(setup) => "open (arrivals)".to_string(),
        Aspect::LoadModel => "closed (users)".to_string(),
        Aspect::Load => setup.load_words(),
        Aspect::ThinkTime => {
            setup.think_mean_s.map_or("a cycle time".to_string(), |seconds| format!("{seconds} s"))
        }
        Aspect::Parameters => {
            let pairs = setup.params.iter().map(|(name, value)| format!("{name}={value}"));
            pairs.collect::<Vec<_>>().join(", ")
        }
        Aspect::Machine => comparable::processor(setup).join(", "),
        Aspect::StackCpus => format!("{:?}", setup.stack_cpus),
    }
}
