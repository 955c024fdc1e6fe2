//! Finds agents that change files which they may only read: after every call that answers, with any agent and any
//! confinement, compares its fixed folders byte for byte with what was placed.
//!
//! A new file elsewhere in the workspace is fine: nothing reads it there, unless the call was to make it.

use std::io::ErrorKind;
use std::path::Path;

use skilltune_phases::asking::order::{Order, Placement};
use skilltune_phases::runs::event::{Failure, FailureKind};

use super::{EngineError, ReadError, call_dir};
use crate::snapshot::{CaptureError, Change, ChangeKind, Limits, Objects, changes, scan_left};

/// How many differences are reported.
const TOLD: usize = 4;
/// The comparison stops once an agent has added more than this.
const ROOM: Limits = Limits { files: 1_000, bytes: 16 << 20 };
/// The folder that Python leaves beside a script that it has run.
const BY_PYTHON: &[u8] = b"__pycache__";

/// Fails a call that has changed a folder which it may only read.
pub(super) fn check(objects: &Objects, order: &Order, space: &Path) -> Result<(), ReadError> {
    let mut differences = Vec::new();
    for placement in order.fixed() {
        differences.extend(differences_of(objects, placement, space)?);
    }
    if differences.is_empty() {
        return Ok(());
    }
    Err(Failure::new(FailureKind::Breach, text(&differences)).into())
}

fn text(differences: &[String]) -> String {
    let shown = &differences[..differences.len().min(TOLD)];
    match differences.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{}, and {more} more", shown.join(", ")),
    }
}

fn differences_of(
    objects: &Objects,
    placement: &Placement,
    space: &Path,
) -> Result<Vec<String>, EngineError> {
    let (at, placed) = (&placement.at, call_dir::placed(objects, placement)?.copied());
    match scan_left(space, at, ROOM.besides(&placed)) {
        Ok(now) => {
            Ok(changes(&placed, &now).iter().filter(|one| counts(one)).map(|one| line(at, one)).collect())
        }
        Err(error) => unlike(error, at).map(|line| vec![line]),
    }
}

fn counts(change: &Change) -> bool {
    let by_python = change.path.as_bytes().split(|byte| *byte == b'/').any(|name| name == BY_PYTHON);
    change.kind != ChangeKind::Added || !by_python
}

fn line(at: &str, Change { path, kind }: &Change) -> String {
    let verb = match kind {
        ChangeKind::Added => "added",
        ChangeKind::Removed => "removed",
        ChangeKind::Modified | ChangeKind::Retyped => "changed",
        ChangeKind::Mode => "changed the mode of",
    };
    format!("{verb} {at}/{path}")
}

/// Everything that was placed is readable, so the agent caused whatever cannot be read.
fn unlike(error: CaptureError, at: &str) -> Result<String, EngineError> {
    match error {
        CaptureError::Replaced(_) => Ok(format!("removed {at}")),
        CaptureError::TooLarge(_) => Ok(format!("added far more to {at} than was there")),
        CaptureError::TooDeep(_) => Ok(format!("added folders to {at} that are nested too deeply")),
        CaptureError::Special(_) => Ok(format!("added something to {at} that is neither file nor folder")),
        CaptureError::Changing(_) => Ok(format!("kept changing {at}")),
        CaptureError::Disk(error)
            if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::NotFound) =>
        {
            Ok(format!("made {at} unreadable"))
        }
        CaptureError::Rules(_) | CaptureError::Object(_) | CaptureError::Disk(_) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use skilltune_phases::asking::order::Access;

    use super::*;
    use crate::snapshot::{capture, place};

    struct Bench {
        folder: tempfile::TempDir,
        objects: Objects,
        placement: Placement,
    }

    impl Bench {
        /// A workspace with a placed skill.
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let objects = Objects::at(folder.path().join("objects"));
            let source = folder.path().join("source");
            fs::create_dir_all(source.join("scripts")).unwrap();
            fs::write(source.join("SKILL.md"), "# A skill\n").unwrap();
            fs::write(source.join("scripts/run.py"), "import more\n").unwrap();
            let captured = capture(&objects, &source, None, Limits::default()).unwrap();
            let placement = Placement {
                at: "skill/a".into(),
                tree: captured.tree,
                access: Access::Fixed,
                hidden: Vec::new(),
                picked: Vec::new(),
                links_outside: false,
            };
            place(&objects, &captured.manifest, &folder.path().join("space/skill/a"), |_| {}).unwrap();
            Self { folder, objects, placement }
        }

        fn path(&self, below: &str) -> std::path::PathBuf {
            self.folder.path().join("space/skill/a").join(below)
        }

        fn found(&self) -> Vec<String> {
            differences_of(&self.objects, &self.placement, &self.folder.path().join("space")).unwrap()
        }
    }

    #[test]
    fn what_was_left_alone_is_no_breach_and_neither_is_what_is_new_beside_it() {
        let bench = Bench::new();
        fs::write(bench.folder.path().join("space/out.md"), "new").unwrap();
        fs::write(bench.folder.path().join("space/skill/notes.md"), "new").unwrap();
        fs::create_dir(bench.path("scripts/__pycache__")).unwrap();
        fs::write(bench.path("scripts/__pycache__/more.pyc"), "new").unwrap();
        assert_eq!(bench.found(), [""; 0]);
    }

    #[test]
    fn what_was_added_changed_and_removed_is_told_with_its_path() {
        let bench = Bench::new();
        // Same size, and the same time as far as a clock can tell.
        fs::write(bench.path("SKILL.md"), "# A skull\n").unwrap();
        fs::remove_file(bench.path("scripts/run.py")).unwrap();
        fs::write(bench.path("more.md"), "more").unwrap();
        fs::set_permissions(bench.path("scripts"), fs::Permissions::from_mode(0o700)).unwrap();
        let all = [
            "changed skill/a/SKILL.md",
            "added skill/a/more.md",
            "changed the mode of skill/a/scripts",
            "removed skill/a/scripts/run.py",
        ];
        assert_eq!(bench.found(), all);
        assert_eq!(text(&bench.found()), all.join(", "));
        let many: Vec<String> = (0..9).map(|nth| format!("added {nth}")).collect();
        assert_eq!(text(&many), "added 0, added 1, added 2, added 3, and 5 more");
    }

    #[test]
    fn a_folder_that_is_gone_or_replaced_or_flooded_is_a_breach() {
        let gone = Bench::new();
        fs::remove_dir_all(gone.path("")).unwrap();
        assert_eq!(gone.found(), ["removed skill/a"]);
        symlink(gone.folder.path().join("source"), gone.folder.path().join("space/skill/a")).unwrap();
        assert_eq!(
            gone.found(),
            ["removed skill/a"],
            "a link with the same bytes behind it is another thing"
        );
        let flooded = Bench::new();
        fs::File::create(flooded.path("huge")).unwrap().set_len(1 << 30).unwrap();
        assert_eq!(flooded.found(), ["added far more to skill/a than was there"]);
        let pipe = Bench::new();
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, pipe.path("pipe"), fifo, rustix::fs::Mode::RWXU, 0).unwrap();
        assert_eq!(pipe.found(), ["added something to skill/a that is neither file nor folder"]);
    }
}
