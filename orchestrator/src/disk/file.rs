//! Reads regular files of bounded size. A path may turn out to be a device, a FIFO or a terabyte.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};

use super::error::{DiskError, OnDisk as _};

/// Opens a regular file at a path that the user named, following symlinks. A FIFO or a device is an error, without
/// waiting for it.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    require_regular(&file)?;
    Ok(file)
}

/// Reads such a file. Fails if it has more than `most` bytes, before allocating memory.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_all(&open(path)?, most)
}

/// Reads at most the first `most` bytes of such a file as text. A missing file is empty.
pub(crate) fn text(path: &Path, most: u64) -> Result<String, DiskError> {
    let bytes = match open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        opened => opened.and_then(|file| read_first(&file, most)).on_disk("read", path)?,
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Fails if an open file is not a regular file.
pub(crate) fn require_regular(file: &File) -> io::Result<()> {
    let stat = rustix::fs::fstat(file)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        _ => Err(io::Error::other("it is not a regular file")),
    }
}

/// Reads an open file. Fails if it has more than `most` bytes.
pub(crate) fn read_all(file: &File, most: u64) -> io::Result<Vec<u8>> {
    let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes"));
    if file.metadata()?.len() > most {
        return Err(too_large());
    }
    // One extra byte reveals a file that grows while it is read.
    let bytes = read_first(file, most.saturating_add(1))?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}

/// Reads at most the first `most` bytes of an open file.
pub(crate) fn read_first(file: &File, most: u64) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len().min(most);
    // Capacity for the whole file and its end avoids reads in small pieces.
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
