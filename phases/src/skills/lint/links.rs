//! Checks that paths in the text lead to an existing file in the skill's folder, on every machine.

use std::collections::HashSet;

use super::edit::Edit;
use super::example::{
    goes_on, is_example, is_made, is_output, is_skill, is_value, owner, shows_install, stands_in,
};
use super::page::{Heading, Link, Page};
use super::path::{decoded, encoded, folder_of, relative, resolved, words};
use super::reading::{Reading, extension, finding, name};
use super::{File, Finding, Rule};
use crate::base::material::Body;

pub(super) fn check(reading: &Reading, out: &mut Vec<Finding>) {
    for (file, page) in reading.instructions() {
        for link in &page.links {
            let (rule, message) = match judged(reading, file, page, link) {
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
        // A page of examples names the files of the examples.
        if !is_about_examples(&file.path) {
            check_words(reading, file, page, out);
        }
    }
    for file in reading.files.files() {
        if let Body::Link { target } = &file.body {
            check_symlink(reading, file, target, out);
        }
    }
}

fn is_about_examples(path: &str) -> bool {
    let stem = name(path).split('.').next().unwrap_or_default();
    stem.split(['-', '_']).any(|word| matches!(word, "example" | "examples"))
}

enum Judged {
    Fine,
    Absolute,
    OtherSkill,
    Outside,
    Dangling,
}

fn judged(reading: &Reading, file: &File, page: &Page, link: &Link) -> Judged {
    let Some((path, _)) = local(&link.to) else { return Judged::Fine };
    if is_absolute(path) {
        return Judged::Absolute;
    }
    let path = decoded(path);
    let Some(place) = resolved(folder_of(&file.path), &path) else {
        let is_other_skill = path.ends_with("/SKILL.md") || is_sibling(folder_of(&file.path), &path);
        return if is_other_skill { Judged::OtherSkill } else { Judged::Outside };
    };
    // In the specification, paths start at the skill's folder; in Markdown, at the folder of the page.
    let is_there = reading.exists(&place) || resolved("", &path).is_some_and(|place| reading.exists(&place));
    let is_other =
        || stands_in(&path) || is_route(reading, &place) || page.is_form() && !path_has_folder(&path);
    if is_there || is_other() { Judged::Fine } else { Judged::Dangling }
}

fn path_has_folder(path: &str) -> bool {
    path.trim_start_matches("./").contains('/')
}

/// Returns true if a path leads to a folder beside the skill's: to another whole skill, not to one of its files.
fn is_sibling(folder: &str, path: &str) -> bool {
    // With the skill's folder inside another, the path would lead to a folder in that one.
    let place = resolved(&format!("skill/{folder}"), path.trim_end_matches('/'));
    place.is_some_and(|place| is_skill(&place))
}

/// Returns true for a path without extension and outside the skill's folders: a page of a site, not a file.
fn is_route(reading: &Reading, place: &str) -> bool {
    let top = place.split_once('/').map(|(top, _)| top);
    extension(place).is_none() && top.is_some_and(|top| !reading.is_folder(top))
}

/// Splits a link to a file into its path and the rest; returns `None` if the link is not to a file.
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

/// Points broken links to the only file that they can mean. On a page that shows sample output this is a suggestion,
/// because those links belong to another document.
pub(super) fn repointed(reading: &Reading) -> Vec<Edit> {
    let edit = |(file, page): (&File, &Page)| {
        let change = |link: &Link| {
            let place = link.place.clone()?;
            matches!(judged(reading, file, page, link), Judged::Dangling).then_some(())?;
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

/// Returns the one file of the skill that a path can mean, if it is not the linking file itself.
fn only_target<'a>(reading: &Reading<'a>, from: &File, path: &str) -> Option<&'a File> {
    let path = resolved(folder_of(&from.path), path)?;
    let &[only] = reading.alike(&path).as_slice() else { return None };
    Some(reading.file(only)).filter(|file| file.path != from.path)
}

/// Returns true if a place is below a heading that announces a template, an example or output.
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

/// Checks the paths that prose and code name without a link.
fn check_words(reading: &Reading, file: &File, page: &Page, out: &mut Vec<Finding>) {
    let is_path = |word: &str| word.bytes().any(|byte| matches!(byte, b'/' | b'\\' | b'.'));
    let paths = || words(page.text).filter(|(_, word)| is_path(word));
    // A path that is an example once is an example everywhere on the page.
    let mut seen: HashSet<&str> =
        paths().filter(|(at, _)| is_example(page.text, *at)).map(|(_, word)| word).collect();
    // A path below an example is one too, if it is a place on a machine.
    let places: Vec<&str> = seen.iter().copied().filter(|word| word.starts_with(['/', '\\', '~'])).collect();
    let is_below = |word: &str| {
        let below =
            |place: &&str| word.strip_prefix(*place).is_some_and(|rest| rest.starts_with(['/', '\\']));
        places.iter().any(below)
    };
    for (at, word) in paths().filter(|(_, word)| !is_below(word)) {
        let judged = absolute(reading, page, at, word).or_else(|| missing(reading, file, page, at, word));
        let Some((rule, message)) = judged else { continue };
        // The text of a link is judged with the link, by its destination.
        if !page.is_linked(at) && seen.insert(word) {
            out.push(finding(rule, file, page.line(at), message));
        }
    }
}

/// Placeholder names of people, and default users of containers and machine images.
const ANYBODY: [&str; 30] = [
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
    "agent",
    "admin",
    "deploy",
    "sandbox",
    "jovyan",
    "alice",
    "bob",
    "johndoe",
    "x",
    "foo",
    "...",
];

fn absolute(reading: &Reading, page: &Page, at: usize, word: &str) -> Option<(Rule, String)> {
    let text = page.text;
    if let Some(skill) = shelved(word) {
        let folder = reading.files.folder();
        // The user creates settings in files such as `.env`.
        let is_setting = name(word).starts_with(".env");
        // As a default of a variable, this place is only one of two.
        let is_default = text[..at].ends_with(":-$") || text[..at].ends_with(":-");
        if goes_on(text, at, word) || stands_in(skill) || is_setting || is_default || shows_install(text, at)
        {
            return None;
        }
        // A text may say where the skill is installed. A command or a value with the path depends on it.
        let is_bare = word.trim_end_matches('/').ends_with(&format!("/skills/{folder}"));
        if is_bare && !page.is_code(at) && !is_value(text, at) {
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
    // In code, a relative path starts at the working folder of the command.
    if sibling.is_some_and(|skill| !stands_in(folder_of(skill))) && !page.is_code(at) {
        return Some((Rule::PathOtherSkill, format!("`{word}` belongs to another skill")));
    }
    let home = ["/home/", "/Users/"].iter().find_map(|home| word.strip_prefix(home));
    let drive = drive_before(text, at).filter(|_| word.starts_with('\\') && !word.starts_with("\\\\"));
    let is_one = home.map_or_else(
        || drive.is_some_and(|drive| !is_on_every_drive(drive, word)),
        |below| is_of_a_person(below, '/'),
    );
    let is_shown = || page.is_code(at) && is_output(text, at);
    (is_one && !is_shown()).then(|| (Rule::PathAbsolute, format!("`{word}` exists only on one machine")))
}

/// Returns the drive letter before a path.
fn drive_before(text: &str, at: usize) -> Option<u8> {
    let before = text.as_bytes()[..at].strip_suffix(b":")?;
    let letters = before.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
    before.last().copied().filter(|_| letters == 1)
}

/// Returns true for a path inside one person's home folder; the home folder itself does not count.
fn is_of_a_person(below: &str, slash: char) -> bool {
    let person = below.split_once(slash).filter(|(_, what)| !what.is_empty()).map(|(person, _)| person);
    person.map(str::to_ascii_lowercase).is_some_and(|person| {
        !ANYBODY.contains(&person.as_str()) && !person.starts_with("your") && !person.ends_with("user")
    })
}

/// Returns true if a path after a drive letter may be the same on all machines. Every machine has a `C:` with unknown
/// contents; paths below the root of other systems are not reported either.
fn is_on_every_drive(drive: u8, path: &str) -> bool {
    // `Program Files` contains a space, which ends the word.
    const SYSTEM: [&str; 4] = ["windows", "program", "programdata", "temp"];
    let small = path.to_ascii_lowercase();
    let (top, below) = small[1..].split_once('\\').unwrap_or((&small[1..], ""));
    let is_shared =
        if top == "users" { !is_of_a_person(below, '\\') } else { drive.eq_ignore_ascii_case(&b'c') };
    is_shared || top.is_empty() || SYSTEM.contains(&top) || stands_in(&small.replace('\\', "/"))
}

/// Returns the skill that a path belongs to, if the path is where agents keep skills.
fn shelved(word: &str) -> Option<&str> {
    const AGENTS: [&str; 6] = [".claude", ".agents", ".gemini", ".codex", ".opencode", ".cursor"];
    let (before, after) = word.split_once("/skills/")?;
    AGENTS.contains(&name(before)).then_some(())?;
    after.split('/').next().filter(|skill| !skill.is_empty() && !skill.contains('.'))
}

/// Reports a missing file in one of the skill's folders, named in prose. A folder that the skill does not have is
/// usually the user's, or comes with the file.
fn missing(reading: &Reading, file: &File, page: &Page, at: usize, word: &str) -> Option<(Rule, String)> {
    let path = word.strip_prefix("./").unwrap_or(word);
    if !path.contains('/') {
        return misspelt(reading, page, at, word);
    }
    let is_file =
        extension(path).is_some_and(|ext| ext.len() <= 5 && ext.chars().all(|c| c.is_ascii_alphanumeric()));
    let places = ["", folder_of(&file.path)].map(|folder| resolved(folder, path));
    let mut places = places.iter().flatten();
    let is_in_folder = reading.is_folder(folder_of(path));
    if !is_file || !is_in_folder || page.is_code(at) || places.any(|path| reading.exists(path)) {
        return None;
    }
    if goes_on(page.text, at, word)
        || stands_in(path)
        || is_made(page.text, at)
        || is_other(reading, page, at)
    {
        return None;
    }
    Some(match owner(page.text, at).filter(|owner| *owner != reading.files.folder()) {
        Some(owner) => (Rule::PathOtherSkill, format!("`{word}` belongs to another skill, {owner}")),
        None => (Rule::PathMissing, format!("`{word}` is missing")),
    })
}

/// Returns true if a path is the second of two alternatives and the first exists: `` `a.json` or `a.ts` ``.
fn is_other(reading: &Reading, page: &Page, at: usize) -> bool {
    let before = page.text[..at].trim_end_matches('`').trim_end_matches(' ');
    let first = before.strip_suffix(" or").map(|before| before.trim_end_matches('`'));
    let first = first.and_then(|before| before.rsplit([' ', '`', '(', '\n']).next());
    first.is_some_and(|first| first.contains('.') && reading.exists(first.trim_start_matches("./")))
}

/// Reports a bare name that differs from a file only in case. Not reported: `skill.md`, which every skill has, and
/// names such as `AGENTS.md`, which many projects have.
fn misspelt(reading: &Reading, page: &Page, at: usize, word: &str) -> Option<(Rule, String)> {
    let is_name = !page.is_code(at) && extension(word).is_some();
    let is_known =
        ["agents.md", "claude.md", "gemini.md", "readme.md"].contains(&word.to_lowercase().as_str());
    let is_meant = |at: &&usize| is_name && !is_known && reading.main != Some(**at);
    let alike = reading.named_alike(word).first().filter(is_meant)?;
    let path = &reading.file(*alike).path;
    Some((Rule::PathMissing, format!("`{word}` is missing; did you mean {path}?")))
}

fn check_symlink(reading: &Reading, file: &File, target: &str, out: &mut Vec<Finding>) {
    if let Some((rule, message)) = wrong_symlink(reading, file, target) {
        out.push(finding(rule, file, None, message));
    }
}

/// Returns the problem of a symlink to that target, if it leads to no file of the skill.
pub(super) fn wrong_symlink(reading: &Reading, file: &File, target: &str) -> Option<(Rule, String)> {
    let place = if target.starts_with('/') { None } else { resolved(folder_of(&file.path), target) };
    match place {
        None => Some((Rule::PathOutside, format!("symlink to {target}, outside the skill's folder"))),
        Some(path) if !reading.exists(&path) => {
            Some((Rule::LinkDangling, format!("broken symlink to {target}")))
        }
        Some(_) => None,
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
    fn a_main_file_that_is_a_symlink_out_of_the_folder_is_one_finding() {
        for (target, rule) in [("../../all/demo.md", Rule::PathOutside), ("gone.md", Rule::LinkDangling)] {
            let files = skill("").linked("SKILL.md", target);
            let rules: Vec<_> = super::super::lint(&files).into_iter().map(|finding| finding.rule).collect();
            assert_eq!(rules, [rule], "{target}");
        }
        let files = skill("").with("all.md", "Text.\n").linked("SKILL.md", "all.md");
        assert_eq!(found(&files, Rule::MainFile).len(), 1);
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
