//! The names in an open folder, as the system lists them.

use std::ffi::CStr;
use std::ops::ControlFlow;
use std::os::fd::AsFd;

use rustix::fs::{FileType, SeekFrom};

/// Tells the names in a folder and what they stand for, as far as the file system knows, until it is told to stop.
pub(crate) fn each(
    folder: impl AsFd,
    mut tell: impl FnMut(&CStr, FileType) -> ControlFlow<()>,
) -> rustix::io::Result<ControlFlow<()>> {
    // Listed before, it would go on from where that ended.
    rustix::fs::seek(&folder, SeekFrom::Start(0))?;
    entries(
        folder,
        |name, kind| {
            if name == c"." || name == c".." { ControlFlow::Continue(()) } else { tell(name, kind) }
        },
    )
}

#[cfg(target_os = "linux")]
fn entries(
    folder: impl AsFd,
    mut tell: impl FnMut(&CStr, FileType) -> ControlFlow<()>,
) -> rustix::io::Result<ControlFlow<()>> {
    /// How many bytes of a list are asked for at a time.
    const LISTED: usize = 16 << 10;
    let mut room = [std::mem::MaybeUninit::uninit(); LISTED];
    let mut entries = rustix::fs::RawDir::new(folder, &mut room);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        if tell(entry.file_name(), entry.file_type()).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

#[cfg(not(target_os = "linux"))]
fn entries(
    folder: impl AsFd,
    mut tell: impl FnMut(&CStr, FileType) -> ControlFlow<()>,
) -> rustix::io::Result<ControlFlow<()>> {
    for entry in rustix::fs::Dir::read_from(folder)? {
        let entry = entry?;
        if tell(entry.file_name(), entry.file_type()).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}
