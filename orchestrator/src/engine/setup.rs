//! Runs the setup command of a call in its workspace, before the agent or the command of the call starts.
//!
//! Its files are no part of the agent's edit: a record of the draft is made after it.

use skilltune_phases::asking::order::Order;
use skilltune_phases::runs::event::{Failure, FailureKind};
use skilltune_phases::suites::checks::output_end;

use super::call_dir::CallDir;
use super::edited_copy::EditedCopy;
use super::{EngineError, ReadError, Services};
use crate::checks::end_of;
use crate::disk::atomic::Durability;
use crate::process::{self, CancelToken, Hidden, How, Slot};
use crate::snapshot::Manifest;

/// More than the manifest of any project.
const LARGEST: u64 = 256 << 20;

/// What the setup command has of its call.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) variables: &'a [(String, String)],
    pub(super) hidden: Option<&'a Hidden>,
}

/// Runs the setup command of a call, if it has one. If that fails, returns how it ended and why.
pub(super) fn run(
    services: &Services,
    dir: &CallDir,
    (order, given): (&Order, Given<'_>),
    slot: &mut Slot,
    cancel_token: &CancelToken,
) -> Result<Option<(How, Failure)>, EngineError> {
    let Some(setup) = &order.setup else { return Ok(None) };
    let at = order.draft().map_or("", |draft| &draft.at);
    let mut call = process::Call {
        cwd: dir.space().join(at).path().to_owned(),
        stdout: dir.beside("setup.stdout"),
        stderr: dir.beside("setup.stderr"),
        record: dir.beside("setup.json"),
        hidden: given.hidden.cloned(),
        ..services.command(dir, setup)
    };
    call.add_env(given.variables);
    let how = slot.run(&call, cancel_token)?.how;
    let said = if how == How::Exited(0) {
        match record(services, dir, order) {
            Ok(()) => return Ok(None),
            Err(ReadError::Ours(error)) => return Err(error),
            Err(ReadError::Agent(Failure { why, .. })) => why,
        }
    } else {
        let text = |name| dir.file(name).text(services.limits.output_bytes);
        let streams = [text("setup.stderr")?, text("setup.stdout")?];
        let ends = streams.iter().map(|said| output_end(said)).filter(|said| !said.is_empty());
        ends.chain([end_of(&how, setup.seconds)]).collect::<Vec<_>>().join("\n")
    };
    let why = format!("the setup command `{}` failed: {said}", setup.argv.join(" "));
    Ok(Some((how, Failure::new(FailureKind::Crashed, why))))
}

/// Records the draft as the agent gets it.
fn record(services: &Services, dir: &CallDir, order: &Order) -> Result<(), ReadError> {
    let Some(draft) = order.draft() else { return Ok(()) };
    let after = EditedCopy::scan_project(services, draft, &dir.space_path())?;
    Ok(dir.after_setup().replace(&after.encode(), Durability::Order)?)
}

/// Returns the draft as the agent got it, if a setup command ran before.
pub(super) fn recorded(dir: &CallDir, order: &Order) -> Result<Option<Manifest>, ReadError> {
    if order.setup.is_none() || order.draft().is_none() {
        return Ok(None);
    }
    let bytes = dir.after_setup().read(LARGEST)?;
    let after = bytes.and_then(|bytes| Manifest::parse(&bytes).ok());
    let lost = || Failure::new(FailureKind::Crashed, "the record of its setup command is lost");
    Ok(Some(after.ok_or_else(lost)?))
}
