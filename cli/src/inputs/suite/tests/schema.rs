//! The schema of suite.toml against its reader.

use serde_json::Value;
use skilltune_phases::suites::checks::accepts;

use super::*;

fn is_valid(text: &str) -> bool {
    let schema: Value =
        serde_json::from_str(include_str!("../../../../../docs/schemas/suite.schema.json")).unwrap();
    let value = toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    accepts(&schema, &value)
}

fn is_read(text: &str) -> bool {
    Suite::read(&Folder::new(&[("suite.toml", text)]).path("suite.toml")).is_ok()
}

fn scenario(lines: &str) -> String {
    format!("[[scenarios]]\ndescription = 'a'\n{lines}\n")
}

fn check(lines: &str) -> String {
    scenario(&format!("[[scenarios.checks]]\n{lines}"))
}

const SCENARIOS: [&str; 29] = [
    "",
    "id = 'one-2_B'",
    "id = 'a b'",
    "id = ''",
    "prompt = 'b'",
    "requirements = ['r']\ninput_args = '-x'\nsuccess_criteria = 's'\nexpected = 'e'\ntags = ['t']",
    "requirements = 'r'",
    "draft = true\n[[scenarios]]\ndescription = 'b'",
    "held_out = true\ngit = true\ntools = 'shell'",
    "held_out = 'yes'",
    "tools = 'all'",
    "files = []",
    "files = 'a'",
    "setup = ['sh', 'setup.sh']\ncommand = ['sh', 'run.sh']",
    "setup = []",
    "command = []",
    "command = 'sh run.sh'",
    "expectations = ['It rhymes', { text = 'It is short', id = 'short', weight = 3, must_pass = true, member = 'm' }]",
    "expectations = [' ']",
    "expectations = [{ test = 'x' }]",
    "expectations = [{ text = '' }]",
    "expectations = [{ text = 'x', weight = 0 }]",
    "expectations = [{ text = 'x', weight = 1001 }]",
    "expectations = [{ text = 'x', weight = 1.5 }]",
    "expectations = [{ text = 'x', member = 'a/b' }]",
    "expectations = [{ text = 'x', id = 'é' }]",
    "expectations = [{ text = 'x', must_pass = 1 }]",
    "expectations = 'x'",
    "checks = [1]",
];

const CHECKS: [&str; 49] = [
    "file = 'report.md'",
    "file = '*.tmp'\ntimes = 0",
    "file = '*'\nat_least = 2\nat_most = 3\nid = 'x'\nweight = 2\nmust_pass = true\nmember = 'm'",
    "file = 'a'\ntimes = 1\nat_most = 2",
    "file = 'a'\nat_least = -3",
    "file = 'a'\ntimes = '1'",
    "file = 'a'\nweight = 0",
    "file = 'a'\nmember = 'a/b'",
    "file = 'a'\nid = 'a b'",
    "file = 'a'\npattern = 'b'",
    "file = 'a'\nin = 'b'",
    "file = ''",
    "fiel = 'a'",
    "id = 'x'",
    "pattern = '(?i)total'\nin = 'answer'\ntimes = 2",
    "pattern = '(?i)total'\nin = 'a/*.md'",
    "pattern = ''",
    "pattern = 1",
    "json = 'out.json'\npointer = '/total'\nequals = [1, 'a', true]",
    "json = 'out.json'\nequals = 1",
    "json = 'out.json'\npointer = '/total'\nat_least = 1.5",
    "json = 'out.json'\npointer = '/total'\nat_most = -2",
    "json = 'out.json'\nschema = { type = 'object', required = ['a'] }",
    "json = 'a'",
    "json = 'a'\nequals = 1\nat_most = 2",
    "json = 'a'\npointer = 'b'\nequals = 1",
    "json = 'a'\nat_least = '1'",
    "json = 'a'\nschema = 1",
    "json = 'a'\nschema = {}\npointer = '/a'",
    "only_changes = ['a.md', 'b/**']",
    "only_changes = 'a.md'",
    "skill_used = false",
    "skill_used = 'no'",
    "tool = 'Bash'\ninput = 'pytest'",
    "tool = 'Bash'\nat_most = 3",
    "tool = ''",
    "tool = 'Bash'\ninput = 1",
    "before = 'Read'\nafter = { tool = 'Write', input = 'out' }",
    "before = 'a'",
    "after = 'a'",
    "before = 'a'\nafter = { name = 'b' }",
    "limit = 'tokens'\nat_most = 5",
    "limit = 'turns'\nat_most = 0",
    "limit = 'tokens'",
    "limit = 'money'\nat_most = 1",
    "command = ['python3', '-m', 'pytest']\nexit = 5",
    "command = []",
    "command = ['sh']\nexit = 256",
    "command = ['sh']\ntimes = 1",
];

#[test]
fn what_the_reader_refuses_by_form_the_schema_refuses_too_and_nothing_else() {
    let whole =
        ["", "scenarios = []", "[[scenarios]]\nid = 'a'", "[[scenarios]]\ndescription = ' '", "[suite]"];
    let texts = whole.map(str::to_owned).into_iter();
    for text in texts.chain(SCENARIOS.map(scenario)).chain(CHECKS.map(check)) {
        assert_eq!(is_valid(&text), is_read(&text), "{text}");
    }
}

#[test]
fn what_needs_other_files_or_a_regex_engine_is_left_to_the_reader() {
    let twice = scenario("id = 'a'").repeat(2);
    let texts = ["files = ['a.csv']"].map(scenario).into_iter().chain([twice]);
    let checks = [
        "pattern = '('",
        "pattern = 'a*'",
        "file = '../x'",
        "file = 'a'\nat_least = 3\nat_most = 2",
        "command = ['sh', '{grader}/a.sh']",
        "json = 'a'\nschema = 'b.json'",
    ];
    for text in texts.chain(checks.map(check)) {
        assert!(is_valid(&text) && !is_read(&text), "{text}");
    }
}
