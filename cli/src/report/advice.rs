//! Commands to suggest during or after a run.

use skilltune_phases::loops::Loop;
use skilltune_phases::runs::event::{Failure, FailureKind};
use skilltune_phases::runs::remedy::Remedy;
use skilltune_phases::runs::run;

use crate::report::ceilings;
use crate::report::ui::Ui;
use crate::text::figures;

/// Returns the command that resumes a run; a run paused at a ceiling needs a higher one.
pub fn resume<L: Loop>(run: &run::Run<L>) -> String {
    let flags = ceilings::flags(run).map_or(String::new(), |flags| format!(" {flags}"));
    format!("skilltune resume {}{flags}", run.plan.run)
}

/// Returns how to unblock a run.
pub fn unblock<L: Ui>(run: &run::Run<L>, failed: &run::FailedCall<L>) -> String {
    let cast = L::role(&failed.step).map(|role| run.plan.roles.of(&role));
    let fix = fix(cast.map_or("the agent", |cast| cast.agent.as_str()), &failed.failure);
    let asks = if failed.failure.until.is_none() { " and retries from time to time" } else { "" };
    let resume = format!("{} --wait", resume(run));
    match failed.failure.kind.remedy() {
        Remedy::Wait => format!("{fix}; `{resume}` waits for it{asks}"),
        Remedy::Repeat => format!("{fix}; `{resume}` retries until then; {ONLY_THE_REST}"),
        Remedy::Fix | Remedy::Tell => fix,
    }
}

const ONLY_THE_REST: &str = "only unanswered calls are repeated";

/// Returns how a person can fix a failure that no retry fixes.
pub fn fix(agent: &str, failure: &Failure) -> String {
    match (failure.kind.remedy(), failure.kind) {
        (Remedy::Wait, _) => match failure.until {
            Some(until) => format!("resume after {}, when the limit resets", figures::moment(until)),
            None => format!("resume when the limit of {agent} resets"),
        },
        (Remedy::Repeat, _) => format!("resume when the service of {agent} is back"),
        (Remedy::Fix, FailureKind::Authentication) => login(agent),
        (Remedy::Fix, FailureKind::NoCredit) => {
            format!("add credit to the account of {agent}, or log in with another account")
        }
        (Remedy::Fix, FailureKind::Forbidden) => {
            format!("check what the account of {agent} may use: its plan, organization, region or proxy")
        }
        (Remedy::Fix, FailureKind::ModelNotFound) => {
            format!("start a new run with a model that {agent} has: --agent {agent}:MODEL")
        }
        (Remedy::Fix, FailureKind::BudgetLimit) => {
            format!("raise the spending limit of {agent} in its own settings")
        }
        (Remedy::Fix, FailureKind::NotSetUp) => "fix that, then retry".to_owned(),
        (Remedy::Fix, FailureKind::NotTrusted) => {
            "restore the file, or read it; `skilltune resume` asks whether you trust it".to_owned()
        }
        (Remedy::Fix | Remedy::Tell, _) => {
            format!("run `skilltune doctor` to check {agent}; you may have to update it")
        }
    }
}

/// Returns how to log in to an agent.
pub fn login(agent: &str) -> String {
    match agent {
        "claude" => "start `claude` and type /login, or set ANTHROPIC_API_KEY".to_owned(),
        "gemini" => "start `gemini` and log in, or set GEMINI_API_KEY".to_owned(),
        "codex" => "run `codex login`, or set CODEX_API_KEY".to_owned(),
        "opencode" => "run `opencode auth login`, or set the key of its provider".to_owned(),
        agent => format!("log in to {agent}"),
    }
}
