//! The engine's part for `gan`: captures what was built, runs the machine checks, and writes the files of the rounds.

use std::path::Path;

use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::gan::course::Round;
use skilltune_phases::loops::gan::inspect::{self, Inspection};
use skilltune_phases::loops::gan::{
    ARTIFACT, AgentRequest, Answer, ArtifactDir, Gan, Run, SCREENS, Step, projection,
};
use skilltune_phases::runs::event::{Failure, FailureKind};

use super::edited_copy::{EditedCopy, gate};
use super::files::place_tree;
use super::refusal::check_work;
use super::{AgentOutput, CommandOutput, EngineError, Extent, LoopEngine, ReadError, Services, unreadable};
use crate::checks::end_of;
use crate::disk::SafePath;
use crate::disk::atomic::Durability;
use crate::process::How;
use crate::skill_files::load_captured;
use crate::snapshot::{Limits, Objects, RelPath, capture_left, unified};
use crate::store::RunFolder;

/// Enough for two screenshots of each page that is checked.
const SCREEN_LIMITS: Limits = Limits { files: 64, bytes: 64 << 20 };

impl LoopEngine for Gan {
    fn read(
        services: &Services,
        request: &AgentRequest,
        output: &AgentOutput<'_>,
    ) -> Result<Answer, ReadError> {
        if let Some(placed) = request.as_ref().draft() {
            let copy = EditedCopy::read(services, placed, output.space)?;
            let artifact = built(&services.objects, &copy)?;
            return Ok(Answer::Built { artifact, notes: Box::new(request.notes(output.answer)) });
        }
        if output.answer.trim().is_empty() {
            return Err(Failure::new(FailureKind::Empty, "no text at all").into());
        }
        Ok(request.read(output.answer)?)
    }

    fn examined(services: &Services, request: &AgentRequest, answer: Answer) -> Result<Answer, ReadError> {
        request.check(&answer)?;
        let Answer::Built { artifact, notes } = answer else { return Ok(answer) };
        let placed = request.as_ref().draft().ok_or(EngineError::Stuck)?;
        let copy = EditedCopy::returned(&services.objects, placed, artifact)?;
        Ok(Answer::Built { artifact: built(&services.objects, &copy)?, notes })
    }

    /// A browser that fails shows nothing: its checks stay open, and the run goes on without them.
    fn ran(services: &Services, _: &AgentRequest, ran: &CommandOutput<'_>) -> Result<Answer, ReadError> {
        let (inspection, screens) = match read_inspection(services, ran) {
            Ok(read) => read,
            Err(ReadError::Agent(Failure { why, .. })) => (failed(&why), None),
            Err(ours @ ReadError::Ours(_)) => return Err(ours),
        };
        Ok(Answer::Inspected { inspection: Box::new(inspection), screens })
    }

    fn machine_checks(objects: &Objects, run: &Run, step: &Step) -> Result<Option<Answer>, EngineError> {
        let Step::Inspect { artifact } = step else { return Ok(None) };
        let files = load_captured(&objects.manifest(*artifact)?, ARTIFACT, objects)?;
        let checks = inspect::source(&files, &run.plan.task.given);
        let inspection = Box::new(Inspection { checks, ..Inspection::default() });
        Ok(Some(Answer::Inspected { inspection, screens: None }))
    }

    fn project(objects: &Objects, folder: &RunFolder, run: &Run, extent: Extent) -> Result<(), EngineError> {
        let sprints = folder.place().join("sprints");
        if run.state.sprints.is_empty() {
            return Ok(());
        }
        sprints.make()?;
        let also = in_project(run)?;
        for sprint in extent.of(&run.state.sprints) {
            let page = projection::sprint(run, sprint);
            for place in std::iter::once(&sprints).chain(&also) {
                let file = place.join(format!("sprint-{}.json", sprint.number));
                file.replace(page.as_bytes(), Durability::Order)?;
            }
        }
        let rounds = &run.state.course.rounds;
        let skipped = rounds.len() - extent.of(rounds).len();
        for (number, round) in (1..).zip(rounds).skip(skipped) {
            let report = place_round(objects, folder, run, (number, round))?;
            if let Some(place) = &also {
                let file = place.join(format!("evaluation-report-{number}.json"));
                file.replace(report.as_bytes(), Durability::Order)?;
            }
        }
        Ok(())
    }

    fn state(run: &Run) -> String {
        projection::state(run)
    }
}

/// Stores the builder's changes to its copy. Set-id bits are dropped.
fn built(objects: &Objects, copy: &EditedCopy) -> Result<TreeId, ReadError> {
    let made = copy.made.manifest.edited_from(&copy.base, None);
    if made.entries().iter().all(|entry| entry.node.is_folder()) {
        return Err(gate(format!("there are no files in `{ARTIFACT}/`")).into());
    }
    check_work(&copy.base, &made)?;
    Ok(objects.put_manifest(&copy.completed(&made)?)?)
}

/// Reads the output of a browser check: findings and screenshots.
fn read_inspection(
    services: &Services,
    ran: &CommandOutput<'_>,
) -> Result<(Inspection, Option<TreeId>), ReadError> {
    let lost = |why: String| Failure::new(FailureKind::Crashed, why);
    if *ran.how != How::Exited(0) {
        let said = [ran.stderr, ran.stdout].into_iter().find_map(|said| said.trim().lines().next_back());
        let how = end_of(ran.how, ran.seconds);
        return Err(lost(said.map_or(how.clone(), |said| format!("{how}: {said}"))).into());
    }
    let inspection: Inspection = serde_json::from_str(ran.stdout)
        .map_err(|error| lost(format!("its answer is not valid: {error}")))?;
    if !ran.space.join(SCREENS).is_dir() {
        return Ok((inspection, None));
    }
    let captured = capture_left(&services.objects, ran.space, SCREENS, &[], SCREEN_LIMITS);
    let captured = captured.map_err(|error| unreadable(error, ran.space))?;
    Ok((inspection, Some(captured.tree)))
}

fn failed(why: &str) -> Inspection {
    Inspection { notes: vec![format!("the browser check failed: {why}").into()], ..Inspection::default() }
}

/// Returns the folder in the project for the files that the original keeps in its `artifact_dir`. Each run has its own,
/// because the sprints of all runs have the same names.
fn in_project(run: &Run) -> Result<Option<SafePath>, EngineError> {
    let Some(ArtifactDir { project, below }) = &run.plan.task.artifact_dir else { return Ok(None) };
    let below = RelPath::parse(below.as_bytes()).map_err(|_| EngineError::Stuck)?;
    let place = SafePath::below(Path::new(project), below.as_path()).join(run.plan.run.as_str());
    place.make()?;
    Ok(Some(place))
}

/// Writes `iteration-N`: the artifact, its changes, the screenshots, and the report, which it returns.
fn place_round(
    objects: &Objects,
    folder: &RunFolder,
    run: &Run,
    (number, round): (usize, &Round),
) -> Result<String, EngineError> {
    let place = folder.iteration(u32::try_from(number).unwrap_or(u32::MAX));
    place.make()?;
    place_tree(objects, round.artifact, &place, ARTIFACT)?;
    if let Some(screens) = run.screens(round.artifact) {
        place_tree(objects, screens, &place, SCREENS)?;
    }
    let changes = place.join("changes.diff");
    if let Some(sprint) = run.sprint_of(round).filter(|_| !changes.exists()) {
        let (from, to) = (objects.manifest(sprint.from)?, objects.manifest(round.artifact)?);
        changes.replace(unified(objects, &from, &to)?.as_bytes(), Durability::Order)?;
    }
    let report = projection::report(run, number, round);
    let page = place.join(format!("evaluation-report-{number}.json"));
    page.replace(report.as_bytes(), Durability::Order)?;
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::super::edited_copy::tests::why_refused;
    use super::*;

    /// Returns why the gates refuse a tree in place of a page, if they do.
    fn refusal(entries: &[(&str, &str)]) -> Option<String> {
        why_refused(&[("index.html", "1")], entries, built)
    }

    #[test]
    fn what_was_built_has_files_and_neither_a_repository_nor_settings() {
        assert_eq!(refusal(&[("index.html", "2"), ("site.css", "3")]), None);
        for (entries, why) in [
            (&[][..], "there are no files"),
            (&[("index.html", "2"), ("sub/.git/config", "3")], "would make a git repository"),
            (&[("index.html", "2"), (".claude/settings.json", "3")], "by themselves"),
        ] {
            let refusal = refusal(entries).unwrap();
            assert!(refusal.contains(why), "{refusal}");
        }
    }
}
