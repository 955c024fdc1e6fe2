//! Texts for a run and its parts, shared by the report and the terminal.

use std::fmt::Display;
use std::path::Path;

use skilltune_phases::base::model::{ModelName, Models};
use skilltune_phases::base::name::Name;
use skilltune_phases::base::role::{ByRole, Role};
use skilltune_phases::loops::{Loop, MostCalls};
use skilltune_phases::runs::event::{Failure, FailureKind, Pause, PlacedBy};
use skilltune_phases::runs::plan::{Cast, Enforced, Roles};
use skilltune_phases::runs::proposal::Proposal;
use skilltune_phases::runs::run::{Recast, Run};

use crate::report::ui::Ui;
use crate::text::figures::{count, grouped};
use crate::text::plain;

/// Describes the maximum number of agent calls of a run.
pub fn most_calls(most: &MostCalls, roles: &Roles) -> String {
    let by = |(role, calls): (&Role, &u64)| {
        format!("{} by the {role} ({})", grouped(*calls), roles.of(role).shown())
    };
    let each: Vec<String> = most.iter().map(by).collect();
    format!("at most {} calls: {}", grouped(most.values().sum()), each.join(", "))
}

pub fn cast(cast: &Cast) -> String {
    cast.shown()
}

/// Lists the agent of each role; names it once if all roles have the same agent.
pub fn roles(roles: &Roles) -> String {
    let agents = roles.map(cast);
    agents.same().map_or_else(|| each(&agents, ", "), |agent| format!("{agent} in all roles"))
}

/// Lists each role with its value.
pub fn each(all: &ByRole<impl Display>, separator: &str) -> String {
    all.iter().map(|(role, one)| format!("{role} {one}")).collect::<Vec<_>>().join(separator)
}

/// Returns the warnings about the agents that matter before a user trusts a result.
pub fn remarks(roles: &Roles) -> Vec<String> {
    let lenient = |family| {
        format!(
            "the judge and the executor use the same model family ({family}); such a judge tends to be lenient"
        )
    };
    let world = "the agents use your own setup (--isolation user): your settings, memory, hooks, servers and skills affect the result";
    let world = roles.in_user_world().then(|| world.to_owned());
    let wrapped = |via| {
        let works = "the executor and the improver have all your rights, and only the prompt keeps the judge from writing";
        let world = "your own settings apply unless you pass --isolation fresh; costs are unknown";
        format!("{via} does not enforce the rights of roles: {works}; {world}")
    };
    let inside = |wrap| {
        format!(
            "the agents run in {wrap} (calls.wrap), which decides what they can read and write; skilltune does not confine them itself"
        )
    };
    let lenient = roles.own_judge().map(lenient).into_iter();
    lenient.chain(world).chain(roles.wrapper().map(wrapped)).chain(roles.wrap().map(inside)).collect()
}

/// Says that agents do not get these symlinks of a folder.
pub fn not_placed(folder: &str, links: &[String]) -> Option<String> {
    (!links.is_empty()).then(|| {
        let text = format!(
            "agents do not get the symlinks that lead out of {folder}, and no edit changes them: {}",
            links.join(", ")
        );
        plain::one_line(&text)
    })
}

/// Lists agents that changed during a pause of the run, and models that scores depend on and that changed.
pub fn changes<L: Loop>(run: &Run<L>) -> impl Iterator<Item = String> {
    run.recasts.iter().map(recast).chain(mixed(run))
}

/// Warns if the judge's answers, or others that scores depend on, came from more than one model.
pub fn mixed<L: Loop>(run: &Run<L>) -> impl Iterator<Item = String> {
    let is_measure = |role: &Role| L::spec(&run.plan, role).is_some_and(|spec| spec.is_measure);
    // Scores before and after a changed agent are not compared anyway.
    let is_same = |role: &Role| run.recasts.iter().all(|recast| recast.role != *role);
    let mixed =
        run.models.iter().filter(move |(role, models)| models.len() > 1 && is_measure(role) && is_same(role));
    mixed.map(|(role, models)| {
        let models = answered(models);
        format!("several models answered as the {role}: {models}; scores within this run are not comparable")
    })
}

/// Lists the models that answered in each role, if the agents report them.
pub fn models<L: Loop>(run: &Run<L>) -> Option<String> {
    let is_known = |(_, models): &(&Role, &Models)| !models.is_empty();
    let known: ByRole<String> =
        run.models.iter().filter(is_known).map(|(role, models)| (role.clone(), answered(models))).collect();
    let is_whole = run.models.values().all(|models| !models.is_empty());
    match known.same() {
        Some(model) if is_whole => Some(format!("{model} in all roles")),
        _ => known.values().next().map(|_| each(&known, "; ")),
    }
}

/// Returns one name, or several with the number of their answers.
fn answered(models: &Models) -> String {
    /// An agent may report a different model for each call.
    const MOST: usize = 4;
    if let [only] = models.keys().collect::<Vec<_>>().as_slice() {
        return only.to_string();
    }
    let calls = |(model, calls): (&ModelName, &u32)| format!("{model} ({})", count(*calls as usize, "call"));
    let mut parts: Vec<String> = models.iter().take(MOST).map(calls).collect();
    if models.len() > MOST {
        parts.push(format!("and {}", count(models.len() - MOST, "other")));
    }
    parts.join(", ")
}

pub fn recast(Recast { role, agent, parts, is_measure, .. }: &Recast) -> String {
    let text = format!("the {role} ({agent}) changed since the run began: {}", parts.join(", "));
    if *is_measure { format!("{text}; earlier scores are not compared with later ones") } else { text }
}

/// Describes what enforces the rights of each role.
pub fn rights(roles: &Roles) -> String {
    let rights = roles.map(|cast| enforced(cast.rights));
    rights.same().map_or_else(|| each(&rights, "; "), |rights| format!("{rights}, in all roles"))
}

fn enforced(rights: Enforced) -> &'static str {
    match rights {
        Enforced::SystemAndAgent => "enforced by the system and the agent",
        Enforced::System => "enforced by the system",
        Enforced::Agent => "enforced by the agent, not by the system",
        Enforced::Wrapper => "left to the wrapper, not enforced by skilltune",
        Enforced::WrapperAndAgent => "enforced by the agent, otherwise left to the wrapper",
        Enforced::Nobody => "not enforced",
    }
}

/// Describes a failed step and why it failed.
pub fn failed<L: Ui>(run: &Run<L>, step: &L::Step, failure: &Failure) -> String {
    format!("{}: {}: {}", L::step(run, step), self::failure(failure.kind), failure.why)
}

pub fn failure(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::TimedOut => "timed out",
        FailureKind::NoResponse => "timed out before the model answered",
        FailureKind::Crashed => "exited with an error",
        FailureKind::Empty => "returned an empty answer",
        FailureKind::OffSchema => "returned an invalid answer",
        FailureKind::TooLarge => "produced too much output",
        FailureKind::Gate => "made no valid change",
        FailureKind::Refused => "refused the task",
        FailureKind::TurnLimit => "reached its turn limit",
        FailureKind::OutputLimit => "reached its output limit",
        FailureKind::BudgetLimit => "reached its budget limit",
        FailureKind::DeniedTool => "was denied a tool that it needed",
        FailureKind::RateLimited => "is rate-limited",
        FailureKind::UsageLimit => "reached its usage limit",
        FailureKind::NoCredit => "has no credit left",
        FailureKind::Overloaded => "found its service overloaded",
        FailureKind::Network => "could not reach its service",
        FailureKind::Authentication => "is not logged in",
        FailureKind::Forbidden => "was refused by its service",
        FailureKind::ModelNotFound => "cannot find the model",
        FailureKind::PromptTooLong => "got a prompt that is too long",
        FailureKind::Breach => "changed files that it must not change",
        FailureKind::UsageError => "rejected its arguments",
        FailureKind::NotSetUp => "is not set up here",
        FailureKind::NotTrusted => "was not started",
        FailureKind::WorkerLost => "was lost with its worker",
        FailureKind::NoWorker => "has no worker",
    }
}

/// Says where the calls are made from here on.
pub fn workers(names: &[String]) -> String {
    match names {
        [] => "this machine makes the calls from here on".to_owned(),
        names => plain::one_line(&format!("{} make the calls from here on", names.join(", "))),
    }
}

/// Says that a worker makes no such calls.
pub fn refused(worker: &str, why: &str) -> String {
    plain::one_line(&format!("worker {worker} makes no such calls: {why}"))
}

pub fn pause(pause: Pause) -> &'static str {
    match pause {
        Pause::Interrupted => "was interrupted; progress is saved",
        Pause::Terminated => "was terminated; progress is saved",
        Pause::Stopped => "was stopped; progress is saved",
        Pause::Exported => "waits for the replies to its exported calls; progress is saved",
        Pause::Blocked | Pause::Ceiling(_) => "is paused; progress is saved",
    }
}

pub fn placing<L: Ui>(by: PlacedBy) -> String {
    match by {
        PlacedBy::Apply => "applying a candidate".to_owned(),
        PlacedBy::Rollback => format!("restoring the {} to its state before the run", L::TARGET),
    }
}

/// Returns whether the last command that replaced the skill restored its state before the run.
pub fn is_rolled_back<L: Ui>(run: &Run<L>) -> bool {
    run.placed == Some(PlacedBy::Rollback)
}

pub fn placed<L: Ui>(by: PlacedBy) -> String {
    match by {
        PlacedBy::Apply => "candidate applied".to_owned(),
        PlacedBy::Rollback => format!("rolled back: the {} is as it was before the run", L::TARGET),
    }
}

/// Returns the branch of a commit, quoted for a shell because someone else may have written the journal.
pub fn branch(proposal: &Proposal) -> Option<String> {
    let branch = proposal.branch.as_ref()?;
    Some(plain::one_line(&plain::shell_path(Path::new(&**branch))))
}

/// Returns the remote that has its branch, quoted for a shell.
pub fn remote(proposal: &Proposal) -> Option<String> {
    let remote = proposal.remote.as_ref()?;
    Some(plain::one_line(&plain::shell_path(Path::new(&**remote))))
}

/// Returns the address of its pull request, quoted for a shell.
pub fn pull_request(proposal: &Proposal) -> Option<String> {
    let address = proposal.pull_request.as_ref()?;
    Some(plain::one_line(&plain::shell_path(Path::new(&**address))))
}

/// Returns the path of its patch in the folder of the run, quoted for a shell.
pub fn patch(proposal: &Proposal, folder: &Path) -> Option<String> {
    let name: Name = proposal.patch.as_ref()?.parse().ok()?;
    Some(plain::shell_path(&folder.join(name.as_str())))
}

pub fn proposed(proposal: &Proposal) -> String {
    format!("someone {}", made(proposal))
}

pub fn made(proposal: &Proposal) -> String {
    if let Some(address) = pull_request(proposal) {
        return format!("made the pull request {address}");
    }
    match (branch(proposal), &proposal.patch) {
        (Some(branch), _) => format!("made a commit on branch {branch}"),
        (None, Some(patch)) => format!("made the patch {patch}"),
        (None, None) => format!("made commit {}", proposal.commit),
    }
}

/// Describes a commit and how to apply it.
pub fn commit(proposal: &Proposal) -> String {
    match (branch(proposal), &proposal.patch) {
        (Some(branch), _) if let Some(address) = pull_request(proposal) => {
            format!("the pull request {address}, from branch {branch}")
        }
        (Some(branch), _) => format!("a commit on branch {branch}; `git merge {branch}` merges it"),
        (None, Some(patch)) => {
            format!("the patch {} in the run's folder; `git am` applies it", plain::one_line(patch))
        }
        (None, None) => format!("commit {}", plain::one_line(&proposal.commit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_that_somebody_else_wrote_is_one_word_of_a_shell() {
        let named = |branch: &str| {
            let (commit, base, branch) = ("a".into(), "b".into(), Some(branch.into()));
            let (remote, pull_request, patch, notes) = (None, None, None, Vec::new());
            super::branch(&Proposal { commit, base, branch, remote, pull_request, patch, notes })
        };
        assert_eq!(named("skilltune/a+b").as_deref(), Some("skilltune/a+b"));
        assert_eq!(named("x; rm 'y'\nz").as_deref(), Some(r"'x; rm '\''y'\'' z'"));
    }

    #[test]
    fn the_page_of_failures_has_the_words_for_each_kind() {
        let page = include_str!("../../../docs/failures.md");
        let rows: Vec<(&str, &str)> =
            page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | ")).collect();
        assert!(rows.len() > 17, "{rows:?}");
        for (kind, rest) in rows {
            let known = serde_json::from_str(&format!("{kind:?}")).unwrap();
            assert_eq!(rest.split(" | ").next(), Some(failure(known)), "{kind}");
        }
    }
}
