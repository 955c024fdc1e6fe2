//! Oracles of other kinds than scripts for a shell: a web service, a test of a module in Python, a test of a crate in Rust.

use std::path::Path;

use serde_json::{Value, json};

use super::{RUN, SHORT, alone, play, project, receipt, word};
use crate::evolve::{Project, ended, writing};
use crate::scene::Ran;

/// Returns an oracle that is one file.
fn oracle(argv: &[&str], path: &str, text: &str, uses_names: bool) -> Value {
    json!({
        "argv": argv, "files": [{ "path": path, "text": text }], "uses_names": uses_names,
        "shows": "it does it", "why_not": "",
    })
}

fn assert_verified(ran: &Ran, before: &str) {
    assert_eq!(
        (ended(ran).as_str(), word(ran, "A1")),
        ("0 reached success", ["verified", ""].map(str::to_owned)),
        "{ran:?}"
    );
    let oracle = receipt(ran, "A1")["oracle"].clone();
    let said = oracle["before"]["said"].as_str().unwrap_or_default();
    assert!(oracle["before"]["light"] == json!("red") && said.contains(before), "{oracle}");
}

/// Whether the commands of a test find Python.
fn has_python() -> bool {
    let found = Path::new("/usr/bin/python3").exists();
    if !found {
        eprintln!("SKIPPED: there is no python3");
    }
    found
}

const SERVER: &str = "\
import http.server
import os
import socketserver


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(404)

    def log_message(self, *words):
        pass


socketserver.TCPServer.allow_reuse_address = True
server = socketserver.TCPServer((\"127.0.0.1\", int(os.environ[\"PORT\"])), Handler)
print(\"ready\", flush=True)
server.serve_forever()
";
const ANSWER: &str = "        if not self.path.startswith(\"/hello/\"):
            return self.send_error(404)
        page = f\"hello {self.path[len('/hello/'):]}\\n\".encode()
        self.send_response(200)
        self.send_header(\"Content-Length\", str(len(page)))
        self.end_headers()
        self.wfile.write(page)
";
/// Waits until the server says that it listens, and asks it.
const ASKS: &str = "\
import os
import subprocess
import sys
import urllib.error
import urllib.request

server = subprocess.Popen([sys.executable, \"server.py\"], stdout=subprocess.PIPE, text=True)
try:
    assert server.stdout.readline() == \"ready\\n\", \"it does not start\"
    for name in [\"Ada\", \"Bob\"]:
        try:
            page = urllib.request.urlopen(f\"http://127.0.0.1:{os.environ['PORT']}/hello/{name}\", timeout=20)
            said = page.read().decode()
        except urllib.error.HTTPError as error:
            said = f\"status {error.code}\"
        assert said == f\"hello {name}\\n\", f\"SKILLTUNE_RED: {said}\"
    print(\"SKILLTUNE_GREEN\")
finally:
    server.kill()
    server.wait()
";

#[test]
fn an_oracle_asks_a_web_service_on_its_port() {
    if !has_python() {
        return;
    }
    let server = SERVER.replace("        self.send_error(404)\n", ANSWER);
    let asks = oracle(&["python3", "oracle_web.py"], "oracle_web.py", ASKS, false);
    let play = play(&["A1"], &[writing("server.py", &server)], &json!({ "A1": [asks] }));
    let project = project(&play, &[("server.py", SERVER)], SHORT);
    assert_verified(&alone(&project, &[]), "SKILLTUNE_RED: status 404");
}

/// Returns a project whose oracle needs names that only the stub has.
fn named(work: Value, oracle: &Value, stub: (&str, &str), files: &[(&str, &str)], settings: &str) -> Project {
    let mut play = play(&["A1"], &[work], &json!({ "A1": [oracle] }));
    let (path, text) = stub;
    play["names"] = json!({ "note": format!("{path}: area"), "stub": [{ "path": path, "text": text }] });
    project(&play, files, &[SHORT, settings].concat())
}

const UNITTEST: &str = "\
import unittest

import area


class Oracle(unittest.TestCase):
    def test_area(self):
        for a, b in [(2, 3), (4, 5)]:
            self.assertEqual(area.area(a, b), a * b, \"SKILLTUNE_RED\")
        print(\"SKILLTUNE_GREEN\")
";

#[test]
fn an_oracle_is_a_test_of_a_module_in_python() {
    if !has_python() {
        return;
    }
    let argv = ["python3", "-m", "unittest", "oracle_area"];
    let test = oracle(&argv, "oracle_area.py", UNITTEST, true);
    let stub = ("area.py", "def area(a, b):\n    return None\n");
    let project = named(writing("area.py", "def area(a, b):\n    return a * b\n"), &test, stub, &[], "");
    assert_verified(&alone(&project, &[]), "None != 6 : SKILLTUNE_RED");
}

const CRATE: [(&str, &str); 2] = [
    ("Cargo.toml", "[package]\nname = \"area\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
    ("src/lib.rs", "//! Areas.\n"),
];
const CARGO_TEST: &str = "\
#[test]
fn the_area_is_the_product() {
    for (a, b) in [(2, 3), (4, 5)] {
        assert_eq!(area::area(a, b), a * b, \"SKILLTUNE_RED\");
    }
    println!(\"SKILLTUNE_GREEN\");
}
";
/// The project's own commands, which need no compiler.
const COMMANDS: &str = "[commands]\nlint = [\"true\"]\nbuild = [\"true\"]\ntest = [\"true\"]\n";

#[test]
fn an_oracle_is_a_test_of_a_crate_in_rust() {
    let tools = Path::new(env!("CARGO")).parent().expect("it is in a folder");
    if !tools.join("cargo").exists() || !tools.join("rustc").exists() {
        eprintln!("SKIPPED: there is no toolchain in {}", tools.display());
        return;
    }
    let area =
        |value: &str| format!("//! Areas.\n\npub fn area(a: u64, b: u64) -> u64 {{\n    {value}\n}}\n");
    let argv = ["cargo", "test", "--offline", "--test", "oracle_a1", "--", "--nocapture"];
    let test = oracle(&argv, "tests/oracle_a1.rs", CARGO_TEST, true);
    let (work, stub) = (writing("src/lib.rs", &area("a * b")), area("a.min(b) * 0"));
    let project = named(work, &test, ("src/lib.rs", &stub), &CRATE, COMMANDS);
    let mut command = project.scene().command(&[&RUN[..], &["--yes"]].concat());
    command.env("PATH", format!("{}:/usr/bin:/bin", tools.display()));
    let ran = Ran::of(command.output().expect("our binary starts"));
    assert_verified(&ran, "SKILLTUNE_RED");
}
