//! Pull requests through the program `gh`. It runs in an empty folder and gets the repository as an argument. The
//! content of a pull request is passed as JSON on stdin.

use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::crash;

use super::commit::Content;
use super::error::Hindered;
use super::remote::{NETWORK, failed};
use super::runner::{Command, Git, GitError};

/// The repository where pull requests are made.
#[derive(Debug)]
pub(super) struct Hub<'a> {
    git: &'a Git<'a>,
    /// `HOST/OWNER/NAME`.
    repository: &'a str,
    host: &'a str,
    /// Its path on the host.
    path: String,
}

/// What to do with the pull request of a branch.
#[derive(Debug)]
pub(super) enum Next {
    Open,
    Update {
        number: u64,
    },
    /// It is up to date.
    Leave {
        url: String,
    },
    Never {
        why: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    number: u64,
    url: String,
    state: RequestState,
    body: String,
    head_ref_name: String,
    /// The branch of this name is in another repository.
    is_cross_repository: bool,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum RequestState {
    Open,
    Closed,
    Merged,
}

/// The only part of a pull request that says what a person did with it.
#[derive(Debug, Deserialize)]
struct Viewed {
    state: RequestState,
}

/// A pull request as the server returns it.
#[derive(Debug, Deserialize)]
struct Sent {
    html_url: String,
}

#[derive(Debug, Deserialize)]
struct Server {
    default_branch: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    head_ref_name: String,
    is_cross_repository: bool,
}

/// The most pull requests of ours that may be open in a repository: a person reviews each of them.
const MOST_OPEN: usize = 3;

const DEADLINE: Duration = Duration::from_secs(30);
const LIST_BYTES: u64 = 8 << 20;

/// The variables of the user's environment that `gh` needs besides those for the network.
const INHERITED: [&str; 5] = ["PATH", "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"];

/// Disables prompts and the check for newer versions.
const ENV: [(&str, &str); 7] = [
    ("GH_PROMPT_DISABLED", "1"),
    ("GH_NO_UPDATE_NOTIFIER", "1"),
    ("GH_NO_EXTENSION_UPDATE_NOTIFIER", "1"),
    ("GH_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("NO_COLOR", "1"),
    ("LC_ALL", "C"),
];

impl<'a> Hub<'a> {
    pub(super) fn of(git: &'a Git<'a>, repository: Option<&'a str>) -> Result<Self, Hindered> {
        if git.gh().is_none() {
            return Err(Hindered::Because("`gh` is not installed".to_owned()));
        }
        let why = "the address of the remote does not name a repository on a server";
        let named = repository.and_then(|repository| Some((repository, repository.split_once('/')?)));
        let (repository, (host, name)) = named.ok_or_else(|| Hindered::Because(why.to_owned()))?;
        Ok(Self { git, repository, host, path: format!("repos/{name}") })
    }

    /// Fails if `gh` is not logged in, or cannot read the repository.
    pub(super) fn require_access(&self) -> Result<(), Hindered> {
        let fields = "headRefName,isCrossRepository";
        self.list::<Head>(&["--state", "open", "--limit", "1", "--json", fields]).map(drop)
    }

    pub(super) fn look(&self, branch: &str, content: &Content) -> Result<Next, Hindered> {
        let fields = "number,url,state,body,headRefName,isCrossRepository";
        let all: Vec<Listed> =
            self.list(&["--head", branch, "--state", "all", "--limit", "50", "--json", fields])?;
        let own = |one: &&Listed| one.head_ref_name == branch && !one.is_cross_repository;
        let own: Vec<&Listed> = all.iter().filter(own).collect();
        if let Some(one) = own.iter().find(|one| one.state == RequestState::Open) {
            let is_same = content.has_tree_of(&one.body);
            return Ok(if is_same {
                Next::Leave { url: address(&one.url)? }
            } else {
                Next::Update { number: one.number }
            });
        }
        if let Some(one) = own.iter().find(|one| content.is_same_change(&one.body)) {
            let became = if one.state == RequestState::Merged { "merged" } else { "closed" };
            let why = format!("a pull request for the same change was {became}: {}", address(&one.url)?);
            return Ok(Next::Never { why });
        }
        let fields = "headRefName,isCrossRepository";
        let all: Vec<Head> = self.list(&["--state", "open", "--limit", "1000", "--json", fields])?;
        let ours = |one: &&Head| one.head_ref_name.starts_with("skilltune/") && !one.is_cross_repository;
        let open = all.iter().filter(ours).count();
        if open >= MOST_OPEN {
            let why = format!("{open} pull requests of skilltune are open; merge or close one first");
            return Ok(Next::Never { why });
        }
        Ok(Next::Open)
    }

    /// Opens or updates the pull request and returns its address.
    pub(super) fn bring(
        &self,
        next: Next,
        branch: &str,
        base: Option<&str>,
        message: &str,
    ) -> Result<String, Hindered> {
        let (title, text) = message.split_once('\n').unwrap_or((message, ""));
        let body = body(text);
        match next {
            Next::Never { why } => Err(Hindered::Because(why)),
            Next::Leave { url } => Ok(url),
            Next::Update { number } => {
                self.send("PATCH", &format!("pulls/{number}"), &json!({ "title": title, "body": body }))
            }
            Next::Open => {
                let base = base.map_or_else(|| self.default_branch(), |base| Ok(base.to_owned()))?;
                let request = json!({ "title": title, "body": body, "head": branch, "base": base });
                self.send("POST", "pulls", &request)
            }
        }
    }

    /// Sends a request and returns the address of the pull request.
    fn send(&self, method: &str, path: &str, request: &Value) -> Result<String, Hindered> {
        let path = format!("{}/{path}", self.path);
        let command = ["api", &path, "--hostname", self.host, "--method", method, "--input", "-"];
        let command = Command::new(command).input(request.to_string());
        let points = ["proposal: before the pull request", "proposal: after the pull request"];
        let sent: Sent = parsed(&crash::around(points, || self.run(command))?)?;
        address(&sent.html_url)
    }

    fn default_branch(&self) -> Result<String, Hindered> {
        let look = ["api", &self.path, "--hostname", self.host];
        let server: Server = parsed(&self.run(Command::new(look))?)?;
        Ok(server.default_branch)
    }

    fn list<T: DeserializeOwned>(&self, wanted: &[&str]) -> Result<Vec<T>, Hindered> {
        let list = Command::new(["pr", "list", "--repo", self.repository]).more(wanted.iter().copied());
        parsed(&self.run(list)?)
    }

    fn run(&self, command: Command) -> Result<Vec<u8>, Hindered> {
        run(self.git, command)
    }
}

/// Returns the state of a pull request. None if `gh` is not installed or cannot read it.
pub(super) fn state(git: &Git<'_>, request: &str) -> Option<RequestState> {
    let request = address(request).ok()?;
    let printed = run(git, Command::new(["pr", "view", &request, "--json", "state"])).ok()?;
    parsed(&printed).ok().map(|viewed: Viewed| viewed.state)
}

/// Runs `gh`.
fn run(git: &Git<'_>, command: Command) -> Result<Vec<u8>, Hindered> {
    let program = git.gh().ok_or(GitError::Garbled)?;
    // Repositories that contain the folder must not be used either.
    let above = git.room().to_string_lossy().into_owned();
    let own = ENV.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let env = git.persons(&INHERITED).into_iter().chain(git.persons(&NETWORK)).chain(own);
    let env = env.chain([("GIT_CEILING_DIRECTORIES".to_owned(), above)]).collect();
    let command = command.most(LIST_BYTES).deadline(DEADLINE);
    git.run_program(vec![program.into()], env, command).map_err(|error| failed(error, "`gh` failed"))
}

fn parsed<'d, T: Deserialize<'d>>(printed: &'d [u8]) -> Result<T, Hindered> {
    serde_json::from_slice(printed)
        .map_err(|_| Hindered::Because("cannot parse the output of `gh`".to_owned()))
}

/// Agents wrote parts of the text, so mentions and issue-closing keywords are disabled.
fn body(text: &str) -> String {
    let runs = text.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or_default().max(2) + 1);
    format!(
        "{fence}text\n{}\n{fence}\n\nskilltune updates this pull request until somebody else commits to its branch.\n",
        text.trim_matches('\n')
    )
}

/// Returns the address that a person can open.
fn address(text: &str) -> Result<String, Hindered> {
    let is_web = text.starts_with("https://") || text.starts_with("http://");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.~:/".contains(c);
    if is_web && text.len() <= 512 && text.chars().all(is_plain) {
        return Ok(text.to_owned());
    }
    Err(Hindered::Because("`gh` did not print the address of the pull request".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_wrote_stays_within_the_fence_of_a_body() {
        let body = body("\n- script: ```\n@somebody\nCloses #1\n\nSkilltune-Tree: a\n");
        assert!(body.starts_with("````text\n- script: ```\n"), "{body}");
        assert!(body.contains("\nSkilltune-Tree: a\n````\n\nskilltune updates"), "{body}");
    }

    #[test]
    fn an_address_that_a_person_cannot_open_is_refused() {
        assert!(address("https://github.com/acme/skills/pull/1").is_ok());
        for text in ["", "ftp://a/b", "https://me:secret@a/b", "https://a/b c", "https://a/$(b)"] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}
