//! Sizes, the full form, and published figures.

use super::*;
use crate::record::study::ClaimOrder;

#[test]
fn sizes_are_a_factor_and_part_of_a_listed_cell() {
    let grid = plan("sizes = [\"small\", \"large\"]\nstacks = [\"one\", \"two\"]\nusers = [5]\n");
    let labels: Vec<&str> = grid.arms.iter().map(|arm| arm.label.as_str()).collect();
    assert_eq!(labels[1], "stack = one, size = large");
    assert_eq!(grid.arms[1].recipe.size.as_deref(), Some("large"));
    let listed = plan("[[cell]]\nsize = \"small\"\nusers = 5\n[[cell]]\nsize = \"large\"\nusers = 6\n");
    assert_eq!(listed.arms[1].recipe.size.as_deref(), Some("large"));
    assert_eq!(listed.sweep.factors[0].name, "size");
    for (text, expected) in [
        ("size = \"small\"\nsizes = [\"large\"]\n", "`size` is the same in every cell"),
        ("sizes = [\"small\", \"smal\"]\n", "smal"),
        ("size = \"small\"\n[[cell]]\nsize = \"large\"\nusers = 1\n", "leave `size` out"),
        ("sizes = [\"small\", \"large\"]\n[[cell]]\nusers = 1\n", "a list of sizes and [[cell]]s"),
    ] {
        let said = refused(text);
        assert!(said.iter().any(|said| said.contains(expected)), "{expected}\n{text}\n{said:#?}");
    }
}

#[test]
fn the_full_form_has_its_own_keys_and_the_others_of_the_short_one() {
    let text = format!(
        "{HEAD}users = [5, 6]\nrepeats = 2\nwindow = \"4s\"\n[set]\n\"web.queue\" = 3\n\"web.pool.workers\" = 7\n\
         [full]\nusers = [50, 60, 70]\nsizes = [\"small\", \"large\"]\nwindow = \"1min\"\n[full.set]\n\"web.queue\" = 9\n"
    );
    let plans = resolve_all(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let [short, full] = plans.as_slice() else { panic!("it has two forms") };
    assert_eq!((short.arms.len(), full.arms.len()), (2, 6));
    assert_eq!((short.sweep.form, full.sweep.form), (Some(Form::Short), Some(Form::Full)));
    assert_eq!(full.sweep.measurement, Measurement::Window { window_s: 60.0 });
    assert_eq!(full.sweep.repeats, 2, "what [full] doesn't say is as in the short form");
    let knobs: Vec<String> = full.arms[0].recipe.set.values().map(ToString::to_string).collect();
    assert_eq!(knobs, ["7", "9"]);
}

#[test]
fn a_form_that_needs_more_cpus_is_checked_as_on_a_machine_that_has_them() {
    let full = |min_cpus: &str| {
        format!(
            "{HEAD}users = [5]\ntopologies = [\"bare\"]\n[full]\ntopologies = [\"bare\", \"six-cores\"]\n{min_cpus}"
        )
    };
    let plans = resolve_all(&full("min_cpus = 8\n")).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(plans.iter().map(|plan| plan.min_cpus).collect::<Vec<_>>(), [None, Some(8)]);
    assert_eq!(plans[1].arms.len(), 2);
    let said = resolve_all(&full("")).expect_err("this machine has two CPUs").to_string();
    assert!(said.contains("s.toml:8: ") && said.contains("a guest with 6 cores"), "{said}");
    assert!(said.contains("(in the cell topology = six-cores)"), "{said}");
}

#[test]
fn a_listed_cell_says_its_topology_and_the_users_that_are_for_it() {
    let listed = "[full]\nusers = []\ntopologies = []\nmin_cpus = 8\n[[full.cell]]\ntopology = \"bare\"\nusers = 9\n\
        [[full.cell]]\ntopology = \"six-cores\"\nusers = 12\n";
    let claim = "[[published]]\ntitle = \"T\"\nof = \"throughput\"\nunit = \"operations/s\"\n[[published.claim]]\n\
        says = \"more\"\norder = \"rises\"\nof = [{ topology = \"bare\" }, { topology = \"six-cores\" }]\n";
    let text = format!("{HEAD}users = [5]\ntopologies = [\"bare\"]\n{listed}{claim}");
    let plans = resolve_all(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let [short, full] = plans.as_slice() else { panic!("it has two forms") };
    assert_eq!(full.arms[1].label, "topology = six-cores, users = 12");
    assert_eq!(full.arms[1].recipe.topology.as_deref(), Some("six-cores"));
    assert_eq!(full.loads, [9.0, 12.0]);
    let cells = |plan: &SweepPlan| plan.sweep.published[0].claims[0].cells.clone();
    assert_eq!((cells(short), cells(full)), (vec![0], vec![0, 1]));
    let both = refused("topologies = [\"bare\", \"six-cores\"]\n[[cell]]\nusers = 5\n");
    assert!(both.iter().any(|said| said.contains("say it in each [[cell]]")), "{both:#?}");
}

#[test]
fn a_study_without_a_full_form_says_so() {
    let text = format!("{HEAD}users = [5]\n");
    let study = StudyFile::read("s.toml", &text).expect("it can be read");
    let problems = study
        .resolve(Form::Full, "s.toml", &text, (&catalogue(), &registry()), &[0, 1])
        .expect_err("there is none");
    assert!(problems.to_string().contains("no [full]"), "{problems}");
}

#[test]
fn mistakes_of_the_full_form_are_told_with_its_lines_and_shared_ones_once() {
    let said = refused(
        "users = [5]\n[set]\n\"web.quee\" = 3\n[full]\nusers = [50, 50]\nsizes = [\"huge\"]\n[full.set]\n\"web.pool.workers\" = 999\n",
    );
    let starts = |start: &str| said.iter().filter(|said| said.starts_with(start)).count();
    assert_eq!(starts("s.toml:7: set.web.quee"), 1, "{said:#?}");
    assert_eq!(starts("s.toml:9: full.users[1]"), 1, "{said:#?}");
    assert_eq!(starts("s.toml:10:"), 1, "{said:#?}");
    assert_eq!(starts("s.toml:12: set.web.pool.workers: 999 is out of range"), 1, "{said:#?}");
}

const TABLE: &str = "users = [5, 6]\nstacks = [\"one\", \"two\"]\ndiffers = [\"The hardware.\"]\n[full]\nusers = [50]\n\
    [[published]]\ntitle = \"T\"\nof = \"mbit_per_s\"\nunit = \"Mbit/s\"\n\
    [[published.value]]\nwhere = { users = [5, 50], stack = \"two\" }\nas = \"few\"\nvalue = 250\n\
    [[published.value]]\nwhere = { users = 6, stack = \"one\" }\nas = \"many\"\nvalue = 122.5\n\
    [[published.value]]\nas = \"Haboob\"\nvalue = 1\n\
    [[published.claim]]\nsays = \"no difference\"\norder = \"same\"\n\
    of = [{ users = 5, stack = \"one\" }, { users = 5, stack = \"two\" }]\n";

#[test]
fn a_published_value_finds_its_cell_in_each_form() {
    let plans = resolve_all(&format!("{HEAD}{TABLE}")).unwrap_or_else(|problems| panic!("{problems}"));
    let cells = |plan: &SweepPlan| -> Vec<Option<usize>> {
        plan.sweep.published[0].rows.iter().map(|row| row.cell).collect()
    };
    assert_eq!(cells(&plans[0]), [Some(2), Some(1), None]);
    assert_eq!(cells(&plans[1]), [Some(1), None, None]);
    let table = &plans[0].sweep.published[0];
    assert!(table.figure.metric && table.rows[0].value == 250.0);
    assert_eq!(
        (table.claims[0].order, table.claims[0].cells.as_slice()),
        (ClaimOrder::Same, [0, 2].as_slice())
    );
    assert_eq!(
        plans[1].sweep.published[0].claims[0].cells,
        [] as [usize; 0],
        "the full form has no such cells"
    );
    assert_eq!(plans[0].sweep.differs, ["The hardware."]);
}

#[test]
fn mistakes_of_published_tables_are_told_at_once_with_their_lines() {
    let said = refused(
        "users = [5, 6]\nstacks = [\"one\", \"two\"]\n\
         [[published]]\ntitle = \"T\"\nof = \"mbit_per_m\"\nunit = \"Mbit/s\"\n\
         [[published.value]]\nwhere = { usrs = 5, stack = \"one\" }\nas = \"a\"\nvalue = 1\n\
         [[published.value]]\nwhere = { users = 7, stack = \"one\" }\nas = \"b\"\nvalue = 0\n\
         [[published.value]]\nwhere = { users = 5 }\nas = \"c\"\nvalue = 2\n\
         [[published]]\ntitle = \"U\"\nof = \"p90\"\nunit = \"Mbit/s\"\n\
         [[published]]\ntitle = \"V\"\nof = \"load_line\"\nunit = \"users\"\n[[published.claim]]\nsays = \"x\"\norder = \"same\"\nof = [{ users = 5, stack = \"one\" }]\n\
         [[published]]\ntitle = \"W\"\nunit = \"%\"\n[[published.value]]\nwhere = { users = 5, stack = \"one\" }\nas = \"d\"\nvalue = 3\n",
    );
    let expected = [
        "s.toml:9: published[0].of: `mbit_per_m` is not a measure",
        "s.toml:12: published[0].value[0].where.usrs: `usrs` is no factor of this study   try: `users`",
        "s.toml:16: published[0].value[1].where.users: `7` is no level of users",
        "s.toml:18: published[0].value[1].value: 0 is no value that ratios can be taken of",
        "s.toml:20: published[0].value[2].where: 2 cells have these levels   why it matters: a figure is of one cell   try: say stack too",
        "s.toml:23: published[1]: the table has neither a value nor a claim",
        "s.toml:26: published[1].unit: `Mbit/s` can't be compared with our p90, which is in s",
        "s.toml:29: published[2].of: `load_line` is the figure of a study with [find]",
        "published[2].claim[0].of: a claim is about two cells or more",
        "s.toml:35: published[3]: the table has no `of`: nothing of ours can stand beside its values",
    ];
    for sentence in expected {
        assert!(said.iter().any(|said| said.contains(sentence)), "missing: {sentence}\ngot: {said:#?}");
    }
}

#[test]
fn a_published_percentile_is_known_by_what_the_metric_is_declared_as_and_not_by_its_name() {
    let tables = [
        ("fast", "ms", Some(5.0)),
        ("p90", "ms", Some(90.0)),
        ("fast_visit", "s", None),
        ("visit p90", "s", None),
        ("mbit_per_s", "Mbit/s", None),
        ("mean", "s", None),
    ];
    let table = |(of, unit, _): &(&str, &str, Option<f64>)| {
        format!(
            "[[published]]\ntitle = \"T\"\nof = \"{of}\"\nunit = \"{unit}\"\n[[published.value]]\nas = \"x\"\nvalue = 2\n"
        )
    };
    let text = format!("users = [5]\n{}", tables.iter().map(table).collect::<String>());
    let published = plan(&text).sweep.published;
    let percents: Vec<Option<f64>> = published.iter().map(|table| table.figure.percent_of_all()).collect();
    assert_eq!(percents, tables.map(|(.., percent)| percent), "of all operations alone");
    assert_eq!(published[0].figure.times, 1e3, "ours is in seconds");
}

#[test]
fn a_table_of_which_nothing_of_ours_is_has_its_values_alone() {
    let plan = plan(
        "users = [5]\n[[published]]\ntitle = \"Connections that conform\"\nunit = \"%\"\n[[published.value]]\nas = \"1\"\nvalue = 40.9\n",
    );
    let table = &plan.sweep.published[0];
    assert_eq!((table.of.as_str(), table.rows[0].value, table.rows[0].cell), ("", 40.9, None));
    assert!(crate::record::study::Kind::signals(&plan.sweep).is_empty());
}
