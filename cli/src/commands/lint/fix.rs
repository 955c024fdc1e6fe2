//! Writes fixes into a user's folder like a promotion does: under its lock, file by file, completed or undone after a
//! crash, and never over an edit made meanwhile.

use std::collections::BTreeMap;
use std::path::Path;

use skilltune_orchestrator::promote::{self, Move, Promotion};
use skilltune_orchestrator::skill_files::load_captured;
use skilltune_orchestrator::snapshot::{
    Entry, IgnoreRules, Limits, Manifest, Node, Objects, RelPath, capture, unified,
};
use skilltune_phases::base::material::Body;
use skilltune_phases::skills::lint::{
    File, Files, Fixed, Reach, Repair, Rule, Suggestion, fix_all, suggestion,
};

use crate::commands::lint::load;
use crate::inputs::find::Skill;
use crate::runs::session;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;
use crate::terminal::printer::Printer;
use crate::terminal::questions::Answers;

const DOING: &str = "lint --fix";
const FILE_MODE: u32 = 0o644;
const FOLDER_MODE: u32 = 0o755;

/// Applies the safe fixes and the suggestions that the user accepts. Returns the new files and the list of fixes.
pub fn apply(
    skill: &Skill,
    person: Option<&dyn Answers>,
    is_wanted: impl Fn(Rule) -> bool,
    is_left_out: impl Fn(&Path) -> bool,
    env: &Environment,
    printer: Printer,
) -> Result<(Files, Vec<Repair>), Complaint> {
    let (locks, lock) = session::lock(env, printer, std::slice::from_ref(&skill.path), DOING)?;
    // Leftovers of a crash: taking the lock has already recovered the folder.
    let store = locks.place(&skill.path).join("fix");
    store.remove().map_err(ours)?;
    let files = load(skill, is_left_out)?;
    let asks = person.is_some() && suggestion(&files, &is_wanted, &[]).is_some();
    if !asks && fix_all(&files, Reach::Safe).done.is_empty() {
        return Ok((files, Vec::new()));
    }
    let objects = Objects::at(store.clone());
    let rules = IgnoreRules::of(&skill.path).map_err(ours)?;
    let before = capture(&objects, &skill.path, Some(rules), Limits::default()).map_err(ours)?;
    // The folder may have changed since we read it, so we fix what we captured.
    let files = load_captured(&before.manifest, &skill.name, &objects).map_err(ours)?;
    let mut fixed = fix_all(&files, Reach::Safe);
    let tree = |after: &Files| with(&objects, &before.manifest, &files, after);
    if let Some(person) = person {
        ask(&mut fixed, person, &is_wanted, printer, |from, to| {
            unified(&objects, &tree(from)?, &tree(to)?).map_err(ours)
        })?;
    }
    if fixed.done.is_empty() {
        store.remove().map_err(ours)?;
        return Ok((files, Vec::new()));
    }
    let to = objects.put_manifest(&tree(&fixed.files)?).map_err(ours)?;
    let moves = [Move { path: skill.path.clone(), from: before.tree, to }];
    match promote::promote(&locks, &lock, &objects, &env.indexes(), DOING, &moves).map_err(ours)? {
        Promotion::Done => {
            store.remove().map_err(ours)?;
            Ok((fixed.files, fixed.done))
        }
        Promotion::Conflict { .. } => Err(Complaint::conflict(format!(
            "{} changed while lint was fixing it; nothing was written",
            skill.path.display()
        ))
        .hint("run the command again")),
    }
}

/// Shows the diff of each suggestion, and applies those that the user accepts.
fn ask(
    fixed: &mut Fixed,
    person: &dyn Answers,
    is_wanted: impl Fn(Rule) -> bool,
    printer: Printer,
    diff: impl Fn(&Files, &Files) -> Result<String, Complaint>,
) -> Result<(), Complaint> {
    let mut refused = Vec::new();
    while let Some(Suggestion { files, repair }) = suggestion(&fixed.files, &is_wanted, &refused) {
        let Repair { rule, path, .. } = &repair;
        printer.warn(&format!("{rule}: {}", rule.why()));
        printer.show(diff(&fixed.files, &files)?.trim_end());
        if person.agree("Apply this change?")? {
            fixed.files = files;
            fixed.done.push(repair);
        } else {
            refused.push((*rule, path.clone()));
        }
    }
    Ok(())
}

/// Returns the tree with the fixed files in place of the old ones.
fn with(objects: &Objects, tree: &Manifest, before: &Files, after: &Files) -> Result<Manifest, Complaint> {
    let mut nodes: BTreeMap<RelPath, Node> =
        tree.entries().iter().map(|entry| (entry.path.clone(), entry.node.clone())).collect();
    for file in after.files() {
        let old = before.get(&file.path);
        let Body::Text(text) = &file.body else { continue };
        if old == Some(file) {
            continue;
        }
        let path = RelPath::parse(file.path.as_bytes()).map_err(ours)?;
        for folder in path.lineage().filter(|above| *above != path) {
            nodes.entry(folder).or_insert(Node::Folder { mode: FOLDER_MODE });
        }
        let mode = mode(nodes.get(&path), file);
        let blob = objects.put(text.as_bytes()).map_err(ours)?;
        nodes.insert(path, Node::File { blob, size: text.len() as u64, mode });
    }
    let entries = nodes.into_iter().map(|(path, node)| Entry { path, node }).collect();
    Manifest::new(entries).map_err(ours)
}

/// Makes a script executable for everyone who can read it.
fn mode(old: Option<&Node>, file: &File) -> u32 {
    let mode = old.and_then(Node::mode).unwrap_or(FILE_MODE);
    if file.executable { mode | (mode & 0o444) >> 2 } else { mode }
}
