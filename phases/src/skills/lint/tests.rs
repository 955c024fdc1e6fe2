//! Small skills for the tests of the rules, and tests of properties that all rules share.

use proptest::prelude::*;

use super::*;

/// A skill under construction.
pub(super) struct Made(Files);

/// A valid `SKILL.md`, whose body begins on line 5.
pub(super) fn skill(body: &str) -> Made {
    let text =
        format!("---\nname: demo\ndescription: Shows a thing. Use when a thing is to be shown.\n---\n{body}");
    Made(Files::new("demo", [])).with("SKILL.md", &text)
}

impl Made {
    pub(super) fn with(self, path: &str, text: &str) -> Self {
        self.put(path, Body::Text(text.to_owned()))
    }

    pub(super) fn linked(self, path: &str, target: &str) -> Self {
        self.put(path, Body::Link { target: target.to_owned() })
    }

    pub(super) fn binary(self, path: &str) -> Self {
        self.put(path, Body::Binary { bytes: 1 })
    }

    pub(super) fn in_folder(self, name: &str) -> Self {
        Self(Files { folder: name.to_owned(), ..self.0 })
    }

    pub(super) fn text(&self, path: &str) -> &str {
        self.0.get(path).unwrap().text().unwrap()
    }

    fn put(mut self, path: &str, body: Body) -> Self {
        self.0.put([File { path: path.to_owned(), body, executable: false }]);
        self
    }
}

impl std::ops::Deref for Made {
    type Target = Files;

    fn deref(&self) -> &Files {
        &self.0
    }
}

/// The diagnostics of one rule, as `path:line: message`.
pub(super) fn found(files: &Files, rule: Rule) -> Vec<String> {
    let diagnostics = lint(files).into_iter().filter(|diagnostic| diagnostic.rule == rule);
    diagnostics
        .map(|Diagnostic { path, line, message, .. }| {
            let line = line.map(|line| format!(":{line}")).unwrap_or_default();
            format!("{path}{line}: {message}")
        })
        .collect()
}

#[test]
fn a_sound_skill_has_no_diagnostics() {
    let files = skill("# Demo\n\n1. Read [the rules](references/rules.md).\n2. Run `scripts/show.sh`.\n")
        .with("references/rules.md", "# Rules\n\nBe brief.\n")
        .with("scripts/show.sh", "echo\n");
    assert_eq!(lint(&files), []);
}

#[test]
fn of_two_files_with_one_path_the_last_is_kept() {
    let file = |text: &str| File { path: "a".into(), body: Body::Text(text.into()), executable: false };
    let files = Files::new("x", [file("1"), file("2")]);
    assert_eq!(files.files(), [file("2")]);
}

#[test]
fn what_no_agent_could_load_is_told_and_looked_at_as_far_as_it_goes() {
    let page = |text: &str| Files::new("demo", []).with_main(text);
    let messages = |text: &str| {
        let diagnostics = lint(&page(text)).into_iter();
        diagnostics
            .map(|diagnostic| format!("{} {}", diagnostic.rule, diagnostic.message))
            .collect::<Vec<_>>()
    };
    assert_eq!(messages(""), ["front-matter front matter is missing: the first line must be `---`"]);
    assert_eq!(messages("---\nname: demo\n"), ["front-matter front matter has no closing `---` line"]);
    assert_eq!(
        messages("---\nname: demo\nname: demo\ndescription: Shows a thing when asked.\n---\n[a](b.md)\n"),
        ["field-duplicate duplicate key `name`", "link-dangling broken link to `b.md`"]
    );
    assert_eq!(lint(&Files::new("demo", []))[0].message, "SKILL.md is missing");
    let binary = File { path: "SKILL.md".into(), body: Body::Binary { bytes: 3 }, executable: false };
    assert_eq!(lint(&Files::new("demo", [binary]))[0].message, "the file is not UTF-8 text");
}

impl Files {
    fn with_main(mut self, text: &str) -> Self {
        self.put([File { path: "SKILL.md".into(), body: Body::Text(text.into()), executable: false }]);
        self
    }
}

#[test]
fn front_matter_that_agents_load_differently_is_told() {
    let lines = |text: &str| {
        let diagnostics = lint(&Files::new("2026", []).with_main(text)).into_iter();
        let lines = diagnostics.map(|f| format!("{} {} {}", f.line.unwrap(), f.rule, f.message));
        lines.collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(lines(
        "--- \nname: 2026\ndescription: Shows #1 things when asked. See #2 #3\nlicense: no\nmodel: x\ncolour: red\n---\nText.\n"
    ), @r"
    1 front-matter-form trailing spaces after `---`
    2 field-kind YAML reads `name: 2026` as a number, not as text
    3 front-matter-form YAML reads the text after ` #` in `description` as a comment
    4 field-kind YAML reads `license: no` as a boolean, not as text
    5 field-portable the specification has no field `model`
    6 field-unknown unknown field `colour`
    ");
    insta::assert_snapshot!(lines("---\nname: \"2026\"\ndescription: Does. Use when asked.\nlicence: MIT\ntools: Bash\n---\nText.\n"), @r"
    4 field-unknown unknown field `licence`; did you mean `license`?
    5 field-unknown unknown field `tools`
    ");
    insta::assert_snapshot!(lines("---\nname: \"2026\"\ndescription: Does. Use when asked.\nmetadata:\n  x:\n\t- y\n---\nText.\n"), @r"
    6 front-matter not a YAML mapping: tabs disallowed within this context (block indentation) at line 6, column 2
    6 front-matter-form a tab in the indentation, which YAML forbids
    ");
}

/// A valid skill, full of text that looks like a fault but is not.
fn sound() -> Made {
    let body = "# Demo\n\nRead [the rules](references/rules.md) and `keep-calm`. Name files after their work, such as \
        `references/tables.md`. Run `./scripts/show.sh`, or `python scripts/show.py`.\n\n## One\n\n**Needs:** a page that \
        somebody has written down in some detail.\n\n## Two\n\n**Needs:** a page that somebody has written down in some \
        detail.\n\nSearch with `grep '-----BEGIN (RSA )?PRIVATE KEY-----'`. Write `output/page.md`, as in \
        [this](path/to/page.md).\n";
    let mut made = skill(body)
        .with("references/rules.md", "# Rules\n\nSee [calm](references/keep-calm.md).\n")
        .with("references/keep-calm.md", "# Calm\n\nBe calm in /home/vscode/x.\n")
        .with("assets/template.md", "[a](gone.md) {{b}}\n")
        .with("README.md", "[a](gone.md), assets/template.md\n")
        .with("agents/openai.yaml", "page: assets/template.md\n")
        .with("scripts/show.py", "#!/usr/bin/env python3\n")
        .with("scripts/show.sh", "#!/bin/sh\n");
    made.0.all.iter_mut().for_each(|file| file.executable |= file.path.contains(".sh"));
    made
}

#[test]
fn a_fault_of_each_rule_is_found_among_examples_and_templates() {
    assert_eq!(lint(&sound()), []);
    let key = ["sk-ant-", "q7Rt2Xw9Kb4Zm1Vc8Ln5q7Rt2Xw9Kb4Zm1Vc8Ln5x"].concat();
    let said = "A paragraph that is long enough to be noticed when it is said again.";
    let seeds = [
        (Rule::LinkDangling, "Read [this](references/gone.md).".to_owned()),
        (Rule::PathMissing, "```\npython scripts/gone.py\n```".to_owned()),
        (Rule::PathOtherSkill, "```\nsh ~/.claude/skills/tables/rules.sh\n```".to_owned()),
        (Rule::PathOutside, "Read [this](../../shared/rules.md).".to_owned()),
        (Rule::PathAbsolute, "Read [this](/home/jane/rules.md).".to_owned()),
        (Rule::Secret, format!("Use {key}.")),
        (Rule::ParagraphRepeated, format!("{said}\n\nText.\n\n{said}")),
        (Rule::HeadingJump, "## A\n\n#### B".to_owned()),
        (Rule::TrailingBlanks, "Text. ".to_owned()),
        (Rule::BodyLong, "A line.\n".repeat(600)),
        (Rule::LineEndings, "Text.\r".to_owned()),
        (Rule::ScriptMode, "Run `scripts/show.py --all`.".to_owned()),
    ];
    for (rule, seed) in seeds {
        let page = format!("{}\n{seed}\n", sound().text("SKILL.md"));
        assert_eq!(found(&sound().with("SKILL.md", &page), rule).len(), 1, "{rule}: {seed}");
        if matches!(rule, Rule::BodyLong) {
            continue;
        }
        let page = format!("{}\n{seed}\n", sound().text("references/rules.md"));
        let seeded = page.replace("](references/gone.md)", "](gone.md)");
        assert_eq!(found(&sound().with("references/rules.md", &seeded), rule).len(), 1, "{rule}: {seed}");
    }
    let added = [
        (Rule::FileOrphan, "references/forgotten.md", "Text.\n".to_owned()),
        (Rule::ReferenceNested, "references/rules.md", "Read nested.md.\n".to_owned()),
        (Rule::ByteOrderMark, "references/rules.md", "\u{feff}Text.\n".to_owned()),
        (Rule::ContentsMissing, "references/rules.md", "A line.\n".repeat(120)),
        (Rule::MainFileCase, "skill.md", String::new()),
    ];
    for (rule, path, text) in added {
        let made =
            if rule == Rule::ReferenceNested { sound().with("references/nested.md", "") } else { sound() };
        let made = if rule == Rule::MainFileCase { Made(Files::new("demo", [])) } else { made };
        assert_eq!(found(&made.with(path, &text), rule).len(), 1, "{rule}");
    }
    let fronts = [
        (Rule::FrontMatter, "---\nname: demo\n"),
        (Rule::FrontMatterForm, "--- \nname: demo\ndescription: Does. Use when asked.\n---\n"),
        (
            Rule::FrontMatterStrict,
            "---\nname: demo\ndescription: Does. Use when asked.\nmetadata: {a: b}\n---\n",
        ),
        (Rule::FieldDuplicate, "---\nname: demo\nname: demo\ndescription: Does. Use when asked.\n---\n"),
        (Rule::FieldKind, "---\nname: 2026\ndescription: Does. Use when asked.\n---\n"),
        (Rule::FieldPortable, "---\nname: demo\ndescription: Does. Use when asked.\nmodel: x\n---\n"),
        (Rule::FieldUnknown, "---\nname: demo\ndescription: Does. Use when asked.\nversion: 1\n---\n"),
        (Rule::Name, "---\nname: Demo\ndescription: Does. Use when asked.\n---\n"),
        (Rule::NameFolder, "---\nname: other\ndescription: Does. Use when asked.\n---\n"),
        (Rule::NameReserved, "---\nname: claude-demo\ndescription: Does. Use when asked.\n---\n"),
        (Rule::Description, "---\nname: demo\n---\n"),
        (Rule::DescriptionMarkup, "---\nname: demo\ndescription: Does <x>. Use when asked.\n---\n"),
        (Rule::DescriptionWhen, "---\nname: demo\ndescription: Formats the tables of a report.\n---\n"),
        (Rule::DescriptionPerson, "---\nname: demo\ndescription: I format tables when asked.\n---\n"),
        (Rule::BodyEmpty, "---\nname: demo\ndescription: Does. Use when asked.\n---\n"),
    ];
    for (rule, text) in fronts {
        assert_eq!(found(&sound().with("SKILL.md", text), rule).len(), 1, "{rule}");
    }
    assert_eq!(found(&Files::new("demo", []), Rule::MainFile).len(), 1);
}

fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "[a-zA-Z ]{0,12}",
        Just("\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("\r\n".to_owned()),
        Just(" \n".to_owned()),
        Just("  \n".to_owned()),
        Just("```\n".to_owned()),
        Just("    code \n".to_owned()),
        Just("- item\n".to_owned()),
        Just("> quote\n".to_owned()),
        Just("# One\n\n".to_owned()),
        Just("### Three\n\n".to_owned()),
        Just("#### Four\n\n".to_owned()),
        Just("Setext\n---\n".to_owned()),
        Just("[a](a.md) [b](references/b.md#x) [c](<c d.md>)\n".to_owned()),
        Just("[r][r]\n\n[r]: b.md\n".to_owned()),
        Just(
            "\nA paragraph that is long enough to be noticed when it is said again and again.\n\n".to_owned()
        ),
        Just("\n## Part\n\n".to_owned() + &"A line of the part.\n".repeat(130)),
        Just("写一首俳句。\n".to_owned()),
        Just("<div>\n".to_owned()),
        Just("|a|b|\n|-|-|\n|`x`|y|\n".to_owned()),
    ];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

fn front() -> impl Strategy<Value = String> {
    let long = "A sentence that says when to use it. ".repeat(40);
    let sound = "description: Shows a thing when asked.\n";
    prop_oneof![
        Just(String::new()),
        Just(format!("---\nname: demo\n{sound}---\n")),
        Just(format!("---\r\nname: Demo\r\n{sound}---\r\n")),
        Just(format!("\u{feff}---\nname: 'other' # x\n{sound}hooks: {{a: [b]}}\n---\n")),
        Just(format!("---\nname: demo\ndescription: {long}\nlicense: MIT\n---\n")),
        Just(format!("---\nname: demo\ndescription: >-\n  {long}\n---\n# Title\n")),
        Just(format!("---\nname: demo\nname: x\n{sound}")),
        "(---\n)?([a-z: #'\"|>\\[{-]{0,8}\n){0,6}(---\n)?",
    ]
}

fn files() -> impl Strategy<Value = Files> {
    let others = prop::collection::btree_map("(references/|x/)?[abc]( d)?\\.(md|sh)", text(), 0..4);
    (front(), text(), others, any::<bool>()).prop_map(|(front, body, others, script)| {
        let mut made = Files::new("demo", []).with_main(&(front + &body));
        let lead = if script { "#!/bin/sh\r\n" } else { "" };
        made.put(others.into_iter().map(|(path, text)| File {
            path,
            body: Body::Text(lead.to_owned() + &text),
            executable: false,
        }));
        made
    })
}

/// The lines of front matter, except name and description.
fn fields(files: &Files) -> Vec<String> {
    let text = files.get("SKILL.md").unwrap().text().unwrap();
    let front = crate::skills::skill::front_matter(text).unwrap_or_default().replace('\r', "");
    front
        .lines()
        .map(str::to_owned)
        .filter(|line| !line.contains("name") && !line.contains("sentence"))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn fixing_comes_to_an_end_and_makes_nothing_worse(files in files()) {
        let counts = |files: &Files| {
            let found = lint(files);
            let of = move |rule: &Rule| found.iter().filter(|diagnostic| diagnostic.rule == *rule).count();
            Rule::ALL.iter().map(of)
        };
        let before: Vec<_> = counts(&files).collect();
        for reach in [Reach::Safe, Reach::All] {
            let fixed = fix_all(&files, reach);
            for ((rule, before), after) in Rule::ALL.iter().zip(&before).zip(counts(&fixed.files)) {
                prop_assert!(after <= *before, "{rule} {fixed:?}");
            }
            let again = fix_all(&fixed.files, reach);
            prop_assert_eq!(&again.done, &[]);
            prop_assert_eq!(&again.files, &fixed.files);
            prop_assert_eq!(fixed.done.is_empty(), fixed.files == files);
        }
    }

    #[test]
    fn one_rule_at_a_time_is_fixed_once(files in files()) {
        for rule in Rule::ALL.iter().filter(|rule| rule.fix() != Fix::ByHand) {
            let fixed = fix_rule(&files, *rule);
            prop_assert!(fix_rule(&fixed.files, *rule).done.is_empty(), "{rule}");
        }
    }

    #[test]
    fn fields_and_code_are_never_touched(files in files()) {
        let fixed = fix_all(&files, Reach::Safe);
        let before = fields(&files);
        // The mark and the carriage returns may have hidden the front matter.
        if !before.is_empty() {
            prop_assert_eq!(fields(&fixed.files), before);
        }
        let code = |files: &Files| {
            let text = files.get("SKILL.md").unwrap().text().unwrap().replace("\r\n", "\n").replace('\r', "\n");
            let page = page::Page::of(&text, reading::body_at(&text, true));
            page.code.iter().map(|at| text[at.clone()].to_owned()).collect::<Vec<_>>()
        };
        prop_assert_eq!(code(&fixed.files), code(&files));
    }

    #[test]
    fn any_text_can_be_looked_at(text in "\\PC{0,200}", front in "[ -~\n\t]{0,60}") {
        let _ = lint(&Files::new("demo", []).with_main(&format!("---\n{front}\n---\n{text}")));
        let _ = lint(&Files::new("demo", []).with_main(&text));
    }
}
