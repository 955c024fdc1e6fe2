//! `apply --as`: makes a commit of a candidate, which the user merges or deletes. The skill is unchanged.

use serde_json::json;
use skilltune_orchestrator::engine::propose_now;
use skilltune_phases::loops::tune::results::proposing;
use skilltune_phases::loops::tune::{Answer, Event, Tune};
use skilltune_phases::runs::event::Signal;
use skilltune_phases::runs::proposal::{Form, Proposal};
use skilltune_phases::skills::candidate::Candidate;

use super::words;
use crate::casting::git;
use crate::report::outcome;
use crate::runs::ownership::Ownership;
use crate::runs::scope::Scope;
use crate::runs::{Known, commit, session, store_check};
use crate::settings::values::Format;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::exit::Exit;

pub(super) fn run(
    scope: &Scope<'_>,
    known: &Known<Tune>,
    to: &Candidate,
    (form, format): (Form, Format),
) -> Result<Exit, Complaint> {
    let (runs, env) = (&scope.runs, scope.env);
    Ownership::new(env).require(known)?;
    if to.id == known.run.start() {
        return Err(Complaint::input("the run has no better version to propose")
            .hint("name a candidate; `skilltune show` lists them"));
    }
    let id = &known.run.plan.run;
    let _locks = session::lock(env, scope.printer, &known.targets(), id.as_str())?;
    let mut known: Known<Tune> = runs.load(id)?;
    let _in_use = runs.home.hold().map_err(ours)?;
    store_check::require(&scope.objects(), &known.run.state.candidates[0].trees)?;
    store_check::require(&scope.objects(), &to.trees)?;
    let program =
        git(scope.env).map_err(|_| commit::no_git().hint("omit --as to replace the skill itself"))?;
    let propose = proposing::propose(&known.run, to, form);
    let (folder, objects) = (known.folder.clone(), scope.objects());
    let made = commit::with_git(&program, move |git| propose_now(propose, (&objects, &folder), git))?;
    let proposal = made.map_err(|error| commit::refused(&error))?;
    let lines = words::proposed(&known, to, &proposal);
    let run = &known.run.plan.run;
    let object = json!({ "run_id": run, "outcome": "proposed", "version": to.id, "proposal": proposal });
    if newest(&known) != Some(&proposal) {
        let mut journal = known.open_journal()?;
        known.note(&mut journal, Signal::Proposed(proposal))?;
    }
    session::settle(env, scope.printer, &runs.home, &known.run)?;
    outcome::print(format, scope.printer, &lines, &object)
}

/// Returns the newest commit of a version of the run.
pub fn newest(known: &Known<Tune>) -> Option<&Proposal> {
    known.records.iter().rev().find_map(|record| match &record.event {
        Event::Noted(Signal::Proposed(proposal)) => Some(proposal),
        Event::Done(done) => match &done.outcome {
            Ok(Answer::Proposed(proposal)) => Some(&**proposal),
            _ => None,
        },
        Event::Started(_) | Event::Decided(_) | Event::Noted(_) => None,
    })
}
