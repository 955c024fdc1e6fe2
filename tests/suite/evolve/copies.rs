//! Copies that build: ignored files that are brought, a setup command, a free port, and a repository without a remote.

use std::fs;

use serde_json::{Value, json};

use super::{Project, both, ended, id, of_task, words};
use crate::scene::listing;

const BRINGING: &str = "\
[evolve]
bring = [\".env\", \"local/deep/key\"]

[commands]
setup = [\"make\", \"setup\"]
";

/// A project whose test needs ignored files, what its setup makes, and a port.
const FILES: [(&str, &str); 3] = [
    ("Makefile", "setup:\n\t@test -e .env && echo made > made.txt\ntest:\n\t@sh test.sh\n"),
    (".gitignore", ".env\nmade.txt\nlocal/\n"),
    (
        "test.sh",
        "\
. ./.env
test \"$(cat made.txt)\" = made || exit 1
test \"${#KEY}\" = 8 || exit 2
test \"$PORT\" -gt 1024 || exit 3
test -e local/deep/key || exit 4
",
    ),
];
const SECRET: &str = "pr3cious";

/// Creates a project with secrets, whose agents record how they were started.
fn secret(play: &Value, settings: &str) -> Project {
    let project = Project::with(play, &FILES, settings);
    project.write(".env", &format!("KEY={SECRET}\n"));
    project.write("local/deep/key", &format!("{SECRET} too\n"));
    project.scene().write_script(&json!({ "evolve": play, "dump": project.scene().path("dump") }));
    project
}

/// Returns how each call of a role was started.
fn started(project: &Project, role: &str) -> Vec<Value> {
    let text = fs::read_to_string(project.scene().path("dump")).unwrap();
    let calls = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    calls.filter(|call| words(&call["argv"][1]) == role).collect()
}

#[test]
fn copies_get_what_they_need_and_secrets_are_in_no_commit_diff_prompt_or_report() {
    let work = json!({ "writes": {
        "b.txt": "this meets A2\n", ".env": "KEY=changed!\n", "made.txt": "otherwise\n",
    } });
    let project = secret(&json!({ "tasks": [both()], "works": { "two": [work] } }), BRINGING);
    let ran = project.evolve(&[]);
    assert_eq!(ended(&ran), "0 reached success", "the test has all that it needs: {ran:?}");
    assert_eq!(of_task(&ran, "two", "files"), json!(["b.txt"]), "brought and made files are no work");
    assert_eq!(project.git.git(&["diff", "--name-only", "main", "skilltune/spec"]), "a.txt\nb.txt\n");
    assert_eq!(project.read(".env").unwrap(), format!("KEY={SECRET}\n"));

    let executors = started(&project, "executor");
    assert_eq!(executors.len(), 2);
    for call in &executors {
        let port = words(&call["env"]["PORT"]).parse::<u16>();
        assert!(port.is_ok_and(|port| port > 1024), "{call}");
        let file = |name: &str| words(&call["files"][&format!("project/{name}")]).to_owned();
        let brought = [file(".env"), file("local/deep/key"), file("made.txt")];
        assert_eq!(brought, [format!("KEY={SECRET}\n"), format!("{SECRET} too\n"), "made\n".to_owned()]);
    }
    for call in started(&project, "evaluator") {
        let files = call["files"].as_object().unwrap();
        assert!(!files.values().any(|text| words(text).contains(SECRET)), "{files:?}");
    }
    let said = [&["report"][..], &["diff"], &["history"], &["status"]]
        .map(|arguments| project.scene().run(arguments).stdout)
        .concat();
    assert!(!said.contains(SECRET) && !project.git.git(&["log", "-p", "--all"]).contains(SECRET));
    for (path, _, bytes) in listing(&project.scene().run_folder()) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(SECRET), "{}: {text}", path.display());
    }
    assert_eq!(project.scene().run(&["export", &id(&ran), "champion", "../out"]).code, Some(0));
    assert!(!project.scene().path("out/.env").exists());
}

/// Prints what the copy was brought.
const LOUD: &str = "cat .env local/deep/key\necho \"it is $KEY\"\n";

#[test]
fn what_a_command_prints_of_a_secret_is_in_no_prompt_and_no_report() {
    let project = secret(&json!({ "tasks": [both()] }), BRINGING);
    project.write("test.sh", &[FILES[2].1, LOUD].concat());
    project.git.commit("Print");
    let ran = project.evolve(&[]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    let prompts = project.scene().prompts().concat();
    assert!(prompts.contains("it is [hidden]"), "the judge reads the output: {prompts}");
    let journal = fs::read_to_string(project.scene().run_folder().join("history.jsonl")).unwrap();
    let said = [&["report"][..], &["history"], &["status"]]
        .map(|arguments| project.scene().run(arguments).stdout)
        .concat();
    for text in [&prompts, &journal, &said, &ran.stdout, &ran.stderr] {
        assert!(!text.contains(SECRET), "{text}");
    }
}

#[test]
fn only_a_persons_own_settings_bring_files_and_a_projects_setup_needs_trust() {
    let play = json!({ "tasks": [both()] });
    let project = secret(&play, "");
    project.write("skilltune.toml", "[evolve]\nbring = [\".env\"]\n");
    let ran = project.evolve(&["--apply", "never"]);
    // The test is red with and without the work.
    assert_eq!((ended(&ran).as_str(), super::verdict(&ran).as_str()), ("0 reached success", "not_looked_at"));
    for call in started(&project, "executor") {
        assert!(call["files"]["project/.env"].is_null(), "{call}");
    }
    project.write("skilltune.toml", "[commands]\nsetup = [\"make\", \"setup\"]\n");
    let said = project.scene().refusal(&["evolve", "spec.md", "--yes", "--commands", "run"]);
    assert!(said.contains("error: the programs of /project/skilltune.toml are not trusted: make"), "{said}");

    let missing = secret(&play, &BRINGING.replace("local/deep/key", "gone"));
    let before = missing.scene().calls().len();
    let said = missing.evolve(&[]);
    assert_eq!((said.code, missing.scene().calls().len()), (Some(2), before), "{said:?}");
    assert!(said.stderr.contains("error: `evolve.bring` names missing files: gone"), "{said:?}");
}

#[test]
fn a_setup_that_fails_ends_the_run_before_any_agent_starts() {
    let play = json!({ "tasks": [both()] });
    let project = secret(&play, &BRINGING.replace("\"setup\"]", "\"nothing\"]"));
    let ran = project.evolve(&[]);
    assert_eq!(ended(&ran), "4 incomplete incomplete", "{ran:?}");
    let note = ran.json()["note"].clone();
    let why = "the setup command `make nothing` failed on the unchanged project: ";
    assert!(words(&note).starts_with(why), "{note}");
    assert_eq!((project.scene().answered(), project.commits()), (0, None));
}

#[test]
fn a_copy_is_a_repository_with_one_commit_and_no_remote() {
    let project = secret(&json!({ "tasks": [both()] }), BRINGING);
    project.git.git(&["remote", "add", "origin", "https://example.invalid/x.git"]);
    let ran = project.evolve(&[]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    for call in started(&project, "executor") {
        let config = words(&call["files"][".git/config"]);
        assert!(!config.contains("remote") && !config.contains("example.invalid"), "{config}");
        let log = words(&call["files"][".git/logs/HEAD"]);
        assert_eq!(log.lines().count(), 1, "{log}");
    }
}
