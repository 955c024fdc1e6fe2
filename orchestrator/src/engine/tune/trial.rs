//! The output of an executor: what it made or changed, how it used the skill, and what graded trials keep.

use std::path::Path;

use skilltune_phases::asking::order::Order;
use skilltune_phases::base::delivery::SkillUse;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::tune::{AgentRequest, Answer, Kept, WORKSPACE};
use skilltune_phases::runs::event::{Failure, FailureKind};

use super::super::{AgentOutput, ReadError, Services, call_dir, unreadable};
use crate::agent::Talk;
use crate::checks::{self, Evidence};
use crate::snapshot::{LEFT_BY_TOOLS, Manifest, RelPath, capture_left, unified};

/// The artifact that shows the changes in a repository.
const DIFF: &str = "changes.diff";

/// Reads the executor's output. For a single skill, an answer without files becomes `answer.md`. In a chain the next
/// member needs files, and the prompt says so.
pub(super) fn read(
    services: &Services,
    request: &AgentRequest,
    output: &AgentOutput<'_>,
) -> Result<Answer, ReadError> {
    let order = request.as_ref();
    let AgentOutput { space, answer, denied, talk, spent, .. } = *output;
    let agent_files = services.cast.of(&order.role).agent_files(order.rights, order.installed.is_some(), "");
    let placed = order.placements.iter().filter_map(|placement| placement.at.split('/').next());
    let placed = placed.filter(|at| *at != WORKSPACE);
    let litter = if order.rights.has_shell() { &LEFT_BY_TOOLS[..] } else { &[] };
    let given: Vec<&str> = placed
        .chain(agent_files.iter().map(|fitting| fitting.folder))
        .chain(litter.iter().copied())
        .collect();
    let captured = capture_left(&services.objects, space, "", &given, services.limits.artifacts)
        .map_err(|error| unreadable(error, space))?;
    let (mut artifacts, mut files) = produced(services, order, &captured.manifest)?;
    if files == 0 {
        // If the agent was denied writing, its text is an excuse and not an answer.
        if answer.trim().is_empty() || !denied.is_empty() {
            return Err(Failure::new(FailureKind::Empty, "no files and no text").into());
        }
        if request.is_of_chain() {
            let why = "it left no files; in a chain, words alone do not count";
            return Err(Failure::new(FailureKind::Empty, why).into());
        }
        (artifacts, files) = (services.objects.put_files(&[("answer.md", answer.as_bytes())])?, 1);
    }
    let digest = talk.and_then(|talk| talk.transcript.digest()).map(String::into_boxed_str);
    let skill = skill_use(order, talk, space);
    let kept = request.is_graded().then(|| {
        let left = whole(services, order, &captured.manifest, litter)?;
        let transcript = talk.map(|talk| &talk.transcript);
        let usage = checks::usage(spent, transcript.and_then(|transcript| transcript.end().turns), skill);
        let evidence = checks::keep(&services.objects, &Evidence { answer, transcript, usage })?;
        Ok::<_, ReadError>(Kept { left, evidence, began: began(services, order)? })
    });
    let opened = talk.and_then(|talk| request.off_limits().find(|path| talk.transcript.has_opened(path)));
    let opened = opened.map(Into::into);
    Ok(Answer::Exercised { artifacts, files, skill, digest, kept: kept.transpose()?, opened })
}

/// Stores the files that were made or changed: unchanged scenario files are not output.
fn produced(services: &Services, order: &Order, left: &Manifest) -> Result<(TreeId, u64), ReadError> {
    let Some(before) = call_dir::placed_at(&services.objects, order, WORKSPACE)? else {
        return Ok((services.objects.put_manifest(left)?, count_files(left)));
    };
    let mut made = left.since(&before.copied());
    let files = count_files(&made);
    if order.repository {
        let diff = unified(&services.objects, &before.copied(), left)?;
        made = made.with_file(DIFF, services.objects.put(diff.as_bytes())?, diff.len() as u64);
    }
    Ok((services.objects.put_manifest(&made)?, files))
}

/// Returns the initial workspace, if it depends on the version of the skill.
fn began(services: &Services, order: &Order) -> Result<Option<TreeId>, ReadError> {
    if order.picked().next().is_none() {
        return Ok(None);
    }
    let began = call_dir::placed_at(&services.objects, order, WORKSPACE)?.unwrap_or_default();
    Ok(Some(services.objects.put_manifest(&began)?))
}

/// Stores everything in the workspace, with what commands fetched before the agent began: programs of checks may need
/// it.
fn whole(services: &Services, order: &Order, left: &Manifest, litter: &[&str]) -> Result<TreeId, ReadError> {
    let Some(began) = call_dir::placed_at(&services.objects, order, WORKSPACE)? else {
        return Ok(services.objects.put_manifest(left)?);
    };
    let litter: Vec<RelPath> =
        litter.iter().filter_map(|name| RelPath::parse(name.as_bytes()).ok()).collect();
    let fetched = began.split(&litter).1;
    let whole =
        left.joined(&fetched, &Manifest::default()).expect("what was left has nothing in their places");
    Ok(services.objects.put_manifest(&whole)?)
}

/// Returns how the skill was used, if one was installed. Agents report real paths.
fn skill_use(order: &Order, talk: Option<&Talk>, space: &Path) -> Option<SkillUse> {
    let (installed, talk) = (order.installed.as_ref()?, talk?);
    let real = space.canonicalize().unwrap_or_else(|_| space.to_owned());
    Some(talk.skills.skill_use(installed, &real))
}

fn count_files(manifest: &Manifest) -> u64 {
    manifest.entries().iter().filter(|entry| !entry.node.is_folder()).count() as u64
}
