//! `plimsoll note`: what people say of a run or a study, kept beside it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use model::{Problem, Result};
use store::{Notes, Runs, Studies};

use crate::context::Context;
use runner::progress::Progress;

/// Keep a note and tags with a run or a study; pin it, so that nobody removes it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll note last 'before the kernel upgrade'
  plimsoll note last --tag night --tag baseline
  plimsoll note 20261121-03 --untag night --pin
  plimsoll note 20261121-03 20261121-05 20261122 --tag night
  plimsoll note last --study --pin
  plimsoll note last 'a backup begins' --at 42
  plimsoll note last --baseline
  plimsoll note last ''                 takes the note back
  plimsoll note last                    shows what is kept
  plimsoll runs --where tag:night")]
pub(crate) struct NoteArgs {
    /// The run: its id, the beginning of it, or `last`; several, each with the same tags
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<String>,
    /// The note, in place of the one that is there; the last word is one too, where it is the name of no run
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Add a tag; may be given several times
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Take a tag back; may be given several times
    #[arg(long, value_name = "TAG")]
    untag: Vec<String>,
    /// Let nobody remove it
    #[arg(long, conflicts_with = "unpin")]
    pin: bool,
    /// Let it be removed again
    #[arg(long)]
    unpin: bool,
    /// Make it the baseline of its setup, against which `compare` of the page holds others; the one before is none any more
    #[arg(long, conflicts_with_all = ["no_baseline", "study"])]
    baseline: bool,
    /// Let it be the baseline no longer
    #[arg(long)]
    no_baseline: bool,
    /// The note is of this second of the run, and stands in its charts; an empty one takes it back
    #[arg(long, value_name = "SECOND", conflicts_with = "study")]
    at: Option<u32>,
    /// It is a study that is named
    #[arg(long)]
    study: bool,
    /// Print what is kept as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(args: &NoteArgs, context: &mut Context) -> Result<u8> {
    let (runs, last) = named(args, context)?;
    let note = args.note.as_deref().or(last);
    let mut all = Vec::new();
    for (directory, id) in runs {
        let before = Notes::read(&directory)?;
        let mut notes = before.clone();
        change(&mut notes, note, args).map_err(|problem| match all.len() {
            0 => *problem,
            _ => problem.why(format!("{id} is left as it is; those before it are changed")),
        })?;
        if notes != before {
            notes.write(&directory)?;
        }
        if args.baseline {
            let runs = Runs::open(&context.home)?;
            for other in runs.set_baseline(&runs.find(&id)?)? {
                context.console.note(&format!("{other} is the baseline no longer"));
            }
            notes.baseline = true;
        }
        all.push((id, notes));
    }
    match all.as_slice() {
        [(_, notes)] if args.json => context.console.json(notes)?,
        several if args.json => context.console.json(&several.iter().cloned().collect::<BTreeMap<_, _>>())?,
        all => all.iter().for_each(|(id, notes)| context.console.result(&words(id, notes))),
    }
    Ok(0)
}

/// A directory, and the id of what is kept in it.
type Named = (PathBuf, String);

/// What is meant, each with its directory and its id; and the last word, where it is a note.
fn named<'a>(args: &'a NoteArgs, context: &Context) -> Result<(Vec<Named>, Option<&'a str>)> {
    let find = |name: &String| -> Result<Named> {
        if args.study {
            let study = Studies::open(&context.home)?.find(name)?;
            return Ok((study.directory().to_path_buf(), study.record().id.clone()));
        }
        let run = Runs::open(&context.home)?.find(name)?;
        Ok((run.directory().to_path_buf(), run.record().id.clone()))
    };
    let mut found = args.runs.iter().map(find).collect::<Vec<_>>();
    let is_note = args.note.is_none() && found.len() > 1 && found.last().is_some_and(Result::is_err);
    let note = if is_note { args.runs.last().map(String::as_str) } else { None };
    if is_note {
        found.pop();
    }
    Ok((found.into_iter().collect::<Result<_>>()?, note))
}

fn change(notes: &mut Notes, note: Option<&str>, args: &NoteArgs) -> Result<(), Box<Problem>> {
    match (note, args.at) {
        (Some(note), None) => notes.note = note.trim().to_string(),
        (Some(note), Some(second)) => notes.mark(second, note),
        (None, None) => {}
        (None, Some(second)) => {
            let remedy = format!("plimsoll note {} 'a backup begins' --at {second}", args.runs[0]);
            let problem = Problem::recipe("nothing is said of that second");
            return Err(Box::new(problem.key("--at").remedy(remedy)));
        }
    }
    let missing = args.untag.iter().find(|tag| !notes.tags.contains(*tag) && !args.tag.contains(tag));
    if let Some(tag) = missing {
        let remedy = match notes.tags.len() {
            0 => "it has none".to_string(),
            _ => format!("it has {}", tags(notes)),
        };
        let problem = Problem::recipe(format!("it has no tag `{tag}`"));
        return Err(Box::new(problem.key("--untag").remedy(remedy)));
    }
    notes.tag(&args.tag, &args.untag);
    notes.pinned = (notes.pinned || args.pin) && !args.unpin;
    notes.baseline &= !args.no_baseline;
    Ok(())
}

fn words(id: &str, notes: &Notes) -> String {
    if notes.is_empty() {
        return format!("{id}: nothing is noted");
    }
    let pinned = notes.pinned.then(|| "pinned".to_string());
    let baseline = notes.baseline.then(|| "baseline".to_string());
    let marks = notes
        .marks
        .iter()
        .map(|mark| format!("at {} s: {}", mark.second, model::outside::one_line(&mark.text)));
    let tags = (!notes.tags.is_empty()).then(|| tags(notes));
    let note = (!notes.note.is_empty()).then(|| model::outside::one_line(&notes.note));
    format!(
        "{id}: {}",
        pinned
            .into_iter()
            .chain(baseline)
            .chain(tags)
            .chain(note)
            .chain(marks)
            .collect::<Vec<_>>()
            .join("; ")
    )
}

fn tags(notes: &Notes) -> String {
    notes.tags.iter().map(|tag| format!("#{tag}")).collect::<Vec<_>>().join(" ")
}
