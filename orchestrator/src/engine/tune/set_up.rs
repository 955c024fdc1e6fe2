//! The workspace that the set-up of a scenario left.

use skilltune_phases::loops::tune::{AgentRequest, Answer, WORKSPACE};
use skilltune_phases::runs::event::{Failure, FailureKind};

use super::super::{CommandOutput, ReadError, Services, unreadable};
use crate::process::How;
use crate::skill_files::load_captured;
use crate::snapshot::{Manifest, capture_left};

/// Captures the workspace that a scenario's set-up left.
pub(super) fn read(
    services: &Services,
    request: &AgentRequest,
    ran: &CommandOutput<'_>,
) -> Result<Answer, ReadError> {
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
