use super::*;

fn file<'a>(path: &'a str, before: Option<&'a str>, after: Option<&'a str>) -> ChangedFile<'a> {
    ChangedFile { path, before, after, added: Vec::new() }
}

/// Returns the dangers, one a line: `path:line what`.
fn found(files: &[ChangedFile<'_>]) -> Vec<String> {
    let line = |Weakening { path, line, what }| match line {
        Some(line) => format!("{path}:{line} {what}"),
        None => format!("{path} {what}"),
    };
    weakenings(files).into_iter().map(line).collect()
}

#[test]
fn any_change_to_a_file_of_settings_is_a_danger() {
    let linter = [
        "clippy.toml",
        "a/.clippy.toml",
        ".eslintrc",
        ".eslintrc.json",
        "eslint.config.mjs",
        ".eslintignore",
    ];
    let linter =
        [&linter[..], &["biome.json", "biome.jsonc", "ruff.toml", "a/b/.ruff.toml", ".flake8", ".pylintrc"]]
            .concat();
    let linter =
        [&linter[..], &["mypy.ini", ".golangci.yml", "tsconfig.json", "tsconfig.build.json"]].concat();
    let tests =
        ["pytest.ini", "a/conftest.py", "tox.ini", "noxfile.py", "jest.config.ts", "vitest.config.mts"];
    let tests =
        [&tests[..], &["playwright.config.ts", "karma.conf.js", ".mocharc.yml", ".config/nextest.toml"]]
            .concat();
    let tests = [&tests[..], &[".cargo/config.toml", "a/.cargo/config.toml"]].concat();
    let coverage = vec![".coveragerc", "codecov.yml", ".codecov.yaml", ".nycrc", ".nycrc.json"];
    let ci =
        [".github/workflows/ci.yml", ".GitHub/Workflows/ci.yml", ".gitlab-ci.yml", ".circleci/config.yml"];
    let ci = [&ci[..], &["azure-pipelines.yml", "Jenkinsfile", ".travis.yml"]].concat();
    for (what, paths) in [("linter", linter), ("test runner", tests), ("coverage", coverage), ("CI", ci)] {
        for path in paths {
            for (before, after) in
                [(Some("a"), Some("b")), (None, Some("a")), (Some("a"), None), (None, None)]
            {
                let wanted = format!("{path} changes the settings of the {what}");
                assert_eq!(found(&[file(path, before, after)]), [wanted], "{before:?} {after:?}");
            }
        }
    }
}

#[test]
fn other_files_have_no_settings() {
    for path in [
        "rustfmt.toml",
        "src/clippy.toml.rs",
        "my-ruff.toml",
        "tsconfig.md",
        "jest.config",
        "cargo/config.toml",
        "x.cargo/config.toml",
        ".github/CODEOWNERS",
        "docs/.github/workflows/ci.yml",
        "Cargo.toml",
        "package.json",
        "README.md",
    ] {
        assert_eq!(found(&[file(path, Some("a"), Some("b"))]), [""; 0], "{path}");
    }
}

#[test]
fn a_manifest_is_a_danger_only_where_it_sets_how_code_is_checked() {
    const LINTER: &str = "changes the settings of the linter";
    const RUNNER: &str = "changes the settings of the test runner";
    const COVERAGE: &str = "changes the settings of the coverage";
    const COMMANDS: &str = "changes the commands that lint, build or test";
    for (path, before, after, wanted) in [
        ("Cargo.toml", "[lints.rust]\na = 1\n[package]\n", "[package]\n", LINTER),
        ("a/Cargo.toml", "[workspace.lints]\na = 1\n", "[workspace.lints]\na = 2\n", LINTER),
        ("Cargo.toml", "[workspace]\n", "[workspace]\nlints.rust.a = 1\n", LINTER),
        ("Cargo.toml", "", "lints = { workspace = true }\n", LINTER),
        ("Cargo.toml", "", "workspace = { lints = { rust = {} } }\n", LINTER),
        ("Cargo.toml", "", "[ \"lints\" . rust ] # why\na = 1\n", LINTER),
        ("Cargo.toml", "", "[\"l\\u0069nts\"]\na = 1\n", LINTER),
        ("Cargo.toml", "[lints]\n# a\na = [\n 1,\n]\n", "[lints]\n\na = [\n 2,\n]\n", LINTER),
        (
            "Cargo.toml",
            "[lints]\na = 1\n",
            "[package]\nx = 1\n[lints]\n# b\na = 1\n[dependencies]\nb = 1\n",
            "",
        ),
        ("Cargo.toml", "[package]\nlintsx = 1\n", "[package]\nlintsx = 2\n[lints_x]\na = 1\n", ""),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\n",
            "[tool.pytest.ini_options]\naddopts = \"-x\"\n",
            RUNNER,
        ),
        ("pyproject.toml", "[tool.ruff]\n", "[tool.ruff.lint.per-file-ignores]\n\"a/*\" = [\"E\"]\n", LINTER),
        (
            "pyproject.toml",
            "[tool]\nruff = { a = [\n\"x=1\",\n\"b\",\n] }\n",
            "[tool]\nruff = { a = [\n\"x=1\",\n] }\n",
            LINTER,
        ),
        ("pyproject.toml", "[[tool.mypy.overrides]]\na = 1\n", "", LINTER),
        (
            "pyproject.toml",
            "[tool.coverage.report]\nfail_under = 9\n",
            "[tool.coverage.report]\nfail_under = 1\n",
            COVERAGE,
        ),
        ("pyproject.toml", "[tool.black]\na = 1\n", "[tool.black]\na = 2\n[tool.ruffian]\na = 1\n", ""),
        ("setup.cfg", "[tool:pytest]\n", "[tool:pytest]\naddopts = -x\n", RUNNER),
        ("setup.cfg", "[flake8]\nignore =\n  E1\n", "[flake8]\nignore =\n  E1\n  E2\n", LINTER),
        ("setup.cfg", "[mypy-a.*]\nx = 1\n", "", LINTER),
        ("setup.cfg", "[coverage:run]\nx = 1\n", "", COVERAGE),
        ("setup.cfg", "[options]\nmypy = 1\n", "[options]\nmypy = 2\n", ""),
        ("package.json", r#"{"scripts": {"test": "jest"}}"#, r#"{"scripts": {"test": "true"}}"#, COMMANDS),
        ("package.json", "{}", r#"{"scripts": {"test:unit": "a"}}"#, COMMANDS),
        ("package.json", "{}", r#"{"scripts": {"prebuild": "a"}}"#, COMMANDS),
        ("package.json", r#"{"jest": {"a": 1}}"#, r#"{"jest": {"a": 2}}"#, RUNNER),
        ("package.json", r#"{"eslintConfig": {}}"#, "{}", LINTER),
        ("package.json", r#"{"scripts": {"lint": "a"}}"#, "{", COMMANDS),
        ("package.json", r#"{"jest": {"a": 1, "b": 2}}"#, r#"{"name": "x", "jest": {"b": 2, "a": 1}}"#, ""),
        (
            "package.json",
            r#"{"scripts": {"start": "a", "lint": "b"}}"#,
            r#"{"scripts": {"lint": "b", "start": "c"}}"#,
            "",
        ),
        ("Makefile", "test:\n\tjest\n", "test:\n\ttrue\n", COMMANDS),
        ("a/GNUmakefile", "", "all lint: x\n\ta\n", COMMANDS),
        ("makefile", "build: \\\n a\n", "build: \\\n b\n", COMMANDS),
        ("Makefile", "test:\nifdef A\n\ta\nendif\n\tb\n", "test:\nifdef A\n\ta\nendif\n", COMMANDS),
        (
            "Makefile",
            "test:\n\ta\nrun:\n\tb\n",
            "X := test\ntest := 1\n.PHONY: test\n# test:\ntest:\n\ta\n\nrun:\n\tc\n",
            "",
        ),
    ] {
        let dangers = found(&[file(path, Some(before), Some(after))]);
        let wanted: Vec<String> =
            [wanted].iter().filter(|what| !what.is_empty()).map(|what| format!("{path} {what}")).collect();
        assert_eq!(dangers, wanted, "{before} {after}");
    }
}

#[test]
fn an_added_line_that_silences_a_check_is_a_danger() {
    for (path, line, wanted) in [
        ("a.rs", "    #[ignore = \"slow\"]", "#[ignore]"),
        ("a.rs", "#[cfg_attr(miri, ignore)]", "#[ignore]"),
        ("a.rs", "#![allow(dead_code)]", "#[allow]"),
        ("a.rs", "/**/ # [ allow (x) ] fn a() {}", "#[allow]"),
        ("a.py", "@pytest.mark.skip", "pytest.mark.skip"),
        ("a.py", "@pytest.mark.skipif(a, reason='')", "pytest.mark.skip"),
        ("a.py", "    pytest.skip('x')", "pytest.skip"),
        ("a.py", "@unittest.skipIf(a)", "unittest.skip"),
        ("a.py", "@unittest.expectedFailure", "expectedFailure"),
        ("a.py", "@pytest.mark.xfail", "xfail"),
        ("a.py", "import os  # NOQA: F401", "# noqa"),
        ("a.py", "# ruff: noqa", "# noqa"),
        ("a.pyi", "x = 1  # type: ignore[attr]", "# type: ignore"),
        ("a.py", "if x:  # pragma: no cover", "# pragma: no cover"),
        ("a.py", "eval(x)  # nosec", "# nosec"),
        ("a.test.ts", "it.skip('a', () => {", ".skip("),
        ("a.js", "describe.only.each([])", ".only("),
        ("a.js", "xit('a')", "xit("),
        ("a.js", "xdescribe('a')", "xdescribe("),
        ("a.js", "it.todo('a')", "it.todo("),
        ("a.tsx", "{/* eslint-disable-next-line no-x */}", "eslint-disable"),
        ("a.ts", "// @ts-ignore", "@ts-ignore"),
        ("a.ts", "// @ts-nocheck", "@ts-nocheck"),
        ("a.ts", "// @ts-expect-error", "@ts-expect-error"),
        ("a.mjs", "/* istanbul ignore next */", "istanbul ignore"),
        ("a.mjs", "/* c8 ignore start */", "c8 ignore"),
        ("a_test.go", "\tt.Skipf(\"x\")", "t.Skip("),
        ("a.go", "x() //nolint:errcheck", "//nolint"),
        ("A.java", "@org.junit.jupiter.api.Disabled", "@Disabled"),
        ("A.KT", "  @Ignore(\"x\")", "@Ignore"),
    ] {
        let changed = ChangedFile { added: vec![(1, "x"), (7, line)], ..file(path, None, None) };
        assert_eq!(found(&[changed]), [format!("{path}:7 adds `{wanted}`")], "{line}");
    }
}

#[test]
fn a_line_that_only_looks_like_it_is_none() {
    for (path, line) in [
        ("a.rs", "values.iter().skip(1).only(2)"),
        ("a.rs", "/// Use `#[ignore]` and `#[allow(x)]`."),
        ("a.rs", "#[ignore_me] #[allowed(x)] #[should_panic]"),
        ("a.rs", "// noqa eslint-disable"),
        ("a.py", "xfailing = noqa = skip = 1"),
        ("a.py", "#noqable"),
        ("a.py", "it.skip('a') // @ts-ignore"),
        ("a.md", "x # noqa, it.skip('a'), #[ignore]"),
        ("noqa", "# noqa"),
        ("a.js", "exit(1); skip(1); it.skipped('a'); x.todo('b')"),
        ("a.go", "nolint := s.Skip(1)"),
        ("A.java", "@IgnoreCase @DisabledBy class Ignore {}"),
    ] {
        let changed = ChangedFile { added: vec![(7, line)], ..file(path, None, None) };
        assert_eq!(found(&[changed]), [""; 0], "{path} {line}");
    }
}

#[test]
fn a_removed_test_is_a_danger_in_each_language() {
    for (path, before, wanted) in [
        ("a.rs", "#[test]\nfn logs_in() {}", "logs_in"),
        ("a.rs", "#[tokio::test(flavor = \"multi_thread\")]\n// why\nasync fn logs_in() {}", "logs_in"),
        (
            "a.rs",
            "#[rstest]\n#[case(1)]\n#[should_panic]\npub(crate) fn logs_in(#[case] a: u8) {}",
            "logs_in",
        ),
        ("a.py", "class A:\n    async def test_logs_in(self):\n", "test_logs_in"),
        ("a.py", "class TestLogin:\n", "TestLogin"),
        ("a_test.go", "func TestLogin(t *testing.T) {", "TestLogin"),
        ("a_test.go", "func (s *Suite) TestLogin() {", "TestLogin"),
        ("a.ts", "it('logs in', async () => {", "logs in"),
        ("a.ts", "  test.each([[1, 2]])(\n    \"logs in\",\n", "logs in"),
        ("a.ts", "it.concurrent(`logs in`, () => {", "logs in"),
        ("A.java", "@Test(timeout = 1)\npublic void logsIn() {", "logsIn"),
        ("A.kt", "@Test fun `logs in`() = runTest {", "logs in"),
        ("A.kt", "@org.junit.Test\ninternal fun logsIn() {", "logsIn"),
    ] {
        for after in [Some("x"), None] {
            let wanted = format!("{path} removes the test `{wanted}`");
            assert_eq!(found(&[file(path, Some(before), after)]), [wanted], "{before}");
        }
        assert_eq!(found(&[file(path, Some(before), Some(before))]), [""; 0], "{before}");
        assert_eq!(found(&[file(path, None, Some(before))]), [""; 0], "{before}");
    }
}

#[test]
fn what_is_no_test_can_be_removed() {
    for (path, before) in [
        ("a.rs", "#[cfg(test)]\nmod tests { fn helper() {} }\n// #[test]\nfn other() {}"),
        ("a.rs", "/*\n#[test]\nfn old() {}\n*/"),
        ("a.py", "def helper(): pass\n# def test_old(): pass\nclass Login: pass"),
        ("a.go", "func Login() {}\nfunc testLogin() {}"),
        ("a.ts", "/x/.test('a'); exit('b'); latest('c'); xit('d'); emit(\"e\")"),
        ("A.java", "public void testing() {}"),
        ("a.txt", "#[test]\nfn a() {}"),
        ("src/contest.txt", "x"),
        ("tests/__init__.py", " \n"),
    ] {
        assert_eq!(found(&[file(path, Some(before), None)]), [""; 0], "{path} {before}");
    }
}

#[test]
fn a_test_that_moves_is_not_removed() {
    let [one, two] = ["#[test]\nfn a() {}\n", "#[test]\nfn b() {}\n"];
    let both = [one, two].concat();
    assert_eq!(found(&[file("x.rs", Some(&both), Some(one)), file("y.rs", None, Some(two))]), [""; 0]);
    assert_eq!(
        found(&[file("x.rs", Some(&both), None), file("y.rs", Some(one), Some(&both))]),
        ["x.rs removes the test `a`"]
    );
    let twice = [one, one].concat();
    assert_eq!(
        found(&[file("x.rs", Some(&twice), Some(one))]),
        ["x.rs removes the test `a`"],
        "one of two modules"
    );
    let commented = "// #[test]\n// fn a() {}\n";
    assert_eq!(found(&[file("x.rs", Some(one), Some(commented))]), ["x.rs removes the test `a`"]);
    let skipped = [file("x.ts", Some("it('a')"), Some("it.skip('a')"))];
    assert_eq!(found(&skipped), [""; 0], "its added line is the danger");
}

#[test]
fn a_removed_test_file_without_known_tests_is_a_danger() {
    for path in ["tests/run.sh", "spec/a.rb", "src/a.test.snap", "a_spec.rb"] {
        assert_eq!(found(&[file(path, Some("x"), None)]), [format!("{path} removes this test file")]);
        assert_eq!(
            found(&[file(path, Some("x"), None), file("other", None, Some("x"))]),
            [""; 0],
            "{path} moves"
        );
        assert_eq!(found(&[file(path, Some("x"), Some("y"))]), [""; 0], "{path} changes");
    }
    assert_eq!(found(&[file("src/a.sh", Some("x"), None)]), [""; 0]);
}

#[test]
fn dangers_are_bounded_and_plain() {
    let added = vec![(1, "# noqa"); 150];
    let files = [ChangedFile { added, ..file("a.py", None, None) }, file("tox.ini", None, None)];
    let dangers = found(&files);
    assert_eq!((dangers.len(), &*dangers[98]), (100, "a.py:1 adds `# noqa`"));
    assert_eq!(dangers[99], "a.py has 52 more dangers, with those of later files");
    let before = format!("it('a\u{202e}\u{7} {}')", "b ".repeat(3000));
    let dangers = weakenings(&[file("a.js", Some(&before), None)]);
    assert!(dangers[0].what.starts_with("removes the test `a b") && dangers[0].what.chars().count() <= 400);
}

#[test]
fn hostile_files_are_read_in_linear_time() {
    let pieces = [
        "#[test]",
        "#[",
        "[",
        "]",
        "a.",
        "a=",
        "\"",
        "\\",
        "it(",
        "it('",
        "test.",
        "(",
        "@Test ",
        "/*",
        "test:",
        "\n",
        "class Test",
        "{\"jest\":",
        "é",
    ];
    for path in
        ["a.rs", "a.py", "a.js", "a.go", "a.java", "Cargo.toml", "setup.cfg", "package.json", "Makefile"]
    {
        for piece in pieces {
            let [text, lines] = [piece.repeat(1 << 12), format!("{piece}\n").repeat(1 << 10)];
            let changed =
                ChangedFile { added: vec![(1, text.as_str())], ..file(path, Some(&text), Some(&lines)) };
            assert!(weakenings(&[changed]).len() <= MOST, "{path} {piece}");
        }
    }
}

#[test]
fn dangers_are_stored_as_they_are() {
    let dangers = weakenings(&[file("tox.ini", None, None)]);
    let stored = serde_json::to_string(&dangers).unwrap();
    assert_eq!(
        stored,
        r#"[{"path":"tox.ini","line":null,"what":"changes the settings of the test runner"}]"#
    );
    assert_eq!(serde_json::from_str::<Vec<Weakening>>(&stored).unwrap(), dangers);
}
