//! What holds a stack, in the words and figures that every rendering of a diagnosis shares.

use model::record::Setup;
use model::record::diagnosis::{Change, Clue, ClueRole, Diagnosis, Doing, Ledger, LedgerPart, Suspect, Try};
use model::record::study::By;
use model::{RunRecord, StudyRecord};

use crate::figures;
use crate::headline::sentence;
use crate::settings::Settings;
use crate::study::words::command;

/// Parts of the ledger smaller than this, as a share of all, are left out: nobody could see them.
const SEEN_RATIO: f64 = 0.005;

/// A suspect that is less likely than this is only named, unless it is the first.
const LIKELY_RATIO: f64 = 0.1;

/// How many suspects are told of at length: the limit and its runner-up among them.
const SUSPECTS_TOLD: usize = 3;

/// The suspects that are told of at length, and those that are only named.
pub(crate) fn suspects(diagnosis: &Diagnosis) -> (&[Suspect], &[Suspect]) {
    let all = diagnosis.suspects.as_slice();
    let likely = all.iter().take(SUSPECTS_TOLD).take_while(|one| one.sure_ratio >= LIKELY_RATIO).count();
    all.split_at(likely.max(1).min(all.len()))
}

/// `db, disk (3 % sure)`: a suspect in a few words.
pub(crate) fn named(suspect: &Suspect) -> String {
    format!("{} ({})", location(suspect), sure(suspect.sure_ratio))
}

/// A part of the time of a mean operation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    /// web, app, db, cache; absent for what no tier accounts for.
    pub(crate) tier: Option<String>,
    /// What its threads did; absent for what no tier accounts for.
    pub(crate) doing: Option<Doing>,
    /// `db: waiting for a lock`.
    pub(crate) name: String,
    /// Seconds of a mean operation.
    pub(crate) s_per_operation: f64,
    /// Of the whole bar: of the response time, or of all parts where they add up to more.
    pub(crate) share_ratio: f64,
}

/// The parts of a ledger that can be seen, the largest first and last what no tier accounts for.
pub(crate) fn parts(ledger: &Ledger) -> Vec<Part> {
    let mut all = all_parts(ledger);
    all.retain(Part::is_seen);
    all
}

/// All parts of a ledger, the largest first and last what no tier accounts for.
pub(crate) fn all_parts(ledger: &Ledger) -> Vec<Part> {
    let known: f64 = ledger.parts.iter().map(|part| part.s_per_operation).sum();
    let whole_s = ledger.response_s.max(known + ledger.unaccounted_s);
    if !(whole_s > 0.0 && whole_s.is_finite()) {
        return Vec::new();
    }
    let of_tiers = ledger.parts.iter().map(|part| Part {
        tier: Some(part.tier.clone()),
        doing: Some(part.doing),
        name: name(part),
        s_per_operation: part.s_per_operation,
        share_ratio: part.s_per_operation / whole_s,
    });
    let rest = Part {
        tier: None,
        doing: None,
        name: "accounted for by no tier".to_string(),
        s_per_operation: ledger.unaccounted_s,
        share_ratio: ledger.unaccounted_s / whole_s,
    };
    of_tiers.chain([rest]).collect()
}

impl Part {
    /// Whether it is wide enough for a bar.
    pub(crate) fn is_seen(&self) -> bool {
        self.share_ratio >= SEEN_RATIO
    }
}

/// `db: waiting for a lock`, `web: waiting for a disk (fsync)`, `app: waiting for 10.0.0.7:443`.
fn name(part: &LedgerPart) -> String {
    let LedgerPart { tier, doing, mechanisms, .. } = part;
    if tier == "generator" {
        return "the load generator: late to read an answer".to_string();
    }
    match mechanisms.first().filter(|first| first.share_ratio >= 0.5) {
        Some(first) if *doing == Doing::WaitingForCallee && !first.object.is_empty() => {
            format!("{tier}: waiting for {}", first.object)
        }
        Some(first) => format!("{tier}: {} ({})", doing.title(), first.call),
        None => format!("{tier}: {}", doing.title()),
    }
}

/// What the ledger is about: `A mean operation took 82.0 ms.`
pub(crate) fn ledger_sentence(ledger: &Ledger) -> String {
    let took = figures::time(Some(ledger.response_s));
    let known: f64 = ledger.parts.iter().map(|part| part.s_per_operation).sum();
    if known > ledger.response_s * 1.05 {
        return format!("A mean operation took {took}; tiers that work at the same time add up to more.");
    }
    // Nobody who reads `accounted for by no tier` beside the longest bar knows where to look.
    let elsewhere = if ledger.unaccounted_s > ledger.response_s / 2.0 {
        "; most of it passed where no thread had it: in queues before the tiers, or in event loops"
    } else {
        ""
    };
    format!("A mean operation took {took}. This is what the tiers did meanwhile{elsewhere}.")
}

/// The answer as a sentence with a capital letter and a full stop.
pub(crate) fn answer(diagnosis: &Diagnosis) -> String {
    sentence(&diagnosis.sentence)
}

/// `db, row locks`: where a suspect is. A resource that names its tier is not told twice.
pub(crate) fn location(suspect: &Suspect) -> String {
    let resource = if suspect.resource == "cpu" { "CPU" } else { suspect.resource.as_str() };
    match suspect.tier.as_str() {
        "host" => format!("the machine, {resource}"),
        tier => format!("{tier}, {resource}"),
    }
}

/// `93 % sure`; never certain, because evidence never is.
pub(crate) fn sure(ratio: f64) -> String {
    match ratio {
        ratio if !ratio.is_finite() => "not known how sure".to_string(),
        ratio if ratio >= 0.995 => "over 99 % sure".to_string(),
        ratio if ratio < 0.01 => "under 1 % sure".to_string(),
        ratio => format!("{:.0} % sure", ratio * 100.0),
    }
}

/// Evidence that is there at least this far is strong, where it is more than support.
const STRONG_RATIO: f64 = 0.5;

/// What a piece of evidence does to a suspicion: `strongly for`.
pub(crate) fn direction(clue: &Clue) -> &'static str {
    match (clue.role, clue.strength_ratio >= STRONG_RATIO) {
        (ClueRole::Against, true) => "strongly against",
        (ClueRole::Against, false) => "against",
        (ClueRole::Needed | ClueRole::OneOf, true) => "strongly for",
        (_, _) => "for",
    }
}

/// `15 % of its CPU time` and this.
pub(crate) fn changed(change: Change) -> &'static str {
    match change {
        Change::Taken => "taken",
        Change::Added => "more",
        Change::Lengthened => "made longer",
    }
}

/// What a try changes: `db.transaction_isolation: READ-COMMITTED instead of REPEATABLE-READ`; absent where it is no knob.
pub(crate) fn change(one: &Try) -> Option<String> {
    let knob = one.knob.as_ref()?;
    let values = one.values.join(" or ");
    Some(match (values.is_empty(), &one.now) {
        (true, None) => knob.clone(),
        (true, Some(now)) => format!("{knob}: now {now}"),
        (false, None) => format!("{knob}: {values}"),
        (false, Some(now)) => format!("{knob}: {values} instead of {now}"),
    })
}

/// What a diagnosis is about: enough of a run or study to say how a setting is tried.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tried<'a> {
    /// What was measured.
    measured: Measured<'a>,
    /// The load that both are compared at: `--users 40`, as flag and value; absent for the kit's own.
    load: Option<(&'a str, f64)>,
    /// The fault that was injected: only a run has it, a comparison hasn't.
    fault: Option<&'a str>,
}

#[derive(Debug, Clone, Copy)]
enum Measured<'a> {
    Run(&'a RunRecord),
    Study(&'a StudyRecord),
}

impl<'a> Tried<'a> {
    /// In a run.
    pub(crate) fn of_run(record: &'a RunRecord) -> Tried<'a> {
        let setup = &record.setup;
        let arrivals = setup.load.as_ref().is_some_and(|load| load.arrivals.is_some());
        let load = (!arrivals).then_some(("--users", f64::from(setup.users)));
        let fault = record.injected.as_ref().and_then(|injected| injected.fault.as_deref());
        Tried { measured: Measured::Run(record), load, fault }
    }

    /// In a study: at its load line where it has one.
    pub(crate) fn of_study(record: &'a StudyRecord) -> Tried<'a> {
        let kind = record.question.kind();
        let flag = if kind.by() == Some(By::Rate) { "--rate" } else { "--users" };
        let load = kind.load_line().map(|line| (flag, line.load));
        Tried { measured: Measured::Study(record), load, fault: None }
    }

    fn setup(self) -> &'a Setup {
        match self.measured {
            Measured::Run(record) => &record.setup,
            Measured::Study(record) => &record.setup,
        }
    }

    /// The settings that it was measured with; absent where they are not known, or not the same throughout.
    fn settings(self) -> Option<Settings> {
        match self.measured {
            Measured::Study(record) if !record.question.kind().factors().is_empty() => None,
            Measured::Study(record) => Some(Settings::of_study(record)),
            Measured::Run(record) => Settings::of_run(record),
        }
    }
}

/// The command line that tries the first value of a knob: a comparison with what was measured, or the run again where
/// a fault was injected into it. Absent where there is no knob, no stack of ours, or no one set of settings.
pub(crate) fn try_command(tried: Tried<'_>, one: &Try) -> Option<String> {
    let (knob, value) = (one.knob.as_ref()?, one.values.first()?);
    let setup = tried.setup();
    // What a guest did among others is not done again by one stack alone.
    let ours = setup.target.is_none() && setup.guest.is_none();
    let Settings { param, set: own, guests, .. } = tried.settings().filter(|_| ours)?;
    // The same for both sides: with other ones it would be another workload, or none that starts.
    let params = param.into_iter().flat_map(|param| ["--param".to_string(), param]);
    let kit = setup.kit.split('@').next().unwrap_or_default();
    let topology = setup.topology.iter().flat_map(|name| ["--topology".to_string(), name.clone()]);
    let guests = guests.iter().flat_map(|count| ["--guests".to_string(), count.to_string()]);
    let placed: Vec<String> = topology.chain(guests).collect();
    if let Some(fault) = tried.fault {
        let mut line = ["plimsoll", "run", kit, "--fault", fault].map(str::to_string).to_vec();
        let set = own.into_iter().chain([format!("{knob}={value}")]);
        line.extend(placed);
        line.extend(params);
        line.extend(set.flat_map(|setting| ["--set".to_string(), setting]));
        return Some(command(&line));
    }
    let base = if own.is_empty() { "default".to_string() } else { own.join(",") };
    let other = own.iter().cloned().chain([format!("{knob}={value}")]).collect::<Vec<_>>().join(",");
    let mut line =
        ["plimsoll", "compare", base.as_str(), other.as_str(), "--kit", kit].map(str::to_string).to_vec();
    line.extend(["--stack", &setup.stack, "--size", &setup.size].map(str::to_string));
    line.extend(placed);
    line.extend(setup.mix.iter().flat_map(|mix| ["--mix", mix].map(str::to_string)));
    line.extend(params);
    if let Some((flag, load)) = tried.load {
        let load = if flag == "--users" { load.round() } else { load };
        line.extend([flag.to_string(), load.to_string()]);
    }
    Some(command(&line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Value;
    use model::catalogue::setting::GivenSettings;
    use model::record::diagnosis::Mechanism;
    use testkit::recorded::Specimen;

    fn ledger(response_s: f64, parts: &[(Doing, f64)], unaccounted_s: f64) -> Ledger {
        let part = |(doing, s): &(Doing, f64)| LedgerPart {
            tier: "web".into(),
            doing: *doing,
            s_per_operation: *s,
            share_ratio: s / response_s,
            mechanisms: Vec::new(),
        };
        Ledger { response_s, parts: parts.iter().map(part).collect(), unaccounted_s }
    }

    #[test]
    fn the_parts_of_a_ledger_fill_its_bar_and_no_more_also_where_tiers_work_at_the_same_time() {
        let even = parts(&ledger(0.1, &[(Doing::Running, 0.06), (Doing::WaitingForLock, 0.0001)], 0.0399));
        let names: Vec<&str> = even.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["web: computing", "accounted for by no tier"], "what can't be seen is left out");
        let over = parts(&ledger(0.1, &[(Doing::Running, 0.12), (Doing::WaitingForDisk, 0.08)], 0.0));
        let sum: f64 = over.iter().map(|part| part.share_ratio).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{over:?}");
        assert_eq!(parts(&ledger(0.0, &[], 0.0)), []);
    }

    #[test]
    fn a_wait_has_the_call_that_most_of_it_was_in_or_whom_it_was_for() {
        let mechanism = |call: &str, object: &str, share_ratio| Mechanism {
            call: call.into(),
            object: object.into(),
            kernel_lock: false,
            share_ratio,
        };
        let named = |doing, mechanisms| {
            let part =
                LedgerPart { tier: "web".into(), doing, s_per_operation: 0.1, share_ratio: 1.0, mechanisms };
            name(&part)
        };
        let sync = || vec![mechanism("fsync", "tmp/log", 0.9)];
        assert_eq!(named(Doing::WaitingForDisk, sync()), "web: waiting for a disk (fsync)");
        assert_eq!(named(Doing::WaitingForDisk, Vec::new()), "web: waiting for a disk");
        let bank = vec![mechanism("poll", "10.0.0.7:443", 0.8)];
        assert_eq!(named(Doing::WaitingForCallee, bank), "web: waiting for 10.0.0.7:443");
        let many = vec![mechanism("futex", "", 0.4), mechanism("flock", "a", 0.3)];
        assert_eq!(named(Doing::WaitingForLock, many), "web: waiting for a lock");
    }

    #[test]
    fn time_that_most_of_an_operation_took_and_no_tier_accounts_for_is_said_to_pass_in_queues() {
        let said = |unaccounted_s: f64| {
            ledger_sentence(&ledger(0.1, &[(Doing::Running, 0.1 - unaccounted_s)], unaccounted_s))
        };
        assert_eq!(said(0.04), "A mean operation took 100 ms. This is what the tiers did meanwhile.");
        assert!(said(0.06).contains("meanwhile; most of it passed where no thread had it: in queues"));
    }

    #[test]
    fn nothing_is_ever_certain() {
        assert_eq!([1.0, 0.93, 0.001].map(sure), ["over 99 % sure", "93 % sure", "under 1 % sure"]);
    }

    #[test]
    fn a_setting_is_tried_beside_what_was_measured_with_all_that_was_set_there() {
        let mut record = Specimen::Failed.open().record;
        let suspects = record.diagnosis.take().expect("one").suspects;
        let mut tries: Vec<_> = suspects.into_iter().flat_map(|suspect| suspect.tries).collect();
        tries.retain(|one| one.knob.is_some());
        let mut of = |command: &[&str], given: Option<GivenSettings>, fault: Option<&str>| {
            record.command = command.iter().map(|word| word.to_string()).collect();
            record.setup.given = given;
            let tried = Tried { load: Some(("--users", 40.0)), fault, ..Tried::of_run(&record) };
            try_command(tried, &tries[0])
        };
        let given = |param: &[(&str, &str)], set: &[(&str, &str)]| {
            let values = |pairs: &[(&str, &str)]| {
                pairs.iter().map(|(name, value)| (name.to_string(), Value::Text(value.to_string()))).collect()
            };
            Some(GivenSettings { param: values(param), set: values(set) })
        };
        let command = ["plimsoll", "run", "shop.toml"];
        assert_eq!(
            of(&command, given(&[], &[]), None).expect("a knob has a command"),
            "plimsoll compare default db.transaction_isolation=READ-COMMITTED --kit dvdstore --stack \
             apache-prefork-modphp-mariadb --size small --users 40"
        );
        let workers = of(&command, given(&[], &[("web.MaxRequestWorkers", "9")]), None).expect("it has one");
        assert!(workers.starts_with(
            "plimsoll compare web.MaxRequestWorkers=9 web.MaxRequestWorkers=9,db.transaction_isolation=READ-COMMITTED "
        ));
        let far = given(&[("database_over", "tcp")], &[("db.net.host", "own")]);
        let far = of(&command, far, None).expect("it has one");
        assert!(far.starts_with("plimsoll compare db.net.host=own db.net.host=own,db.transaction"), "{far}");
        assert!(far.ends_with(" --size small --param database_over=tcp --users 40"), "{far}");
        assert_eq!(
            of(&["plimsoll", "faults", "--quick"], given(&[], &[]), Some("hot-row")).as_deref(),
            Some("plimsoll run dvdstore --fault hot-row --set db.transaction_isolation=READ-COMMITTED")
        );
        let cell = ["plimsoll", "sweep", "workers"];
        assert_eq!(of(&cell, None, None), None, "what an old trial of a sweep was set to is not known");
        assert!(of(&cell, given(&[], &[("web.MaxRequestWorkers", "9")]), None).is_some());
        record.setup.mix = Some("browsing".to_string());
        let tried = Tried { load: None, fault: None, ..Tried::of_run(&record) };
        let browsing = try_command(tried, &tries[0]);
        let browsing = browsing.expect("a knob has a command");
        assert!(browsing.ends_with(" --size small --mix browsing"), "{browsing}");
        record.setup.guests = Some(4);
        let tried = Tried { load: Some(("--users", 40.0)), fault: None, ..Tried::of_run(&record) };
        let several = try_command(tried, &tries[0]).expect("a knob has a command");
        assert!(
            several.contains(" --guests 4 --mix browsing ") && several.ends_with(" --users 40"),
            "{several}"
        );
        let guest = model::record::plan::Guest { number: 2, cpu_limit_cores: None, memory_limit_bytes: None };
        record.setup.guest = Some(guest);
        assert_eq!(try_command(Tried::of_run(&record), &tries[0]), None, "it was one of four");
        let bare = Try { knob: None, now: None, values: Vec::new(), why: "write less".into() };
        assert_eq!(
            (change(&bare), change(&tries[0]).as_deref()),
            (None, Some("db.transaction_isolation: READ-COMMITTED instead of REPEATABLE-READ"))
        );
    }
}
