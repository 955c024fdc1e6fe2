//! The files of a skill in a prompt. An improver or a judge of its text that can open files gets `SKILL.md` and the files
//! that it needs, and a list of the others; any other agent gets all files for which there is room.

use std::collections::BTreeSet;

use super::fence::{fence, material, plain};
use crate::base::material::{Body, Folder, Material};

/// The page that every skill has. A prompt shows it to every agent.
const MAIN: &str = "SKILL.md";
/// Up to this many bytes cost less in a prompt than the calls that open them.
const SHORT: usize = 8 << 10;
/// More names would hide the ones that matter; the agent can list the folder.
const MOST_LISTED: usize = 200;
/// For an agent that may be unable to open what a prompt leaves out.
const BLIND: &str = ". If you cannot open files, do not guess their content";

/// Returns the files of a skill. `SKILL.md` and the files that `needs` name get room first, and an agent that can open
/// files gets only these if the others are long. A list names the files that are left out.
pub(super) fn skill_files(seed: &str, skill: &Folder, opens_files: bool, needs: &[&str]) -> String {
    let needed = skill.files.iter().map(|file| file.path.as_str());
    let needed: BTreeSet<&str> =
        needed.filter(|path| *path == MAIN || is_named(path, skill, needs)).collect();
    let is_needed = |path: &str| needed.contains(path);
    let fitted = skill.fitted(is_needed);
    let others = fitted.files.iter().filter(|file| !is_needed(&file.path));
    let saves = opens_files && others.map(|file| text_bytes(&file.body)).sum::<usize>() > SHORT;
    let is_shown = |file: &&Material| match file.body {
        Body::Large { .. } => false,
        Body::Text(_) | Body::Binary { .. } | Body::Link { .. } => !saves || is_needed(&file.path),
    };
    let (given, others): (Vec<&Material>, Vec<&Material>) = fitted.files.iter().partition(is_shown);
    let given = given.into_iter().map(|file| material(seed, &skill.at, file));
    let others: Vec<&Material> = others.into_iter().filter(|file| file.path != MAIN).collect();
    let others = (!others.is_empty()).then(|| listed(seed, &skill.at, &others, opens_files));
    let parts: Vec<String> = too_long(skill).into_iter().chain(given).chain(others).collect();
    if parts.is_empty() { "(no files)".to_owned() } else { parts.join("\n\n") }
}

fn text_bytes(body: &Body) -> usize {
    match body {
        Body::Text(text) => text.len(),
        Body::Large { .. } | Body::Binary { .. } | Body::Link { .. } => 0,
    }
}

/// Returns whether a text names the file: by its path, or by an end of it that no other file of the skill has. A name
/// without a dot may be a common word, so then the text must have the whole path.
fn is_named(path: &str, skill: &Folder, texts: &[&str]) -> bool {
    let name = path.rsplit('/').next().filter(|name| name.contains('.')).unwrap_or(path);
    let fits_another = |written: &str| {
        let mut others = skill.files.iter().filter(|file| file.path != path);
        others.any(|file| fits(written, &file.path, &skill.at))
    };
    let names = |written: &str| written == path || fits(written, path, &skill.at) && !fits_another(written);
    texts.iter().any(|text| paths(text, name).any(names))
}

/// Returns the paths in a text that end with the name. Only ASCII letters continue a name or a path: some languages put
/// no space before the next word.
fn paths<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    let continues = |c: char| is_of_path(c) && !matches!(c, '.' | '/');
    let ends = text.match_indices(name).map(|(at, name)| (at, at + name.len()));
    let ends = ends
        .filter(move |&(at, end)| !text[..at].ends_with(continues) && !text[end..].starts_with(continues));
    ends.map(move |(_, end)| {
        let path = text[..end].rsplit(|c: char| !is_of_path(c)).next().unwrap_or_default();
        path.trim_start_matches("../").trim_start_matches("./").trim_start_matches('/')
    })
}

fn is_of_path(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/')
}

/// Returns whether a written path may be this path of the skill in the folder `at`: it may leave out the first folders,
/// or begin above the skill.
fn fits(written: &str, path: &str, at: &str) -> bool {
    let skill = at.rsplit('/').next().unwrap_or(at);
    let above = written.strip_suffix(path).and_then(|above| above.strip_suffix('/'));
    is_end(written, path) || above.is_some_and(|above| is_end(skill, above))
}

/// Returns whether a path has this end, which begins with a whole name.
fn is_end(end: &str, path: &str) -> bool {
    path.strip_suffix(end).is_some_and(|rest| !rest.ends_with(|c: char| is_of_path(c) && c != '/'))
}

/// Lists files with their sizes. Their authors chose the names, so the list is in a fence.
fn listed(seed: &str, at: &str, others: &[&Material], opens_files: bool) -> String {
    let line = |file: &&Material| format!("- {}: {}", plain(&file.path), size(&file.body));
    let more = others.len().saturating_sub(MOST_LISTED);
    let more = (more > 0).then(|| format!("- {more} more"));
    let lines: Vec<String> = others.iter().take(MOST_LISTED).map(line).chain(more).collect();
    let at = plain(at);
    let list = fence(seed, &format!("other files in {at}"), &lines.join("\n"));
    let blind = if opens_files { "" } else { BLIND };
    format!(
        "This skill has more files in `{at}`, which this page only lists. Open those that matter to your task{blind}:\n\n{list}"
    )
}

fn size(body: &Body) -> String {
    match body {
        Body::Text(text) => format!("{} bytes", text.len()),
        Body::Large { bytes } => format!("{bytes} bytes"),
        Body::Binary { bytes } => format!("{bytes} bytes, not text"),
        Body::Link { target } => format!("a symbolic link to {}", plain(target)),
    }
}

/// Says that `SKILL.md` is too long for a prompt, if it is.
fn too_long(skill: &Folder) -> Option<String> {
    let main = skill.files.iter().find(|file| file.path == MAIN)?;
    let Body::Large { bytes } = main.body else { return None };
    let at = plain(&skill.at);
    Some(format!(
        "`{at}/{MAIN}` is too long for this page: it has {bytes} bytes. Open it there and read all of it before you do anything else. If you cannot open files, do not guess its content."
    ))
}
