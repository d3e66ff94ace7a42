//! An agent that tells nothing and answers for its clock, until its standard input ends: `fleet-actor URL FOLDER`.

use std::error::Error;
use std::io::Read;
use std::path::Path;

use fleet::bus::{Broker, Name, Teller, Voice};
use fleet::spool::Spool;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, folder] = words.as_slice() else { return Err("fleet-actor URL FOLDER".into()) };
    let (fleet, run, agent) = (Name::of("lab")?, Name::of("r-1")?, Name::of("far")?);
    let spool = Spool::open(Path::new(folder), 1 << 20)?;
    let voice = Voice { fleet, run, agent, incarnation: 1 };
    let teller = Teller::begin(Broker { url: url.clone() }, voice, spool)?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    drop(teller);
    Ok(())
}
