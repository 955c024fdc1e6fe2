use super::*;

/// Returns the commands of a project with these files, one a line.
fn found_in(files: &[(&str, &str)]) -> Vec<String> {
    let read = |name: &str| files.iter().find(|(file, _)| *file == name).map(|(_, text)| (*text).to_owned());
    let line = |Found { stage, argv, file }| format!("{} by {file}: {}", stage.word(), argv.join(" "));
    found(&read).into_iter().map(line).collect()
}

#[test]
fn a_package_or_a_workspace_of_cargo_has_all_three() {
    let all = [
        "lint by Cargo.toml: cargo clippy --workspace --all-targets",
        "build by Cargo.toml: cargo build --workspace --all-targets",
        "test by Cargo.toml: cargo test --workspace",
    ];
    assert_eq!(found_in(&[("Cargo.toml", "[package]\nname = \"a\"\n")]), all);
    assert_eq!(found_in(&[("Cargo.toml", "# all\n[workspace]\nmembers = []\n")]), all);
    for broken in ["", "package", "[packages]", "name = \"[package]\"", "[[package]]"] {
        assert_eq!(found_in(&[("Cargo.toml", broken)]), [""; 0], "{broken}");
    }
}

#[test]
fn scripts_of_a_package_run_by_the_program_of_its_lock_file() {
    let scripts = r#"{"scripts": {"lint": "eslint .", "test": "node --test", "start": "node ."}}"#;
    for (lock, program) in [("", "npm"), ("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn")] {
        let found = found_in(&[("package.json", scripts), (lock, "")]);
        let wanted =
            ["lint", "test"].map(|stage| format!("{stage} by package.json: {program} run --silent {stage}"));
        assert_eq!(found, wanted);
    }
}

#[test]
fn a_script_that_does_nothing_and_a_broken_package_have_no_commands() {
    for package in [
        r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1", "build": " "}}"#,
        r#"{"scripts": {"lint": ["eslint"], "build": null, "test": {}}}"#,
        r#"{"scripts": "lint"}"#,
        r#"["scripts"]"#,
        r#"{"scripts": {"lint": "eslint"}"#,
        "",
    ] {
        assert_eq!(found_in(&[("package.json", package)]), [""; 0], "{package}");
    }
}

#[test]
fn python_is_linted_and_tested_by_the_tools_that_the_project_shows() {
    let lint = |file: &str| format!("lint by {file}: ruff check .");
    let test = |file: &str| format!("test by {file}: python3 -m pytest -q");
    let project = ("pyproject.toml", "[project]\nname = \"a\"\n");
    assert_eq!(found_in(&[project]), [""; 0]);
    let tools = "[tool.ruff.lint]\nselect = []\n[tool.pytest.ini_options]\n";
    assert_eq!(found_in(&[("pyproject.toml", tools)]), [lint("pyproject.toml"), test("pyproject.toml")]);
    assert_eq!(
        found_in(&[project, ("ruff.toml", ""), ("tests", "")]),
        [lint("ruff.toml"), test("pyproject.toml")]
    );
    assert_eq!(found_in(&[("setup.cfg", "[metadata]\n[tool:pytest]\n")]), [test("setup.cfg")]);
    assert_eq!(found_in(&[("requirements.txt", "x\n"), ("tests", "")]), [test("requirements.txt")]);
    assert_eq!(found_in(&[("pytest.ini", "[pytest]\n")]), [test("pytest.ini")]);
    assert_eq!(found_in(&[("tests", "")]), [""; 0], "a folder of this name says nothing of the language");
    assert_eq!(found_in(&[("pyproject.toml", "[tool.ruffian]\n[tool.pytest-x]\n")]), [""; 0]);
}

#[test]
fn a_module_of_go_has_all_three() {
    let all =
        ["lint by go.mod: go vet ./...", "build by go.mod: go build ./...", "test by go.mod: go test ./..."];
    assert_eq!(found_in(&[("go.mod", "module example.com/a\n\ngo 1.24\n")]), all);
    assert_eq!(found_in(&[("go.mod", "go 1.24\n")]), [""; 0]);
}

#[test]
fn rules_of_a_makefile_are_commands_and_its_variables_are_not() {
    let text = ".PHONY: lint build test\nlint  check: deps\n\truff check .\ntest::\n\ttrue\nbuild := x\n";
    let wanted = |file: &str| ["lint", "test"].map(|stage| format!("{stage} by {file}: make {stage}"));
    for file in MAKEFILES {
        assert_eq!(found_in(&[(file, text)]), wanted(file));
    }
    assert_eq!(found_in(&[("Makefile", "all:\n"), ("GNUmakefile", text)]), wanted("GNUmakefile"));
    for none in ["test ::= x\n", " test: x\n", "#test: x\n", "tests: x\n", "test\n", "\ttest:\n", ":\n"] {
        assert_eq!(found_in(&[("Makefile", none)]), [""; 0], "{none}");
    }
}

#[test]
fn each_stage_has_the_command_of_the_first_kind_that_has_one() {
    let package = ("package.json", r#"{"scripts": {"build": "tsc", "test": "jest"}}"#);
    let makefile = ("Makefile", "lint:\n\ntest:\n");
    assert_eq!(
        found_in(&[package, makefile]),
        [
            "lint by Makefile: make lint",
            "build by package.json: npm run --silent build",
            "test by package.json: npm run --silent test",
        ]
    );
    let cargo = found_in(&[package, makefile, ("Cargo.toml", "[package]\n")]);
    assert!(cargo.len() == 3 && cargo.iter().all(|line| line.contains("by Cargo.toml")), "{cargo:?}");
}

#[test]
fn hostile_manifests_have_no_commands_and_do_no_harm() {
    let deep = "[".repeat(1 << 19);
    let nested = format!("{{\"scripts\": {}", "{\"a\":".repeat(100_000));
    let large = format!("[package]\n[tool.ruff]\nmodule a\nlint:\n{}", "#".repeat(LARGEST));
    let names = ["Cargo.toml", "package.json", "pyproject.toml", "setup.cfg", "go.mod", "Makefile"];
    for text in
        [deep.as_str(), nested.as_str(), large.as_str(), "\0\u{feff}\u{202e}", ":", "[", "=::", "\r\r\r"]
    {
        let files = names.map(|name| (name, text));
        assert_eq!(found_in(&files), [""; 0], "{}", &text[..text.len().min(20)]);
    }
}

#[test]
fn a_stage_has_one_word_everywhere() {
    for stage in Stage::ALL {
        assert_eq!(serde_json::to_value(stage).unwrap(), stage.word());
    }
}
