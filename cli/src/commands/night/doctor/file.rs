//! The file of jobs: whether it is trusted, and whom it notifies.

use crate::commands::night::doctor::broken;
use crate::nights::check::{About, Check};
use crate::nights::file::NightPlan;
use crate::nights::notify;
use crate::terminal::environment::Environment;
use crate::text::figures::count;

/// Returns whether the file is trusted, with the files that it names.
pub fn look(plan: &NightPlan, timer: &Environment, checks: &mut Vec<Check>) -> bool {
    let shown = plan.file.path.display();
    checks.push(match plan.content.jobs.len() {
        0 => Check::broken(
            About::File,
            format!("{shown} has no jobs"),
            "`skilltune night add SKILL --suite FILE` adds one",
        ),
        jobs => Check::fine(About::File, format!("{shown}: {}", count(jobs, "job"))),
    });
    let trust = plan.require_trust(timer);
    checks.push(match &trust {
        Ok(()) => Check::fine(About::File, "trusted, with the files that it names"),
        Err(complaint) => broken(About::File, complaint),
    });
    if let Some(program) = plan.content.notify.first() {
        checks.push(match notify::program(plan, timer) {
            Ok(path) => Check::fine(About::File, format!("notify: {}", path.display())),
            Err(_) => Check::broken(
                About::File,
                format!("notify: program {program:?} not found; no notification would be sent"),
                "install it, or change `notify`",
            ),
        });
    }
    trust.is_ok()
}
