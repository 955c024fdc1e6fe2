//! The programs that a repository's own configuration names: filters, and what signs. Whoever prepared the repository chose
//! them, so none of them runs. Those of the person's own configuration do.

use std::collections::{BTreeMap, BTreeSet};

use super::runner::{Command, Git, GitError};

/// What keeps the repository's programs from being run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Guard {
    /// Settings that take precedence over those of the repository.
    settings: Vec<(String, String)>,
    /// The filters that only the repository defines.
    pub filters: BTreeSet<String>,
}

/// More than a person's configuration has.
const MOST: u64 = 8 << 20;

impl Guard {
    pub(super) fn of(git: &Git<'_>) -> Result<Self, GitError> {
        let list = Command::new(["config", "--list", "--includes", "--show-scope", "-z"]).most(MOST);
        read(&git.run(list)?).ok_or(GitError::Garbled)
    }

    /// As git takes settings from its environment: a name may hold any character.
    pub(super) fn env(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let count = ("GIT_CONFIG_COUNT".to_owned(), self.settings.len().to_string());
        let settings = self.settings.iter().enumerate().flat_map(|(nth, (key, value))| {
            [
                (format!("GIT_CONFIG_KEY_{nth}"), key.clone()),
                (format!("GIT_CONFIG_VALUE_{nth}"), value.clone()),
            ]
        });
        std::iter::once(count).chain(settings)
    }
}

/// `SCOPE NUL KEY LF VALUE NUL`, and so on.
fn read(list: &[u8]) -> Option<Guard> {
    let (mut own, mut of_repository) = (BTreeMap::new(), BTreeSet::new());
    let mut parts = list.split(|byte| *byte == 0);
    while let (Some(scope), Some(setting)) = (parts.next(), parts.next()) {
        let mut halves = setting.splitn(2, |byte| *byte == b'\n');
        let (key, value) = (halves.next()?, halves.next().unwrap_or_default());
        if !names_program(key) {
            continue;
        }
        let (key, value) = (String::from_utf8(key.to_vec()).ok()?, String::from_utf8(value.to_vec()).ok()?);
        match scope {
            b"system" | b"global" => drop(own.insert(key, value)),
            b"command" => {}
            _ => drop(of_repository.insert(key)),
        }
    }
    let foreign = of_repository.iter().filter(|key| !own.contains_key(*key));
    let filters = foreign.filter_map(|key| match key.strip_prefix("filter.") {
        Some(filter) => Some(filter.rsplit_once('.')?.0.to_owned()),
        // The filter of LFS runs the programs of its extensions.
        None => key.starts_with(EXTENSION).then(|| "lfs".to_owned()),
    });
    let filters = filters.collect();
    let settings = of_repository.into_iter().map(|key| {
        let value = own.get(&key).cloned().unwrap_or_default();
        (key, value)
    });
    Some(Guard { settings: settings.collect(), filters })
}

const EXTENSION: &str = "lfs.extension.";

/// Git prints the first and the last word of a key in lower case.
fn names_program(key: &[u8]) -> bool {
    let (is, ends) = (|prefix: &[u8]| key.starts_with(prefix), |suffix: &[u8]| key.ends_with(suffix));
    is(b"filter.") && (ends(b".clean") || ends(b".smudge") || ends(b".process"))
        || is(EXTENSION.as_bytes())
        || is(b"gpg.") && (ends(b".program") || ends(b".defaultkeycommand"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(settings: &[(&str, &str)]) -> Guard {
        let list: Vec<String> =
            settings.iter().map(|(scope, setting)| format!("{scope}\0{setting}\0")).collect();
        read(list.concat().as_bytes()).unwrap()
    }

    #[test]
    fn a_program_that_the_repository_names_is_replaced_by_the_persons_own_or_by_none() {
        let guard = guard(&[
            ("global", "filter.lfs.clean\ngit-lfs clean"),
            ("global", "gpg.program\ngpg2"),
            ("local", "filter.lfs.clean\nevil"),
            ("local", "filter.a=b.c.process\nevil"),
            ("worktree", "gpg.program\nevil"),
            ("local", "gpg.ssh.defaultkeycommand\nevil"),
            ("local", "user.name\nA Person"),
            ("local", "filter.lfs.required"),
        ]);
        let settings: Vec<String> =
            guard.settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(
            settings,
            [
                "filter.a=b.c.process=",
                "filter.lfs.clean=git-lfs clean",
                "gpg.program=gpg2",
                "gpg.ssh.defaultkeycommand="
            ]
        );
        assert_eq!(guard.filters, BTreeSet::from(["a=b.c".to_owned()]));
    }

    #[test]
    fn a_filter_of_which_the_repository_defines_a_part_is_the_of_repository() {
        let guard = guard(&[("global", "filter.x.clean\nmine"), ("local", "filter.x.process\nevil")]);
        assert_eq!(guard.filters, BTreeSet::from(["x".to_owned()]));
    }

    #[test]
    fn an_extension_of_lfs_that_the_repository_names_keeps_the_filter_of_lfs_from_running() {
        let guard =
            guard(&[("global", "filter.lfs.clean\ngit-lfs clean"), ("local", "lfs.extension.x.clean\nevil")]);
        assert_eq!(guard.filters, BTreeSet::from(["lfs".to_owned()]));
    }

    #[test]
    fn a_persons_own_programs_stay_as_they_are() {
        let guard = guard(&[("global", "filter.x.clean\nmine"), ("system", "gpg.program\ngpg2")]);
        assert_eq!(guard, Guard::default());
    }
}
