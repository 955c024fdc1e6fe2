//! The tasks of a run, from text, flags and a suite, and the shell that they may need.

use std::path::{Path, PathBuf};

use skilltune_orchestrator::process::can_confine;
use skilltune_orchestrator::snapshot::RelPath;
use skilltune_phases::base::delivery::Delivery;
use skilltune_phases::base::name::Name;
use skilltune_phases::base::role::{Rights, Role};
use skilltune_phases::loops::tune::{self, SKILL};
use skilltune_phases::runs::plan::Isolation;
use skilltune_phases::suites::checks::Check;
use skilltune_phases::suites::scenario::{Scenario, Tools};

use crate::casting::{on_path, system_confines};
use crate::inputs::find::Skill;
use crate::inputs::suite::{Note, Starts, Suite, numbered};
use crate::loops::start::Common;
use crate::loops::tune::args::TuneArgs;
use crate::loops::tune::settings::TuneSettings;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::text::plain::shell_path;

/// The task for a skill if the user gives none.
pub const GENERAL: &str = "Use the skill for a typical task of the kind that it describes, from its first step to its last, \
and leave everything that it promises. Choose realistic input yourself: one ordinary case, and one at the edge of what \
the skill should cover.";

/// The tasks that a skill or a chain is tried on.
#[derive(Clone, Debug, Default)]
pub struct TaskSet {
    pub scenarios: Vec<Scenario>,
    pub starts: Starts,
    pub suite: Option<tune::Suite>,
}

impl TaskSet {
    /// Returns the tasks of the command line, if any. A suite that a skill brings along is used only without them.
    pub fn given(args: &TuneArgs, suite: Option<Suite>) -> Result<Option<Self>, Complaint> {
        let says = suite.is_some() || has_task(args);
        says.then(|| Self::of(args, suite)).transpose()
    }

    /// Returns a suite's scenarios and those of the command line, or the general task. The requirements of the flags
    /// apply to the tasks of the flags.
    pub fn of(args: &TuneArgs, suite: Option<Suite>) -> Result<Self, Complaint> {
        refuse_empty(args)?;
        let found = args.suite.is_none();
        if let Some(suite) = suite.as_ref().filter(|suite| is_all_held_out(suite)) {
            let what = "all its scenarios are held out; none is left to search with";
            return Err(Complaint::input(format!("{}: {what}", suite.path.display())));
        }
        let mut task_set = suite.map(|suite| Self::of_suite(suite, found)).transpose()?.unwrap_or_default();
        let general = task_set.scenarios.is_empty() && !has_task(args);
        let tasks = tasks(args).chain(general.then(|| GENERAL.to_owned()));
        for task in tasks.collect::<Vec<_>>() {
            let id = next_id(&task_set.scenarios);
            task_set.scenarios.push(scenario(id, &task, args));
        }
        Ok(task_set)
    }

    /// Returns all scenarios of a suite that count; `found` if the user did not name it.
    pub fn of_suite(suite: Suite, found: bool) -> Result<Self, Complaint> {
        let path = suite.path.display().to_string();
        if suite.scenarios.is_empty() {
            let complaint = Complaint::input(format!("{path}: all its scenarios are drafts"));
            let complaint = suite.notes.iter().map(Note::to_string).fold(complaint, Complaint::caused_by);
            return Err(complaint.hint("complete them, and remove `draft` from those that should count"));
        }
        let drafts: Vec<Name> = suite.drafts.iter().map(|draft| draft.id.clone()).collect();
        // Notes that are only about drafts are dropped: it is enough to say that drafts do not count.
        let is_of_drafts =
            |note: &&Note| !note.scenarios.is_empty() && note.scenarios.iter().all(|id| drafts.contains(id));
        let notes = suite.notes.iter().filter(|note| !is_of_drafts(note)).map(|note| note.to_string().into());
        let planned = tune::Suite { path, found, notes: notes.collect(), drafts, answers: Vec::new() };
        Ok(Self { scenarios: suite.scenarios, starts: suite.starts, suite: Some(planned) })
    }

    /// Adapts the tasks to these members: files of the skill that scenarios bring come from the version on trial.
    #[must_use]
    pub fn of_skills(mut self, members: &[Skill]) -> Self {
        let suite = self.suite.as_ref().map(|suite| PathBuf::from(&suite.path));
        let left_out = self.starts.claim(members, suite.as_deref());
        let note = |path: &RelPath| format!("{path} is not placed: it belongs to a later skill of the chain");
        let notes = left_out.iter().map(note).collect();
        self.suite = self.suite.map(|suite| suite.with_notes(notes));
        self
    }

    /// Checks whether it can be tried here, and on these members.
    pub fn check(&self, members: &[Skill], delivery: &Delivery, env: &Environment) -> Result<(), Complaint> {
        // The folder where the executor finds the skill.
        let place = delivery.at().unwrap_or(SKILL).split('/').next().unwrap_or_default();
        for scenario in &self.scenarios {
            let brought = self.starts.of(&scenario.id);
            if brought.iter().any(|brought| brought.at.as_path().starts_with(place)) {
                let what =
                    format!("scenario `{}` uses `{place}`, where skilltune puts the skill", scenario.id);
                return Err(Complaint::input(what).hint("give it another name in `files`"));
            }
        }
        if self.scenarios.iter().any(|scenario| scenario.git) && on_path("git", env).is_err() {
            let what = "a scenario of the suite has `git = true`, but `git` is not installed";
            return Err(Complaint::input(what));
        }
        for (what, program) in self.scenarios.iter().flat_map(programs) {
            if on_path(program, env).is_err() {
                return Err(Complaint::input(format!("{what} needs `{program}`, which is not installed")));
            }
        }
        let demands =
            self.scenarios.iter().flat_map(|one| one.demands.iter().map(move |demand| (one, demand)));
        for (scenario, demand) in demands {
            let Some(name) = &demand.member else { continue };
            if !members.iter().any(|member| member.name == name.as_str()) {
                let names: Vec<_> = members.iter().map(|member| member.name.as_str()).collect();
                let what = format!("`{}` of scenario `{}` is about `{name}`", demand.id, scenario.id);
                let hint = format!("this run tries {}", names.join(", "));
                return Err(Complaint::input(format!("{what}, which is not a skill of this run")).hint(hint));
            }
        }
        Ok(())
    }
}

fn is_all_held_out(suite: &Suite) -> bool {
    !suite.scenarios.is_empty() && suite.scenarios.iter().all(|scenario| scenario.held_out)
}

/// Returns the programs that a scenario names without a folder, and what needs each: `PATH` has no files of a trial.
fn programs(scenario: &Scenario) -> Vec<(String, &str)> {
    let setup = scenario.setup.as_ref().map(|argv| (format!("the set-up of `{}`", scenario.id), argv));
    let checks = scenario.demands.iter().filter_map(|demand| {
        let Check::Command { argv, .. } = demand.how.check()? else { return None };
        Some((format!("check `{}` of `{}`", demand.id, scenario.id), argv))
    });
    let named =
        setup.into_iter().chain(checks).filter_map(|(what, argv)| Some((what, argv.first()?.as_str())));
    named.filter(|(_, program)| !program.contains(['/', '{'])).collect()
}

/// Refuses a task that is a suite's file: without `--suite`, a run on the name of a file would be paid.
pub fn refuse_file(args: &TuneArgs, env: &Environment) -> Result<(), Complaint> {
    let task = args.text.join(" ");
    let path = Path::new(task.trim());
    let is_suite = path.extension().is_some_and(|end| SUITE_ENDS.iter().any(|known| end == *known));
    if !is_suite || !env.cwd.join(path).is_file() {
        return Ok(());
    }
    let hint = format!("did you mean `--suite {}`?", shell_path(path));
    Err(Complaint::input(format!("the task is the name of a file: {}", path.display())).hint(hint))
}

const SUITE_ENDS: [&str; 4] = ["toml", "json", "yaml", "yml"];

/// Returns whether the command line has a task.
pub fn has_task(args: &TuneArgs) -> bool {
    tasks(args).next().is_some()
}

/// Refuses an empty task: without any, the agent makes one up, which costs as much and shows less.
fn refuse_empty(args: &TuneArgs) -> Result<(), Complaint> {
    let texts = (!args.text.is_empty()).then(|| args.text.join(" "));
    if texts.iter().chain(&args.scenarios).all(|text| !text.trim().is_empty()) {
        return Ok(());
    }
    Err(Complaint::input("the task is empty")
        .hint("leave it out to let the agent make one up: weak evidence"))
}

fn tasks(args: &TuneArgs) -> impl Iterator<Item = String> {
    let said = std::iter::once(args.text.join(" ")).chain(args.scenarios.iter().cloned());
    said.map(|text| text.trim().to_owned()).filter(|task| !task.is_empty())
}

/// Returns the first number that no earlier scenario uses.
fn next_id(scenarios: &[Scenario]) -> Name {
    let ids = (scenarios.len() + 1..).map(numbered);
    let mut free = ids.filter(|id| scenarios.iter().all(|scenario| scenario.id != *id));
    free.next().expect("numbers do not end")
}

fn scenario(id: Name, task: &str, args: &TuneArgs) -> Scenario {
    let mut scenario = Scenario::new(id, task);
    let requirements = args.requirements.iter().map(|requirement| requirement.trim());
    scenario.requirements = requirements.filter(|text| !text.is_empty()).map(str::to_owned).collect();
    scenario.input_args = args.input_args.clone().unwrap_or_default();
    let criteria = args.success_criteria.as_deref().map(str::trim).filter(|text| !text.is_empty());
    if let Some(criteria) = criteria {
        criteria.clone_into(&mut scenario.success_criteria);
    }
    scenario
}

/// Gives the executor a shell if one of the scenarios needs it, or says why this is impossible. A custom command has the
/// tools that it has.
pub fn allow_shell(common: &mut Common, scenarios: &[Scenario]) -> Result<(), Complaint> {
    let usual = Tools::from(common.settings.of::<TuneSettings>().tools.value);
    if scenarios.iter().all(|scenario| scenario.tools.unwrap_or(usual) != Tools::Shell) {
        return Ok(());
    }
    give_shell(common, Rights::Shell)
}

/// Gives the executor the rights to run commands, or says why this is impossible.
pub fn give_shell(common: &mut Common, rights: Rights) -> Result<(), Complaint> {
    let Common { settings, casting, .. } = common;
    let executor = casting.of_mut(&Role::EXECUTOR);
    let agent = &executor.agent;
    if agent.via().is_none() && agent.isolation() == Isolation::User {
        let what = format!("cannot give `{}` a shell with --isolation user", agent.name);
        return Err(Complaint::input(what)
            .caused_by("its commands could change your own setup, which your other sessions run")
            .hint("pass --isolation partial, or --tools files"));
    }
    executor.rights = agent.enforced(rights, system_confines(settings));
    if agent.lacks_shell() && settings.limits.confine.value && !can_confine() {
        let what = format!("cannot give `{}` a shell: this system cannot confine its commands", agent.name);
        return Err(Complaint::input(what).hint(
            "pass --tools files, or set `limits.confine = false` in your own settings to run them unconfined",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::cli::tune_args;

    fn scenarios_of(line: &[&str]) -> Vec<Scenario> {
        TaskSet::of(&tune_args(line).unwrap(), None).unwrap().scenarios
    }

    #[test]
    fn the_rest_of_the_line_is_one_scenario_and_every_flag_another() {
        let scenarios = scenarios_of(&["a", "Write", "a haiku", "--scenario", "Write a limerick"]);
        let tasks: Vec<&str> = scenarios.iter().map(|scenario| scenario.description.as_str()).collect();
        assert_eq!(tasks, ["Write a haiku", "Write a limerick"]);
        assert_eq!(scenarios[1].id, "scenario-2");
    }

    #[test]
    fn nothing_said_means_the_general_task() {
        assert_eq!(scenarios_of(&["a"]), [Scenario::new(numbered(1), GENERAL)]);
        for line in [&["a", ""][..], &["a", "--scenario", "  "]] {
            let refused = TaskSet::of(&tune_args(line).unwrap(), None).unwrap_err();
            assert_eq!(refused.what, "the task is empty", "{line:?}");
        }
    }

    #[test]
    fn a_task_that_is_the_file_of_a_suite_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let env = Environment { cwd: root.path().to_owned(), ..Environment::fake(root.path(), &[]) };
        for name in ["six.toml", "two words.json", "notes.md"] {
            std::fs::write(root.path().join(name), "").unwrap();
        }
        let refused = |words: &[&str]| {
            let args = tune_args(&[&["a"], words].concat()).unwrap();
            refuse_file(&args, &env).map_err(|complaint| complaint.hints.concat())
        };
        assert_eq!(refused(&["six.toml"]), Err("did you mean `--suite six.toml`?".to_owned()));
        assert_eq!(refused(&["./six.toml"]), Err("did you mean `--suite ./six.toml`?".to_owned()));
        assert_eq!(
            refused(&["two", "words.json"]),
            Err("did you mean `--suite 'two words.json'`?".to_owned())
        );
        for task in [&["notes.md"][..], &["other.toml"], &["read", "six.toml"], &[]] {
            assert_eq!(refused(task), Ok(()), "{task:?}");
        }
    }

    #[test]
    fn requirements_and_criteria_hold_for_every_scenario() {
        let flags = ["--requirements", "x, ,y", "--input-args", "-v 1", "--success-criteria", "It rhymes"];
        let line: Vec<&str> = ["a", "--test", "one", "--test", "two"].into_iter().chain(flags).collect();
        for scenario in scenarios_of(&line) {
            assert_eq!(scenario.requirements, ["x", "y"]);
            assert_eq!(scenario.input_args, "-v 1");
            assert_eq!(scenario.success_criteria, "It rhymes");
        }
    }
}
