//! The commands of the project on a tree: which there are, and whether they are newly red.

use super::decision::{Pass, PassKind};
use super::next::pass_of;
use super::plan::Item;
use super::spec::Id;
use super::step::{Answer, Command, CommandEnd, Step};
use super::weakened::Weakening;
use super::{Next, Run};
use crate::base::id::TreeId;
use crate::loops::shared::commands::Stage;
use crate::loops::shared::test_results::TestResults;
use crate::runs::run::StepState;

/// What a stage says about a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// The tree has no command for it.
    Missing,
    /// It passes, or fails as it did before the run.
    Passed,
    /// It fails as the unchanged project does, and does not tell which tests fail: it decides nothing.
    NotLookedAt,
    /// It fails, and did not before.
    Red,
}

/// Whether as many tests ran on a tree as on the unchanged project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    SameOrMore,
    Fewer {
        now: u32,
        before: u32,
    },
    /// A runner does not tell, or one of the two runs failed, and may have stopped early.
    NotCounted,
}

/// Returns the steps that find and run all commands of a tree.
pub(super) fn all_of(run: &Run, tree: TreeId) -> Vec<Step> {
    let look = Step::Look { tree };
    match run.commands(tree) {
        None => vec![look],
        Some(commands) => commands.iter().map(|one| Step::Run { tree, stage: one.stage }).collect(),
    }
}

/// Returns what a stage says about a tree, or the steps that are needed to know.
pub(super) fn gate(run: &Run, tree: TreeId, stage: Stage) -> Result<Gate, Vec<Step>> {
    match (known(run, tree, stage), known(run, run.base(), stage)) {
        (Ok(now), Ok(before)) => Ok(compare(now, before)),
        (now, before) => Err([now.err(), before.err()].into_iter().flatten().collect()),
    }
}

/// What is known of a command on a tree.
#[derive(Clone, Copy)]
enum Known<'a> {
    /// The tree has no such command.
    Missing,
    CouldNotRun,
    Ended(&'a CommandEnd),
}

/// Returns what is known of a command, or the step that is needed to know it.
fn known(run: &Run, tree: TreeId, stage: Stage) -> Result<Known<'_>, Step> {
    let commands = run.commands(tree).ok_or(Step::Look { tree })?;
    if commands.iter().all(|one| one.stage != stage) {
        return Ok(Known::Missing);
    }
    let step = Step::Run { tree, stage };
    match run.state_of(&step) {
        StepState::Open => Err(step),
        StepState::Answered(Answer::Ran(end)) => Ok(Known::Ended(end)),
        StepState::Answered(_) | StepState::GivenUp(_) => Ok(Known::CouldNotRun),
    }
}

/// Compares the end of a command with its end on the unchanged project.
fn compare(now: Known<'_>, before: Known<'_>) -> Gate {
    let is_green = |seen: Known<'_>| matches!(seen, Known::Ended(end) if end.exit == Some(0));
    let tests = |seen: Known<'_>| match seen {
        Known::Ended(end) => end.tests.clone(),
        Known::Missing | Known::CouldNotRun => None,
    };
    match (now, before) {
        // A change that takes a green command away breaks it.
        (Known::Missing, _) if is_green(before) => Gate::Red,
        (Known::Missing, _) => Gate::Missing,
        _ if is_green(now) => Gate::Passed,
        (_, Known::Missing) => Gate::Red,
        _ if is_green(before) => Gate::Red,
        _ => match (tests(now), tests(before)) {
            // Tests of one name may be in several programs.
            (Some(now), Some(before)) if now.failed > before.failed => Gate::Red,
            (Some(now), Some(before)) if !now.names_what_fails() || !before.names_what_fails() => {
                Gate::NotLookedAt
            }
            (Some(now), Some(before)) if now.newly_failing(&before).is_empty() => Gate::Passed,
            (Some(_), Some(_)) => Gate::Red,
            _ => Gate::NotLookedAt,
        },
    }
}

/// Flow A: each command that is newly red becomes a task.
pub(super) fn fix(run: &Run) -> Next<'_> {
    let state = &run.state;
    let red = state.rounds.last().map_or(&[][..], |round| &round.red[..]);
    let mut new: Vec<Item> = Vec::new();
    let planned = state.plan.iter().flat_map(|plan| &plan.tasks).map(|item| &item.id);
    let known: Vec<Id> = planned.chain(state.merged.iter().map(|work| &work.task)).cloned().collect();
    let mut free = (1_u32..).map(|number| Id::from(format!("fix-{number}"))).filter(|id| !known.contains(id));
    for stage in red {
        let Some(id) = free.next() else { continue };
        let (title, description) = run.fixing(*stage);
        new.push(Item {
            id,
            title: title.into(),
            description: description.into(),
            covers: Vec::new(),
            after: new.last().map(|item| item.id.clone()).into_iter().collect(),
            touches: Vec::new(),
            replaces: known.clone(),
        });
    }
    let layers: Vec<Vec<Id>> = new.iter().map(|item| vec![item.id.clone()]).collect();
    pass_of(Pass { kind: PassKind::Fix, from: state.tree, layers, new, note: "".into() })
}

impl Run {
    /// Returns the title and the text of a task that mends a stage.
    fn fixing(&self, stage: Stage) -> (String, String) {
        let Some((command, end)) = self.ran(self.state.tree, stage) else {
            let word = stage.word();
            let text =
                format!("The project had a command for it ({word}), and the changes so far took it away.");
            return (format!("bring back the command to {word} the project"), text);
        };
        let said = end.map_or("it could not start", |end| &*end.said);
        let command = command.argv.join(" ");
        let exit = end.and_then(|end| end.exit).map(|exit| format!(" with exit code {exit}"));
        let text =
            format!("`{command}` failed{}. The end of its output:\n\n{said}", exit.unwrap_or_default());
        (format!("make `{command}` pass"), text)
    }

    /// Returns the commands of a tree, once they were looked for.
    pub fn commands(&self, tree: TreeId) -> Option<&[Command]> {
        match self.state_of(&Step::Look { tree }) {
            StepState::Answered(Answer::Found(commands)) => Some(commands),
            StepState::Answered(_) | StepState::GivenUp(_) => Some(&[]),
            StepState::Open => None,
        }
    }

    /// Returns a command of a tree and how it ended, if it ran.
    pub fn ran(&self, tree: TreeId, stage: Stage) -> Option<(&Command, Option<&CommandEnd>)> {
        let command = self.commands(tree)?.iter().find(|one| one.stage == stage)?;
        match self.state_of(&Step::Run { tree, stage }) {
            StepState::Answered(Answer::Ran(end)) => Some((command, Some(end))),
            StepState::GivenUp(_) => Some((command, None)),
            StepState::Answered(_) | StepState::Open => None,
        }
    }

    /// Returns what a stage says about a tree, once that is known.
    pub fn gate(&self, tree: TreeId, stage: Stage) -> Option<Gate> {
        gate(self, tree, stage).ok()
    }

    /// Compares how many tests ran on a tree and on the unchanged project.
    pub fn counted(&self, tree: TreeId) -> Counted {
        let of = |tree| match known(self, tree, Stage::Test) {
            Ok(Known::Ended(end)) if end.exit == Some(0) => end.tests.as_ref().map(TestResults::ran),
            Ok(Known::Missing) => Some(0),
            Ok(Known::Ended(_) | Known::CouldNotRun) | Err(_) => None,
        };
        match (of(tree), of(self.base())) {
            (Some(now), Some(before)) if now < before => Counted::Fewer { now, before },
            (Some(_), Some(_)) => Counted::SameOrMore,
            (None, _) | (_, None) => Counted::NotCounted,
        }
    }

    /// Returns a danger if fewer tests ran on a tree than on the unchanged project.
    pub(super) fn fewer_tests(&self, tree: TreeId) -> Option<Weakening> {
        let Counted::Fewer { now, before } = self.counted(tree) else { return None };
        let (command, _) = self.ran(tree, Stage::Test)?;
        let fewer = before - now;
        let tests = if fewer == 1 { "test" } else { "tests" };
        let what = format!("runs {fewer} {tests} fewer than before ({now}, {before} before)");
        Some(Weakening { path: command.argv.join(" ").into(), line: None, what: what.into() })
    }
}
