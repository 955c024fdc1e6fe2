//! The messages of `apply` and `rollback`: what they did, and why they refused.

use std::io::ErrorKind;
use std::path::Path;

use serde_json::{Value, json};
use skilltune_orchestrator::snapshot::Conflict;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::tune::Tune;
use skilltune_phases::runs::event::PlacedBy;
use skilltune_phases::runs::proposal::Proposal;
use skilltune_phases::skills::candidate::Candidate;
use skilltune_phases::skills::target::Member;

use crate::loops::tune::apply::{Edits, Placing};
use crate::loops::tune::words::target;
use crate::report::words::{branch, patch, pull_request, remote};
use crate::runs::Known;
use crate::terminal::complaint::Complaint;
use crate::text::plain;

pub fn already(known: &Known<Tune>, placing: &Placing) -> String {
    let (skill, id) = (target(&known.run), &known.run.plan.run);
    if placing.to.id == known.run.start() {
        format!("{skill} is already in its state before run {id}")
    } else {
        format!("{skill} already has this content of run {id}")
    }
}

/// Returns the answer to `apply` of a run that has nothing to apply.
pub fn nothing(known: &Known<Tune>) -> String {
    format!(
        "nothing to apply to {}: the search of run {} made no candidate",
        target(&known.run),
        known.run.plan.run
    )
}

/// Returns what was done, how to undo it, and where the replaced version is kept if it is not a candidate.
pub fn done(known: &Known<Tune>, found: &[TreeId], placing: &Placing) -> Vec<String> {
    let (id, displaced) = (&known.run.plan.run, Candidate::original(found.to_vec()));
    let short = displaced.id.short();
    let champion = known.run.state.shipment.as_ref().map(|shipment| shipment.champion);
    let undo = match displaced.id {
        start if start == known.run.start() => format!("skilltune rollback {id}"),
        one if champion == Some(one) => format!("skilltune apply {id}"),
        _ => format!("skilltune apply {id} {short}"),
    };
    let mut lines = vec![format!("{}; `{undo}` undoes this", said(known, placing))];
    if known.run.candidate(displaced.id).is_none() {
        lines.push(format!(
            "the replaced version is kept as {short}; `skilltune export {id} {short} DIR` copies it"
        ));
    }
    lines
}

/// Returns what was done as one object.
pub fn json(known: &Known<Tune>, replaced: Option<Vec<TreeId>>, placing: &Placing) -> Value {
    let outcome = match (&replaced, &placing.merged, placing.by) {
        (None, _, _) => "unchanged",
        (Some(_), Some(_), _) => "merged",
        (Some(_), None, PlacedBy::Apply) => "applied",
        (Some(_), None, PlacedBy::Rollback) => "restored",
    };
    let paths: Vec<_> = known.targets().iter().map(|path| path.display().to_string()).collect();
    json!({
        "run_id": known.run.plan.run,
        "outcome": outcome,
        "version": placing.to.id,
        "replaced": replaced.map(|trees| Candidate::original(trees).id),
        "paths": paths,
    })
}

fn said(known: &Known<Tune>, Placing { to, merged, .. }: &Placing) -> String {
    if let Some(candidate) = merged {
        return format!("candidate {} merged with your edits", candidate.short());
    }
    if to.id == known.run.start() {
        return format!("{} restored", target(&known.run));
    }
    let what = if known.run.candidate(to.id).is_some() { "candidate" } else { "version" };
    format!("{what} {} applied to {}", to.id.short(), target(&known.run))
}

/// Reports an edited target. Both versions are kept: the user's in the target and in the store, ours in the store.
pub fn edited(known: &Known<Tune>, found: &[TreeId], placing: &Placing) -> Complaint {
    let complaint =
        Complaint::conflict(format!("{} changed since run {}", targets(known), known.run.plan.run))
            .caused_by(nothing_replaced(found));
    let merge = format!("to merge your edits with it, run `{} --merge`", placing.command);
    let complaint = match placing.by {
        PlacedBy::Apply if placing.edits == Edits::Refuse => complaint.hint(merge),
        PlacedBy::Apply | PlacedBy::Rollback => complaint,
    };
    anyway(complaint, known, placing)
}

/// Reports that the user's edits and a candidate conflict; nothing was changed.
pub fn conflicts(
    known: &Known<Tune>,
    conflicts: &[(&Member, Conflict)],
    found: &[TreeId],
    placing: &Placing,
) -> Complaint {
    let candidate = placing.to.id.short();
    let complaint =
        Complaint::conflict(format!("candidate {candidate} and your edits of {} conflict", targets(known)));
    let cause = |complaint: Complaint, (member, conflict): &(&Member, Conflict)| {
        let path = plain::one_line(&conflict.path.to_string());
        let path = if known.run.plan.is_chain() { format!("{}/{path}", member.name) } else { path };
        complaint.caused_by(format!("{path}: {}", conflict.kind.sentence()))
    };
    let complaint = conflicts.iter().fold(complaint, cause).caused_by(nothing_replaced(found));
    anyway(complaint, known, placing)
}

/// Reports a merge without a base: the target may already be a merge.
pub fn no_base(known: &Known<Tune>, placing: &Placing) -> Complaint {
    let complaint = Complaint::conflict(format!("cannot merge into {}", targets(known)))
        .caused_by("the last version that skilltune wrote there is not a candidate of this run");
    anyway(complaint, known, placing)
}

pub fn no_known_base(known: &Known<Tune>, placing: &Placing) -> Complaint {
    let complaint = Complaint::conflict(format!("cannot merge into {}", targets(known)))
        .caused_by("an earlier command was interrupted, so skilltune does not know which version you edited");
    anyway(complaint, known, placing)
}

fn targets(known: &Known<Tune>) -> String {
    let targets: Vec<_> = known.targets().iter().map(|path| path.display().to_string()).collect();
    targets.join(", ")
}

fn nothing_replaced(found: &[TreeId]) -> String {
    let kept: Vec<_> = found.iter().map(TreeId::short).collect();
    format!("nothing was replaced; the edited version is kept as {}", kept.join(", "))
}

fn anyway(complaint: Complaint, known: &Known<Tune>, placing: &Placing) -> Complaint {
    complaint
        .hint(format!("to replace it anyway, run `{} --force`", placing.command))
        .hint(format!("to look at it first, run `{}`", export(known, placing, "DIR")))
}

/// Reports an error after the target was replaced.
pub fn changed(complaint: Complaint, missing: &str, placing: &Placing) -> Complaint {
    complaint
        .after(format!("the skill was replaced, but {missing}"))
        .hint(format!("fix the cause, then run `{}` to finish", placing.command))
}

/// Refuses a missing folder: it cannot be replaced, and another command restores it.
pub fn refuse_what_is_gone(known: &Known<Tune>, placing: &Placing) -> Result<(), Complaint> {
    let mut members = known.run.plan.task.target.members.iter();
    let Some((member, gone)) = members.find_map(|member| Some((member, Gone::look(&member.path)?))) else {
        return Ok(());
    };
    let path = plain::shell_path(Path::new(&member.path));
    let command = if known.run.plan.is_chain() {
        // The members of a chain are exported side by side, wherever they were.
        format!("{}, then move DIR/{} to {path}", export(known, placing, "DIR"), member.name)
    } else {
        export(known, placing, &path)
    };
    Err(match gone {
        Gone::Away => Complaint::input(format!("the skill is missing: {} does not exist", member.path))
            .hint(format!("to restore it, run `{command}`")),
        Gone::Covered => Complaint::input(format!("the skill is missing: {} is not a folder", member.path))
            .hint(format!("move the file away, then run `{command}`")),
    })
}

/// The reason why a target is missing.
enum Gone {
    Away,
    /// The path is not a folder.
    Covered,
}

impl Gone {
    fn look(path: &str) -> Option<Self> {
        match Path::new(path).symlink_metadata() {
            Ok(meta) if meta.is_dir() => None,
            Ok(_) => Some(Self::Covered),
            Err(error) if error.kind() == ErrorKind::NotFound => Some(Self::Away),
            // The command that opens it reports the error.
            Err(_) => None,
        }
    }
}

fn export(known: &Known<Tune>, placing: &Placing, into: &str) -> String {
    let start = placing.to.id == known.run.start();
    let version = if start { "start".to_owned() } else { placing.to.id.short() };
    format!("skilltune export {} {version} {into}", known.run.plan.run)
}

/// Returns what was made, and what to do with it.
pub fn proposed(known: &Known<Tune>, candidate: &Candidate, proposal: &Proposal) -> Vec<String> {
    let short = candidate.id.short();
    let notes = proposal.notes.iter().map(|note| plain::one_line(note));
    let made = match (branch(proposal), patch(proposal, known.folder.root())) {
        (Some(branch), _) if let Some(address) = pull_request(proposal) => format!(
            "candidate {short} is the pull request {address}; `gh pr merge {address}` merges it, `gh pr close {address}` discards it; branch {branch} has it too"
        ),
        (Some(branch), _) => format!(
            "candidate {short} is a commit on branch {branch}; `git merge {branch}` merges it, `git branch -D {branch}` deletes it"
        ),
        (None, Some(path)) => format!("candidate {short} is a patch; `git am {path}` applies it"),
        (None, None) => format!("candidate {short} is commit {}", plain::one_line(&proposal.commit)),
    };
    notes.chain([made]).collect()
}

/// Returns how to delete a proposal, because a rollback changes no repository.
pub fn undo_proposal(known: &Known<Tune>, proposal: &Proposal) -> String {
    match (branch(proposal), patch(proposal, known.folder.root())) {
        _ if let Some(address) = pull_request(proposal) => {
            format!(
                "the pull request {address} is unchanged; `gh pr close --delete-branch {address}` discards it"
            )
        }
        (Some(branch), _) if let Some(remote) = remote(proposal) => format!(
            "branch {branch} is unchanged, here and on {remote}; `git branch -D {branch}` and `git push --delete {remote} {branch}` delete it"
        ),
        (Some(branch), _) => format!("branch {branch} is unchanged; `git branch -D {branch}` deletes it"),
        (None, Some(path)) => format!("the patch {path} is unchanged; delete it if you do not want it"),
        (None, None) => format!("commit {} is unchanged", plain::one_line(&proposal.commit)),
    }
}
