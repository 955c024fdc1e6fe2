//! A wrapper between us and a real agent: ccw, or maestro, which came after it.
//!
//! It starts the agent with switches of its own choice, adds words of its own to the prompt, and calls a child that has
//! failed a success as long as it has printed something. So its exit code 0 shows nothing, and what it has printed is an
//! answer only when it is neither nothing, nor the agent's stream of events, nor the words of an error.

use serde_json::Value;
use skilltune_phases::event::{Failure, FailureKind, Spent};
use skilltune_phases::role::Rights;

use super::command::Slots;
use super::profile::Fitting;
use super::real::Real;
use super::response::{AgentOutput, Life, Response, failed};
use super::stream::text;
use crate::process::How;

/// The wrappers that we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    Ccw,
    Maestro,
}

impl Via {
    pub const ALL: [Self; 2] = [Self::Ccw, Self::Maestro];

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|via| via.name() == name)
    }

    /// Its own, and its program's.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ccw => "ccw",
            Self::Maestro => "maestro",
        }
    }

    /// How to get it.
    pub fn get(self) -> &'static str {
        match self {
            Self::Ccw => "it comes with the project Claude Code Workflow",
            Self::Maestro => "it comes with the project maestro-flow",
        }
    }

    /// What follows the program. No words of a prompt are among it: maestro takes no file, and is told of one.
    pub(super) fn arguments(self, tool: Real, model: Option<&str>, slots: Slots<'_>) -> Vec<String> {
        let mode = match slots.rights {
            Rights::Work | Rights::Edit | Rights::Shell => "write",
            Rights::Read => "analysis",
        };
        let (space, prompt) = (slots.workspace.to_string_lossy(), slots.prompt_file.to_string_lossy());
        let mut arguments = match self {
            Self::Ccw => {
                vec!["cli", "--tool", tool.name(), "--mode", mode, "--cd", &space, "-f", &prompt, "--final"]
            }
            Self::Maestro => vec!["delegate", ERRAND, "--to", tool.name(), "--mode", mode, "--cd", &space],
        };
        arguments.extend(model.into_iter().flat_map(|model| ["--model", model]));
        arguments.into_iter().map(str::to_owned).collect()
    }

    /// The prompt as a file in the workspace, where it cannot be handed over otherwise.
    pub(super) fn errand(self, prompt: &str) -> Option<Fitting> {
        match self {
            Self::Ccw => None,
            Self::Maestro => Some(Fitting { folder: ERRANDS, file: "task.md", text: prompt.to_owned() }),
        }
    }

    /// Where it keeps what it was asked, all of it: in the call's own folder.
    pub(super) fn temporary(self, temp: &str) -> Option<(&'static str, String)> {
        match self {
            Self::Ccw => Some(("CCW_DATA_DIR", format!("{temp}/ccw"))),
            Self::Maestro => None,
        }
    }

    pub(super) fn read_response(self, tool: Real, left: AgentOutput<'_>) -> Response {
        let stderr = left.without_lines(&["[WARN] --id not provided", "[CCW_EXEC_ID="]);
        let left = AgentOutput { stderr: &stderr, ..left };
        let said = self.unframed(left.stdout);
        if is_stream(said) {
            // It had no answer to print: the agent's own words tell more than its.
            return (tool.profile().read_response)(AgentOutput { stdout: said, ..left });
        }
        let answer = match left.ended.how {
            How::Exited(0) if left.ended.stdout_truncated => Err(left.without_end(life(said))),
            How::Exited(0) if said.trim().is_empty() => {
                Err(failed(FailureKind::Empty, &format!("{} printed nothing", self.name())))
            }
            How::Exited(0) => reported_failure(tool, left, said).map_or_else(|| Ok(said.to_owned()), Err),
            How::Exited(_) => Err(self
                .set_up(tool, left)
                .or_else(|| reported_failure(tool, left, said))
                .unwrap_or_else(|| {
                    let why = left.last_words().unwrap_or_else(|| "no output".to_owned());
                    failed(kind(left.stderr), &format!("{}: {why}", self.name()))
                })),
            How::Signalled(_)
            | How::TimedOut
            | How::Cancelled
            | How::OutputClosed
            | How::NotStarted { .. }
            | How::Lost { .. } => Err(left.failure(life(said))),
        };
        Response { answer, spent: Spent { ms: left.ended.took_ms, ..Spent::default() }, talk: None }
    }

    /// What has to be done on this machine before it can be of any use, where that is what has gone wrong.
    fn set_up(self, tool: Real, left: AgentOutput<'_>) -> Option<Failure> {
        let says = |words: &str| left.stderr.contains(words);
        let what = match self {
            Self::Ccw if says("Template not found") => {
                "ccw has no templates yet: run `ccw install -m Global`".to_owned()
            }
            _ if says("cannot be used with root/sudo privileges") => {
                let (tool, name) = (tool.name(), self.name());
                format!(
                    "{tool} refuses the mode that {name} starts it in as root: run as another user, or pass --via direct"
                )
            }
            Self::Ccw | Self::Maestro => return None,
        };
        Some(failed(FailureKind::NotSetUp, &what))
    }

    /// The answer without the lines that ccw prints around it when it takes itself for part of another agent. They are
    /// cut away only where both are there as it writes them: anything else may be the answer's own.
    fn unframed(self, stdout: &str) -> &str {
        let framed = match self {
            Self::Ccw => inner(stdout),
            Self::Maestro => None,
        };
        framed.unwrap_or(stdout)
    }
}

/// The failure that the agent tells in the place of an answer.
fn reported_failure(tool: Real, left: AgentOutput<'_>, said: &str) -> Option<Failure> {
    tool.profile()
        .reported_failure
        .and_then(|reported_failure| reported_failure(AgentOutput { stdout: said, ..left }))
}

/// All that is said in an argument; the folder is in the agent's workspace.
const ERRAND: &str =
    "Read the file .skilltune-task/task.md in the current folder, and do exactly what it says.";
const ERRANDS: &str = ".skilltune-task";

/// What stands between ccw's banner and its footer.
fn inner(stdout: &str) -> Option<&str> {
    const LAST: [&str; 5] =
        ["  ID: ", "  Total: ", "  Continue: ccw cli ", "  Output: ccw cli ", "  Saved to: "];
    let (banner, rest) = stdout.trim_start_matches('\n').split_once('\n')?;
    if !(banner.starts_with("  Executing ") && banner.contains(" mode") && banner.ends_with("...")) {
        return None;
    }
    let (answer, footer) = rest.rsplit_once("\n  ✓ Completed in ")?;
    let mut lines = footer.lines().skip(1).filter(|line| !line.trim().is_empty()).peekable();
    lines.peek()?;
    lines.all(|line| LAST.iter().any(|last| line.starts_with(last))).then(|| answer.trim_matches('\n'))
}

/// Its own banner comes before anybody is asked.
fn life(said: &str) -> Life {
    let is_word = |line: &str| !line.trim().is_empty() && !line.starts_with("  Executing ");
    if said.lines().any(is_word) { Life::Shown } else { Life::NoSign }
}

/// Whether every line is an event, as an agent prints them. No answer that we ask for looks so.
fn is_stream(said: &str) -> bool {
    let is_event = |line: &str| {
        serde_json::from_str::<Value>(line)
            .is_ok_and(|event| event.is_object() && text(&event, "type").is_some())
    };
    let mut lines = said.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some() && lines.all(is_event)
}

/// What it says went wrong, where it says that anything did.
fn kind(stderr: &str) -> FailureKind {
    let lower = stderr.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|one| lower.contains(one));
    match () {
        () if says(&["rate limit"]) => FailureKind::RateLimited,
        () if says(&["authentication failed", "api key", "not logged in"]) => FailureKind::Authentication,
        () if says(&["unknown option", "not installed", "not available", "no enabled tool"]) => {
            FailureKind::UsageError
        }
        () => FailureKind::Crashed,
    }
}

#[cfg(test)]
mod tests;
