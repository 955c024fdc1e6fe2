//! What skilltune finds itself, before any agent: changed files that decide about reviews, keys, and faults of skills.

use std::collections::BTreeSet;
use std::path::Path;

use skilltune_orchestrator::git::{Content, FileChange, Kind};
use skilltune_orchestrator::skill_files;
use skilltune_phases::base::material::Body;
use skilltune_phases::loops::review::DECIDING;
use skilltune_phases::loops::review::finding::{Finding, Place, Severity, Side};
use skilltune_phases::loops::review::task::{Changed, OwnFinding};
use skilltune_phases::skills::keys::HIDDEN;
use skilltune_phases::skills::lint::{self, File, Files};

use crate::loops::review::base::Base;
use crate::loops::review::subject::Subject;
use crate::settings::Settings;

/// The most findings of one kind.
const MOST: usize = 20;
const SKILL: &str = "SKILL.md";

/// Returns whether a changed file belongs to a skill.
pub fn is_skill(subject: &Subject) -> bool {
    !skills(subject).is_empty()
}

pub fn findings(subject: &Subject, changed: &[Changed], base: &Base, settings: &Settings) -> Vec<OwnFinding> {
    let files = &subject.changes.files;
    // A folder that is reviewed as it is alters nothing.
    let altered = if subject.changes.base.is_some() { files.as_slice() } else { &[] };
    let deciding = altered.iter().filter(|file| base.is_deciding(file.path.as_path(), settings));
    let deciding = deciding.map(|file| own(DECIDING, deciding_change(&file.path.to_string())));
    let keys = files.iter().zip(changed).flat_map(|(file, changed)| keys(file, changed)).take(MOST);
    let skills = skills(subject);
    let lint = skills.iter().flat_map(|folder| lint_of(subject, folder)).take(MOST);
    deciding
        .chain(keys.map(|finding| own("keys", finding)))
        .chain(lint.map(|finding| own("lint", finding)))
        .collect()
}

fn own(by: &str, finding: Finding) -> OwnFinding {
    OwnFinding { by: by.into(), finding }
}

fn deciding_change(path: &str) -> Finding {
    Finding {
        severity: Severity::High,
        title: format!("the change alters what decides about reviews: {path}").into(),
        place: Some(place(path, (1, 1), "")),
        what: "This review used the file as it was before the change. Once the change is merged, the new one decides \
               which commands, experts and suppressions the next review uses."
            .into(),
        suggestion: "Read it as you would read a change of your build.".into(),
        fixed: None,
    }
}

fn place(path: &str, lines: (u32, u32), quote: &str) -> Place {
    Place {
        path: path.into(),
        side: Side::New,
        lines,
        quote: quote.into(),
        code: "".into(),
        is_changed: true,
    }
}

/// Returns the keys in added lines. No key is shown.
fn keys(file: &FileChange, changed: &Changed) -> Vec<Finding> {
    let Some(text) = file.after.as_ref().and_then(Content::text) else { return Vec::new() };
    if text.len() > 1 << 20 || changed.path.ends_with(".lock") || changed.path.ends_with("-lock.json") {
        return Vec::new();
    }
    let is_added = |line: &u32| changed.added.iter().any(|(first, last)| (first..=last).contains(&line));
    let lines: BTreeSet<u32> = lines_of(text, lint::likely_keys(text)).filter(is_added).take(MOST).collect();
    let finding = |line: u32| {
        let shown = text.lines().nth(line as usize - 1).unwrap_or_default();
        let shown: String = lint::without_keys(shown, HIDDEN).trim().chars().take(120).collect();
        Finding {
            severity: Severity::Critical,
            title: "a key in the source".into(),
            place: Some(place(&changed.path, (line, line), &shown)),
            what: "Everybody who can read the repository can use it, and it stays in the history.".into(),
            suggestion: "Revoke the key, and read it from the environment.".into(),
            fixed: None,
        }
    };
    lines.into_iter().map(finding).collect()
}

/// Returns the lines of some places, which are in order: a text may be full of keys.
fn lines_of<'t>(text: &'t str, places: Vec<(usize, &'t str)>) -> impl Iterator<Item = u32> + 't {
    let (mut line, mut counted) = (1, 0);
    places.into_iter().map(move |(at, _)| {
        line += text[counted..at].matches('\n').count();
        counted = at;
        u32::try_from(line).unwrap_or(u32::MAX)
    })
}

/// Returns the folders of skills whose page is among the changed files.
fn skills(subject: &Subject) -> Vec<String> {
    let page = |file: &FileChange| {
        let is_page = file.after.is_some() && file.path.name() == SKILL;
        is_page.then(|| file.path.parent().map(|parent| parent.to_string()).unwrap_or_default())
    };
    subject.changes.files.iter().filter_map(page).collect()
}

/// Checks a skill, its unchanged files included.
fn lint_of(subject: &Subject, folder: &str) -> Vec<Finding> {
    let root = subject.root.join(folder);
    let name = root.file_name().and_then(|name| name.to_str()).unwrap_or("skill");
    let within = |path: &str| match folder {
        "" => Some(path.to_owned()),
        folder => Some(path.strip_prefix(folder)?.strip_prefix('/')?.to_owned()),
    };
    let changed: Vec<(String, &FileChange)> = subject
        .changes
        .files
        .iter()
        .filter_map(|file| Some((within(&file.path.to_string())?, file)))
        .collect();
    let is_changed = |path: &str| changed.iter().any(|(changed, _)| changed == path);
    // Another revision may have a symlink there.
    let is_plain = root.canonicalize().is_ok_and(|real| real == root);
    let kept = is_plain.then(|| skill_files::load(&root, name).ok()).flatten();
    let kept =
        kept.iter().flat_map(|files| files.files().iter().filter(|file| !is_changed(&file.path)).cloned());
    let new = changed.iter().filter_map(|(path, file)| Some(lint_file(path, file.after.as_ref()?)));
    let files = Files::new(name, kept.chain(new));
    let of_changed = lint::lint(&files).into_iter().filter(|one| is_changed(&one.path));
    of_changed.map(|one| lint_finding(folder, &one)).collect()
}

fn lint_file(path: &str, content: &Content) -> File {
    let (body, executable) = match content.kind {
        Kind::Link => (Body::Link { target: String::from_utf8_lossy(&content.bytes).into_owned() }, false),
        Kind::File { mode } => {
            let bytes = content.bytes.len() as u64;
            let body = content.text().map_or(Body::Binary { bytes }, |text| Body::Text(text.to_owned()));
            (body, mode & 0o100 != 0)
        }
    };
    File { path: path.to_owned(), body, executable }
}

fn lint_finding(folder: &str, one: &lint::Diagnostic) -> Finding {
    let severity = match one.rule.severity() {
        lint::Severity::Error => Severity::High,
        lint::Severity::Warning => Severity::Medium,
        lint::Severity::Note => Severity::Low,
    };
    let line = one.line.and_then(|line| u32::try_from(line).ok()).unwrap_or(1);
    let path = Path::new(folder).join(&one.path);
    Finding {
        severity,
        title: one.message.as_str().into(),
        place: Some(place(&path.to_string_lossy(), (line, line), one.rule.id())),
        what: format!("`skilltune lint` reports {} ({})", one.rule.id(), one.rule.severity()).into(),
        suggestion: one.rule.how().into(),
        fixed: None,
    }
}
