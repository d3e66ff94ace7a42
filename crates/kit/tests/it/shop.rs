//! The catalogue's DVD Store, loaded small into a private server, with its pages.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use kit::data::{LoadOptions, Loaded, load};
use kit::{CheckInputs, CheckOptions, Kit, Server, Setup};
use model::catalogue::setting::{self, Value, Values};
use model::record::ConsistencyResult;
use model::{Catalogue, Result};
use mysql::Conn;
use mysql::prelude::Queryable;
use tempfile::TempDir;

use crate::private_server::{PrivateServer, program};

/// Smaller than small: 1 MB of nominal size.
pub(crate) const TINY: &str = "1mb";

pub(crate) fn catalogue() -> Catalogue {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalogue");
    let mut files = BTreeMap::new();
    read(&root.join("kits"), "kits", &mut files);
    read(&root.join("extensions"), "extensions", &mut files);
    Catalogue::new(files)
}

fn read(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Cow<'static, [u8]>>) {
    for entry in fs::read_dir(folder).expect("the catalogue is there").flatten() {
        let path = format!("{prefix}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            read(&entry.path(), &path, files);
        } else {
            files.insert(path, fs::read(entry.path()).expect("a file of the catalogue").into());
        }
    }
}

/// The catalogue with the text of one of the kit's files changed.
pub(crate) fn changed(file: &str, change: impl FnOnce(&str) -> String) -> Catalogue {
    let mut catalogue = catalogue();
    let path = format!("kits/dvdstore/{file}");
    let text = catalogue.text(&path).expect("the file is there");
    let new = change(text);
    assert_ne!(new, text, "the change must change something");
    catalogue.overlay(BTreeMap::from([(path, Cow::Owned(new.into_bytes()))]));
    catalogue
}

pub(crate) fn setup(kit: &Kit, size: &str, params: &[(&str, &str)]) -> Setup {
    let given: Values =
        params.iter().map(|(name, value)| (name.to_string(), Value::Text(value.to_string()))).collect();
    let mut problems = Vec::new();
    let params = setting::resolve(&kit.manifest.params, &given, "param.", &mut problems);
    assert!(problems.is_empty(), "{problems:?}");
    Setup { size: kit.manifest.size(size).expect("a size"), params, seed: 7 }
}

pub(crate) fn load_into(kit: &Kit, setup: &Setup, server: &Server) -> Result<Loaded> {
    load(LoadOptions {
        kit,
        setup,
        server,
        threads: 2,
        on_progress: &mut |_| {},
        cancelled: &AtomicBool::new(false),
    })
}

/// What the kit's check finds in a database, with no web server to ask.
pub(crate) fn check_data(
    kit: &Kit,
    setup: &Setup,
    inputs: &CheckInputs,
    server: &Server,
) -> Result<Vec<ConsistencyResult>> {
    kit::check(CheckOptions {
        kit,
        setup,
        inputs,
        database: Some(server),
        web: None,
        files: None,
        on_answer: &mut |_| {},
    })
}

/// Runs one page as a web server would, and says its status.
const ASK: &str = "<?php parse_str($argv[2] ?? '', $_GET); register_shutdown_function(function () { \
                   fwrite(STDERR, 'status ' . (http_response_code() ?: 200)); }); require $argv[1];";

/// A loaded shop and its pages, rendered.
pub(crate) struct Shop {
    pub(crate) kit: Kit,
    pub(crate) setup: Setup,
    pub(crate) server: PrivateServer,
    pub(crate) root: TempDir,
    php: PathBuf,
}

/// What a page answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Answer {
    /// Asserts that each text is in the page.
    #[track_caller]
    pub(crate) fn shows(&self, texts: &[&str]) {
        for text in texts {
            assert!(
                self.body.contains(text),
                "the page lacks {text:?} (status {}):\n{}",
                self.status,
                self.body
            );
        }
    }

    pub(crate) fn between(&self, before: &str, after: &str) -> &str {
        let rest =
            self.body.split(before).nth(1).unwrap_or_else(|| panic!("no {before:?} in\n{}", self.body));
        rest.split(after).next().expect("split gives at least one piece")
    }
}

/// Rows of tables, each a list of its cells' texts; an input's text is its value.
pub(crate) fn rows_of(html: &str) -> Vec<Vec<String>> {
    let cell = |rest: &str| {
        let inside = rest.split_once('>').expect("a tag ends").1.split("</TD>").next().unwrap_or_default();
        let value = inside.rsplit_once("VALUE=").map(|(_, rest)| rest.split(['>', ' ']).next());
        value.flatten().unwrap_or(inside).to_string()
    };
    let row = |rest: &str| {
        let row = rest.split("</TR>").next().unwrap_or_default();
        row.split("<TD").skip(1).map(cell).collect::<Vec<String>>()
    };
    html.split("<TR>").skip(1).map(row).filter(|cells| !cells.is_empty()).collect()
}

impl Shop {
    /// Opens one with the given parameters; `None` where MariaDB or PHP is missing.
    pub(crate) fn open(params: &[(&str, &str)]) -> Option<Shop> {
        let php = program(&["php8.2", "php"])?;
        let server = PrivateServer::start(&[])?;
        let catalogue = catalogue();
        let kit = Kit::open(&catalogue, "dvdstore").expect("the kit is right");
        let setup = setup(&kit, TINY, params);
        load_into(&kit, &setup, &server.address("ds2")).unwrap_or_else(|problems| panic!("{problems}"));
        let root = tempfile::Builder::new().prefix("kit-web").tempdir().expect("a temporary directory");
        for (path, bytes) in catalogue.below("kits/dvdstore/app") {
            let text = String::from_utf8_lossy(bytes);
            let to = root.path().join(path.trim_end_matches(".j2"));
            fs::create_dir_all(to.parent().expect("a file is in a folder")).expect("a folder");
            let rendered =
                if path.ends_with(".j2") { render(&text, &setup, &server) } else { text.into_owned() };
            fs::write(to, rendered).expect("a page is written");
        }
        fs::write(root.path().join("ask.php"), ASK).expect("a script is written");
        Some(Shop { kit, setup, server, root, php })
    }

    /// Asks for a page by its path and query below `/ds2/`, through PHP itself.
    pub(crate) fn get(&self, target: &str) -> Answer {
        let (page, query) = target.split_once('?').unwrap_or((target, ""));
        let output = Command::new(&self.php)
            .args(["-d", "display_errors=stdout", "-d", "error_reporting=E_ALL", "-d", "log_errors=1"])
            .arg(self.root.path().join("ask.php"))
            .arg(self.root.path().join("ds2").join(page))
            .arg(query)
            .output()
            .expect("php can be started");
        let errors = String::from_utf8_lossy(&output.stderr);
        let status = errors.rsplit("status ").next().and_then(|text| text.trim().parse().ok());
        let body = format!("{}\n{errors}", String::from_utf8_lossy(&output.stdout));
        Answer { status: status.unwrap_or_else(|| panic!("{target}: {errors}\n{body}")), body }
    }

    pub(crate) fn sql(&self) -> Conn {
        self.server.connect("ds2")
    }

    /// What the database says, as texts.
    pub(crate) fn texts(&self, sql: &str) -> Vec<Vec<String>> {
        let rows: Vec<mysql::Row> = self.sql().query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let text = |value: mysql::Value| match value {
            mysql::Value::Bytes(bytes) => String::from_utf8(bytes).expect("text"),
            other => panic!("{sql}: {other:?} is no text"),
        };
        rows.into_iter().map(|row| row.unwrap().into_iter().map(text).collect()).collect()
    }

    pub(crate) fn number(&self, sql: &str) -> i64 {
        self.sql().query_first(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).expect("a row")
    }
}

fn render(text: &str, setup: &Setup, server: &PrivateServer) -> String {
    use minijinja::Value as Jinja;
    let params = setup.params.iter().map(|(name, value)| (name.clone(), Jinja::from(value.to_string())));
    let socket = server.socket().to_string_lossy().into_owned();
    let db = [("sockets", Jinja::from_pairs([("mysql", socket)])), ("user", Jinja::from("root"))];
    let context = Jinja::from_pairs([
        ("kit", Jinja::from_pairs([("params", Jinja::from_pairs(params))])),
        ("tiers", Jinja::from_pairs([("db", Jinja::from_pairs(db))])),
    ]);
    let mut environment = minijinja::Environment::new();
    environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
    environment.render_str(text, context).unwrap_or_else(|error| panic!("{error}"))
}
