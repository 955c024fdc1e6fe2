//! Questions to a person at a terminal; the tests create their own terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::Command;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::json;

use crate::scene::{Scene, listing};

/// Returns both ends of a new terminal, the person's and the program's; fails where none can be created.
pub(crate) fn terminal() -> rustix::io::Result<(File, OwnedFd)> {
    let outer = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&outer)?;
    unlockpt(&outer)?;
    let name = ptsname(&outer, Vec::new())?;
    let inner = open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    Ok((File::from(outer), inner))
}

/// Returns the output for a person who only presses enter.
fn output_of(scene: &Scene, ends: (File, OwnedFd), line: &[&str]) -> String {
    typed(scene.command(line), ends, "\r\r\r")
}

/// Returns the output for a person who presses these keys; stdout is not a terminal.
pub(crate) fn typed(mut command: Command, (mut outer, inner): (File, OwnedFd), keys: &str) -> String {
    outer.write_all(keys.as_bytes()).unwrap();
    command.env("TERM", "xterm").stdin(inner.try_clone().unwrap()).stderr(inner);
    let mut child = command.spawn().unwrap();
    // Drops our own handle of its end with the command, so that reading ends when the program does.
    drop(command);
    let mut output = Vec::new();
    let mut part = [0; 4096];
    while let Ok(length @ 1..) = outer.read(&mut part) {
        output.extend_from_slice(&part[..length]);
    }
    assert!(child.wait().unwrap().code().is_some());
    String::from_utf8_lossy(&output).into_owned()
}

/// Returns the output for a person who waits for each of these texts and then presses its keys, on a terminal of 80
/// columns.
pub(crate) fn talked(
    mut command: Command,
    (mut outer, inner): (File, OwnedFd),
    talk: &[(&str, &str)],
) -> String {
    let size = Winsize { ws_row: 40, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&inner, size).unwrap();
    let of_data = inner.try_clone().unwrap();
    command.env("TERM", "xterm").stdin(inner.try_clone().unwrap()).stdout(of_data).stderr(inner);
    let mut child = command.spawn().unwrap();
    drop(command);
    let (mut output, mut from) = (String::new(), 0);
    let mut part = [0; 4096];
    let mut left = talk.iter();
    let mut next = left.next();
    loop {
        while let Some((words, keys)) = next {
            let Some(at) = output[from..].find(words) else { break };
            from += at + words.len();
            outer.write_all(keys.as_bytes()).unwrap();
            next = left.next();
        }
        let mut ready = [PollFd::new(&outer, PollFlags::IN)];
        let wait = Timespec { tv_sec: 60, tv_nsec: 0 };
        assert!(poll(&mut ready, Some(&wait)).unwrap() > 0, "waiting for {next:?} in:\n{output}");
        match outer.read(&mut part) {
            Ok(length @ 1..) => output += &String::from_utf8_lossy(&part[..length]),
            Ok(0) | Err(_) => break,
        }
    }
    assert!(child.wait().unwrap().code().is_some());
    assert_eq!(next, None, "it ended before that:\n{output}");
    output
}

/// A terminal that closes during a question leaves no process waiting for an answer.
#[test]
fn a_question_ends_with_its_terminal() {
    let scene = Scene::new(&[], &json!({ "reflex": {} }));
    let Ok((outer, inner)) = terminal() else { return };
    let mut command = scene.command(&["reflex"]);
    command
        .env("TERM", "xterm")
        .stdin(inner.try_clone().unwrap())
        .stdout(inner.try_clone().unwrap())
        .stderr(inner);
    let mut child = command.spawn().unwrap();
    drop(command);
    let (mut output, mut part) = (String::new(), [0; 4096]);
    while !output.contains("as you would ask somebody") {
        let length = (&outer).read(&mut part).unwrap();
        output += &String::from_utf8_lossy(&part[..length]);
    }
    drop(outer);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn how_far_it_shall_go_is_asked_only_where_the_answer_decides_something() {
    let line = ["tune", "writer", "write a page", "--threshold", "10"];
    let scene = || Scene::new(&[("writer", 90)], &json!({}));
    let (first, second) = match (terminal(), terminal()) {
        (Ok(first), Ok(second)) => (first, second),
        (Err(error), _) | (_, Err(error)) => {
            eprintln!("terminal: nothing was asked: no terminal can be made here: {error}");
            return;
        }
    };
    let asked = output_of(&scene(), first, &line);
    assert!(asked.contains(SPEND) && !asked.contains(TRIED_ON), "{asked}");
    let output = output_of(&scene(), second, &[&line[..], &["--max-iterations", "2"]].concat());
    assert!(!output.contains(SPEND) && output.contains("tune writer"), "{output}");
}

const ENTER: &str = "\r";
const TRIED_ON: &str = "What should writer be tried on?";
const SPEND: &str = "How much may the search spend?";
const EXPECTED: &str = "Its quality is at least 20.";

/// Returns the tasks that the run tries the skill on.
fn tasks(scene: &Scene) -> Vec<String> {
    let scenarios = scene.events("started")[0]["scenarios"].as_array().unwrap().clone();
    scenarios.iter().map(|scenario| scenario["description"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn without_a_task_it_is_asked_for_before_the_price_of_the_search() {
    let scene = Scene::new(&[("writer", 90)], &json!({}));
    let Ok(ends) = terminal() else { return };
    let command = scene.command(&["tune", "writer", "--threshold", "10"]);
    let talk = [(TRIED_ON, ENTER), ("enter to let it make one up", "Write of the tides\r"), (SPEND, ENTER)];
    talked(command, ends, &talk);
    assert_eq!(tasks(&scene), ["Write of the tides"]);
}

#[test]
fn the_skills_own_suite_is_offered_first() {
    let scene = Scene::new(&[("writer", 90)], &json!({}));
    let folder = scene.skill("writer").join("evals");
    std::fs::create_dir(&folder).unwrap();
    let case = json!({ "id": 1, "prompt": "Write of the wind", "expectations": [EXPECTED] });
    std::fs::write(folder.join("evals.json"), json!({ "evals": [case] }).to_string()).unwrap();
    let Ok(ends) = terminal() else { return };
    let command = scene.command(&["tune", "writer", "--threshold", "10"]);
    let output = talked(command, ends, &[(TRIED_ON, ENTER), (SPEND, ENTER)]);
    assert!(output.contains("its own suite, evals/evals.json"), "{output}");
    assert_eq!(tasks(&scene), ["Write of the wind"]);
}

/// The drafts count only once a person has reviewed them: then the same command offers them.
#[test]
fn a_suite_is_drafted_on_demand_and_offered_once_it_is_there() {
    let scenarios = json!([{ "id": "plain", "task": "Write of the rain", "expectations": [EXPECTED] }]);
    let scene = Scene::new(&[("writer", 90)], &json!({ "scenarios": scenarios }));
    let (Ok(first), Ok(second)) = (terminal(), terminal()) else { return };
    let line = ["tune", "writer", "--threshold", "10"];
    let output = talked(scene.command(&line), first, &[(TRIED_ON, "\u{1b}[B\r")]);
    assert!(output.contains("with 1 draft") && output.contains("run the same command again"), "{output}");
    assert!(!output.contains(SPEND) && scene.run_folders().is_empty(), "{output}");
    let suite = scene.path("project/suite.toml");
    let text = std::fs::read_to_string(&suite).unwrap();
    std::fs::write(&suite, text.replace("draft = true\n", "")).unwrap();
    let output = talked(scene.command(&line), second, &[(TRIED_ON, ENTER), (SPEND, ENTER)]);
    assert!(output.contains("the project's suite, suite.toml"), "{output}");
    assert_eq!(tasks(&scene), ["Write of the rain"]);
}

/// At a terminal, a person sees the diff and is asked before the skill is replaced, unless flags have decided it.
#[test]
fn a_champion_replaces_the_skill_only_when_a_person_agrees() {
    const QUESTION: &str = "Apply the champion?";
    let scene = || Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 90 } } }));
    let line = ["tune", "writer", "write a page", "--max-iterations", "3", "--threshold", "80"];
    for (flags, keys, is_asked, quality) in [
        (&[][..], "\u{1b}[A\r", true, 90),
        // One task is weak evidence: pressing enter, or not being asked, keeps the skill unchanged.
        (&[][..], "\r", true, 40),
        (&["--yes"][..], "", false, 40),
        (&["--apply", "auto"][..], "", false, 90),
        (&["--apply", "never"][..], "", false, 40),
    ] {
        let Ok(ends) = terminal() else { return };
        let scene = scene();
        scene.leave_apply_unset();
        let output = typed(scene.command(&[&line[..], flags].concat()), ends, keys);
        assert_eq!(output.contains(QUESTION), is_asked, "{flags:?}: {output}");
        let (diff, question) = (output.find("+++ b/SKILL.md"), output.find(QUESTION));
        assert!(!is_asked || diff.is_some_and(|diff| Some(diff) < question), "{flags:?}: {output}");
        assert_eq!(scene.quality("writer"), quality, "{flags:?}: {output}");
    }
    let set = scene();
    set.write_settings("[tune]\napply = \"auto\"\n");
    let Ok(ends) = terminal() else { return };
    let output = typed(set.command(&line), ends, "");
    assert!(!output.contains(QUESTION) && set.quality("writer") == 90, "what is set is not asked: {output}");
}

#[test]
fn a_long_export_shows_a_bar_at_a_terminal_and_nowhere_else() {
    let run = |bytes: usize| {
        let scene = Scene::new(&[("writer", 40)], &json!({}));
        std::fs::write(scene.skill("writer").join("large"), vec![7; bytes]).unwrap();
        scene.tune("writer", &["--max-iterations", "1"]);
        scene
    };
    let (long, short) = (run(17 << 20), run(17));
    for (scene, variable, has_bar) in [(&long, "A", true), (&long, "CI", false), (&short, "A", false)] {
        let Ok(ends) = terminal() else { return };
        let mut command = scene.command(&["export", &scene.run_id(), "start", variable]);
        command.env(variable, "1");
        let output = typed(command, ends, "");
        assert_eq!(output.contains("copying ") && output.contains('%'), has_bar, "{output}");
        assert!(
            output.ends_with(&format!("/project/{variable}\r\n")),
            "the bar is gone at the end: {output:?}"
        );
        let copied = listing(&scene.path("project").join(variable));
        assert!(copied == listing(&scene.skill("writer")), "the copy is another one");
    }
    let piped = long.run(&["export", &long.run_id(), "start", "piped"]);
    assert!(!piped.stderr.contains("copying ") && piped.stdout.is_empty(), "{piped:?}");
}
