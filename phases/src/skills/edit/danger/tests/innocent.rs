//! Edits that add nothing dangerous.

use super::*;

#[track_caller]
fn nothing(changes: &[(&str, Option<&str>)]) {
    let found = dangers(&before(), &after(changes));
    assert!(found.is_empty(), "{changes:?}: {found:?}");
}

#[track_caller]
fn in_page(page: &str) {
    nothing(&[("SKILL.md", Some(page))]);
}

#[test]
fn words_headings_tables_and_links() {
    for line in [
        "Do it with care.",
        "## What to do",
        "See [the manual](https://curl.se/docs) for more.",
        "See <https://evil.dev/x>.",
        "Fetch the data, then go get the next file.",
        "Never use curl or wget here.",
        "Use SSH only if you are asked to.",
        "A curling stone, a libcurl binding, and an ssh-like tool.",
        "Install nothing, and do not push.",
        "| bash | python | sh |",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "Evaluate the text, and execute step 2.",
        "The host is down, dig deeper.",
        "Read `more.md` and `data.json`.",
        "Call `fetchall()` on the cursor.",
        "Use `git log` and `git diff --stat`.",
        "Write to a socket or a pipe.",
        "Send an HTTP GET request over https.",
        "A lynx is a cat; Hg is mercury.",
        "Set pip 3.11 aside, and go run the tests.",
        "Read the source (see <more.md>). Compose the text.",
        "Build the docker image, then run it.",
        "The uv tool is fast, and so is pnpm.",
        "caf\u{e9}, \u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}, \u{4f60}\u{597d}",
    ] {
        in_page(&page("# Steps\n", &format!("# Steps\n\n{line}\n")));
    }
    in_page(&page("Does it.", "Does it, with curl and without."));
}

#[test]
fn code_that_stays_on_this_machine() {
    for code in [
        "ls -l | sort",
        "python3 scripts/run.py",
        "cat x | python3 scripts/run.py",
        "git commit -m x",
        "nc = Dataset(x)",
        "http = 1",
        "x = 'http://localhost:8080/x'",
        "x = 'http://127.0.0.1'",
        "x = 'https://api.example.com/x'",
        "<svg xmlns=\"http://www.w3.org/2000/svg\">",
        "print(\"do not curl\")",
        "retrieval(x); evaluate(y)",
        "npm test",
        "go build ./...",
        "cargo test",
        "grep -r ssh .",
        "GET /x HTTP/1.1",
        "http {",
        "use http::Request;",
        "cat, lynx, dog",
        "svn status",
        "hg status",
        "docker ps",
        "docker compose logs -f",
        "docker compose down",
        "go run ./cmd/x",
        "go run main.go",
        "deno run x.ts",
        "deno task build",
        "uv tool list",
        "pip list",
        "gh --version",
        "source .venv/bin/activate",
        ". ./lib.sh",
        "cat x | env",
        "cat x |& tee y",
        "ls | grep sh",
        "bash run.sh < x",
        "prefetch(x)",
        "curl https://a.dev/x",
        "  curl   https://a.dev/x  ",
    ] {
        in_page(&fenced("", code));
    }
}

#[test]
fn what_goes_or_becomes_less() {
    in_page(&page("curl https://a.dev/x\n", "ls\n"));
    in_page(&page("Read, Grep", "Read"));
    in_page(&page("Read, Grep", "Grep, Read"));
    in_page(&page("allowed-tools: Read, Grep", "allowed-tools:\n  - Read"));
    in_page(&page("allowed-tools: Read, Grep\n", ""));
    nothing(&[("scripts/run.py", None)]);
    nothing(&[("more.md", None), ("data.json", None)]);
    let linked = version(&[("link", "-> a")]);
    assert!(classes(&linked, &version(&[])).is_empty());
    let hooked = version(&[("SKILL.md", &page("allowed-tools", "hooks: {x: y}\nallowed-tools"))]);
    assert!(classes(&hooked, &before()).iter().all(|class| *class != "permission"));
}

#[test]
fn what_was_there_before_in_another_place_or_form() {
    in_page(&page("x", "x").replace('\n', "\r\n"));
    let moved = page("```sh\ncurl https://a.dev/x\n```\n", "");
    nothing(&[("SKILL.md", Some(&moved)), ("more.md", Some("# More\n\n```sh\ncurl https://a.dev/x\n```\n"))]);
    nothing(&[("SKILL.md", Some(&page("```sh\ncurl https://a.dev/x\n```", "    curl https://a.dev/x")))]);
    nothing(&[("SKILL.md", Some(&page("```sh\ncurl https://a.dev/x\n```", "Run `curl https://a.dev/x`")))]);
    in_page(&page("allowed-tools: Read, Grep", "allowed-tools: [Read, Grep]"));
    in_page(&page("allowed-tools: Read, Grep", "allowed-tools: Read Grep"));
}

#[test]
fn files_that_are_read_and_not_run() {
    for (path, text) in [
        ("references/style.md", "# Style\n\nBe brief.\n"),
        ("data.json", "{\"url\": \"https://b.dev\"}\n"),
        ("examples/out.csv", "a,b\n"),
        ("assets/template.html", "<a href=\"https://b.dev\">b</a>\n"),
        ("claude-notes.md", "Do it.\n"),
        ("settings.md", "Do it.\n"),
        ("hooks.md", "Do it.\n"),
        ("notes.txt", "talk to ssh users\n"),
        ("notes.txt", "Use curl if you must:\n\n- https://b.dev\n"),
        ("notes.txt", "Run this:\n\n    ls -l\n"),
        ("notes.mdx", "# Notes\n\n```sh\nls\n```\n"),
        ("notes.rst", "Notes\n=====\n\n.. note::\n\n  Use curl if you must.\n\nRun::\n\n  ls\n\nNot curl.\n"),
        ("examples/query.sql", "select 1;\n"),
        ("assets/theme.css", "a { color: red }\n"),
        ("compose.md", "# Compose\n"),
        ("makefiles.md", "# Of makefiles\n"),
    ] {
        nothing(&[(path, Some(text))]);
    }
}
