//! Checks that links, and commands in code blocks, lead to an existing file in the skill's folder, on every machine.

use std::collections::{BTreeSet, HashSet};

use super::edit::Edit;
use super::example::{goes_on, is_skill, stands_in};
use super::page::{Heading, Link, Page};
use super::path::{decoded, encoded, folder_of, relative, resolved, seen_from_skill, words};
use super::reading::{Reading, diagnostic, extension, name};
use super::text::{INTERPRETERS, begins_command};
use super::{Diagnostic, File, Files, PluginPath, Rule};
use crate::base::material::Body;

/// Returns the paths of links and symlinks that leave the skill's folder, as seen from it.
pub fn leaving(files: &Files) -> BTreeSet<String> {
    let reading = Reading::of(files);
    let mut paths = BTreeSet::new();
    for (file, page) in reading.instructions() {
        let links = page.links.iter().filter_map(|link| Some(decoded(local(&link.to)?.0)));
        let links = links.filter(|path| !is_absolute(path));
        paths.extend(links.map(|path| seen_from_skill(folder_of(&file.path), &path)));
    }
    for file in files.files() {
        if let Body::Link { target } = &file.body
            && !is_absolute(target)
        {
            paths.insert(seen_from_skill(folder_of(&file.path), target));
        }
    }
    paths.retain(|path| path == ".." || path.starts_with("../"));
    paths
}

pub(super) fn check(reading: &Reading, out: &mut Vec<Diagnostic>) {
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
                Judged::Dangling => (Rule::LinkDangling, broken(link)),
            };
            out.push(diagnostic(rule, file, page.line(link.at), message));
        }
        // A page of examples runs the files of the examples.
        if !is_about_examples(&file.path) {
            check_commands(reading, file, page, out);
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

fn broken(link: &Link) -> String {
    format!("broken link to `{}`", link.to)
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
        return judged_outside(reading, folder_of(&file.path), &path);
    };
    // In the specification, paths start at the skill's folder; in Markdown, at the folder of the page.
    let is_there = reading.exists(&place) || resolved("", &path).is_some_and(|place| reading.exists(&place));
    let is_other =
        || stands_in(&path) || is_route(reading, &place) || page.is_form() && !path_has_folder(&path);
    if is_there || is_other() { Judged::Fine } else { Judged::Dangling }
}

/// Judges a path that leaves the skill's folder. The files of its plugin are installed with it.
fn judged_outside(reading: &Reading, folder: &str, path: &str) -> Judged {
    match in_plugin(reading, folder, path) {
        Some(PluginPath::OtherSkill) => Judged::OtherSkill,
        Some(PluginPath::Shared) => Judged::Fine,
        Some(PluginPath::Missing) if stands_in(path) => Judged::Fine,
        Some(PluginPath::Missing) => Judged::Dangling,
        None if path.ends_with("/SKILL.md") || is_sibling(folder, path) => Judged::OtherSkill,
        None => Judged::Outside,
    }
}

fn in_plugin(reading: &Reading, folder: &str, path: &str) -> Option<PluginPath> {
    reading.files.plugin.get(&seen_from_skill(folder, path)).copied()
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
            Some((broken(link), (place, encoded(&relative(folder_of(&file.path), &fit.path)) + tail)))
        };
        let places = page.links.iter().filter_map(|link| Some((shows_output(page, link.at), change(link)?)));
        let (shown, own): (Vec<_>, Vec<_>) = places.partition(|(is_shown, _)| *is_shown);
        let edit = |places: Vec<(bool, (String, _))>| {
            let (messages, places) = places.into_iter().map(|(_, change)| change).unzip();
            Some(Edit { messages, ..Edit::of_places(file, page.text, places)? })
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

/// Checks the files that the commands in code blocks run, once each on a page.
fn check_commands(reading: &Reading, file: &File, page: &Page, out: &mut Vec<Diagnostic>) {
    let mut seen = HashSet::new();
    for (at, word) in runs(page).filter(|(at, word)| !goes_on(page.text, *at, word)) {
        let judged = of_one_machine(reading, word).or_else(|| missing(reading, file, word));
        if let Some((rule, message)) = judged.filter(|_| seen.insert(word)) {
            out.push(diagnostic(rule, file, page.line(at), message));
        }
    }
}

/// Returns the paths of files that commands in code blocks run: those after the name of an interpreter, and those that
/// begin a command with arguments. A path alone on its line may be part of a list of files.
fn runs<'a>(page: &Page<'a>) -> impl Iterator<Item = (usize, &'a str)> {
    let text = page.text;
    words(text).filter(move |(at, word)| {
        word.contains('/') && page.is_code(*at) && {
            let line = line_before(text, *at);
            let program = line.trim_end_matches([' ', '"', '\'']).rsplit(' ').next().unwrap_or_default();
            let arguments = text[at + word.len()..].strip_prefix(' ').unwrap_or_default();
            let has_arguments = arguments.starts_with(|c: char| c.is_ascii_graphic() && c != '#')
                && !arguments.starts_with("- ");
            // As in `uv run scripts/a.py`.
            program == "run"
                || INTERPRETERS.contains(&program)
                || begins_command(line) && (has_arguments || word.starts_with("./"))
        }
    })
}

/// Returns the text before a place on its line, or the end of it: a line may be as long as the file.
fn line_before(text: &str, at: usize) -> &str {
    const LONGEST: usize = 200;
    let from = (at.saturating_sub(LONGEST)..=at).find(|from| text.is_char_boundary(*from)).unwrap_or(at);
    text[from..at].rsplit('\n').next().unwrap_or_default()
}

/// Placeholder names of people, and default users of containers and machine images.
const ANYBODY: &str = "user username you yourname your-name me name runner dev developer app node vscode ubuntu \
    ec2-user codespace coder public default agent admin deploy sandbox jovyan alice bob johndoe x foo ...";

/// Reports a path in a person's home folder, or where agents keep skills.
fn of_one_machine(reading: &Reading, word: &str) -> Option<(Rule, String)> {
    if let Some(skill) = shelved(word).filter(|skill| !stands_in(skill)) {
        return Some(if skill == reading.files.folder() {
            (Rule::PathAbsolute, format!("`{word}` exists only if the skill is installed there"))
        } else {
            (Rule::PathOtherSkill, format!("`{word}` belongs to another skill"))
        });
    }
    let home = ["/home/", "/Users/"].iter().find_map(|home| word.strip_prefix(home));
    let person = home.and_then(|below| below.split_once('/')).map(|(person, _)| person.to_ascii_lowercase());
    let is_one = person.is_some_and(|person| {
        !ANYBODY.split(' ').any(|one| one == person)
            && !person.starts_with("your")
            && !person.ends_with("user")
    });
    is_one.then(|| (Rule::PathAbsolute, format!("`{word}` exists only on one machine")))
}

/// Returns the skill that a path belongs to, if the path is where agents keep skills.
fn shelved(word: &str) -> Option<&str> {
    const AGENTS: [&str; 6] = [".claude", ".agents", ".gemini", ".codex", ".opencode", ".cursor"];
    let (before, after) = word.split_once("/skills/")?;
    AGENTS.contains(&name(before)).then_some(())?;
    after.split('/').next().filter(|skill| !skill.is_empty() && !skill.contains('.'))
}

/// Reports a missing file in one of the skill's folders. Other folders, and files beside the command, are the user's.
fn missing(reading: &Reading, file: &File, word: &str) -> Option<(Rule, String)> {
    if is_absolute(word) || !path_has_folder(word) {
        return None;
    }
    let places = ["", folder_of(&file.path)].map(|folder| resolved(folder, word));
    let is_there = places.iter().flatten().any(|path| reading.exists(path));
    let is_ours = places.iter().flatten().any(|path| reading.is_folder(folder_of(path)));
    let is_missing = is_ours && !is_there && extension(word).is_some() && !stands_in(word);
    is_missing.then(|| (Rule::PathMissing, format!("`{word}` is missing")))
}

fn check_symlink(reading: &Reading, file: &File, target: &str, out: &mut Vec<Diagnostic>) {
    if let Some((rule, message)) = wrong_symlink(reading, file, target) {
        out.push(diagnostic(rule, file, None, message));
    }
}

/// Returns the problem of a symlink to that target, if it leads to no file of the skill.
pub(super) fn wrong_symlink(reading: &Reading, file: &File, target: &str) -> Option<(Rule, String)> {
    let broken = || Some((Rule::LinkDangling, format!("broken symlink to {target}")));
    let outside = || Some((Rule::PathOutside, format!("symlink to {target}, outside the skill's folder")));
    if target.starts_with('/') {
        return outside();
    }
    let folder = folder_of(&file.path);
    if let Some(path) = resolved(folder, target) {
        return if reading.exists(&path) { None } else { broken() };
    }
    match in_plugin(reading, folder, target) {
        Some(PluginPath::Shared) => None,
        Some(PluginPath::Missing) => broken(),
        Some(PluginPath::OtherSkill) => {
            Some((Rule::PathOtherSkill, format!("symlink to {target}, which belongs to another skill")))
        }
        None => outside(),
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
    fn anything_may_exist_in_a_folder_that_was_left_out() {
        let files =
            skill("[a](b/c/) [b](b/c/rules.md#y) [c](b/cc/rules.md) [d](b/gone.md)\n").linked("e", "b/c/e");
        let files = (*files).clone().without(["b/c".to_owned()]);
        assert_eq!(
            found(&files, Rule::LinkDangling),
            ["SKILL.md:5: broken link to `b/cc/rules.md`", "SKILL.md:5: broken link to `b/gone.md`"]
        );
    }

    #[test]
    fn a_path_of_the_same_plugin_is_judged_by_where_it_leads() {
        let files = skill(
            "[a](../x/a.md) [b](../../shared/b.md) [c](../x/gone.md) [d](../../../d.md)\n\
             [e](../x/your-page.md)\n",
        )
        .with("references/a.md", "[a](../../x/a.md) [up](../SKILL.md)\n")
        .linked("f", "../x/f")
        .linked("g", "../../shared/g")
        .linked("h", "../gone")
        .linked("i", "/etc/passwd");
        let leaving = [
            "../../../d.md",
            "../../shared/b.md",
            "../../shared/g",
            "../gone",
            "../x/a.md",
            "../x/f",
            "../x/gone.md",
            "../x/your-page.md",
        ];
        assert_eq!(super::super::leaving(&files).iter().collect::<Vec<_>>(), leaving);
        assert_eq!(found(&files, Rule::PathOutside).len(), 10);
        let of = |path: &&str| match *path {
            "../x/a.md" | "../x/f" => Some(PluginPath::OtherSkill),
            path if path.contains("shared") => Some(PluginPath::Shared),
            "../../../d.md" => None,
            _ => Some(PluginPath::Missing),
        };
        let paths = leaving.iter().filter_map(|path| Some(((*path).to_owned(), of(path)?)));
        let files = (*files).clone().in_plugin(paths);
        assert_eq!(
            found(&files, Rule::PathOutside),
            [
                "SKILL.md:5: link to `../../../d.md`, outside the skill's folder",
                "i: symlink to /etc/passwd, outside the skill's folder"
            ]
        );
        assert_eq!(
            found(&files, Rule::PathOtherSkill),
            [
                "SKILL.md:5: `../x/a.md` belongs to another skill",
                "f: symlink to ../x/f, which belongs to another skill",
                "references/a.md:1: `../../x/a.md` belongs to another skill"
            ]
        );
        assert_eq!(
            found(&files, Rule::LinkDangling),
            ["SKILL.md:5: broken link to `../x/gone.md`", "h: broken symlink to ../gone"]
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
    fn a_file_that_a_command_runs_must_be_there_and_one_that_prose_names_need_not() {
        let files = skill(
            "Run `scripts/prose.py`, or `python scripts/span.py x`; see Forms.md.\n\n\
             ```bash\nscripts/a.py x\n$ scripts/b.py \"$1\"\npython3 scripts/c.py\n./scripts/d.sh\n\
             cd x && bash scripts/e.sh\nscripts/b.py again\nuv run scripts/x-{y}.py\npython src/f.py\n\
             scripts/g.py  # the list of files\nscripts/h.py\ncat scripts/i.py\n```\n\n```bash\nscripts/k.sh\n```\n",
        )
        .with("scripts/a.py", "")
        .with("references/forms.md", "```\nnode run.mjs\nnode ./run.mjs\nnode ../scripts/j.mjs\n```\n");
        assert_eq!(
            found(&files, Rule::PathMissing),
            [
                "SKILL.md:9: `scripts/b.py` is missing",
                "SKILL.md:10: `scripts/c.py` is missing",
                "SKILL.md:11: `./scripts/d.sh` is missing",
                "SKILL.md:12: `scripts/e.sh` is missing",
                "references/forms.md:4: `../scripts/j.mjs` is missing"
            ]
        );
    }

    #[test]
    fn commands_that_run_files_of_one_machine_or_of_other_skills_are_found() {
        let files = skill(
            "Run ~/.claude/skills/demo/a.py in /home/jane/x, or ../other/SKILL.md on D:\\data\\x.\n\n\
             ```\npython ~/.claude/skills/demo/a.py\n.claude/skills/other/b.py --all\n/home/jane/x.sh now\n\
             /home/user/x.sh now\nsh ~/.claude/skills/my-skill/a.sh\ncp -r demo ~/.claude/skills/demo\n\
             ls /Users/jane/project\n```\n",
        );
        assert_eq!(
            found(&files, Rule::PathAbsolute),
            [
                "SKILL.md:8: `~/.claude/skills/demo/a.py` exists only if the skill is installed there",
                "SKILL.md:10: `/home/jane/x.sh` exists only on one machine"
            ]
        );
        assert_eq!(
            found(&files, Rule::PathOtherSkill),
            ["SKILL.md:9: `.claude/skills/other/b.py` belongs to another skill"]
        );
    }

    #[test]
    fn a_main_file_that_is_a_symlink_out_of_the_folder_is_one_diagnostic() {
        for (target, rule) in [("../../all/demo.md", Rule::PathOutside), ("gone.md", Rule::LinkDangling)] {
            let files = skill("").linked("SKILL.md", target);
            let rules: Vec<_> =
                super::super::lint(&files).into_iter().map(|diagnostic| diagnostic.rule).collect();
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
