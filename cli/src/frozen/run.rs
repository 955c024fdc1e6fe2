//! Replays a stored run: its files and the output of commands about it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use skilltune_orchestrator::engine::{Extent, is_published, publish};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::{self, Home, RunFolder};
use skilltune_phases::base;
use skilltune_phases::loops::Next;
use skilltune_phases::runs::event::{Event, Record};
use skilltune_phases::runs::plan::{LoopKind, Plan, RunId};
use skilltune_phases::runs::run::Run;
use tempfile::TempDir;
use walkdir::WalkDir;

use super::covered::Counted;
use super::stored::{REASON, Texts};
use super::{JOURNAL, OBJECTS, PROJECT, Replayed};
use crate::commands::status;
use crate::loops::LoopCommands;
use crate::report::page::page;
use crate::report::ui::{Ui, with_loop};
use crate::report::{files, html, journal, json, replace};
use crate::runs::RunStatus;

pub(super) fn replay(given: &Texts) -> Replayed {
    let (kind, id) = named(given);
    with_loop!(kind, L => replay_loop::<L>(given, &id))
}

/// Returns the loop and the id of a stored run.
fn named(given: &Texts) -> (LoopKind, RunId) {
    let first = given[JOURNAL].lines().next().unwrap();
    let first: Value = serde_json::from_str(first).unwrap();
    let plan = &first["event"]["started"];
    let is_its = |kind: &&LoopKind| plan["loop"] == kind.word();
    let kind = *LoopKind::ALL.iter().find(is_its).expect("the loop is known");
    (kind, plan["run"].as_str().unwrap().parse().unwrap())
}

fn replay_loop<L: Counted>(given: &Texts, id: &RunId) -> Replayed {
    let project = TempDir::new().unwrap();
    let (objects, folder, records) = placed::<L>(given, id, project.path());
    let (run, mut said) = followed(&records);
    let in_place = moved(&records, project.path());
    let write_pages = || files::write::<L>(&objects, &folder, &in_place, Extent::All);
    publish(&objects, &folder, &in_place, Extent::All, write_pages).unwrap();
    assert!(is_published(&folder, &in_place));
    said.extend(commands(&run, &objects));
    let said = said.into_iter().map(|(name, text)| (format!("said/{name}"), text + "\n"));
    let texts = files(project.path()).into_iter().chain(said).collect();
    Replayed { texts, covered: L::covered(&records) }
}

/// Puts the objects and the journal of a stored run into this project, and reads the journal.
fn placed<L: Counted>(given: &Texts, id: &RunId, project: &Path) -> (Objects, RunFolder, Vec<Record<L>>) {
    let home = Home::of(project);
    home.create().unwrap();
    let (objects, folder) = (Objects::at(home.objects()), home.run(id));
    for (name, text) in given {
        if let Some(hash) = name.strip_prefix(OBJECTS) {
            assert_eq!(objects.put(text.as_bytes()).unwrap().0.hex(), hash);
        }
    }
    folder.create().unwrap();
    fs::write(folder.history().path(), &given[JOURNAL]).unwrap();
    let history = store::read::<L>(&folder.history()).unwrap();
    assert_eq!(history.torn, 0);
    (objects, folder, history.records)
}

/// Writes the pages of a stored run in this project and returns the folder of the run. First `edit` changes the
/// sentences of its journal.
pub(super) fn write_pages(given: &Texts, project: &Path, edit: impl Fn(&str) -> String) -> PathBuf {
    let (kind, id) = named(given);
    with_loop!(kind, L => {
        let (objects, folder, records) = placed::<L>(given, &id, project);
        let records: Vec<_> = records.iter().map(|record| edited(record, &edit)).collect();
        let run = moved(&records, project);
        publish(&objects, &folder, &run, Extent::All, || Ok(())).unwrap();
        write_run(&objects, &folder, &run)
    })
}

/// Writes the page of a run with its figures beside it, as `report --open` does.
pub(super) fn write_run<L: Ui>(objects: &Objects, folder: &RunFolder, run: &Run<L>) -> PathBuf {
    folder.create().unwrap();
    let report = json::report(run, objects);
    html::write(objects, folder, run, &report).unwrap();
    replace(&folder.report_json(), &base::json::page(&report)).unwrap();
    folder.root().to_owned()
}

/// Changes all sentences of a record that may have other words.
fn edited<L: Counted>(record: &Record<L>, edit: impl Fn(&str) -> String) -> Record<L> {
    let (mut value, mut last) = (serde_json::to_value(record).unwrap(), record.clone());
    let mut sentences = BTreeSet::new();
    each_sentence(&mut value, &mut |text| {
        sentences.insert(text.clone());
    });
    for sentence in sentences {
        let (mut changed, new) = (value.clone(), edit(&sentence));
        each_sentence(&mut changed, &mut |text| {
            if *text == sentence {
                text.clone_from(&new);
            }
        });
        if let Ok(record) = serde_json::from_value(changed.clone()) {
            (value, last) = (changed, record);
        }
    }
    last
}

/// Calls `see` with each text of several words.
fn each_sentence(value: &mut Value, see: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) if text.contains(' ') => see(text),
        Value::Array(all) => all.iter_mut().for_each(|one| each_sentence(one, see)),
        Value::Object(all) => all.values_mut().for_each(|one| each_sentence(one, see)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Follows a journal record by record and returns the lines of `history` and the decisions that the loop would no
/// longer make.
fn followed<L: Counted>(records: &[Record<L>]) -> (Run<L>, Vec<(&'static str, String)>) {
    let (first, rest) = records.split_first().unwrap();
    let mut run = Run::begin(first).unwrap();
    let (mut history, mut otherwise) = (vec![journal::line(&run, first)], Vec::new());
    for record in rest {
        if let Event::Decided(decision) = &record.event {
            let due = match L::next(&run) {
                Next::Decide(due) => Some(due),
                Next::Do(_) | Next::End => None,
            };
            let is_stop = || L::on_stop(&run, Some(REASON)).as_ref() == Some(decision);
            let is_ended_by = || L::ended_by(&run, "end").as_ref() == Some(decision);
            let is_reopening = || L::reopening(&run).as_ref() == Some(decision);
            let is_made_today = due.as_ref() == Some(decision) || L::is_observed(decision);
            if !is_made_today && !is_stop() && !is_reopening() && !is_ended_by() {
                otherwise.push(format!("record {}: {decision:?}, and today {due:?}", record.seq));
            }
        }
        run.apply(record);
        history.push(journal::line(&run, record));
    }
    assert_eq!(run, Run::replay(records).unwrap());
    let said = [("history", history), ("decided otherwise", otherwise)].into_iter();
    let said = said.filter(|(_, lines)| !lines.is_empty()).map(|(name, lines)| (name, lines.join("\n")));
    (run, said.collect())
}

/// Replays the run in a writable project, because `reflex` writes its own files there.
fn moved<L: LoopCommands>(records: &[Record<L>], project: &Path) -> Run<L> {
    let mut records = records.to_vec();
    let Event::Started(plan) = &mut records[0].event else { panic!("a run begins with its plan") };
    let mut value = serde_json::to_value(&*plan).unwrap();
    if let Some(place) = value.get_mut("project") {
        assert_eq!(*place, PROJECT);
        *place = project.to_str().unwrap().into();
        **plan = serde_json::from_value::<Plan<L>>(value).unwrap();
    }
    Run::replay(&records).unwrap()
}

/// Returns the output of `status`, and for a run that has not ended also its JSON and the output of `report`.
fn commands<L: LoopCommands>(run: &Run<L>, objects: &Objects) -> Vec<(&'static str, String)> {
    let standing = match run.closed_at {
        Some(_) => RunStatus::Ended,
        None if run.held => RunStatus::Held,
        None => RunStatus::Open,
    };
    let mut said = vec![("status", status::lines(run, standing, objects).join("\n"))];
    if run.closed_at.is_none() {
        said.push(("status --format json", format!("{:#}", status::object(run, standing, objects))));
        said.push(("report", page(run, objects).trim_end().to_owned()));
        said.push(("report --format json", format!("{:#}", json::report(run, objects))));
    }
    said
}

/// Reads all files that a run has written for people and programs.
fn files(project: &Path) -> Texts {
    let is_read = |entry: &walkdir::DirEntry| {
        let at = entry.path().strip_prefix(project).unwrap();
        !["objects", "cache", ".gitignore"].iter().any(|name| at == Path::new(".skilltune").join(name))
    };
    let entries = WalkDir::new(project).into_iter().filter_entry(is_read).map(Result::unwrap);
    let written = entries.filter(|entry| entry.file_type().is_file() && !is_journal(entry.path()));
    let read = |entry: walkdir::DirEntry| {
        let text = fs::read_to_string(entry.path()).unwrap();
        let name = entry.path().strip_prefix(project).unwrap().to_str().unwrap().to_owned();
        (format!("files/{name}"), text.replace(project.to_str().unwrap(), PROJECT))
    };
    written.map(read).collect()
}

/// Distinguishes the journal of the run from the history that `reflex` writes elsewhere.
fn is_journal(path: &Path) -> bool {
    path.ends_with("history.jsonl") && path.components().any(|part| part.as_os_str() == ".skilltune")
}
