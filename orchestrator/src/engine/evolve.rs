//! The engine's part for `evolve`: finds the commands of a tree, merges the work of tasks, and looks up evidence.

mod evidence;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use skilltune_phases::base::id::TreeId;
use skilltune_phases::base::json;
use skilltune_phases::loops::evolve::evaluation::{Evidence, Holds, Judgement, StatementVerdict, Verdict};
use skilltune_phases::loops::evolve::step::{Command, CommandEnd, Followed, Integrated, Integration};
use skilltune_phases::loops::evolve::weakened::{ChangedFile, Weakening, weakenings};
use skilltune_phases::loops::evolve::{
    AgentRequest, Answer, Call, Evolve, JudgeBrief, RawVerdict, Run, Step,
};
use skilltune_phases::loops::review::finding::Side;
use skilltune_phases::loops::review::quote::{self, Claim};
use skilltune_phases::loops::shared::commands::{MANIFESTS, Stage, found};
use skilltune_phases::loops::shared::test_results::test_results;
use skilltune_phases::suites::checks::output_end;

use super::edited_copy::{EditedCopy, gate};
use super::refusal::{check_work, in_other_repository};
use super::{AgentOutput, CommandOutput, EngineError, Extent, LoopEngine, ReadError, Services};
use crate::checks::{end_of, exit_code};
use crate::disk::atomic::Durability;
use crate::snapshot::{
    Accepted, Manifest, Merged, Node, ObjectError, Objects, RelPath, Work, WorkResult, added_lines, changes,
    integrate, listed_conflicts, merge, rebase, unified,
};
use crate::store::RunFolder;

/// Larger files count as binaries.
const LARGEST: u64 = 4 << 20;
/// A judge sees this much of the changes of a layer.
const MOST_OF_DIFF: usize = 64 << 10;
/// A longer summary is cut.
const LONGEST_SUMMARY: usize = 2_000;

impl LoopEngine for Evolve {
    fn read(
        services: &Services,
        request: &AgentRequest,
        output: &AgentOutput<'_>,
    ) -> Result<Answer, ReadError> {
        if request.as_ref().draft().is_some() {
            let copy = EditedCopy::of_project(services, request.as_ref(), output)?;
            let made = worked(&services.objects, &copy, request.apart())?;
            let summary = services.keys.hide(output.answer);
            let summary = cut(&summary, LONGEST_SUMMARY).into();
            return Ok(Answer::Worked { made, summary, is_blind: output.is_hidden });
        }
        let answer = match request.call() {
            Call::Judge(brief) => judged(services, request, brief, output.answer)?,
            Call::Interface => evidence::interface(services, request, output.answer)?,
            Call::Oracle(brief) => evidence::oracle(services, request, brief, output.answer)?,
            Call::Spoil(_) => evidence::spoiled(services, request, output.answer)?,
            _ => request.read(output.answer)?,
        };
        evidence::check(&services.objects, &request.as_ref().placements, &answer)?;
        Ok(answer)
    }

    fn examined(services: &Services, request: &AgentRequest, answer: Answer) -> Result<Answer, ReadError> {
        request.check(&answer)?;
        let (objects, order) = (&services.objects, request.as_ref());
        let Answer::Worked { made, summary, is_blind } = answer else {
            evidence::check(objects, &order.placements, &answer)?;
            return Ok(answer);
        };
        let copy = EditedCopy::returned(objects, order.draft().ok_or(EngineError::Stuck)?, made)?;
        let copy = copy.without_theirs(objects, order.brought.as_ref(), None)?;
        let made = worked(objects, &copy, request.apart())?;
        Ok(Answer::Worked { made, summary: cut(&summary, LONGEST_SUMMARY).into(), is_blind })
    }

    fn ran(
        services: &Services,
        request: &AgentRequest,
        ran: &CommandOutput<'_>,
    ) -> Result<Answer, ReadError> {
        if let Call::Probe(brief) = request.call() {
            return Ok(evidence::probed(services, request, brief, ran)?);
        }
        let [stdout, stderr] = [ran.stdout, ran.stderr].map(|said| in_project(said, ran.space));
        let ends = [&stdout, &stderr].into_iter().map(|said| output_end(said));
        let ends = ends.filter(|said| !said.is_empty());
        let said = ends.chain([end_of(ran.how, ran.seconds)]).collect::<Vec<_>>().join("\n");
        let tests = test_results(&stdout, &stderr);
        Ok(Answer::Ran(Box::new(CommandEnd { exit: exit_code(ran.how), said: said.into(), tests })))
    }

    fn machine_checks(objects: &Objects, run: &Run, step: &Step) -> Result<Option<Answer>, EngineError> {
        Ok(match step {
            Step::Look { tree } => Some(Answer::Found(commands(objects, run, *tree)?)),
            Step::Merge { batch, without } => merged(objects, run, *batch, without)?,
            Step::Audit { tree } => {
                let (from, to) = (objects.manifest(run.base())?, objects.manifest(*tree)?);
                Some(Answer::Audited(audited(objects, &from, &to)?))
            }
            Step::File { tree } => evidence::filed(objects, run, *tree)?,
            Step::Transplant { tree, onto } => {
                Some(Answer::Transplanted(match merge(objects, run.base(), *onto, *tree)? {
                    Merged::Clean(merged) => Some(merged),
                    Merged::Conflicts(_) => None,
                }))
            }
            Step::Follow { from, to, .. } => {
                Some(Answer::Followed(Box::new(followed(objects, run, *from, *to)?)))
            }
            _ => None,
        })
    }

    fn project(_: &Objects, folder: &RunFolder, run: &Run, _: Extent) -> Result<(), EngineError> {
        let Some(plan) = &run.state.plan else { return Ok(()) };
        // `--plan` takes this file, and refuses tasks that a run has added.
        let page = json::page(&plan.as_planned());
        folder.place().join("plan.json").replace(page.as_bytes(), Durability::Order)?;
        Ok(())
    }

    fn state(run: &Run) -> String {
        json::page(&serde_json::json!({
            "run": run.plan.run,
            "specification": run.plan.task.file,
            "outcome": run.outcome(),
            "tasks": run.tasks(),
            "updated_at": run.updated_at,
        }))
    }
}

/// Returns what a command printed, with paths in the project instead of those in its workspace. No other command has that
/// workspace: a test that is named by its path would have a new name each time, and an agent would look where nothing is.
fn in_project(said: &str, space: &Path) -> String {
    let space = space.to_string_lossy();
    said.replace(&format!("{space}/"), "").replace(&*space, ".")
}

/// Stores the changes of an executor to its copy.
fn worked(objects: &Objects, copy: &EditedCopy, apart: &[String]) -> Result<TreeId, ReadError> {
    let made = copy.made.manifest.edited_from(&copy.base, None);
    if let Some(path) = evidence::touched(&copy.base, &made) {
        return Err(gate(format!("{path} belongs to skilltune; leave it alone")).into());
    }
    check_work(&copy.base, &made)?;
    if let Some(path) = in_other_repository(&copy.base, &made, apart) {
        return Err(gate(format!("{path} belongs to another repository; leave it alone")).into());
    }
    Ok(objects.put_manifest(&copy.completed(&made)?)?)
}

/// Returns the commands of a tree: those that are set, and those that its manifests suggest for other stages.
fn commands(objects: &Objects, run: &Run, tree: TreeId) -> Result<Vec<Command>, ObjectError> {
    let task = &run.plan.task;
    let manifest = objects.manifest(tree)?;
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    for name in MANIFESTS.into_iter().chain(["tests"]) {
        let Ok(path) = RelPath::parse(name.as_bytes()) else { continue };
        match manifest.get(&path) {
            Some(Node::Folder { .. }) => {
                files.insert(name, String::new());
            }
            Some(Node::File { .. }) => {
                if let Some(text) = text_of(objects, &manifest, name)? {
                    files.insert(name, text);
                }
            }
            Some(Node::Link { .. }) | None => {}
        }
    }
    let suggested = if task.finds { found(&|name| files.get(name).cloned()) } else { Vec::new() };
    let command = |stage: Stage| {
        let set = task.set.iter().find(|one| one.stage == stage).map(|one| one.argv.clone());
        let argv =
            set.or_else(|| suggested.iter().find(|one| one.stage == stage).map(|one| one.argv.clone()));
        argv.map(|argv| Command { stage, argv })
    };
    Ok(Stage::ALL.into_iter().filter_map(command).collect())
}

/// Merges the work of a batch.
fn merged(
    objects: &Objects,
    run: &Run,
    batch: usize,
    without: &[Box<str>],
) -> Result<Option<Answer>, EngineError> {
    let state = &run.state;
    let (Some(begun), Some(plan)) = (state.batches.get(batch), &state.plan) else { return Ok(None) };
    let from = begun.batch.from;
    let due = begun.batch.tasks.iter().filter(|due| !without.contains(&due.task));
    let made: Vec<(&str, TreeId)> = due.filter_map(|due| Some((&*due.task, run.made(due, begun)?))).collect();
    let number = |task: &str| plan.tasks.iter().position(|item| &*item.id == task).unwrap_or(usize::MAX);
    let earlier: Vec<Accepted> = state
        .merged
        .iter()
        .map(|work| Accepted { task: number(&work.task), before: work.before, after: work.after })
        .collect();
    let work = |(task, made): &(&str, TreeId)| {
        let replaces = plan.item(task).map_or(&[][..], |item| &item.replaces);
        // Nothing but a command needs the lines of a fix, and it runs again.
        let fixes = plan.tasks.iter().filter(|item| item.is_fix()).map(|item| &item.id);
        let replaces = replaces.iter().chain(fixes).map(|other| number(other)).collect();
        Work { task: number(task), from, made: *made, replaces }
    };
    let works: Vec<Work> = made.iter().map(work).collect();
    let all = integrate(objects, from, &works, &earlier)?;
    // A rerun has no task for a fix of the earlier run.
    let name =
        |task: usize| plan.tasks.get(task).map_or("the earlier run".to_owned(), |item| item.id.to_string());
    let mut integrated = Vec::new();
    let mut diff = String::new();
    for ((task, made), result) in made.iter().zip(all.works) {
        let (base, made) = (objects.manifest(from)?, objects.manifest(*made)?);
        let files = changes(&base, &made).iter().map(|change| change.path.to_string().into()).collect();
        let (tree, refused) = match result {
            WorkResult::Accepted(accepted) => (Some(accepted.after), None),
            WorkResult::Refused(refusal) => (None, Some(refusal.sentence(name).into())),
        };
        if tree.is_some() && diff.len() < MOST_OF_DIFF {
            let _ = write!(diff, "## {task}\n\n{}\n", unified(objects, &base, &made)?);
        }
        integrated.push(Integrated { task: (*task).into(), tree, refused, files });
    }
    let diff = cut(&diff, MOST_OF_DIFF).into();
    Ok(Some(Answer::Merged(Box::new(Integration { tree: all.tree, diff, works: integrated }))))
}

/// Returns what a person has changed, and the merged work on the project with it.
fn followed(objects: &Objects, run: &Run, from: TreeId, to: TreeId) -> Result<Followed, ObjectError> {
    /// A longer list of files is cut.
    const MOST: usize = 20;
    let changed = changes(&objects.manifest(from)?, &objects.manifest(to)?);
    let mut changed: Vec<String> = changed.iter().map(|change| change.path.to_string()).collect();
    let named = run.state.plan.as_ref().map_or_else(Vec::new, |plan| plan.naming(&changed));
    let after: Vec<TreeId> = run.state.merged.iter().map(|work| work.after).collect();
    let (trees, refused) = match rebase(objects, from, to, &after)? {
        Ok(trees) => (trees, None),
        Err(conflicts) => (
            Vec::new(),
            Some(format!("it conflicts with what was merged: {}", listed_conflicts(&conflicts)).into()),
        ),
    };
    if let Some(more) = changed.len().checked_sub(MOST).filter(|more| *more > 0) {
        changed.truncate(MOST);
        changed.push(format!("and {more} more"));
    }
    Ok(Followed { changed: changed.into_iter().map(Into::into).collect(), named, trees, refused })
}

/// Returns the places of a change that may weaken tests.
fn audited(objects: &Objects, from: &Manifest, to: &Manifest) -> Result<Vec<Weakening>, ObjectError> {
    let mut texts = Vec::new();
    for change in changes(from, to) {
        let path = change.path.to_string();
        let (before, after) = (text_of(objects, from, &path)?, text_of(objects, to, &path)?);
        texts.push((path, before, after));
    }
    let files: Vec<ChangedFile<'_>> = texts.iter().map(changed_file).collect();
    Ok(weakenings(&files))
}

fn changed_file((path, before, after): &(String, Option<String>, Option<String>)) -> ChangedFile<'_> {
    let (before, after) = (before.as_deref(), after.as_deref());
    let added = added_lines(before.unwrap_or_default(), after.unwrap_or_default());
    ChangedFile { path, before, after, added }
}

/// Reads the evaluator's verdicts, and looks up what they quote.
fn judged(
    services: &Services,
    request: &AgentRequest,
    brief: &JudgeBrief,
    answer: &str,
) -> Result<Answer, ReadError> {
    let raw = request.raw_judgement(brief, answer)?;
    let files = services.objects.manifest(brief.tree)?;
    let look_up = |one: &RawVerdict| evidence(services, &files, brief, one);
    let mut criteria = Vec::new();
    for one in &raw.criteria {
        let evidence = look_up(one)?;
        let is_met = one.holds == Holds::Yes && evidence.is_ok();
        let mut gaps = if is_met { Vec::new() } else { one.gaps.clone() };
        if let (Holds::Yes, Err(why)) = (one.holds, &evidence) {
            gaps.push(format!("the evaluator says that it holds, but {why}").into());
        }
        criteria.push(Verdict {
            id: one.id.clone(),
            is_met,
            is_disputed: false,
            evidence: evidence.ok(),
            gaps,
        });
    }
    let mut constraints = Vec::new();
    for one in &raw.constraints {
        let is_met = one.holds == Holds::Yes;
        let gaps = if is_met { Vec::new() } else { one.gaps.clone() };
        constraints.push(Verdict {
            id: one.id.clone(),
            is_met,
            is_disputed: false,
            evidence: look_up(one)?.ok(),
            gaps,
        });
    }
    let mut statements = Vec::new();
    for one in &raw.statements {
        let evidence = look_up(one)?.ok();
        let holds = if one.holds == Holds::Yes && evidence.is_none() { Holds::NotShown } else { one.holds };
        statements.push(StatementVerdict { holds, evidence });
    }
    let recommendations = raw.recommendations;
    Ok(Answer::Judged(Box::new(Judgement { criteria, constraints, statements, recommendations })))
}

/// Looks up a quote in a file of the tree, or in the output of a command.
fn evidence(
    services: &Services,
    files: &Manifest,
    brief: &JudgeBrief,
    one: &RawVerdict,
) -> Result<Result<Evidence, &'static str>, ObjectError> {
    let output = brief.outputs.iter().find(|(stage, _)| one.path == format!("output of {}", stage.word()));
    let text = match output {
        Some((_, said)) => Some(Cow::Borrowed(said.as_str())),
        None => text_of(&services.objects, files, &one.path)?
            .map(|text| Cow::Owned(services.keys.hide(&text).into_owned())),
    };
    let claim = Claim { path: &one.path, side: Side::New, line: one.line, quote: &one.quote };
    let place = quote::place(claim, text.as_deref(), None);
    Ok(place.map(|place| Evidence {
        line: output.is_none().then_some(place.lines.0),
        path: place.path,
        quote: place.quote,
    }))
}

/// Returns the text of a file. A path that leads out of the files names none.
fn text_of(objects: &Objects, files: &Manifest, path: &str) -> Result<Option<String>, ObjectError> {
    let node = RelPath::parse(path.as_bytes()).ok().and_then(|path| files.get(&path));
    let Some(Node::File { blob, .. }) = node else { return Ok(None) };
    let Ok(bytes) = objects.read_at_most(*blob, LARGEST)? else { return Ok(None) };
    Ok(String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')))
}

/// Returns the beginning of a text.
fn cut(text: &str, most: usize) -> String {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end]).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use skilltune_phases::loops::evolve::EVIDENCE;

    use super::super::edited_copy::tests::why_refused;
    use super::*;

    /// Returns why the gates refuse a tree in place of a project, if they do.
    fn refusal(entries: &[(&str, &str)]) -> Option<String> {
        let project = [("a.py", "1"), ("vendor/b.py", "1")];
        let gates = |objects: &Objects, copy: &EditedCopy| worked(objects, copy, &["vendor".to_owned()]);
        why_refused(&project, entries, gates)
    }

    #[test]
    fn work_touches_no_evidence_no_repository_and_no_settings() {
        let vendor = ("vendor/b.py", "1");
        assert_eq!(refusal(&[("a.py", "2"), vendor]), None);
        let evidence = format!("{EVIDENCE}/x");
        for (path, why) in [
            (evidence.as_str(), "belongs to skilltune"),
            ("sub/.git/config", "would make a git repository"),
            (".claude/settings.json", "by themselves"),
            ("vendor/c.py", "belongs to another repository"),
        ] {
            let refusal = refusal(&[("a.py", "2"), vendor, (path, "2")]).unwrap();
            assert!(refusal.contains(why), "{refusal}");
        }
    }

    #[test]
    fn a_test_that_is_named_by_its_path_has_the_same_name_in_every_workspace() {
        for space in ["/cache/run/1/space", "/cache/run/2/space"] {
            let totals = "# tests 1\n# suites 0\n# pass 0\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0\n";
            let said = format!("not ok 1 - {space}/test/a.test.js\n1..1\n{totals}# in ({space})\n");
            let said = in_project(&said, Path::new(space));
            assert!(said.ends_with("# in (.)\n"), "{said}");
            let tests = test_results(&said, "").expect("it is an output of node");
            assert_eq!(tests.failing.len(), 1);
            assert_eq!(&*tests.failing[0], "test/a.test.js");
        }
    }
}
