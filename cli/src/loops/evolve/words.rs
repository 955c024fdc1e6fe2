//! The words for a run of `evolve` and its parts.

use serde_json::json;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::evolve::amendment::{Amendment, Change};
use skilltune_phases::loops::evolve::course::{Entry, Persona};
use skilltune_phases::loops::evolve::decision::{Amended, Round, TaskEnd, WorkEnd};
use skilltune_phases::loops::evolve::evaluation::{Evaluation, Evidence, Verdict};
use skilltune_phases::loops::evolve::spec::Id;
use skilltune_phases::loops::evolve::step::{Choice, CommandEnd, Question};
use skilltune_phases::loops::evolve::task::Apply;
use skilltune_phases::loops::evolve::weakened::Weakening;
use skilltune_phases::loops::evolve::{Answer, Decision, Evolve, Gate, Plan, Run, Step, Task};
use skilltune_phases::loops::{self, Loop as _, Offer};
use skilltune_phases::runs::plan::{Cast, Enforced};
use skilltune_phases::runs::run::StepState;
use skilltune_phases::suites::checks::RunThem;

use crate::loops::tune::words::commands_of;
use crate::report::words;
use crate::text::figures::{count, ordinal};
use crate::text::plain::one_line;

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
    let shell = commands_of(plan.roles.of(&Role::EXECUTOR), "task");
    let shell = shell.filter(|_| task.has_shell && !task.plan_only);
    let free = unconfined(plan.roles.of(&Role::EXECUTOR)).filter(|_| !task.plan_only);
    let own = task.remarks.iter().map(|remark| one_line(remark));
    let of_agents = words::remarks(&plan.roles).into_iter().chain(shell).chain(free);
    of_agents.chain(unchecked(task)).chain(own).collect()
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

/// Returns where a run is.
pub fn place(run: &Run) -> String {
    let state = &run.state;
    match state.open_batch() {
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
        Step::Check { criterion, .. } => format!("check criterion {criterion}"),
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
        Step::Allow | Step::Ask { .. } => format!("ask: {}", question(step)),
        Step::Promote { .. } => "write the result into the folder".to_owned(),
        Step::Commit { form, .. } => format!("make a {} of the result", form.word()),
    };
    one_line(&text)
}

fn called(run: &Run, tree: TreeId) -> &'static str {
    if tree == run.base() { "the unchanged project" } else { "the merged tree" }
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
        Answer::Checked(result) => match result.met {
            Some(true) => "met".to_owned(),
            Some(false) => format!("not met: {}", result.details),
            None => format!("not decided: {}", result.details),
        },
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
        Answer::Promoted => "done".to_owned(),
        Answer::Conflict { .. } => "the folder changed during the run, so nothing was written".to_owned(),
        Answer::Committed(proposal) => words::made(proposal),
        Answer::NotCommitted { why } => format!("could not make a commit: {why}"),
    };
    one_line(&text)
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

/// Returns the question that a run waits with.
pub fn asked(run: &Run) -> Option<Step> {
    if !run.held {
        return None;
    }
    match Evolve::next(run) {
        loops::Next::Do(mut steps) => steps.find(|step| matches!(step, Step::Allow | Step::Ask { .. })),
        loops::Next::Decide(_) | loops::Next::End => None,
    }
}

/// Returns the answers to a question. The default comes first.
pub fn offers(step: &Step) -> Vec<&'static Offer> {
    let names: &[&str] = match step {
        Step::Ask { question: Question::Amendment | Question::Weakened, .. } => &["refuse", "approve"],
        Step::Ask { question: Question::Escalation, .. } => &["end", "guide", "accept"],
        _ => &["skip", "run"],
    };
    names.iter().filter_map(|name| Evolve::OFFERS.iter().find(|offer| offer.name == *name)).collect()
}

pub fn question(step: &Step) -> &'static str {
    match step {
        Step::Ask { question: Question::Amendment, .. } => "May the criteria change?",
        Step::Ask { question: Question::Weakened, .. } => {
            "May the result be handed over? It touches tests or their settings."
        }
        Step::Ask { question: Question::Escalation, .. } => {
            "The specification is not met. How should the run continue?"
        }
        _ => "May the checks of the specification run?",
    }
}

/// Returns the lines that a person needs to answer a question.
pub fn matter(run: &Run, step: &Step) -> Vec<String> {
    let lines = match step {
        Step::Allow => checks(run),
        Step::Ask { question: Question::Amendment, round } => {
            let changes = amendment(run, *round).map(|(amendment, ..)| &*amendment.changes);
            changes.unwrap_or_default().iter().flat_map(|change| changed(run, change)).collect()
        }
        Step::Ask { question: Question::Weakened, .. } => {
            run.state.end.iter().flat_map(|end| end.weakened.iter().map(weakening)).collect()
        }
        Step::Ask { question: Question::Escalation, .. } => standing(run),
        _ => Vec::new(),
    };
    lines.iter().map(|line| indented(line)).collect()
}

/// Returns a line as it is shown, with its indent.
fn indented(line: &str) -> String {
    let text = line.trim_start_matches(' ');
    format!("{}{}", &line[..line.len() - text.len()], one_line(text))
}

/// Returns the checks of the specification as they would run, one per line.
pub fn checks(run: &Run) -> Vec<String> {
    let criteria = run.state.contract.iter().flat_map(|contract| &contract.criteria);
    let checked = criteria.filter_map(|one| Some(format!("{}: {}", one.id, json!(one.check.as_ref()?))));
    checked.collect()
}

/// Returns a change of a criterion or a constraint, in three lines.
fn changed(run: &Run, Change { id, text, why }: &Change) -> [String; 3] {
    let contract = run.state.contract.as_ref();
    let constraint = contract.and_then(|all| all.constraints.iter().find(|one| one.id == *id));
    let old = contract.and_then(|all| all.criterion(id)).map(|one| &*one.text);
    let old = old.or(constraint.map(|one| &*one.text)).unwrap_or_default();
    let new = text.as_ref().map_or_else(|| "  removed".to_owned(), |text| format!("  new: {text}"));
    [format!("{id}: {old}"), new, format!("  why: {why}")]
}

/// Returns what the best result lacks, and what the evaluator recommends.
fn standing(run: &Run) -> Vec<String> {
    let Some(evaluation) = run.basis() else { return vec!["nothing was judged".to_owned()] };
    let unmet = evaluation.unmet().chain(evaluation.broken());
    let unmet = unmet.map(Verdict::missing);
    let suggested = evaluation.judgement.recommendations.iter().map(|one| format!("suggestion: {one}"));
    std::iter::once(measured(run, evaluation)).chain(unmet).chain(suggested).collect()
}
