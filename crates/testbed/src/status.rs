//! What a service's `[[status]]` and `[[counter]]` mean for an instance that stands: ports and sockets instead of names,
//! texts instead of templates, numbers instead of expressions.

use std::collections::BTreeSet;

use minijinja::Value;
use model::catalogue::server_job::{Asked, CounterJob, StatusJob, StatusPlace};
use model::catalogue::service::{Counter, Merge, Reader, ReadyUntil, ServiceManifest, Status};
use model::record::plan::PlanTier;
use model::{Catalogue, Problem, Problems, Result, ServerJob, Setting, document};

use crate::needed;
use crate::render::{Reach, Renderer, setting_value};

/// What an instance of a tier is asked: its statuses that hold with these knobs, and the counters that they have.
pub(crate) fn resolve(
    renderer: &Renderer,
    tier: &PlanTier,
    reach: &Reach,
    context: &Value,
) -> Result<ServerJob> {
    let service = &tier.service;
    let file = format!("{}/service.toml", tier.folder);
    let mut job = ServerJob { tier: tier.name.clone(), ..ServerJob::default() };
    for status in &service.statuses {
        if holds(renderer, &file, "status.when", status.when.as_ref(), context)? {
            job.statuses.push(status_job(status, (renderer, &file), tier, reach, context)?);
        }
    }
    for counter in &service.counters {
        let asked = job.statuses.iter().any(|status| status.name == counter.status);
        if asked && holds(renderer, &file, "counter.when", counter.when.as_ref(), context)? {
            let limit = counter.limit.as_ref();
            let limit = limit.map(|limit| number(renderer, &file, limit, context)).transpose()?;
            job.counters.push(resolved(counter, limit));
        }
    }
    Ok(job)
}

/// What an instance of a tier is asked for one of its statuses; `file` is where that stands.
pub(crate) fn status_job(
    status: &Status,
    (renderer, file): (&Renderer, &str),
    tier: &PlanTier,
    reach: &Reach,
    context: &Value,
) -> Result<StatusJob> {
    let at = status_place(status, reach).ok_or_else(|| nowhere(status).file(file).key("status.at"))?;
    Ok(StatusJob {
        name: status.name.clone(),
        reader: status.reader,
        asked: vec![Asked { at, path: renderer.text(file, &status.path, context)? }],
        user: tier.service.database.as_ref().map(|database| database.user.clone()),
        every_s: status.every_s,
        threads: status.threads.clone(),
    })
}

/// The jobs of a tier's instances as one: each is asked, and where figures add up their limits do. Else the limit of one is that
/// of all.
pub(crate) fn merged(jobs: Vec<ServerJob>) -> ServerJob {
    let mut jobs = jobs.into_iter();
    let mut all = jobs.next().unwrap_or_default();
    for job in jobs {
        for (status, more) in all.statuses.iter_mut().zip(job.statuses) {
            status.asked.extend(more.asked);
        }
        for (counter, more) in all.counters.iter_mut().zip(job.counters) {
            if counter.merge == Merge::Sum {
                counter.limit = counter.limit.zip(more.limit).map(|(one, other)| one + other);
            }
        }
    }
    all
}

fn holds(renderer: &Renderer, file: &str, key: &str, when: Option<&String>, context: &Value) -> Result<bool> {
    when.map_or(Ok(true), |when| Ok(renderer.worked_out(file, key, when, context)?.is_true()))
}

fn status_place(status: &Status, reach: &Reach) -> Option<StatusPlace> {
    let port = reach.ports.get(&status.at).map(|port| StatusPlace::Port(*port));
    port.or_else(|| reach.sockets.get(&status.at).cloned().map(StatusPlace::Socket))
}

fn nowhere(status: &Status) -> Problem {
    Problem::recipe(format!("status `{}` is at `{}`, which is no port or socket", status.name, status.at))
}

fn number(renderer: &Renderer, file: &str, expression: &str, context: &Value) -> Result<f64> {
    let value = renderer.worked_out(file, "counter.limit", expression, context)?;
    f64::try_from(value.clone()).map_err(|_| {
        let what = format!("a limit must be a number, and `{expression}` is {value}");
        Problem::recipe(what).file(file).key("counter.limit").into()
    })
}

fn resolved(counter: &Counter, limit: Option<f64>) -> CounterJob {
    CounterJob {
        name: counter.name.clone(),
        status: counter.status.clone(),
        of: counter.of.clone(),
        kind: counter.kind,
        unit: counter.series_unit(),
        times: counter.times,
        limit,
        merge: counter.merged_as(),
        each: counter.each,
    }
}

/// Everything wrong with a service's modules, ports, statuses and counters that shows without an instance: names of
/// nothing, and expressions that do not parse or use a name that is no knob. Each with its line. `folder` is the service's.
pub fn check(catalogue: &Catalogue, folder: &str, service: &ServiceManifest) -> Result<()> {
    let file = format!("{folder}/service.toml");
    needed::check(catalogue.text(&file)?, &file, service)?;
    let renderer = Renderer::new(catalogue)?;
    let knobs = service.knobs.iter();
    // As an instance has them: `96M` is a number of bytes there.
    let default = |knob: &Setting| knob.accept(&knob.default).unwrap_or_else(|_| knob.default.clone());
    let mut context: Vec<(String, Value)> =
        knobs.map(|knob| (Setting::variable(&knob.name), setting_value(&default(knob)))).collect();
    context.push(("kit".to_string(), Value::from_pairs([("needs", Value::from(Vec::<String>::new()))])));
    context.extend([("cpus", 1), ("memory_bytes", 1 << 30)].map(|(name, n)| (name.into(), Value::from(n))));
    context.push(("loading".to_string(), Value::from(false)));
    let text = catalogue.text(&file)?;
    let mut check =
        Check { file: &file, text, renderer, context: Value::from_pairs(context), problems: Vec::new() };
    for (index, until) in service.ready.untils.iter().enumerate() {
        check.until(index, until, service);
    }
    if let Some(memory) = &service.instances.memory {
        let found = check.renderer.worked_out(&file, "instances.memory", memory, &check.context);
        for mut problem in found.err().map(Problems::into_vec).unwrap_or_default() {
            problem.place.line = document::line(text, &["instances", "memory"]);
            check.problems.push(problem.file(&file).key("instances.memory"));
        }
    }
    let mut names = BTreeSet::new();
    for (index, status) in service.statuses.iter().enumerate() {
        check.status(index, status, service, !names.insert(&status.name));
    }
    let mut seen = BTreeSet::new();
    for (index, counter) in service.counters.iter().enumerate() {
        check.counter(index, counter, service, !seen.insert(&counter.name));
    }
    Problems::check(check.problems)
}

struct Check<'a> {
    file: &'a str,
    text: &'a str,
    renderer: Renderer,
    context: Value,
    problems: Vec<Problem>,
}

impl Check<'_> {
    fn status(&mut self, index: usize, status: &Status, service: &ServiceManifest, again: bool) {
        let list = ("status", index);
        if again {
            self.wrong(list, "name", Problem::recipe(format!("two statuses are called `{}`", status.name)));
        }
        let known: Vec<&str> = service.ports.iter().chain(&service.sockets).map(String::as_str).collect();
        if !known.contains(&status.at.as_str()) {
            self.wrong(list, "at", nowhere(status).remedy(format!("one of: {}", known.join(", "))));
        }
        if service.own_host && service.ports.contains(&status.at) {
            let what = format!("status `{}` is at a port, which can be on a host of its own", status.name);
            let why = "it is asked from this one, and would take part in what goes over the cable";
            self.wrong(list, "at", Problem::recipe(what).why(why).remedy("a socket, or own_host = false"));
        }
        if !(0.1..=3600.0).contains(&status.every_s) {
            let what = format!("{} s is no interval between 0.1 and 3600", status.every_s);
            self.wrong(list, "every_s", Problem::recipe(what));
        }
        if status.reader == Reader::JmxThreads && status.threads.is_none() {
            let what = format!("status `{}` doesn't say which threads have a request", status.name);
            let remedy = r#"threads = { named = ["exec-"], idle = ["org.example.Queue.take"] }"#;
            self.wrong(list, "threads", Problem::recipe(what).why("none would count").remedy(remedy));
        }
        let result = holds(&self.renderer, self.file, "status.when", status.when.as_ref(), &self.context);
        self.keep(list, "when", result.map(|_| ()));
    }

    fn until(&mut self, index: usize, until: &ReadyUntil, service: &ServiceManifest) {
        let list = ("ready.until", index);
        if !service.statuses.iter().any(|status| status.name == until.status) {
            let what = format!("it is of status `{}`, which there is not", until.status);
            self.wrong(list, "status", Problem::recipe(what));
        }
        let result = holds(&self.renderer, self.file, "when", until.when.as_ref(), &self.context);
        self.keep(list, "when", result.map(|_| ()));
        let result = self.renderer.names(self.file, "must", &until.must);
        self.keep(list, "must", result.map(|_| ()));
    }

    fn counter(&mut self, index: usize, counter: &Counter, service: &ServiceManifest, again: bool) {
        let list = ("counter", index);
        if again {
            self.wrong(list, "name", Problem::recipe(format!("two counters are called `{}`", counter.name)));
        }
        if counter.of.is_empty() {
            self.wrong(list, "of", Problem::recipe(format!("counter `{}` is of nothing", counter.name)));
        }
        let known: Vec<&str> = service.statuses.iter().map(|status| status.name.as_str()).collect();
        if !known.contains(&counter.status.as_str()) {
            let what =
                format!("counter `{}` is of status `{}`, which there is not", counter.name, counter.status);
            let near = document::nearest(&counter.status, known.iter().copied());
            let remedy = near.map_or(format!("one of: {}", known.join(", ")), |near| format!("`{near}`"));
            self.wrong(list, "status", Problem::recipe(what).remedy(remedy));
        }
        let result = holds(&self.renderer, self.file, "counter.when", counter.when.as_ref(), &self.context);
        self.keep(list, "when", result.map(|_| ()));
        if let Some(limit) = &counter.limit {
            let result = number(&self.renderer, self.file, limit, &self.context);
            self.keep(list, "limit", result.map(|_| ()));
        }
    }

    fn keep(&mut self, list: (&str, usize), key: &str, result: Result<()>) {
        for problem in result.err().map(Problems::into_vec).unwrap_or_default() {
            self.wrong(list, key, problem);
        }
    }

    /// The line of the manifest instead of the line in the expression.
    fn wrong(&mut self, (list, index): (&str, usize), key: &str, mut problem: Problem) {
        let index = index.to_string();
        let place: Vec<&str> = list.split('.').chain([index.as_str(), key]).collect();
        problem.place.line = document::line(self.text, &place);
        self.problems.push(problem.file(self.file).key(format!("{list}.{key}")));
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::collections::BTreeMap;

    use super::*;

    const SERVICE: &str = r#"format = 1
name = "x"
title = "X"
ports = ["http"]
logs = ["logs/error.log"]
packages = { why = "a test" }
program = { binary = "x", args = [], version_args = [], known_versions = [] }
ready = { probe = "http", within_s = 1 }
stop = { signal = "TERM", within_s = 1 }

[[status]]
name = "page"
reader = "lines"
at = "htp"
when = "workers >"

[[status]]
name = "page"
reader = "lines"
at = "http"

[[counter]]
name = "busy"
status = "pag"
of = ["Busy"]
kind = "gauge"
unit = "workers"
limit = "wrkers * 2"
help = "busy"

[[counter]]
name = "idle"
status = "page"
of = []
kind = "gauge"
unit = "workers"
limit = "'many'"
help = "idle"

[[counter]]
name = "right"
status = "page"
of = ["Right"]
kind = "rate"
unit = "requests"
limit = "workers * cpus + memory * 0.8"
help = "right"

[[knob]]
name = "workers"
type = "int"
default = 1
help = "workers"

[[knob]]
name = "memory"
type = "size"
default = "96M"
help = "memory"
"#;

    #[test]
    fn figures_of_instances_add_up_but_shares_have_their_mean_unless_the_counter_says_otherwise() {
        let service = |unit: &str, merge: &str| {
            let text = SERVICE.replace("htp", "http").replacen(
                "unit = \"workers\"",
                &format!("unit = \"{unit}\"\n{merge}"),
                1,
            );
            let service: ServiceManifest = document::read("service.toml", &text).expect("a manifest");
            service.counters[0].merged_as()
        };
        assert_eq!(service("workers", ""), Merge::Sum);
        assert_eq!(service("ratio", ""), Merge::Mean);
        assert_eq!(service("ratio", "merge = \"max\""), Merge::Max);
    }

    #[test]
    fn a_server_that_may_be_on_another_host_is_asked_over_a_socket() {
        let text = SERVICE.replace("logs =", "own_host = true\nlogs =").replace("htp", "http");
        let catalogue = Catalogue::new(BTreeMap::from([(
            "services/x/service.toml".to_string(),
            Cow::Owned(text.into_bytes()),
        )]));
        let service = catalogue.service("x").expect("a manifest of the right form");
        let problems = check(&catalogue, "services/x", &service).expect_err("it has mistakes").into_vec();
        let at_ports = problems.iter().filter(|problem| problem.what.contains("is at a port"));
        assert_eq!(at_ports.map(|problem| problem.place.line).collect::<Vec<_>>(), [Some(15), Some(21)]);
    }

    #[test]
    fn a_status_of_threads_says_which_of_them_have_a_request() {
        let text = SERVICE.replace("htp", "http").replacen("\"lines\"", "\"jmx_threads\"", 1);
        let catalogue = Catalogue::new(BTreeMap::from([(
            "services/x/service.toml".to_string(),
            Cow::Owned(text.into_bytes()),
        )]));
        let service = catalogue.service("x").expect("a manifest of the right form");
        let problems = check(&catalogue, "services/x", &service).expect_err("it has mistakes").into_vec();
        let told = problems.iter().find(|problem| problem.what.contains("which threads have a request"));
        assert_eq!(
            told.and_then(|problem| problem.place.key.as_deref()),
            Some("status.threads"),
            "{problems:#?}"
        );
    }

    #[test]
    fn every_mistake_of_statuses_and_counters_is_told_with_its_line() {
        let text: Cow<'static, [u8]> = Cow::Borrowed(SERVICE.as_bytes());
        let catalogue = Catalogue::new(BTreeMap::from([("services/x/service.toml".to_string(), text)]));
        let service = catalogue.service("x").expect("a manifest of the right form");
        let problems = check(&catalogue, "services/x", &service).expect_err("it has six mistakes").into_vec();
        let told: Vec<(Option<u32>, String)> =
            problems.iter().map(|problem| (problem.place.line, problem.to_string())).collect();
        let lines: Vec<u32> = told.iter().filter_map(|(line, _)| *line).collect();
        assert_eq!(lines, [14, 15, 18, 24, 28, 34, 37], "{told:#?}");
        for (index, part) in
            [(0, "`htp`"), (2, "two statuses"), (3, "`page`"), (4, "wrkers"), (6, "a number")]
        {
            assert!(told[index].1.contains(part), "{part} in {}", told[index].1);
        }
    }
}
