//! A wrapper between skilltune and a real agent: ccw, or its successor maestro.
//!
//! It starts the agent with its own options, adds its own text to the prompt, and reports success for a failed child
//! that printed anything. So its exit code 0 shows nothing, and its output is an answer only if it is not empty, not
//! the agent's stream of events, and not an error message.

use serde_json::Value;
use skilltune_phases::base::role::Rights;
use skilltune_phases::runs::event::{Failure, FailureKind, Spent};

use super::command::Slots;
use super::credit;
use super::profile::Fitting;
use super::real::Real;
use super::response::{AgentOutput, Life, Response, failed, text};
use crate::process::How;

/// The known wrappers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    Ccw,
    Maestro,
}

impl Via {
    pub const ALL: [Self; 2] = [Self::Ccw, Self::Maestro];
    /// The agents that work through a wrapper. The others need our flags, which a wrapper does not pass, or a home of the
    /// call's own, where a wrapper finds none of its own files.
    pub const AGENTS: [&str; 2] = ["claude", "gemini"];

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|via| via.name() == name)
    }

    /// Returns the name of the wrapper and of its program.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ccw => "ccw",
            Self::Maestro => "maestro",
        }
    }

    /// Returns how to install the wrapper.
    pub fn get(self) -> &'static str {
        match self {
            Self::Ccw => "it comes with the project Claude Code Workflow",
            Self::Maestro => "it comes with the project maestro-flow",
        }
    }

    /// Returns true if an agent works through a wrapper.
    pub fn calls(agent: Real) -> bool {
        Self::AGENTS.contains(&agent.name())
    }

    /// Returns the arguments after the program. The prompt is not among them: maestro takes no file, and gets its path
    /// in a text.
    pub(super) fn arguments(self, tool: Real, model: Option<&str>, slots: Slots<'_>) -> Vec<String> {
        let mode = if slots.rights == Rights::Read { "analysis" } else { "write" };
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

    /// Returns the prompt as a file in the workspace, if it cannot be passed otherwise.
    pub(super) fn errand(self, prompt: &str) -> Option<Fitting> {
        match self {
            Self::Ccw => None,
            Self::Maestro => Some(Fitting { folder: ERRANDS, file: "task.md", text: prompt.to_owned() }),
        }
    }

    /// Returns the variable that puts the wrapper's record of its requests into the call's own folder.
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
            // The wrapper had no answer to print: the agent's own output tells more.
            return (tool.profile().read_response)(AgentOutput { stdout: said, ..left });
        }
        let answer = match left.ended.how {
            How::Exited(0) if left.ended.stdout_truncated => Err(left.without_end(life(said))),
            How::Exited(0) if said.trim().is_empty() => {
                let what = format!("{} printed no answer", self.name());
                let why = own_words(&[left.stderr]).map_or(what.clone(), |words| format!("{what}: {words}"));
                Err(failed(FailureKind::Empty, &why))
            }
            How::Exited(0) => reported_failure(tool, left, said).map_or_else(|| Ok(said.to_owned()), Err),
            How::Exited(_) => Err(self
                .set_up(tool, left)
                .or_else(|| reported_failure(tool, left, said))
                .unwrap_or_else(|| {
                    let words = own_words(&[left.stderr, said]).unwrap_or("no output");
                    failed(kind(left.stderr), &format!("{}: {words}", self.name()))
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

    /// Returns the set-up that is missing on this machine, if that caused the failure.
    fn set_up(self, tool: Real, left: AgentOutput<'_>) -> Option<Failure> {
        let says = |words: &str| left.stderr.contains(words);
        let what = match self {
            Self::Ccw if says("Template not found") => {
                let words = own_words(&[left.stderr]).unwrap_or_default();
                format!("ccw has no templates yet: run `ccw install -m Global`; it says: {words}")
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

    /// Removes the lines that ccw prints around the answer when it assumes that another agent runs it. It removes them
    /// only if both are there exactly as ccw writes them: anything else may be part of the answer.
    fn unframed(self, stdout: &str) -> &str {
        let framed = match self {
            Self::Ccw => inner(stdout),
            Self::Maestro => None,
        };
        framed.unwrap_or(stdout)
    }
}

/// Returns what a wrapper says of its own error, from the first of these texts that says anything: the last line that
/// begins like an error, or else the last line. A crash of Node.js ends with its stack and its version.
fn own_words<'t>(texts: &[&'t str]) -> Option<&'t str> {
    texts.iter().find_map(|&text| {
        let lines = || text.lines().map(str::trim).filter(|line| !is_noise(line));
        lines().rfind(is_error).or_else(|| lines().next_back())
    })
}

fn is_noise(line: &str) -> bool {
    let is_mark = !line.contains(char::is_alphanumeric);
    is_mark || ["at ", "Node.js v", "Executing "].iter().any(|one| line.starts_with(one))
}

fn is_error(line: &&str) -> bool {
    let begins = line.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("error"));
    begins || line.contains("Error: ")
}

/// Finds a failure that the agent reports as text instead of an answer.
fn reported_failure(tool: Real, left: AgentOutput<'_>, said: &str) -> Option<Failure> {
    tool.profile()
        .reported_failure
        .and_then(|reported_failure| reported_failure(AgentOutput { stdout: said, ..left }))
}

/// The whole prompt argument; the folder is in the agent's workspace.
const ERRAND: &str =
    "Read the file .skilltune-task/task.md in the current folder, and do exactly what it says.";
const ERRANDS: &str = ".skilltune-task";

/// Returns the text between ccw's banner and its footer.
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

/// Ignores the wrapper's own banner, which it prints before it calls a model.
fn life(said: &str) -> Life {
    let is_word = |line: &str| !line.trim().is_empty() && !line.starts_with("  Executing ");
    if said.lines().any(is_word) { Life::Shown } else { Life::NoSign }
}

/// Whether every line is an event, as agents print them. No requested answer looks like that.
fn is_stream(said: &str) -> bool {
    let is_event = |line: &str| {
        serde_json::from_str::<Value>(line)
            .is_ok_and(|event| event.is_object() && text(&event, "type").is_some())
    };
    let mut lines = said.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some() && lines.all(is_event)
}

/// Returns the kind of the failure that the wrapper reports, if it does.
fn kind(stderr: &str) -> FailureKind {
    let lower = stderr.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|one| lower.contains(one));
    match () {
        () if credit::is_used_up(stderr) => FailureKind::NoCredit,
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
