//! Decides whether a path in a text means a file of this skill, a file of another skill, or an example.

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

/// Returns true if the words before a path, in the same sentence, announce it as an example.
pub(super) fn is_example(text: &str, at: usize) -> bool {
    const MARKS: [&str; 5] = ["example:", "examples:", "for example", "for instance", "such as"];
    // Right and wrong are shown with other skills.
    const SIDES: [&str; 6] = ["good:", "bad:", "right:", "wrong:", "\u{2705}", "\u{274c}"];
    let line = line_before(text, at);
    let plain = line.replace(['*', '_', '`', '(', '"'], "").to_lowercase().replace("e.g.", "for example");
    let sentence = plain.rsplit(". ").next().unwrap_or_default();
    let bare = plain.trim_start_matches(['-', ' ', '#', '>', '|']);
    MARKS.iter().any(|mark| sentence.contains(mark))
        || SIDES.iter().any(|side| bare.starts_with(side))
        || is_of_example(near(text, at, 20 * SENTENCE))
}

/// Longer sentences are rare, and a line may be as long as the file.
const SENTENCE: usize = 200;

fn near(text: &str, at: usize, most: usize) -> &str {
    let from = (at.saturating_sub(most)..=at).find(|from| text.is_char_boundary(*from)).unwrap_or(at);
    &text[from..at]
}

/// Returns the text before a place on its line.
fn line_before(text: &str, at: usize) -> &str {
    near(text, at, SENTENCE).rsplit('\n').next().unwrap_or_default()
}

/// Returns true if a text ends in a list below a line that announces an example: `Example: to build a skill, one
/// needs:`.
fn is_of_example(before: &str) -> bool {
    // Longer lists have their own heading.
    const LIST: usize = 12;
    let mut lines = before.rsplit('\n');
    let is_item = |line: &str| {
        let mark = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_marked = mark.starts_with(['-', '*', '+', '.', ')']) && mark[1..].starts_with(' ');
        line.is_empty() || line.starts_with([' ', '\t']) || is_marked
    };
    lines.next().is_some_and(is_item) && {
        let lead = lines.take(LIST).find(|line| !is_item(line)).unwrap_or_default();
        let lead = lead.trim_start_matches(['*', '_', '#', ' ']).to_lowercase();
        lead.starts_with("example:") && lead.trim_end_matches(['*', '_', ' ']).ends_with(':')
    }
}

/// Returns true if the words right before a path say that the file is yet to be created, or is the user's to change.
pub(super) fn is_made(text: &str, at: usize) -> bool {
    const VERBS: [&str; 12] = [
        "create",
        "creates",
        "save",
        "saves",
        "saved",
        "write",
        "writes",
        "written",
        "generate",
        "generates",
        "store",
        "stores",
    ];
    const BETWEEN: [&str; 11] = ["to", "in", "into", "as", "a", "an", "the", "new", "file", "at", "it"];
    let line = line_before(text, at).trim_end_matches(['`', '"', '(', '*', ' ']).to_lowercase();
    let mut words = line.rsplit(' ').peekable();
    let adds = [" into", "add to", "append to"].iter().any(|end| line.ends_with(end));
    while words.next_if(|word| BETWEEN.contains(word)).is_some() {}
    adds || words.next().is_some_and(|word| VERBS.contains(&word.trim_start_matches(['*', '-', '|', '('])))
}

/// Returns true if the line of a place is the output of a command or program, not a command to run.
pub(super) fn is_output(text: &str, at: usize) -> bool {
    const STARTS: [&str; 6] = ["error", "fatal", "warning", "traceback", "file \"", "at "];
    let line = line_before(text, at).trim_start().to_lowercase();
    STARTS.iter().any(|start| line.starts_with(start))
}

/// Returns true if a place is after an equals sign on its line.
pub(super) fn is_value(text: &str, at: usize) -> bool {
    line_before(text, at).contains('=')
}

/// Returns true if the line of a place installs something there: it then names the place on purpose.
pub(super) fn shows_install(text: &str, at: usize) -> bool {
    const COMMANDS: [&str; 10] =
        ["cp ", "mv ", "ln ", "rsync ", "mkdir ", "git clone ", "unzip ", "curl ", "wget ", "o "];
    let command = line_before(text, at).rsplit(['`', ';', '&', '|']).next().unwrap_or_default();
    let command = command.trim_start_matches(['$', ' ', '\t', '-', '>']);
    COMMANDS.iter().any(|start| command.starts_with(start))
}

/// Returns true if a name can be that of a skill.
pub(super) fn is_skill(name: &str) -> bool {
    name.starts_with(char::is_alphanumeric) && name.chars().all(|c| c.is_alphanumeric() || c == '-')
}

/// Returns the skill that a path belongs to, as in `` `name`'s `references/a.md` ``, `` `name`, its `a/b.md` `` or `the
/// name skill's a/b.md`.
pub(super) fn owner(text: &str, at: usize) -> Option<&str> {
    let before = text[..at].trim_end_matches('`').trim_end();
    let said = ["skill's", "skill\u{2019}s"].iter().find_map(|of| before.strip_suffix(of));
    if let Some(said) = said.map(|said| said.trim_end().trim_end_matches('`')) {
        let name = &said[said.rfind(|c: char| !(c.is_alphanumeric() || c == '-')).map_or(0, |end| end + 1)..];
        return Some(name).filter(|name| is_skill(name) && !["this", "the", "same"].contains(name));
    }
    let named = ["'s", "\u{2019}s", "'", "\u{2019}", "its"].iter().find_map(|of| before.strip_suffix(of))?;
    let named = named.trim_end_matches([' ', ',', '-', '\u{2013}', '\u{2014}']).strip_suffix('`')?;
    let name = &named[named.rfind('`')? + 1..];
    is_skill(name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::super::Rule;
    use super::super::tests::{found, skill};

    /// Returns the findings for a text, rule by rule, in a skill that has `scripts/a.py` and `references/a.md`.
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
            "**Example:** To build a `tables` skill:\n\n1. Ask for the columns.\n2. Put them into \
             `references/columns.md`.\n",
            "- **Bad:** All of it in `references/columns.md` too\n- **Good:** Only in `references/columns.md`\n",
            "Name the steps `references/0N-xxx.md`.\n",
            "For Vue, add to `references/global.css`. Save it as a new `references/plan.md`, or write `scripts/b.py`.\n",
            "Paste it into `scripts/plan.json`, as in AGENTS.md. See [`scripts/c.py`](https://x.y/scripts/c.py).\n",
            "Settings are in `references/a.md` or `references/a.json`.\n",
            "What is learnt goes to `references/evidence/log.md`.\n",
            "### skill.md\n\nA file skill.md has front matter.\n",
            "Look into .claude/skills/project-skill/a.md, then `.claude/skills/.env`, `.claude/skills/demo/.env`.\n",
            "```\ncp -r demo ~/.claude/skills/demo\ngit clone https://x.y/z ~/.claude/skills/z\n```\n",
            "```\nError: no repository in /Users/jane/project\n```\n",
            "The project's root, e.g. D:\\Kg\n\n- Created D:\\Kg\\src\\index.ts\n",
            "It works in /home/batch, with /home/vscode/.cache and /Users/.../bin.\n",
            "# Component: [Component Name]\n\nSee [its parts](./parts.md).\n",
            "In .claude/skills/v2/ and .claude/skills/skill-rules.json; `${D:-$HOME/.claude/skills/demo}`.\n",
            "```\ncurl -L https://x.y \\\n  -o ~/.claude/skills/demo/SKILL.md\n```\n",
            "- Of the project: `<project>/.claude/skills/demo`\n- Of the user: `~/.claude/skills/demo/`\n",
            "Copy z:\\Windows\\NTDS\\ntds.dit into /home/agent/x, not into /Users/alice/x.\n",
            "Read C:\\boot.ini, C:\\xampp\\passwords.txt, /home/opsuser/.ssh and C:\\Users\\YourName\\.wslconfig.\n",
            "Not in C:\\Windows\\System32\\a.dll, C:\\Program Files\\b, C:\\Users\\dev\\c.pdb.\n",
        ] {
            assert_eq!(messages(text), "", "{text}");
        }
    }

    #[test]
    fn what_is_said_beside_them_is_still_found() {
        for (text, wanted) in [
            ("Read [`references/b.md`](references/b.md).\n", "SKILL.md:5: broken link to `references/b.md`"),
            ("**Steps:**\n\n1. Read `references/b.md`.\n", "SKILL.md:7: `references/b.md` is missing"),
            (
                "```\ncat /Users/jane/project/a.md\n```\n",
                "SKILL.md:6: `/Users/jane/project/a.md` exists only on one machine",
            ),
            (
                "```\npython ~/.claude/skills/demo/scripts/a.py\n```\n",
                "SKILL.md:6: `~/.claude/skills/demo/scripts/a.py` exists only if the skill is installed there",
            ),
            (
                "`root` = `<project>/.claude/skills/demo`\n",
                "SKILL.md:5: `/.claude/skills/demo` exists only if the skill is installed there",
            ),
            (
                "```\ncd ~/.claude/skills/demo\n```\n",
                "SKILL.md:6: `~/.claude/skills/demo` exists only if the skill is installed there",
            ),
            ("It is in D:\\kg\\a.csv.\n", "SKILL.md:5: `\\kg\\a.csv` exists only on one machine"),
            ("# Notes [draft]\n\n[a](a.md)\n", "SKILL.md:7: broken link to `a.md`"),
            ("# Plan: [Plan Name]\n\n[a](references/b.md)\n", "SKILL.md:7: broken link to `references/b.md`"),
            ("See [tables](../tables/) for more.\n", "SKILL.md:5: `../tables/` belongs to another skill"),
            ("See [all](../_shared/).\n", "SKILL.md:5: link to `../_shared/`, outside the skill's folder"),
            (
                "See [all](../../tables/).\n",
                "SKILL.md:5: link to `../../tables/`, outside the skill's folder",
            ),
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
            assert_eq!(messages(text), wanted);
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
            "the all-tables skill's ",
            "the `tables` skill\u{2019}s ",
        ] {
            let said = messages(&format!("It is in {of}`references/rows.md`.\n"));
            assert!(said.contains("`references/rows.md` belongs to another skill, "), "{said}");
        }
        for of in ["this skill's ", "`demo`'s ", "the "] {
            let said = messages(&format!("It is in {of}`references/rows.md`.\n"));
            assert_eq!(said, "SKILL.md:5: `references/rows.md` is missing");
        }
    }

    #[test]
    fn the_links_of_templates_examples_and_pages_for_people_belong_to_other_documents() {
        let links =
            "[a](gone.md), [b](../../docs/issue.md), `scripts/gone.py`, ~/.claude/skills/other/a.md\n";
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
