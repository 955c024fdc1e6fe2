//! The start of the night, and its environment.

use std::collections::BTreeMap;
use std::path::Path;

use rustix::fs::{Access, access};
use skilltune_orchestrator::disk;
use skilltune_phases::base::id::Digest;

use crate::nights::check::{About, Check};
use crate::nights::install::job::Job;
use crate::nights::install::place;
use crate::nights::install::scheduled_start::ScheduledStart;
use crate::terminal::environment::Environment;

pub struct Start {
    /// The start in the first scheduler that has one; none if the night is not installed.
    pub scheduled: Option<ScheduledStart>,
    /// The environment of the night, or of this shell if it is not installed.
    pub env: Environment,
    pub checks: Vec<Check>,
}

const AGAIN: &str = "run `skilltune night install` to rewrite it";

/// Variables that every scheduler sets for a user's programs.
const GIVEN: [&str; 3] = ["HOME", "USER", "LOGNAME"];

/// More than any of our programs has.
const LARGEST: u64 = 1 << 30;

impl Start {
    pub fn look(name: &str, file: &Path, env: &Environment) -> Self {
        let mut checks = Vec::new();
        let mut all = Vec::new();
        for scheduled in place::scheduled(name, env) {
            match scheduled {
                Ok(scheduled) => all.push(scheduled),
                Err(complaint) => {
                    let text = [&[complaint.what][..], &complaint.causes].concat().join(": ");
                    let fix = complaint.hints.first().map_or("run it by hand to see why", String::as_str);
                    checks.push(Check::unknown(About::Start, text, fix));
                }
            }
        }
        let mut all = all.into_iter();
        let scheduled = all.next();
        for other in all {
            checks.push(Check::unknown(
                About::Start,
                format!("{} starts it too: the second start in a night does nothing", other.by),
                "run `skilltune night uninstall` to remove both, then `skilltune night install`",
            ));
        }
        let mut world = env.clone();
        if let Some(scheduled) = &scheduled {
            checks.extend(scheduled.checks.clone());
            checks.extend(scheduled.job.iter().flat_map(recorded));
            match given(scheduled, file, env) {
                Some(given) => world = given,
                None => checks.push(Check::unknown(
                    About::Start,
                    "cannot read the folders of the night: checked with those of this shell",
                    AGAIN,
                )),
            }
        }
        Self { scheduled, env: world, checks }
    }

    /// Returns the check for a missing start. The user's own scheduler may start it, and has if a night has run lately.
    pub fn missing(&self, has_run_lately: bool) -> Option<Check> {
        let text = "not installed; checked with the PATH and folders of this shell";
        let fix =
            "run `skilltune night install`, unless your own scheduler starts `skilltune night --scheduled`";
        let check = if has_run_lately { Check::unknown } else { Check::broken };
        self.scheduled.is_none().then(|| check(About::Start, text, fix))
    }

    /// Returns those of these variables that this shell has and the night will not have.
    pub fn lost<'a>(&self, names: impl IntoIterator<Item = &'a str>, shell: &Environment) -> Vec<&'a str> {
        let is_lost = |name: &&str| shell.is_set(name) && !self.env.is_set(name);
        names.into_iter().filter(is_lost).collect()
    }
}

/// Returns the environment that the scheduler sets up; none if it is unknown or cannot be built, for example without
/// its project.
fn given(scheduled: &ScheduledStart, file: &Path, env: &Environment) -> Option<Environment> {
    if scheduled.env.is_empty() {
        return None;
    }
    let of_person = GIVEN.iter().filter_map(|name| Some(((*name).to_owned(), env.vars.get(*name)?.clone())));
    let mut env: BTreeMap<String, String> = of_person.collect();
    env.extend(scheduled.env.clone());
    let project = scheduled.job.as_ref().map(|job| Path::new(&job.project));
    Environment::elsewhere(file.parent()?.to_owned(), env, project).ok()
}

/// Checks that the recorded paths still exist, and that the program is this one.
fn recorded(job: &Job) -> Vec<Check> {
    let mut checks = vec![program(Path::new(&job.program))];
    let broken = |text: String| Check::broken(About::Start, text, AGAIN);
    if !Path::new(&job.project).is_dir() {
        checks.push(broken(format!("the project folder {} does not exist", job.project)));
    }
    let home = job.env.iter().find(|(name, _)| name == "HOME").map(|(_, home)| home);
    if let Some(home) = home.filter(|home| !Path::new(home).is_dir()) {
        checks.push(broken(format!("the home folder {home} does not exist")));
    }
    checks
}

fn program(program: &Path) -> Check {
    let shown = program.display();
    if !program.is_file() {
        return Check::broken(About::Start, format!("the program {shown} does not exist"), AGAIN);
    }
    if access(program, Access::EXEC_OK).is_err() {
        return Check::broken(About::Start, format!("the program {shown} is not executable"), AGAIN);
    }
    let version = env!("CARGO_PKG_VERSION");
    if is_this(program) {
        return Check::fine(About::Start, format!("program: {shown}, version {version}"));
    }
    Check::unknown(
        About::Start,
        format!("the night starts {shown}, a different program from this one, version {version}"),
        "run `night doctor` and `night install` with the one that you want",
    )
}

/// Returns whether a program is this one, without running it.
fn is_this(program: &Path) -> bool {
    let Ok(own) = std::env::current_exe() else { return false };
    let is_same = |one: &Path, other: &Path| Some(one.canonicalize().ok()? == other.canonicalize().ok()?);
    let size = |path: &Path| path.metadata().ok().map(|metadata| metadata.len());
    let digest = |path: &Path| disk::read(path, LARGEST).ok().map(|bytes| Digest::of(&bytes));
    is_same(program, &own) == Some(true)
        || (size(program) == size(&own) && digest(program).is_some() && digest(program) == digest(&own))
}
