//! Asks for the task of a run, if the command line has none.

use std::ops::ControlFlow;
use std::path::Path;

use skilltune_orchestrator::disk::SafePath;
use skilltune_phases::skills::offline;
use skilltune_phases::skills::target::Mode;

use crate::args::suite::{DRAFTS, SuiteNewArgs};
use crate::inputs::find::Skill;
use crate::inputs::suite::{SUITE_FILE, Suite};
use crate::loops::tune::args::TuneArgs;
use crate::loops::tune::scenarios::GENERAL;
use crate::settings::values::{AgentSpec, Format};
use crate::terminal::complaint::Complaint;
use crate::terminal::questions::Answers;
use crate::text::plain::one_line;

/// The source of the tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// The suite that the skill brings along.
    Own,
    /// The suite in the project's folder.
    Project,
    /// The user types a task.
    Typed,
    /// An agent drafts a suite, which the user has to review before anything is tuned.
    Draft,
    /// The agent makes up a task.
    General,
}

/// The facts that decide which sources are offered.
#[derive(Clone, Copy, Debug)]
pub struct TaskQuestion<'a> {
    pub skills: &'a [Skill],
    pub mode: Mode,
    pub project: &'a Path,
    /// The agent that would draft a suite.
    pub improver: Option<&'a AgentSpec>,
}

/// Returns the command line with the user's answer in it, or the arguments to have a suite drafted.
pub fn completed(
    args: &TuneArgs,
    question: TaskQuestion<'_>,
    person: &dyn Answers,
) -> Result<ControlFlow<SuiteNewArgs, TuneArgs>, Complaint> {
    let with_task = |task: String| TuneArgs { text: vec![task], ..args.clone() };
    Ok(ControlFlow::Continue(match source(args, question, person)? {
        Source::Own => args.clone(),
        Source::Project => TuneArgs { suite: Some(question.project.join(SUITE_FILE)), ..args.clone() },
        Source::Typed => {
            let task =
                person.line("Which task?", "as you would ask an agent; enter to let it make one up")?;
            with_task(task.unwrap_or_else(|| GENERAL.to_owned()))
        }
        Source::General => with_task(GENERAL.to_owned()),
        Source::Draft => {
            return Ok(ControlFlow::Break(SuiteNewArgs {
                skill: args.skill_list().to_owned(),
                to: None,
                scenarios: DRAFTS,
                agent: question.improver.cloned(),
                trust: args.trust,
                format: Format::Human,
            }));
        }
    }))
}

fn source(args: &TuneArgs, question: TaskQuestion<'_>, person: &dyn Answers) -> Result<Source, Complaint> {
    let sources = sources(args, question);
    let what = match question.skills {
        [skill] => one_line(&skill.name),
        skills => format!("these {} skills", skills.len()),
    };
    let options: Vec<&str> = sources.iter().map(|source| label(*source, question.skills.len())).collect();
    Ok(sources[person.pick(&format!("What should {what} be tried on?"), &options, 0)?])
}

/// Returns what there is to choose from; the first one is the default. A chain has no suite of its own, and drafts are
/// of one skill. A dry run calls no agent.
fn sources(args: &TuneArgs, question: TaskQuestion<'_>) -> Vec<Source> {
    let TaskQuestion { skills, mode, project, improver } = question;
    let has_own = mode == Mode::Single && skills.iter().any(|skill| Suite::is_beside(&skill.path));
    let has_suite = SafePath::below(project, SUITE_FILE).is_file();
    let is_free = project.join(SUITE_FILE).symlink_metadata().is_err();
    let has_drafter = improver.is_some_and(|improver| improver.agent != offline::NAME);
    let can_draft = skills.len() == 1 && is_free && has_drafter && !args.run.only_shows();
    let all = [
        (has_own, Source::Own),
        (has_suite, Source::Project),
        (true, Source::Typed),
        (can_draft, Source::Draft),
        (true, Source::General),
    ];
    all.into_iter().filter_map(|(is_there, source)| is_there.then_some(source)).collect()
}

fn label(source: Source, skills: usize) -> &'static str {
    match source {
        Source::Own if skills == 1 => "its own suite, evals/evals.json",
        Source::Own => "their own suites, evals/evals.json, where they have one",
        Source::Project => "the project's suite, suite.toml",
        Source::Typed => "a task that you type",
        Source::Draft => "a suite that an agent drafts now, in one call, for you to review",
        Source::General => "a task that the agent makes up: weak evidence",
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::commands::cli::tune_args;
    use crate::terminal::questions::scripted::Script;

    const QUESTION: &str = "be tried on";

    struct World {
        project: tempfile::TempDir,
        skills: Vec<Skill>,
        improver: AgentSpec,
    }

    impl World {
        fn new(files: &[&str]) -> Self {
            let project = tempfile::tempdir().unwrap();
            for file in files {
                let path = project.path().join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "{}").unwrap();
            }
            let skill = |name: &str| Skill { name: name.to_owned(), path: project.path().join(name) };
            let skills = ["a", "b"].map(skill).into();
            Self { project, skills, improver: AgentSpec { agent: "claude".to_owned(), model: None } }
        }

        fn asked(&self, skills: usize, mode: Mode) -> TaskQuestion<'_> {
            let project = self.project.path();
            TaskQuestion { skills: &self.skills[..skills], mode, project, improver: Some(&self.improver) }
        }

        /// Returns the command line or the draft of a person who picks this option.
        fn picked(&self, line: &[&str], picked: usize, typed: &str) -> ControlFlow<SuiteNewArgs, TuneArgs> {
            let (picks, line_typed) = (vec![(QUESTION, picked)], Some(typed.to_owned()));
            let person = Script { picks, line: line_typed, ..Script::default() };
            completed(&tune_args(line).unwrap(), self.asked(1, Mode::Single), &person).unwrap()
        }
    }

    #[test]
    fn what_is_there_is_offered_and_nothing_else() {
        use Source::{Draft, General, Own, Project, Typed};
        let args = |more: &[&str]| tune_args(&[&["a"], more].concat()).unwrap();
        let offered = |files: &[&str], skills: usize, mode: Mode, more: &[&str]| {
            sources(&args(more), World::new(files).asked(skills, mode))
        };
        let (own, suite) = ("a/evals/evals.json", "suite.toml");
        assert_eq!(offered(&[], 1, Mode::Single, &[]), [Typed, Draft, General]);
        assert_eq!(offered(&[own], 1, Mode::Single, &[]), [Own, Typed, Draft, General]);
        assert_eq!(offered(&[own, suite], 1, Mode::Single, &[]), [Own, Project, Typed, General]);
        assert_eq!(offered(&[own], 2, Mode::Single, &[]), [Own, Typed, General]);
        assert_eq!(offered(&[own], 2, Mode::Chain, &[]), [Typed, General], "a chain has no suite of its own");
        assert_eq!(offered(&[], 1, Mode::Single, &["--dry-run"]), [Typed, General], "it makes no call");
        let world = World::new(&[]);
        let offline = AgentSpec { agent: offline::NAME.to_owned(), model: None };
        for improver in [None, Some(&offline)] {
            let asked = TaskQuestion { improver, ..world.asked(1, Mode::Single) };
            assert_eq!(sources(&args(&[]), asked), [Typed, General], "no agent drafts");
        }
    }

    #[test]
    fn a_suite_that_is_a_symlink_is_neither_offered_nor_written_over() {
        let world = World::new(&["elsewhere.toml"]);
        let at = |name: &str| world.project.path().join(name);
        std::os::unix::fs::symlink(at("elsewhere.toml"), at("suite.toml")).unwrap();
        let args = tune_args(&["a"]).unwrap();
        assert_eq!(sources(&args, world.asked(1, Mode::Single)), [Source::Typed, Source::General]);
    }

    #[test]
    fn the_answer_becomes_a_part_of_the_command_line() {
        let world = World::new(&[]);
        let text = |picked: usize, typed: &str| {
            let args = world.picked(&["a", "--preset", "quick"], picked, typed).continue_value().unwrap();
            assert_eq!(args.suite, None);
            args.text.concat()
        };
        assert_eq!(text(0, "Write a haiku"), "Write a haiku");
        assert_eq!(text(0, ""), GENERAL, "enter");
        assert_eq!(text(2, "Write a haiku"), GENERAL);
        let draft = world.picked(&["a", "--trust"], 1, "").break_value().unwrap();
        assert_eq!((draft.skill.as_str(), draft.to, draft.scenarios, draft.trust), ("a", None, DRAFTS, true));
        assert_eq!(draft.agent, Some(world.improver.clone()));
        let world = World::new(&["a/evals/evals.json", "suite.toml"]);
        let own = world.picked(&["a"], 0, "").continue_value().unwrap();
        assert_eq!((own.suite, own.text), (None, Vec::new()));
        let suite = world.picked(&["a"], 1, "").continue_value().unwrap();
        assert_eq!(suite.suite, Some(world.project.path().join("suite.toml")));
    }

    #[test]
    fn the_question_names_the_skill_or_their_number() {
        let world = World::new(&["a/evals/evals.json"]);
        let question = |skills: usize| {
            let person = Script::default();
            let _ =
                completed(&tune_args(&["a"]).unwrap(), world.asked(skills, Mode::Single), &person).unwrap();
            person.asked.take().remove(0)
        };
        assert_eq!(question(1), "What should a be tried on? its own suite, evals/evals.json");
        assert_eq!(
            question(2),
            "What should these 2 skills be tried on? their own suites, evals/evals.json, where they have one"
        );
    }
}
