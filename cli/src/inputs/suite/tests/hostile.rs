use std::os::unix::fs::symlink;

use super::*;

#[test]
fn a_suite_without_bounds_is_refused() {
    let prompt = "x".repeat(10 << 20);
    let cases = |count: usize| {
        let entries: Vec<String> =
            (0..count).map(|id| format!(r#"{{"id": {id}, "prompt": "a", "files": []}}"#)).collect();
        format!("[{}]", entries.join(","))
    };
    for (name, text, why) in [
        ("evals.json", format!(r#"[{{"prompt": "{prompt}", "files": []}}]"#), "cannot read"),
        ("suite.toml", format!("[[scenarios]]\ndescription = '{prompt}'\n"), "cannot read"),
        (
            "evals.json",
            format!(r#"[{{"prompt": "{}", "files": []}}]"#, &prompt[..7 << 20]),
            "a text of `scenario-1` has more than 6 MiB",
        ),
        ("evals.json", cases(2_001), "2001 cases; a suite has at most 2000"),
        ("evals.json", "[".repeat(100_000), "not valid JSON: recursion limit exceeded"),
        (
            "a.yaml",
            format!("tests:\n - vars: {{q: {}}}\n", &prompt[..3 << 20]),
            "not valid YAML: line 1: YAML of more than 2 MiB",
        ),
        ("a.yaml", bomb(), "not valid YAML"),
    ] {
        let refusal = refusal(name, &text);
        assert!(refusal.contains(why), "{why}: {}", &refusal[..refusal.len().min(300)]);
    }
    assert_eq!(read("evals.json", &cases(2_000)).scenarios.len(), 2_000);
}

fn bomb() -> String {
    let mut bomb = "tests: []\na: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for (name, before) in ('b'..='k').zip('a'..) {
        let line = format!("{name}: &{name} [{}]\n", vec![format!("*{before}"); 9].join(","));
        bomb.push_str(&line);
    }
    bomb
}

#[test]
fn nothing_outside_of_the_folder_is_read_and_no_link_is_followed() {
    let outside = Folder::new(&[("secret.txt", "secret"), ("secret.yaml", "- vars: {prompt: secret}\n")]);
    let secret = outside.path("secret.txt").display().to_string();
    let folder = Folder::new(&[("keep", "")]);
    symlink(outside.path("secret.txt"), folder.path("link.txt")).unwrap();
    symlink(outside.path(""), folder.path("way")).unwrap();
    for file in
        [secret.as_str(), "../secret.txt", "link.txt", "way/secret.txt", ".git/config", ".skilltune/x"]
    {
        let toml = format!("[[scenarios]]\ndescription = 'a'\nfiles = ['{file}']\n");
        folder.write("suite.toml", toml);
        assert!(folder.refusal("suite.toml").contains("`files` of `scenario-1`"), "{file}");
        let grader = format!(
            "[[scenarios]]\ndescription = 'a'\n[[scenarios.checks]]\ncommand = ['{{grader}}']\ngrader = ['{file}']\n"
        );
        folder.write("suite.toml", grader);
        assert!(folder.refusal("suite.toml").contains("check 1 of `scenario-1`: `grader`"), "{file}");
        folder.write("evals.json", format!(r#"[{{"prompt": "a", "files": ["{file}"]}}]"#));
        let suite = folder.read("evals.json");
        assert!(suite.starts.of(&suite.scenarios[0].id).is_empty(), "{file}");
        assert!(notes(&suite)[0].ends_with("is missing"), "{file}: {:?}", notes(&suite));
        folder.write("promptfoo.yaml", format!("prompts: ['{{{{a}}}}']\ntests:\n - vars: {{a: 'file://{file}'}}\n   assert: []\n - vars: {{a: b}}\n"));
        let suite = folder.read("promptfoo.yaml");
        assert!(
            suite
                .scenarios
                .iter()
                .all(|one| !one.description.contains("secret\n") && one.description != "secret"),
            "{file}"
        );
    }
    folder.write("promptfoo.yaml", "prompts: [a]\ntests: [file://way/*.yaml, file://way/secret.yaml]\n");
    assert!(folder.refusal("promptfoo.yaml").contains("no scenarios"));
}

#[test]
fn a_link_in_a_grader_is_refused() {
    let toml = "[[scenarios]]\ndescription = 'a'\n[[scenarios.checks]]\ncommand = ['sh', '{grader}/g/a']\ngrader = ['g']\n";
    let folder = Folder::new(&[("suite.toml", toml), ("g/a", "")]);
    symlink("/etc/passwd", folder.path("g/b")).unwrap();
    let refusal = folder.refusal("suite.toml");
    assert!(
        refusal.contains("`grader` of check `command-1` of `scenario-1`")
            && refusal.contains("g is or contains a symlink"),
        "{refusal}"
    );
}

#[test]
fn what_is_shown_drives_no_terminal() {
    let suite = read(
        "evals.json",
        r#"[{"id": "a\u001b[2Jb", "prompt": "do", "files": ["\u001b]0;x\u0007"], "\u202eevil": 1}]"#,
    );
    assert_eq!(suite.scenarios[0].id, "a-2Jb");
    for note in notes(&suite) {
        assert!(!note.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{note:?}");
    }
}

#[test]
fn only_a_suite_of_ours_names_commands() {
    let evals = r#"[{"prompt": "a", "setup": ["sh"], "command": ["sh"], "script_checks": ["sh"], "tools": "shell", "files": []}]"#;
    let suite = read("evals.json", evals);
    assert!(suite.programs().is_empty() && suite.file.is_none());
    assert!(suite.drafts[0].setup.is_none() && suite.drafts[0].command.is_none());
}
