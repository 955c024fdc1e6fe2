//! Reads the git configuration and the origin of each setting. The author of the repository chose the programs that its
//! own configuration names: filters, signing programs, and transports. None of them runs; those of the user's own
//! configuration do.

use std::collections::{BTreeMap, BTreeSet};

use super::runner::{Command, Git, GitError};

/// The settings, in the order in which git reads them.
#[derive(Debug, Default)]
pub(super) struct Settings(Vec<Setting>);

#[derive(Debug)]
struct Setting {
    scope: Scope,
    /// Git prints the first and the last part of a key in lower case.
    key: Vec<u8>,
    value: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// The user's or the system's configuration.
    Own,
    Repository,
    /// Passed to this command.
    Command,
}

/// The settings that keep the repository's programs from running.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Guard {
    /// Settings that override those of the repository.
    settings: Vec<(String, String)>,
    /// The filters that only the repository defines.
    pub filters: BTreeSet<String>,
}

/// More than a user's configuration contains.
const MOST: u64 = 8 << 20;

impl Settings {
    pub(super) fn of(git: &Git<'_>) -> Result<Self, GitError> {
        let list = Command::new(["config", "--list", "--includes", "--show-scope", "-z"]).most(MOST);
        read(&git.run(list)?).ok_or(GitError::Garbled)
    }

    /// Returns the effective value, from any origin.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        let setting = self.0.iter().rev().find(|setting| setting.key == key.as_bytes())?;
        std::str::from_utf8(setting.value.as_ref()?).ok()
    }

    /// Returns the first of several values.
    pub(super) fn first(&self, key: &str) -> Option<&str> {
        let setting = self.0.iter().find(|setting| setting.key == key.as_bytes())?;
        std::str::from_utf8(setting.value.as_ref()?).ok()
    }

    /// Returns the remotes that have an address, except names that a command would parse as an option.
    pub(super) fn remotes(&self) -> BTreeSet<&str> {
        let keys = self.0.iter().filter_map(|setting| std::str::from_utf8(&setting.key).ok());
        let names = keys.filter_map(|key| key.strip_prefix("remote.")?.strip_suffix(".url"));
        names.filter(|name| !name.is_empty() && !name.starts_with('-')).collect()
    }

    /// Returns the user's settings for reaching servers. From the repository's own configuration it takes only headers,
    /// which CI jobs use to log in.
    pub(super) fn transport(&self) -> Vec<(String, String)> {
        let wanted = self.0.iter().filter(|setting| match setting.scope {
            Scope::Own => is_transport(&setting.key),
            Scope::Repository => is_header(&setting.key),
            Scope::Command => false,
        });
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let pair = |setting: &Setting| {
            Some((text(&setting.key)?, text(setting.value.as_deref().unwrap_or(b"true"))?))
        };
        wanted.filter_map(pair).collect()
    }
}

fn is_transport(key: &[u8]) -> bool {
    let is = |prefix: &[u8]| key.starts_with(prefix);
    let alone: [&[u8]; 4] = [b"core.sshcommand", b"core.gitproxy", b"ssh.variant", b"safe.directory"];
    is(b"credential.") || is(b"http.") || is(b"url.") || alone.contains(&key)
}

fn is_header(key: &[u8]) -> bool {
    key.starts_with(b"http.") && key.ends_with(b".extraheader")
}

/// Passes settings as environment variables, because a name may contain any character.
pub(super) fn env(settings: &[(String, String)]) -> impl Iterator<Item = (String, String)> + '_ {
    let count = ("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string());
    let settings = settings.iter().enumerate().flat_map(|(nth, (key, value))| {
        [(format!("GIT_CONFIG_KEY_{nth}"), key.clone()), (format!("GIT_CONFIG_VALUE_{nth}"), value.clone())]
    });
    std::iter::once(count).chain(settings)
}

impl Guard {
    pub(super) fn of(settings: &Settings) -> Result<Self, GitError> {
        guard(settings).ok_or(GitError::Garbled)
    }

    pub(super) fn env(&self) -> impl Iterator<Item = (String, String)> + '_ {
        env(&self.settings)
    }
}

/// Parses `SCOPE NUL KEY LF VALUE NUL`, and so on.
fn read(list: &[u8]) -> Option<Settings> {
    let mut settings = Vec::new();
    let mut parts = list.split(|byte| *byte == 0);
    while let (Some(scope), Some(setting)) = (parts.next(), parts.next()) {
        let mut halves = setting.splitn(2, |byte| *byte == b'\n');
        let (key, value) = (halves.next()?.to_vec(), halves.next().map(<[u8]>::to_vec));
        let scope = match scope {
            b"system" | b"global" => Scope::Own,
            b"command" => Scope::Command,
            _ => Scope::Repository,
        };
        settings.push(Setting { scope, key, value });
    }
    Some(Settings(settings))
}

fn guard(settings: &Settings) -> Option<Guard> {
    let (mut own, mut of_repository) = (BTreeMap::new(), BTreeSet::new());
    for Setting { scope, key, value } in settings.0.iter().filter(|setting| names_program(&setting.key)) {
        let value = value.clone().unwrap_or_default();
        let (key, value) = (String::from_utf8(key.clone()).ok()?, String::from_utf8(value).ok()?);
        match scope {
            Scope::Own => drop(own.insert(key, value)),
            Scope::Command => {}
            Scope::Repository => drop(of_repository.insert(key)),
        }
    }
    let foreign = of_repository.iter().filter(|key| !own.contains_key(*key));
    let filters = foreign.filter_map(|key| match key.strip_prefix("filter.") {
        Some(filter) => Some(filter.rsplit_once('.')?.0.to_owned()),
        // The LFS filter runs the programs of its extensions.
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

fn names_program(key: &[u8]) -> bool {
    let (is, ends) = (|prefix: &[u8]| key.starts_with(prefix), |suffix: &[u8]| key.ends_with(suffix));
    is(b"filter.") && (ends(b".clean") || ends(b".smudge") || ends(b".process"))
        || is(EXTENSION.as_bytes())
        || is(b"gpg.") && (ends(b".program") || ends(b".defaultkeycommand"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(settings: &[(&str, &str)]) -> Settings {
        let list: Vec<String> =
            settings.iter().map(|(scope, setting)| format!("{scope}\0{setting}\0")).collect();
        read(list.concat().as_bytes()).unwrap()
    }

    fn guard(all: &[(&str, &str)]) -> Guard {
        Guard::of(&settings(all)).unwrap()
    }

    #[test]
    fn a_server_is_reached_by_the_persons_own_programs_alone() {
        let settings = settings(&[
            ("global", "credential.helper\nstore"),
            ("global", "credential.helper\ncache"),
            ("system", "url.git@a:.insteadof\nhttps://a/"),
            ("global", "http.sslverify"),
            ("global", "user.name\nA Person"),
            ("local", "core.sshcommand\nevil"),
            ("local", "core.askpass\nevil"),
            ("local", "credential.helper\nevil"),
            ("local", "url.ext::evil.insteadof\nhttps://a/"),
            ("local", "http.proxy\nevil"),
            ("local", "http.https://a/.extraheader\nAUTHORIZATION: basic x"),
            ("local", "remote.origin.receivepack\nevil"),
            ("command", "http.version\nx"),
        ]);
        let transport: Vec<String> =
            settings.transport().into_iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(
            transport,
            [
                "credential.helper=store",
                "credential.helper=cache",
                "url.git@a:.insteadof=https://a/",
                "http.sslverify=true",
                "http.https://a/.extraheader=AUTHORIZATION: basic x",
            ]
        );
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
    fn a_filter_that_the_repository_defines_in_part_is_its_own() {
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
