//! Signals of tiers beside published figures and among a study's own.

use super::*;

/// A table beside `of`, in that unit, of both numbers of users.
fn table(of: &str, unit: &str) -> String {
    format!(
        "users = [10, 20]\nstacks = [\"one\", \"two\"]\n[[published]]\ntitle = \"Table 9\"\nof = \"{of}\"\nunit = \"{unit}\"\n\
         [[published.value]]\nwhere = {{ stack = \"one\", users = 10 }}\nas = \"10\"\nvalue = 114\n"
    )
}

#[test]
fn a_tiers_signal_stands_beside_a_published_table_in_its_own_unit() {
    let plan = plan(&table("signal:web.calls.blocks", "1/s"));
    let published = &plan.sweep.published[0];
    assert_eq!(
        (published.of.as_str(), published.figure.name.as_str()),
        ("signal:web.calls.blocks", "web.calls.blocks")
    );
    assert!(published.figure.signal && !published.figure.metric, "{published:?}");
    assert_eq!((published.figure.times, published.rows[0].cell), (1.0, Some(0)));
    assert_eq!(crate::record::study::Kind::signals(&plan.sweep), ["web.calls.blocks"]);
    let times = super::plan(&table("signal:web.calls.fork_s", "ms"));
    assert_eq!(times.sweep.published[0].figure.times, 1e3, "times may be in milliseconds");
}

#[test]
fn a_signal_that_no_cell_can_have_is_refused_with_its_line_and_the_nearest_one() {
    let asked = [
        ("signal:wbe.calls.blocks", "no cell has a tier `wbe`   try: `web.calls.blocks`"),
        ("signal:database.calls.blocks", "no cell has a tier `database`   try: one of: web"),
        (
            "signal:web.calls.block",
            "nobody declares a signal `calls.block` of a tier of httpd   try: `web.calls.blocks`",
        ),
        (
            "signal:web",
            "`web` is no signal of a tier   try: the tier, a dot and its signal: `web.calls.blocks`",
        ),
    ];
    for (of, expected) in asked {
        let said = refused(&table(of, "1/s"));
        assert_eq!(said, [format!("s.toml:9: published[0].of: {expected}")], "{of}");
    }
    let said = refused(&table("signal:web.calls.blocks", "ms"));
    assert_eq!(
        said,
        [
            "s.toml:10: published[0].unit: `ms` can't be compared with our signal:web.calls.blocks, which is in 1/s   try: `1/s`"
        ]
    );
    let lines = table("signal:web.calls.blocks", "1/s")
        .replace("users = [10, 20]", "[find]")
        .replace(", users = 10", "");
    let said = refused(&lines.replace("stacks = [\"one\", \"two\"]\n", ""));
    assert!(said.iter().any(|said| said.contains("only `load_line` can stand beside")), "{said:#?}");
}

#[test]
fn a_studys_own_signals_have_their_units_and_are_wanted_once() {
    let own = |list: &str| format!("signals = [{list}]\n{}", table("signal:web.calls.blocks", "1/s"));
    let sweep = plan(&own("\"web.calls.fork_s\", \"web.calls.blocks\"")).sweep;
    let kept: Vec<_> = sweep.signals.iter().map(|one| (one.name.as_str(), one.unit.as_str())).collect();
    assert_eq!(kept, [("web.calls.fork_s", "s"), ("web.calls.blocks", "1/s")]);
    assert_eq!(crate::record::study::Kind::signals(&sweep), ["web.calls.blocks", "web.calls.fork_s"]);
    let said = refused(&own("\"web.calls.fork_s\",\n \"web.calls.forks\", \"web.calls.fork_s\""));
    assert_eq!(
        said,
        [
            "s.toml:6: signals[1]: nobody declares a signal `calls.forks` of a tier of httpd   try: `web.calls.fork_s`",
            "s.toml:6: signals[2]: `web.calls.fork_s` is there twice   try: leave it out",
        ]
    );
}

#[test]
fn a_stack_that_is_not_there_is_told_and_its_tiers_are_not() {
    let text = table("signal:app.calls.blocks", "1/s").replace("\"two\"", "\"twoo\"");
    let said = refused(&text);
    assert!(said.iter().any(|said| said.contains("no stack `twoo`")), "{said:#?}");
    assert!(!said.iter().any(|said| said.contains("tier")), "{said:#?}");
}
