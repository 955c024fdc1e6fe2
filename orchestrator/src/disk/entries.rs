//! The names in an open folder, as the system lists them.

use std::ffi::CStr;
use std::ops::ControlFlow;
use std::os::fd::AsFd;

use rustix::fs::{FileType, SeekFrom};

/// Passes each name in a folder and its file type, as far as the file system knows it, to a callback until it stops.
pub(crate) fn each(
    folder: impl AsFd,
    mut tell: impl FnMut(&CStr, FileType) -> ControlFlow<()>,
) -> rustix::io::Result<ControlFlow<()>> {
    // After an earlier listing, reading would continue where that ended.
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
    /// The number of bytes of a listing that are read at a time.
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
