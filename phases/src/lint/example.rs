//! What a path in a text is meant as: as a file of this skill, as one of another skill, or as an example.

use super::reading::name;

/// Whether a path stands for any path of its kind, or for what only a run of the skill makes.
pub(super) fn stands_in(path: &str) -> bool {
    const STEMS: [&str; 17] = [
        "file",
        "filename",
        "file_name",
        "file-name",
        "script",
        "script_name",
        "script-name",
        "skill-name",
        "skill_name",
        "topic",
        "placeholder",
        "foo",
        "bar",
        "baz",
        "xxx",
        "something",
        "domain",
    ];
    const STARTS: [&str; 6] = ["example_", "example-", "your_", "your-", "my_", "my-"];
    const MADE: [&str; 10] =
        ["output", "outputs", "out", "dist", "build", "results", "node_modules", "target", "coverage", "tmp"];
    let path = path.trim_start_matches("./").to_lowercase();
    let last = name(&path);
    let stem = last.split_once('.').map_or(last, |(stem, _)| stem);
    path.contains("path/to/")
        || STEMS.contains(&stem)
        || STARTS.iter().any(|start| last.starts_with(start))
        || path.split_once('/').is_some_and(|(top, _)| MADE.contains(&top))
}

/// Whether a name goes on behind what is no part of a word, and so is not known whole.
pub(super) fn goes_on(text: &str, at: usize, word: &str) -> bool {
    text[at + word.len()..].starts_with(['*', '{', '<', '$', '['])
}

/// Whether the words before a path, in the same sentence, announce it as an example.
pub(super) fn is_example(text: &str, at: usize) -> bool {
    const MARKS: [&str; 5] = ["example:", "examples:", "for example", "for instance", "such as"];
    // Longer sentences are rare, and a line may be as long as the file.
    const SENTENCE: usize = 200;
    let from = (at.saturating_sub(SENTENCE)..=at).find(|from| text.is_char_boundary(*from)).unwrap_or(at);
    let line = text[from..at].rsplit('\n').next().unwrap_or_default();
    let plain = line.replace(['*', '_', '`', '(', '"'], "").to_lowercase().replace("e.g.", "for example");
    let sentence = plain.rsplit(". ").next().unwrap_or_default();
    MARKS.iter().any(|mark| sentence.contains(mark))
}

/// The skill that a path is said to be of, as in `` `name`'s `references/a.md` `` or `` `name`, its `a/b.md` ``.
pub(super) fn owner(text: &str, at: usize) -> Option<&str> {
    let before = text[..at].trim_end_matches('`').trim_end();
    let named = ["'s", "\u{2019}s", "'", "\u{2019}", "its"].iter().find_map(|of| before.strip_suffix(of))?;
    let named = named.trim_end_matches([' ', ',', '-', '\u{2013}', '\u{2014}']).strip_suffix('`')?;
    let name = &named[named.rfind('`')? + 1..];
    let is_name = |c: char| c.is_alphanumeric() || c == '-';
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::super::Rule;
    use super::super::tests::{found, skill};

    /// What a skill that has `scripts/a.py` and `references/a.md` is told about a text, rule by rule.
    fn told(text: &str) -> String {
        let files = skill(text).with("scripts/a.py", "").with("references/a.md", "");
        let rules = [
            Rule::LinkDangling,
            Rule::PathMissing,
            Rule::PathOtherSkill,
            Rule::PathOutside,
            Rule::PathAbsolute,
        ];
        rules.map(|rule| found(&files, rule).join("\n")).concat()
    }

    #[test]
    fn examples_and_stand_ins_are_no_paths_of_the_skill() {
        for text in [
            "**Example**: `scripts/turn_page.py` for turning pages\n\nThen `scripts/turn_page.py` turns it.\n",
            "Add scripts (e.g. the one in `scripts/turn_page.py`).\n",
            "Name it after its work, such as `references/tables.md`.\n",
            "Run `scripts/script_name.py --help`, or `scripts/my_script.py`.\n",
            "Link to it with `[text](references/filename.md)`.\n",
            "See [how](path/to/file.md) or [yours](references/your-page.md) or [report](output/report.md).\n",
            "Read [the runbook](internal-wiki/runbook).\n",
            "Look into `~/.claude/skills/my-skill/a.md`, `.claude/skills/*/SKILL.md` and .claude/skills/api-*.\n",
            "Skills live in, for example, ~/.claude/skills/tables/SKILL.md.\n",
            "```\ncat ../tables/SKILL.md\n```\n",
            "Read ../skill-name/SKILL.md.\n",
            "It works in /home/batch, with /home/vscode/.cache and /Users/.../bin.\n",
            "Not in C:\\Windows\\System32\\a.dll, C:\\Program Files\\b, C:\\Users\\dev\\c.pdb.\n",
        ] {
            assert_eq!(told(text), "", "{text}");
        }
    }

    #[test]
    fn what_is_said_beside_them_is_still_found() {
        for (text, wanted) in [
            ("An example. Then run `scripts/turn.py`.\n", "SKILL.md:5: `scripts/turn.py` is missing"),
            (
                "Extended examples are in `references/examples.md`.\n",
                "SKILL.md:5: `references/examples.md` is missing",
            ),
            ("Read [the runbook](references/runbook).\n", "SKILL.md:5: broken link to `references/runbook`"),
            ("Read [it](reference/example.md).\n", "SKILL.md:5: broken link to `reference/example.md`"),
            ("Read [the runbook](wiki/runbook.md).\n", "SKILL.md:5: broken link to `wiki/runbook.md`"),
            (
                "```\ncat ~/.claude/skills/tables/a.md\n```\n",
                "SKILL.md:6: `~/.claude/skills/tables/a.md` belongs to another skill",
            ),
            (
                "See [tables](../tables/SKILL.md).\n",
                "SKILL.md:5: `../tables/SKILL.md` belongs to another skill",
            ),
            (
                "See [tables](../tables/a.md).\n",
                "SKILL.md:5: link to `../tables/a.md`, outside the skill's folder",
            ),
            (
                "It is in C:\\Users\\jane\\kg.csv.\n",
                "SKILL.md:5: `\\Users\\jane\\kg.csv` exists only on one machine",
            ),
        ] {
            assert_eq!(told(text), wanted);
        }
    }

    #[test]
    fn a_path_of_another_skill_is_called_that() {
        for of in [
            "`tables`'s\n",
            "`tables`\u{2019}s ",
            "`all-tables`'\n",
            "`tables`, its ",
            "`tables` \u{2014} its ",
        ] {
            let said = told(&format!("It is in {of}`references/rows.md`.\n"));
            assert!(said.contains("`references/rows.md` belongs to another skill, "), "{said}");
        }
        for of in ["this skill's ", "`demo`'s ", "the "] {
            let said = told(&format!("It is in {of}`references/rows.md`.\n"));
            assert_eq!(said, "SKILL.md:5: `references/rows.md` is missing");
        }
    }

    #[test]
    fn the_links_of_templates_examples_and_pages_for_people_belong_to_other_documents() {
        let links =
            "[a](gone.md), [b](../../docs/issue.md), `scripts/gone.py`, ~/.claude/skills/other/a.md\n";
        let others =
            ["templates/issue.md", "assets/page.md", "examples/case.md", "README.md", "CHANGELOG.md"];
        let files = others
            .iter()
            .fold(skill("Text.\n").with("scripts/a.py", ""), |files, path| files.with(path, links));
        let rules = [Rule::LinkDangling, Rule::PathMissing, Rule::PathOtherSkill, Rule::PathOutside];
        assert_eq!(rules.map(|rule| found(&files, rule)).concat(), Vec::<String>::new());
        let files = files.with("references/a.md", links);
        assert_eq!(rules.map(|rule| found(&files, rule).len()), [1, 1, 1, 1]);
    }

    #[test]
    fn a_link_may_start_at_the_folder_of_the_skill() {
        let files = skill("See references/a.md.\n")
            .with("references/a.md", "[b](references/b.md), [b](b.md), [c](references/c.md)\n")
            .with("references/b.md", "");
        assert_eq!(
            found(&files, Rule::LinkDangling),
            ["references/a.md:1: broken link to `references/c.md`"]
        );
    }
}
