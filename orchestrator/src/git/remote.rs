//! The remote that gets the branch of a proposal.
//!
//! The push starts in an empty repository of ours that borrows the objects of the user's repository. So the
//! repository's own configuration has no effect, except for the address of the remote.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::crash;
use crate::disk;
use crate::disk::atomic::{self, Durability};

use super::address;
use super::branch::{self, MOST_OWN};
use super::commit::Content;
use super::config;
use super::error::Hindered;
use super::repository::Repository;
use super::runner::{Command, Git, GitError, is_id};

#[derive(Debug)]
pub(super) struct Remote<'a> {
    pub name: String,
    /// `HOST/OWNER/NAME`, if the address is a server's.
    pub repository: Option<String>,
    /// Reaches the remote.
    git: Git<'a>,
    is_local: bool,
    /// The commits of its branches, by branch name.
    heads: BTreeMap<String, String>,
}

/// The state of the branch on the remote.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    /// The commit itself.
    Same,
    /// An older proposal.
    Older(String),
}

/// The timeout for reading: the caller should not wait for a server that does not answer.
const READING: Duration = Duration::from_secs(30);
const PUSHING: Duration = Duration::from_secs(60);
/// The size of the branch list of a large project.
const LIST_BYTES: u64 = 16 << 20;
/// More than `git init` writes.
const CONFIG_BYTES: u64 = 64 << 10;
/// More than the list of the commits where a shallow clone ends.
const SHALLOW_BYTES: u64 = 16 << 20;

/// The name of the remote in our own repository.
const NAME: &str = "target";

/// For a local folder, git would run programs that the folder configures, and fetch missing objects from elsewhere.
const READ_LOCAL: &str = "GIT_ALLOW_PROTOCOL=none git upload-pack";
const PUSH_LOCAL: &str = "GIT_ALLOW_PROTOCOL=none git -c core.hooksPath=/dev/null -c core.alternateRefsCommand=true -c receive.autogc=false \
                     -c receive.denyCurrentBranch=refuse -c gc.auto=0 -c maintenance.auto=false receive-pack";

/// The variables that git and `ssh` need in addition to reach a server and to log in.
pub(super) const NETWORK: [&str; 18] = [
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_SSL_CAINFO",
    "DBUS_SESSION_BUS_ADDRESS",
    "GH_CONFIG_DIR",
    "GH_HOST",
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
];

impl<'a> Remote<'a> {
    /// `git` has no variables of the repository in its environment.
    pub(super) fn open(git: &Git<'a>, repository: &Repository<'_>) -> Result<Self, Hindered> {
        let (name, written) = choose(repository)?;
        let place = git.room().join("push.git");
        let path = place.to_str().ok_or(GitError::Garbled)?;
        let form = if repository.base.len() == 64 { "sha256" } else { "sha1" };
        let init = ["init", "--quiet", "--bare", "--template=", "--object-format", form, path];
        git.run(Command::new(init))?;
        let transport = repository.settings.transport();
        let ssh = repository.git.persons(&["GIT_SSH_COMMAND"]).pop().map(|(_, command)| command);
        let ssh = ssh.or_else(|| last(&transport, "core.sshcommand")).unwrap_or_else(|| "ssh".to_owned());
        let env = [
            ("GIT_DIR", path),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh"),
            ("GIT_ASKPASS", ""),
            ("GIT_SSH_COMMAND", &format!("{ssh} -o BatchMode=yes")),
            ("GIT_OBJECT_DIRECTORY", &git_path(repository, "objects")?),
        ];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let git = git.at(&place).with_env(git.persons(&NETWORK)).with_env(env);
        borrow_shallow(repository, &place)?;

        let config = place.join("config");
        let own = disk::text(&config, CONFIG_BYTES).map_err(GitError::from)?;
        let write = |address: &str| -> Result<(), GitError> {
            let address = address.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let text = format!("{own}[remote \"{NAME}\"]\n\turl = \"{address}\"\n");
            Ok(atomic::replace(&config, text.as_bytes(), Durability::Order)?)
        };
        write(&written)?;
        let resolving = git.with_env(config::env(&transport));
        let mut address = resolving.line(Command::new(["remote", "get-url", "--push", NAME]))?;
        let is_local = address::is_local(&address);
        if is_local && !address.contains("://") {
            address = repository.git.folder().join(address).to_string_lossy().into_owned();
        }
        write(&address)?;
        // The address was rewritten already, and must not be rewritten twice.
        let transport: Vec<_> = transport.into_iter().filter(|(key, _)| !key.starts_with("url.")).collect();
        let git = git.with_env(config::env(&transport));
        let repository = address::repository(&address).or_else(|| address::repository(&written));
        let local = is_local.then(|| format!("--upload-pack={READ_LOCAL}"));
        let list =
            ["ls-remote", "--heads"].map(str::to_owned).into_iter().chain(local).chain([NAME.to_owned()]);
        let list = Command::new(list).most(LIST_BYTES).deadline(READING);
        let heads = git.run(list).map_err(|error| failed(error, &format!("git cannot read {name}")))?;
        let heads = heads_of(&String::from_utf8_lossy(&heads)).ok_or(GitError::Garbled)?;
        Ok(Self { name, repository, git, is_local, heads })
    }

    /// Returns the base branch of a pull request: the branch of HEAD, if the remote has it.
    pub(super) fn base(&self, repository: &Repository<'_>) -> Result<Option<String>, GitError> {
        let Some(own) = head(repository)? else { return Ok(None) };
        let get = |name: &str| repository.settings.get(&format!("branch.{own}.{name}"));
        let upstream = get("merge").filter(|_| get("remote") == Some(&self.name));
        let upstream = upstream.and_then(|upstream| upstream.strip_prefix("refs/heads/"));
        let mut known =
            upstream.into_iter().chain([own.as_str()]).filter(|one| self.heads.contains_key(*one));
        Ok(known.next().map(str::to_owned))
    }

    /// Checks the remote. Commits that the user pushed to the branch are kept, and their unpushed commits are not
    /// pushed.
    pub(super) fn look(
        &self,
        repository: &Repository<'_>,
        (branch, commit): (&str, &str),
        content: &Content,
    ) -> Result<Found, Hindered> {
        let name = &self.name;
        let because = |why: &str| Err(Hindered::Because(format!("branch {branch} of {name} {why}")));
        self.require_pushed(repository, branch)?;
        let Some(found) = self.heads.get(branch) else { return Ok(Found::Nothing) };
        if found == commit {
            return Ok(Found::Same);
        }
        let known = format!("{found}^{{commit}}");
        if repository.git.find(Command::new(["rev-parse", "--verify", "--quiet", &known]))?.is_none() {
            return because("has commits that are not here; fetch them first");
        }
        let own = self.lacking(repository, found, branch, MOST_OWN + 1)?;
        match branch::foreign(repository, (found, &own), content)? {
            Some(why) => because(why),
            None => Ok(Found::Older(found.clone())),
        }
    }

    /// Fails if HEAD has commits that are in no other branch of the remote than this one.
    pub(super) fn require_pushed(&self, repository: &Repository<'_>, but: &str) -> Result<(), Hindered> {
        if self.lacking(repository, &repository.base, but, 1)?.is_empty() {
            return Ok(());
        }
        let why = format!("HEAD has commits that {} does not have; push them first", self.name);
        Err(Hindered::Because(why))
    }

    /// Lists the newest commits up to this one that are in no other branch of the remote.
    fn lacking(
        &self,
        repository: &Repository<'_>,
        commit: &str,
        but: &str,
        most: usize,
    ) -> Result<Vec<u8>, GitError> {
        let others = self.heads.iter().filter(|(name, _)| *name != but).map(|(_, id)| format!("^{id}\n"));
        let input: String = std::iter::once(format!("{commit}\n")).chain(others).collect();
        // The remote may have commits that are missing here.
        let most = format!("--max-count={most}");
        repository.git.run(Command::new(["rev-list", &most, "--ignore-missing", "--stdin"]).input(input))
    }

    /// Points the branch of the remote to the commit, if the branch is unchanged.
    pub(super) fn push(&self, branch: &str, commit: &str, found: &Found) -> Result<(), Hindered> {
        let old = match found {
            Found::Same => return Ok(()),
            Found::Nothing => "",
            Found::Older(old) => old,
        };
        let lease = format!("--force-with-lease=refs/heads/{branch}:{old}");
        let local = self.is_local.then(|| format!("--receive-pack={PUSH_LOCAL}"));
        let to = format!("{commit}:refs/heads/{branch}");
        let plain = ["push", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no"];
        let arguments = plain.map(str::to_owned).into_iter().chain(local).chain([lease, NAME.to_owned(), to]);
        let push = Command::new(arguments).deadline(PUSHING);
        let points = ["proposal: before the branch is pushed", "proposal: after the branch is pushed"];
        let pushed = crash::around(points, || self.git.run(push));
        pushed.map(drop).map_err(|error| failed(error, &format!("git cannot push to {}", self.name)))
    }
}

/// Chooses the name and the address like `git push`.
fn choose(repository: &Repository<'_>) -> Result<(String, String), Hindered> {
    let settings = &repository.settings;
    let remotes = settings.remotes();
    let head = head(repository)?;
    let of_head = head.and_then(|head| settings.get(&format!("branch.{head}.remote")));
    let mut known = [settings.get("remote.pushdefault"), of_head, Some("origin")].into_iter().flatten();
    let only = || remotes.first().copied().filter(|_| remotes.len() == 1);
    let Some(name) = known.find(|name| remotes.contains(name)).or_else(only) else {
        let why = if remotes.is_empty() {
            "the repository has no remote"
        } else {
            "the repository has several remotes; choose one with `git config remote.pushDefault NAME`"
        };
        return Err(Hindered::Because(why.to_owned()));
    };
    let get = |what: &str| settings.first(&format!("remote.{name}.{what}"));
    let address = get("pushurl").or_else(|| get("url")).filter(|address| !address.is_empty());
    let address = address.ok_or_else(|| Hindered::Because(format!("the remote {name} has no address")))?;
    Ok((name.to_owned(), address.to_owned()))
}

/// Returns the branch of HEAD, if it is on one.
fn head(repository: &Repository<'_>) -> Result<Option<String>, GitError> {
    let head = repository.git.find(Command::new(["symbolic-ref", "--quiet", "HEAD"]))?;
    let head = head.and_then(|head| String::from_utf8(head).ok());
    Ok(head.and_then(|head| Some(head.trim_end().strip_prefix("refs/heads/")?.to_owned())))
}

fn git_path(repository: &Repository<'_>, name: &str) -> Result<String, GitError> {
    repository.git.line(Command::new(["rev-parse", "--path-format=absolute", "--git-path", name]))
}

/// Makes our repository lack the same commits if the user's is a shallow clone.
fn borrow_shallow(repository: &Repository<'_>, place: &Path) -> Result<(), GitError> {
    let path = PathBuf::from(git_path(repository, "shallow")?);
    match disk::read(&path, SHALLOW_BYTES) {
        Ok(list) => Ok(atomic::create(&place.join("shallow"), &list)?),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(source) => Err(GitError::Unread { path, source }),
    }
}

fn last(settings: &[(String, String)], key: &str) -> Option<String> {
    settings.iter().rev().find(|(known, _)| known == key).map(|(_, value)| value.clone())
}

/// Parses lines of `ID TAB refs/heads/NAME`.
fn heads_of(list: &str) -> Option<BTreeMap<String, String>> {
    let head = |line: &str| {
        let (id, name) = line.split_once('\t')?;
        is_id(id).then(|| Some((name.strip_prefix("refs/heads/")?.to_owned(), id.to_owned())))?
    };
    list.lines().map(head).collect()
}

/// Turns messages of a server or a program into a note for the user; a failure on our side stays an error.
pub(super) fn failed(error: GitError, what: &str) -> Hindered {
    match error {
        GitError::Failed { said, .. } => {
            Hindered::Because(format!("{what}: {}", address::without_secrets(&said)))
        }
        GitError::TooLarge | GitError::Garbled => Hindered::Because(format!("{what}: {error}")),
        GitError::Unread { .. } | GitError::Special { .. } | GitError::Disk(_) | GitError::Process(_) => {
            Hindered::Failed(error)
        }
    }
}
