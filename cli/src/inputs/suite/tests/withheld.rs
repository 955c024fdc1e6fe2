use skilltune_orchestrator::snapshot::Objects;

use super::*;
use crate::inputs::find::Skill;

const TASKS: &str = r#"{"id": "one", "prompt": "Name the port of the pump", "expected_output": "The port of the old pump is seven thousand and one."}"#;

fn suite(folder: &Folder) -> Suite {
    Suite::beside(&folder.path("skills/writer")).unwrap().unwrap()
}

fn ids(scenarios: &[Scenario]) -> Vec<&str> {
    scenarios.iter().map(|scenario| scenario.id.as_str()).collect()
}

fn note_lines(suite: &Suite) -> Vec<String> {
    suite.notes.iter().map(Note::to_string).collect()
}

/// Returns the paths that the trials of the first scenario get.
fn placed(suite: &Suite, folder: &Folder) -> Vec<String> {
    let objects = Objects::at(folder.path("objects"));
    let scenarios = suite.starts.scenarios(&suite.scenarios, &objects).unwrap();
    let Some(tree) = scenarios[0].files else { return Vec::new() };
    let manifest = objects.manifest(tree).unwrap();
    let files = manifest.entries().iter().filter(|entry| !entry.node.is_folder());
    files.map(|entry| entry.path.to_string()).collect()
}

/// As wyattowalsh/agents `docs-steward` and srinitude/skills `simplify-skill` have it.
#[test]
fn a_file_with_the_answer_of_its_scenario_is_not_placed() {
    let case = r#"{"query": "Name the port of the pump", "expected_behavior": ["Says 7001"]}"#;
    let evals = format!(
        r#"{{"evals": [{}, {{"id": "two", "prompt": "x"}}, {{"id": "three", "prompt": "y"}}]}}"#,
        TASKS.replace('}', r#", "files": ["evals/one.json", "evals/data.csv", "evals/like-it.json"]}"#)
    );
    let folder = Folder::new(&[
        ("skills/writer/SKILL.md", "---\nname: writer\n---\n"),
        ("skills/writer/evals/evals.json", &evals),
        ("skills/writer/evals/one.json", case),
        ("skills/writer/evals/data.csv", "pump,port\n"),
        (
            "skills/writer/evals/like-it.json",
            r#"{"query": "Name a port", "expected_behavior": ["Says 7002"]}"#,
        ),
    ]);
    let suite = suite(&folder);
    assert_eq!(placed(&suite, &folder), ["evals/data.csv"]);
    assert_eq!(
        note_lines(&suite),
        [
            "one: the file evals/one.json is not placed: it holds the answer of one",
            "one: the file evals/like-it.json is not placed: it is a case of a suite, with answers",
        ]
    );
}

#[test]
fn a_task_about_a_file_with_its_answer_is_a_draft() {
    let evals = format!(
        "[{}]",
        TASKS.replace("of the pump", "of the pump in notes.md").replace('}', r#", "files": ["notes.md"]}"#)
    );
    let notes = "Name the port of the pump in notes.md: the port of the old pump is seven thousand and one.";
    let folder = Folder::new(&[
        ("skills/writer/SKILL.md", "---\nname: writer\n---\n"),
        ("skills/writer/evals/evals.json", &evals),
        ("skills/writer/notes.md", notes),
    ]);
    let suite = suite(&folder);
    assert_eq!((ids(&suite.scenarios), ids(&suite.drafts)), (vec![], vec!["one"]));
    assert_eq!(
        note_lines(&suite),
        [
            "one: the task is about notes.md, which holds the answer of one",
            "one: a draft: not counted, because part of its task is missing",
        ]
    );
}

/// As 0xdewy/skills `agentify` has it.
#[test]
fn a_case_that_loses_content_is_a_draft() {
    let evals = r#"[{"id": 1, "prompt": "Run it", "context": "A monorepo of 3 services", "expected_output": "x"},
        {"id": 2, "prompt": "Do it", "context": null, "expected_output": "x"}]"#;
    let suite = read("evals.json", evals);
    assert_eq!((ids(&suite.scenarios), ids(&suite.drafts)), (vec!["2"], vec!["1"]));
    assert_eq!(note_lines(&suite)[0], "1: `context` is part of the task, but is not read");
    let files = [("evals/files/CLAUDE.md", "Be brief"), ("evals/files/.vscode/settings.json", "{}")];
    let evals = r#"[{"id": 1, "prompt": "Read .vscode/settings.json", "files": ["evals/files/.vscode/settings.json"], "expected_output": "x"}]"#;
    let folder = Folder::new(&[&files[..], &[("evals/evals.json", evals)]].concat());
    assert_eq!(ids(&folder.read("evals/evals.json").drafts), ["1"], "settings are never placed");
}

#[test]
fn files_of_the_skill_come_from_the_version_on_trial_and_data_below_it_does_not() {
    let evals = r#"[{"id": 1, "prompt": "Look at docs/SKILL.md", "files": ["SKILL.md", "pages/how.md", "pages/other.md", "scripts/run.py", "data/in.csv"], "expected_output": "x"}]"#;
    let folder = Folder::new(&[
        ("skills/writer/SKILL.md", "---\nname: writer\n---\nSee [how](pages/how.md).\n"),
        ("skills/writer/pages/how.md", "Thus."),
        ("skills/writer/pages/other.md", "A sample."),
        ("skills/writer/scripts/run.py", "print()"),
        ("skills/writer/data/in.csv", "1"),
        ("skills/writer/evals/evals.json", evals),
        (".git/HEAD", ""),
    ]);
    let mut suite = suite(&folder);
    let claim = |suite: &mut Suite, name: &str| {
        let skill = Skill { name: name.into(), path: folder.path("elsewhere") };
        suite.starts.claim(&[skill], None);
    };
    let mut other = suite.clone();
    claim(&mut suite, "writer");
    assert_eq!(placed(&suite, &folder), ["data/in.csv", "pages/other.md"]);
    let scenario = suite.starts.as_planned(&suite.scenarios[0]);
    let own: Vec<_> = scenario.of_skill.iter().map(|file| (file.path.as_str(), file.at.as_str())).collect();
    assert_eq!(
        own,
        [
            ("SKILL.md", "docs/SKILL.md"),
            ("pages/how.md", "pages/how.md"),
            ("scripts/run.py", "scripts/run.py")
        ]
    );
    claim(&mut other, "reader");
    assert_eq!(placed(&other, &folder).len(), 5, "files of a skill that is not on trial are data");
    assert_eq!(other.starts.as_planned(&other.scenarios[0]).of_skill, []);
}
