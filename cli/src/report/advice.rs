//! What a person may want to type after a run, or in the middle of one.

use skilltune_phases::event::{Failure, FailureKind, PlacedBy};
use skilltune_phases::loops::Loop;
use skilltune_phases::loops::tune::ending::Outcome;
use skilltune_phases::loops::tune::{Choice, Run};
use skilltune_phases::remedy::Remedy;
use skilltune_phases::run;

use super::figures;
use super::worded::Worded;

/// A command to type next, and what for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) command: String,
    pub(crate) purpose: &'static str,
    /// Whether it calls agents, which may need trust.
    pub(crate) calls: bool,
}

impl Next {
    /// For whoever has trusted the agents for once, and is to do so again.
    pub(crate) fn once_more(self, trusted: bool) -> Self {
        let command = if self.calls { trusting(self.command, trusted) } else { self.command };
        Self { command, ..self }
    }
}

/// A command that calls agents, as it is to be typed by whoever has trusted them for once.
pub(crate) fn trusting(command: String, trusted: bool) -> String {
    if trusted { command + " --trust" } else { command }
}

/// The command that takes a run up again.
pub(crate) fn resume<L: Loop>(run: &run::Run<L>) -> String {
    format!("skilltune resume {}", run.plan.run)
}

const RESUME: &str = "resume";
const FORCED: &str = "apply --force";

/// What a person may want to type now.
pub(crate) fn next(run: &Run) -> Vec<Next> {
    let choices: &[(&str, &'static str)] = match run.outcome() {
        Outcome::Stopped => &[(RESUME, "continue")],
        Outcome::Held => return [Choice::Apply, Choice::Keep].map(|choice| answer(run, choice)).into(),
        Outcome::Improved | Outcome::Kept | Outcome::Conflict | Outcome::Unchanged | Outcome::Unjudged
            if run.placed == Some(PlacedBy::Apply) =>
        {
            &[("diff", "see the champion's changes"), ("rollback", "restore the skill")]
        }
        Outcome::Improved | Outcome::Conflict if run.placed == Some(PlacedBy::Rollback) => {
            &[("diff", "see the champion's changes"), ("apply", "apply it")]
        }
        Outcome::Improved => &[("diff", "see what changed"), ("rollback", "undo it")],
        Outcome::Kept => &[("diff", "see what would change"), ("apply", "apply it")],
        Outcome::Conflict => &[("diff", "see the champion's changes"), (FORCED, "apply it anyway")],
        Outcome::Unchanged | Outcome::Unjudged => &[("show", "see why")],
    };
    let next = |&(verb, purpose): &(&str, &'static str)| {
        let command = format!("skilltune {verb} {}", run.plan.run);
        Next { command, purpose, calls: verb == RESUME }
    };
    choices.iter().map(next).collect()
}

/// Whether anything was ever brought into the target: else there is nothing to go back from.
pub(crate) fn was_replaced(run: &Run) -> bool {
    run.outcome() == Outcome::Improved || run.placed.is_some()
}

/// What brings the champion into the target as that stands by what we know: a person's edit needs their word.
pub(crate) fn apply(run: &Run) -> &'static str {
    if run.outcome() == Outcome::Conflict && run.placed.is_none() { FORCED } else { "apply" }
}

/// What lets a run that is blocked go on.
pub(crate) fn mend<L: Worded>(run: &run::Run<L>, mishap: &run::Mishap<L>, trusted: bool) -> String {
    let cast = L::role(&mishap.step).map(|role| run.plan.roles.of(role));
    let mending = mending(cast.map_or("the agent", |cast| cast.agent.as_str()), &mishap.failure);
    let asks = if mishap.failure.until.is_none() { " and retries from time to time" } else { "" };
    let resume = trusting(format!("{} --wait", resume(run)), trusted);
    match mishap.failure.kind.remedy() {
        Remedy::Wait => format!("{mending}; `{resume}` waits for it{asks}"),
        Remedy::Repeat => format!("{mending}; `{resume}` retries until then; {ONLY_THE_REST}"),
        Remedy::Mend | Remedy::Tell => mending,
    }
}

const ONLY_THE_REST: &str = "only unanswered calls are repeated";

/// What a person can do about a failure that no other try mends.
pub(crate) fn mending(agent: &str, failure: &Failure) -> String {
    match (failure.kind.remedy(), failure.kind) {
        (Remedy::Wait, _) => match failure.until {
            Some(until) => format!("resume after {}, when the limit resets", figures::moment(until)),
            None => format!("resume when the limit of {agent} resets"),
        },
        (Remedy::Repeat, _) => format!("resume when the service of {agent} is back"),
        (Remedy::Mend, FailureKind::Authentication) => login(agent),
        (Remedy::Mend, FailureKind::ModelNotFound) => {
            format!("start a new run with a model that {agent} has: --agent {agent}:MODEL")
        }
        (Remedy::Mend | Remedy::Tell, _) => {
            format!("run `skilltune doctor` to check {agent}; you may have to update it")
        }
    }
}

fn login(agent: &str) -> String {
    match agent {
        "claude" => "start `claude` and type /login, or set ANTHROPIC_API_KEY".to_owned(),
        "gemini" => "start `gemini` and log in, or set GEMINI_API_KEY".to_owned(),
        "codex" => "run `codex login`, or set CODEX_API_KEY".to_owned(),
        "opencode" => "run `opencode auth login`, or set the key of its provider".to_owned(),
        agent => format!("log in to {agent}"),
    }
}

fn answer(run: &Run, choice: Choice) -> Next {
    let purpose = match choice {
        Choice::Apply => "apply the champion",
        Choice::Keep => "leave the skill unchanged",
    };
    let command = format!("skilltune resume {} --answer {}", run.plan.run, choice.word());
    // After the comparison no agent is called any more.
    Next { command, purpose, calls: false }
}
