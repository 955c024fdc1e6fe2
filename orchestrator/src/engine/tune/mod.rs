//! The engine's part for `tune`: reads artifacts and drafts, and runs the machine checks.

mod artifacts;
mod context;
mod diff;
mod draft;

use std::path::Path;

use skilltune_phases::asking::order::Order;
use skilltune_phases::base::delivery::SkillUse;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::base::role::Rights;
use skilltune_phases::loops::tune::results::state_file;
use skilltune_phases::loops::tune::trial::measure;
use skilltune_phases::loops::tune::{AgentRequest, Answer, Decision, Kept, Run, Step, Tune, WORKSPACE};
use skilltune_phases::runs::event::{Failure, FailureKind};
use skilltune_phases::skills::target::Place;

use super::{
    AgentOutput, CommandOutput, EngineError, Extent, LoopEngine, ReadError, Services, call_dir, unreadable,
};
use crate::agent::Talk;
use crate::checks::{self, Evidence};
use crate::process::How;
use crate::skill_files::load_captured;
use crate::snapshot::{LEFT_BY_TOOLS, Manifest, Objects, RelPath, capture_left, unified};
use crate::store::RunFolder;

pub use context::context;
pub use diff::{Diff, edit_diff, tree_dangers, tree_diff};

impl LoopEngine for Tune {
    fn read(
        services: &Services,
        request: &AgentRequest,
        output: &AgentOutput<'_>,
    ) -> Result<Answer, ReadError> {
        let order = request.as_ref();
        // The rights of a call decide which output it has to leave.
        let answer = match order.rights {
            Rights::Work | Rights::Shell => exercised(services, request, output),
            Rights::Read if output.answer.trim().is_empty() => {
                Err(Failure::new(FailureKind::Empty, "no text at all").into())
            }
            Rights::Read => request.judge(output.answer).map_err(ReadError::from),
            Rights::Edit => draft::read(services, order, output, &request.secrets()),
        };
        answer.map_err(|error| explained(error, output.denied))
    }

    fn ran(
        services: &Services,
        request: &AgentRequest,
        ran: &CommandOutput<'_>,
    ) -> Result<Answer, ReadError> {
        set_up(services, request, ran)
    }

    /// Only the first member starts with the scenario's files.
    fn machine_checks(objects: &Objects, run: &Run, step: &Step) -> Result<Option<Answer>, EngineError> {
        let Step::Inspect { member, trial, kept } = step else { return Ok(None) };
        let start = kept.began.or_else(|| measure::starting(run, trial.scenario));
        let start = start.filter(|_| *member == Place(0));
        let mut checks = run.plan.task.checks_of(trial.scenario, *member);
        Ok(Some(Answer::Checked(checks::tell(objects, start, kept.left, kept.evidence, &mut checks)?)))
    }

    /// Decisions at the end of a round do.
    fn changes_files(decision: &Decision) -> bool {
        match decision {
            Decision::Open { .. } | Decision::Scored(_) | Decision::Draft(_) | Decision::NoDraft { .. } => {
                true
            }
            Decision::Calibrate(_)
            | Decision::Keep(_)
            | Decision::Drop { .. }
            | Decision::Target { .. }
            | Decision::Focus(_)
            | Decision::Turn(_)
            | Decision::Stop(_)
            | Decision::Compare { .. }
            | Decision::LookAgain { .. }
            | Decision::Dismiss { .. }
            | Decision::Consult { .. }
            | Decision::Retry { .. }
            | Decision::Ship(_)
            | Decision::Close(_) => false,
        }
    }

    fn project(objects: &Objects, folder: &RunFolder, run: &Run, extent: Extent) -> Result<(), EngineError> {
        artifacts::write(objects, folder, run, extent)
    }

    fn state(run: &Run) -> String {
        state_file::text(run)
    }
}

/// Captures the workspace that a scenario's set-up left.
fn set_up(services: &Services, request: &AgentRequest, ran: &CommandOutput<'_>) -> Result<Answer, ReadError> {
    let program =
        request.as_ref().command.as_ref().and_then(|command| command.argv.first()).map_or("", String::as_str);
    let end = match ran.how {
        How::Exited(0) => {
            let captured =
                capture_left(&services.objects, ran.space, WORKSPACE, &[], services.limits.artifacts);
            let captured = captured.map_err(|error| unreadable(error, ran.space))?;
            if let Some(path) = answer_key(services, request, &captured.manifest)? {
                let why = format!("the set-up left {path}, which holds the answer of its scenario");
                return Err(Failure::new(FailureKind::Gate, why).into());
            }
            return Ok(Answer::SetUp { tree: captured.tree });
        }
        How::TimedOut => {
            return Err(Failure::new(
                FailureKind::TimedOut,
                format!("the set-up `{program}` did not end within {} seconds", ran.seconds),
            )
            .into());
        }
        How::Exited(code) => format!("exit code {code}"),
        How::Signalled(signal) => format!("signal {signal}"),
        How::Cancelled | How::OutputClosed => "cancelled".to_owned(),
        How::NotStarted { why } => {
            return Err(Failure::new(FailureKind::Crashed, format!("the set-up failed: {why}")).into());
        }
        How::Lost { why } => why.clone(),
    };
    let said = [ran.stderr, ran.stdout].into_iter().filter_map(|said| said.trim().lines().next_back());
    let said = said.map(|line| format!(": {line}")).next().unwrap_or_default();
    Err(Failure::new(FailureKind::Crashed, format!("the set-up `{program}` failed ({end}){said}")).into())
}

/// Returns a file of the set-up that holds the answer of the scenario: no trial may find it.
fn answer_key(
    services: &Services,
    request: &AgentRequest,
    left: &Manifest,
) -> Result<Option<String>, ReadError> {
    let Some((keys, scenario)) = request.answer_keys() else { return Ok(None) };
    let files = load_captured(left, "", &services.objects)?;
    let mut texts = files.files().iter().filter_map(|file| Some((&file.path, file.text()?)));
    let is_key = |path: &str, text: &str| keys.held(path, text).is_some_and(|held| held.is_for(scenario));
    Ok(texts.find(|(path, text)| is_key(path, text)).map(|(path, _)| path.clone()))
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

/// The artifact that shows the changes in a repository.
const DIFF: &str = "changes.diff";

/// Reads the executor's output. For a single skill, an answer without files becomes `answer.md`. In a chain the next
/// member needs files, and the prompt says so.
fn exercised(
    services: &Services,
    request: &AgentRequest,
    output: &AgentOutput<'_>,
) -> Result<Answer, ReadError> {
    let order = request.as_ref();
    let AgentOutput { space, answer, denied, talk, spent } = *output;
    let agent_files = services.cast.of(&order.role).agent_files(order.rights, order.installed.is_some(), "");
    let placed = order.placements.iter().filter_map(|placement| placement.at.split('/').next());
    let placed = placed.filter(|at| *at != WORKSPACE);
    let litter = if order.rights == Rights::Shell { &LEFT_BY_TOOLS[..] } else { &[] };
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

/// Turns an unreadable answer into a denied tool, if the agent was denied one.
fn explained(error: ReadError, denied: &[String]) -> ReadError {
    match error {
        ReadError::Agent(Failure { kind: FailureKind::Empty | FailureKind::OffSchema, why, .. })
            if !denied.is_empty() =>
        {
            let why = format!("it was denied {}: {why}", denied.join(", "));
            Failure::new(FailureKind::DeniedTool, why).into()
        }
        error => error,
    }
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
