//! Study files against a catalogue of a few lines.

mod forms;
mod signals;

use super::*;
use crate::record::study::{Arm, Form, Measurement, SweepOrder};
use crate::{Catalogue, Signal, SignalRegistry, SweepPlan};

const KIT: &str = r#"
format = 1
name = "shop"
version = 1
title = "Shop"
source = "here"
needs = ["web"]
app = "app"
session = "session.lua"
front_page = "/"
default_size = "small"
default_stack = "one"
[state]
drifts = false
why = "nothing is written"
reset = "none"
[sizes]
small = { rows = 1 }
large = { rows = 9 }
[users]
default = 5
ramp_per_s = 10
think = { distribution = "fixed", value = 1.0 }
[mix]
visit = 1
[qos]
all = ["p95 < 2s"]
[[param]]
name = "n"
type = "int"
default = 3
min = 1
max = 9
help = "how many"
[[metric]]
name = "mbit_per_s"
title = "Throughput"
unit = "Mbit/s"
of = "bytes"
per = "second"
[[metric]]
name = "fast"
title = "Response time, 5 %"
unit = "s"
of = "all"
per = { percentile = 5.0 }
[[metric]]
name = "fast_visit"
title = "Response time of a visit, 5 %"
unit = "s"
of = "visit"
per = { percentile = 5.0 }
"#;
const SERVICE: &str = r#"
format = 1
name = "httpd"
title = "A server"
ports = ["http"]
logs = []
[packages]
install = []
why = "the web server"
[program]
binary = "httpd"
args = []
version_args = ["-v"]
known_versions = ["1."]
[ready]
probe = "http"
within_s = 30
[stop]
signal = "TERM"
within_s = 10
[[knob]]
name = "pool.workers"
type = "int"
default = 4
min = 1
max = 64
help = "workers"
[[knob]]
name = "queue"
type = "int"
default = 10
min = 1
max = 100
help = "waiting"
"#;

fn catalogue() -> Catalogue {
    catalogue_with(KIT)
}

fn catalogue_with(kit: &str) -> Catalogue {
    let stack = |name: &str| {
        format!(
            "format = 1\nname = \"{name}\"\ntitle = \"{name}\"\nprovides = [\"web\"]\n[[tier]]\nname = \"web\"\n\
             service = \"httpd\"\n"
        )
    };
    let topology =
        |name: &str, guests: &str| format!("format = 1\nname = \"{name}\"\ntitle = \"{name}\"\n{guests}");
    let files = [
        ("topologies/bare.toml", topology("bare", "")),
        ("topologies/six-cores.toml", topology("six-cores", "[[guest]]\ncount = 2\ncpu = 6\n")),
        ("kits/shop/kit.toml", kit.to_string()),
        ("kits/shop/session.lua", String::new()),
        ("kits/shop/app/index.html", String::new()),
        ("services/httpd/service.toml", SERVICE.to_string()),
        ("stacks/one.toml", stack("one")),
        ("services/httpd2/service.toml", SERVICE.replace("name = \"httpd\"", "name = \"httpd2\"")),
        ("stacks/two.toml", stack("two")),
        ("stacks/other.toml", stack("other").replace("\"httpd\"", "\"httpd2\"")),
    ];
    Catalogue::new(
        files.into_iter().map(|(path, text)| (path.to_string(), text.into_bytes().into())).collect(),
    )
}

/// What runs of this catalogue can hold, as far as these tests go.
fn registry() -> SignalRegistry {
    let blocks = Signal::of_tier("calls.blocks", "1/s", "how often its threads blocked");
    let fork = Signal::of_tier("calls.fork_s", "s", "CPU time in which a process was made");
    SignalRegistry::new([blocks, fork], [])
}

const HEAD: &str = "format = 1\nname = \"s\"\ntitle = \"S\"\nkit = \"shop\"\n";

fn resolve(text: &str) -> Result<SweepPlan> {
    let mut plans = resolve_all(text)?;
    Ok(plans.remove(0))
}

fn resolve_all(text: &str) -> Result<Vec<SweepPlan>> {
    StudyFile::read("s.toml", text)?.resolve_all("s.toml", text, (&catalogue(), &registry()), &[0, 1])
}

fn plan(rest: &str) -> SweepPlan {
    resolve(&format!("{HEAD}{rest}")).unwrap_or_else(|problems| panic!("{problems}\n{rest}"))
}

fn refused(rest: &str) -> Vec<String> {
    match resolve(&format!("{HEAD}{rest}")) {
        Ok(plan) => panic!("it must be refused:\n{rest}\nbut is {:#?}", plan.sweep),
        Err(problems) => problems.iter().map(|problem| problem.to_string().replace('\n', " ")).collect(),
    }
}

#[test]
fn a_grid_has_every_combination_the_last_factor_changing_fastest() {
    let plan = plan(
        "stacks = [\"one\", \"two\"]\nusers = [10, 20]\nrepeats = 3\n[[factor]]\nknob = \"web.queue\"\nvalues = [5, 50]\n",
    );
    let names: Vec<&str> = plan.sweep.factors.iter().map(|factor| factor.name.as_str()).collect();
    assert_eq!(names, ["stack", "web.queue", "users"]);
    let labels: Vec<&str> = plan.arms.iter().map(|arm| arm.label.as_str()).collect();
    assert_eq!(labels.len(), 8);
    assert_eq!(labels[1], "stack = one, web.queue = 5, users = 20");
    assert_eq!(plan.loads, [10.0, 20.0, 10.0, 20.0, 10.0, 20.0, 10.0, 20.0]);
    assert_eq!(plan.sweep.cells[5].levels, [1, 0, 1]);
    assert_eq!(plan.arms[5].recipe.stack.as_deref(), Some("two"));
    assert_eq!(plan.arms[5].levels["users"], "20");
    assert_eq!(plan.sweep.measurement, Measurement::Window { window_s: 20.0 });
    assert_eq!((plan.sweep.repeats, plan.sweep.order), (3, SweepOrder::Random));
}

#[test]
fn knobs_can_change_together_and_parameters_over_a_range() {
    let plan = plan(
        "users = [10]\n[[factor]]\nname = \"size\"\nlabels = [\"small\", \"large\"]\nset = [{ \"web.queue\" = 5, \
         \"web.pool.workers\" = 2 }, { \"web.queue\" = 50, \"web.pool.workers\" = 20 }]\n[[factor]]\nparam = \"n\"\n\
         range = { from = 1, to = 9, steps = 3 }\n[titles]\n\"param.n\" = \"Number\"\n",
    );
    assert_eq!(plan.arms.len(), 6);
    assert_eq!(plan.arms[5].label, "size = large, param.n = 9");
    assert_eq!(plan.arms[5].recipe.set.len(), 2);
    assert_eq!(plan.sweep.factors[1].title, "Number");
    assert_eq!(plan.loads, [10.0; 6], "a single load is in every cell without being a factor");
}

#[test]
fn a_knob_of_a_service_holds_in_the_cells_whose_stack_has_that_service() {
    let grid = |set: &str| {
        format!(
            "users = [10]\nstacks = [\"one\", \"other\"]\n[set]\n\"web.pool.workers\" = 7\n{set}\n[[factor]]\n\
         name = \"workers\"\nset = [{{ \"httpd.queue\" = 5 }}, {{ \"httpd2.queue\" = 9 }}]\n"
        )
    };
    let plan = plan(&grid(""));
    let keys = |arm: &Arm| arm.recipe.set.keys().cloned().collect::<Vec<_>>().join(" ");
    let sets: Vec<String> = plan.arms.iter().map(keys).collect();
    let [own, none] = ["httpd.queue web.pool.workers", "web.pool.workers"];
    assert_eq!(sets, [own, none, none, "httpd2.queue web.pool.workers"]);
    let said = refused(&grid("\"httpd3.length\" = 9"));
    assert!(
        said[0].starts_with("s.toml:9: set.httpd3.length: `httpd3` is neither a tier nor a service"),
        "{said:#?}"
    );
}

#[test]
fn listed_cells_are_measured_as_they_are_and_their_numbers_are_levels_by_size() {
    let plan = plan(
        "[[cell]]\nusers = 15\nset = { \"web.queue\" = 32 }\n[[cell]]\nusers = 15\nset = { \"web.queue\" = 8 }\n\
         [[cell]]\nusers = 17\nset = { \"web.queue\" = 8 }\n[set]\n\"web.pool.workers\" = 7\n",
    );
    assert_eq!(plan.arms.len(), 3);
    let queue = &plan.sweep.factors[0];
    assert_eq!(
        (queue.name.as_str(), queue.levels.as_slice()),
        ("web.queue", ["8", "32"].map(String::from).as_slice())
    );
    assert_eq!(
        plan.sweep.cells.iter().map(|cell| cell.levels.clone()).collect::<Vec<_>>(),
        [[1, 0], [0, 0], [0, 1]]
    );
    assert_eq!(plan.arms[2].recipe.set.len(), 2, "what is common is in every cell");
    assert_eq!(plan.loads, [15.0, 15.0, 17.0]);
}

#[test]
fn a_load_line_can_be_looked_for_in_each_cell() {
    let plan = plan(
        "[find]\nquick = true\nbudget = \"4min\"\n[[factor]]\nknob = \"httpd.pool.workers\"\nvalues = [2, 4]\n",
    );
    let Measurement::LoadLine(goal) = &plan.sweep.measurement else { panic!("{:?}", plan.sweep.measurement) };
    assert_eq!((goal.budget_s, goal.half_width_ratio), (240.0, 0.1));
    assert_eq!(plan.loads, [0.0, 0.0]);
}

#[test]
fn a_search_is_told_as_on_the_command_line_and_less_time_shortens_its_windows() {
    let plan = plan("[find]\nbudget = \"5min\"\nwithin = 0.03\nmost = 4\n");
    let Measurement::LoadLine(goal) = &plan.sweep.measurement else { panic!("{:?}", plan.sweep.measurement) };
    assert_eq!((goal.budget_s, goal.half_width_ratio), (300.0, 0.03));
    assert_eq!((goal.ramp_window_s, goal.window_s, goal.confirm_s), (5.0, 10.0, 30.0));
    assert_eq!(goal.start, 4.0, "the usual start is moved");
}

#[test]
fn a_load_line_is_looked_for_as_far_as_each_cells_own_data_set_is_for() {
    let kit = KIT.replace("[users]\n", "[users]\nloaded_for = \"rows\"\n");
    let kit = kit.replace("rows = 1 }", "rows = 40 }").replace("rows = 9 }", "rows = 900 }");
    let most = |find: &str| {
        let text = format!("{HEAD}sizes = [\"small\", \"large\"]\n[find]\n{find}");
        let study = StudyFile::read("s.toml", &text).unwrap_or_else(|problems| panic!("{problems}"));
        let plan = study.resolve(Form::Short, "s.toml", &text, (&catalogue_with(&kit), &registry()), &[0, 1]);
        let sweep = plan.unwrap_or_else(|problems| panic!("{problems}")).sweep;
        let Measurement::LoadLine(goal) = &sweep.measurement else { panic!("{:?}", sweep.measurement) };
        let goals = sweep.cells.iter().map(|cell| cell.goal(goal));
        sweep.cells.iter().zip(goals).map(|(cell, goal)| (cell.most, goal.most)).collect::<Vec<_>>()
    };
    assert_eq!(most(""), [(Some(40.0), 40.0), (Some(900.0), 900.0)]);
    assert_eq!(most("most = 400\n"), [(Some(40.0), 40.0), (None, 400.0)]);
    assert_eq!(most("by = \"rate\"\n"), [(None, 100_000.0), (None, 100_000.0)], "data is for users");
}

#[test]
fn several_mixes_are_a_factor_and_one_that_is_not_the_kits_is_told_with_its_line() {
    let kit = KIT.replace("[qos]\n", "[mixes.late.mix]\nvisit = 1\n[qos]\n");
    let resolved = |mixes: &str| {
        let text = format!("{HEAD}{mixes}\nusers = [5]\n");
        let study = StudyFile::read("s.toml", &text).unwrap_or_else(|problems| panic!("{problems}"));
        study.resolve(Form::Short, "s.toml", &text, (&catalogue_with(&kit), &registry()), &[0, 1])
    };
    let plan = resolved("mixes = [\"default\", \"late\"]").unwrap_or_else(|problems| panic!("{problems}"));
    let mixes: Vec<_> = plan.arms.iter().map(|arm| arm.recipe.mix.as_deref()).collect();
    assert_eq!(mixes, [Some("default"), Some("late")]);
    let said = resolved("mixes = [\"default\", \"lat\"]").expect_err("there is no such mix").to_string();
    assert!(said.contains("s.toml:5") && said.contains("late"), "{said}");
    let said = resolved("mix = \"late\"\nmixes = [\"default\"]").expect_err("both").to_string();
    assert!(said.contains("leave one of `mix` and `mixes` out"), "{said}");
}

#[test]
fn a_search_begins_at_the_kits_usual_users_unless_the_study_says_another() {
    let start = |rest: &str| {
        let plan = plan(rest);
        let Measurement::LoadLine(goal) = plan.sweep.measurement else { panic!("{rest}") };
        goal.start
    };
    assert_eq!(start("[find]\nmost = 90\n"), 5.0, "its users pause");
    assert_eq!(start("[find]\nstart = 30\n"), 30.0);
    assert_eq!(start("[find]\nby = \"rate\"\n"), 10.0);
}

#[test]
fn all_mistakes_of_the_text_are_told_at_once_with_their_lines() {
    let said = refused("user = [1]\nrepeats = 0\n[[factor]]\nkob = \"web.queue\"\n[find]\nbye = \"users\"\n");
    let expected = [
        "s.toml:5: user: unknown key   try: `users`",
        "s.toml:6: repeats: 0 is out of range; it must be between 1 and 1000",
        "s.toml:8: factor[0].kob: unknown key   try: `knob`",
    ];
    for sentence in expected {
        assert!(said.iter().any(|said| said == sentence), "missing: {sentence}\ngot: {said:#?}");
    }
    assert!(said.iter().any(|said| said.starts_with("s.toml:10: find.bye: unknown key")), "{said:#?}");
}

#[test]
fn a_bad_value_is_named_with_its_line_and_its_cell_once() {
    let said = refused("users = [10, 20]\n[[factor]]\nknob = \"httpd.pool.workers\"\nvalues = [4,\n  400]\n");
    assert_eq!(said.len(), 1, "{said:#?}");
    assert!(said[0].starts_with("s.toml:9: set.web.pool.workers: 400 is out of range"), "{said:#?}");
    assert!(said[0].contains("httpd.pool.workers = 400, users = 10 and 1 more"), "{said:#?}");
}

#[test]
fn mistakes_of_every_cell_are_told_once_and_without_a_cell() {
    let said = refused("users = [10, 20]\n[set]\n\"web.quee\" = 3\n[param]\nm = 1\n");
    assert_eq!(said.len(), 2, "{said:#?}");
    assert!(said[0].starts_with("s.toml:9: param.m: unknown setting `m`"), "{said:#?}");
    assert!(
        said[1].starts_with("s.toml:7: set.web.quee: unknown setting `quee`   try: `queue`"),
        "{said:#?}"
    );
}

#[test]
fn a_kit_or_stack_that_is_not_there_is_told_with_the_nearest_name() {
    let said = refused("stacks = [\"one\", \"twoo\"]\nusers = [1]\n");
    assert!(said.iter().any(|said| said.contains("no stack `twoo`") && said.contains("`two`")), "{said:#?}");
}

#[test]
fn what_contradicts_itself_is_refused() {
    let table = [
        ("users = [1]\nrate = [\"5/s\"]\n", "users and rate exclude each other"),
        ("users = [1]\n[find]\n", "users and [find] exclude each other"),
        ("window = \"9s\"\n[find]\n", "window and [find] exclude each other"),
        ("users = [1, 1]\n", "the level 1 of users is there twice"),
        ("rate = [\"5/s:9/s\"]\n", "holds one rate"),
        ("window = \"1s\"\n", "a window must last 2 s or more"),
        ("window = \"1 parsec\"\n", "`parsec` is not a unit of time"),
        ("[titles]\nuser = \"U\"\n", "`user` is no factor"),
        (
            "[set]\n\"web.queue\" = 1\n[[factor]]\nknob = \"web.queue\"\nvalues = [1, 2]\n",
            "varied by web.queue and set by [set]",
        ),
        (
            "[set]\n\"httpd.queue\" = 1\n[[factor]]\nknob = \"web.queue\"\nvalues = [1, 2]\n",
            "are the same knob",
        ),
        ("[[factor]]\nknob = \"web.queue\"\n", "either `values` or a `range`"),
        ("[[factor]]\nvalues = [1]\n", "exactly one of `knob`, `param` and `set`"),
        ("[[factor]]\nset = [{ \"web.queue\" = 1 }]\n", "need a name"),
        (
            "[[factor]]\nparam = \"n\"\nrange = { from = 0, to = 9, steps = 3, scale = \"log\" }\n",
            "equal ratios need numbers above 0",
        ),
        (
            "[[cell]]\nusers = 1\n[[cell]]\nset = { \"web.queue\" = 3 }\n",
            "cell 2 does not say users, which others do",
        ),
        ("[[cell]]\nusers = 1\n[[cell]]\nusers = 1\n", "cell 2 is the same as cell 1"),
        (
            "users = [1, 2]\n[[cell]]\nset = { \"web.queue\" = 3 }\n",
            "a list of users and [[cell]]s exclude each other",
        ),
        (
            "[[factor]]\nparam = \"n\"\nvalues = [1]\n[[cell]]\nusers = 3\n",
            "[[factor]]s and [[cell]]s exclude each other",
        ),
        ("[find]\nbudget = \"5s\"\n", "it must be 30"),
        ("[find]\nbudget = \"soon\"\n", "soon"),
        ("[find]\nstart = 2.5\n", "`2.5` is no number of users"),
        ("[find]\nmost = inf\n", "inf is no number that can be worked with"),
        ("[find]\nstart = nan\n", "NaN is no number that can be worked with"),
        ("[find]\nwithin = \"6min\"\n", "expected a number, found string"),
        ("[find]\nstart = 50.0\nmost = 20.0\n", "the first load, 50, is above the last one, 20"),
    ];
    for (text, expected) in table {
        let said = refused(text);
        assert!(
            said.iter().any(|said| said.contains(expected)),
            "not said: {expected}\nof:\n{text}\ngot: {said:#?}"
        );
        assert!(
            said.iter().all(|said| said.starts_with("s.toml:")),
            "without a line:\n{text}\ngot: {said:#?}"
        );
    }
}

#[test]
fn too_many_cells_are_refused_before_they_are_looked_at() {
    let factor = |name: &str| format!("[[factor]]\n{name}\nrange = {{ from = 1, to = 99, steps = 99 }}\n");
    let said =
        refused(&format!("users = [1]\n{}{}", factor("knob = \"web.queue\""), factor("param = \"n\"")));
    assert!(said.len() == 1 && said[0].contains("9801 cells"), "{said:#?}");
}
