//! Confinement: our own program is started once more, gives up the right to write outside the given places, and becomes
//! the requested program. Everything that this program starts is confined too, and the confinement cannot be undone.
//!
//! It uses Landlock, from Linux 6.2: earlier versions allow truncating a file that must not be written. Reading,
//! running programs, the network and signals stay allowed. So does changing the mode, the owner and the times of one's
//! own files, because the kernel has no rule for them.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use serde::{Deserialize, Serialize};

use super::ended::How;
use super::os_text;

/// The argument that starts our own program as one to be confined.
pub const CONFINED: &str = "confined";

/// The only places where a child and its descendants may write. Missing places are skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Absolute paths of files, and of folders with all their contents.
    #[serde(with = "os_text::list")]
    pub writes: Vec<OsString>,
}

/// The devices that every program may write to.
const DEVICES: [&str; 7] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"];
/// The terminals that a program opens for its own children.
const TERMINALS: &str = "/dev/pts";

/// Separates the places from the program. Places are absolute, so none has this name.
pub(super) const THEN: &str = "--";
/// Exit code when the program could not be started. The line on stderr with the reason starts with `WORDS`.
const FAILED: u8 = 126;
const WORDS: &str = "skilltune: not started: ";
/// The most bytes of stderr that are read for it.
const LINE: usize = 1024;

impl Confinement {
    /// Returns the command to start in place of the program: our own binary, even if its file was moved.
    pub(crate) fn argv(&self, argv: &[OsString]) -> Vec<OsString> {
        let ours = ["/proc/self/exe", CONFINED].map(OsString::from);
        let rest = self.writes.iter().cloned().chain([THEN.into()]).chain(argv.iter().cloned());
        ours.into_iter().chain(rest).collect()
    }
}

/// Returns how a call ended that our own program began. If it never became its program, it was not started.
pub(super) fn how(how: How, stderr: &Path) -> How {
    if how != How::Exited(FAILED.into()) {
        return how;
    }
    match std::fs::read(stderr).ok().and_then(|bytes| why(&bytes)) {
        Some(why) => How::NotStarted { why },
        None => how,
    }
}

fn why(stderr: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(&stderr[..stderr.len().min(LINE)]);
    Some(text.strip_prefix(WORDS)?.lines().next()?.to_owned())
}

/// Becomes the program after `--`, confined to the places before it. Returns only if that failed.
pub fn confined_main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(2);
    let writes: Vec<OsString> = arguments.by_ref().take_while(|word| word != THEN).collect();
    let argv: Vec<OsString> = arguments.collect();
    not_started(&become_confined(&writes, &argv))
}

/// Reports that our own program did not become the requested one.
pub(super) fn not_started(why: &str) -> ExitCode {
    // If stderr is closed, only the exit code reports it.
    let _ = writeln!(io::stderr(), "{WORDS}{why}");
    ExitCode::from(FAILED)
}

fn become_confined(writes: &[OsString], argv: &[OsString]) -> String {
    let Some((program, arguments)) = argv.split_first() else { return "no program given".to_owned() };
    let places = writes.iter().map(OsString::as_os_str);
    let places = places.chain(DEVICES.iter().map(OsStr::new)).chain([OsStr::new(TERMINALS)]);
    if let Err(error) = confine(places) {
        return format!("cannot confine it to its folders (limits.confine = false turns this off): {error}");
    }
    let error = Command::new(program).args(arguments).exec();
    format!("cannot start {}: {error}", program.display())
}

#[cfg(target_os = "linux")]
pub use by_landlock::can_confine;
#[cfg(target_os = "linux")]
use by_landlock::confine;

#[cfg(target_os = "linux")]
mod by_landlock {
    use std::ffi::OsStr;
    use std::io;

    use landlock::{
        ABI, AccessFs, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated,
        RulesetCreatedAttr, RulesetError, RulesetStatus, path_beneath_rules,
    };

    /// Returns true if the kernel can confine a program to its folders.
    pub fn can_confine() -> bool {
        rules().is_ok()
    }

    pub(super) fn confine<'p>(places: impl Iterator<Item = &'p OsStr>) -> io::Result<()> {
        let held =
            rules().and_then(|rules| rules.add_rules(path_beneath_rules(places, writing()))?.restrict_self());
        match held.map_err(io::Error::other)?.ruleset {
            RulesetStatus::FullyEnforced => Ok(()),
            RulesetStatus::PartiallyEnforced | RulesetStatus::NotEnforced => {
                Err(io::Error::other("the kernel enforces only part of the rules"))
            }
        }
    }

    /// Handles all kinds of write access or fails: partial confinement is useless.
    fn rules() -> Result<RulesetCreated, RulesetError> {
        Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(writing())?.create()
    }

    /// Returns all write rights except device ioctls, which only newer kernels restrict.
    fn writing() -> BitFlags<AccessFs> {
        AccessFs::from_write(ABI::V3)
    }
}

#[cfg(not(target_os = "linux"))]
pub fn can_confine() -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
fn confine<'p>(_places: impl Iterator<Item = &'p OsStr>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stand_before_the_program_and_its_words_behind_it() {
        let confinement = Confinement { writes: vec!["/a".into(), "/b c".into()] };
        let argv = confinement.argv(&["/bin/x".into(), "--".into(), "-y".into()]);
        assert_eq!(argv, ["/proc/self/exe", "confined", "/a", "/b c", "--", "/bin/x", "--", "-y"]);
    }

    #[test]
    fn only_our_own_words_make_an_exit_code_a_start_that_failed() {
        let folder = tempfile::tempdir().unwrap();
        let stderr = folder.path().join("stderr");
        assert_eq!(how(How::Exited(126), &stderr), How::Exited(126));
        std::fs::write(&stderr, "sh: cannot execute\n").unwrap();
        assert_eq!(how(How::Exited(126), &stderr), How::Exited(126));
        std::fs::write(&stderr, "skilltune: not started: no luck\nmore\n").unwrap();
        assert_eq!(how(How::Exited(126), &stderr), How::NotStarted { why: "no luck".to_owned() });
        assert_eq!(how(How::Exited(1), &stderr), How::Exited(1));
    }
}
