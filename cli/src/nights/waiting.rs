//! The verdicts that still wait for a person, as this machine finds them each morning.
//!
//! The journal of nights only names runs, and it may have come with a repository. So a folder is looked at only for a
//! run that this user began on this machine, and `gh` is asked only about the pull request of such a run.

use skilltune_orchestrator::git::ProposalState;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::base::name::Name;
use skilltune_phases::loops::tune::Tune;
use skilltune_phases::nights::night::{Event, History, Morning, Place, Waiting};
use skilltune_phases::runs::plan::RunId;
use skilltune_phases::runs::proposal::Proposal;

use crate::casting::git;
use crate::loops::tune::winner::{Fate, Winner};
use crate::nights::file::NightPlan;
use crate::nights::jobs;
use crate::nights::outcome::place_of;
use crate::nights::secrets::Secrets;
use crate::runs::ownership::Ownership;
use crate::runs::{Known, Runs, commit};
use crate::terminal::environment::Environment;

/// Returns the report of the last night with the verdicts that still wait.
pub fn morning<'a>(history: &'a History, plan: &NightPlan, env: &Environment) -> Option<Morning<'a>> {
    Morning::with(history, still_waiting(history, plan, env))
}

/// Returns the verdicts of a journal without winners that were taken, declined or outdated since, and without open
/// verdicts of jobs that the file no longer has. This looks at the skills, runs git, and asks `gh`.
pub fn still_waiting(history: &History, plan: &NightPlan, env: &Environment) -> Vec<Waiting> {
    let (won, mut open): (Vec<Waiting>, Vec<Waiting>) =
        history.waiting().iter().cloned().partition(Waiting::is_winner);
    if !open.is_empty()
        && let Ok(jobs) = jobs::all(plan)
    {
        open.retain(|one| jobs.iter().any(|job| job.name == one.job));
    }
    winners(&won, plan, env).into_iter().chain(open).collect()
}

/// Returns what the journal of a shard says, at the end of its night, about verdicts of earlier nights.
pub fn events(history: &History, still: &[Waiting]) -> Vec<Event> {
    let Some(night) = history.last() else { return Vec::new() };
    let is_of_tonight = |one: &&Waiting| {
        night.done.iter().any(|done| done.job == one.job && done.outcome.run.as_ref() == Some(&one.run))
    };
    let earlier = history.waiting().iter().filter(|one| !is_of_tonight(one));
    let known = earlier.map(|one| (&one.job, &one.run)).chain(history.dismissed());
    let event = |(job, run): (&Name, &RunId)| {
        let waiting = still.iter().find(|still| still.is_of(job, run)).cloned().map(Box::new);
        Event::Waits { job: job.clone(), run: run.clone(), waiting }
    };
    known.map(event).collect()
}

/// A run of this user on this machine, with its store.
struct Stored {
    known: Known<Tune>,
    objects: Objects,
}

impl Stored {
    fn of(one: &Waiting, env: &Environment) -> Option<Self> {
        let ownership = Ownership::new(env);
        let project = ownership.project_of(one.run.as_str())?;
        let runs = Runs::of(&project, env).ok()?;
        let known = runs.load::<Tune>(&one.run).ok()?;
        ownership.require(&known).ok()?;
        // Another machine may use the same id.
        let is_same = known.run.start().0 == one.start;
        is_same.then(|| Self { objects: Objects::at(runs.home.objects()), known })
    }

    fn winner(&self) -> Option<(Winner<'_>, &Objects)> {
        Some((Winner::of(&self.known)?, &self.objects))
    }
}

/// Returns the winners that still wait, each with its place now. They are in the order of their nights.
fn winners(all: &[Waiting], plan: &NightPlan, env: &Environment) -> Vec<Waiting> {
    let stored: Vec<Option<Stored>> = all.iter().map(|one| Stored::of(one, env)).collect();
    let known: Vec<Option<(Winner<'_>, &Objects)>> =
        stored.iter().map(|one| one.as_ref().and_then(Stored::winner)).collect();
    let is_in_later = |nth: usize| {
        all[nth + 1..].iter().any(|later| later.has_version_of(&all[nth]))
            || known[nth].is_some_and(|(winner, objects)| {
                known[nth + 1..].iter().flatten().any(|(later, _)| winner.is_in(later, objects))
            })
    };
    let now = |(nth, one): (usize, &Waiting)| match known[nth] {
        _ if is_in_later(nth) => None,
        Some((winner, objects)) => updated(one, &winner, objects, env),
        None => elsewhere(one, plan, env),
    };
    all.iter().enumerate().filter_map(now).collect()
}

/// Returns a winner of this machine with the place where it is now, if it waits.
fn updated(one: &Waiting, winner: &Winner<'_>, objects: &Objects, env: &Environment) -> Option<Waiting> {
    let fate = winner.fate(objects, env);
    let mut one = one.clone();
    if let Some(proposal) = winner.proposal() {
        one.decided.place = place_of(proposal);
        one.decided.commit = Some(proposal.commit.clone());
        let secrets = Secrets::of(env);
        one.decided.notes = proposal.notes.iter().map(|note| secrets.hide(note)).collect();
    }
    match (fate, &one.decided.place) {
        (Fate::Taken | Fate::Declined | Fate::Outdated, _) => return None,
        (Fate::Branchless, Place::Branch(branch)) => {
            let note = format!("branch {branch} was deleted, or has another winner now");
            one.decided.notes = vec![note.into()];
            one.decided.place = Place::Kept;
        }
        (Fate::Branchless | Fate::Waits, _) => {}
    }
    Some(one)
}

/// Returns a winner whose run is not one of this user on this machine, if it waits as far as is known here.
fn elsewhere(one: &Waiting, plan: &NightPlan, env: &Environment) -> Option<Waiting> {
    let state = state_here(one, plan, env);
    let is_kept = || {
        let runs = Runs::of(&env.project_of(&plan.file.path), env);
        runs.is_ok_and(|runs| runs.home.run(&one.run).history().is_file())
    };
    let still = match &one.decided.place {
        _ if state == Some(ProposalState::Merged) => false,
        // The machine of the shard has the run.
        _ if one.shard.is_some() || is_kept() => true,
        Place::Branch(_) | Place::PullRequest(_) => state != Some(ProposalState::Gone),
        // Only the run had it, and a person deleted the run.
        Place::Kept | Place::Patch(_) | Place::Conflict | Place::Applied | Place::Nowhere => false,
    };
    still.then(|| one.clone())
}

/// Returns the state of its commit in the repository of the file of jobs.
fn state_here(one: &Waiting, plan: &NightPlan, env: &Environment) -> Option<ProposalState> {
    let branch = match &one.decided.place {
        // A branch of another machine was never here.
        Place::Branch(branch) if one.shard.is_none() => Some(branch.clone()),
        _ => None,
    };
    let proposal = Proposal {
        commit: one.decided.commit.clone()?,
        base: Box::default(),
        branch,
        remote: None,
        pull_request: None,
        patch: None,
        notes: Vec::new(),
    };
    let (program, folder) = (git(env).ok()?, plan.folder.clone());
    let found =
        commit::with_git(&program, move |git| ProposalState::of(git, &folder, &proposal).map_err(Into::into));
    found.ok()?.ok()
}
