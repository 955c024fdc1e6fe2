//! Checks whether a winner could become the branch, the patch or the pull request that its job wants, with the git and
//! the `gh` that the night will find. Nothing is changed; of a pull request, the remote and `gh` are asked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use skilltune_orchestrator::git::{Git, ProposeError, rehearse};
use skilltune_orchestrator::snapshot::{IgnoreRules, Limits, scan};
use skilltune_phases::base::name::Name;
use skilltune_phases::runs::proposal::Form;

use crate::casting::git;
use crate::commands::night::doctor::start::Start;
use crate::inputs::find;
use crate::nights::check::{About, Check, State};
use crate::nights::file::NightPlan;
use crate::nights::jobs::{self, Job};
use crate::runs::under_guard::under_guard;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::text::plain::one_line;

/// A folder whose change a job would propose.
#[derive(Clone, Debug)]
struct Wanted {
    job: Name,
    form: Form,
    folder: PathBuf,
}

/// What is said of all jobs of which it is true: the state, the text after their names, and the fix.
type Finding = (bool, String, Option<String>);

/// The most jobs that one line names.
const MOST_NAMED: usize = 5;

/// Checks the jobs of a trusted file that have a skill and want a commit.
pub fn look(plan: &NightPlan, start: &Start, checks: &mut Vec<Check>) -> Result<(), Complaint> {
    let jobs = jobs::all(plan).unwrap_or_default();
    let env = Environment { cwd: plan.folder.clone(), ..start.env.clone() };
    let wanted: Vec<Wanted> = jobs.iter().flat_map(|job| wanted(job, &env)).collect();
    let mut findings: BTreeMap<Finding, BTreeSet<&str>> = BTreeMap::new();
    let found = if let Ok(program) = git(&start.env) {
        let lost = || Err(ProposeError::Git("it was interrupted".to_owned()));
        under_guard(wanted.len(), lost, |nth, room| {
            let (one, program) = (wanted[nth].clone(), program.clone());
            move |pool, cancel_token| one.rehearse(&Git::new(&program, &room, &room, &pool, &cancel_token))
        })?
    } else {
        let (why, hint) = ("`git` is not installed", "install it where the night finds it");
        let none = || ProposeError::Refused { why: why.to_owned(), hint: hint.to_owned() };
        wanted.iter().map(|_| Err(none())).collect()
    };
    for (one, found) in wanted.iter().zip(&found) {
        findings.entry(finding(one.form, found)).or_default().insert(one.job.as_str());
    }
    checks.extend(findings.into_iter().map(|((is_fine, text, fix), jobs)| {
        Check::new(About::Jobs, State::fine_if(is_fine), format!("{}: {text}", names(&jobs))).with_fix(fix)
    }));
    Ok(())
}

/// Returns the folders of a job that wants commits. Skills that are missing are reported with their jobs.
fn wanted(job: &Job, env: &Environment) -> Vec<Wanted> {
    let form = match job.apply.as_str() {
        "branch" => Form::Branch,
        "patch" => Form::Patch,
        "pr" => Form::PullRequest,
        _ => return Vec::new(),
    };
    let skills = find::skills(&job.skills, env).unwrap_or_default();
    skills.into_iter().map(|skill| Wanted { job: job.name.clone(), form, folder: skill.path }).collect()
}

impl Wanted {
    fn rehearse(&self, git: &Git<'_>) -> Result<Option<String>, ProposeError> {
        let rules = IgnoreRules::of(&self.folder).ok();
        // A folder that cannot be read keeps the job from running at all.
        let Ok(now) = scan(&self.folder, rules, Limits::default()) else { return Ok(None) };
        rehearse(git, &self.folder, &now, self.form)
    }
}

fn finding(form: Form, found: &Result<Option<String>, ProposeError>) -> Finding {
    let shown = match form {
        Form::Branch => "a branch",
        Form::Patch => "a patch",
        Form::PullRequest => "a pull request",
    };
    match found {
        Ok(None) => (true, format!("a winner becomes {shown}"), None),
        Ok(Some(why)) => {
            let text = format!("a winner would be a branch, not {shown}: {}", one_line(why));
            (false, text, Some("fix that, or set `apply = \"branch\"`".to_owned()))
        }
        Err(ProposeError::Refused { why, hint }) => {
            let why = one_line(why);
            (false, format!("a winner would not be {shown}: {why}"), Some(one_line(hint)))
        }
        Err(error) => {
            let why = one_line(&error.to_string());
            let fix = "see what `git status` says in the folder of the skill";
            (false, format!("a winner would not be {shown}: {why}"), Some(fix.to_owned()))
        }
    }
}

fn names(jobs: &BTreeSet<&str>) -> String {
    let few: Vec<&str> = jobs.iter().take(MOST_NAMED).copied().collect();
    match jobs.len() - few.len() {
        0 => few.join(", "),
        more => format!("{} and {more} more", few.join(", ")),
    }
}
