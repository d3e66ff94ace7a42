//! Bottlenecks that nobody has looked at: a family, a place, a strength and a load for each are drawn from a seed, and written as
//! faults that `plimsoll faults --catalogue` runs. What is tuned is tuned on seeds that somebody chose; what is reported is drawn from
//! the hash of the commit that froze the rules.

mod deck;
mod fit;
mod record;
mod table;

use std::path::PathBuf;

use model::FaultFile;
use model::random::Random;

use crate::Failure;
use crate::held_out::checked_out;
use deck::Deck;

pub(crate) use fit::{Kept, fit};
pub(crate) use record::record;
pub(crate) use table::{Ran, print};

/// Draws bottlenecks and writes each as a fault.
#[derive(Debug, clap::Args)]
pub(crate) struct Blind {
    /// A catalogue's folder, to which the faults are added: `DIR/faults/plant-001.toml`
    #[arg(long)]
    into: PathBuf,
    /// How many
    #[arg(long, default_value_t = 120)]
    plants: u64,
    /// Draw from this number instead of the hash of the commit that is checked out, whose tree has to be clean
    #[arg(long)]
    seed: Option<u64>,
    /// Only families whose name contains this, or one of several with commas between
    #[arg(long, value_delimiter = ',', default_value = "")]
    family: Vec<String>,
    /// Only scenes whose name contains this
    #[arg(long, default_value = "")]
    scene: String,
}

/// Writes the faults and prints their names, and nothing of what is in them.
pub(crate) fn draw(asked: &Blind) -> Result<(), Failure> {
    let seed = match asked.seed {
        Some(seed) => seed,
        None => {
            let commit = checked_out()?;
            u64::from_str_radix(commit.get(..16).ok_or("a hash has 16 digits at least")?, 16)?
        }
    };
    let deck = Deck::open()?.only(&asked.family, &asked.scene)?;
    let folder = asked.into.join("faults");
    std::fs::create_dir_all(&folder)?;
    for number in 0..asked.plants {
        let name = format!("plant-{:03}", number + 1);
        let fault: FaultFile = deck.draw(&mut Random::new(Random::nth(seed, number)), &name)?;
        std::fs::write(folder.join(format!("{name}.toml")), toml::to_string(&fault)?)?;
        println!("{name}");
    }
    Ok(())
}
