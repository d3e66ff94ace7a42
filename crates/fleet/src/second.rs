//! A second of an agent as a message: `PLF1`, the length of a header, the header in JSON, then histograms as they are kept on disk.
//! What comes from another machine is checked before any of it is added to anything.

mod header;

use std::ops::Range;

use engine::Second;
use model::Interval;
use model::record::interval::encoded::{self, Encoder};
use model::record::interval::fields::{DISTRIBUTIONS, FIGURES};
use model::record::interval::{OperationInterval, OperationName, Times, new_times};
use model::record::{AgentSecond, Evidence};

use header::{Header, Operation, Span};

/// The first bytes of every message of this kind.
const MAGIC: &[u8; 4] = b"PLF1";

/// Counts up when a reader of the old ones would misread the new ones. A new figure is no new version: who doesn't know it leaves
/// it out, who misses it takes it as nothing.
const VERSION: u32 = 1;

/// More of anything is in no second: sums of many such counts have room in 64 bits.
const MAX_COUNT: u64 = 1 << 44;

/// The distribution of send lag, by its name.
const LAG: &str = "lag";

/// More rows than this are no kit's.
const MAX_ROWS: usize = 100_000;

/// The message of a second whose first `known` rows were named in earlier ones.
///
/// # Errors
/// A histogram that can't be encoded.
pub fn encode(second: &Second<'_>, known: usize, encoder: &mut Encoder) -> Result<Vec<u8>, String> {
    let interval = second.interval;
    let mut blobs = Blobs { bytes: Vec::new(), encoder };
    let mut operations = Vec::new();
    for (row, part) in interval.operations.iter().enumerate() {
        if part.completed > 0 || part.failed() > 0 || part.bytes > 0 {
            operations.push(Operation {
                row,
                completed: part.completed,
                bytes: part.bytes,
                errors: part.errors,
                response: blobs.add(&part.response)?,
                service: blobs.add(&part.service)?,
            });
        }
    }
    let mut distributions = Vec::new();
    for (name, get, _) in &DISTRIBUTIONS {
        distributions.extend(blobs.add(get(interval))?.map(|span| ((*name).to_string(), span)));
    }
    let figures = FIGURES.iter().map(|(name, get, _)| ((*name).to_string(), get(interval)));
    let header = Header {
        version: VERSION,
        second: interval.second,
        known,
        names: second.names.get(known..).unwrap_or_default().to_vec(),
        operations,
        figures: figures.filter(|(_, value)| *value != 0.0).collect(),
        distributions: distributions.into_iter().collect(),
        counters: interval.counters.clone(),
        choices: interval.choices.clone(),
        pauses: interval.pauses.iter().map(header::numbers_of_pauses).collect(),
        last_sessions: interval.last_sessions.iter().map(header::numbers_of_session).collect(),
        evidence: second.evidence.to_vec(),
    };
    let header = serde_json::to_vec(&header).map_err(|error| error.to_string())?;
    let length = u32::try_from(header.len()).map_err(|error| error.to_string())?;
    let mut message = Vec::with_capacity(8 + header.len() + blobs.bytes.len());
    message.extend_from_slice(MAGIC);
    message.extend_from_slice(&length.to_le_bytes());
    message.extend_from_slice(&header);
    message.extend_from_slice(&blobs.bytes);
    Ok(message)
}

/// Histograms one after the other.
struct Blobs<'a> {
    bytes: Vec<u8>,
    encoder: &'a mut Encoder,
}

impl Blobs<'_> {
    /// Where the histogram is; nowhere when it is empty.
    fn add(&mut self, times: &Times) -> Result<Option<Span>, String> {
        let Some(bytes) = self.encoder.encode(times)? else { return Ok(None) };
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&bytes);
        Ok(Some((at, bytes.len())))
    }
}

/// A message that was read and found right.
#[derive(Debug)]
pub struct SecondMessage {
    bytes: Vec<u8>,
    /// Where the histograms begin.
    blobs: usize,
    header: Header,
}

impl SecondMessage {
    /// Reads a message, as far as that is possible without knowing whose it is.
    ///
    /// # Errors
    /// What about it is no message, or none of this version.
    pub fn read(bytes: Vec<u8>) -> Result<SecondMessage, String> {
        let (magic, rest) = bytes.split_first_chunk::<4>().ok_or("it is cut off")?;
        if magic != MAGIC {
            return Err("it is no second of an agent".to_string());
        }
        let (length, rest) = rest.split_first_chunk::<4>().ok_or("it is cut off")?;
        let length = u32::from_le_bytes(*length) as usize;
        let header = rest.get(..length).ok_or("its header is cut off")?;
        let header = Header::read(header, VERSION)?;
        Ok(SecondMessage { blobs: 8 + length, header, bytes })
    }

    /// The second's number, 0-based.
    pub fn second(&self) -> u32 {
        self.header.second
    }

    /// The rows that it names, which come after those of earlier messages.
    pub fn names(&self) -> &[OperationName] {
        &self.header.names
    }

    /// Samples of errors.
    pub fn evidence(&self) -> &[Evidence] {
        &self.header.evidence
    }

    /// What each row of the agent has completed, and what of it failed.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (usize, u64, u64)> + '_ {
        self.header.operations.iter().map(|one| (one.row, one.completed, one.errors.iter().sum()))
    }

    /// What the agent's generator saw of itself. `scratch` is for its send lag.
    pub(crate) fn of_generator(&self, scratch: &mut Times) -> Result<AgentSecond, String> {
        let bare = self.bare();
        scratch.reset();
        self.add_blob(self.header.distributions.get(LAG).copied(), scratch)?;
        let p99_s = scratch.value_at_quantile(0.99) as f64 / 1e6;
        Ok(AgentSecond {
            second: bare.second,
            cpu_s: bare.generator_cpu_s,
            busiest_thread_cpu_s: bare.busiest_thread_cpu_s,
            lag_p99_s: (!scratch.is_empty()).then_some(p99_s),
        })
    }

    /// Connections opened.
    pub(crate) fn connects(&self) -> u64 {
        self.bare().connects
    }

    /// The session's own counters.
    pub(crate) fn counters(&self) -> impl Iterator<Item = (&String, u64)> {
        self.header.counters.iter().map(|(name, count)| (name, *count))
    }

    /// Adds it to `sum`; `rows` gives the number there of each of the agent's rows.
    ///
    /// # Errors
    /// What is wrong with a histogram: nothing, of a message that has passed [`Self::check`].
    pub fn add_to(&self, sum: &mut Interval, rows: &[usize]) -> Result<(), String> {
        sum.merge_part(&mut self.bare(), rows);
        for operation in &self.header.operations {
            let row = &mut sum.operations[rows[operation.row]];
            self.add_blob(operation.response, &mut row.response)?;
            self.add_blob(operation.service, &mut row.service)?;
        }
        for (name, _, times) in &DISTRIBUTIONS {
            self.add_blob(self.header.distributions.get(*name).copied(), times(sum))?;
        }
        Ok(())
    }

    /// All but the histograms.
    fn bare(&self) -> Interval {
        let header = &self.header;
        let mut interval = Interval::bare(header.second);
        for (name, _, put) in &FIGURES {
            if let Some(value) = header.figures.get(*name) {
                put(&mut interval, *value);
            }
        }
        for operation in &header.operations {
            while interval.operations.len() <= operation.row {
                interval.operations.push(OperationInterval::bare());
            }
            let row = &mut interval.operations[operation.row];
            (row.completed, row.bytes, row.errors) = (operation.completed, operation.bytes, operation.errors);
        }
        interval.counters.clone_from(&header.counters);
        interval.choices.clone_from(&header.choices);
        interval.pauses = header.pauses.iter().map(header::pauses_of_numbers).collect();
        interval.last_sessions = header.last_sessions.iter().map(header::session_of_numbers).collect();
        interval
    }

    fn add_blob(&self, span: Option<Span>, times: &mut Times) -> Result<(), String> {
        match span {
            Some(span) => encoded::add(self.blob(span).ok_or("a histogram lies outside of it")?, times),
            None => Ok(()),
        }
    }

    fn blob(&self, (at, length): Span) -> Option<&[u8]> {
        let range = Range { start: at, end: at.checked_add(length)? };
        self.bytes.get(self.blobs..)?.get(range)
    }

    /// Whether all of it can be added, of an agent that has named `rows` rows before.
    ///
    /// # Errors
    /// What can't.
    pub fn check(&self, rows: usize) -> Result<(), String> {
        let header = &self.header;
        if header.known != rows {
            return Err(format!(
                "it follows a message that named row {}, the last one named row {rows}",
                header.known
            ));
        }
        let rows = rows + header.names.len();
        if rows > MAX_ROWS {
            return Err(format!("it names more than {MAX_ROWS} rows"));
        }
        let sessions = header.last_sessions.iter().map(|(row, ..)| *row);
        if let Some(row) =
            header.operations.iter().map(|one| one.row).chain(sessions).find(|row| *row >= rows)
        {
            return Err(format!("it tells of row {row}, and {rows} were named"));
        }
        if !header.operations.is_sorted_by(|one, next| one.row < next.row) {
            return Err("it tells of a row twice, or of rows in no order".to_string());
        }
        if header.counts().any(|count| count > MAX_COUNT) {
            return Err(format!("it counts more than {MAX_COUNT} of something"));
        }
        let like = new_times();
        let of_rows = header.operations.iter().flat_map(|one| [one.response, one.service]).flatten();
        for span in of_rows.chain(header.distributions.values().copied()) {
            encoded::check(self.blob(span).ok_or("a histogram lies outside of it")?, &like)?;
        }
        if header.figures.values().any(|value| !value.is_finite() || *value < 0.0) {
            return Err("a figure of it is negative or no number".to_string());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
