use skilltune_phases::suites::checks::{Cost, Text, Times, Tool};

use super::*;

/// Returns the demands of a test with these asserts, each one line of YAML.
fn demands(asserts: &[&str]) -> (Vec<Demand>, Vec<String>) {
    let list = format!("      - {}\n", asserts.join("\n      - "));
    let suite = read(
        "promptfooconfig.yaml",
        &format!("prompts: ['{{{{q}}}}']\ntests:\n  - vars: {{q: do it}}\n    assert:\n{list}"),
    );
    assert_eq!((suite.format, suite.scenarios[0].description.as_str()), (Format::Promptfoo, "do it"));
    (suite.scenarios[0].demands.clone(), notes(&suite))
}

fn tool(name: &str) -> Tool {
    Tool { name: name.into(), input: None }
}

#[test]
fn every_assert_that_can_be_had_is_had() {
    let pattern = |pattern: &str, times| Check::Pattern { pattern: pattern.into(), of: Text::Answer, times };
    let once = Times::ONCE_OR_MORE;
    for (assert, expected) in [
        ("{type: contains, value: a.b}", vec![pattern(r"a\.b", once)]),
        ("{type: not-contains, value: '{{q}}'}", vec![pattern("do it", Times::NEVER)]),
        ("{type: icontains, value: ab}", vec![pattern("(?i)ab", once)]),
        ("{type: equals, value: ab}", vec![pattern(r"\A\s*ab\s*\z", once)]),
        ("{type: equals, value: 42}", vec![pattern(r"\A\s*42\s*\z", once)]),
        ("{type: regex, value: '^a+'}", vec![pattern("(?-m)^a+", once)]),
        ("{type: not-regex, value: a+}", vec![pattern("a+", Times::NEVER)]),
        ("{type: starts-with, value: ab}", vec![pattern(r"\Aab", once)]),
        ("{type: contains-any, value: [a, b.]}", vec![pattern(r"(?:a|b\.)", once)]),
        ("{type: not-icontains-any, value: [a, b]}", vec![pattern("(?i)(?:a|b)", Times::NEVER)]),
        ("{type: contains-all, value: [a]}", vec![pattern("a", once)]),
        ("{type: skill-used, value: {name: s, max: 0}}", vec![Check::Skill { used: false }]),
        (
            "{type: 'trajectory:tool-used', value: [Read, Write]}",
            vec![
                Check::Tool { call: tool("Read"), times: once },
                Check::Tool { call: tool("Write"), times: once },
            ],
        ),
        (
            "{type: trajectory:tool-used, value: {name: Bash, max: 2}}",
            vec![Check::Tool { call: tool("Bash"), times: Times { min: 1, max: Some(2) } }],
        ),
        (
            "{type: trajectory:tool-sequence, value: {mode: in_order, steps: [A, B, C]}}",
            vec![
                Check::ToolOrder { before: tool("A"), after: tool("B") },
                Check::ToolOrder { before: tool("B"), after: tool("C") },
            ],
        ),
        ("{type: trajectory:step-count, value: {max: 9}}", vec![Check::AtMost { of: Cost::Turns, most: 9 }]),
        ("{type: latency, threshold: 1500}", vec![Check::AtMost { of: Cost::Seconds, most: 2 }]),
    ] {
        let (demands, _) = demands(&[assert]);
        let found: Vec<_> = demands.iter().filter_map(|demand| demand.how.check().cloned()).collect();
        assert_eq!(found, expected, "{assert}");
    }
    let (demands, _) = demands(&[
        "{type: llm-rubric, value: 'It rhymes with {{q}}', weight: 0.5}",
        "{type: g-eval, value: [one, two]}",
        "{type: not-llm-rubric, value: It lies}",
    ]);
    let texts: Vec<&str> = demands.iter().filter_map(|demand| demand.how.question()).collect();
    assert_eq!(texts, ["It rhymes with do it", "one", "two", "This is not so: It lies"]);
    assert_eq!(demands.iter().map(|demand| demand.weight).collect::<Vec<_>>(), [5, 10, 10, 10]);
}

#[test]
fn what_is_lost_of_asserts_is_noted() {
    for (assert, note) in [
        (
            "{type: javascript, value: 'true'}",
            "an assert of type javascript is not converted: skilltune has no such check",
        ),
        (
            "{type: similar, value: a}",
            "an assert of type similar is not converted: skilltune has no such check",
        ),
        ("{type: contains}", "an assert of type contains is not converted: it has no value"),
        (
            "{type: regex, value: 'a(?!b)'}",
            "an assert of type regex is not converted: its pattern uses lookahead or lookbehind, which is not supported",
        ),
        (
            "{type: llm-rubric, value: a, weight: 0}",
            "an assert of type llm-rubric is not converted: it has no weight",
        ),
        ("{value: a}", "an assert without a type is not converted"),
        ("text", "skipped an assertion that is not a mapping"),
    ] {
        let (demands, notes) = demands(&[assert]);
        assert!(demands.is_empty(), "{assert}");
        assert_eq!(notes, [format!("scenario-1: {note}")], "{assert}");
    }
}

#[test]
fn the_first_prompt_is_filled_and_tests_may_be_in_files_below() {
    let folder = Folder::new(&[
        (
            "promptfooconfig.yaml",
            "description: d\nproviders: [x]\nprompts: [file://p.txt, two]\nevaluateOptions: {}\n\
             defaultTest: {vars: {tone: dry}, assert: [{type: llm-rubric, value: 'It is {{tone}}'}]}\n\
             tests:\n  - file://tests/*.yaml\n  - {description: Own one, vars: {q: [b, c]}, metadata: {tags: [t]}}\n\
             \x20 - file://../out.yaml\n  - file://t.py\n",
        ),
        ("p.txt", "Say {{q}} {{ tone }} {{other}}"),
        ("tests/a.yaml", "- vars: {q: a}\n  assert: [{type: contains, value: a}]\n"),
        ("tests/b.json", "[]"),
    ]);
    fs::write(folder.path("").join("../out.yaml"), "").ok();
    let suite = folder.read("promptfooconfig.yaml");
    let tasks: Vec<&str> = suite.scenarios.iter().map(|one| one.description.as_str()).collect();
    assert_eq!(tasks, ["Say a dry {{other}}", "Say b dry {{other}}"]);
    assert_eq!(suite.scenarios[1].id, "Own-one");
    assert_eq!(suite.scenarios[1].tags, ["t".into()]);
    assert_eq!(questions(&suite.scenarios[0]), ["It is dry"]);
    assert_eq!(checks(&suite.scenarios[0]).len(), 1);
    assert_eq!(
        notes(&suite),
        [
            "`evaluateOptions` is not read",
            "only the first of 2 prompts is used",
            "the file \"../out.yaml\" is not read: \"../out.yaml\" is outside the suite's folder",
            "the file \"t.py\" is not read: it is neither YAML nor JSON",
            "scenario-1, Own-one: its prompt has template code that is not filled in",
            "Own-one: only the first value of `q` is used",
        ]
    );
}

#[test]
fn a_prompt_that_a_program_makes_is_no_text() {
    let text = "prompts: ['file://p.cjs']\ntests:\n - vars: {request: do it}\n   assert: []\n - vars: {task: do that}\n";
    let folder = Folder::new(&[("promptfooconfig.yaml", text), ("p.cjs", "module.exports = 1")]);
    let suite = folder.read("promptfooconfig.yaml");
    assert_eq!(suite.scenarios.iter().map(|one| one.description.as_str()).collect::<Vec<_>>(), ["do that"]);
    assert_eq!(
        notes(&suite),
        [
            "the prompt is not read: \"p.cjs\" is a program, which is not run",
            "scenario-1: left out: it has no prompt"
        ]
    );
    folder.write(
        "promptfooconfig.yaml",
        "prompts: ['file://p.cjs']\ntests:\n - vars: {request: do it}\n   assert: []\n",
    );
    assert_eq!(
        folder.refusal("promptfooconfig.yaml"),
        "promptfooconfig.yaml: no scenarios: the prompt is not read: \"p.cjs\" is a program, which is not run"
    );
}

#[test]
fn a_list_of_tests_alone_takes_its_task_from_a_variable() {
    for name in ["prompt", "input", "query", "task"] {
        let text = format!("- vars: {{other: x, {name}: do it}}\n  assert: [{{type: contains, value: a}}]\n");
        let suite = read("tests.yaml", &text);
        assert_eq!((suite.format, suite.scenarios[0].description.as_str()), (Format::Promptfoo, "do it"));
    }
}
