use serde_json::json;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::suites::checks::{Comparison, Cost, Text, Times, Tool};

use super::*;
use crate::trust::TrustStore;

fn toml(text: &str) -> Suite {
    read("suite.toml", text)
}

fn refusal_of(text: &str) -> String {
    refusal("suite.toml", text)
}

#[test]
fn every_scenario_of_the_file_is_read_with_its_defaults() {
    let suite = toml(
        "[[scenarios]]\ndescription = 'one'\n[[scenarios]]\nid = 'two'\ndescription = 'b'\n\
         requirements = ['r']\ncommand = ['sh', 'run.sh']\n",
    );
    assert_eq!(suite.scenarios[0], Scenario::new(numbered(1), "one"));
    assert_eq!(suite.scenarios[1].id, "two");
    assert_eq!(suite.scenarios[1].requirements, ["r"]);
    assert_eq!(suite.programs(), ["sh"]);
    assert_eq!((suite.format, suite.notes.len()), (Format::Toml, 0));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    assert_eq!(refusal_of(""), "suite.toml: no scenarios");
    let unknown = refusal_of("[[scenarios]]\ndescription = 'a'\nprompt = 'b'\n");
    assert!(unknown.contains("line 3: unknown field `prompt`"), "{unknown}");
    let misspelt = meant("line 3: unknown field `descripton`, expected one of `id`, `description`, `tags`");
    assert_eq!(misspelt.as_deref(), Some("did you mean `description`?"));
    assert_eq!(meant(&unknown), None);
    let twice = "[[scenarios]]\nid = 'a'\ndescription = 'a'\n".repeat(2);
    assert!(refusal_of(&twice).ends_with("duplicate scenario id `a`"));
    for id in ["../x", "a b", "", "é"] {
        let refusal = refusal_of(&format!("[[scenarios]]\nid = '{id}'\ndescription = 'a'\n"));
        assert!(refusal.contains("invalid id"), "{id}");
    }
    assert!(
        refusal_of("[[scenarios]]\ndescription = 'a'\ncommand = []\n")
            .contains("must be a list of a program")
    );
    assert!(
        refusal_of("[[scenarios]]\ndescription = ' '\n")
            .ends_with("the description of `scenario-1` is empty")
    );
    assert!(
        refusal_of("[[scenarios]]\ndescription = 'a\n").contains("line 2"),
        "half a file is told as what it was to be"
    );
}

#[test]
fn a_missing_file_is_named() {
    let missing = Suite::read(Path::new("/nowhere/suite.toml")).unwrap_err().what;
    assert_eq!(missing, "suite /nowhere/suite.toml does not exist");
}

/// Reads one scenario with these lines.
fn scenario(lines: &str) -> Scenario {
    toml(&format!("[[scenarios]]\ndescription = 'a'\n{lines}")).scenarios.remove(0)
}

#[test]
fn what_only_judges_and_searches_know_is_read() {
    let read = scenario("expected = 'a table'\ntags = ['x', 'y']\nheld_out = true\n");
    assert_eq!(read.expected.as_deref(), Some("a table"));
    assert_eq!(read.tags, ["x".into(), "y".into()]);
    assert!(read.held_out);
    let suite =
        toml("[[scenarios]]\ndescription = 'a'\n[[scenarios]]\nid = 'b'\ndescription = 'b'\ndraft = true\n");
    assert_eq!((suite.scenarios.len(), suite.drafts[0].id.as_str()), (1, "b"));
    assert_eq!(notes(&suite), ["b: a draft: not counted until `draft = true` is removed"]);
}

#[test]
fn expectations_are_texts_or_tables() {
    let read = scenario(
        "expectations = ['It rhymes', { text = 'It is short', id = 'short', weight = 3, must_pass = true, member = 'm' }]",
    );
    assert_eq!(questions(&read), ["It rhymes", "It is short"]);
    assert_eq!(ids(&read.demands), ["expectation-1", "short"]);
    let short = &read.demands[1];
    assert_eq!((short.weight, short.must_pass, short.member.as_deref()), (3, true, Some("m")));
    let refusal = refusal_of("[[scenarios]]\ndescription = 'a'\nexpectations = [{ test = 'x' }]\n");
    assert!(refusal.contains("line 3: an expectation is a text, or a table with `text`"), "{refusal}");
}

/// Reads the check with these lines.
fn check(lines: &str) -> Check {
    let scenario = scenario(&format!("[[scenarios.checks]]\n{lines}"));
    checks(&scenario)[0].clone()
}

fn tool(name: &str, input: Option<&str>) -> Tool {
    Tool { name: name.into(), input: input.map(Into::into) }
}

#[test]
fn every_kind_of_check_can_be_said() {
    let pattern = |of, times| Check::Pattern { pattern: "(?i)total".into(), of, times };
    let json = |is| Check::Json { path: "out.json".into(), pointer: "/total".into(), is };
    let times = |min, max| Times { min, max };
    let cases = [
        ("file = 'report.md'", Check::File { path: "report.md".into(), times: Times::ONCE_OR_MORE }),
        ("file = '*.tmp'\ntimes = 0", Check::File { path: "*.tmp".into(), times: Times::NEVER }),
        ("file = '*'\nat_least = 2\nat_most = 3", Check::File { path: "*".into(), times: times(2, Some(3)) }),
        ("pattern = '(?i)total'", pattern(Text::Answer, Times::ONCE_OR_MORE)),
        ("pattern = '(?i)total'\nin = 'answer'\ntimes = 2", pattern(Text::Answer, times(2, Some(2)))),
        (
            "pattern = '(?i)total'\nin = 'transcript'\nat_most = 4",
            pattern(Text::Transcript, times(0, Some(4))),
        ),
        ("pattern = '(?i)total'\nin = 'a/*.md'", pattern(Text::Files("a/*.md".into()), Times::ONCE_OR_MORE)),
        (
            "pattern = '(?i)total'\nin = './answer'",
            pattern(Text::Files("answer".into()), Times::ONCE_OR_MORE),
        ),
        (
            "json = 'out.json'\npointer = '/total'\nequals = [1, 'a', true]",
            json(Comparison::Equals(json!([1, "a", true]))),
        ),
        (
            "json = 'out.json'\npointer = '/total'\nat_least = 1.5",
            json(Comparison::AtLeast(serde_json::Number::from_f64(1.5).unwrap())),
        ),
        ("json = 'out.json'\npointer = '/total'\nat_most = -2", json(Comparison::AtMost((-2).into()))),
        (
            "json = 'out.json'\nschema = { type = 'object', required = ['a'] }",
            Check::Schema { path: "out.json".into(), schema: json!({"type": "object", "required": ["a"]}) },
        ),
        ("only_changes = ['a.md', 'b/**']", Check::Touches { only: vec!["a.md".into(), "b/**".into()] }),
        ("skill_used = false", Check::Skill { used: false }),
        (
            "tool = 'Bash'\ninput = 'pytest'",
            Check::Tool { call: tool("Bash", Some("pytest")), times: Times::ONCE_OR_MORE },
        ),
        ("tool = 'Bash'\nat_most = 3", Check::Tool { call: tool("Bash", None), times: times(0, Some(3)) }),
        (
            "before = 'Read'\nafter = { tool = 'Write', input = 'out' }",
            Check::ToolOrder { before: tool("Read", None), after: tool("Write", Some("out")) },
        ),
        ("limit = 'tokens'\nat_most = 5", Check::AtMost { of: Cost::Tokens, most: 5 }),
        ("limit = 'turns'\nat_most = 5", Check::AtMost { of: Cost::Turns, most: 5 }),
        (
            "command = ['python3', '-m', 'pytest']\nexit = 5",
            Check::Command {
                argv: ["python3", "-m", "pytest"].map(str::to_owned).to_vec(),
                exit: 5,
                expected: "".into(),
                grader: None,
            },
        ),
    ];
    for (lines, expected) in cases {
        assert_eq!(check(lines), expected, "{lines}");
    }
}

#[test]
fn a_check_that_makes_no_sense_is_told_with_its_number() {
    let check_refusal = |lines: &str| {
        refusal_of(&format!("[[scenarios]]\ndescription = 'a'\n[[scenarios.checks]]\n{lines}\n"))
    };
    for (lines, why) in [
        ("id = 'x'", "check 1 of `scenario-1`: it needs one of `file`, `pattern`, `json`,"),
        ("file = 'a'\npattern = 'b'", "`file` and `pattern` cannot be in one check"),
        ("file = 'a'\nin = 'b'", "`in` cannot be used with `file`"),
        ("file = 'a'\ntimes = 1\nat_most = 2", "`times` is exact: leave out `at_least` and `at_most`"),
        ("file = 'a'\nat_least = 3\nat_most = 2", "`at_least` is more than `at_most`"),
        ("file = 'a'\nat_least = -3", "`at_least` must be a whole number, 0 or more"),
        ("file = 'a'\nweight = 0", "`weight` must be a whole number from 1 to 1000"),
        ("file = 'a'\nmember = '../b'", "is not a valid name"),
        ("file = 'a'\nid = 'a b'", "invalid id `a b`"),
        ("before = 'a'", "`after` is missing"),
        ("after = 'a'", "it needs one of"),
        ("limit = 'tokens'", "`at_most` is missing"),
        ("limit = 'money'\nat_most = 1", "line 4: unknown variant `money`"),
        ("json = 'a'", "needs `schema`, or one of `equals`, `at_least` and `at_most`"),
        ("json = 'a'\npointer = 'b'\nequals = 1", "`pointer` must begin with `/`"),
        ("json = 'a'\nequals = 2024-01-01", "JSON has no dates"),
        ("json = 'a'\nequals = nan", "JSON has no infinite numbers"),
        ("json = 'a'\nschema = '../b.json'", "is outside the suite's folder"),
        ("json = 'a'\nschema = 'b.json'", "\"b.json\" does not exist below the suite's folder"),
        ("command = []", "`command` must be a list of a program and its arguments"),
        ("command = ['sh', '{grader}/a.sh']", "`{grader}` needs `grader = [...]`"),
        ("command = ['sh']\ngrader = ['suite.toml']", "`grader` is never used"),
        ("command = ['sh', '{grader}']\ngrader = ['/etc']", "`grader`: \"/etc\" is outside"),
        (
            "file = 'a'\nid = 'x'\n[[scenarios.checks]]\npattern = 'a'\nid = 'x'",
            "duplicate id `x` in `scenario-1`: a file and a pattern",
        ),
        ("fiel = 'a'", "line 4: unknown field `fiel`"),
        ("file = '../x'", "check 1 of `scenario-1`: the path is outside the workspace"),
        ("pattern = '('", "check 1 of `scenario-1`: the pattern cannot be used"),
        ("pattern = 'a*'", "check 1 of `scenario-1`: the pattern matches even an empty text"),
    ] {
        let refusal = check_refusal(lines);
        assert!(refusal.contains(why), "{lines}: {refusal}");
    }
}

#[test]
fn a_schema_beside_the_suite_is_read_with_it() {
    let text =
        "[[scenarios]]\ndescription = 'a'\n[[scenarios.checks]]\njson = 'a.json'\nschema = 's/a.json'\n";
    let folder = Folder::new(&[("suite.toml", text), ("s/a.json", "{\"type\": \"array\"}")]);
    let suite = folder.read("suite.toml");
    assert_eq!(
        checks(&suite.scenarios[0]),
        [&Check::Schema { path: "a.json".into(), schema: json!({"type": "array"}) }]
    );
    folder.write("s/a.json", "{");
    assert!(folder.refusal("suite.toml").contains("the schema \"s/a.json\" is not valid JSON"));
}

const GRADED: &str = "[[scenarios]]\ndescription = 'a'\n[[scenarios.checks]]\ncommand = ['sh', '{grader}/graders/a.sh']\ngrader = ['graders']\n";

#[test]
fn a_grader_is_gathered_and_trusted_as_it_was_read() {
    let folder = Folder::new(&[("suite.toml", GRADED), ("graders/a.sh", "true"), ("graders/lib/b.sh", "")]);
    let suite = folder.read("suite.toml");
    assert_eq!(suite.programs(), ["sh"]);
    let env = Environment::fake(folder.path("home"), &[]);
    let pinned = suite.scripts(&env).unwrap();
    assert_eq!(pinned.iter().map(|file| &file.path).collect::<Vec<_>>(), [&folder.path("graders")]);
    let store = TrustStore::new(&env);
    store.record(suite.file.as_ref().unwrap(), &pinned).unwrap();
    let trusts = || {
        let suite = folder.read("suite.toml");
        store.trusts(suite.file.as_ref().unwrap(), &suite.scripts(&env).unwrap()).unwrap()
    };
    assert!(trusts());

    let store_of_run = Objects::at(folder.path("objects"));
    let gathered = suite.starts.scenarios(&suite.scenarios, &store_of_run).unwrap();
    let [Check::Command { grader: Some(tree), .. }] = checks(&gathered[0])[..] else {
        panic!("{gathered:?}")
    };
    let names: Vec<String> =
        store_of_run.manifest(*tree).unwrap().entries().iter().map(|entry| entry.path.to_string()).collect();
    assert_eq!(names, ["graders", "graders/a.sh", "graders/lib", "graders/lib/b.sh"]);

    for (name, text) in [("graders/lib/b.sh", "rm -rf ~"), ("graders/new.sh", "")] {
        folder.write(name, text);
        assert!(!trusts(), "{name}");
        let refused = suite.starts.scenarios(&suite.scenarios, &store_of_run).unwrap_err();
        assert_eq!(
            refused.what,
            "`grader` of check `command-1` of scenario `scenario-1` changed after it was read"
        );
    }
}
