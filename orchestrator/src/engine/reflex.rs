//! The engine's part for `reflex`: stores pages, matches patterns, and writes the files of the original.

use std::path::Path;

use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::reflex::original::artifact_hash;
use skilltune_phases::loops::reflex::{
    AgentRequest, Answer, Answers, Artifact, PAGE, Reflex, Run, Step, checks, projection, sections,
};
use skilltune_phases::runs::event::{Failure, FailureKind};

use super::{AgentOutput, EngineError, Extent, LoopEngine, ReadError, Services};
use crate::disk::atomic::Durability;
use crate::evolution::{Evolution, Part};
use crate::snapshot::{Node, Objects, RelPath};
use crate::store::RunFolder;

/// The refiner gets this text when it is asked again.
const UNCHANGED: &str =
    "the text is byte for byte the one that was to be refined; make the changes that are asked for";

impl LoopEngine for Reflex {
    fn read(
        services: &Services,
        request: &AgentRequest,
        output: &AgentOutput<'_>,
    ) -> Result<Answer, ReadError> {
        if output.answer.trim().is_empty() {
            return Err(Failure::new(FailureKind::Empty, "no text at all").into());
        }
        match request.answers() {
            Answers::Data => Ok(request.read(output.answer)?),
            Answers::Page => written(&services.objects, request, &request.page(output.answer)?),
        }
    }

    fn examined(services: &Services, request: &AgentRequest, answer: Answer) -> Result<Answer, ReadError> {
        let Answer::Written(artifact) = answer else { return Ok(answer) };
        written(&services.objects, request, &page(&services.objects, artifact.tree)?)
    }

    fn base(request: &AgentRequest) -> Option<Vec<TreeId>> {
        match request.answers() {
            Answers::Page => Some(request.previous().into_iter().collect()),
            Answers::Data => None,
        }
    }

    fn machine_checks(objects: &Objects, run: &Run, step: &Step) -> Result<Option<Answer>, EngineError> {
        let Step::Match { artifact, .. } = step else { return Ok(None) };
        let text = page(objects, *artifact)?;
        Ok(Some(Answer::Checked(checks::matched(&text, &run.state.checks))))
    }

    fn project(objects: &Objects, folder: &RunFolder, run: &Run, _: Extent) -> Result<(), EngineError> {
        write_originals(objects, run)?;
        for judged in &run.state.judged {
            let place = folder.iteration(judged.iteration);
            place.make()?;
            let text = page(objects, judged.artifact.tree)?;
            place.join(PAGE).replace(text.as_bytes(), Durability::Order)?;
        }
        Ok(())
    }

    fn is_projected(run: &Run) -> bool {
        // A folder that cannot be read cannot be written either.
        are_originals_there(run).unwrap_or(true)
    }

    fn state(run: &Run) -> String {
        projection::run_file(run)
    }
}

/// Stores a page as a tree, and reports its changes. Fails if a refinement changed nothing.
fn written(objects: &Objects, request: &AgentRequest, text: &str) -> Result<Answer, ReadError> {
    let previous = request.previous().map(|previous| page(objects, previous)).transpose()?;
    if previous.as_deref() == Some(text) && !request.issues().is_empty() {
        return Err(Failure::new(FailureKind::Gate, UNCHANGED).into());
    }
    let changed = previous.map(|previous| sections::changed(&previous, text, request.issues()));
    let tree = objects.put_files(&[(PAGE, text.as_bytes())])?;
    let (hash, bytes) = (artifact_hash(text.as_bytes()), text.len() as u64);
    Ok(Answer::Written(Box::new(Artifact { tree, hash, bytes, changed })))
}

/// Returns the text of a stored artifact.
pub fn page(objects: &Objects, tree: TreeId) -> Result<String, EngineError> {
    let manifest = objects.manifest(tree)?;
    let blob = manifest.entries().iter().find_map(|entry| match &entry.node {
        Node::File { blob, .. } => Some(*blob),
        Node::Folder { .. } | Node::Link { .. } => None,
    });
    let bytes = blob.map(|blob| objects.read(blob)).transpose()?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the path of the original's files in the project.
fn below(run: &Run) -> Result<RelPath, EngineError> {
    RelPath::parse(run.plan.task.evolution.as_bytes()).map_err(|_| EngineError::Stuck)
}

fn are_originals_there(run: &Run) -> Result<bool, EngineError> {
    let evolution = Evolution::open(Path::new(&run.plan.task.project), &below(run)?)?;
    let Some(evolution) = evolution else { return Ok(false) };
    let (state, history) = (projection::run_file(run), projection::history(run));
    let parts = [(Part::Run, state.as_bytes()), (Part::History, history.as_bytes())];
    let writer = evolution.writer(&projection::alias(run), run.plan.run.as_str());
    Ok(writer.is_written(parts, current_artifact(run).is_some())?)
}

/// Writes the files of the original into the project.
fn write_originals(objects: &Objects, run: &Run) -> Result<(), EngineError> {
    let evolution = Evolution::open_or_make(Path::new(&run.plan.task.project), &below(run)?)?;
    let writer = evolution.writer(&projection::alias(run), run.plan.run.as_str());
    // This file marks the folder as ours.
    writer.write(Part::Run, projection::run_file(run).as_bytes())?;
    writer.write(Part::History, projection::history(run).as_bytes())?;
    if let Some(artifact) = current_artifact(run) {
        let ours = |hash: &str| run.state.artifacts.iter().any(|artifact| artifact.hash == hash);
        let known = |bytes: &[u8]| ours(&artifact_hash(bytes));
        writer.place_artifact(page(objects, artifact.tree)?.as_bytes(), known)?;
    }
    // If it names another run, it stays: its readers follow one run at a time.
    match projection::current(run) {
        Some(current) => writer.point(current.as_bytes())?,
        None => writer.remove_current()?,
    };
    Ok(())
}

/// Returns the artifact to show: the current one, or the best one at the end.
fn current_artifact(run: &Run) -> Option<&Artifact> {
    if run.state.stop.is_some() { run.result() } else { run.state.artifact.as_ref() }
}
