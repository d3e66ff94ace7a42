//! What a browser may have measured: what the catalogue has, by its names. No file, no folder, no server of somebody else's.

use model::{Problem, Problems, Result};

/// Verbs that measure.
const VERBS: [&str; 6] = ["run", "explore", "find", "sweep", "compare", "faults"];

/// Flags that take a value, of any of them; which verb has which is for the verb to say.
pub(crate) const FLAGS: [&str; 38] = [
    "--stack",
    "--topology",
    "--guests",
    "--size",
    "--mix",
    "--seed",
    "--qos",
    "--set",
    "--param",
    "--arrivals",
    "--arriving",
    "--lifetime",
    "--heuristic-freshness",
    "--fault",
    "--kill",
    "--cut",
    "--users",
    "--max-users",
    "--max-time",
    "--rate",
    "--ramp-up",
    "--steady",
    "--ramp-down",
    "--sessions",
    "--by",
    "--within",
    "--confidence",
    "--budget",
    "--start",
    "--least",
    "--most",
    "--confirm",
    "--window",
    "--repeats",
    "--repeat",
    "--kit",
    "--gate",
    "--resume",
];
/// Flags without one.
const SWITCHES: [&str; 4] = ["--quick", "--full", "--json", "--no-wait"];

/// Refuses words that a browser has no right to, all at once.
///
/// # Errors
/// A verb that measures nothing, a flag that reaches beyond the catalogue, a name that is a path.
pub(crate) fn permit(command: &[String]) -> Result<()> {
    let mut problems = Vec::new();
    match command.first() {
        Some(verb) if VERBS.contains(&verb.as_str()) => {}
        Some(verb) => {
            let what = format!("`{}` is not measured from a page", verb.escape_debug());
            problems.push(Problem::recipe(what).remedy(format!("one of: {}", VERBS.join(", "))));
        }
        None => problems.push(Problem::recipe("there is nothing to be measured")),
    }
    let mut words = command.iter().skip(1);
    while let Some(word) = words.next() {
        let (flag, joined) = word.split_once('=').map_or((word.as_str(), false), |(flag, _)| (flag, true));
        // A run that is taken over has a server of somebody else's; a study that is gone on with says itself what it measures.
        let is_taking_over = flag == "--resume" && command.first().is_some_and(|verb| verb == "run");
        if SWITCHES.contains(&word.as_str()) {
        } else if FLAGS.contains(&flag) && !is_taking_over {
            if !joined && words.next().is_none() {
                problems.push(Problem::recipe("it needs a value").key(flag));
            }
        } else if word.starts_with('-') {
            let what = format!("`{}` reaches beyond the catalogue, or is not known", flag.escape_debug());
            problems.push(Problem::recipe(what).remedy("a terminal can do that"));
        } else if !is_name(word) {
            let what = format!("`{}` is no name of the catalogue", word.escape_debug());
            problems.push(Problem::recipe(what).why("a page measures no file").remedy("plimsoll list"));
        }
    }
    Problems::check(problems)
}

/// The words behind `plimsoll` of a command line that was kept: without the program, and without what only says where its progress is
/// told.
pub(crate) fn of_record(kept: &[String]) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = kept.iter().skip(1);
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--progress-file" => _ = rest.next(),
            word => words.push(word.to_string()),
        }
    }
    words
}

/// A name, or settings as a comparison has them: `web.MaxRequestWorkers=64,param.n_searches=5`.
fn is_name(word: &str) -> bool {
    !word.is_empty()
        && !word.ends_with(".toml")
        && !word.contains("catalogue:")
        && word.chars().all(|c| c.is_alphanumeric() || "-_.=,%:+".contains(c))
}

/// The words as a shell reads them.
pub(crate) fn line(command: &[String]) -> String {
    let words = std::iter::once("plimsoll".to_string()).chain(command.iter().map(|word| quoted(word)));
    words.collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.=,%:/+@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permitted(text: &str) -> Result<()> {
        permit(&text.split(' ').filter(|word| !word.is_empty()).map(str::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn what_the_catalogue_has_may_be_measured() {
        for text in [
            "run dvdstore --users 50 --set web.MaxRequestWorkers=64 --json",
            "explore static --users 5 --max-users 200 --max-time 10min",
            "find tpcw --quick --budget=30m",
            "find --resume last",
            "sweep sun-2008-table3 --full",
            "compare default web.MaxRequestWorkers=64,param.n_searches=5 --kit dvdstore",
            "faults fpm-children",
        ] {
            assert_eq!(permitted(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn files_folders_other_servers_and_other_verbs_are_refused_all_at_once() {
        for text in [
            "",
            "up dvdstore",
            "clean --runs",
            "hit http://192.0.2.1/",
            "run /etc/passwd",
            "run shop.toml",
            "run ../x",
            "run dvdstore --catalogue /tmp",
            "run dvdstore --target http://192.0.2.1",
            "run dvdstore --progress-file /x",
            "explore dvdstore --users-file /x",
            "sweep x --csv /etc/cron.d/x",
            "compare default catalogue:new --kit dvdstore",
            "run dvdstore -u",
            "run dvdstore --users",
            "run --resume last",
        ] {
            assert!(permitted(text).is_err(), "{text}");
        }
        let problems = permitted("up a/b --unix x").expect_err("three are wrong");
        assert_eq!(problems.iter().count(), 3, "{problems}");
    }

    #[test]
    fn a_run_is_asked_for_again_by_the_words_that_it_was_asked_for() {
        let kept = ["/usr/bin/plimsoll", "--progress-file", "/srv/queue/1/progress.jsonl", "run", "static"];
        assert_eq!(of_record(&kept.map(str::to_string)), ["run", "static"]);
    }

    #[test]
    fn a_shell_reads_the_line_as_the_same_words() {
        let words = ["run", "dvdstore", "--qos", "p95 < 2s", "--param", "a='b'"].map(str::to_string);
        assert_eq!(line(&words), "plimsoll run dvdstore --qos 'p95 < 2s' --param 'a='\\''b'\\'''");
    }
}
