//! Every kind of check through the real binary: it passes, fails or is unverified, and each says what it looked for and
//! what it saw. Also checks that try to do harm.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use skilltune_orchestrator::process::can_confine;

use crate::outcome::assert_left_nothing;
use crate::scene::{FAKE_AGENT, Ran, Scene};

/// Returns a scene whose executor has a short timeout, and reports the tokens of each call.
fn scene(suite: &str) -> Scene {
    let scene = Scene::new(&[("writer", 40)], &json!({ "envelope": true }));
    let settings = scene.path("config/skilltune/skilltune.toml");
    let cost_lines =
        "output = \"/result\"\ncost = { input_tokens = \"/cost/input\", output_tokens = \"/cost/output\" }\n";
    let text = fs::read_to_string(&settings).unwrap();
    let text = text
        .replace("]\n\n[agents", &format!("]\n{cost_lines}\n[agents"))
        .replace("[agents.executor]\n", "[agents.executor]\ntimeout = 6\n");
    fs::write(&settings, text + cost_lines).unwrap();
    fs::write(scene.path("project/suite.toml"), suite).unwrap();
    scene
}

/// The caller appends the number of rounds.
const TUNE: [&str; 8] =
    ["tune", "writer", "--this-suite-only", "--suite", "suite.toml", "--trust", "--yes", "--max-iterations"];

fn tune(scene: &Scene, more: &[&str]) -> Ran {
    scene.run(&[&TUNE[..], more].concat())
}

/// Returns the verdicts of the first round's page: `verdict id: what was looked for | what was seen`.
fn verdicts(scene: &Scene) -> String {
    let page = scene.run_folder().join("iterations/iteration-1/iteration-1-eval.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, verdicts) = page.split_once("## Verdicts and Evidence").unwrap();
    let verdicts = verdicts.split("### The text").next().unwrap();
    let mut text = String::new();
    for line in verdicts.lines() {
        match line.trim() {
            "" | "```" | "```text" => {}
            line if line.starts_with("###") => {}
            line if line.starts_with("- ") => text.extend(["\n", &line[2..]]),
            line => text.extend([" | ", line]),
        }
    }
    let took = regex::Regex::new(r"it took \d+\.\d seconds").unwrap();
    let text = took.replace_all(&text, "it took SOME seconds");
    text.replace("**", "").replace("`one/", "`").trim_start().to_owned()
}

fn suite(checks: &[&str]) -> String {
    let checks: String = checks.iter().flat_map(|check| ["[[scenarios.checks]]\n", check, "\n"]).collect();
    format!(
        "[[scenarios]]\nid = \"one\"\ndescription = \"Write it\"\nsetup = [\"sh\", \"-c\", {START:?}]\n{checks}"
    )
}

/// Fills the workspace before the agent begins.
const START: &str = r#"echo '{"total": 3}' > o.json
echo '{"total": ' > half.json
awk 'BEGIN { for (n = 0; n < 150; n++) printf "["; for (n = 0; n < 150; n++) printf "]" }' > deep.json
head -c 5000000 /dev/zero | tr '\0' a > large.txt
cp large.txt large.json
printf 'the total is 3\n' > report.md"#;

#[test]
fn every_kind_of_check_on_what_was_left_passes_fails_or_cannot_be_told_and_says_why() {
    let scene = scene(&suite(&[
        "file = 'out.md'",
        "file = 'none.md'",
        "file = '*.json'\nat_most = 2",
        "pattern = 'done'",
        "pattern = 'begun'",
        "pattern = 'total is \\d'\nin = 'report.md'",
        "pattern = 'total'\nin = 'none.md'",
        "pattern = 'b'\nin = 'large.txt'",
        "pattern = 'x'\nin = 'transcript'",
        "json = 'o.json'\npointer = '/total'\nequals = 3",
        "json = 'o.json'\npointer = '/total'\nat_least = 4",
        "json = 'o.json'\npointer = '/sum'\nequals = 3",
        "json = 'half.json'\npointer = '/total'\nequals = 3",
        "json = 'deep.json'\npointer = '/0'\nequals = 3",
        "json = 'o.json'\nschema = { required = ['total'] }",
        "json = 'o.json'\nschema = { properties = { total = { type = 'string' } } }",
        "json = 'large.json'\nschema = { required = ['total'] }",
        "only_changes = ['out.md', 'manifest.json']",
        "only_changes = ['report.md']",
        "skill_used = true",
        "tool = 'Bash'",
        "before = 'Read'\nafter = 'Write'",
        "limit = 'tokens'\nat_most = 1200",
        "limit = 'tokens'\nat_most = 1199",
        "limit = 'seconds'\nat_most = 100",
        "limit = 'turns'\nat_most = 1",
        "command = ['grep', '-q', 'quality 40', 'out.md']",
        "command = ['sh', '-c', 'echo nothing here >&2; exit 3']",
        "command = ['sh', '-c', 'exit 3']\nexit = 3",
        "command = ['sh', '-c', 'kill -9 $$']",
        "command = ['./no-such-program']",
    ]));
    let ran = tune(&scene, &["1"]);
    let verdicts = verdicts(&scene);
    insta::assert_snapshot!(verdicts, @r##"
    pass `file-1`: out.md exists | out.md
    fail `file-2`: none.md exists | there is no such file
    fail `file-3`: \*.json occurs at most 2 times | deep.json, half.json, large.json and 2 more
    pass `pattern-1`: "done" occurs at least once in the agent's last message | the answer, line 1: done
    fail `pattern-2`: "begun" occurs at least once in the agent's last message | nothing was found in the answer
    pass `pattern-3`: "total is \\d" occurs at least once in report.md | report.md, line 1: the total is 3
    fail `pattern-4`: "total" occurs at least once in none.md | there is no such file
    unverified `pattern-5`: "b" occurs at least once in large.txt | large.txt is too large to be read: 5000000 bytes
    unverified `pattern-6`: "x" occurs at least once in the agent's transcript | the agent does not report what it did
    pass `json-1`: /total in o.json is 3 | o.json: the value is 3
    fail `json-2`: /total in o.json is at least 4 | o.json: the value is 3
    fail `json-3`: /sum in o.json is 3 | o.json has no such value
    fail `json-4`: /total in half.json is 3 | half.json is not valid JSON: line 2, column 0
    unverified `json-5`: /0 in deep.json is 3 | deep.json is nested too deeply to be read
    pass `schema-1`: o.json matches its schema | o.json matches the schema
    fail `schema-2`: o.json matches its schema | o.json does not match the schema: /total is 3
    unverified `schema-3`: large.json matches its schema | large.json is too large to be read: 5000000 bytes
    pass `only-changes-1`: only out.md, manifest.json is created, changed or removed | touched: out.md
    fail `only-changes-2`: only report.md is created, changed or removed | other files were touched: out.md
    unverified `skill-used-1`: the skill is used | the agent does not report whether it used the skill
    unverified `tool-1`: Bash is called at least once | the agent does not report what it did
    unverified `order-1`: Read is called before Write | the agent does not report what it did
    pass `limit-1`: it takes at most 1200 tokens | it took 1200 tokens
    fail `limit-2`: it takes at most 1199 tokens | it took 1200 tokens
    pass `limit-3`: it takes at most 100 seconds | it took SOME seconds
    unverified `limit-4`: it takes at most 1 turns | the number of turns is unknown
    pass `command-1`: grep -q "quality 40" out.md succeeds | exit code 0
    fail `command-2`: sh -c "echo nothing here >&2; exit 3" succeeds | exit code 3: nothing here
    pass `command-3`: sh -c "exit 3" ends with exit code 3 | exit code 3
    unverified `command-4`: sh -c "kill -9 $$" succeeds | ended by signal 9
    unverified `command-5`: ./no-such-program succeeds | cannot start ./no-such-program: No such file or directory (os error 2)
    "##);
    assert!(ran.stderr.contains("  unverified (1"), "{ran:?}");
    assert_left_nothing(&scene, "checks of every kind");
}

/// The scripted agent plays claude, which reports what it does; one call is stored only in part.
#[test]
fn every_kind_of_check_on_what_the_agent_did_passes_fails_or_cannot_be_told() {
    let scene = Scene::empty();
    scene.write_skill("writer", 40);
    scene.write_script(&json!({}));
    fs::create_dir(scene.path("bin")).unwrap();
    symlink(FAKE_AGENT, scene.path("bin/claude")).unwrap();
    let call = |name: &str, input: Value| {
        let call = json!({ "type": "tool_use", "id": name, "name": name, "input": input });
        json!({ "type": "assistant", "message": { "model": "scripted", "content": [call] } })
    };
    let does = [
        call("Bash", json!({ "command": "python fill.py", "why": "x".repeat(5_000) })),
        call("Write", json!({ "file_path": "out.md" })),
    ];
    let stage = json!({ "script": scene.path("script.json"), "uses_skill": true, "does": does });
    fs::write(scene.path("bin/wrapped.json"), stage.to_string()).unwrap();
    // Confinement would prevent the scripted agent's log of its calls.
    fs::write(scene.path("config/skilltune/skilltune.toml"), "[limits]\nconfine = false\n").unwrap();
    let checks = [
        "skill_used = true",
        "skill_used = false",
        "tool = 'Write'",
        "tool = 'Bash'\ninput = 'fill'\ntimes = 0",
        "tool = 'Bash'\ninput = 'zebra'",
        "before = 'Bash'\nafter = 'Write'",
        "before = 'Write'\nafter = { tool = 'Bash', input = 'fill' }",
        "before = { tool = 'Bash', input = 'zebra' }\nafter = 'Write'",
        "pattern = 'fill'\nin = 'transcript'",
        "pattern = 'fill'\nin = 'transcript'\ntimes = 0",
        "pattern = 'zebra'\nin = 'transcript'",
    ];
    fs::write(scene.path("project/suite.toml"), suite(&checks)).unwrap();
    let mut command = scene.command(&[&TUNE[..], &["1", "--agent", "claude"]].concat());
    command.env("PATH", format!("{}:/usr/bin:/bin", scene.path("bin").display()));
    let ran = Ran::of(command.output().unwrap());
    assert!(scene.run_folder().join("iterations/iteration-1").exists(), "{ran:?}");
    insta::assert_snapshot!(verdicts(&scene), @r##"
    pass `skill-used-1`: the skill is used | the skill was used
    fail `skill-used-2`: the skill is not used | the skill was used
    pass `tool-1`: Write is called at least once | Write: out.md
    fail `tool-2`: Bash with "fill" is never called | Bash: python fill.py
    unverified `tool-3`: Bash with "zebra" is called at least once | there was no such call; but the transcript is incomplete
    pass `order-1`: Bash is called before Write | Bash: python fill.py, and then Write: out.md
    fail `order-2`: Write is called before Bash with "fill" | Bash: python fill.py came first
    unverified `order-3`: Bash with "zebra" is called before Write | the transcript is incomplete
    pass `pattern-1`: "fill" occurs at least once in the agent's transcript | a tool call, line 1: python fill.py
    fail `pattern-2`: "fill" is not in the agent's transcript | a tool call, line 1: python fill.py
    unverified `pattern-3`: "zebra" occurs at least once in the agent's transcript | nothing was found in the transcript; but the transcript is incomplete
    "##);
}

#[test]
fn a_round_of_which_nothing_could_be_told_says_what_that_was() {
    let scene = scene(&suite(&["tool = 'Bash'"]));
    let ran = tune(&scene, &["1"]);
    let line = "  unverified (1): one/tool-1: the agent does not report what it did\n";
    assert!(ran.code == Some(4) && ran.stderr.contains(line), "{ran:?}");
}

/// None of the programs outlives its timeout, writes outside its folder, or changes its own grader.
#[test]
fn a_program_of_a_check_that_hangs_writes_elsewhere_or_changes_itself_harms_nothing() {
    let scene = scene("");
    fs::create_dir(scene.path("project/graders")).unwrap();
    // It rewrites itself, and would pass if the new text were run again.
    let own = "#!/bin/sh\nprintf 'exit 0\\n' > \"$0\" && exit 1\n";
    fs::write(scene.path("project/graders/own.sh"), own).unwrap();
    let outside = scene.path("home/owned").display().to_string();
    let changing = "command = ['sh', '{grader}/own.sh']\ngrader = ['graders/own.sh']";
    let checks = [
        "command = ['sh', '-c', 'trap \"\" TERM; sleep 1000 & while :; do wait; done']".to_owned(),
        format!("command = ['sh', '-c', 'echo owned > {outside}']"),
        "command = ['sh', '-c', 'rm -f out.md; sleep 1000 >/dev/null 2>&1 &']".to_owned(),
        "command = ['cat', 'out.md']".to_owned(),
        changing.to_owned(),
    ];
    let checks: Vec<&str> = checks.iter().map(String::as_str).collect();
    let again =
        format!("[[scenarios]]\nid = \"two\"\ndescription = \"Again\"\n[[scenarios.checks]]\n{changing}\n");
    fs::write(scene.path("project/suite.toml"), suite(&checks) + &again).unwrap();
    let ran = tune(&scene, &["1"]);
    let page = verdicts(&scene);
    let late = "unverified (1): one/command-1: it did not end within 6 seconds\n";
    assert!(
        page.contains("| it did not end within 6 seconds") && ran.stderr.contains(late),
        "{ran:?} {page}"
    );
    for told_of in ["unverified `command-1`", "pass `command-3`", "pass `command-4`"] {
        assert!(page.contains(told_of), "{told_of}: {page}");
    }
    assert!(page.contains("fail `command-5`") && page.contains("fail `two/command-1`"), "{page}");
    assert_eq!(fs::read_to_string(scene.path("project/graders/own.sh")).unwrap(), own);
    if can_confine() {
        assert!(page.contains("fail `command-2`") && page.contains("ermission denied"), "{page}");
        assert!(!fs::exists(&outside).unwrap(), "{page}");
    }
    assert_left_nothing(&scene, &format!("{ran:?}"));
}

#[test]
fn a_check_made_to_do_harm_is_refused_before_a_run_begins() {
    let scene = scene("");
    let refused = |check: &str| {
        fs::write(scene.path("project/suite.toml"), suite(&[check])).unwrap();
        let message = scene.refusal(&["tune", "writer", "--suite", "suite.toml", "--yes", "--trust"]);
        message.replace("error: /project/suite.toml: ", "")
    };
    fs::write(scene.path("project/remote.json"), r#"{"$ref": "http://example.com/s.json"}"#).unwrap();
    let refusals = [
        "file = '../../etc/passwd'",
        "pattern = 'root'\nin = '/etc/passwd'",
        "json = '../o.json'\npointer = '/a'\nequals = 1",
        "only_changes = ['../**']",
        "pattern = '((a{1000}){1000}){1000}'",
        "json = 'o.json'\nschema = { '$ref' = 'http://example.com/s.json' }",
        "json = 'o.json'\nschema = 'remote.json'",
        "json = 'o.json'\nschema = '../../etc/passwd'",
        "command = ['sh', '{grader}/x.sh']\ngrader = ['../../etc']",
        "command = []",
        "command = ['no-such-program', 'out.md']",
    ]
    .map(refused);
    insta::assert_snapshot!(refusals.concat(), @r##"
    check 1 of `one`: the path is outside the workspace; write it relative to the workspace, without `..`
    check 1 of `one`: the path is outside the workspace; write it relative to the workspace, without `..`
    check 1 of `one`: the path is outside the workspace; write it relative to the workspace, without `..`
    check 1 of `one`: the path is outside the workspace; write it relative to the workspace, without `..`
    check 1 of `one`: the pattern cannot be used: it is too large; write smaller counts than in `a{1000}`, or fewer of them
    check 1 of `one`: the schema refers to something outside itself; `$ref` must start with `#/`
    check 1 of `one`: the schema refers to something outside itself; `$ref` must start with `#/`
    check 1 of `one`: "../../etc/passwd" is outside the suite's folder
    check 1 of `one`: `grader`: "../../etc" is outside the suite's folder
    check 1 of `one`: `command` must be a list of a program and its arguments
    error: check `command-1` of `one` needs `no-such-program`, which is not installed
    "##);
}
