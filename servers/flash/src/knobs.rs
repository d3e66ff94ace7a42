//! The knobs: `--name value` each.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// A knob of some words.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($value:ident = $word:literal),* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($value),* }
        impl FromStr for $name {
            type Err = ();
            fn from_str(word: &str) -> Result<$name, ()> {
                match word { $($word => Ok($name::$value),)* _ => Err(()) }
            }
        }
    };
}

choice!(
    /// Which helpers pass the descriptor of what they have opened.
    Pass { Both = "both", Names = "names", None = "none" }
);
choice!(
    /// How files are opened and sent.
    Files { Sendfile = "sendfile", Mmap = "mmap", Nowait = "nowait", Uring = "uring" }
);
choice!(
    /// How the loop knows whether a part of a file is in memory.
    Residency { Guess = "guess", Mincore = "mincore", Nowait = "nowait" }
);
choice!(
    /// Who forks for a program.
    Cgi { Helper = "helper", Loop = "loop" }
);
choice!(
    /// How the loop hears what is ready.
    Hears { Epoll = "epoll", Poll = "poll" }
);

#[derive(Debug, Clone)]
pub struct Knobs {
    pub listen: SocketAddr,
    pub root: PathBuf,
    pub pass: Pass,
    pub cgi: Cgi,
    pub files: Files,
    pub residency: Residency,
    pub events: Hears,
    pub helpers: usize,
    pub processes: usize,
    pub name_cache: u64,
    pub data_cache_bytes: u64,
    pub max_open_files: u64,
    pub revalidate_s: u64,
    pub idle_timeout_s: u64,
}

impl Knobs {
    /// Of the words after the program's name.
    pub fn of(words: &[String]) -> Result<Knobs, String> {
        let mut knobs = Knobs {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            root: PathBuf::from("."),
            pass: Pass::Both,
            cgi: Cgi::Helper,
            files: Files::Sendfile,
            residency: Residency::Guess,
            events: Hears::Epoll,
            helpers: 8,
            processes: 1,
            name_cache: 100_000,
            data_cache_bytes: 200 << 20,
            max_open_files: 16_384,
            revalidate_s: 30,
            idle_timeout_s: 15,
        };
        for pair in words.chunks(2) {
            let [name, value] = pair else { return Err(format!("{} has no value", pair[0])) };
            let is_set = match name.as_str() {
                "--listen" => set(&mut knobs.listen, value),
                "--root" => set(&mut knobs.root, value),
                "--pass" => set(&mut knobs.pass, value),
                "--cgi" => set(&mut knobs.cgi, value),
                "--files" => set(&mut knobs.files, value),
                "--residency" => set(&mut knobs.residency, value),
                "--events" => set(&mut knobs.events, value),
                "--helpers" => set(&mut knobs.helpers, value) && knobs.helpers > 0,
                "--processes" => set(&mut knobs.processes, value) && knobs.processes > 0,
                "--name-cache" => set(&mut knobs.name_cache, value),
                "--data-cache" => set(&mut knobs.data_cache_bytes, value),
                "--max-open-files" => set(&mut knobs.max_open_files, value),
                "--revalidate" => set(&mut knobs.revalidate_s, value),
                "--idle-timeout" => set(&mut knobs.idle_timeout_s, value),
                _ => return Err(format!("there is no knob {name}")),
            };
            if !is_set {
                return Err(format!("{name} can't be `{value}`"));
            }
        }
        // Each process has its own caches, and connections need descriptors, too.
        knobs.data_cache_bytes /= knobs.processes as u64;
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX);
        knobs.max_open_files = knobs.max_open_files.min(limit / 2).max(1);
        Ok(knobs)
    }
}

fn set<T: FromStr>(knob: &mut T, value: &str) -> bool {
    value.parse().map(|value| *knob = value).is_ok()
}
