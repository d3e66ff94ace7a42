//! A recipe resolved into a plan: what its mix and its size decide.

use std::borrow::Cow;

use model::catalogue::load::Arriving;
use model::catalogue::setting::Values;
use model::record::plan::PlanTier;
use model::{Catalogue, Plan, Recipe, Result, ServiceManifest, document};

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
small = { items = 100, browsers = 5 }
[derived]
customers = { of = "browsers", times = 2880 }
[users]
default = 4
ramp_per_s = 10
loaded_for = "browsers"
[mix]
home = 1
[mixes.browsing.mix]
look = 1
[mixes.browsing.qos]
buy = []
look = ["p90 < 1s"]
[qos]
all = ["errors < 1%"]
buy = ["p90 < 5s"]
look = ["p90 < 3s"]
[[metric]]
name = "wips"
title = "WIPS"
unit = "1/s"
mix = "default"
of = "all"
per = "second"
[[metric]]
name = "wipsb"
title = "WIPSb"
unit = "1/s"
mix = "browsing"
of = "all"
per = "second"
"#;
const STACK: &str = "format = 1\nname = \"one\"\ntitle = \"One\"\nprovides = [\"web\"]\ntier = []\n";

fn resolve(mix: Option<&str>, size: Option<&str>) -> Result<Plan> {
    resolve_with(KIT, |recipe| {
        recipe.mix = mix.map(str::to_string);
        recipe.size = size.map(str::to_string);
    })
}

fn resolve_with(kit: &str, ask: impl FnOnce(&mut Recipe)) -> Result<Plan> {
    let files = [
        ("kits/shop/kit.toml", kit),
        ("kits/shop/session.lua", ""),
        ("kits/shop/app/index.html", ""),
        ("stacks/one.toml", STACK),
    ];
    let file = |(path, text): (&str, &str)| (path.to_string(), Cow::Owned(text.as_bytes().to_vec()));
    let mut recipe = Recipe { format: 1, kit: "shop".to_string(), ..Recipe::default() };
    ask(&mut recipe);
    Plan::resolve(&recipe, None, &Catalogue::new(files.map(file).into()), &[0, 1])
}

fn plan(mix: Option<&str>, size: Option<&str>) -> Plan {
    resolve(mix, size).unwrap_or_else(|problems| panic!("{problems}"))
}

fn refused(mix: Option<&str>, size: Option<&str>) -> String {
    resolve(mix, size).expect_err("it must be refused").to_string()
}

#[test]
fn a_plan_has_the_sessions_targets_and_figures_of_its_mix() {
    let told = |plan: &Plan| {
        let of_one = plan.qos.iter().filter_map(|target| Some((target.operation.clone()?, target.limit)));
        let figures = plan.kit.metrics.iter().map(|metric| metric.name.clone());
        (of_one.collect::<Vec<_>>(), figures.collect::<Vec<_>>())
    };
    let own = (vec![("buy".to_string(), 5.0), ("look".to_string(), 3.0)], vec!["wips".to_string()]);
    for mix in [None, Some("default")] {
        let plan = plan(mix, None);
        assert_eq!(told(&plan), own, "{mix:?}");
        assert_eq!((plan.mix, plan.kit.mix.contains_key("home")), (None, true), "{mix:?}");
    }
    let browsing = plan(Some("browsing"), None);
    assert_eq!(told(&browsing), (vec![("look".to_string(), 1.0)], vec!["wipsb".to_string()]));
    let sessions = browsing.kit.sessions();
    assert_eq!((browsing.mix.as_deref(), sessions.names()), (Some("browsing"), vec!["look"]));
    let text = refused(Some("brows"), None);
    assert!(
        text.contains("kit shop has no mix `brows`") && text.contains("one of browsing, default"),
        "{text}"
    );
    assert!(refused(Some("browsin"), None).contains("`browsing`"), "the nearest one");
}

#[test]
fn a_plan_keeps_what_its_recipe_file_set_apart_from_what_is_in_force() {
    let kit = format!(
        "{KIT}\n[[param]]\nname = \"think_time\"\ntype = \"float\"\ndefault = 7.0\nhelp = \"seconds\"\n\
         [[param]]\nname = \"pages\"\ntype = \"int\"\ndefault = 3\nhelp = \"a visit\"\n"
    );
    let text = "format = 1\nkit = \"shop\"\n[param]\nthink_time = 0.7\n";
    let recipe: Recipe = model::document::read("shop.toml", text).expect("a recipe");
    let plan =
        resolve_with(&kit, |own| *own = recipe.clone()).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(plan.params.keys().collect::<Vec<_>>(), ["pages", "think_time"]);
    assert_eq!((&plan.given.param, plan.given.set.len()), (&recipe.param, 0));
    let mut older = serde_json::to_value(&plan).expect("a plan is JSON");
    older.as_object_mut().expect("an object").remove("given");
    let older: Plan = serde_json::from_value(older).expect("a plan without them still opens");
    assert_eq!(older.given, model::catalogue::setting::GivenSettings::default());
}

#[test]
fn what_a_parameter_needs_is_needed_where_it_is_not_its_default() {
    let kit = format!(
        "{KIT}\n[[param]]\nname = \"cgi\"\ntype = \"float\"\ndefault = 0\nmin = 0\nmax = 1\nhelp = \"a share\"\n\
         [optional.cgi]\nneeds = [\"web+cgi\"]\noperations = [\"program\"]\n"
    );
    let with = |cgi: f64| {
        resolve_with(&kit, |recipe| _ = recipe.param.insert("cgi".to_string(), model::Value::Float(cgi)))
    };
    let plan = with(0.0).expect("its default needs nothing");
    assert_eq!(plan.kit.needs, ["web"]);
    assert_eq!(plan.kit.lacks_operation("program", &plan.params), Some("cgi"));
    assert_eq!(plan.kit.lacks_operation("look", &plan.params), None);
    let said = with(0.0015).expect_err("the stack starts no programs").to_string();
    assert_eq!(
        said,
        "param.cgi: kit shop needs web+cgi where cgi is 0.0015, and stack one does not provide it\n  try: cgi = 0"
    );
    let elsewhere = resolve_with(&kit, |recipe| {
        recipe.param.insert("cgi".to_string(), model::Value::Float(0.5));
        recipe.target = Some("http://127.0.0.1:80".to_string());
    });
    let plan = elsewhere.unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(plan.kit.needs, ["web", "web+cgi"], "whoever started it is taken to know");
    assert_eq!(plan.kit.lacks_operation("program", &plan.params), None);
}

#[test]
fn a_plan_s_data_are_those_of_its_numbers_and_for_as_many_users_as_these_say() {
    let plan = plan(None, Some("items=10,browsers=3"));
    assert_eq!(plan.size.label, "browsers=3,items=10");
    assert_eq!((plan.size.values["customers"], plan.load.users), (8640.0, 3));
    assert_eq!(self::plan(None, Some("browsers=5,items=100")).size.label, "small");
    let text = refused(None, Some("items=0,browsers=3"));
    assert!(text.contains("`items=0`") && !text.contains("loaded_for"), "told once: {text}");
    assert!(text.contains("try: `plimsoll list shop`"), "{text}");
}

#[test]
fn users_who_leave_after_one_session_are_refused_where_each_depends_on_the_one_before() {
    let matrix = "[matrix]\nfirst = \"home\"\nrows.home = { look = 1 }\nrows.look = { home = 1 }";
    let kits = [
        KIT.replace("[mix]\nhome = 1", matrix),
        KIT.replace("[mix]\nhome = 1", "")
            .replace("format = 1\n", "format = 1\nsequence = [\"home\", \"look\"]\n"),
    ];
    for kit in &kits {
        let asked = |lifetime: Option<&str>, arriving: Option<Arriving>| {
            resolve_with(kit, |recipe| {
                recipe.rate = Some("30/s".to_string());
                recipe.lifetime = lifetime.map(str::to_string);
                recipe.arriving = arriving;
            })
        };
        let text = asked(None, None).expect_err("nobody would go on").to_string();
        for part in ["always home", "--lifetime", "--arriving operations"] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
        assert!(asked(Some("100 sessions"), None).is_ok() && asked(None, Some(Arriving::Operations)).is_ok());
        assert!(resolve_with(kit, |recipe| recipe.users = Some(5)).is_ok(), "users who stay go on");
    }
    let weights = resolve_with(KIT, |recipe| recipe.rate = Some("30/s".to_string()));
    assert!(weights.is_ok(), "each session is drawn afresh");
}

#[test]
fn a_run_by_number_of_sessions_has_no_length_and_no_ramps() {
    let asked = |ask: fn(&mut Recipe)| {
        resolve_with(KIT, |recipe| {
            recipe.sessions = Some(50);
            ask(recipe);
        })
    };
    let load = asked(|_| {}).expect("it can be asked for").load;
    assert_eq!((load.sessions, load.ramp_up_s, load.ramp_down_s), (Some(50), 0.0, 0.0));
    let open = asked(|recipe| recipe.rate = Some("5/s".to_string())).expect("it can be asked for").load;
    assert_eq!((open.most_arrivals(), open.ramp_up_s), (Some(50), 0.0));
    type Change = fn(&mut Recipe);
    let refused: [(Change, &str); 4] = [
        (|recipe| recipe.steady = Some("10s".to_string()), "steady and sessions exclude each other"),
        (|recipe| recipe.ramp_down = Some("10s".to_string()), "ramp_down and sessions exclude each other"),
        (|recipe| recipe.rate = Some("5:9/s".to_string()), "a rate that rises needs a length"),
        (|recipe| recipe.sessions = Some(0), "at least one session"),
    ];
    for (ask, said) in refused {
        let text = asked(ask).expect_err(said).to_string();
        assert!(text.contains(said), "{said} is missing in {text}");
    }
}

const SERVICE: &str = include_str!("../../../catalogue/services/nginx/service.toml");

#[test]
fn servers_that_a_topology_put_on_one_host_are_beside_each_other() {
    let mut plan = resolve(None, None).expect("a plan");
    let service: ServiceManifest = document::read("service.toml", SERVICE).expect("a manifest");
    let tier = |name: &str, hosts: &[&str]| PlanTier {
        name: name.to_string(),
        service: service.clone(),
        folder: String::new(),
        values: Values::new(),
        instances: hosts.len().max(1) as u32,
        memory_limit_bytes: None,
        cpu_limit_cores: None,
        read_limit_per_s: None,
        own_host: None,
        link: None,
        hosts: hosts.iter().map(ToString::to_string).collect(),
    };
    let nodes = ["node-1", "node-2"];
    plan.tiers = vec![tier("data", &nodes), tier("db", &nodes), tier("web", &[])];
    assert_eq!(plan.beside("db", 2), ["data-2"]);
    assert_eq!(plan.beside("data", 1), ["db-1"]);
    assert_eq!(plan.beside("web", 1), Vec::<String>::new());
}
