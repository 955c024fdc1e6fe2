//! Paths in the text: that they lead to something, within the skill's folder, on every machine.

use std::collections::HashSet;
use std::ops::Range;

use super::edit::Edit;
use super::example::{goes_on, is_example, owner, stands_in};
use super::page::{Heading, Link, Page};
use super::path::{decoded, encoded, folder_of, relative, resolved, words};
use super::reading::{Reading, extension, finding, name};
use super::{File, Finding, Rule};
use crate::material::Body;

pub(super) fn check(reading: &Reading, out: &mut Vec<Finding>) {
    for (file, page) in reading.instructions() {
        for link in &page.links {
            let (rule, message) = match judged(reading, file, link) {
                Judged::Fine => continue,
                Judged::Absolute => (Rule::PathAbsolute, format!("link to the absolute path `{}`", link.to)),
                Judged::OtherSkill => {
                    (Rule::PathOtherSkill, format!("`{}` belongs to another skill", link.to))
                }
                Judged::Outside => {
                    (Rule::PathOutside, format!("link to `{}`, outside the skill's folder", link.to))
                }
                Judged::Dangling => (Rule::LinkDangling, format!("broken link to `{}`", link.to)),
            };
            out.push(finding(rule, file, page.line(link.at), message));
        }
        check_words(reading, file, page, out);
    }
    for file in reading.files.files() {
        if let Body::Link { target } = &file.body {
            check_symlink(reading, file, target, out);
        }
    }
}

enum Judged {
    Fine,
    Absolute,
    OtherSkill,
    Outside,
    Dangling,
}

fn judged(reading: &Reading, file: &File, link: &Link) -> Judged {
    let Some((path, _)) = local(&link.to) else { return Judged::Fine };
    if is_absolute(path) {
        return Judged::Absolute;
    }
    let path = decoded(path);
    let Some(place) = resolved(folder_of(&file.path), &path) else {
        return if path.ends_with("/SKILL.md") { Judged::OtherSkill } else { Judged::Outside };
    };
    // The specification has paths start at the skill's folder, and Markdown at that of the page.
    let is_there = reading.exists(&place) || resolved("", &path).is_some_and(|place| reading.exists(&place));
    if is_there || stands_in(&path) || is_route(reading, &place) { Judged::Fine } else { Judged::Dangling }
}

/// A path without an ending, below no folder of the skill: a page of a site, not a file.
fn is_route(reading: &Reading, place: &str) -> bool {
    let top = place.split_once('/').map(|(top, _)| top);
    extension(place).is_none() && top.is_some_and(|top| !reading.is_folder(top))
}

/// The path of a link to a file, and what follows it; nothing when the link is meant for something else.
fn local(to: &str) -> Option<(&str, &str)> {
    let end = to.find(['#', '?']).unwrap_or(to.len());
    let (path, tail) = to.split_at(end);
    let scheme = path.split_once(':').map(|(scheme, _)| scheme).filter(|scheme| scheme.len() > 1);
    let has_scheme =
        scheme.is_some_and(|scheme| scheme.chars().all(|c| c.is_ascii_alphanumeric()) && scheme != "file");
    let is_example = path.contains(['<', '>', '{', '}', '$', '*', '|', '\n', '…']) || path.contains("...");
    let is_path = path.contains(['/', '.', '\\']) && !path.starts_with("//");
    (is_path && !has_scheme && !is_example).then_some((path, tail))
}

fn is_absolute(path: &str) -> bool {
    let has_drive =
        path.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) && path[1..].starts_with(':');
    path.starts_with(['/', '\\', '~']) || path.starts_with("file:") || has_drive
}

/// Links that lead nowhere, pointed to the only file that they can mean. Where the page shows what is to be written,
/// that is a suggestion: the links there are those of another document.
pub(super) fn repointed(reading: &Reading) -> Vec<Edit> {
    let edit = |(file, page): (&File, &Page)| {
        let change = |link: &Link| {
            let place = link.place.clone()?;
            matches!(judged(reading, file, link), Judged::Dangling).then_some(())?;
            let (path, tail) = local(&link.to)?;
            let path = decoded(path).replace('\\', "/");
            let fit = only_target(reading, file, &path)?;
            Some((place, encoded(&relative(folder_of(&file.path), &fit.path)) + tail))
        };
        let places = page.links.iter().filter_map(|link| Some((shows_output(page, link.at), change(link)?)));
        let (shown, own): (Vec<_>, Vec<_>) = places.partition(|(is_shown, _)| *is_shown);
        let edit = |places: Vec<(bool, _)>| {
            Edit::of_places(file, page.text, places.into_iter().map(|(_, place)| place).collect())
        };
        edit(own).or_else(|| edit(shown).map(Edit::suggested))
    };
    reading.instructions().filter_map(edit).collect()
}

/// The one file of the skill that a path can mean, if that is another than the one which links to it.
fn only_target<'a>(reading: &Reading<'a>, from: &File, path: &str) -> Option<&'a File> {
    let path = resolved(folder_of(&from.path), path)?;
    let &[only] = reading.alike(&path).as_slice() else { return None };
    Some(reading.file(only)).filter(|file| file.path != from.path)
}

/// Whether a place is below a heading that announces what a finished document looks like.
fn shows_output(page: &Page, at: usize) -> bool {
    let mut above: Vec<&Heading> = Vec::new();
    for heading in page.headings.iter().take_while(|heading| heading.at.start < at) {
        above.retain(|upper| upper.level < heading.level);
        above.push(heading);
    }
    above.iter().any(|heading| {
        let words = heading.words.to_lowercase();
        ["template", "example", "output"].iter().any(|word| words.contains(word))
    })
}

/// What prose and code name without linking to it.
fn check_words(reading: &Reading, file: &File, page: &Page, out: &mut Vec<Finding>) {
    let mut links: Vec<&Range<usize>> = page.links.iter().filter_map(|link| link.place.as_ref()).collect();
    links.sort_by_key(|place| place.start);
    let is_linked = |at: usize| {
        let next = links.partition_point(|place| place.end <= at);
        links.get(next).is_some_and(|place| place.contains(&at))
    };
    let is_path = |word: &str| word.bytes().any(|byte| matches!(byte, b'/' | b'\\' | b'.'));
    let paths = || words(page.text).filter(|(_, word)| is_path(word));
    // What is an example once is one wherever the page comes back to it.
    let mut seen: HashSet<&str> =
        paths().filter(|(at, _)| is_example(page.text, *at)).map(|(_, word)| word).collect();
    for (at, word) in paths() {
        let judged = absolute(reading, page, at, word).or_else(|| missing(reading, file, page, at, word));
        let Some((rule, message)) = judged else { continue };
        if !is_linked(at) && seen.insert(word) {
            out.push(finding(rule, file, page.line(at), message));
        }
    }
}

/// Names of people that stand for anybody's, and those that images of containers and machines come with.
const ANYBODY: [&str; 20] = [
    "user",
    "username",
    "you",
    "yourname",
    "your-name",
    "me",
    "name",
    "runner",
    "dev",
    "developer",
    "app",
    "node",
    "vscode",
    "ubuntu",
    "ec2-user",
    "codespace",
    "coder",
    "public",
    "default",
    "...",
];

fn absolute(reading: &Reading, page: &Page, at: usize, word: &str) -> Option<(Rule, String)> {
    let text = page.text;
    if let Some(skill) = shelved(word) {
        let folder = reading.files.folder();
        if goes_on(text, at, word) || stands_in(skill) {
            return None;
        }
        return Some(if skill == folder {
            (Rule::PathAbsolute, format!("`{word}` exists only if the skill is installed there"))
        } else {
            (Rule::PathOtherSkill, format!("`{word}` belongs to another skill"))
        });
    }
    let sibling =
        word.strip_prefix("../").filter(|rest| rest.ends_with("/SKILL.md") && !rest.starts_with("../"));
    // In code a relative path starts wherever the command runs.
    if sibling.is_some_and(|skill| !stands_in(folder_of(skill))) && !page.is_code(at) {
        return Some((Rule::PathOtherSkill, format!("`{word}` belongs to another skill")));
    }
    let home = ["/home/", "/Users/"].iter().find_map(|home| word.strip_prefix(home));
    let before = &text.as_bytes()[..at];
    let has_drive = matches!(before, [.., b':']) && word.starts_with('\\') && !word.starts_with("\\\\") && {
        let letters = before[..before.len() - 1].iter().rev().take_while(|byte| byte.is_ascii_alphabetic());
        letters.count() == 1
    };
    let is_one = home.map_or(has_drive && !is_on_every_drive(word), |below| is_of_a_person(below, '/'));
    is_one.then(|| (Rule::PathAbsolute, format!("`{word}` exists only on one machine")))
}

/// Whether something in the home of one person is meant; a bare home says where, not what.
fn is_of_a_person(below: &str, slash: char) -> bool {
    let person = below.split_once(slash).filter(|(_, what)| !what.is_empty()).map(|(person, _)| person);
    person.is_some_and(|person| !ANYBODY.contains(&person.to_ascii_lowercase().as_str()))
}

/// Whether a path behind the letter of a drive is the same on all machines.
fn is_on_every_drive(path: &str) -> bool {
    // `Program Files` has a blank, where the word ends.
    const SYSTEM: [&str; 5] = ["", "windows", "program", "programdata", "temp"];
    let small = path.to_ascii_lowercase();
    let (top, below) = small[1..].split_once('\\').unwrap_or((&small[1..], ""));
    let is_anybody = top == "users" && !is_of_a_person(below, '\\');
    is_anybody || SYSTEM.contains(&top) || stands_in(&small.replace('\\', "/"))
}

/// The skill in whose folder a path is, when it is one where agents keep skills.
fn shelved(word: &str) -> Option<&str> {
    const AGENTS: [&str; 6] = [".claude", ".agents", ".gemini", ".codex", ".opencode", ".cursor"];
    let (before, after) = word.split_once("/skills/")?;
    AGENTS.contains(&name(before)).then_some(())?;
    after.split('/').next().filter(|skill| !skill.is_empty())
}

/// A file that should be in one of the skill's folders, named in prose.
fn missing(reading: &Reading, file: &File, page: &Page, at: usize, word: &str) -> Option<(Rule, String)> {
    let path = word.strip_prefix("./").unwrap_or(word);
    let Some((top, _)) = path.split_once('/') else { return misspelt(reading, page, at, word) };
    let is_file =
        extension(path).is_some_and(|ext| ext.len() <= 5 && ext.chars().all(|c| c.is_ascii_alphanumeric()));
    if !is_file || !reading.is_folder(top) || page.is_code(at) {
        return None;
    }
    let places = ["", folder_of(&file.path)].map(|folder| resolved(folder, path));
    let is_there = places.iter().flatten().any(|path| reading.exists(path));
    if is_there || goes_on(page.text, at, word) || stands_in(path) {
        return None;
    }
    Some(match owner(page.text, at).filter(|owner| *owner != reading.files.folder()) {
        Some(owner) => (Rule::PathOtherSkill, format!("`{word}` belongs to another skill, {owner}")),
        None => (Rule::PathMissing, format!("`{word}` is missing")),
    })
}

/// A bare name that is that of a file but for its letters.
fn misspelt(reading: &Reading, page: &Page, at: usize, word: &str) -> Option<(Rule, String)> {
    let is_name = !page.is_code(at) && extension(word).is_some();
    let alike = reading.named_alike(word).first().filter(|_| is_name)?;
    let path = &reading.file(*alike).path;
    Some((Rule::PathMissing, format!("`{word}` is missing; did you mean {path}?")))
}

fn check_symlink(reading: &Reading, file: &File, target: &str, out: &mut Vec<Finding>) {
    let place = if target.starts_with('/') { None } else { resolved(folder_of(&file.path), target) };
    match place {
        None => {
            let message = format!("symlink to {target}, outside the skill's folder");
            out.push(finding(Rule::PathOutside, file, None, message));
        }
        Some(path) if !reading.exists(&path) => {
            out.push(finding(Rule::LinkDangling, file, None, format!("broken symlink to {target}")));
        }
        Some(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, skill};
    use super::super::{Reach, fix_all, fix_rule};
    use super::*;

    #[test]
    fn a_link_must_lead_to_a_file_or_a_folder_of_the_skill() {
        let files = skill(
            "[a](references/a.md#x) [b](references/) [c](gone.md) [d](https://x.y/z.md) [e](#f)\n\n\
             [g](mailto:a@b.c) [h](url) [i](<name>.md) [j](../x/a.md) [k](/etc/x.conf) [l](<refs/a b.md>)\n",
        )
        .with("references/a.md", "[up](../SKILL.md) [out](../../x.md)\n");
        assert_eq!(
            found(&files, Rule::LinkDangling),
            ["SKILL.md:5: broken link to `gone.md`", "SKILL.md:7: broken link to `refs/a b.md`"]
        );
        assert_eq!(
            found(&files, Rule::PathOutside),
            [
                "SKILL.md:7: link to `../x/a.md`, outside the skill's folder",
                "references/a.md:1: link to `../../x.md`, outside the skill's folder"
            ]
        );
        assert_eq!(
            found(&files, Rule::PathAbsolute),
            ["SKILL.md:7: link to the absolute path `/etc/x.conf`"]
        );
    }

    #[test]
    fn a_link_is_pointed_to_the_only_file_that_fits() {
        let files = skill("[a](a.md#top) [b](refs\\B%20c.md) [two](two.md)\n\n[r]: a.md\n")
            .with("references/a.md", "[s](../skill.md)\n")
            .with("references/b c.md", "[a](refs/a.md)\n")
            .with("x/two.md", "")
            .with("y/two.md", "");
        let fixed = fix_rule(&files, Rule::LinkDangling);
        let text = |path| fixed.text(path);
        assert!(text("SKILL.md").ends_with(
            "[a](references/a.md#top) [b](references/b%20c.md) [two](two.md)\n\n[r]: references/a.md\n"
        ));
        assert_eq!(text("references/b c.md"), "[a](a.md)\n");
        assert_eq!(text("references/a.md"), "[s](../SKILL.md)\n");
        assert!(fix_all(&fixed.files, Reach::Safe).done.is_empty());
    }

    #[test]
    fn what_prose_names_in_a_folder_of_the_skill_must_be_there() {
        let files = skill(
            "Run `scripts/a.py`, then `scripts/b.py`. See scripts/*.py, scripts/x-{y}.py and src/b.py.\n\n\
             ```\nscripts/c.py\n```\n\n`scripts/b.py` again; [l](scripts/d.py)\n",
        )
        .with("scripts/a.py", "")
        .with("references/forms.md", "See Forms.md, A.PY, e.g. no.md.\n");
        assert_eq!(
            found(&files, Rule::PathMissing),
            [
                "SKILL.md:5: `scripts/b.py` is missing",
                "references/forms.md:1: `A.PY` is missing; did you mean scripts/a.py?",
                "references/forms.md:1: `Forms.md` is missing; did you mean references/forms.md?"
            ]
        );
    }

    #[test]
    fn paths_of_one_machine_and_of_other_skills_are_told() {
        let files = skill(
            "Run ~/.claude/skills/demo/a.py and `.claude/skills/other/b.py`.\n\
             In /home/jane/x, not in /home/user/x. On D:\\data\\x but not \\\\server or a\\b.\n\
             Read ../other/SKILL.md, https://x.y/home/jane/x.\n",
        );
        assert_eq!(
            found(&files, Rule::PathAbsolute),
            [
                "SKILL.md:5: `~/.claude/skills/demo/a.py` exists only if the skill is installed there",
                "SKILL.md:6: `/home/jane/x` exists only on one machine",
                "SKILL.md:6: `\\data\\x` exists only on one machine"
            ]
        );
        assert_eq!(
            found(&files, Rule::PathOtherSkill),
            [
                "SKILL.md:5: `.claude/skills/other/b.py` belongs to another skill",
                "SKILL.md:7: `../other/SKILL.md` belongs to another skill"
            ]
        );
    }

    #[test]
    fn a_symlink_stays_within_the_folder_and_leads_somewhere() {
        let files = skill("Read a, b, c.\n")
            .linked("a", "/etc/passwd")
            .linked("b", "SKILL.md")
            .linked("c", "gone")
            .linked("d/e", "../../x");
        assert_eq!(
            found(&files, Rule::PathOutside),
            [
                "a: symlink to /etc/passwd, outside the skill's folder",
                "d/e: symlink to ../../x, outside the skill's folder"
            ]
        );
        assert_eq!(found(&files, Rule::LinkDangling), ["c: broken symlink to gone"]);
    }
}
