//! The words for a run of `evolve` and its parts.

mod questions;

use skilltune_phases::base::id::TreeId;
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::evolve::amendment::Amendment;
use skilltune_phases::loops::evolve::course::{Entry, Persona};
use skilltune_phases::loops::evolve::decision::{Amended, Round, TaskEnd, WorkEnd};
use skilltune_phases::loops::evolve::evaluation::{Evaluation, Evidence, Verdict};
use skilltune_phases::loops::evolve::oracle::{Interface, Light, Probed, Proposal};
use skilltune_phases::loops::evolve::spec::Id;
use skilltune_phases::loops::evolve::step::{Choice, CommandEnd, Question};
use skilltune_phases::loops::evolve::task::Apply;
use skilltune_phases::loops::evolve::weakened::Weakening;
use skilltune_phases::loops::evolve::{Answer, Counted, Decision, Gate, Plan, Run, Step, Task};
use skilltune_phases::runs::plan::{Cast, Enforced};
use skilltune_phases::runs::run::StepState;
use skilltune_phases::suites::checks::RunThem;

use crate::loops::evolve::repeated;
use crate::loops::tune::words::commands_of;
use crate::report::words;
use crate::text::figures::{count, ordinal};
use crate::text::plain::one_line;
use crate::text::width::cut;

pub use questions::{asked, matter, offers, question};

pub fn tools(task: &Task) -> &'static str {
    if task.has_shell { "shell" } else { "files" }
}

pub fn apply(apply: Apply) -> &'static str {
    match apply {
        Apply::Never => "never",
        Apply::Propose(form) => form.word(),
        Apply::Tree => "tree",
    }
}

/// Returns how much is asked for, and how the tasks are done.
pub fn aim(run: &Run) -> String {
    let task = &run.plan.task;
    if task.verify.is_some() {
        return repeated::aim(run);
    }
    let (criteria, constraints) = (task.spec.criteria.len(), task.spec.constraints.len());
    let asked =
        format!("{}, {}", counted(criteria, "criterion", "criteria"), count(constraints, "constraint"));
    if task.plan_only {
        return format!("{asked}; only a plan is made");
    }
    let tools = if task.has_shell { "with a shell" } else { "without a shell" };
    one_line(&format!("{asked}; tasks work on copies of {}, {tools}", task.root))
}

fn counted(number: usize, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

/// Returns what a person has to know before they believe a result.
pub fn notes(plan: &Plan) -> Vec<String> {
    let task = &plan.task;
    if task.verify.is_some() {
        return task.remarks.iter().map(|remark| one_line(remark)).collect();
    }
    let shell = commands_of(plan.roles.of(&Role::EXECUTOR), "task");
    let shell = shell.filter(|_| task.has_shell && !task.plan_only);
    let free = unconfined(plan.roles.of(&Role::EXECUTOR)).filter(|_| !task.plan_only);
    let own = task.remarks.iter().map(|remark| one_line(remark));
    let of_agents = words::remarks(&plan.roles).into_iter().chain(shell).chain(free);
    of_agents.chain(unchecked(task)).chain(without_oracles(task)).chain(own).collect()
}

/// Says that nothing keeps an agent of one's own in its copy. What a wrapper allows is said elsewhere.
fn unconfined(executor: &Cast) -> Option<String> {
    let is_free = executor.rights == Enforced::Nobody && !executor.lacks_shell && executor.via.is_none();
    is_free.then(|| {
        format!(
            "nothing confines the executor ({}): it can change every file that you can change, also in the project itself",
            executor.shown()
        )
    })
}

/// Says that the evaluator answers instead of checks that do not run.
fn unchecked(task: &Task) -> Option<String> {
    let checks = task.spec.criteria.iter().filter(|one| one.check.is_some()).count();
    let are_skipped = task.checks.run == RunThem::Never && checks > 0 && !task.plan_only;
    are_skipped.then(|| {
        let of = counted(checks, "criterion", "criteria");
        format!("the checks of {of} do not run, so the evaluator decides; pass --commands run to run them")
    })
}

/// Says that no machine verifies a criterion, although oracles are wanted.
fn without_oracles(task: &Task) -> Option<String> {
    let are_skipped = task.checks.run == RunThem::Never && task.has_oracles && !task.plan_only;
    are_skipped.then(|| {
        "no oracle may run, so no criterion will be verified by a machine; pass --commands run to let oracles run"
            .to_owned()
    })
}

/// Returns where a run is.
pub fn place(run: &Run) -> String {
    let state = &run.state;
    match state.open_batch() {
        _ if run.plan.task.verify.is_some() => "verifying".to_owned(),
        _ if state.plan.is_none() => "planning".to_owned(),
        Some((_, begun)) => format!("layer {}", begun.batch.layer + 1),
        None => format!("evaluation {}", state.rounds.len() + 1),
    }
}

/// Returns what a step does, and to what.
pub fn step(run: &Run, step: &Step) -> String {
    let state = &run.state;
    let text = match step {
        Step::Split => "split the goal into statements".to_owned(),
        Step::Classify => "classify the criteria".to_owned(),
        Step::Interface => "name what the work has to provide".to_owned(),
        Step::Oracle { criterion, go: 0 } => format!("write the oracle of {criterion}"),
        Step::Oracle { criterion, .. } => format!("mend the oracle of {criterion}"),
        Step::Divide { round: 0 } => "divide the work into tasks".to_owned(),
        Step::Divide { .. } => "plan tasks for the new criteria".to_owned(),
        Step::Replan { tasks, .. } => format!("plan again: {}", joined(tasks)),
        Step::Group => "group the tasks".to_owned(),
        Step::Match => "look for experts that can advise".to_owned(),
        Step::Advise { task, expert } => {
            let expert = run.plan.task.experts.get(*expert).map_or("an expert", |one| &*one.persona.name);
            format!("task {task}: ask {expert}")
        }
        Step::Agree { task } => format!("task {task}: make one advice of several"),
        Step::SetUp { .. } => "run the setup command on the unchanged project".to_owned(),
        Step::Look { tree } => format!("look for commands of {}", called(run, *tree)),
        Step::Run { tree, stage } => format!("{} on {}", stage.word(), called(run, *tree)),
        Step::Work { task, go, .. } => {
            let again = if *go > 1 { format!(" ({} time)", ordinal(*go as usize)) } else { String::new() };
            format!("task {task}: work{again}")
        }
        Step::Merge { batch, without } => {
            let tasks = state.batches.get(*batch).map_or(0, |begun| begun.batch.tasks.len());
            let tasks = count(tasks.saturating_sub(without.len()), "task");
            let without =
                if without.is_empty() { String::new() } else { format!(" without {}", joined(without)) };
            format!("merge {tasks}{without}")
        }
        Step::Drift { .. } => "compare the changes with the specification".to_owned(),
        Step::Probe { criterion, tree, .. } => probe(run, criterion, *tree),
        Step::Spoil { criterion, .. } => format!("write wrong versions for the oracle of {criterion}"),
        Step::Control => "let one executor do everything alone".to_owned(),
        Step::File { .. } => "add the receipts to the result".to_owned(),
        Step::Judge { tree, .. } => {
            match state.contract.as_ref().map_or(0, |contract| run.asked(*tree, contract).len()) {
                0 => "judge the goal".to_owned(),
                asked => format!("judge {}", counted(asked, "criterion", "criteria")),
            }
        }
        Step::Amend { persona: None, .. } => "look for what the criteria lack".to_owned(),
        Step::Amend { persona: Some(persona), .. } => format!("look for another way ({})", persona.word()),
        Step::Transplant { onto, .. } if Some(*onto) == run.state.base.committed => {
            "put the changes on the last commit".to_owned()
        }
        Step::Transplant { .. } => "merge the result with your own changes".to_owned(),
        Step::Follow { .. } => "look at what you have changed".to_owned(),
        Step::Audit { .. } => "look for changes that weaken tests".to_owned(),
        Step::Allow | Step::Settle { .. } | Step::Ask { .. } => format!("ask: {}", question(run, step)),
        Step::Promote { .. } => "write the result into the folder".to_owned(),
        Step::Commit { form, .. } => format!("make a {} of the result", form.word()),
    };
    one_line(&text)
}

fn called(run: &Run, tree: TreeId) -> &'static str {
    let is_of_control = || match run.state_of(&Step::Control) {
        StepState::Answered(Answer::Worked { made, .. }) => *made == tree,
        StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => false,
    };
    match &run.plan.task.verify {
        _ if tree == run.base() => "the unchanged project",
        Some(_) => "the result",
        None if is_of_control() => "the work of one executor",
        None => "the merged tree",
    }
}

/// Returns which oracle runs, and on what.
fn probe(run: &Run, criterion: &Id, tree: TreeId) -> String {
    let spoil = run.result().map(|result| Step::Spoil { tree: result, criterion: criterion.clone() });
    let is_wrong = spoil.is_some_and(|spoil| match run.state_of(&spoil) {
        StepState::Answered(Answer::Spoiled(all)) => all.iter().any(|wrong| wrong.tree == tree),
        StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => false,
    });
    let what = if run.is_check(criterion) { "check criterion" } else { "run the oracle of" };
    let on = if is_wrong { "a wrong version" } else { called(run, tree) };
    format!("{what} {criterion} on {on}")
}

pub fn answered(answer: &Answer) -> String {
    let text = match answer {
        Answer::Split(statements) => count(statements.len(), "statement"),
        Answer::Classified(all) => format!("{} classified", counted(all.len(), "criterion", "criteria")),
        Answer::Divided(tasks) => count(tasks.len(), "task"),
        Answer::Grouped(groups) => count(groups.len(), "group"),
        Answer::Matched(all) => format!("{} are relevant", count(all.len(), "expert")),
        Answer::Advised(perspective) => format!("advised (confidence {:.2})", perspective.confidence),
        Answer::Agreed(_) => "agreed".to_owned(),
        Answer::Found(commands) if commands.is_empty() => "no command".to_owned(),
        Answer::Found(commands) => {
            commands.iter().map(|one| one.argv.join(" ")).collect::<Vec<_>>().join(", ")
        }
        Answer::Ran(end) => ended(end),
        Answer::Worked { summary, .. } if summary.is_empty() => "done".to_owned(),
        Answer::Worked { summary, .. } => format!("done: {summary}"),
        Answer::Merged(all) => {
            let merged = all.works.iter().filter(|one| one.tree.is_some()).count();
            format!("{merged} of {} merged", count(all.works.len(), "task"))
        }
        Answer::Drifted(found) if found.is_empty() => "no drift".to_owned(),
        Answer::Drifted(found) => format!("drift in {}", count(found.len(), "place")),
        Answer::Allowed(true) => "they may".to_owned(),
        Answer::Allowed(false) => "they may not".to_owned(),
        Answer::Interface(interface) => named(interface),
        Answer::Proposed(proposal) => match &**proposal {
            Proposal::Oracle(oracle) => oracle.shows.to_string(),
            Proposal::Judge { why } => format!("no machine can tell: {why}"),
        },
        Answer::Probed(end) => lit(end),
        Answer::Spoiled(all) => count(all.len(), "version"),
        Answer::Judged(judgement) => met(&judgement.criteria),
        Answer::Amended(amendment) => amended(amendment),
        Answer::Audited(found) if found.is_empty() => "none".to_owned(),
        Answer::Audited(found) => format!("{} for a person to look at", count(found.len(), "place")),
        Answer::Transplanted(Some(_)) => "merged".to_owned(),
        Answer::Transplanted(None) => "they do not go together".to_owned(),
        Answer::Followed(followed) => match &followed.refused {
            Some(why) => why.to_string(),
            None => followed.changed.join(", "),
        },
        Answer::Chosen(choice) => chosen(choice),
        Answer::Promoted | Answer::Filed(_) => "done".to_owned(),
        Answer::Conflict { .. } => "the folder changed during the run, so nothing was written".to_owned(),
        Answer::Committed(proposal) => words::made(proposal),
        Answer::NotCommitted { why } => format!("could not make a commit: {why}"),
    };
    one_line(&text)
}

fn named(interface: &Interface) -> String {
    const LONGEST: usize = 200;
    let note = one_line(&interface.note);
    if note.is_empty() { "oracles need no new names".to_owned() } else { cut(&note, LONGEST) }
}

/// Returns how an oracle ended.
pub fn lit(end: &Probed) -> String {
    match (end.light, end.exit) {
        (Light::Red, _) => "red".to_owned(),
        (Light::Green, _) => "green".to_owned(),
        (Light::Neither, Some(code)) => format!("neither red nor green (exit code {code})"),
        (Light::Neither, None) => "did not run".to_owned(),
    }
}

/// Returns how a command ended, and how many tests passed if it says so.
pub fn ended(end: &CommandEnd) -> String {
    let exit = match end.exit {
        Some(0) => "passed".to_owned(),
        Some(code) => format!("failed with exit code {code}"),
        None => "did not run".to_owned(),
    };
    match &end.tests {
        Some(tests) => format!("{exit} ({} passed, {} failed)", tests.passed, tests.failed),
        None => exit,
    }
}

fn met(verdicts: &[Verdict]) -> String {
    let met = verdicts.iter().filter(|one| one.is_met).count();
    format!("{met} of {} met", counted(verdicts.len(), "criterion", "criteria"))
}

fn amended(amendment: &Amendment) -> String {
    let (new, changed) = (amendment.criteria.len() + amendment.constraints.len(), amendment.changes.len());
    if amendment.is_empty() {
        "nothing".to_owned()
    } else {
        format!("{new} new, {changed} changed or removed")
    }
}

fn chosen(choice: &Choice) -> String {
    match choice {
        Choice::Approve => "approved".to_owned(),
        Choice::Refuse => "refused".to_owned(),
        Choice::Guide { text } => format!("guidance: {text}"),
        Choice::Accept => "the best result is accepted as it is".to_owned(),
        Choice::End => "the run ends".to_owned(),
        Choice::Holds => "the criterion is met".to_owned(),
        Choice::Fails => "the criterion is not met".to_owned(),
        Choice::Leave => "it stays disputed".to_owned(),
    }
}

pub fn decided(run: &Run, decision: &Decision) -> String {
    let text = match decision {
        Decision::Planned { plan, contract } => format!(
            "plan: {} in {}, for {}",
            count(plan.tasks.len(), "task"),
            count(run.graph().map_or(0, |graph| graph.layers.len()), "layer"),
            counted(contract.criteria.len(), "criterion", "criteria")
        ),
        Decision::Pass(pass) => format!("{}: {}", pass.kind.sentence(), joined(pass.tasks())),
        Decision::Batch(batch) => {
            let tasks = joined(batch.tasks.iter().map(|due| &due.task));
            let skipped = joined(&batch.skipped);
            let skipped = if skipped.is_empty() { skipped } else { format!("; skipped: {skipped}") };
            format!("layer {}: {tasks}{skipped}", batch.layer + 1)
        }
        Decision::TakenBack { task, why, .. } => {
            let first = why.lines().next().unwrap_or_default();
            format!("task {task} is taken back: {}", first.trim_end_matches(':'))
        }
        Decision::Integrated { ends, .. } => integrated(ends),
        Decision::Found(_) => "the project has changed while the run was paused".to_owned(),
        Decision::Moved(moved) => {
            let again = joined(&moved.again);
            let again = if again.is_empty() { again } else { format!("; planned again: {again}") };
            format!("the run goes on with your changes to {}{again}", moved.changed.join(", "))
        }
        Decision::Stayed { changed, why } => {
            format!("the run goes on without your changes to {}: {why}", changed.join(", "))
        }
        Decision::Evaluated(round) => evaluated(run, round),
        Decision::Amended(amended) => amendment_ends(amended),
        Decision::Answered { choice } => chosen(choice),
        Decision::Ended(end) => {
            let why = end.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            format!("ends as {}{why}", end.ending.word())
        }
        Decision::Close => "run ended".to_owned(),
    };
    one_line(&text)
}

fn joined<'a>(ids: impl IntoIterator<Item = &'a Id>) -> String {
    ids.into_iter().map(|id| &**id).collect::<Vec<&str>>().join(", ")
}

fn integrated(ends: &[TaskEnd]) -> String {
    let word = |end: &WorkEnd| match end {
        WorkEnd::Merged(_) => "merged",
        WorkEnd::Again(_) => "has to be done again",
        WorkEnd::Failed(_) => "failed",
        WorkEnd::Skipped => "skipped",
    };
    let end = |one: &TaskEnd| format!("{} {}", one.task, word(&one.end));
    ends.iter().map(end).collect::<Vec<_>>().join(", ")
}

fn evaluated(run: &Run, round: &Round) -> String {
    let Some(evaluation) = &round.evaluation else {
        let red: Vec<&str> = round.red.iter().map(|stage| stage.word()).collect();
        return format!("newly red: {}", red.join(", "));
    };
    let end = if evaluation.is_done { "the specification is met" } else { "not done" };
    format!("{}; {}: {end}", met(&evaluation.judgement.criteria), measured(run, evaluation))
}

/// Returns the numbers of an evaluation, and what they have to reach.
pub fn measured(run: &Run, evaluation: &Evaluation) -> String {
    let rules = &run.plan.task.rules;
    format!(
        "score {:.2} ({:.2} needed), alignment {:.2} ({:.2} needed)",
        evaluation.score, rules.score, evaluation.alignment, rules.alignment
    )
}

fn amendment_ends(Amended { approved, pass, .. }: &Amended) -> String {
    let approved = match approved {
        Some(true) => "the changes of the criteria are approved",
        Some(false) => "the changes of the criteria are refused",
        None => "no criterion was changed",
    };
    match pass {
        Some(pass) => format!("{approved}; {}: {}", pass.kind.sentence(), joined(pass.tasks())),
        None => format!("{approved}; no task follows"),
    }
}

/// Returns what was tried after an evaluation.
pub fn tried(entry: &Entry) -> String {
    let ran = |what: &str, has_run: bool| format!("{what}{}", if has_run { "" } else { ", without a task" });
    match entry {
        Entry::Red | Entry::Judged { .. } => "evaluation".to_owned(),
        Entry::Fixed => "fix".to_owned(),
        Entry::Patched { has_run } => ran("patch", *has_run),
        Entry::Pivoted { persona, has_run } => ran(persona.word(), *has_run),
        Entry::Guided => "guidance of a person".to_owned(),
    }
}

pub fn gate(gate: Gate) -> &'static str {
    match gate {
        Gate::Missing => "missing",
        Gate::Passed => "passed",
        Gate::NotLookedAt => "not looked at",
        Gate::Red => "newly red",
    }
}

pub fn tests_counted(counted: Counted) -> &'static str {
    match counted {
        Counted::SameOrMore => "same_or_more",
        Counted::Fewer { .. } => "fewer",
        Counted::NotCounted => "not_counted",
    }
}

/// Returns how the test command ended, and whether fewer tests ran than before.
pub fn tested(end: &CommandEnd, counted: Counted) -> String {
    let text = ended(end);
    match counted {
        Counted::Fewer { now, before } => {
            format!("{text}, {} fewer than before", count((before - now) as usize, "test"))
        }
        Counted::NotCounted if end.tests.is_none() => format!("{text}, tests not counted"),
        Counted::NotCounted | Counted::SameOrMore => text,
    }
}

pub fn evidence(Evidence { path, line, quote }: &Evidence) -> String {
    at(path, *line, quote)
}

pub fn weakening(Weakening { path, line, what }: &Weakening) -> String {
    at(path, *line, what)
}

fn at(path: &str, line: Option<u32>, text: &str) -> String {
    line.map_or_else(|| format!("{path}: {text}"), |line| format!("{path}:{line}: {text}"))
}

/// An amendment of the run, the point of view that it is from, and what a person said to its changes.
pub type Amending<'a> = (&'a Amendment, Option<Persona>, Option<&'a Choice>);

/// Returns the amendments of a run, also one that waits for an answer.
pub fn amendments(run: &Run) -> Vec<Amending<'_>> {
    (0..=run.state.amendments).filter_map(|round| amendment(run, round)).collect()
}

fn amendment(run: &Run, round: u32) -> Option<Amending<'_>> {
    let (amendment, persona) = run.amendment(round)?;
    let said = match run.state_of(&Step::Ask { question: Question::Amendment, round }) {
        StepState::Answered(Answer::Chosen(choice)) => Some(choice),
        StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => None,
    };
    Some((amendment, persona, said))
}
