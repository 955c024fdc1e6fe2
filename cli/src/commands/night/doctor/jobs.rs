//! The file of jobs: whether it is trusted, whether its commands exist, and whether each of its jobs could start.

use std::collections::BTreeSet;
use std::path::PathBuf;

use skilltune_phases::nights::night::{Left, Share, Spent, shared};

use crate::commands::night::doctor::broken;
use crate::commands::night::doctor::start::Start;
use crate::nights::check::{About, Check, State};
use crate::nights::file::NightPlan;
use crate::nights::jobs::{self, Job};
use crate::nights::{morning, notify};
use crate::terminal::environment::Environment;
use crate::text::figures::count;

/// The agents that a job needs, and their project.
pub struct Needs {
    pub project: PathBuf,
    pub agents: BTreeSet<String>,
    /// Whether the night would find them; this shell does, in any case.
    pub is_ready: bool,
}

const IN_THIS_SHELL: &str =
    "it can run in this shell: fix the night's environment, or run `skilltune night install` again";

/// Returns whether the file is trusted, with the files that it names.
pub fn file(plan: &NightPlan, timer: &Environment, checks: &mut Vec<Check>) -> bool {
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
    for (name, command) in plan.content.commands() {
        let Some(program) = command.first() else { continue };
        let sent = if name == "notify" { "notification" } else { "heartbeat" };
        checks.push(match notify::program(command, plan, timer) {
            Ok(path) => Check::fine(About::File, format!("{name}: {}", path.display())),
            Err(_) => Check::broken(
                About::File,
                format!("{name}: program {program:?} not found; no {sent} would be sent"),
                format!("install it, or change `{name}`"),
            ),
        });
    }
    trust.is_ok()
}

/// Returns the jobs that can start, at night or at least from this shell.
pub fn look(plan: &NightPlan, start: &Start, shell: &Environment, checks: &mut Vec<Check>) -> Vec<Needs> {
    match jobs::all(plan) {
        Ok(jobs) => jobs.iter().filter_map(|job| one(job, plan, start, shell, checks)).collect(),
        Err(complaint) => {
            checks.push(broken(About::Jobs, &complaint));
            Vec::new()
        }
    }
}

fn one(
    job: &Job,
    plan: &NightPlan,
    start: &Start,
    shell: &Environment,
    checks: &mut Vec<Check>,
) -> Option<Needs> {
    let name = &job.name;
    let needs =
        |ready: jobs::Ready, is_ready| Needs { project: ready.project, agents: ready.agent_names, is_ready };
    let own = (job.entry.limits.ceilings(), Spent::default());
    if shared(&[], 1, 1, own, Spent::default()) == Share::Nothing {
        let fix = "raise its `limits`, or remove the job";
        checks.push(Check::broken(About::Jobs, format!("{name}: its own limits allow no call"), fix));
    }
    match job.ready(plan, None, &start.env) {
        Ok(ready) => {
            let agents: BTreeSet<&String> = ready.agents.iter().collect();
            let agents = agents.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            checks.push(Check::fine(About::Jobs, format!("{name}: {}, by {agents}", ready.shown)));
            Some(needs(ready, true))
        }
        Err(Left::Refused { why }) => {
            let here = start.scheduled.as_ref().and_then(|_| job.ready(plan, None, shell).ok());
            let fix = here.as_ref().map(|_| IN_THIS_SHELL);
            checks.push(Check::new(About::Jobs, State::Broken, format!("{name}: {why}")).with_fix(fix));
            here.map(|ready| needs(ready, false))
        }
        Err(left) => {
            let fix = "the night skips it unless that has ended by then";
            checks.push(Check::unknown(About::Jobs, format!("{name}: {}", morning::left(&left)), fix));
            None
        }
    }
}
