//! The record of an installed start, in the user's state folder.
//!
//! `install` writes the job whose texts the scheduler has. The record decides nothing but a comparison: its texts are
//! built again, and it is used only if the scheduler has exactly these bytes. So a forged record can
//! hide an installed start, but cannot make skilltune report what the scheduler does not have.

use std::path::Path;

use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::disk::atomic::Durability;

use crate::nights::install::files;
use crate::nights::install::job::{Job, could_set, name_of};
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;

/// What is known of an installed start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// An older skilltune installed it, if anything is installed.
    Missing,
    Unreadable,
    Of(Job),
}

/// More than the texts of any job have.
const MOST: u64 = 1 << 20;

impl Record {
    pub fn read(name: &str, env: &Environment) -> Self {
        match folder(env).join(file_name(name)).read(MOST) {
            Ok(None) => Self::Missing,
            Ok(Some(bytes)) => parse(name, &bytes).map_or(Self::Unreadable, Self::Of),
            Err(_) => Self::Unreadable,
        }
    }
}

/// Writes the record, unless it is in place.
pub fn write(job: &Job, env: &Environment) -> Result<(), Complaint> {
    let bytes = serde_json::to_vec(job).expect("a job has a JSON text");
    let folder = folder(env);
    let file = folder.join(file_name(&job.name));
    if file.holds(&bytes) {
        return Ok(());
    }
    folder.make().and_then(|()| file.replace(&bytes, Durability::Barrier)).map_err(ours)
}

/// Removes the record, and the folder if it was the last one.
pub fn remove(name: &str, env: &Environment) -> Result<(), Complaint> {
    let folder = folder(env);
    folder.join(file_name(name)).remove().map_err(ours)?;
    files::remove_empty(folder.path(), &env.state);
    Ok(())
}

fn folder(env: &Environment) -> SafePath {
    SafePath::below(&env.state, "nights")
}

fn file_name(name: &str) -> String {
    format!("{name}.json")
}

/// Returns the job of this name, if `install` could have written it.
fn parse(name: &str, bytes: &[u8]) -> Option<Job> {
    let job: Job = serde_json::from_slice(bytes).ok()?;
    let is_named = job.name == name && name_of(Path::new(&job.file)) == name;
    let is_minute = (job.at.second(), job.at.subsec_nanosecond()) == (0, 0);
    (is_named && is_minute && job.env.iter().all(|(name, _)| could_set(name))).then_some(job)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use jiff::civil::Time;
    use proptest::prelude::*;

    use super::*;
    use crate::nights::install::job::tests::{hostile, job as plain};
    use crate::nights::install::{cron, launchd, systemd};

    /// Returns jobs with the names of their files.
    fn jobs() -> [Job; 2] {
        [plain(), hostile()].map(|job| Job { name: name_of(Path::new(&job.file)), ..job })
    }

    #[test]
    fn what_is_written_is_read_back_and_nothing_stays_of_it() {
        let root = tempfile::tempdir().unwrap();
        let env = Environment::fake(root.path(), &[]);
        for job in jobs() {
            assert_eq!(Record::read(&job.name, &env), Record::Missing);
            write(&job, &env).unwrap();
            write(&job, &env).unwrap();
            assert_eq!(Record::read(&job.name, &env), Record::Of(job.clone()));
        }
        for job in jobs() {
            assert!(env.state.join("nights").is_dir());
            remove(&job.name, &env).unwrap();
            remove(&job.name, &env).unwrap();
        }
        assert!(!env.state.join("nights").exists());
    }

    #[test]
    fn a_record_that_install_does_not_write_is_not_used() {
        let root = tempfile::tempdir().unwrap();
        let env = Environment::fake(root.path(), &[]);
        let [job, _] = jobs();
        let other = |name: &str| vec![(name.to_owned(), "/x".to_owned())];
        for forged in [
            Job { file: "/home/me/project/other.toml".to_owned(), ..job.clone() },
            Job { env: other("LD_PRELOAD"), ..job.clone() },
            Job { env: other("PATH=/bin:"), ..job.clone() },
            Job { at: Time::constant(2, 30, 1, 0), ..job.clone() },
        ] {
            write(&forged, &env).unwrap();
            assert_eq!(Record::read(&job.name, &env), Record::Unreadable, "{forged:?}");
        }
        let [_, other] = jobs();
        write(&other, &env).unwrap();
        let file = |job: &Job| env.state.join("nights").join(file_name(&job.name));
        fs::rename(file(&other), file(&job)).unwrap();
        assert_eq!(Record::read(&job.name, &env), Record::Unreadable, "the record of another start");
        for text in ["", "{}", "null", "\u{0}", "[["] {
            fs::write(file(&job), text).unwrap();
            assert_eq!(Record::read(&job.name, &env), Record::Unreadable, "{text:?}");
        }
        fs::File::create(file(&job)).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(Record::read(&job.name, &env), Record::Unreadable, "a huge one");
    }

    #[test]
    fn a_link_is_not_followed_and_its_target_stays() {
        let root = tempfile::tempdir().unwrap();
        let env = Environment::fake(root.path(), &[]);
        let [job, _] = jobs();
        write(&job, &env).unwrap();
        let file = env.state.join("nights").join(file_name(&job.name));
        let precious = root.path().join("precious");
        fs::rename(&file, &precious).unwrap();
        let before = fs::read(&precious).unwrap();
        symlink(&precious, &file).unwrap();
        assert_eq!(Record::read(&job.name, &env), Record::Unreadable);
        write(&Job { at: Time::midnight(), ..job.clone() }, &env).unwrap();
        assert!(!file.is_symlink() && fs::read(&precious).unwrap() == before);
        fs::remove_file(&file).unwrap();
        symlink(&precious, &file).unwrap();
        remove(&job.name, &env).unwrap();
        assert!(!file.is_symlink() && fs::read(&precious).unwrap() == before);
    }

    proptest! {
        /// A forged record passes only if it says what the scheduler says.
        #[test]
        fn different_starts_have_different_texts(
            one in "/[ab \\\\\"'%$&;<>=\n]{0,6}",
            other in "/[ab \\\\\"'%$&;<>=\n]{0,6}",
        ) {
            prop_assume!(one != other);
            let texts = |path: &str| {
                let env = vec![("PATH".to_owned(), path.to_owned())];
                let both = [Job { project: path.to_owned(), ..plain() }, Job { env, ..plain() }];
                both.map(|job| {
                    [systemd::shown(&job).unwrap(), cron::block(&job).unwrap(), launchd::plist(&job)]
                })
            };
            for (ours, others) in texts(&one).as_flattened().iter().zip(texts(&other).as_flattened()) {
                prop_assert_ne!(ours, others);
            }
        }
    }
}
