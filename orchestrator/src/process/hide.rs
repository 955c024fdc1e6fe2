//! Hiding: our own program is started once more, gets mounts of its own, covers the given places with empty folders,
//! gives up the right to mount, and becomes the requested program. Everything that this program starts finds these
//! places empty too, and cannot uncover them.
//!
//! Only within a guardian's namespace. If the kernel refuses any of it, the program is started with nothing hidden, and
//! the end of the call says so: the standard input of our own program is a pipe to the guardian, which the requested
//! program does not get, and a byte in it means that all places are hidden.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use serde::{Deserialize, Serialize};

use super::confine::{THEN, not_started};
use super::family::Reach;
use super::namespace::MountRight;
use super::os_text;

/// The argument that starts our own program as one to hide places from.
pub const HIDDEN: &str = "hidden";

/// The places that a child and its descendants find empty. Missing ones are skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hidden {
    /// Absolute paths of folders.
    #[serde(with = "os_text::list")]
    pub places: Vec<OsString>,
    /// Files and folders in them that stay as they are.
    #[serde(with = "os_text::list")]
    pub shown: Vec<OsString>,
}

/// What a guardian needs to start a program that hides places first.
pub(super) struct Hiding {
    right: MountRight,
    report: Report,
    pipe: PipeWriter,
}

/// Whether the places are hidden.
pub(super) struct Report(PipeReader);

impl Hiding {
    /// Returns `None` where nothing can be hidden.
    pub(super) fn within(reach: Reach) -> Option<Self> {
        let Reach::Namespace(init) = reach else { return None };
        let (report, pipe) = io::pipe().ok()?;
        Some(Self { right: init.lend_mounting().ok()?, report: Report(report), pipe })
    }

    /// Starts our own program, and takes the right to mount back.
    pub(super) fn spawn(self, command: &mut Command) -> io::Result<(std::process::Child, Report)> {
        let Self { right: _right, report, pipe } = self;
        Ok((command.stdin(pipe).spawn()?, report))
    }
}

impl Report {
    /// Only after the end of the call. It never waits.
    pub(super) fn is_hidden(&self) -> bool {
        rustix::io::ioctl_fionread(&self.0).is_ok_and(|bytes| bytes > 0)
    }
}

impl Hidden {
    /// Returns the command to start in place of the program: our own binary, even if its file was moved.
    pub(super) fn argv(&self, stdin: Option<&Path>, argv: &[OsString]) -> Vec<OsString> {
        let ours = ["/proc/self/exe", HIDDEN].map(OsString::from);
        let stdin = stdin.unwrap_or(Path::new("")).into();
        let then = || [OsString::from(THEN)];
        let ours = ours.into_iter().chain([stdin]).chain(self.places.iter().cloned()).chain(then());
        ours.chain(self.shown.iter().cloned()).chain(then()).chain(argv.iter().cloned()).collect()
    }
}

/// Becomes the program after the second `--`. Before the first one are its standard input and the places to hide, and
/// after that the places to show. Returns only if the program could not be started.
pub fn hidden_main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(2);
    let stdin = arguments.next().unwrap_or_default();
    let mut list = || arguments.by_ref().take_while(|word| word != THEN).collect();
    let hidden = Hidden { places: list(), shown: list() };
    let argv: Vec<OsString> = arguments.collect();
    not_started(&become_program(&stdin, &hidden, &argv))
}

fn become_program(stdin: &OsStr, hidden: &Hidden, argv: &[OsString]) -> String {
    let Some((program, arguments)) = argv.split_first() else { return "no program given".to_owned() };
    let input = if stdin.is_empty() { Ok(Stdio::null()) } else { File::open(stdin).map(Stdio::from) };
    let input = match input {
        Ok(input) => input,
        Err(error) => return format!("cannot open {}: {error}", stdin.display()),
    };
    if hide(hidden).is_ok() {
        // If this fails, the guardian is dead.
        let _ = rustix::io::write(io::stdin(), b"h");
    } else if let Err(error) = keep_no_right() {
        return format!("cannot give up the right to mount: {error}");
    }
    let error = Command::new(program).args(arguments).stdin(input).exec();
    format!("cannot start {}: {error}", program.display())
}

#[cfg(target_os = "linux")]
use super::namespace::keep_no_right;
#[cfg(target_os = "linux")]
use by_mounts::hide;

#[cfg(target_os = "linux")]
mod by_mounts {
    use std::env;
    use std::ffi::OsString;
    use std::fs::{self, File};
    use std::io;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::path::{Path, PathBuf};

    use rustix::fs::{Mode, OFlags, open};
    use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind_recursive, mount_remount, unmount};

    use super::Hidden;
    use crate::process::namespace::{give_up_mounting, own_mounts};

    /// A file or folder that stays as it is, found before anything covers it.
    struct Shown {
        path: PathBuf,
        is_folder: bool,
        found: OwnedFd,
    }

    /// Hides all places, or nothing.
    pub(super) fn hide(hidden: &Hidden) -> io::Result<()> {
        let here = env::current_dir()?;
        let mut places = real(&hidden.places)?;
        places.sort();
        places.dedup_by(|inner, outer| inner.starts_with(outer));
        own_mounts()?;
        let done = cover(&places, &hidden.shown)
            // Otherwise `..` would lead below what covers a place.
            .and_then(|()| env::set_current_dir(&here))
            .and_then(|()| give_up_mounting());
        if done.is_err() {
            for place in &places {
                let _ = unmount(place, UnmountFlags::DETACH); // Fails if nothing covers it.
            }
            env::set_current_dir(&here)?;
        }
        done
    }

    /// Resolves all symlinks. Missing paths are skipped.
    fn real(paths: &[OsString]) -> io::Result<Vec<PathBuf>> {
        let found = paths.iter().map(fs::canonicalize);
        found.filter(|path| !matches!(path, Err(error) if error.kind() == io::ErrorKind::NotFound)).collect()
    }

    fn cover(places: &[PathBuf], shown: &[OsString]) -> io::Result<()> {
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        let is_below = |path: &PathBuf| places.iter().any(|place| path.starts_with(place));
        let shown =
            real(shown)?.into_iter().filter(is_below).map(Shown::of).collect::<io::Result<Vec<_>>>()?;
        // Visible only here: no mount of a guardian's namespace is shared with another namespace.
        places.iter().try_for_each(|place| mount("tmpfs", place, "tmpfs", flags, c"mode=0755"))?;
        shown.iter().try_for_each(Shown::uncover)?;
        Ok(places.iter().try_for_each(|place| mount_remount(place, flags | MountFlags::RDONLY, c""))?)
    }

    impl Shown {
        fn of(path: PathBuf) -> io::Result<Self> {
            let is_folder = path.is_dir();
            let found = open(&path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
            Ok(Self { path, is_folder, found })
        }

        fn uncover(&self) -> io::Result<()> {
            make(&self.path, self.is_folder)?;
            Ok(mount_bind_recursive(format!("/proc/self/fd/{}", self.found.as_raw_fd()), &self.path)?)
        }
    }

    /// Makes an empty file or folder to mount on, unless it exists: in one that is shown already.
    fn make(path: &Path, is_folder: bool) -> io::Result<()> {
        if is_folder {
            return fs::create_dir_all(path);
        }
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        match File::create_new(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn hide(_hidden: &Hidden) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
fn keep_no_right() -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_and_the_places_stand_before_the_program_and_its_words_behind_it() {
        let hidden = Hidden { places: vec!["/a".into(), "/b c".into()], shown: vec!["/a/d".into()] };
        let argv = ["/bin/x".into(), "--".into(), "-y".into()];
        let line = hidden.argv(Some(Path::new("/in")), &argv);
        let words = ["/in", "/a", "/b c", "--", "/a/d", "--", "/bin/x", "--", "-y"];
        assert_eq!(line[..2], ["/proc/self/exe", "hidden"]);
        assert_eq!(line[2..], words);
        assert_eq!(Hidden::default().argv(None, &argv)[2..5], ["", "--", "--"]);
    }
}
