//! Loads a kit's data set into a server that is already there and says how long each phase took: what the figures of
//! `docs/performance-loading.md` are measured with.
//!
//! `load CATALOGUE KIT SIZE SOCKET THREADS`
#![allow(clippy::print_stdout)]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use kit::data::{LoadOptions, Phase, Progress, load};
use kit::{Kit, Server, Setup};
use model::{Catalogue, Problem, Problems, Result, catalogue::setting};

type Files = BTreeMap<String, Cow<'static, [u8]>>;

fn read(folder: &Path, prefix: &str, files: &mut Files) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            read(&entry.path(), &format!("{path}/"), files)?;
        } else {
            files.insert(path, fs::read(entry.path())?.into());
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, name, size, socket, threads] = &arguments[..] else {
        return Err(Problem::recipe("load CATALOGUE KIT SIZE SOCKET THREADS").into());
    };
    let mut files = Files::new();
    read(Path::new(folder), "", &mut files)
        .map_err(|error| Problem::environment(format!("{folder}: {error}")))?;
    let kit = Kit::open(&Catalogue::new(files), name)?;
    let mut problems = Vec::new();
    let params = setting::resolve(&kit.manifest.params, &setting::Values::new(), "", &mut problems);
    Problems::check(problems)?;
    let setup = Setup { size: kit.manifest.size(size).map_err(Problem::recipe)?, params, seed: 1 };
    let database = kit.manifest.database_name().to_string();
    let server = Server { socket: socket.into(), user: "root".to_string(), database };
    let mut phase = (Phase::Tables, Instant::now());
    let mut tell = |progress: Progress| {
        if progress.phase != phase.0 {
            println!("{:<17} {:7.2} s", phase.0.title(), phase.1.elapsed().as_secs_f64());
            phase = (progress.phase, Instant::now());
        }
    };
    let loaded = load(LoadOptions {
        kit: &kit,
        setup: &setup,
        server: &server,
        threads: threads.parse().map_err(|_| Problem::recipe("THREADS is a number"))?,
        on_progress: &mut tell,
        cancelled: &AtomicBool::new(false),
    })?;
    println!("{:<17} {:7.2} s", phase.0.title(), phase.1.elapsed().as_secs_f64());
    println!("{:<17} {:7.2} s, {} MB of rows", "all", loaded.took_s, loaded.bytes / 1_000_000);
    loaded.rows.iter().for_each(|(table, rows)| println!("{table:<12} {rows:>10}"));
    Ok(())
}
