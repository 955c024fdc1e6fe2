//! Reads an improver's edit of its copy of a skill, and accepts only a real change.
//!
//! The copy is captured and the result is checked as bytes; other changes of the agent are ignored. Edits given as text
//! are applied to the stored tree, never to a disk.

use std::collections::BTreeMap;

use skilltune_phases::asking::order::Order;
use skilltune_phases::loops::tune::Answer;
use skilltune_phases::runs::event::{Failure, FailureKind};
use skilltune_phases::skills::edit::{self, EditReport};
use skilltune_phases::skills::skill;
use skilltune_phases::suites::leak::Secrets;

use super::super::edited_copy::{EditedCopy, gate};
use super::super::refusal::new_repository;
use super::super::{AgentOutput, EngineError, ReadError, Services};
use crate::skill_files::load_version;
use crate::snapshot::{Entry, Manifest, Node, ObjectError, Objects, RelPath};

const SKILL_MD: &[u8] = b"SKILL.md";
const FILE_MODE: u32 = 0o644;
const FOLDER_MODE: u32 = 0o755;

pub(super) fn read(
    services: &Services,
    order: &Order,
    output: &AgentOutput<'_>,
    secrets: &Secrets,
) -> Result<Answer, ReadError> {
    let (objects, AgentOutput { space, answer, .. }) = (&services.objects, *output);
    let placement = order.draft().expect("an improver has a draft to work on");
    let copy = EditedCopy::read(services, placement, space).map_err(|error| match error {
        ReadError::Agent(failure) => gate(failure.why).into(),
        ours @ ReadError::Ours(_) => ours,
    })?;
    let base = &copy.base;
    let page = RelPath::parse(SKILL_MD).expect("a plain name is a path");
    let edited = copy.made.manifest.edited_from(base, Some(&page));
    let (edited, report) = if edited == *base {
        let (made, report) = edited_in_words(objects, base, answer)?;
        (made.edited_from(base, Some(&page)), report)
    } else {
        (edited, edit::read_report(answer))
    };
    if edited == *base {
        return Err(gate(unchanged(&report)).into());
    }
    accepted(services, &copy, &edited, secrets, Box::new(report))
}

/// Checks a worker's edit like an agent's, and computes its kinds and its dangers again.
pub(super) fn examined(
    services: &Services,
    order: &Order,
    secrets: &Secrets,
    answer: Answer,
) -> Result<Answer, ReadError> {
    let Answer::Improved { tree, report, .. } = answer else { return Ok(answer) };
    let placement = order.draft().ok_or(EngineError::Stuck)?;
    let copy = EditedCopy::returned(&services.objects, placement, tree)?;
    let page = RelPath::parse(SKILL_MD).expect("a plain name is a path");
    let edited = copy.made.manifest.edited_from(&copy.base, Some(&page));
    accepted(services, &copy, &edited, secrets, report)
}

/// Accepts only a real change of a skill.
fn accepted(
    services: &Services,
    copy: &EditedCopy,
    edited: &Manifest,
    secrets: &Secrets,
    report: Box<EditReport>,
) -> Result<Answer, ReadError> {
    let (objects, base) = (&services.objects, &copy.base);
    if let Some(why) = refused(objects, base, edited)? {
        return Err(gate(why).into());
    }
    let whole = copy.completed(edited)?;
    if let Some((path, line)) = secrets.leak(&texts(objects, base)?, &texts(objects, edited)?) {
        return Err(gate(format!("{path}:{line} {LEAK}")).into());
    }
    let (before, after) = (load_version(base, objects)?, load_version(edited, objects)?);
    let (kinds, dangers) = (edit::kinds(&before.files, &after.files), edit::dangers(&before, &after));
    Ok(Answer::Improved { tree: objects.put_manifest(&whole)?, report, kinds, dangers })
}

/// The message does not repeat the words: the agent has to find them.
const LEAK: &str = "repeats words of what the skill is judged by; write it for any task of its kind";

/// Says that nothing was changed, and the improver's own reason.
fn unchanged(report: &EditReport) -> String {
    let reason = report.skipped.first().or(report.summary.as_ref());
    let reason = reason.map(|reason| format!("; the improver says: {reason}"));
    format!("nothing was changed{}", reason.unwrap_or_default())
}

fn edited_in_words(
    objects: &Objects,
    base: &Manifest,
    answer: &str,
) -> Result<(Manifest, EditReport), ReadError> {
    let answer = edit::read(answer).map_err(|why| {
        let why = format!("no file of the copy was changed, and there are no edits to apply: {why}");
        Failure::new(FailureKind::OffSchema, why)
    })?;
    let changed = edit::apply(&answer.edits, &texts(objects, base)?).map_err(|why| gate(why.to_string()))?;
    Ok((with_texts(objects, base, &changed)?, answer.report))
}

/// Returns the files that edits given as text can change.
fn texts(objects: &Objects, manifest: &Manifest) -> Result<BTreeMap<String, String>, ObjectError> {
    let mut texts = BTreeMap::new();
    for entry in manifest.entries() {
        let (Node::File { blob, .. }, Ok(path)) = (&entry.node, std::str::from_utf8(entry.path.as_bytes()))
        else {
            continue;
        };
        if let Ok(text) = String::from_utf8(objects.read(*blob)?) {
            texts.insert(path.to_owned(), text);
        }
    }
    Ok(texts)
}

fn with_texts(
    objects: &Objects,
    base: &Manifest,
    changed: &BTreeMap<String, String>,
) -> Result<Manifest, ReadError> {
    let mut nodes: BTreeMap<RelPath, Node> =
        base.entries().iter().map(|entry| (entry.path.clone(), entry.node.clone())).collect();
    for (path, text) in changed {
        let Ok(path) = RelPath::parse(path.as_bytes()) else {
            return Err(gate(format!("{path:?} is not a path within the skill")).into());
        };
        for folder in path.lineage().filter(|above| *above != path) {
            nodes.entry(folder).or_insert(Node::Folder { mode: FOLDER_MODE });
        }
        let mode = nodes.get(&path).and_then(Node::mode).unwrap_or(FILE_MODE);
        nodes.insert(path, Node::File { blob: objects.put(text.as_bytes())?, size: text.len() as u64, mode });
    }
    let entries = nodes.into_iter().map(|(path, node)| Entry { path, node }).collect();
    Ok(Manifest::new(entries).map_err(|why| gate(why.to_string()))?)
}

/// Returns why a draft is not a valid change of a skill, if it is not.
fn refused(objects: &Objects, base: &Manifest, draft: &Manifest) -> Result<Option<String>, ObjectError> {
    if is_no_change(objects, base, draft)? {
        return Ok(Some("nothing but white space was changed".to_owned()));
    }
    if let Some(path) = new_repository(base, draft) {
        return Ok(Some(format!("{path} would make a git repository; a skill holds none")));
    }
    let Some(now) = main_page(objects, draft)? else {
        return Ok(Some("SKILL.md is missing, or is not a text file".to_owned()));
    };
    let matter = match skill::check(&now) {
        Ok(matter) => matter,
        Err(why) => return Ok(Some(format!("SKILL.md is no longer a valid skill: {why}"))),
    };
    let before = main_page(objects, base)?.and_then(|page| skill::check(&page).ok());
    Ok(before.filter(|before| before.name != matter.name).map(|before| {
        format!("the skill's name must stay {:?}: it is how people and other skills call it", before.name)
    }))
}

fn is_no_change(objects: &Objects, base: &Manifest, draft: &Manifest) -> Result<bool, ObjectError> {
    let paths =
        |manifest: &Manifest| manifest.entries().iter().map(|entry| entry.path.clone()).collect::<Vec<_>>();
    if paths(base) != paths(draft) {
        return Ok(false);
    }
    for (old, new) in base.entries().iter().zip(draft.entries()).filter(|(old, new)| old.node != new.node) {
        if !same_words(objects, &old.node, &new.node)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn same_words(objects: &Objects, old: &Node, new: &Node) -> Result<bool, ObjectError> {
    let (Node::File { blob: old, mode: before, .. }, Node::File { blob: new, mode: after, .. }) = (old, new)
    else {
        return Ok(false);
    };
    let texts = (String::from_utf8(objects.read(*old)?), String::from_utf8(objects.read(*new)?));
    let (Ok(old), Ok(new)) = texts else { return Ok(false) };
    Ok(before == after && skill::same_but_for_white_space(&old, &new))
}

fn main_page(objects: &Objects, manifest: &Manifest) -> Result<Option<String>, ObjectError> {
    let path = RelPath::parse(SKILL_MD).expect("a plain name is a path");
    let Some(Node::File { blob, .. }) = manifest.get(&path) else { return Ok(None) };
    Ok(String::from_utf8(objects.read(*blob)?).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "---\nname: a\ndescription: Does a thing.\n---\nDo it.\n";

    struct Bench {
        _folder: tempfile::TempDir,
        objects: Objects,
    }

    impl Bench {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            Self { objects: Objects::at(folder.path()), _folder: folder }
        }

        fn tree(&self, entries: &[(&str, Made)]) -> Manifest {
            let node = |made: &Made| match made {
                Made::Page(text) => {
                    let blob = self.objects.put(text.as_bytes()).unwrap();
                    Node::File { blob, size: text.len() as u64, mode: FILE_MODE }
                }
                Made::Folder => Node::Folder { mode: FOLDER_MODE },
            };
            let entry = |(path, made): &(&str, Made)| Entry {
                path: RelPath::parse(path.as_bytes()).unwrap(),
                node: node(made),
            };
            Manifest::new(entries.iter().map(entry).collect()).unwrap()
        }

        fn refusal(&self, draft: &[(&str, Made)]) -> Option<String> {
            let base = self.tree(&[("SKILL.md", Made::Page(PAGE))]);
            refused(&self.objects, &base, &self.tree(draft)).unwrap()
        }
    }

    enum Made {
        Page(&'static str),
        Folder,
    }

    #[test]
    fn a_real_change_passes() {
        let page = "---\nname: a\ndescription: Does a thing.\n---\nDo it well.\n";
        assert_eq!(Bench::new().refusal(&[("SKILL.md", Made::Page(page))]), None);
        assert_eq!(
            Bench::new().refusal(&[("SKILL.md", Made::Page(PAGE)), ("more.md", Made::Page(""))]),
            None
        );
    }

    #[test]
    fn what_changes_nothing_but_white_space_is_no_change() {
        let page = "---\nname: a\ndescription: Does a thing.\n---\n\n  Do   it.\n\n";
        let why = Bench::new().refusal(&[("SKILL.md", Made::Page(page))]);
        assert_eq!(why.as_deref(), Some("nothing but white space was changed"));
    }

    #[test]
    fn an_improver_that_changes_nothing_says_why() {
        let why = |answer: &str| unchanged(&edit::read(answer).unwrap().report);
        assert_eq!(why(r#"{"edits": []}"#), "nothing was changed");
        let summary = r#"{"edits": [], "summary": "all is well"}"#;
        assert_eq!(why(summary), "nothing was changed; the improver says: all is well");
        let skipped = r#"{"edits": [], "summary": "none", "skipped": ["SKILL.md is not shown"]}"#;
        assert_eq!(why(skipped), "nothing was changed; the improver says: SKILL.md is not shown");
    }

    #[test]
    fn a_skill_that_is_none_any_more_or_another_one_is_refused() {
        let cases: [(&[(&str, Made)], &str); 4] = [
            (&[("other.md", Made::Page(PAGE))], "SKILL.md is missing"),
            (&[("SKILL.md", Made::Folder)], "SKILL.md is missing"),
            (&[("SKILL.md", Made::Page("Do it.\n"))], "no longer a valid skill"),
            (&[("SKILL.md", Made::Page("---\nname: b\ndescription: Does.\n---\n"))], "name must stay \"a\""),
        ];
        for (draft, why) in cases {
            let refusal = Bench::new().refusal(draft).unwrap();
            assert!(refusal.contains(why), "{refusal}");
        }
    }

    #[test]
    fn a_draft_may_hold_no_git_repository() {
        let page = || ("SKILL.md", Made::Page(PAGE));
        let hidden =
            [page(), ("a", Made::Folder), ("a/.Git", Made::Folder), ("a/.Git/config", Made::Page(""))];
        let bare = |refs| {
            [
                page(),
                ("b", Made::Folder),
                ("b/HEAD", Made::Page("")),
                ("b/objects", Made::Folder),
                (refs, Made::Folder),
            ]
        };
        assert!(Bench::new().refusal(&hidden).unwrap().contains("a/.Git would make"));
        assert!(Bench::new().refusal(&bare("b/refs")).unwrap().contains("git repository"));
        assert_eq!(Bench::new().refusal(&bare("b/other")), None);
    }
}
