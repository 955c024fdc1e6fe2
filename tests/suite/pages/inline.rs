//! Commands that pages name in a sentence: their words and flags are those of the help, which docs/commands.md has.

use std::collections::{BTreeMap, BTreeSet};

use super::page::{Page, read};

/// A changelog names what is gone, too.
const OF_THE_PAST: &str = "CHANGELOG.md";

#[derive(Default)]
struct Help {
    commands: BTreeSet<String>,
    /// Whether each flag takes a value.
    flags: BTreeMap<String, bool>,
    /// Whether it takes other words than commands.
    has_words: bool,
}

type Helps = BTreeMap<String, Help>;

/// Returns what pages name and the program does not know.
pub(super) fn unknown(pages: &[Page]) -> Vec<String> {
    let helps = helps(&read("docs/commands.md"));
    assert!(helps.len() > 30, "the page of commands has them");
    let mut unknown = Vec::new();
    for page in pages.iter().filter(|page| page.path != OF_THE_PAST) {
        for (number, line) in page.prose() {
            for code in line.split('`').skip(1).step_by(2).filter(|code| code.starts_with("skilltune ")) {
                if let Some(what) = fault(&helps, code) {
                    unknown.push(format!("{}:{number}: `{code}`: {what}", page.path));
                }
            }
        }
    }
    unknown
}

/// Returns the help of each command by its words, the program itself first.
fn helps(page: &Page) -> Helps {
    let headings = page.prose().filter_map(|(_, line)| Some(line.split_once("# ")?.1));
    let commands = headings.filter(|heading| heading.starts_with("skilltune"));
    commands.zip(&page.fences).map(|(name, fence)| (name.to_owned(), help(&fence.lines))).collect()
}

fn help(lines: &[(usize, String)]) -> Help {
    let mut help = Help::default();
    let mut is_list = false;
    for (_, line) in lines {
        is_list = line == "Commands:" || (is_list && !line.is_empty());
        if let Some(usage) = line.strip_prefix("Usage: ") {
            let words = usage.split(' ').filter(|word| word.starts_with(['<', '[', '-']));
            let words = words.filter(|word| !matches!(*word, "<COMMAND>" | "[COMMAND]" | "[OPTIONS]"));
            help.has_words = words.count() > 0;
        }
        if let Some(aliases) = line.split_once("[alias: ").or_else(|| line.split_once("[aliases: ")) {
            let names = aliases.1.trim_end_matches(']').split(", ");
            help.commands.extend(names.map(str::to_owned));
        }
        // Lines that go on with a description stand further to the right.
        let entry = line.strip_prefix("  ").filter(|entry| is_list && !entry.starts_with(' '));
        help.commands.extend(entry.and_then(|entry| entry.split(' ').next()).map(str::to_owned));
        let words = || line.trim_start().split(' ');
        let takes_value =
            words().find(|word| !word.starts_with('-')).is_some_and(|word| word.starts_with('<'));
        let flags = words().take_while(|word| word.starts_with('-'));
        help.flags.extend(flags.map(|flag| (bare(flag).to_owned(), takes_value)));
    }
    help
}

/// Returns a flag without its value.
fn bare(flag: &str) -> &str {
    flag.split(['=', '[', ',']).next().unwrap_or_default()
}

/// Returns the word of a line that the program does not know.
fn fault(helps: &Helps, code: &str) -> Option<String> {
    let words = shlex::split(code).unwrap_or_else(|| code.split(' ').map(str::to_owned).collect());
    let mut name = "skilltune".to_owned();
    let (mut is_named, mut is_value) = (false, false);
    for word in words.iter().skip(1).flat_map(|word| word.split('|')) {
        let word = word.trim_matches(['[', ']', '(', ')']);
        let help = &helps[&name];
        if word.starts_with('-') && word.len() > 1 {
            let known = help.flags.get(bare(word)).or_else(|| helps["skilltune"].flags.get(bare(word)));
            let Some(takes_value) = known else { return Some(format!("{name} has no flag {word}")) };
            is_value = *takes_value && !word.contains('=');
            continue;
        }
        if std::mem::take(&mut is_value) {
            continue;
        }
        let below = format!("{name} {word}");
        if !is_named && helps.contains_key(&below) {
            name = below;
            continue;
        }
        // An alias has the help of its command; after a first other word, all are values.
        if !is_named && !help.has_words && !help.commands.contains(word) && !is_placeholder(word) {
            return Some(format!("{name} has no command {word}"));
        }
        is_named = true;
    }
    None
}

fn is_placeholder(word: &str) -> bool {
    word == "..." || (!word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase() || c == '.'))
}

#[test]
fn words_and_flags_are_compared_with_the_help() {
    let page = "## skilltune\n\n```text\nUsage: skilltune <COMMAND>\n\nCommands:\n  tune   Improve\n         [alias: t]\n  suite  Check\n\n\
                Options:\n  -h, --help  Print help\n```\n\n## skilltune tune\n\n```text\nUsage: skilltune tune [OPTIONS] <SKILL> [TASK]\n\n\
                Options:\n      --runs <N>   Runs\n      --fix[=WHAT]  Fix\n```\n\n## skilltune suite\n\n```text\nUsage: skilltune suite <COMMAND>\n\n\
                Commands:\n  check  Check\n```\n\n### skilltune suite check\n\n```text\nUsage: skilltune suite check <FILE>\n```\n";
    let helps = helps(&Page::of("docs/commands.md", page.to_owned()));
    let fault = |code| fault(&helps, code);
    let good = [
        "skilltune --help",
        "skilltune tune",
        "skilltune t SKILL",
        "skilltune tune writer \"a task\" --runs 3 --fix=all",
        "skilltune tune ... -h",
        "skilltune suite check [FILE | FOLDER]",
        "skilltune suite COMMAND",
        "skilltune tune --runs 3 writer",
    ];
    for code in good {
        assert_eq!(fault(code), None, "{code}");
    }
    for code in [
        "skilltune tunes",
        "skilltune suite make",
        "skilltune tune --run 3",
        "skilltune suite check --runs 3",
    ] {
        assert!(fault(code).is_some(), "{code}");
    }
}
