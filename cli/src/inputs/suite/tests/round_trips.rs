use super::*;

/// Every feature of a `suite.toml`.
const ALL: &str = r#"
[[scenarios]]
id = "monthly"
description = """
Write the report of March,
with "all" sums\t"""
requirements = ["It names the best month"]
input_args = "--month 3"
success_criteria = "The sums are right"
expected = "A table of sums"
tags = ["sums", "long"]
held_out = true
files = ["cases/sales.csv", "templates"]
setup = ["python3", "clean.py"]
git = true
command = ["sh", "run.sh"]
tools = "shell"
expectations = [
  "It is short",
  { text = "It \"sums\"", id = "sums", weight = 3, must_pass = true, member = "writer" },
]

[[scenarios.checks]]
file = "report.md"

[[scenarios.checks]]
id = "no-rest"
file = "*.tmp"
times = 0
weight = 2

[[scenarios.checks]]
file = "*.md"
at_least = 2
at_most = 3
must_pass = true

[[scenarios.checks]]
pattern = '(?i)total \d+'
in = "report.md"

[[scenarios.checks]]
pattern = "^Done$"
at_most = 4

[[scenarios.checks]]
pattern = "x"
in = "./answer"
times = 2

[[scenarios.checks]]
pattern = "y"
in = "transcript"
times = 0

[[scenarios.checks]]
json = "out.json"
pointer = "/a/0"
equals = [1, "a", 1.5, { b = true }]

[[scenarios.checks]]
json = "out.json"
at_least = 2

[[scenarios.checks]]
json = "out.json"
pointer = "/a"
at_most = 2.5

[[scenarios.checks]]
json = "out.json"
schema = { type = "object", required = ["a"] }

[[scenarios.checks]]
only_changes = ["report.md", "data/**"]

[[scenarios.checks]]
skill_used = true

[[scenarios.checks]]
tool = "Bash"
input = "pytest"
at_least = 2
member = "writer"

[[scenarios.checks]]
before = "Read"
after = { tool = "Write", input = "report" }

[[scenarios.checks]]
limit = "tokens"
at_most = 50000

[[scenarios.checks]]
limit = "seconds"
at_most = 60

[[scenarios.checks]]
command = ["python3", "{grader}/check.py"]
exit = 3
grader = ["graders/check.py"]

[[scenarios]]
id = "later"
description = "Write it all"
draft = true
"#;

fn folder(text: &str) -> Folder {
    Folder::new(&[
        ("suite.toml", text),
        ("cases/sales.csv", ""),
        ("templates/a.md", ""),
        ("graders/check.py", ""),
    ])
}

/// Writes a suite in a format and reads it again; also returns what was lost.
fn through(folder: &Folder, from: &Suite, format: Format) -> (Suite, Vec<String>) {
    let name = match format {
        Format::Toml => "again.toml",
        Format::Evals => "again.json",
        Format::Triggers => "queries.json",
        Format::Plugin => "again",
        Format::Promptfoo => "again.yaml",
    };
    let written = from.written(format, &folder.path(name));
    for (path, text) in &written.files {
        folder.write(&if path.is_empty() { name.to_owned() } else { format!("{name}/{path}") }, text);
    }
    let read = folder.read(name);
    assert_eq!(read.format, format);
    (read, written.lost.iter().map(ToString::to_string).collect())
}

fn brought(suite: &Suite) -> Vec<String> {
    let full = |path: &skilltune_orchestrator::snapshot::RelPath| {
        suite.starts.base().join(path.as_path()).display().to_string()
    };
    let all = suite.scenarios.iter().chain(&suite.drafts);
    all.flat_map(|one| {
        let graders = one.demands.iter().flat_map(|demand| suite.starts.grader(&one.id, &demand.id));
        suite
            .starts
            .of(&one.id)
            .iter()
            .map(|brought| &brought.from)
            .chain(graders)
            .map(full)
            .collect::<Vec<_>>()
    })
    .collect()
}

#[test]
fn our_own_format_loses_nothing() {
    let folder = folder(ALL);
    let suite = folder.read("suite.toml");
    let (again, lost) = through(&folder, &suite, Format::Toml);
    assert_eq!(lost, [""; 0]);
    assert_eq!(again.scenarios, suite.scenarios);
    assert_eq!(again.drafts, suite.drafts);
    assert_eq!(brought(&again), brought(&suite));
    assert_eq!(brought(&suite).len(), 3);
    // In another folder, files outside of it are lost, and the report says so.
    fs::create_dir(folder.path("deep")).unwrap();
    let lost = suite.written(Format::Toml, &folder.path("deep/suite.toml")).lost;
    assert_eq!(lost.len(), 3);
    assert_eq!(
        lost[0].to_string(),
        "monthly: cases/sales.csv is not converted: it is outside the folder of the new suite"
    );
}

/// Returns the part that each format can express.
fn kept(format: Format) -> &'static str {
    match format {
        Format::Toml => ALL,
        Format::Evals => {
            "id = '7'\ndescription = 'Sum up sales.csv'\nexpected = 'a table'\ntags = ['t']\nfiles = ['cases/sales.csv']\n\
             expectations = ['It is short', 'It sums']\n[[scenarios]]\nid = '8'\ndescription = 'Sum'\nexpected = 'a sum'\n\
             expectations = ['The result is what the expected output describes.']\n"
        }
        Format::Triggers => {
            "id = 'a'\ndescription = 'Sum up'\ntags = ['t']\nchecks = [{ skill_used = true }]\n\
             [[scenarios]]\nid = 'b'\ndescription = 'Sing'\nchecks = [{ skill_used = false }]\n"
        }
        Format::Plugin => {
            "id = 'a'\ndescription = 'Sum up'\ntags = ['t']\nexpected = 'a table'\nexpectations = [{ text = 'It sums', id = 'sums', weight = 2 }]\n\
             checks = [{ id = 'a1', pattern = '(?i)total' }, { id = 'b', pattern = '^x$', times = 0 }, { id = 'c', pattern = 'x', in = 'a.md', times = 2 },\
             { id = 'd', pattern = 'x', in = 'transcript' }, { id = 'e', file = '*.md' }, { id = 'f', file = 'b', times = 0 },\
             { id = 'g', tool = 'Bash', input = 'x', at_most = 3 }, { id = 'h', before = 'Read', after = { tool = 'Write', input = 'y' } },\
             { id = 'i', skill_used = true }]\n"
        }
        Format::Promptfoo => {
            "id = 'a'\ndescription = 'Sum up'\ntags = ['t']\nexpectations = [{ text = 'It sums', id = 'sums', weight = 2 }]\n\
             checks = [{ pattern = '(?i)a\\.b', id = 'ab' }, { pattern = 'x', times = 0 }, { pattern = 'a+' }, { tool = 'Bash', at_most = 3 },\
             { before = 'Read', after = 'Write' }, { limit = 'seconds', at_most = 60 }, { limit = 'turns', at_most = 9 }, { skill_used = false }]\n"
        }
    }
}

#[test]
fn what_a_format_has_words_for_comes_back_as_it_was() {
    for format in [Format::Evals, Format::Triggers, Format::Plugin, Format::Promptfoo] {
        let folder = folder(&format!("[[scenarios]]\n{}", kept(format)));
        let suite = folder.read("suite.toml");
        let (other, lost) = through(&folder, &suite, format);
        assert_eq!(
            lost.iter().filter(|lost| !lost.contains("`providers`")).collect::<Vec<_>>(),
            [""; 0],
            "{format:?}"
        );
        let (again, lost) = through(&folder, &other, Format::Toml);
        assert_eq!(lost, [""; 0]);
        assert_eq!(brought(&again), brought(&suite), "{format:?}");
        let sorted = |suite: &Suite| {
            let mut scenarios = suite.scenarios.clone();
            for one in &mut scenarios {
                one.demands.sort_by(|a, b| a.id.cmp(&b.id));
            }
            scenarios
        };
        assert_eq!(sorted(&again), sorted(&suite), "{format:?}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "most of them are what is said")]
fn what_a_format_has_no_words_for_is_said_and_nothing_else_comes_back() {
    let folder = folder(ALL);
    let suite = folder.read("suite.toml");
    let round_trip = |format: Format| {
        let (again, lost) = through(&folder, &suite, format);
        let (before, after) = (&suite.scenarios[0].demands, &again.scenarios[0].demands);
        for demand in after {
            assert!(before.iter().any(|known| known.how == demand.how), "{format:?}: {demand:?}");
        }
        let lost = lost.join("\n  ");
        format!("{}: {} of {} demands\n  {lost}", format.name(), after.len(), before.len())
    };
    let formats = [Format::Evals, Format::Triggers, Format::Plugin, Format::Promptfoo];
    insta::assert_snapshot!(formats.map(round_trip).join("\n"), @r"
    evals.json: 3 of 20 demands
      later: a draft: it is left out
      monthly: `requirements` is not converted
      monthly: `input_args` is not converted
      monthly: `success_criteria` is not converted
      monthly: `held_out` is not converted
      monthly: `setup` is not converted
      monthly: `git` is not converted
      monthly: `command` is not converted
      monthly: `tools` is not converted
      monthly: cases/sales.csv is placed at cases/sales.csv instead of sales.csv
      monthly: file checks are not converted: evals.json has expectations only
      monthly: pattern checks are not converted: evals.json has expectations only
      monthly: json checks are not converted: evals.json has expectations only
      monthly: schema checks are not converted: evals.json has expectations only
      monthly: only-changes checks are not converted: evals.json has expectations only
      monthly: tool checks are not converted: evals.json has expectations only
      monthly: order checks are not converted: evals.json has expectations only
      monthly: limit checks are not converted: evals.json has expectations only
      monthly: command checks are not converted: evals.json has expectations only
      monthly: `weight` of demands is not converted
      monthly: `must_pass` of demands is not converted
      monthly: `member` of demands is not converted
      monthly: `id` of demands is not converted
    trigger set: 1 of 20 demands
      later: a draft: it is left out
      monthly: `requirements` is not converted
      monthly: `input_args` is not converted
      monthly: `success_criteria` is not converted
      monthly: `expected` is not converted
      monthly: `held_out` is not converted
      monthly: `files` is not converted
      monthly: `setup` is not converted
      monthly: `git` is not converted
      monthly: `command` is not converted
      monthly: `tools` is not converted
      monthly: file checks are not converted: a trigger set checks only skill use
      monthly: pattern checks are not converted: a trigger set checks only skill use
      monthly: json checks are not converted: a trigger set checks only skill use
      monthly: schema checks are not converted: a trigger set checks only skill use
      monthly: only-changes checks are not converted: a trigger set checks only skill use
      monthly: tool checks are not converted: a trigger set checks only skill use
      monthly: order checks are not converted: a trigger set checks only skill use
      monthly: limit checks are not converted: a trigger set checks only skill use
      monthly: command checks are not converted: a trigger set checks only skill use
      monthly: expectations are not converted: a trigger set checks only skill use
    claude plugin eval: 10 of 20 demands
      later: a draft: it is left out
      monthly: `requirements` is not converted
      monthly: `input_args` is not converted
      monthly: `success_criteria` is not converted
      monthly: `held_out` is not converted
      monthly: `files` is not converted
      monthly: `setup` is not converted
      monthly: `git` is not converted
      monthly: `command` is not converted
      monthly: `tools` is not converted
      monthly: file checks are not converted: claude plugin eval has no such bounds
      monthly: pattern checks are not converted: claude plugin eval has no such bounds
      monthly: json checks are not converted: claude plugin eval has no such grader
      monthly: schema checks are not converted: claude plugin eval has no such grader
      monthly: only-changes checks are not converted: claude plugin eval has no such grader
      monthly: `member` of demands is not converted
      monthly: limit checks are not converted: claude plugin eval has no such grader
      monthly: command checks are not converted: claude plugin eval has no such grader
      monthly: `must_pass` of demands is not converted
    promptfoo: 4 of 20 demands
      later: a draft: it is left out
      monthly: `requirements` is not converted
      monthly: `input_args` is not converted
      monthly: `success_criteria` is not converted
      monthly: `expected` is not converted
      monthly: `held_out` is not converted
      monthly: `files` is not converted
      monthly: `setup` is not converted
      monthly: `git` is not converted
      monthly: `command` is not converted
      monthly: `tools` is not converted
      monthly: file checks are not converted: promptfoo does not look at files
      monthly: pattern checks are not converted: promptfoo looks at the answer only
      monthly: pattern checks are not converted: promptfoo does not count matches
      monthly: json checks are not converted: promptfoo does not look at files
      monthly: schema checks are not converted: promptfoo does not look at files
      monthly: only-changes checks are not converted: promptfoo does not look at files
      monthly: tool checks are not converted: promptfoo has no pattern for the input of a tool
      monthly: order checks are not converted: promptfoo has no pattern for the input of a tool
      monthly: limit checks are not converted: promptfoo has no bound of tokens
      monthly: command checks are not converted: promptfoo runs no commands
      monthly: `must_pass` of demands is not converted
      monthly: `member` of demands is not converted
      `providers` is empty: add yours
    ");
}

#[test]
fn every_other_format_becomes_ours_without_loss() {
    let evals = r#"{"skill_name": "s", "evals": [{"id": 1, "prompt": "do", "expected_output": "x",
        "assertions": [{"id": "A", "text": "one"}, {"type": "contains", "path": "a.md", "value": "b"}], "should_trigger": true}]}"#;
    let foo = "prompts: ['{{q}}']\ntests:\n - vars: {q: do it}\n   assert: [{type: equals, value: a}, {type: not-regex, value: '^b', weight: 0.5}]\n";
    let folder = Folder::new(&[
        ("evals.json", evals),
        ("foo.yaml", foo),
        ("cases/a/prompt.md", "---\ntags: [x]\n---\nDo it"),
        ("cases/a/graders/g.md", "---\ntype: regex\nflags: i\n---\n^a"),
    ]);
    for name in ["evals.json", "foo.yaml", "cases"] {
        let suite = folder.read(name);
        let (again, lost) = through(&folder, &suite, Format::Toml);
        assert_eq!(lost, [""; 0]);
        let sorted = |suite: &Suite| {
            let mut demands = suite.scenarios[0].demands.clone();
            demands.sort_by(|a, b| a.id.cmp(&b.id));
            Scenario { demands, ..suite.scenarios[0].clone() }
        };
        assert_eq!(sorted(&again), sorted(&suite), "{name}");
    }
}
