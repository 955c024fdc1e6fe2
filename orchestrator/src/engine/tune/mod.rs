//! What the engine does for `tune` alone: artifacts and drafts are read, a person is asked, the champion is promoted.

mod draft;
mod pages;

use std::path::Path;

use skilltune_phases::delivery::SkillUse;
use skilltune_phases::event::{Failure, FailureKind};
use skilltune_phases::loops::tune::state;
use skilltune_phases::loops::tune::{Decision, INPUT, Order, Outcome, Run, Step, Tune};
use skilltune_phases::order::Order as _;
use skilltune_phases::role::Role;

use super::desk::{failed, not_ours};
use super::{Craft, EngineError, Hands, Remains, Workshop};
use crate::agent::Talk;
use crate::promote::{self, Move, Promotion};
use crate::snapshot::{Manifest, Objects, capture_left};
use crate::store::RunFolder;

pub use pages::{Diff, Pages, tree_diff};

impl Craft for Tune {
    type Pages = Pages;

    fn read(shop: &Workshop, order: &Order, remains: &Remains<'_>) -> Result<Outcome, EngineError> {
        let Remains { answer, denied, .. } = *remains;
        let mut outcome = match order.role() {
            Role::Executor => artifacts(shop, order, remains)?,
            Role::Evaluator if answer.trim().is_empty() => {
                failed(FailureKind::Empty, "no text at all").into()
            }
            Role::Evaluator => order.judge(answer),
            Role::Improver => {
                draft::read(&shop.objects, shop.limits.artifacts, order, remains.space, answer)?
            }
        };
        outcome = explained(outcome, denied);
        if let Outcome::Exercised { skill, .. } = &mut outcome {
            *skill = skill_use(order, remains.talk, remains.space);
        }
        Ok(outcome)
    }

    fn own(run: &Run, step: &Step, hands: Hands<'_, Self>) -> Result<Option<Outcome>, EngineError> {
        match step {
            Step::Ask(_) => Ok(hands.person.ask(run, step)),
            Step::Promote { .. } => promote(run, step, hands).map(Some),
            Step::Exercise { .. } | Step::Judge { .. } | Step::Improve { .. } => Err(EngineError::Stuck),
        }
    }

    fn project(shop: &Workshop, run: &Run, decision: &Decision, pages: &Pages) -> Result<(), EngineError> {
        match decision {
            Decision::Open { .. } | Decision::Scored(_) | Decision::Draft(_) | Decision::NoDraft { .. } => {
                pages::write_round(shop, run, pages)
            }
            Decision::Keep(_)
            | Decision::Drop { .. }
            | Decision::Focus(_)
            | Decision::Stop(_)
            | Decision::Compare(_)
            | Decision::Ship(_)
            | Decision::Close(_) => Ok(()),
        }
    }

    /// The state is written last: when it is that of the run, so are the pages.
    fn is_published(folder: &RunFolder, run: &Run) -> bool {
        folder.state().holds(state::text(run).as_bytes())
    }

    fn publish(objects: &Objects, folder: &RunFolder, run: &Run, pages: &Pages) -> Result<(), EngineError> {
        pages::write_all(objects, folder, run, pages)
    }
}

fn promote(run: &Run, step: &Step, Hands { desk, .. }: Hands<'_, Tune>) -> Result<Outcome, EngineError> {
    desk.journal.barrier()?;
    let moves = moves(run, step).ok_or(EngineError::Stuck)?;
    // On this thread: nothing else is under way, and a promotion is not to be left in the middle.
    let promotion = promote::promote(
        &desk.locks,
        &desk.lock,
        &desk.shop.objects,
        &desk.indexes,
        run.plan.run.as_str(),
        &moves,
    )?;
    Ok(match promotion {
        Promotion::Done => Outcome::Promoted,
        Promotion::Conflict { found } => Outcome::Conflict { found },
    })
}

/// What a promotion means for each member's folder; unchanged members are named too, so that all are checked.
fn moves(run: &Run, step: &Step) -> Option<Vec<Move>> {
    let Step::Promote { from, to } = step else { return None };
    let (from, to) = (run.candidate(*from)?, run.candidate(*to)?);
    let members = run.plan.task.target.members.iter().zip(from.trees.iter().zip(&to.trees));
    Some(members.map(|(member, (&from, &to))| Move { path: (&member.path).into(), from, to }).collect())
}

/// What the executor wrote; an answer in words alone becomes `answer.md`.
fn artifacts(shop: &Workshop, order: &Order, remains: &Remains<'_>) -> Result<Outcome, EngineError> {
    let Remains { space, answer, denied, .. } = *remains;
    let fittings = shop.cast.of(Role::Executor).fittings(Role::Executor, order.installed().is_some(), "");
    let placed = order.placements().iter().filter_map(|placement| placement.at.split('/').next());
    let given: Vec<&str> =
        placed.chain([INPUT]).chain(fittings.iter().map(|fitting| fitting.folder)).collect();
    let captured = match capture_left(&shop.objects, space, "", &given, shop.limits.artifacts) {
        Ok(captured) => captured,
        Err(error) => return not_ours(error, space).map(Outcome::from),
    };
    let files = count_files(&captured.manifest);
    if files > 0 {
        return Ok(Outcome::Exercised { artifacts: captured.tree, files, skill: None });
    }
    // Words in the place of files that it was not let write are an excuse.
    if answer.trim().is_empty() || !denied.is_empty() {
        return Ok(failed(FailureKind::Empty, "no files and no text").into());
    }
    let artifacts = shop.objects.put_files(&[("answer.md", answer.as_bytes())])?;
    Ok(Outcome::Exercised { artifacts, files: 1, skill: None })
}

/// An answer that is none, where the agent was not let do what it wanted.
fn explained(outcome: Outcome, denied: &[String]) -> Outcome {
    match outcome {
        Outcome::Failed(Failure { kind: FailureKind::Empty | FailureKind::OffSchema, why, .. })
            if !denied.is_empty() =>
        {
            failed(FailureKind::DeniedTool, &format!("it was denied {}: {why}", denied.join(", "))).into()
        }
        outcome => outcome,
    }
}

/// What became of the skill, where one was installed. Agents tell real paths.
fn skill_use(order: &Order, talk: Option<&Talk>, space: &Path) -> Option<SkillUse> {
    let (installed, talk) = (order.installed()?, talk?);
    let real = space.canonicalize().unwrap_or_else(|_| space.to_owned());
    Some(talk.skill_use(installed, &real))
}

fn count_files(manifest: &Manifest) -> u64 {
    manifest.entries().iter().filter(|entry| !entry.node.is_folder()).count() as u64
}
