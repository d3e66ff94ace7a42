//! `plimsoll link`: what a link of the catalogue does to packets on this machine.

use clap::Args;
use model::{Result, units};
use runner::link::LinkMeasured;
use testbed::LinkFigures;

use crate::context::Context;

/// Make a link between two hosts and measure it, beside a cable that nothing slows down.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll link metro-2ms
  plimsoll link wan-20ms --json
  plimsoll run calendar --set db.net.link=metro-2ms --param database_over=tcp     a database behind it")]
pub(crate) struct LinkArgs {
    /// Its name in the catalogue (`plimsoll list`)
    name: String,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(args: &LinkArgs, context: &mut Context) -> Result<u8> {
    let (id, _) = runner::outcome::new_id("link");
    let measured = runner::link::measure(&args.name, &id, &mut context.environment())?;
    let text = if args.json { json(&measured) } else { table(&measured) };
    context.console.result(&text);
    Ok(0)
}

fn table(measured: &LinkMeasured) -> String {
    let LinkMeasured { link, figures, cable } = measured;
    let mut text = format!("{}: {}\n\n", link.name, link.title);
    text += &format!("  {:<34} {:>12} {:>14}\n", "", link.name, "cable alone");
    for (one, bare) in figures.round_trips.iter().zip(&cable.round_trips) {
        for (word, of, beside) in [("p50", one.p50_s, bare.p50_s), ("p99", one.p99_s, bare.p99_s)] {
            let what = format!("{} bytes there and back, {word}", units::number(one.bytes as f64));
            text += &row(&what, &units::show_seconds(of), &units::show_seconds(beside));
        }
    }
    let rate = |mbit: f64| format!("{} Mbit/s", units::number(mbit.round()));
    let ways = |of: &LinkFigures| [of.there_mbit, of.back_mbit].map(rate);
    for ((word, of), beside) in ["there", "back"].into_iter().zip(ways(figures)).zip(ways(cable)) {
        text += &row(&format!("as much as it carries {word}"), &of, &beside);
    }
    let (added, asked) =
        (units::show_seconds(measured.added_s().max(0.0)), units::show_seconds(measured.asked_s()));
    let cost = link.cpu_us.map(|_| {
        let (added, asked) = (measured.cpu_added_s().max(0.0), measured.cpu_asked_s());
        let (added, asked) = (units::show_seconds(added), units::show_seconds(asked));
        format!(" Each message costs its sender {added} of CPU time more; {asked} were asked for.")
    });
    let verdict = if measured.is_as_asked() { "as asked" } else { "not what was asked for" };
    let cost = cost.unwrap_or_default();
    text + &format!(
        "\nIt adds {added} to a byte's way there and back; {asked} were asked for.{cost} That is {verdict}.\n"
    )
}

fn row(what: &str, of: &str, beside: &str) -> String {
    format!("  {what:<34} {of:>12} {beside:>14}\n")
}

fn json(measured: &LinkMeasured) -> String {
    let figures = |figures: &LinkFigures| {
        let trips = figures.round_trips.iter().map(|one| {
            serde_json::json!({
                "bytes": one.bytes, "count": one.count, "min_s": one.min_s, "p50_s": one.p50_s, "p99_s": one.p99_s,
                "cpu_s": one.cpu_s,
            })
        });
        serde_json::json!({
            "round_trips": trips.collect::<Vec<_>>(),
            "there_mbit_per_s": figures.there_mbit,
            "back_mbit_per_s": figures.back_mbit,
        })
    };
    let LinkMeasured { link, .. } = measured;
    let value = serde_json::json!({
        "format": 1,
        "link": link,
        "measured": figures(&measured.figures),
        "cable": figures(&measured.cable),
        "added_s": measured.added_s(),
        "asked_s": measured.asked_s(),
        "cpu_added_s": measured.cpu_added_s(),
        "cpu_asked_s": measured.cpu_asked_s(),
        "as_asked": measured.is_as_asked(),
    });
    serde_json::to_string_pretty(&value).unwrap_or_default()
}
