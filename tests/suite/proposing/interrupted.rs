//! A run that is stopped while it makes its commit or its pull request: it does not wait for a hanging program.

use std::fs;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use super::repository::TUNE;
use super::server::{REQUEST, Server};
use crate::background::{Background, Gate};
use crate::scene::Ran;

/// Shorter than any program's timeout: the program would not have ended by itself.
const AT_ONCE: Duration = Duration::from_secs(15);

/// Makes a program of the server hang at a command while the gate exists.
fn hang(server: &Server, program: &str, command: &str) -> Gate {
    let scene = &server.repository.scene;
    let bin = scene.path("bin");
    fs::rename(bin.join(program), bin.join(format!("real-{program}"))).unwrap();
    let (gate, waiting) = (scene.path("gate"), scene.path("waiting"));
    let script = format!(
        r#"case " $* " in *" {command} "*)
    if [ -e {gate} ]; then echo > {waiting}; read line < {gate}; fi ;;
esac
exec "$(dirname "$0")/real-{program}" "$@""#,
        gate = gate.display(),
        waiting = waiting.display(),
    );
    server.repository.program(&format!("bin/{program}"), &script);
    Gate::at(gate)
}

#[test]
fn a_run_that_is_to_stop_while_it_proposes_ends_at_once_and_is_resumed() {
    for (program, command, signal, code) in [
        ("git", "commit-tree", Signal::INT, 130),
        ("git", "push", Signal::TERM, 143),
        ("gh", "--method", Signal::INT, 130),
    ] {
        let server = Server::new();
        let scene = &server.repository.scene;
        let before = server.repository.users();
        let gate = hang(&server, program, command);
        let run = Background::spawn(scene, server.command(&[&TUNE[..], &["--apply", "pr"]].concat()));
        assert!(run.until(|scene| scene.path("waiting").exists()), "{program} {command}");
        run.signal(signal);
        assert!(run.ends_within(AT_ONCE), "{program} {command}");
        let ran = run.wait();
        assert_eq!(ran.code, Some(code), "{program} {command}: {ran:?}");
        assert_eq!((scene.alive(), server.repository.users()), (vec![], before), "{program} {command}");
        gate.remove();

        let mut resume = server.command(&["resume", "--yes", "--format", "json"]);
        let ran = Ran::of(resume.output().unwrap());
        let json = ran.json();
        assert_eq!((ran.code, &json["outcome"]), (Some(0), &json!("proposed")), "{command}: {ran:?}");
        assert_eq!(json["proposal"]["pull_request"], json!(REQUEST), "{command}: {ran:?}");
        assert_eq!(server.pushed().as_deref(), Some(server.local().as_str()), "{command}");
        assert_eq!(server.changes(), 1, "{command}: {:?}", server.calls());
    }
}
