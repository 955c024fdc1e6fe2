//! The report of a run of `evolve`: every verdict with its evidence, and the state of each task.

use skilltune_phases::loops::evolve::course::{Entry, Persona};
use skilltune_phases::loops::evolve::evaluation::{Holds, Verdict};
use skilltune_phases::loops::evolve::step::{Choice, CommandEnd};
use skilltune_phases::loops::evolve::view::TaskView;
use skilltune_phases::loops::evolve::{Advice, Opinion, Run};
use skilltune_phases::loops::shared::commands::Stage;

use crate::loops::evolve::words::{self, Amending};
use crate::loops::evolve::{places, receipts, repeated};
use crate::report::document::{
    Block, Item, Report, Section, Span, Text, code, list, locations, paragraph, plain, strong, table,
    words as theirs,
};
use crate::text::figures::count;

pub fn report(run: &Run) -> Report {
    let task = &run.plan.task;
    let lead = vec![paragraph(theirs(&places::sentence(run)))];
    let tail = vec![locations(run, places::files(run))];
    if task.verify.is_some() {
        return Report { lead, tail, ..repeated::report(run) };
    }
    let drift = run.drift().into_iter().map(|one| format!("{}: {} ({})", one.task, one.what, one.evidence));
    let weakened = run.state.end.iter().flat_map(|end| &end.weakened).map(words::weakening);
    let advice = run.evaluation().into_iter().flat_map(|one| &one.judgement.recommendations);
    let sections = [
        criteria(run),
        constraints(run),
        goal(run),
        tasks(run),
        experts(run),
        commands(run),
        listed("Drift", drift),
        amendments(run),
        listed("Touched Tests", weakened),
        rounds(run),
        listed("Recommendations", advice.map(ToString::to_string)),
        receipts::section(run),
    ];
    let result = places::destination(run).map(|text| ("Result", theirs(&text).into()));
    Report {
        title: [plain("Evolve: "), theirs(&task.name)].into(),
        lead,
        about: vec![("Specification", code(&task.file).into()), ("Folder", code(&task.root).into())],
        more: result.into_iter().collect(),
        sections: sections.into_iter().flatten().collect(),
        unit: "evaluation",
        tail,
        ..Report::default()
    }
}

fn section(title: &'static str, head: &[&str], rows: Vec<Vec<Text>>) -> Option<Section> {
    (!rows.is_empty()).then(|| Section { title, blocks: vec![table(head, rows)] })
}

fn listed(title: &'static str, lines: impl Iterator<Item = String>) -> Option<Section> {
    let lines: Vec<Text> = lines.map(|line| theirs(&line).into()).collect();
    (!lines.is_empty()).then(|| Section { title, blocks: vec![list(lines)] })
}

fn criteria(run: &Run) -> Option<Section> {
    let verdicts = run.evaluation().map(|one| &*one.judgement.criteria).unwrap_or_default();
    let all = run.state.contract.iter().flat_map(|contract| &contract.criteria);
    let rows = all.map(|one| {
        let added = if one.is_original { ": " } else { " (added): " };
        let name = [code(&one.id), plain(added), theirs(&one.text)].into();
        let asked = [name, Text::from(one.priority.word())];
        asked.into_iter().chain(judged(of(verdicts, &one.id))).collect()
    });
    section("Criteria", &["Criterion", "Priority", "Met", "Evidence", "Gaps"], rows.collect())
}

fn constraints(run: &Run) -> Option<Section> {
    let verdicts = run.evaluation().map(|one| &*one.judgement.constraints).unwrap_or_default();
    let all = run.state.contract.iter().flat_map(|contract| &contract.constraints);
    let rows = all.map(|one| {
        let name: Text = [code(&one.id), plain(": "), theirs(&one.text)].into();
        [name].into_iter().chain(judged(of(verdicts, &one.id))).collect()
    });
    section("Constraints", &["Constraint", "Met", "Evidence", "Gaps"], rows.collect())
}

fn of<'a>(verdicts: &'a [Verdict], id: &str) -> Option<&'a Verdict> {
    verdicts.iter().find(|verdict| *verdict.id == *id)
}

/// Returns the cells of a verdict: whether it is met, its evidence, and what is missing.
fn judged(verdict: Option<&Verdict>) -> [Text; 3] {
    let met = match verdict.map(|verdict| verdict.is_met) {
        Some(true) => plain("yes"),
        Some(false) => strong("no"),
        None => plain("not judged"),
    };
    let evidence = verdict.and_then(|verdict| verdict.evidence.as_ref());
    let evidence = evidence.map(words::evidence).unwrap_or_default();
    let gaps = verdict.map(|verdict| verdict.gaps.join("; ")).unwrap_or_default();
    [met.into(), theirs(&evidence).into(), theirs(&gaps).into()]
}

fn goal(run: &Run) -> Option<Section> {
    let verdicts = run.evaluation().map(|one| &*one.judgement.statements).unwrap_or_default();
    let statements = run.state.contract.iter().flat_map(|contract| &contract.statements);
    let rows = statements.enumerate().map(|(at, statement)| {
        let verdict = verdicts.get(at);
        let holds: Span = match verdict.map(|verdict| verdict.holds) {
            Some(Holds::Yes) => plain("yes"),
            Some(Holds::No) => strong("no"),
            Some(Holds::NotShown) => strong("not shown"),
            None => plain("not judged"),
        };
        let evidence = verdict.and_then(|verdict| verdict.evidence.as_ref());
        let evidence = evidence.map(words::evidence).unwrap_or_default();
        vec![theirs(statement).into(), holds.into(), theirs(&evidence).into()]
    });
    section("Goal", &["Statement", "Holds", "Evidence"], rows.collect())
}

fn tasks(run: &Run) -> Option<Section> {
    let row = |task: TaskView<'_>| {
        let name = [code(task.id), plain(": "), theirs(task.title)].into();
        let why = task.why.unwrap_or(task.summary);
        let (covers, files, unnamed) =
            (task.covers.join(", "), task.files.join(", "), task.unnamed.join(", "));
        let state = format!("{}, begun {}", task.state.word(), count(task.goes as usize, "time"));
        let cells = [covers, files, unnamed, why.to_owned()];
        let cells = cells.iter().map(|text| theirs(text).into());
        [name, Text::from(state)].into_iter().chain(cells).collect()
    };
    let head = ["Task", "State", "Criteria", "Files", "Files That It Did Not Name", "Notes"];
    section("Tasks", &head, run.tasks().into_iter().map(row).collect())
}

fn experts(run: &Run) -> Option<Section> {
    let tasks = run.state.plan.iter().flat_map(|plan| &plan.tasks);
    let items = tasks.filter_map(|item| Some(advised(&item.id, &run.advice_of(&item.id)?)));
    let items: Vec<Item> = items.collect();
    (!items.is_empty()).then(|| Section { title: "Advice", blocks: vec![Block::List(items)] })
}

/// Returns what each expert says about a task, and what follows from several.
fn advised(task: &str, advice: &Advice<'_>) -> Item {
    let opinion = |Opinion { relevant, perspective }: &Opinion<'_>| {
        let said = perspective.map_or_else(
            || "no usable answer".to_owned(),
            |one| format!("{} (confidence {:.2})", one.text, one.confidence),
        );
        format!("{} (relevance {:.2}, {}): {said}", relevant.expert, relevant.relevance, relevant.why)
    };
    let agreed = advice.consensus.into_iter().flat_map(|consensus| {
        let settled = consensus.conflicts.iter().map(|one| format!("{}: {}", one.about, one.settled));
        std::iter::once(format!("consensus: {}", consensus.text)).chain(settled)
    });
    let below = advice.experts.iter().map(opinion).chain(agreed);
    Item { text: code(task).into(), below: below.map(|line| theirs(&line).into()).collect() }
}

/// Returns how each command ended before the run, and with the result.
fn commands(run: &Run) -> Option<Section> {
    let start = run.base();
    let tree = run.result().unwrap_or(start);
    let row = |stage: Stage| {
        let (command, end) = run.ran(tree, stage)?;
        let ended = |end: Option<&CommandEnd>| end.map_or_else(|| "did not run".to_owned(), words::ended);
        let before = run.ran(start, stage).map_or_else(|| "no command".to_owned(), |(_, end)| ended(end));
        let after = match end.filter(|_| stage == Stage::Test) {
            Some(end) => words::tested(end, run.counted(tree)),
            None => ended(end),
        };
        let gate = run.gate(tree, stage).map_or("not known", words::gate);
        let gate = if gate == "newly red" { strong(gate) } else { plain(gate) };
        let argv = theirs(&command.argv.join(" "));
        Some(vec![stage.word().into(), argv.into(), before.into(), after.into(), gate.into()])
    };
    let head = ["Stage", "Command", "Before the Run", "With the Result", "Verdict"];
    section("Commands", &head, Stage::ALL.into_iter().filter_map(row).collect())
}

fn amendments(run: &Run) -> Option<Section> {
    let all = words::amendments(run);
    let items: Vec<Item> = all.iter().filter(|(amendment, ..)| !amendment.is_empty()).map(amending).collect();
    let title = "Changes of the Criteria";
    (!items.is_empty()).then(|| Section { title, blocks: vec![Block::List(items)] })
}

fn amending((amendment, persona, said): &Amending<'_>) -> Item {
    let by = persona.map_or("the evaluator", Persona::word);
    let said = match said {
        Some(Choice::Approve) => "; changes approved",
        Some(_) => "; changes refused",
        None => "",
    };
    let line = |what: &str, text: &str| Text::from([plain(format!("{what}: ")), theirs(text)]);
    let new = amendment.criteria.iter().map(|one| line("new criterion", &one.text));
    let kept = amendment.constraints.iter().map(|one| line("new constraint", &one.text));
    let changed = amendment.changes.iter().map(|one| {
        let new = one.text.as_deref().unwrap_or("removed");
        line("change", &format!("{}: {new} ({})", one.id, one.why))
    });
    let text = [plain(format!("by {by}{said}: ")), theirs(&amendment.description)].into();
    Item { text, below: new.chain(kept).chain(changed).collect() }
}

/// Returns the evaluations, each with what was tried after it.
fn rounds(run: &Run) -> Option<Section> {
    let is_evaluation = |entry: &Entry| matches!(entry, Entry::Red | Entry::Judged { .. });
    // Nothing is tried before the first evaluation.
    let tried = run.state.course.entries.split(is_evaluation).skip(1);
    let rows = run.state.rounds.iter().zip(tried).zip(1..).map(|((round, tried), number)| {
        let red: Vec<&str> = round.red.iter().map(|stage| stage.word()).collect();
        let numbers = match &round.evaluation {
            Some(one) => format!("score {:.2}, alignment {:.2}", one.score, one.alignment),
            None => format!("newly red: {}", red.join(", ")),
        };
        let tried: Vec<String> = tried.iter().map(words::tried).collect();
        vec![format!("{number}").into(), numbers.into(), tried.join(", ").into()]
    });
    section("Evaluations", &["Evaluation", "Result", "Then"], rows.collect())
}
