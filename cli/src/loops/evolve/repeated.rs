//! The words and the data of `evolve verify`: each receipt as it was, and as a machine sees it now.

use serde_json::{Value, json};
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::evolve::Run;
use skilltune_phases::loops::evolve::oracle::{Light, Probed, Standing};
use skilltune_phases::loops::evolve::receipt::{CommandReceipt, Word};
use skilltune_phases::loops::evolve::spec::Id;
use skilltune_phases::loops::evolve::task::Verify;
use skilltune_phases::loops::shared::commands::Stage;

use crate::report::document::{Report, Section, Text, code, plain, table, words as theirs};
use crate::text::figures::count;
use crate::text::plain::one_line;
use crate::text::width::cut;

/// A longer reason is cut.
const LONGEST: usize = 300;

pub fn aim(run: &Run) -> String {
    let receipts: usize = run.plan.task.verify.iter().map(|verify| verify.words.len()).sum();
    format!("{} repeated without an agent", count(receipts, "receipt"))
}

/// Returns the state in short, as named facts.
pub fn facts(run: &Run) -> Vec<(&'static str, String)> {
    let Some(verify) = &run.plan.task.verify else { return Vec::new() };
    vec![("receipts", counted(run)), ("tree", tree(verify).to_owned())]
}

/// Returns how many receipts of machines were repeated.
pub fn counted(run: &Run) -> String {
    let all: Vec<_> = run.repeated().into_iter().filter(|(_, before, _)| before.is_of_machine()).collect();
    let same = all.iter().filter(|(_, before, now)| before == now).count();
    format!("{same} of {} repeated", all.len())
}

fn tree(verify: &Verify) -> &'static str {
    if verify.is_same {
        "the one of the receipts"
    } else {
        "not the one of the receipts: it has changed since they were made"
    }
}

/// Returns a line for each criterion and each command, once the run has ended.
pub fn lines(run: &Run) -> Vec<String> {
    let Some(verify) = run.plan.task.verify.as_ref().filter(|_| run.state.end.is_some()) else {
        return Vec::new();
    };
    let of_criterion =
        |(id, before, now): (Id, Word, Word)| format!("{id} {}", change(run, &id, before, now));
    let criteria = run.repeated().into_iter().map(of_criterion);
    let commands = verify.commands.iter().map(|one| format!("{} {}", one.stage.word(), exits(run, one)));
    criteria.chain(commands).map(|line| cut(&one_line(&line), LONGEST)).collect()
}

/// Returns the word of a criterion then and now, and why they differ.
fn change(run: &Run, id: &str, before: Word, now: Word) -> String {
    if !before.is_of_machine() {
        let now =
            why(run, id).map_or_else(|| "no machine tells".to_owned(), |why| format!("its oracle: {why}"));
        return format!("{} (not compared; {now})", before.word());
    }
    let why = (before != now).then(|| why(run, id)).flatten();
    let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
    format!("{} -> {}{why}", before.word(), now.word())
}

/// Returns how the oracle of a criterion ended with the result, or why it says nothing.
fn why(run: &Run, id: &str) -> Option<String> {
    let standing = run.stands(id)?;
    let probe = match &standing {
        Standing::Without(_) => return None,
        Standing::Ready(probe) | Standing::AlreadyMet(probe) => probe,
    };
    let result = run.plan.task.verify.as_ref()?.result;
    let end = run.probed(id, probe.go, result);
    Some(end.map_or_else(|| "its oracle did not run to its end".to_owned(), ended))
}

fn ended(end: &Probed) -> String {
    let last = end.said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    match end.exit {
        Some(0) if end.light == Light::Green => "it passes".to_owned(),
        Some(0) => "exit 0, without the code that says that it passed".to_owned(),
        Some(code) => format!("exit {code}: {last}"),
        None => format!("it did not run: {last}"),
    }
}

/// Returns the exit codes of a command before and after the change, then and now.
fn exits(run: &Run, receipt: &CommandReceipt) -> String {
    let [before, after] = exits_now(run, receipt.stage);
    let pair = |before, after| format!("{} before the change, {} after", exit(before), exit(after));
    let (then, now) = (pair(receipt.before, receipt.after), pair(before, after));
    if then == now { format!("as in the receipts: {now}") } else { format!("now {now}; then {then}") }
}

fn exit(code: Option<i32>) -> String {
    code.map_or_else(|| "no exit code".to_owned(), |code| format!("exit {code}"))
}

fn exits_now(run: &Run, stage: Stage) -> [Option<i32>; 2] {
    let result = run.plan.task.verify.as_ref().map_or_else(|| run.base(), |verify| verify.result);
    let exit = |tree: TreeId| run.ran(tree, stage).and_then(|(_, end)| end?.exit);
    [run.base(), result].map(exit)
}

/// Returns the commands and the oracles as they would run, one per line.
pub fn commands(run: &Run) -> Vec<String> {
    let task = &run.plan.task;
    let set = task.set.iter().map(|set| format!("{}: {}", set.stage.word(), json!(set.argv)));
    let criteria = task.spec.criteria.iter();
    let checks = criteria.filter_map(|one| Some(format!("{}: {}", one.id, json!(one.check.as_ref()?))));
    let oracles = task.verify.iter().flat_map(|verify| &verify.oracles);
    let oracles = oracles.map(|(id, oracle)| format!("{id}: {}", json!(oracle.argv)));
    let setup = task.setup.iter().map(|argv| format!("setup: {}", json!(argv)));
    setup.chain(set).chain(checks).chain(oracles).map(|line| one_line(&line)).collect()
}

pub fn json(run: &Run) -> Value {
    let one = |(id, before, now): (Id, Word, Word)| json!({ "id": id, "before": before, "now": now });
    let command = |receipt: &CommandReceipt| {
        let [before, after] = exits_now(run, receipt.stage);
        json!({
            "stage": receipt.stage,
            "argv": receipt.argv,
            "before": before,
            "after": after,
            "then": { "before": receipt.before, "after": receipt.after },
        })
    };
    let verify = run.plan.task.verify.as_ref();
    let commands = verify.into_iter().flat_map(|verify| &verify.commands);
    json!({
        "repeated": run.repeated().into_iter().map(one).collect::<Value>(),
        "commands": commands.map(command).collect::<Value>(),
        "same_tree": verify.map(|verify| verify.is_same),
    })
}

/// Returns the parts of the report that only a verification has.
pub fn report(run: &Run) -> Report {
    let task = &run.plan.task;
    let criteria = run.repeated().into_iter().map(|(id, before, now)| {
        let text = task.spec.criteria.iter().find(|one| one.id == id).map_or("", |one| &*one.text);
        let name: Text = [code(&id), plain(": "), theirs(text)].into();
        vec![name, theirs(&change(run, &id, before, now)).into()]
    });
    let commands = task.verify.iter().flat_map(|verify| &verify.commands).map(|one| {
        let argv = theirs(&one.argv.join(" "));
        vec![one.stage.word().into(), argv.into(), theirs(&exits(run, one)).into()]
    });
    let section = |title, head: &[&str], rows: Vec<Vec<Text>>| {
        (!rows.is_empty()).then(|| Section { title, blocks: vec![table(head, rows)] })
    };
    let sections = [
        section("Receipts", &["Criterion", "Then and Now"], criteria.collect()),
        section("Commands", &["Stage", "Command", "Exit Codes"], commands.collect()),
    ];
    let tree = task.verify.as_deref().map(|verify| ("Tree", plain(tree(verify)).into()));
    Report {
        title: [plain("Receipts of "), theirs(&task.name)].into(),
        about: vec![("Result", code(&task.file).into()), ("Folder", code(&task.root).into())],
        more: tree.into_iter().collect(),
        sections: sections.into_iter().flatten().collect(),
        unit: "verification",
        ..Report::default()
    }
}

/// Returns what a dry run shows.
pub fn sketch(run: &Run) -> String {
    let task = &run.plan.task;
    let head = [format!("evolve verify {}: {}", task.file, aim(run)), "these commands would run:".to_owned()];
    let commands = commands(run).into_iter().map(|line| format!("  {line}"));
    let notes = task.remarks.iter().map(|note| format!("note: {note}"));
    head.into_iter().chain(commands).chain(notes).map(|line| shown(&line)).collect::<Vec<_>>().join("\n")
}

fn shown(line: &str) -> String {
    let text = line.trim_start_matches(' ');
    format!("{}{}", &line[..line.len() - text.len()], one_line(text))
}
