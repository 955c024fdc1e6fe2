use skilltune_phases::suites::checks::{Text, Times, Tool};

use super::*;

const PROMPT: &str = "---\nname: Sum up\ntags: [sums]\nexpected_outcome: a table\nruns: 5\nmodel: big\n---\nSum up sales.csv\n";

/// Creates a case with this page and these graders.
fn folder(page: &str, graders: &[(&str, &str)]) -> Folder {
    let folder = Folder::new(&[("evals/sums/prompt.md", page)]);
    for (name, text) in graders {
        folder.write(&format!("evals/sums/graders/{name}"), text);
    }
    folder
}

fn demands(graders: &[(&str, &str)]) -> (Vec<Demand>, Vec<String>) {
    let suite = folder("Sum up sales.csv\n", graders).read("");
    assert_eq!(suite.format, Format::Plugin);
    (suite.scenarios[0].demands.clone(), notes(&suite))
}

fn refusal_of(page: &str, graders: &[(&str, &str)]) -> String {
    folder(page, graders).refusal("")
}

#[test]
fn a_case_is_a_page_with_graders() {
    let suite = folder(PROMPT, &[("shows.md", "---\ntype: llm\n---\nIt shows a table\n")]).read("evals");
    let scenario = &suite.scenarios[0];
    assert_eq!((scenario.id.as_str(), scenario.description.as_str()), ("Sum-up", "Sum up sales.csv"));
    assert_eq!(scenario.expected.as_deref(), Some("a table"));
    assert_eq!(scenario.tags, ["sums".into()]);
    assert_eq!(questions(scenario), ["It shows a table"]);
    assert_eq!(ids(&scenario.demands), ["shows"]);
    assert_eq!(notes(&suite), ["Sum-up: `runs` is not converted", "Sum-up: `model` is not converted"]);
}

#[test]
fn every_grader_that_can_be_had_is_had() {
    let pattern = |pattern: &str, of, times| Check::Pattern { pattern: pattern.into(), of, times };
    let tool = |name: &str, input: Option<&str>| Tool { name: name.into(), input: input.map(Into::into) };
    let times = |min, max| Times { min, max };
    for (grader, check) in [
        ("type: regex\n---\n^Total", pattern("(?-m)^Total", Text::Answer, Times::ONCE_OR_MORE)),
        (
            "type: regex\nflags: i\nmatch: not_contains\ntarget: trace\n---\ntodo",
            pattern("(?i)todo", Text::Transcript, Times::NEVER),
        ),
        (
            "type: regex\nmatch: count:2\ntarget: {source: file, path: a.md}\n---\nx",
            pattern("x", Text::Files("a.md".into()), times(2, Some(2))),
        ),
        (
            "type: regex\nmatch: not_contains\ntarget: files\n---\nx",
            pattern("x", Text::Files("**".into()), Times::NEVER),
        ),
        ("type: regex\npattern: y\n---\n", pattern("y", Text::Answer, Times::ONCE_OR_MORE)),
        (
            "type: tool_used\ntool: Bash\ninput_match: pytest\n---\nwhy",
            Check::Tool { call: tool("Bash", Some("pytest")), times: Times::ONCE_OR_MORE },
        ),
        (
            "type: tool_used\ntool: Bash\nmin: 0\nmax: 0\n---\n",
            Check::Tool { call: tool("Bash", None), times: Times::NEVER },
        ),
        (
            "type: tool_used\ntool: Bash\nmax: 4\n---\n",
            Check::Tool { call: tool("Bash", None), times: times(1, Some(4)) },
        ),
        (
            "type: tool_order\nbefore: Read\nafter: {tool: Write, input_match: out}\n---\n",
            Check::ToolOrder { before: tool("Read", None), after: tool("Write", Some("out")) },
        ),
        (
            "type: file_exists\npath: out/*.md\n---\n",
            Check::File { path: "out/*.md".into(), times: Times::ONCE_OR_MORE },
        ),
        (
            "type: file_exists\npath: a\nexists: false\n---\n",
            Check::File { path: "a".into(), times: Times::NEVER },
        ),
    ] {
        let (demands, notes) = demands(&[("g.md", &format!("---\n{grader}\n"))]);
        assert_eq!(demands[0].how.check(), Some(&check), "{grader}");
        assert_eq!(notes, [""; 0], "{grader}");
    }
}

#[test]
fn what_is_lost_of_graders_is_noted() {
    for (grader, note) in [
        ("no front matter", "sums: graders/g.md is skipped: it has no front matter"),
        (
            "---\ntype: baseline\nbaseline_file: a.jsonl\n---\n",
            "sums: the grader g (baseline) is not converted: it compares with a recording",
        ),
        (
            "---\ntype: regex\ntarget: mock_calls\n---\nx",
            "sums: the grader g (regex) is not converted: skilltune has no mocks",
        ),
        (
            "---\ntype: regex\ntarget: files\n---\nx",
            "sums: the grader g (regex) is not converted: it searches all files: name one file",
        ),
        (
            "---\ntype: regex\n---\n(?<![a])x",
            "sums: the grader g (regex) is not converted: its pattern uses lookahead or lookbehind, which is not supported",
        ),
    ] {
        let (demands, notes) = demands(&[("g.md", grader)]);
        assert!(demands.is_empty());
        assert_eq!(notes, [note, "sums: none of its graders can be used"], "{grader}");
    }
    let (none, notes) = demands(&[("g.md", "---\ntype: file_exists\npath: /etc/passwd\n---\n")]);
    assert!(none.is_empty());
    assert!(
        notes[0].starts_with("sums: a file check is not converted: the path is outside the workspace"),
        "{notes:?}"
    );
    let (demands, notes) = demands(&[("g.md", "---\ntype: tool_used\ntool: Bash\nmax: 0\n---\n")]);
    assert!(matches!(demands[0].how.check(), Some(Check::Tool { times: Times::NEVER, .. })));
    assert!(notes[0].contains("is read with `min: 0`"), "{notes:?}");
}

#[test]
fn weights_keep_their_proportions() {
    let weighing = |weight: &str| format!("---\ntype: llm\nweight: {weight}\n---\nx\n");
    let (demands, notes) = demands(&[
        ("a.md", &weighing("0.5")),
        ("b.md", &weighing("2")),
        ("c.md", "---\ntype: llm\n---\nx\n"),
    ]);
    assert_eq!(demands.iter().map(|demand| demand.weight).collect::<Vec<_>>(), [5, 20, 10]);
    assert_eq!(notes, [""; 0]);
}

#[test]
fn where_the_format_is_strict_so_is_the_reader() {
    let llm = [("g.md", "---\ntype: llm\n---\nx")];
    for (page, graders, why) in [
        ("---\nnmae: x\n---\nprompt", &llm[..], "evals/sums/prompt.md: unknown key `nmae`"),
        ("---\nname: [\n---\nprompt", &llm, "evals/sums/prompt.md: line"),
        ("---\nname: x\nprompt", &llm, "evals/sums/prompt.md: front matter has no closing `---` line"),
        ("prompt", &[("g.md", "---\ntype: llm\nwieght: 2\n---\nx")], "graders/g.md: unknown key `wieght`"),
        (
            "prompt",
            &[("g.md", "---\ntype: llm\nweight: 0\n---\nx")],
            "graders/g.md: `weight` must be more than 0",
        ),
        ("prompt", &[("g.md", "---\ntype: shell\n---\nx")], "graders/g.md: unknown type `shell`"),
        ("prompt", &[("g.md", "---\nweight: 1\n---\nx")], "graders/g.md: `type` is missing"),
        ("prompt", &[("g.md", "---\ntype: llm\n---\n")], "graders/g.md: `criteria` is missing"),
        ("prompt", &[("g.md", "---\ntype: regex\nmatch: often\n---\nx")], "`match` must be `contains`"),
    ] {
        let refusal = refusal_of(page, graders);
        assert!(refusal.contains(why), "{refusal}");
    }
}

const SHEET: &str = "schema_version: '1.0'\nname: from-sheet\nexecution:\n  prompt: Sum it up\n  max_turns: 4\ncontext:\n  \
scaffold_script: setup.sh\n  history_file: h.jsonl\ngraders:\n  - {name: shows, type: llm, criteria: It shows}\n";

#[test]
fn a_sheet_is_a_case_too_and_the_page_wins_over_it() {
    let folder = Folder::new(&[("a/case.yaml", SHEET)]);
    let suite = folder.read("");
    assert_eq!(
        (suite.drafts[0].id.as_str(), suite.drafts[0].description.as_str()),
        ("from-sheet", "Sum it up")
    );
    assert_eq!(questions(&suite.drafts[0]), ["It shows"]);
    assert_eq!(
        notes(&suite),
        [
            "from-sheet: `max_turns` is not converted",
            "from-sheet: `scaffold_script` is not converted: use a `setup` command in suite.toml",
            "from-sheet: `history_file` is not converted: the task begins with its prompt",
            "from-sheet: a draft: not counted, because part of its task is missing",
        ]
    );
    assert!(suite.programs().is_empty(), "nothing of it runs");
    folder.write("a/prompt.md", "Sum it up well");
    folder.write("a/graders/adds.md", "---\ntype: llm\n---\nIt adds");
    let both = folder.read("");
    assert_eq!(both.drafts[0].description, "Sum it up well");
    assert_eq!(questions(&both.drafts[0]), ["It adds", "It shows"]);
    for (sheet, why) in [
        (SHEET.replace("'1.0'", "2"), "a/case.yaml: `schema_version` 2 is newer than 1"),
        (SHEET.replace("name: from-sheet\n", ""), "a/case.yaml: `name` is missing"),
        (SHEET.replace("shows", "adds"), "a/case.yaml: graders: duplicate grader name `adds`"),
    ] {
        folder.write("a/case.yaml", sheet);
        assert_eq!(folder.refusal(""), why);
    }
}

#[test]
fn cases_are_found_below_but_not_in_results_and_not_through_links() {
    let folder = Folder::new(&[
        ("evals/a/prompt.md", "a"),
        ("evals/a/deep/prompt.md", "b"),
        ("evals/results/prompt.md", "c"),
        ("evals/node_modules/x/prompt.md", "d"),
        ("evals/a/graders/prompt.md", "e"),
        ("evals/mocks/prompt.md", "f"),
    ]);
    let elsewhere = Folder::new(&[("x/prompt.md", "g")]);
    std::os::unix::fs::symlink(elsewhere.path("x"), folder.path("evals/link")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path("x/prompt.md"), folder.path("evals/a/case.yaml")).unwrap();
    let refusal = folder.refusal("");
    assert!(refusal.starts_with("evals/a/case.yaml: "), "{refusal}");
    fs::remove_file(folder.path("evals/a/case.yaml")).unwrap();
    let suite = folder.read("");
    assert_eq!(suite.scenarios.iter().map(|one| one.description.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(Folder::new(&[("README.md", "")]).refusal(""), "no suite in this folder");
}
