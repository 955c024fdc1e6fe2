//! Checks whether each job could start.

use std::collections::BTreeSet;
use std::path::PathBuf;

use skilltune_phases::nights::night::{Left, Share, Spent, shared};

use crate::commands::night::doctor::broken;
use crate::commands::night::doctor::start::Start;
use crate::nights::check::{About, Check};
use crate::nights::file::NightPlan;
use crate::nights::jobs::{self, Job};
use crate::nights::morning;
use crate::terminal::environment::Environment;

/// The agents that a job needs, and their project.
pub struct Needs {
    pub project: PathBuf,
    pub agents: BTreeSet<String>,
    /// Whether the night would find them; this shell does, in any case.
    pub is_ready: bool,
}

const IN_THIS_SHELL: &str =
    "it can run in this shell: fix the night's environment, or run `skilltune night install` again";

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
    match job.ready(plan, &start.env) {
        Ok(ready) => {
            let agents: BTreeSet<&String> = ready.agents.iter().collect();
            let agents = agents.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            checks.push(Check::fine(About::Jobs, format!("{name}: {}, by {agents}", ready.shown)));
            Some(needs(ready, true))
        }
        Err(Left::Refused { why }) => {
            let here = start.scheduled.as_ref().and_then(|_| job.ready(plan, shell).ok());
            let fix = here.as_ref().map(|_| IN_THIS_SHELL.to_owned());
            checks.push(Check { fix, ..Check::broken(About::Jobs, format!("{name}: {why}"), "") });
            here.map(|ready| needs(ready, false))
        }
        Err(left) => {
            let fix = "the night skips it unless that has ended by then";
            checks.push(Check::unknown(About::Jobs, format!("{name}: {}", morning::left(&left)), fix));
            None
        }
    }
}
