//! The agent that `docs/agents/command.md` shows: its files are those of the page, and it works.

use std::fs;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

use crate::scene::{Ran, Scene};

const PAGE: &str = include_str!("../../docs/agents/command.md");
const SCRIPT: &str = include_str!("../../fixtures/agents/ask.py");
const SETTINGS: &str = include_str!("../../fixtures/agents/skilltune.toml");

#[test]
fn the_page_shows_the_files_of_the_example() {
    for (language, text) in [("python", SCRIPT), ("toml", SETTINGS)] {
        let block = format!("```{language}\n{text}```\n");
        assert!(PAGE.contains(&block), "docs/agents/command.md lacks:\n{block}");
    }
}

#[test]
fn the_example_asks_its_model_and_reports_the_answer_and_the_tokens() {
    let scene = Scene::empty();
    let python = scene.command_of("python3", &["--version"], &[]).output();
    if !python.is_ok_and(|ran| ran.status.success()) {
        eprintln!("SKIPPED: python3 is not installed here");
        return;
    }
    fs::write(scene.path("project/skilltune.toml"), SETTINGS).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/agents/ask.py");
    fs::copy(script, scene.path("project/ask.py")).unwrap();
    let (address, served) = model("One queue.");
    let task = "Should the pump have a queue?";
    let line = ["expert", "architect", task, "--agent", "mine:large", "--trust", "--yes", "--format", "json"];
    let ran = Ran::of(scene.command(&line).env("ASK_URL", &address).output().unwrap());
    assert_eq!((ran.code, &ran.json()["answer"]), (Some(0), &json!("One queue.")), "{ran:?}");
    let cost = ran.json()["cost"].clone();
    assert_eq!((&cost["input_tokens"], &cost["output_tokens"]), (&json!(12), &json!(3)), "{ran:?}");
    let asked = served.join().unwrap();
    assert_eq!(asked["model"], "large");
    assert!(asked["messages"][0]["content"].as_str().unwrap().contains(task), "{asked}");
}

/// Starts a chat service on this machine that answers one request. Returns its address, and the request.
fn model(answer: &str) -> (String, JoinHandle<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let usage = json!({ "prompt_tokens": 12, "completion_tokens": 3 });
    let said = json!({ "choices": [{ "message": { "content": answer } }], "usage": usage }).to_string();
    let served = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut request = BufReader::new(stream);
        let mut body = vec![0; body_length(&mut request)];
        request.read_exact(&mut body).unwrap();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", said.len());
        request.get_mut().write_all([head, said].concat().as_bytes()).unwrap();
        serde_json::from_slice(&body).unwrap()
    });
    (address, served)
}

/// Reads the head of a request, and returns the length of its body.
fn body_length(request: &mut impl BufRead) -> usize {
    let mut length = 0;
    loop {
        let mut line = String::new();
        request.read_line(&mut line).unwrap();
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.is_empty() {
            return length;
        }
    }
}
