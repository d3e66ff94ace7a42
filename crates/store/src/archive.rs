//! A run's directory as one file, `.tar.gz`, that another machine can unpack below its own `$PLIMSOLL_HOME/runs`.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use flate2::Compression;
use flate2::write::GzEncoder;
use model::{Problem, Result};
use tar::{Builder, EntryType, Header};

use crate::beneath::open_beneath;
use crate::run::Run;

/// Nothing that Plimsoll keeps lies deeper.
const MAX_DEPTH: usize = 16;

/// How fast and how small: records and logs shrink to a tenth at the fastest already.
const COMPRESSION: Compression = Compression::fast();

impl Run {
    /// Says why the run can't be archived now.
    ///
    /// # Errors
    /// It is under way: its database is only whole once it has ended.
    pub fn check_archive(&self) -> Result<()> {
        match self.under_way() {
            true => Err(Problem::environment(format!("run {} is still under way", self.record.id))
                .remedy("an archive of it can be made when it has ended")
                .into()),
            false => Ok(()),
        }
    }

    /// Writes the run's whole directory to `out` as `.tar.gz`, with one directory at its top, in pieces of bounded memory. Links,
    /// pipes and whatever else is no file are left out. Files belong to whoever unpacks them.
    ///
    /// # Errors
    /// A file can't be read, or `out` takes no more.
    pub fn archive(&self, out: impl Write) -> io::Result<()> {
        let name = self.directory.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let mut archive = Builder::new(GzEncoder::new(out, COMPRESSION));
        let mut directories = vec![PathBuf::new()];
        while let Some(inner) = directories.pop() {
            append_directory(&mut archive, &Path::new(name).join(&inner), &self.directory.join(&inner))?;
            for (entry, kind) in entries(&self.directory.join(&inner))? {
                let inner = inner.join(&entry);
                if kind.is_dir() && inner.components().count() < MAX_DEPTH {
                    directories.push(inner);
                } else if kind.is_file() {
                    append_file(&mut archive, &Path::new(name).join(&inner), &self.directory, &inner)?;
                }
            }
        }
        archive.into_inner()?.finish()?.flush()
    }
}

/// The names in a directory, in their order.
fn entries(directory: &Path) -> io::Result<Vec<(PathBuf, fs::FileType)>> {
    let entries = fs::read_dir(directory)?.map(|entry| {
        let entry = entry?;
        Ok((PathBuf::from(entry.file_name()), entry.file_type()?))
    });
    let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(entries)
}

fn append_directory(archive: &mut Builder<impl Write>, name: &Path, from: &Path) -> io::Result<()> {
    let header = header(&fs::symlink_metadata(from)?, EntryType::Directory, 0o755, 0);
    archive.append_data(&mut header.clone(), name, io::empty())
}

fn append_file(
    archive: &mut Builder<impl Write>,
    name: &Path,
    directory: &Path,
    inner: &Path,
) -> io::Result<()> {
    let file = match open_beneath(directory, inner) {
        Ok(file) => file,
        // It became something else since its directory was read.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    let size = metadata.len();
    let mut header = header(&metadata, EntryType::Regular, 0o644, size);
    // As long as was said, whatever happens to the file meanwhile.
    archive.append_data(&mut header, name, file.chain(io::repeat(0)).take(size))
}

fn header(metadata: &fs::Metadata, kind: EntryType, mode: u32, size: u64) -> Header {
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(modified.unwrap_or_default().as_secs());
    header
}
