//! What `plimsoll check` says about a kit.

use std::collections::BTreeMap;

use model::{Plan, Recipe, Value};

use crate::shop::{catalogue, changed};

#[test]
fn the_catalogue_s_kits_have_no_fault() {
    for name in ["dvdstore", "events"] {
        kit::lint(&catalogue(), name).unwrap_or_else(|problems| panic!("{name}: {problems}"));
    }
}

#[test]
fn every_fault_is_named_with_its_file_and_the_nearest_name() {
    let cases = [
        (
            "session.lua",
            "local function login()",
            "local function login((",
            "kits/dvdstore/session.lua:21: ",
            "expected",
        ),
        ("check.lua", "local exact =", "local exact ==", "kits/dvdstore/check.lua:", "unexpected symbol"),
        (
            "kit.toml",
            "order_cycle = 1",
            "order_cicle = 1",
            "kits/dvdstore/kit.toml: mix.order_cicle",
            "`order_cycle`",
        ),
        (
            "kit.toml",
            "[mix]\norder_cycle = 1",
            "[mixes.odd]\nsequence = [\"order_cycle\", \"order_cycel\"]\n[mix]\norder_cycle = 1",
            "kits/dvdstore/kit.toml: mixes.odd.sequence order_cycel",
            "`order_cycle`",
        ),
        (
            "kit.toml",
            "[mix]\norder_cycle = 1",
            "[mixes.odd.matrix]\nfirst = \"order_cycle\"\nrows.order_cycle = { order_cycle = 0.5 }\n[mix]\norder_cycle = 1",
            "kits/dvdstore/kit.toml: mixes.odd.matrix.rows.order_cycle",
            "the row sums to 0.5",
        ),
        (
            "kit.toml",
            "of = \"rollbacks\"",
            "of = \"rolbacks\"",
            "kits/dvdstore/kit.toml: metric.rollbacks",
            "`rollbacks`",
        ),
        (
            "kit.toml",
            "per = { of = \"Purchase\" }",
            "per = { of = \"Purchas\" }",
            "kits/dvdstore/kit.toml: metric.rollback_share",
            "`Purchase`",
        ),
        ("kit.toml", "\"p99 < 4s\"", "\"p99 < 4 parsecs\"", "kits/dvdstore/kit.toml: qos.all", "parsecs"),
        ("kit.toml", "all = [", "Brows = [", "kits/dvdstore/kit.toml: qos.Brows", "`Browse`"),
        (
            "kit.toml",
            "default = \"unique\"",
            "default = \"uniqe\"",
            "kits/dvdstore/kit.toml: param.new_customer_names",
            "`unique`",
        ),
        (
            "kit.toml",
            "think_unit = \"think_time\"",
            "think_unit = \"think_tim\"",
            "kits/dvdstore/kit.toml: users.think_unit",
            "`think_time`",
        ),
        (
            "kit.toml",
            "default_size = \"small\"",
            "default_size = \"smal\"",
            "kits/dvdstore/kit.toml: sizes",
            "`smal`",
        ),
        ("data.lua", "INVENTORY = 1 }", "INVENTRY = 1 }", "kits/dvdstore/data.lua: parts[2]", "INVENTRY"),
        ("finish.sql.j2", "{% endif %}", "{% endiff %}", "kits/dvdstore/finish.sql.j2:", "endiff"),
    ];
    cases.into_iter().for_each(assert_found);
}

#[test]
fn what_users_figures_and_tolerances_name_is_there_and_can_be_kept() {
    let cases = [
        (
            "kit.toml",
            "per = \"minute\"",
            "per = \"mean\"\nat_least = 3\nat_most = 2",
            "kits/dvdstore/kit.toml: metric.opm",
            "no run would be valid",
        ),
        (
            "kit.toml",
            "of = \"rollbacks\"\nper = \"total\"",
            "of = \"rollbacks\"\nper = { percentile = 90 }",
            "kits/dvdstore/kit.toml: metric.rollbacks",
            "neither an operation nor a session",
        ),
        (
            "kit.toml",
            "[mix]\norder_cycle = 1",
            "[optional.new_customer_name]\n[mix]\norder_cycle = 1",
            "kits/dvdstore/kit.toml: optional.new_customer_name",
            "`new_customer_names`",
        ),
        (
            "kit.toml",
            "[mix]\norder_cycle = 1",
            "[optional.new_customer_names]\noperations = [\"Purchas\"]\n[mix]\norder_cycle = 1",
            "kits/dvdstore/kit.toml: optional.new_customer_names.operations",
            "`Purchase`",
        ),
        (
            "kit.toml",
            "[mix]\norder_cycle = 1",
            "[optional.new_customer_names]\nneeds = [\"sql\"]\n[mix]\norder_cycle = 1",
            "kits/dvdstore/kit.toml: optional.new_customer_names.needs",
            "the kit needs sql whatever new_customer_names is",
        ),
        (
            "kit.toml",
            "think_unit = \"think_time\"",
            "loaded_for = \"customer\"",
            "kits/dvdstore/kit.toml: users.loaded_for",
            "`customers`",
        ),
        (
            "kit.toml",
            "think_unit = \"think_time\"",
            "acknowledge = \"think_time\"",
            "kits/dvdstore/kit.toml: users.acknowledge",
            "a choice of delayed and at_once",
        ),
        (
            "kit.toml",
            "think_unit = \"think_time\"",
            "by_session = { order_cicle = { distribution = \"fixed\", value = 1.0 } }",
            "kits/dvdstore/kit.toml: users.by_session.order_cicle",
            "`order_cycle`",
        ),
        (
            "kit.toml",
            "think_unit = \"think_time\"",
            "timeout_s = -1.0",
            "kits/dvdstore/kit.toml: users.timeout_s",
            "no time in which an answer can come",
        ),
        (
            "kit.toml",
            "[mix]\norder_cycle = 1",
            "[tolerance]\nmix_points = 0.0\n[mix]\norder_cycle = 1",
            "kits/dvdstore/kit.toml: tolerance.mix_points",
            "allows nothing",
        ),
    ];
    cases.into_iter().for_each(assert_found);
}

#[test]
fn samples_are_asked_for_of_what_has_them_and_of_what_is_judged() {
    let cases = [
        (
            "kit.toml",
            "of = \"rollbacks\"\nper = \"total\"",
            "of = \"rollbacks\"\nper = \"total\"\nat_most = 9\nat_least_samples = 100",
            "kits/dvdstore/kit.toml: metric.rollbacks",
            "made of no samples",
        ),
        (
            "kit.toml",
            "per = { of = \"Purchase\" }",
            "per = { of = \"Purchase\" }\nat_least_samples = 100",
            "kits/dvdstore/kit.toml: metric.rollback_share",
            "says when bounds are judged",
        ),
    ];
    cases.into_iter().for_each(assert_found);
}

#[test]
fn what_a_mix_asks_for_and_what_sizes_say_is_there() {
    let mix = "[mix]\norder_cycle = 1";
    let odd = |more: &str| format!("[mixes.odd]\nsequence = [\"order_cycle\"]\n{more}\n{mix}");
    let named_default = format!("[mixes.default]\nsequence = [\"order_cycle\"]\n{mix}");
    let (no_operation, nothing) = (odd("qos = { Brows = [\"p95 < 1s\"] }"), odd("qos = { Login = [] }"));
    let cases = [
        (mix, no_operation.as_str(), "mixes.odd.qos.Brows", "`Browse`"),
        (mix, nothing.as_str(), "mixes.odd.qos.Login", "there is nothing to leave out"),
        (mix, named_default.as_str(), "mixes.default", "what the kit's own sessions are called"),
        (
            "of = \"rollbacks\"\nper = \"total\"",
            "of = \"rollbacks\"\nper = \"total\"\nmix = \"defult\"",
            "metric.rollbacks",
            "`default`",
        ),
        ("small = { customers", "small = { customer", "sizes.small", "it has no number `customers`"),
        (
            "[custom_size]",
            "[derived]\nrows = { of = \"customer\", times = 2 }\n[custom_size]",
            "derived.rows",
            "`customers`",
        ),
        (
            "[custom_size]",
            "[derived]\nproducts = { of = \"customers\", times = 0.0 }\n[custom_size]",
            "derived.products",
            "0 for each of them is none",
        ),
        (
            "[custom_size]",
            "[derived]\nproducts = { of = \"customers\", times = 0.5 }\n[custom_size]",
            "derived.products",
            "the sizes say `products` themselves",
        ),
    ];
    for (right, wrong, key, word) in cases {
        assert_found(("kit.toml", right, wrong, &format!("kits/dvdstore/kit.toml: {key}"), word));
    }
    let right = odd("qos = { all = [], Browse = [\"p95 < 1s\"] }");
    let catalogue = changed("kit.toml", |text| text.replace(mix, &right));
    kit::lint(&catalogue, "dvdstore").unwrap_or_else(|problems| panic!("{problems}"));
}

/// A file, what is right in it, what is made of that, where that is said to be wrong, and a word of what is said.
fn assert_found((file, right, wrong, place, word): (&str, &str, &str, &str, &str)) {
    let problems = kit::lint(&changed(file, |text| text.replace(right, wrong)), "dvdstore").expect_err(wrong);
    let text = problems.to_string();
    assert!(
        text.contains(place) && text.contains(word),
        "{wrong} should be found at {place} with {word}:\n{text}"
    );
    assert_eq!(problems.exit_code(), 2, "{text}");
}

#[test]
fn feeders_are_read_with_the_kit_and_keep_what_they_promise() {
    let with = |feeder: &str| {
        let text = format!("{feeder}\n[mix]\norder_cycle = 1");
        let mut catalogue = changed("kit.toml", |manifest| manifest.replace("[mix]\norder_cycle = 1", &text));
        let rows = b"name,password\nann,x\nbob,y\n".to_vec();
        catalogue.overlay(BTreeMap::from([("kits/dvdstore/users.csv".to_string(), rows.into())]));
        catalogue
    };
    let right =
        "[[feeder]]\nname = \"users\"\nfile = \"users.csv\"\nmode = \"per_user\"\non_end = \"repeat\"";
    kit::lint(&with(right), "dvdstore").unwrap_or_else(|problems| panic!("{problems}"));
    let kit = kit::Kit::open(&with(right), "dvdstore").expect("it is right");
    assert_eq!((kit.feeders[0].name.as_str(), kit.feeders[0].rows.len()), ("users", 2));
    let wrong = "[[feeder]]\nname = \"a-b\"\nfile = \"users.csv\"\nmode = \"unique\"\non_end = \"repeat\"";
    let problems =
        kit::lint(&with(&format!("{wrong}\n{wrong}")), "dvdstore").expect_err("it is wrong").to_string();
    for word in
        ["kit.toml: feeder.a-b", "no name that feed.NAME() can have", "declared twice", "can't be repeated"]
    {
        assert!(problems.contains(word), "{word} is missing in\n{problems}");
    }
    for (file, place, word) in [
        ("names.csv", "kits/dvdstore/kit.toml:", "`names.csv` does not exist"),
        ("session.lua", "kits/dvdstore/session.lua:", "this row has 1 values, but the header names 3"),
    ] {
        let wrong = right.replace("users.csv", file);
        let problems = kit::lint(&with(&wrong), "dvdstore").expect_err(file).to_string();
        assert!(problems.starts_with(place) && problems.contains(word), "{problems}");
    }
}

#[test]
fn a_figure_of_a_counter_whose_name_is_worked_out_is_let_pass_with_a_note_that_says_where() {
    let text = kit::Kit::open(&catalogue(), "dvdstore").expect("it is right").modules["session"].clone();
    let metric = "[[metric]]\nname = \"odd\"\ntitle = \"Odd\"\nunit = \"of them\"\nof = \"odd kind\"\nper = \"total\"\n";
    let with = |call: &str| {
        let mut catalogue = changed("kit.toml", |manifest| format!("{manifest}\n{metric}"));
        let session = format!("{text}\nlocal function odd(kind)\n  {call}\nend\n");
        catalogue.overlay(BTreeMap::from([(
            "kits/dvdstore/session.lua".to_string(),
            session.into_bytes().into(),
        )]));
        catalogue
    };
    let line = text.lines().count() + 3;
    for call in ["count(\"odd \" .. kind)", "count(kind, 2)", "count( kind == 1 and 'odd' or 'even' )"] {
        let catalogue = with(call);
        kit::lint(&catalogue, "dvdstore").unwrap_or_else(|problems| panic!("{call}: {problems}"));
        let notes = kit::notes(&catalogue, "dvdstore").expect("it can be read");
        let place = format!("kits/dvdstore/session.lua:{line} counts");
        assert!(notes.len() == 1 && notes[0].contains("metric.odd: `odd kind`"), "{call}: {notes:?}");
        assert!(notes[0].contains(&place), "{place}: {notes:?}");
    }
    for call in ["count(\"odd\", kind)", "count 'odd'", "page:count(kind)", "-- count(kind)"] {
        let said = kit::lint(&with(call), "dvdstore").expect_err(call).to_string();
        assert!(said.contains("metric.odd") && said.contains("neither a counter"), "{call}: {said}");
        assert_eq!(kit::notes(&with(call), "dvdstore"), Ok(Vec::new()), "{call}");
    }
    assert_eq!(kit::notes(&catalogue(), "dvdstore"), Ok(Vec::new()));
}

#[test]
fn tables_that_are_shared_out_are_the_kit_s_with_the_column_that_says_where() {
    let said = |shards: &str| {
        let text = format!("{shards}\n[mix]\norder_cycle = 1");
        let catalogue = changed("kit.toml", |manifest| manifest.replace("[mix]\norder_cycle = 1", &text));
        kit::lint(&catalogue, "dvdstore").expect_err(shards).to_string()
    };
    let unknown = said("[shards]\nORDERZ = \"ORDERID\"");
    assert!(unknown.contains("shards.ORDERZ") && unknown.contains("makes no table `ORDERZ`"), "{unknown}");
    assert!(said("[shards]\nORDERS = \"ORDERIDD\"").contains("table `ORDERS` has no column `ORDERIDD`"));
}

#[test]
fn a_target_of_an_operation_that_a_parameter_brings_is_refused_without_it() {
    let plan = |cgi: Option<f64>| {
        let mut recipe = Recipe { format: 1, kit: "static".into(), ..Recipe::default() };
        recipe.qos = vec!["cgi p95 < 1s".to_string()];
        recipe.param.extend(cgi.map(|share| ("cgi".to_string(), Value::Float(share))));
        // Nothing is started of it: the stack is somebody else's.
        recipe.target = Some("http://127.0.0.1:80".to_string());
        Plan::resolve(&recipe, None, &catalogue(), &[0, 1]).unwrap_or_else(|problems| panic!("{problems}"))
    };
    let said =
        kit::check_targets(&plan(None), &catalogue()).expect_err("nobody asks for programs").to_string();
    assert_eq!(
        said,
        "qos `cgi p95 < 1.00 s`: there is no operation `cgi` where cgi is 0\n  try: --param cgi=…, or no target of it"
    );
    assert_eq!(kit::check_targets(&plan(Some(0.01)), &catalogue()), Ok(()));
}

#[test]
fn what_an_application_needs_of_its_servers_is_there_and_can_be_done() {
    let needs = "needs = [\"web+php\", \"sql\"]";
    let top = |line: &str| format!("{line}\n{needs}");
    let table = |lines: &str| format!("[prepare]\n{lines}\n[mix]\norder_cycle = 1");
    let (controller, html, both) = (
        top("front_controller = \"/inde.php\""),
        top("front_controller = \"index.html\""),
        table("run = [\"php\"]\nrequest = { path = \"install\" }"),
    );
    let cases = [
        (needs, "needs = [\"web+php\", \"sql\", \"php+mbstrin\"]", "kit.toml: needs", "`php+mbstring`"),
        (needs, controller.as_str(), "kit.toml: front_controller", "there is no kits/dvdstore/app/inde.php"),
        (needs, html.as_str(), "kit.toml: front_controller", "no script of the document root"),
        ("[mix]\norder_cycle = 1", both.as_str(), "kit.toml: prepare.run", "exclude each other"),
    ];
    for (from, to, place, part) in cases {
        assert_found(("kit.toml", from, to, &format!("kits/dvdstore/{place}"), part));
    }
}
