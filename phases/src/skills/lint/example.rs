//! Recognizes paths that stand for any path of their kind.

use super::reading::name;

/// Returns true if a path stands for any path of its kind, or for a file that only a run of the skill creates.
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
    // `01-xxx.md`, `0N-name.md`, `YYYY-MM-DD.md`.
    const SLOTS: [&str; 8] = ["xxx", "xx", "nnn", "nn", "0n", "yyyy", "mm", "yyyymmdd"];
    // `project-skill` as in "a skill of the project".
    const ANY: [&str; 14] = [
        "my", "your", "some", "any", "other", "another", "new", "custom", "project", "personal", "test",
        "sample", "demo", "the",
    ];
    let path = path.trim_start_matches("./").to_lowercase();
    let last = name(&path);
    let stem = last.split_once('.').map_or(last, |(stem, _)| stem);
    path.contains("path/to/")
        || STEMS.contains(&stem)
        || STARTS.iter().any(|start| last.starts_with(start))
        || stem.split(['-', '_']).any(|word| SLOTS.contains(&word))
        || stem.strip_suffix("-skill").is_some_and(|which| ANY.contains(&which))
        || stem
            .strip_prefix('v')
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
        || path.split_once('/').is_some_and(|(top, _)| MADE.contains(&top))
}

/// Returns true if a name continues after a placeholder or pattern, so that its end is unknown.
pub(super) fn goes_on(text: &str, at: usize, word: &str) -> bool {
    text[at + word.len()..].starts_with(['*', '{', '<', '$', '['])
}

/// Returns true if a name can be that of a skill.
pub(super) fn is_skill(name: &str) -> bool {
    name.starts_with(char::is_alphanumeric) && name.chars().all(|c| c.is_alphanumeric() || c == '-')
}

#[cfg(test)]
mod tests {
    use super::super::Rule;
    use super::super::tests::{found, skill};

    /// Returns the diagnostics for a text, rule by rule, in a skill that has `scripts/a.py` and `references/a.md`.
    fn messages(text: &str) -> String {
        let files =
            skill(text).with("scripts/a.py", "").with("references/a.md", "").with("references/agents.md", "");
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
    fn prose_examples_and_stand_ins_are_no_paths_of_the_skill() {
        for text in [
            "Then `scripts/turn_page.py` turns it. Read `references/b.md` in ~/.claude/skills/tables/.\n",
            "Link to it with `[text](references/filename.md)`.\n",
            "See [how](path/to/file.md) or [yours](references/your-page.md) or [report](output/report.md).\n",
            "Read [the runbook](internal-wiki/runbook).\n",
            "```\npython scripts/script_name.py --help\nscripts/my_script.py x\nsh scripts/0N-xxx.sh\n```\n",
            "```\ncat ../tables/SKILL.md\npython output/report.py\npython scripts/<name>.py\n```\n",
            "```\ncp -r demo ~/.claude/skills/demo\ngit clone https://x.y/z ~/.claude/skills/z\n```\n",
            "```\nError: no repository in /Users/jane/project\n```\n",
            "```\ndemo/\n\u{251c}\u{2500} scripts/turn_page.py\n  scripts/b.py - turns it\n```\n",
            "# Component: [Component Name]\n\nSee [its parts](./parts.md).\n",
        ] {
            assert_eq!(messages(text), "", "{text}");
        }
    }

    #[test]
    fn links_and_commands_beside_them_are_still_found() {
        for (text, wanted) in [
            ("Read [`references/b.md`](references/b.md).\n", "SKILL.md:5: broken link to `references/b.md`"),
            (
                "```\npython ~/.claude/skills/demo/scripts/a.py\n```\n",
                "SKILL.md:6: `~/.claude/skills/demo/scripts/a.py` exists only if the skill is installed there",
            ),
            ("# Notes [draft]\n\n[a](a.md)\n", "SKILL.md:7: broken link to `a.md`"),
            ("# Plan: [Plan Name]\n\n[a](references/b.md)\n", "SKILL.md:7: broken link to `references/b.md`"),
            ("See [tables](../tables/) for more.\n", "SKILL.md:5: `../tables/` belongs to another skill"),
            ("See [all](../_shared/).\n", "SKILL.md:5: link to `../_shared/`, outside the skill's folder"),
            (
                "See [all](../../tables/).\n",
                "SKILL.md:5: link to `../../tables/`, outside the skill's folder",
            ),
            ("An example.\n\n```\nsh scripts/turn.sh\n```\n", "SKILL.md:8: `scripts/turn.sh` is missing"),
            ("Read [the runbook](references/runbook).\n", "SKILL.md:5: broken link to `references/runbook`"),
            ("Read [it](reference/example.md).\n", "SKILL.md:5: broken link to `reference/example.md`"),
            ("Read [the runbook](wiki/runbook.md).\n", "SKILL.md:5: broken link to `wiki/runbook.md`"),
            (
                "See [tables](../tables/SKILL.md).\n",
                "SKILL.md:5: `../tables/SKILL.md` belongs to another skill",
            ),
            (
                "See [tables](../tables/a.md).\n",
                "SKILL.md:5: link to `../tables/a.md`, outside the skill's folder",
            ),
        ] {
            assert_eq!(messages(text), wanted);
        }
    }

    #[test]
    fn the_links_of_templates_examples_and_pages_for_people_belong_to_other_documents() {
        let links = "[a](gone.md), [b](../../docs/issue.md)\n\n\
            ```\npython scripts/gone.py\nsh ~/.claude/skills/other/a.sh\n```\n";
        let others = [
            "templates/issue.md",
            "assets/page.md",
            "examples/case.md",
            "README.md",
            "CHANGELOG.md",
            "SPEC.md",
            "expected_outputs/page.md",
            "references/sample-page.md",
            "good-examples/page.md",
        ];
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
