//! `suite check --try`: a run that tries the scenarios of a suite without a skill.
//!
//! Trials without a skill are a normal run: it has a journal, can be resumed, and keeps its answers. Its target is the
//! suite, which it never writes.

use crate::settings::common::RoleSettings;
use std::path::Path;

use skilltune_phases::base::delivery::Delivery;
use skilltune_phases::base::name::Name;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::tune::{self, Aim, Plan, Tune};
use skilltune_phases::skills::offline;
use skilltune_phases::suites::scenario::Scenario;

use crate::args::overrides::override_with;
use crate::args::suite::TryFlags;
use crate::casting::{self, BuiltIn, Casting};
use crate::inputs::find::Skill;
use crate::inputs::suite::Suite;
use crate::loops::start::{self, Common, Start};
use crate::loops::tune::invocation::Invocation;
use crate::loops::tune::prompts::Pages;
use crate::loops::tune::scenarios::{TaskSet, allow_shell};
use crate::loops::tune::versions::Version;
use crate::loops::tune::words;
use crate::settings::Settings;
use crate::settings::values::Streamed;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::text::figures::count;

/// Shows the cost, asks, and runs it; its journal has the results.
pub fn run(suite: &Suite, flags: &TryFlags, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let skill = name(&suite.path);
    let (scenarios, left_out) = asked(suite, &skill)?;
    for reason in left_out {
        printer.talk(&format!("not tried without a skill: {reason}"));
    }
    // The results are printed after the run, as data.
    let (yes, trust, format) = (flags.yes, flags.trust, Streamed::Human);
    let start = Start { yes, trust, format, show: None, env, printer };
    start::start::<Tune>(invocation(suite, scenarios, flags, env)?, &start)
}

/// Returns the scenarios that ask something of a trial without this skill, and which are left out and why.
pub fn asked(suite: &Suite, skill: &str) -> Result<(Vec<Scenario>, Vec<String>), Complaint> {
    let (mut asked, mut silent, mut about_use) = (Vec::new(), Vec::new(), Vec::new());
    let mut about_files = Vec::new();
    let is_skill = |folder: &Path| {
        folder.file_name().is_some_and(|name| name == skill) || suite.path.starts_with(folder)
    };
    for scenario in &suite.scenarios {
        if suite.starts.is_about(&scenario.id, is_skill) {
            about_files.push(scenario.id.as_str());
            continue;
        }
        match scenario.without_skill() {
            Some(without) => asked.push(without),
            None if scenario.demands.is_empty() => silent.push(scenario.id.as_str()),
            None => about_use.push(scenario.id.as_str()),
        }
    }
    let reasons = [
        (silent, "no checks and no expectations"),
        (about_use, "it asks only whether the skill is used"),
        (about_files, "its task is about files of the skill"),
    ];
    let left_out = reasons.into_iter().filter(|(ids, _)| !ids.is_empty());
    let left_out = left_out.map(|(ids, why)| format!("{} ({why})", ids.join(", ")));
    let left_out: Vec<String> = left_out.collect();
    if asked.is_empty() {
        let what = format!("{}: no scenario to try without a skill", suite.path.display());
        let complaint = left_out.into_iter().fold(Complaint::input(what), Complaint::caused_by);
        return Err(complaint.hint("add `expectations` or checks of the result"));
    }
    Ok((asked, left_out))
}

fn invocation(
    suite: &Suite,
    scenarios: Vec<Scenario>,
    flags: &TryFlags,
    env: &Environment,
) -> Result<Invocation, Complaint> {
    let path = suite.path.to_str();
    let path = path.ok_or_else(|| Complaint::input("the path of the suite is not UTF-8"))?.to_owned();
    let project = env.project_here();
    let mut settings = crate::loops::settings(&project, env)?;
    let casting = casting(&mut settings, flags, env)?;
    let mut common = Common { project, settings, casting, pinned: Vec::new(), epoch: 0 };
    let planned = tune::Suite {
        path,
        found: false,
        // `suite check` itself reports both.
        drafts: Vec::new(),
        notes: Vec::new(),
        answers: Vec::new(),
    };
    let members = vec![Skill { name: name(&suite.path), path: suite.path.clone() }];
    let task_set =
        TaskSet { scenarios, starts: suite.starts.clone(), suite: Some(planned) }.of_skills(&members);
    task_set.check(&[], &Delivery::Inline, env)?;
    allow_shell(&mut common, &task_set.scenarios)?;
    let tried = (Aim::Try { trials: flags.trials }, vec![Version::Nothing]);
    let untrusted = (Pages::read(&common.settings)?, Some(suite.clone()));
    Ok(Invocation::of_trials(tried, common, Delivery::Inline, members, task_set, untrusted))
}

/// Assigns the roles. Nothing is improved: that role gets the executor's agent, so that no other agent is needed.
fn casting(settings: &mut Settings, flags: &TryFlags, env: &Environment) -> Result<Casting, Complaint> {
    let agent = || flags.agent.clone().map(Some);
    override_with(&mut settings.roles.executor, agent(), "--agent");
    override_with(&mut settings.roles.evaluator, agent(), "--agent");
    casting::fill(settings, env);
    settings.roles.improver = settings.roles.executor.clone();
    // Nothing is compared.
    let RoleSettings { second_improver, panel, .. } = RoleSettings::default();
    (settings.roles.second_improver, settings.roles.panel) = (second_improver, panel);
    let casting = casting::cast(Tune::ROLES, settings, env, BuiltIn::KnowsNothing)?;
    if casting.values().any(|part| part.agent.name == offline::NAME) {
        return Err(
            Complaint::input("the built-in agent does nothing without a skill").hint("pass --agent NAME")
        );
    }
    Ok(casting)
}

/// Returns the skill's name, if the suite is its own, and otherwise the suite's: a name for folders and lists.
fn name(suite: &Path) -> String {
    let own = suite.parent().filter(|folder| folder.ends_with("evals")).and_then(Path::parent);
    let name = own.and_then(Path::file_name).or_else(|| suite.file_stem());
    let name = name.and_then(|name| name.to_str()).filter(|name| name.parse::<Name>().is_ok());
    name.unwrap_or("suite").to_owned()
}

/// Returns whether the price is agreed to. Calls cost money, so a user who cannot be asked must agree beforehand.
pub fn agreed(plan: &Plan, trials: u32, start: &Start<'_>) -> Result<bool, Complaint> {
    let scenarios = count(plan.task.scenarios.len(), "scenario");
    let trials = count(trials as usize, "trial");
    let most = words::most_calls(&Tune::most_calls(plan), &plan.roles);
    let print = if start.yes { Printer::talk } else { Printer::warn };
    print(start.printer, &format!("trying {scenarios} without a skill, {trials} each: {most}"));
    match start.person() {
        Some(person) => person.agree("Make these calls?"),
        None if start.yes => Ok(true),
        None => Err(Complaint::input("cannot ask whether to make these calls: not a terminal")
            .hint("pass --yes to make them")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_a_skill_is_named_after_the_skill_that_has_the_suite_or_after_the_suite() {
        for (path, expected) in [
            ("/p/skills/writer/evals/evals.json", "writer"),
            ("/p/suites/reports.toml", "reports"),
            ("/p/evals", "evals"),
            ("/", "suite"),
        ] {
            assert_eq!(name(Path::new(path)), expected);
        }
    }
}
