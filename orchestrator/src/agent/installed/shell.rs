//! The environment of the commands of an agent with a shell: their own home and caches, and no key.
//!
//! All of it is in the call's temporary folder and is removed with it. The agent has no other home either: anything
//! that a command writes there could be read later by the user's own agent. Of the user's files the agent gets only its
//! login.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use skilltune_phases::base::role::Rights;
use skilltune_phases::runs::plan::Isolation;

use super::super::profile::{Env, Profile};
use super::{Agent, AgentKind, Login};
use crate::disk::{DiskError, OnDisk as _, atomic};

/// The folders where commands keep their files, below their home.
const PLACES: [(&str, &str); 8] = [
    ("HOME", ""),
    ("XDG_CACHE_HOME", ".cache"),
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
    ("npm_config_cache", ".cache/npm"),
    ("PIP_CACHE_DIR", ".cache/pip"),
    ("CARGO_HOME", ".cargo"),
];

/// Without these, git makes no commit in a new home. gemini blocks the variables of an author: then git takes the name
/// from the system, and `EMAIL`.
const IDENTITY: [(&str, &str); 5] = [
    ("EMAIL", "skilltune@localhost"),
    ("GIT_AUTHOR_NAME", "skilltune"),
    ("GIT_AUTHOR_EMAIL", "skilltune@localhost"),
    ("GIT_COMMITTER_NAME", "skilltune"),
    ("GIT_COMMITTER_EMAIL", "skilltune@localhost"),
];

/// Python's processes share memory there.
const SHARED_MEMORY: &str = "/dev/shm";

/// Below the temporary folder; agents recognize a shell by its name.
const SHELL: &str = "shell/bash";

impl Agent {
    /// Returns the profile, if a call with these rights has a known shell.
    fn with_shell(&self, rights: Rights) -> Option<&'static Profile> {
        match &self.kind {
            AgentKind::Real(real) if rights.has_shell() && self.via.is_none() => Some(real.profile()),
            AgentKind::Real(_) | AgentKind::Command(_) | AgentKind::BuiltIn(_) => None,
        }
    }

    /// Returns how much of the user's world a call gets: none if its commands could write it. An agent with a sandbox
    /// keeps its commands out of it.
    pub(super) fn world(&self, rights: Rights) -> Isolation {
        match self.with_shell(rights) {
            Some(profile) if !profile.has_sandbox => Isolation::Fresh,
            Some(_) | None => self.isolation,
        }
    }

    /// Adds the home of a call's commands.
    pub(super) fn settle_commands(&self, rights: Rights, temp: &Path, env: &mut Env) {
        if self.with_shell(rights).is_none() {
            return;
        }
        // Compilers are there, and nothing is written.
        if let Some(home) = self.env.get("HOME") {
            let toolchains = format!("{home}/.rustup");
            env.entry("RUSTUP_HOME".to_owned()).or_insert(toolchains);
            if rights == Rights::Build {
                // Go reads modules that are there, and writes only below its own home.
                let modules =
                    format!("file://{home}/go/pkg/mod/cache/download,https://proxy.golang.org,direct");
                env.entry("GOPROXY".to_owned()).or_insert(modules);
                env.entry("PYENV_ROOT".to_owned()).or_insert(format!("{home}/.pyenv"));
            }
        }
        let home = env["TMPDIR"].clone();
        let places = PLACES.map(|(name, below)| (name, format!("{home}/{below}")));
        env.extend(places.map(|(name, place)| (name.to_owned(), place.trim_end_matches('/').to_owned())));
        env.extend(IDENTITY.map(|(name, value)| (name.to_owned(), value.to_owned())));
        // git must not use a repository that contains the user's cache folder.
        if let Some(above) = temp.parent() {
            env.insert("GIT_CEILING_DIRECTORIES".to_owned(), above.to_string_lossy().into_owned());
        }
    }

    /// Adds the variables that make the agent run its commands without its keys.
    pub(super) fn shell_variables(&self, rights: Rights, temp: &Path, env: &mut Env) {
        let Some(profile) = self.with_shell(rights) else { return };
        let shell = (profile.shell)(&temp.join(SHELL).to_string_lossy());
        env.extend(shell.into_iter().map(|(name, value)| (name.to_owned(), value)));
    }

    /// Places the login, and a shell without keys, where the agent looks for them.
    pub(super) fn furnish_shell(&self, rights: Rights, temp: &Path) -> Result<(), DiskError> {
        let Some(profile) = self.with_shell(rights) else { return Ok(()) };
        if !(profile.shell)("").is_empty() {
            let shell = beside(temp, SHELL)?;
            atomic::create(&shell, script(profile).as_bytes())?;
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(&shell, mode).on_disk("make executable", &shell)?;
        }
        if let Some(login) = self.lent_login(rights) {
            let at = beside(temp, profile.login_at)?;
            symlink(login, &at).on_disk("create the symlink", &at)?;
        }
        Ok(())
    }

    /// Returns the user's login file, the only one that a call with a shell may write: a renewed login must not be
    /// lost.
    fn lent_login(&self, rights: Rights) -> Option<PathBuf> {
        let profile = self.with_shell(rights).filter(|profile| !profile.has_sandbox)?;
        match (self.isolation, self.login()?) {
            (Isolation::Partial, Login::File(file))
                if file.ends_with(Path::new(profile.login_at).file_name()?) =>
            {
                Some(file)
            }
            _ => None,
        }
    }

    /// Returns the places that a call with a shell may write besides its own folders.
    pub(super) fn shell_places(&self, rights: Rights) -> Vec<PathBuf> {
        match self.with_shell(rights) {
            Some(_) => self.lent_login(rights).into_iter().chain([SHARED_MEMORY.into()]).collect(),
            None => Vec::new(),
        }
    }
}

/// Returns a script that runs `bash` without the variables that hold keys.
fn script(profile: &Profile) -> String {
    let without: Vec<&str> = profile.keys.iter().flat_map(|key| ["-u", *key]).collect();
    format!("#!/bin/sh\nexec env {} bash \"$@\"\n", without.join(" "))
}

/// Returns the path of a file, and makes its folder.
fn beside(temp: &Path, below: &str) -> Result<PathBuf, DiskError> {
    let place = temp.join(below);
    let folder = place.parent().unwrap_or(temp);
    fs::create_dir_all(folder).on_disk("create the folder", folder)?;
    Ok(place)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::agent::{Ground, Real};

    fn agent(name: &str, home: &Path, more: &[(&str, &str)]) -> Agent {
        let home = home.to_string_lossy();
        let all = [("HOME", &*home), ("XDG_CONFIG_HOME", "/theirs")].into_iter().chain(more.iter().copied());
        let ambient: BTreeMap<_, _> = all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Agent::real(Real::named(name).unwrap(), None, "/bin/x".into(), &ambient)
    }

    fn env(agent: &Agent, rights: Rights) -> BTreeMap<String, String> {
        agent.env(rights, Path::new("/call/tmp"), []).into_iter().collect()
    }

    fn places(agent: &Agent, temp: &Path) -> Vec<PathBuf> {
        let ground = Ground { workspace: Path::new("/call/space"), temp, copy: None };
        agent.confinement(Rights::Shell, ground).writes.into_iter().map(PathBuf::from).collect()
    }

    #[test]
    fn commands_have_a_home_and_caches_of_the_calls_own() {
        for (name, own) in [
            ("claude", "/call/tmp"),
            ("gemini", "/call/tmp"),
            ("codex", "/call/tmp/tmp"),
            ("opencode", "/call/tmp"),
        ] {
            let agent = agent(name, Path::new("/home/me"), &[]);
            let with = env(&agent, Rights::Shell);
            for (variable, below) in PLACES {
                let place = Path::new(own).join(below);
                assert_eq!(Path::new(&with[variable]), place, "{name} {variable}");
            }
            assert_eq!((&*with["TMPDIR"], &*with["RUSTUP_HOME"]), (own, "/home/me/.rustup"), "{name}");
            assert_eq!(
                (&*with["GIT_COMMITTER_NAME"], &*with["GIT_CEILING_DIRECTORIES"]),
                ("skilltune", "/call")
            );
            assert!(!with.contains_key("PYENV_ROOT") && !with.contains_key("GOPROXY"));
            let builder = env(&agent, Rights::Build);
            assert_eq!(builder["PYENV_ROOT"], "/home/me/.pyenv");
            assert!(builder["GOPROXY"].starts_with("file:///home/me/go/pkg/mod/cache/download,https:"));
            let without = env(&agent, Rights::Work);
            assert!(!without.contains_key("npm_config_cache") && !without.contains_key("GIT_COMMITTER_NAME"));
        }
    }

    #[test]
    fn nothing_of_the_users_is_written_but_a_login_without_a_key() {
        let root = tempfile::tempdir().unwrap();
        let (home, temp) = (root.path().join("home"), root.path().join("tmp"));
        for (name, login, key) in [
            ("claude", ".claude/.credentials.json", "ANTHROPIC_API_KEY"),
            ("gemini", ".gemini/oauth_creds.json", "GEMINI_API_KEY"),
            ("opencode", ".local/share/opencode/auth.json", "OPENAI_API_KEY"),
        ] {
            let theirs = home.join(login);
            fs::create_dir_all(theirs.parent().unwrap()).unwrap();
            fs::write(&theirs, name).unwrap();
            let own = [PathBuf::from("/call/space"), temp.clone(), "/dev/shm".into()];
            assert_eq!(places(&agent(name, &home, &[(key, "k")]), &temp), own, "{name}");
            let agent = agent(name, &home, &[]);
            assert_eq!(
                places(&agent, &temp),
                [&own[..2], std::slice::from_ref(&theirs), &own[2..]].concat(),
                "{name}"
            );
            fs::create_dir(&temp).unwrap();
            agent.furnish(Rights::Shell, &temp).unwrap();
            let at = temp.join(agent.with_shell(Rights::Shell).unwrap().login_at);
            assert_eq!(at.canonicalize().unwrap(), theirs.canonicalize().unwrap(), "{name}");
            fs::remove_dir_all(&temp).unwrap();
        }
    }

    #[test]
    fn the_shell_of_an_agent_unsets_every_key_that_it_has() {
        for name in ["claude", "opencode"] {
            let temp = tempfile::tempdir().unwrap();
            let keys: Vec<(&str, &str)> =
                Real::named(name).unwrap().keys().iter().map(|key| (*key, "secret")).collect();
            let agent = agent(name, Path::new("/home/me"), &keys);
            agent.furnish(Rights::Shell, temp.path()).unwrap();
            let env = agent.env(Rights::Shell, temp.path(), []);
            let shell = temp.path().join(SHELL);
            assert!(env.iter().any(|(_, value)| value.starts_with(shell.to_str().unwrap())), "{env:?}");
            assert!(env.iter().any(|(_, value)| value == "secret"), "the agent itself has them");
            let mut command = std::process::Command::new(&shell);
            let output = command
                .args(["-c", "env"])
                .env_clear()
                .envs(env)
                .env("PATH", "/usr/bin:/bin")
                .output()
                .unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(text.contains("HOME=") && !text.contains("secret"), "{name}: {text}");
        }
    }
}
