//! The versions of agents of this machine, for the runs of others. Each call of a worker is a program of its own, and
//! asking an agent takes a second: the answers are kept for a while.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use skilltune_orchestrator::disk;
use skilltune_orchestrator::disk::atomic::{self, Durability};
use skilltune_phases::base::id::Digest;

/// How long an answer is used. A launcher may stay the same file while its agent is updated.
const FRESH: Duration = Duration::from_secs(600);

/// The most bytes of a kept answer.
const LARGEST: u64 = 4096;

/// Returns the version of a program: the kept answer in this folder, if it is fresh and the program is the same file, or
/// else a new one. A folder that cannot be used costs only time.
pub fn version(program: &Path, folder: &Path, ask: impl FnOnce() -> Option<String>) -> Option<String> {
    let Some(stamp) = stamp(program) else { return ask() };
    let kept = folder.join(Digest::of(program.as_os_str().as_encoded_bytes()).short());
    if let Some(version) = fresh(&kept, &stamp) {
        return Some(version);
    }
    let version = ask()?;
    if fs::create_dir_all(folder).is_ok() {
        let text = format!("{stamp}\n{version}");
        atomic::replace(&kept, text.as_bytes(), Durability::Order).ok();
    }
    Some(version)
}

fn fresh(kept: &Path, stamp: &str) -> Option<String> {
    let age = SystemTime::now().duration_since(fs::metadata(kept).ok()?.modified().ok()?).ok()?;
    let text = String::from_utf8(disk::read(kept, LARGEST).ok()?).ok()?;
    let (known, version) = text.split_once('\n')?;
    (age < FRESH && known == stamp).then(|| version.to_owned())
}

/// Returns what changes with the file: a package may give all its versions the same size and time of modification.
fn stamp(program: &Path) -> Option<String> {
    let meta = fs::metadata(program).ok()?;
    let times = [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()];
    Some(format!("{} {} {} {times:?}", meta.dev(), meta.ino(), meta.size()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_asked_once_until_it_is_another_file() {
        let root = tempfile::tempdir().unwrap();
        let (program, folder) = (root.path().join("agent"), root.path().join("cache/versions"));
        fs::write(&program, "one").unwrap();
        let say = |text: &str| version(&program, &folder, || Some(text.to_owned()));
        assert_eq!(version(&program, &folder, || None), None, "no answer is not kept");
        assert_eq!(say("1.0").as_deref(), Some("1.0"));
        assert_eq!(version(&program, &folder, || panic!("it is known")).as_deref(), Some("1.0"));
        let next = root.path().join("next");
        fs::write(&next, "two").unwrap();
        fs::rename(&next, &program).unwrap();
        assert_eq!(say("2.0").as_deref(), Some("2.0"));
        let later = SystemTime::now() + 2 * FRESH;
        let earlier = SystemTime::now() - 2 * FRESH;
        for time in [later, earlier] {
            let kept = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
            fs::File::options().write(true).open(kept).unwrap().set_modified(time).unwrap();
            assert_eq!(say("3.0").as_deref(), Some("3.0"), "it is not fresh");
        }
    }

    #[test]
    fn a_folder_or_a_program_that_is_not_there_costs_only_time() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        let say = |program: &Path, folder: &Path| version(program, folder, || Some("1.0".to_owned()));
        assert_eq!(say(&file, &file.join("below")).as_deref(), Some("1.0"));
        assert_eq!(say(&root.path().join("gone"), root.path()).as_deref(), Some("1.0"));
    }
}
