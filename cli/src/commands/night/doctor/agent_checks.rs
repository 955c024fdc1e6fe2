//! Checks the agents of the jobs as the night would find them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use skilltune_orchestrator::agent::{Login, Real};
use skilltune_phases::skills::offline;

use crate::casting::files;
use crate::commands::doctor::agent_checks::{AgentSeen, login_text, look_at};
use crate::commands::night::doctor::broken;
use crate::commands::night::doctor::jobs::Needs;
use crate::commands::night::doctor::start::Start;
use crate::nights::check::{About, Check, State};
use crate::report::advice;
use crate::settings::Settings;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

/// Checks the agents. Starts nothing if the file is not trusted.
pub fn look(
    jobs: &[Needs],
    is_trusted: bool,
    start: &Start,
    deadline: Duration,
    shell: &Environment,
    checks: &mut Vec<Check>,
) -> Result<(), Complaint> {
    let mut projects: BTreeMap<&PathBuf, BTreeSet<&str>> = BTreeMap::new();
    for job in jobs {
        projects.entry(&job.project).or_default().extend(job.agents.iter().map(String::as_str));
    }
    for (project, names) in projects {
        let mut settings = match crate::loops::settings(project, &start.env) {
            Ok(settings) => settings,
            Err(error) => {
                checks.push(broken(About::Agents, &error.into()));
                continue;
            }
        };
        crate::casting::defaults::fill(&mut settings, &start.env);
        let seen = if is_trusted {
            look_at(|name| names.contains(name), &settings, true, deadline, &start.env)?
        } else {
            Vec::new()
        };
        for name in names {
            let lost = lost(name, &settings, start, shell);
            let seen = seen.iter().find(|seen| seen.name == name);
            // The job has already reported an agent that is not found.
            checks.extend(seen.filter(|seen| seen.path.is_some()).map(|seen| one(seen, &lost)));
            checks.extend(without(name, &lost, seen, jobs, start));
        }
    }
    if !is_trusted && !jobs.is_empty() {
        let fix = "trust the file of jobs, then run `skilltune night doctor` again";
        checks.push(Check::unknown(
            About::Agents,
            "not started, because the file of jobs is not trusted",
            fix,
        ));
    }
    Ok(())
}

/// Returns the variables that this agent would use and that only this shell has.
fn lost<'a>(name: &str, settings: &'a Settings, start: &Start, shell: &Environment) -> Vec<&'a str> {
    match settings.agents.get(name) {
        Some(entry) => start.lost(entry.settings.env.pass.iter().map(String::as_str), shell),
        None => start.lost(Real::named(name).iter().flat_map(|real| real.keys()).copied(), shell),
    }
}

fn one(seen: &AgentSeen, lost: &[&str]) -> Check {
    let name = &seen.name;
    let text = seen.version_and_path();
    if let Some(why) = &seen.bad_command {
        return Check::broken(About::Agents, format!("{name}: {why}"), files::FULL_PATH);
    }
    if let Some(via) = seen.not_via {
        let fix = "use another agent, or set calls.via to \"direct\"";
        return Check::broken(About::Agents, format!("{text}; {via} cannot call it"), fix);
    }
    let fix = seen.version_fix();
    if !seen.usable {
        return Check::new(About::Agents, State::Broken, text).with_fix(fix);
    }
    let fine = |text: String| match &fix {
        Some(fix) => Check::unknown(About::Agents, text, fix),
        None => Check::fine(About::Agents, text),
    };
    let Some(login) = &seen.login else { return fine(text) };
    let with_login = format!("{text}; {}", login_text(login));
    match login {
        Login::Key(_) | Login::File(_) => fine(with_login),
        // A key in this shell: another check says how to give it to the night.
        Login::Unseen if !lost.is_empty() => fine(text),
        Login::Unseen if seen.lacks_login() => Check::broken(About::Agents, with_login, advice::login(name)),
        Login::Unseen => {
            let text = format!("{with_login}, but the system may hold one");
            Check::unknown(About::Agents, text, advice::login(name))
        }
    }
}

/// Reports variables of this shell that the night lacks. This may be harmless if the agent has its own login, or if the
/// purpose of a variable is unknown.
fn without(
    name: &str,
    lost: &[&str],
    seen: Option<&AgentSeen>,
    jobs: &[Needs],
    start: &Start,
) -> Option<Check> {
    let scheduler = start.scheduled.as_ref().filter(|_| !lost.is_empty() && name != offline::NAME)?;
    let names = lost.join(", ");
    let text = format!("{name}: {names} is set in this shell, but not for the night");
    let fix = format!("set it for the night: {}", scheduler.gives);
    let is_refused = jobs.iter().any(|job| !job.is_ready && job.agents.contains(name));
    let is_needed = is_refused || seen.is_some_and(AgentSeen::lacks_login);
    let is_missing = is_needed && !scheduler.has_more_env;
    let check = if is_missing { Check::broken } else { Check::unknown };
    Some(check(About::Agents, text, fix))
}
