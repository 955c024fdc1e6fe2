//! Disk space for what the calls of a night write.

use std::path::Path;

use skilltune_orchestrator::store::Home;

use crate::commands::doctor::place::Space;
use crate::nights::check::{About, Check};
use crate::nights::file::NightPlan;
use crate::terminal::environment::Environment;
use crate::text::figures;

/// Checks the disk space. The folders of the night need space for all simultaneous calls: each in its workspace, and
/// kept in the store. The temporary folder needs space for the output of one call.
pub fn look(plan: &NightPlan, timer: &Environment, checks: &mut Vec<Check>) {
    let project = timer.project_of(&plan.file.path);
    let settings =
        crate::loops::settings(&project, timer).unwrap_or_else(|_| crate::loops::default_settings());
    let (artifacts, output) = (settings.limits.artifact_bytes.value, settings.limits.output_bytes.value);
    let calls = u64::from(settings.calls.jobs.value).saturating_mul(plan.content.parallel as u64);
    let all = calls.saturating_mul(artifacts.saturating_add(output.saturating_mul(2)));
    let temp = timer.vars.get("TMPDIR").filter(|path| !path.is_empty()).map_or("/tmp", String::as_str);
    let store = Home::of(&project);
    let folders = [
        ("store", store.root(), all),
        ("cache", &*timer.cache, all),
        ("state", &*timer.state, 0),
        ("temp", Path::new(temp), output),
    ];
    checks.extend(folders.map(|(what, path, needed)| one(what, path, needed, calls)));
}

fn one(what: &str, path: &Path, needed: u64, calls: u64) -> Check {
    let (space, path) = (Space::of(path), path.display());
    if !space.writable {
        return Check::broken(About::Disk, format!("{what}: {path} is not writable"), "make it writable");
    }
    let Some(free) = space.free_bytes else {
        return Check::unknown(
            About::Disk,
            format!("{what}: {path}: free space unknown"),
            "run `df` to see it",
        );
    };
    let text = format!("{what}: {path}: {} free", figures::bytes(free));
    if free < needed {
        let needed = figures::bytes(needed);
        let calls = figures::count(usize::try_from(calls).unwrap_or(usize::MAX), "call");
        return Check::broken(
            About::Disk,
            format!("{text}; {calls} at a time may write {needed}"),
            "make room, such as with `skilltune clean`, or lower `calls.jobs` or `limits.artifact_bytes`",
        );
    }
    Check::fine(About::Disk, text)
}
