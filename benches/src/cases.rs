//! What is measured: each case is one load, given by several generators with the command line of each.

use std::path::Path;
use std::process::Command;

use crate::Table;

/// A ratio that the case must not exceed.
pub(crate) struct Goal {
    /// Beside which generator.
    pub(crate) beside: &'static str,
    /// At most.
    pub(crate) most: f64,
}

/// One load.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// The first one is ours.
    pub(crate) generators: Vec<Generator>,
    pub(crate) goals: Vec<Goal>,
}

/// One generator on one case.
pub(crate) struct Generator {
    pub(crate) name: &'static str,
    /// Its words; `{URL}` and `{BASE}` stand for the server.
    words: Vec<String>,
    /// Variables, likewise.
    variables: Vec<(&'static str, &'static str)>,
    /// What prints its version.
    pub(crate) version: Vec<String>,
    path: &'static str,
}

const CONNECTIONS: u32 = 100;

/// Every case.
pub(crate) fn cases(table: &Table) -> Vec<Case> {
    let with = |path: &'static str, names: &[&'static str]| -> Vec<Generator> {
        names.iter().map(|name| generator(name, path, table)).collect()
    };
    let beside_wrk = |most| Goal { beside: "wrk", most };
    vec![
        Case {
            name: "small",
            title: "one request repeated, 6-byte body, 100 connections",
            generators: with("/s", &["plimsoll hit", "wrk", "h2load", "oha", "k6"]),
            goals: vec![beside_wrk(0.8)],
        },
        Case {
            name: "session",
            title: "a scripted visit of five requests (log in, extract an id, three searches, a form post; cookies, a \
                    check each), 2 KB pages, 100 users; wrk repeats the search alone",
            generators: with("/search", &["plimsoll run", "wrk", "k6 flow"]),
            goals: vec![beside_wrk(1.0), Goal { beside: "k6 flow", most: 0.15 }],
        },
        Case {
            name: "100k",
            title: "one request repeated, 100 KB body, 100 connections",
            generators: with("/100k", &["plimsoll hit", "wrk", "h2load", "oha"]),
            goals: vec![beside_wrk(1.0)],
        },
        Case {
            name: "1m",
            title: "one request repeated, 1 MB body, 100 connections",
            generators: with("/1m", &["plimsoll hit", "wrk", "h2load", "oha"]),
            goals: vec![beside_wrk(1.0)],
        },
    ]
}

fn generator(name: &'static str, path: &'static str, table: &Table) -> Generator {
    let (connections, seconds) = (CONNECTIONS, table.seconds);
    let (plimsoll, oha, k6) = (show(&table.plimsoll), show(&table.oha), show(&table.k6));
    let (line, version) = match name {
        "plimsoll hit" => (
            format!("{plimsoll} hit {{URL}} -c {connections} -d {seconds}s --json"),
            format!("{plimsoll} --version"),
        ),
        "plimsoll run" => (
            format!(
                "{plimsoll} --catalogue benches/catalogue run flow --target {{BASE}} --users {connections} --ramp-up \
                 0s --steady {seconds}s --ramp-down 0s --json"
            ),
            format!("{plimsoll} --version"),
        ),
        "wrk" => (format!("wrk -t1 -c{connections} -d{seconds}s {{URL}}"), "wrk -v".to_string()),
        "h2load" => {
            (format!("h2load --h1 -t1 -c{connections} -D{seconds} {{URL}}"), "h2load --version".to_string())
        }
        "oha" => {
            (format!("{oha} --no-tui -c {connections} -z {seconds}s {{URL}}"), format!("{oha} --version"))
        }
        "k6 flow" => (k6_line(&k6, "flow", seconds), format!("{k6} version")),
        _ => (k6_line(&k6, "one", seconds), format!("{k6} version")),
    };
    let words = |line: &str| line.split(' ').map(str::to_string).collect();
    let variables = match name {
        "k6" | "k6 flow" => vec![("URL", "{URL}"), ("BASE", "{BASE}"), ("GOMAXPROCS", "1")],
        _ => Vec::new(),
    };
    Generator { name, words: words(&line), variables, version: words(&version), path }
}

fn k6_line(k6: &str, script: &str, seconds: u64) -> String {
    format!("{k6} run --quiet --vus {CONNECTIONS} --duration {seconds}s benches/k6/{script}.js")
}

fn show(path: &Path) -> String {
    path.display().to_string()
}

impl Generator {
    /// What to start, against the server at `base`; `home` is where it may write.
    pub(crate) fn command(&self, base: &str, home: &Path) -> Command {
        let fill =
            |text: &str| text.replace("{URL}", &format!("{base}{}", self.path)).replace("{BASE}", base);
        let mut words = self.words.iter().map(|word| fill(word));
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).env("PLIMSOLL_HOME", home);
        self.variables.iter().for_each(|(name, value)| _ = command.env(name, fill(value)));
        command
    }

    /// The command line for people: the program by its name, wherever it lies here.
    pub(crate) fn line(&self) -> String {
        let mut words = self.words.clone();
        if let Some(program) = words.first_mut() {
            *program = show(Path::new(program).file_name().map_or(Path::new(""), Path::new));
        }
        words
            .join(" ")
            .replace("{URL}", &format!("http://127.0.0.1:PORT{}", self.path))
            .replace("{BASE}", "http://127.0.0.1:PORT")
    }
}
