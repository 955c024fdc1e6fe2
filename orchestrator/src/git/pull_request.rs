//! Pull requests, by the program `gh`. It runs in an empty folder, and is told which repository is meant.

use std::time::Duration;

use serde::Deserialize;

use crate::crash;

use super::commit::Content;
use super::error::Hindered;
use super::remote::{NETWORK, failed};
use super::runner::{Command, Git, GitError};

/// Where pull requests are made.
#[derive(Debug)]
pub(super) struct Hub<'a> {
    git: &'a Git<'a>,
    /// `HOST/OWNER/NAME`.
    repository: &'a str,
}

/// What is to become of the pull request of a branch.
#[derive(Debug)]
pub(super) enum Next {
    Open,
    Update {
        number: u64,
        url: String,
    },
    /// It says the same already.
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
    state: State,
    body: String,
    head_ref_name: String,
    /// Somebody else's repository has a branch of this name.
    is_cross_repository: bool,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
enum State {
    Open,
    Closed,
    Merged,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    head_ref_name: String,
    is_cross_repository: bool,
}

/// As many of ours may be open in a repository: a person reviews each of them.
const MOST_OPEN: usize = 3;

const DEADLINE: Duration = Duration::from_secs(30);
const LIST_BYTES: u64 = 8 << 20;

/// What `gh` needs of the person's environment beside what is needed for the network.
const INHERITED: [&str; 5] = ["PATH", "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"];

/// It asks nothing, and looks for no newer version of itself.
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
        let why = "the address of the remote names no repository of a server";
        let repository = repository.ok_or_else(|| Hindered::Because(why.to_owned()))?;
        Ok(Self { git, repository })
    }

    pub(super) fn look(&self, branch: &str, content: &Content) -> Result<Next, Hindered> {
        let fields = "number,url,state,body,headRefName,isCrossRepository";
        let list = ["list", "--head", branch, "--state", "all", "--limit", "50", "--json", fields];
        let all: Vec<Listed> = parsed(&self.run(Command::new(list))?)?;
        let own = |one: &&Listed| one.head_ref_name == branch && !one.is_cross_repository;
        let own: Vec<&Listed> = all.iter().filter(own).collect();
        if let Some(one) = own.iter().find(|one| one.state == State::Open) {
            let url = address(&one.url)?;
            let is_same = content.has_tree_of(&one.body);
            return Ok(if is_same { Next::Leave { url } } else { Next::Update { number: one.number, url } });
        }
        if let Some(one) = own.iter().find(|one| content.is_same_change(&one.body)) {
            let became = if one.state == State::Merged { "merged" } else { "closed" };
            let why = format!("a pull request for the same change was {became}: {}", address(&one.url)?);
            return Ok(Next::Never { why });
        }
        let fields = "headRefName,isCrossRepository";
        let list = ["list", "--state", "open", "--limit", "1000", "--json", fields];
        let all: Vec<Head> = parsed(&self.run(Command::new(list))?)?;
        let ours = |one: &&Head| one.head_ref_name.starts_with("skilltune/") && !one.is_cross_repository;
        let open = all.iter().filter(ours).count();
        if open >= MOST_OPEN {
            let why = format!("{open} pull requests of skilltune are open; merge or close one first");
            return Ok(Next::Never { why });
        }
        Ok(Next::Open)
    }

    /// Opens or updates it; its address.
    pub(super) fn bring(
        &self,
        next: Next,
        branch: &str,
        base: Option<&str>,
        message: &str,
    ) -> Result<String, Hindered> {
        let (title, text) = message.split_once('\n').unwrap_or((message, ""));
        let title = format!("--title={title}");
        let command = |arguments: &[&str]| Command::new(arguments.iter().copied()).input(body(text));
        let points = ["proposal: before the pull request", "proposal: after the pull request"];
        match next {
            Next::Never { why } => Err(Hindered::Because(why)),
            Next::Leave { url } => Ok(url),
            Next::Update { number, url } => {
                let number = number.to_string();
                let edit = command(&["edit", &number, &title, "--body-file", "-"]);
                crash::around(points, || self.run(edit))?;
                Ok(url)
            }
            Next::Open => {
                let base = base.map(|base| format!("--base={base}"));
                let mut create = vec!["create", "--head", branch, &title, "--body-file", "-"];
                create.extend(base.as_deref());
                let printed = crash::around(points, || self.run(command(&create)))?;
                let printed = String::from_utf8_lossy(&printed);
                address(printed.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim())
            }
        }
    }

    fn run(&self, command: Command) -> Result<Vec<u8>, Hindered> {
        let program = self.git.gh().ok_or(GitError::Garbled)?;
        // No repository around the folder counts either.
        let above = self.git.room().to_string_lossy().into_owned();
        let own = ENV.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let env = self.git.persons(&INHERITED).into_iter().chain(self.git.persons(&NETWORK)).chain(own);
        let env = env.chain([("GIT_CEILING_DIRECTORIES".to_owned(), above)]).collect();
        let program = vec![program.into(), "pr".into()];
        let command = command.more(["--repo", self.repository]).most(LIST_BYTES).deadline(DEADLINE);
        self.git.run_program(program, env, command).map_err(|error| failed(error, "`gh` failed"))
    }
}

fn parsed<'d, T: Deserialize<'d>>(printed: &'d [u8]) -> Result<T, Hindered> {
    serde_json::from_slice(printed)
        .map_err(|_| Hindered::Because("`gh` printed something that cannot be read".to_owned()))
}

/// Part of what it says was written by agents: nothing in it mentions anybody, or closes an issue.
fn body(text: &str) -> String {
    let runs = text.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or_default().max(2) + 1);
    format!(
        "{fence}text\n{}\n{fence}\n\nskilltune updates this pull request until somebody else commits to its branch.\n",
        text.trim_matches('\n')
    )
}

/// As a person can open it.
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
