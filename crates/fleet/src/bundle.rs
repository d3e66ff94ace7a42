//! A run's bundle: all that an agent needs to drive its users, in one message that a controller has signed. The same bytes go to
//! every agent; which users are whose stands in what the controller wants.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use engine::Target;
use model::{Catalogue, Plan};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::watched::WatchedTier;

/// The first bytes of every bundle.
const MAGIC: &[u8; 4] = b"PLB1";

/// Counts up when a reader of the old ones would misread the new ones.
const VERSION: u32 = 1;

/// Larger ones are refused: a kit's sessions and rows are far smaller.
pub const MAX_BYTES: usize = 256 << 20;

/// What the users of a run do, and where.
#[derive(Debug, Clone)]
pub struct Bundle {
    /// The build that the controller is of. Agents are of the same one: the engine is the instrument.
    pub build: String,
    /// The run.
    pub plan: Plan,
    /// The server under load.
    pub target: Target,
    /// At the end sessions under way may take this long; seconds.
    pub drain_s: f64,
    /// The files of the catalogue that the users' sessions are made of, by their path in it.
    pub files: BTreeMap<String, Vec<u8>>,
    /// What is to be watched on whose machine, by the agents' names.
    pub watches: BTreeMap<String, Vec<WatchedTier>>,
}

/// What of a bundle is JSON: all but the files' bytes.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    version: u32,
    build: String,
    plan: Plan,
    target: Target,
    drain_s: f64,
    /// Each file's path and length, in the order in which their bytes follow.
    files: Vec<(String, usize)>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    watches: BTreeMap<String, Vec<WatchedTier>>,
}

impl Bundle {
    /// As it is signed.
    ///
    /// # Errors
    /// It can't be written down, or it is larger than [`MAX_BYTES`].
    pub fn encode(&self) -> Result<Vec<u8>, String> {
        let header = Header {
            version: VERSION,
            build: self.build.clone(),
            plan: self.plan.clone(),
            target: self.target.clone(),
            drain_s: self.drain_s,
            files: self.files.iter().map(|(path, bytes)| (path.clone(), bytes.len())).collect(),
            watches: self.watches.clone(),
        };
        let header = serde_json::to_vec(&header).map_err(|error| error.to_string())?;
        let length = u32::try_from(header.len()).map_err(|error| error.to_string())?;
        let mut bundle = [MAGIC, &length.to_le_bytes()[..], &header].concat();
        self.files.values().for_each(|bytes| bundle.extend_from_slice(bytes));
        if bundle.len() > MAX_BYTES {
            return Err(format!(
                "what its users need takes {} MB, and {} may",
                bundle.len() >> 20,
                MAX_BYTES >> 20
            ));
        }
        Ok(bundle)
    }

    /// Reads what [`Self::encode`] wrote.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(bytes: &[u8]) -> Result<Bundle, String> {
        /// Looked at before anything else, which may be of a version that has it otherwise.
        #[derive(Deserialize)]
        struct OfVersion {
            version: u32,
        }
        let cut_off = || "the bundle is cut off".to_string();
        let rest = bytes.strip_prefix(MAGIC).ok_or("it is no bundle of a run")?;
        let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(cut_off)?;
        let (header, mut rest) =
            rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(cut_off)?;
        let damaged = |error: serde_json::Error| format!("the bundle's header is damaged: {error}");
        let found = serde_json::from_slice::<OfVersion>(header).map_err(damaged)?.version;
        if found != VERSION {
            return Err(format!("the bundle is of version {found}, and this program knows {VERSION} alone"));
        }
        let header: Header = serde_json::from_slice(header).map_err(damaged)?;
        let mut files = BTreeMap::new();
        for (path, length) in header.files {
            let (file, after) = rest.split_at_checked(length).ok_or_else(cut_off)?;
            files.insert(path, file.to_vec());
            rest = after;
        }
        let Header { build, plan, target, drain_s, watches, .. } = header;
        Ok(Bundle { build, plan, target, drain_s, files, watches })
    }

    /// Its files as a catalogue.
    pub fn catalogue(&self) -> Catalogue {
        let owned = |(path, bytes): (&String, &Vec<u8>)| (path.clone(), Cow::Owned(bytes.clone()));
        Catalogue::new(self.files.iter().map(owned).collect())
    }
}

/// By which a bundle is known: the SHA-256 of its bytes, in hexadecimal digits.
pub fn name_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut name, byte| {
        // Writing to a string can't fail.
        _ = write!(name, "{byte:02x}");
        name
    })
}
