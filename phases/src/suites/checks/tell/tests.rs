mod arbitrary;
mod hostile;

use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::suites::transcript::{Redaction, ToolResult};

/// A trial made up by a test.
#[derive(Debug, Default)]
struct Scene {
    files: BTreeMap<String, Vec<u8>>,
    touched: Vec<String>,
    answer: Option<String>,
    transcript: Option<Transcript>,
    usage: Usage,
}

impl Facts for Scene {
    fn files(&self) -> Vec<&str> {
        self.files.keys().map(String::as_str).collect()
    }

    fn bytes(&self, path: &str, most: u64) -> Bytes {
        match self.files.get(path) {
            Some(bytes) if bytes.len() as u64 > most => Bytes::TooLarge(bytes.len() as u64),
            Some(bytes) => Bytes::Whole(bytes.clone()),
            None => Bytes::Missing,
        }
    }

    fn touched(&self) -> Vec<&str> {
        self.touched.iter().map(String::as_str).collect()
    }

    fn answer(&self) -> Option<&str> {
        self.answer.as_deref()
    }

    fn transcript(&self) -> Option<&Transcript> {
        self.transcript.as_ref()
    }

    fn usage(&self) -> Usage {
        self.usage
    }
}

fn files(files: &[(&str, &str)]) -> Scene {
    let file = |(path, text): &(&str, &str)| ((*path).to_owned(), text.as_bytes().to_vec());
    Scene { files: files.iter().map(file).collect(), ..Scene::default() }
}

/// Returns a trial with these tool calls, each with its command, as the engine stores them.
fn called(calls: &[(&str, &str)]) -> Scene {
    let mut transcript = Transcript::default();
    transcript.say("I begin.");
    for (nth, (tool, command)) in calls.iter().enumerate() {
        let id = nth.to_string();
        transcript.call(|| Call::new(&id, tool, &json!({ "command": command }), &[]));
        transcript.result(|| ToolResult {
            id: id.clone(),
            output: format!("done {command}"),
            ..ToolResult::default()
        });
    }
    Scene { transcript: Some(transcript.redacted(&Redaction::default())), ..Scene::default() }
}

fn pattern(pattern: &str, of: Text, times: Times) -> Check {
    Check::Pattern { pattern: pattern.into(), of, times }
}

fn in_files(glob: &str) -> Text {
    Text::Files(glob.into())
}

fn tool(name: &str, input: Option<&str>) -> Tool {
    Tool { name: name.into(), input: input.map(Into::into) }
}

fn times(min: u64, max: Option<u64>) -> Times {
    Times { min, max }
}

const ONCE: Times = Times::ONCE_OR_MORE;
const NEVER: Times = Times::NEVER;

#[track_caller]
fn tells(check: &Check, facts: &dyn Facts, met: impl Into<Option<bool>>, details: &str) {
    assert_eq!(tell(check, facts), (met.into(), details.to_owned()));
}

#[test]
fn a_pattern_is_looked_for_in_the_answer() {
    let scene = Scene { answer: Some("All is done.\nTotal: 41".to_owned()), ..Scene::default() };
    let check = |times| pattern(r"^total: \d+$", Text::Answer, times);
    tells(&check(ONCE), &scene, false, "nothing was found in the answer");
    tells(&check(NEVER), &scene, true, "nothing was found in the answer");
    let check = |times| pattern(r"^Total: \d+$", Text::Answer, times);
    tells(&check(ONCE), &scene, true, "the answer, line 2: Total: 41");
    tells(&check(NEVER), &scene, false, "the answer, line 2: Total: 41");
    tells(&check(ONCE), &Scene::default(), None, "the agent's last message is not known");
}

#[test]
fn a_pattern_must_occur_in_each_of_the_files_and_there_must_be_one() {
    let scene = files(&[("a.md", "# A\nx\n"), ("docs/b.md", "x\n# B\n# C\n"), ("c.txt", "none")]);
    let check = |glob: &str, times| pattern("^# ", in_files(glob), times);
    tells(&check("**/*.md", ONCE), &scene, true, "in each of 2 files; a.md, line 1: # A");
    tells(&check("**", ONCE), &scene, false, "nothing was found in c.txt");
    tells(&check("docs/*", times(2, Some(2))), &scene, true, "docs/b.md, 2 times, first in line 2: # B");
    tells(&check("docs/*", times(3, None)), &scene, false, "docs/b.md, 2 times, first in line 2: # B");
    tells(&check("docs/*", times(0, Some(1))), &scene, false, "docs/b.md, 2 times, first in line 2: # B");
    for times in [ONCE, NEVER] {
        tells(&check("*.rst", times), &scene, false, "there is no such file");
    }
}

#[test]
fn a_pattern_is_looked_for_in_all_that_the_agent_reported() {
    let scene = called(&[("Bash", "ls out"), ("Bash", "cat out/a")]);
    let check = |text: &str, times| pattern(text, Text::Transcript, times);
    tells(&check("I begin", ONCE), &scene, true, "a text, line 1: I begin.");
    tells(&check("ls", ONCE), &scene, true, "a tool call, line 1: ls out");
    tells(
        &check("^done", times(2, Some(2))),
        &scene,
        true,
        "2 times, first in a tool's result, line 1: done ls out",
    );
    tells(&check("rm", NEVER), &scene, true, "nothing was found in the transcript");
    tells(&check("rm", ONCE), &Scene::default(), None, "the agent does not report what it did");
}

#[test]
fn files_are_counted_by_their_paths() {
    let scene = files(&[("a.md", ""), ("b.md", ""), ("c.md", ""), ("d/e.md", "")]);
    let check = |path: &str, times| Check::File { path: path.into(), times };
    tells(&check("a.md", ONCE), &scene, true, "a.md");
    tells(&check("**/*.md", times(4, Some(4))), &scene, true, "a.md, b.md, c.md and 1 more");
    tells(&check("*.md", times(0, Some(2))), &scene, false, "a.md, b.md, c.md");
    tells(&check("*.pdf", ONCE), &scene, false, "there is no such file");
    tells(&check("*.pdf", NEVER), &scene, true, "there is no such file");
}

#[test]
fn a_json_file_is_held_against_a_schema() {
    let scene = files(&[
        ("good.json", r#"{"total": 3}"#),
        ("bad.json", r#"{"total": "three"}"#),
        ("no.json", "{'a'}"),
    ]);
    let schema = json!({"properties": {"total": {"type": "integer"}}, "required": ["total"]});
    let check = |path: &str| Check::Schema { path: path.into(), schema: schema.clone() };
    tells(&check("good.json"), &scene, true, "good.json matches the schema");
    tells(&check("bad.json"), &scene, false, r#"bad.json does not match the schema: /total is "three""#);
    tells(&check("no.json"), &scene, false, "no.json is not valid JSON: line 1, column 2");
    tells(&check("none.json"), &scene, false, "there is no such file");
}

#[test]
fn a_value_in_a_json_file_is_compared() {
    let scene = files(&[("r.json", r#"{"a/b": [{"n": 3.0, "s": "three"}]}"#)]);
    let check = |pointer: &str, is| Check::Json { path: "r.json".into(), pointer: pointer.into(), is };
    let number = |number: i64| serde_json::Number::from(number);
    tells(&check("/a~1b/0/n", Comparison::Equals(json!(3))), &scene, true, "r.json: the value is 3.0");
    tells(&check("/a~1b/0/n", Comparison::Equals(json!(4))), &scene, false, "r.json: the value is 3.0");
    tells(&check("/a~1b/0/n", Comparison::AtLeast(number(3))), &scene, true, "r.json: the value is 3.0");
    tells(&check("/a~1b/0/n", Comparison::AtLeast(number(4))), &scene, false, "r.json: the value is 3.0");
    tells(&check("/a~1b/0/n", Comparison::AtMost(number(3))), &scene, true, "r.json: the value is 3.0");
    tells(
        &check("/a~1b/0/s", Comparison::AtMost(number(3))),
        &scene,
        false,
        r#"r.json: the value is "three""#,
    );
    tells(
        &check("", Comparison::Equals(json!({"a/b": [{"s": "three", "n": 3}]}))),
        &scene,
        true,
        r#"r.json: the value is {"a/b":[{"n":3.0,"s":"three"}]}"#,
    );
    tells(&check("/b", Comparison::Equals(json!(null))), &scene, false, "r.json has no such value");
}

#[test]
fn nothing_else_may_be_touched() {
    let scene = |touched: &[&str]| Scene {
        touched: touched.iter().map(|&path| path.to_owned()).collect(),
        ..Scene::default()
    };
    let check = |only: &[&str]| Check::Touches { only: only.iter().map(|&glob| glob.into()).collect() };
    tells(&check(&["out/**", "a.md"]), &scene(&["a.md", "out/x/y"]), true, "touched: a.md, out/x/y");
    tells(&check(&["out/**"]), &scene(&["a.md", "out/x"]), false, "other files were touched: a.md");
    tells(&check(&[]), &scene(&["a.md"]), false, "other files were touched: a.md");
    tells(&check(&[]), &scene(&[]), true, "no file was touched");
}

#[test]
fn the_use_of_the_skill_is_told_where_the_agent_tells_it() {
    let scene = |skill| Scene { usage: Usage { skill, ..Usage::default() }, ..Scene::default() };
    for (skill, used) in [
        (SkillUse::Used, true),
        (SkillUse::Offered, false),
        (SkillUse::NotOffered, false),
        (SkillUse::Shadowed, false),
    ] {
        let details = format!("the skill was {}", skill.word());
        tells(&Check::Skill { used: true }, &scene(Some(skill)), used, &details);
        tells(&Check::Skill { used: false }, &scene(Some(skill)), !used, &details);
    }
    let unknown = "the agent does not report whether it used the skill";
    tells(&Check::Skill { used: false }, &scene(None), None, unknown);
}

#[test]
fn calls_of_a_tool_are_counted_by_name_and_input() {
    let scene = called(&[("Bash", "python fill.py"), ("Read", "a"), ("Bash", "python fill.py --all")]);
    let check = |call, times| Check::Tool { call, times };
    tells(&check(tool("Bash", None), times(2, Some(2))), &scene, true, "2 calls, first Bash: python fill.py");
    tells(&check(tool("Bash", Some("--all$")), ONCE), &scene, true, "Bash: python fill.py --all");
    tells(&check(tool("Bash", Some("rm")), ONCE), &scene, false, "there was no such call");
    tells(&check(tool("bash", None), NEVER), &scene, true, "there was no such call");
    tells(&check(tool("Read", None), NEVER), &scene, false, "Read: a");
    tells(
        &check(tool("Bash", None), NEVER),
        &Scene::default(),
        None,
        "the agent does not report what it did",
    );
}

#[test]
fn one_tool_is_called_before_the_first_call_of_another() {
    let scene = called(&[("Read", "schema"), ("Bash", "make"), ("Read", "result")]);
    let check = |before, after| Check::ToolOrder { before, after };
    let (read, bash) = (|| tool("Read", None), || tool("Bash", None));
    tells(&check(read(), bash()), &scene, true, "Read: schema, and then Bash: make");
    tells(&check(bash(), read()), &scene, false, "Read: schema came first");
    tells(&check(bash(), tool("Read", Some("result"))), &scene, true, "Bash: make, and then Read: result");
    for (before, after) in [(read(), tool("Write", None)), (tool("Write", None), tool("Edit", None))] {
        tells(&check(before, after), &scene, false, "at least one of the two calls is missing");
    }
    tells(&check(tool("Write", None), bash()), &scene, false, "Bash: make came first");
    tells(&check(read(), read()), &scene, false, "Read: schema came first");
    tells(&check(read(), bash()), &Scene::default(), None, "the agent does not report what it did");
}

#[test]
fn a_trial_takes_no_more_than_it_may() {
    let usage = Usage { ms: Some(61_900), tokens: Some(1000), turns: Some(7), skill: None };
    let scene = Scene { usage, ..Scene::default() };
    let check = |of, most| Check::AtMost { of, most };
    tells(&check(Cost::Seconds, 62), &scene, true, "it took 61.9 seconds");
    tells(&check(Cost::Seconds, 61), &scene, false, "it took 61.9 seconds");
    tells(&check(Cost::Tokens, 1000), &scene, true, "it took 1000 tokens");
    tells(&check(Cost::Tokens, 999), &scene, false, "it took 1000 tokens");
    tells(&check(Cost::Turns, 6), &scene, false, "it took 7 turns");
    for (of, what) in [(Cost::Seconds, "seconds"), (Cost::Tokens, "tokens"), (Cost::Turns, "turns")] {
        let details = format!("the number of {what} is unknown");
        tells(&check(of, 1), &Scene::default(), None, &details);
    }
}

#[test]
fn a_command_is_told_by_whoever_runs_it() {
    let check = Check::Command { argv: vec!["true".into()], exit: 0, expected: "".into(), grader: None };
    tells(&check, &Scene::default(), None, "the command has not been run");
}
