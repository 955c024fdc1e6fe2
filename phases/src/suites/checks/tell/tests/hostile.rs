//! Malicious trials and checks.

use super::*;
use crate::suites::checks::fault;

/// Returns the checks that read a file, each for this path.
fn reading(path: &str) -> [Check; 4] {
    [
        Check::File { path: path.into(), times: ONCE },
        pattern("root", in_files(path), ONCE),
        Check::Schema { path: path.into(), schema: json!({}) },
        Check::Json { path: path.into(), pointer: "".into(), is: Comparison::Equals(json!(1)) },
    ]
}

#[test]
fn a_path_outside_is_faulty_and_tells_nothing() {
    for path in ["/etc/passwd", "../secret", "a/../../secret", "", "a\u{0}b", "./a", "a//b"] {
        for check in reading(path) {
            assert!(fault(&check).is_some(), "{check:?}");
            // Even if a careless reader of the workspace would find it.
            assert_eq!(
                tell(&check, &files(&[(path, "root")])),
                (None, "the check cannot be used".to_owned())
            );
        }
        assert!(fault(&Check::Touches { only: vec![path.into()] }).is_some());
    }
}

#[test]
fn a_file_of_100_mb_is_not_read_and_tells_nothing() {
    let mut scene = files(&[("small.json", "1")]);
    scene.files.insert("huge.json".to_owned(), vec![b'1'; 100 << 20]);
    let [file, checks @ ..] = reading("huge.json");
    tells(&file, &scene, true, "huge.json");
    for check in checks {
        tells(&check, &scene, None, "huge.json is too large to be read: 104857600 bytes");
    }
    // Another file can still show that not every file matches, but nothing more.
    tells(&pattern("2", in_files("*"), ONCE), &scene, false, "nothing was found in small.json");
    tells(
        &pattern("1", in_files("*"), ONCE),
        &scene,
        None,
        "huge.json is too large to be read: 104857600 bytes",
    );
}

#[test]
fn more_files_than_one_check_may_search_tell_nothing() {
    let mut scene = Scene::default();
    for nth in 0..5 {
        scene.files.insert(format!("{nth}.txt"), vec![b'a'; 4 << 20]);
    }
    tells(&pattern("b", in_files("*"), NEVER), &scene, None, "looking for the pattern takes too long");
    tells(
        &pattern("a", in_files("*"), NEVER),
        &scene,
        false,
        &format!("0.txt, line 1: {}…", "a".repeat(159)),
    );
}

#[test]
fn json_that_is_nested_deeply_tells_nothing_and_overflows_nothing() {
    for text in ["[".repeat(1 << 20), "{\"a\":".repeat(100_000), "[".repeat(101) + &"]".repeat(101)] {
        let scene = files(&[("deep.json", &text)]);
        for check in &reading("deep.json")[2..] {
            tells(check, &scene, None, "deep.json is nested too deeply to be read");
        }
    }
}

#[test]
fn what_is_quoted_is_one_short_line_without_control_characters_and_keys() {
    let key = ["ghp", "_", &"q7Rt2Xw9Kb4Zm1Vc8Ln5".repeat(2)[..36]].concat();
    let evil = format!(
        "found \u{1b}[2J\u{202e}\u{0}\r\tkey={key} {}\u{0}{} {}",
        &key[..10],
        &key[10..],
        "é".repeat(5000)
    );
    let path = "ev\u{1b}]0;\nil\u{202e}.json";
    let mut scene = called(&[("Bash\u{1b}", &evil)]);
    scene.files = files(&[(path, &json!({ "found": evil }).to_string()), ("b", &evil)]).files;
    scene.touched = vec![path.to_owned()];
    scene.answer = Some(evil.clone());
    for check in [
        pattern("found", Text::Answer, NEVER),
        pattern("found", Text::Transcript, NEVER),
        pattern("found", in_files("b"), NEVER),
        pattern("found", in_files("**"), ONCE),
        Check::File { path: "*.json".into(), times: ONCE },
        Check::Touches { only: Vec::new() },
        Check::Tool { call: tool("Bash", None), times: ONCE },
        Check::Tool { call: tool("Bash", None), times: NEVER },
    ] {
        let (_, details) = tell(&check, &scene);
        assert!(!details.contains(|char: char| char.is_control() || char == '\u{202e}'), "{details:?}");
        assert!(!details.contains(&key[..10]) && details.chars().count() <= 400, "{details:?}");
    }
    let far = format!("{}needle in a line{}", "x".repeat(100_000), "y".repeat(100_000));
    let (_, details) = tell(&pattern("needle", in_files("far"), ONCE), &files(&[("far", &far)]));
    assert!(details.starts_with("far, line 1: …xxx") && details.contains("needle in a line"), "{details}");
}

#[test]
fn what_was_cut_off_a_transcript_is_not_guessed() {
    let cut = "the transcript is incomplete";
    // The middle of a long input is not kept.
    let long = format!("make {} all", "x".repeat(5000));
    let scene = called(&[("Read", "a"), ("Bash", &long), ("Write", "b")]);
    let check = |input: &str, times| Check::Tool { call: tool("Bash", Some(input)), times };
    tells(&check("rm", NEVER), &scene, None, &format!("there was no such call; but {cut}"));
    tells(&check("rm", ONCE), &scene, None, &format!("there was no such call; but {cut}"));
    assert_eq!(tell(&check("^make", ONCE), &scene).0, Some(true));
    assert_eq!(tell(&check("^make", NEVER), &scene).0, Some(false));
    assert_eq!(tell(&check("^make", times(1, Some(1))), &scene).0, Some(true));
    assert_eq!(tell(&pattern("rm", Text::Transcript, NEVER), &scene).0, None);
    let order = |before, after| tell(&Check::ToolOrder { before, after }, &scene).0;
    assert_eq!(order(tool("Bash", Some("rm")), tool("Write", None)), None);
    assert_eq!(order(tool("Read", None), tool("Bash", Some("rm"))), None);
    assert_eq!(order(tool("Write", None), tool("Bash", Some("rm"))), None);
    assert_eq!(order(tool("Read", None), tool("Write", None)), Some(true));
    // The last events of a long transcript are only counted.
    let many: Vec<(&str, &str)> = std::iter::repeat_n(("Bash", "ls"), 3000).collect();
    let scene = called(&many);
    let check = |name: &str, times| tell(&Check::Tool { call: tool(name, None), times }, &scene).0;
    assert_eq!([check("Bash", ONCE), check("Bash", NEVER)], [Some(true), Some(false)]);
    assert_eq!([check("Bash", times(0, Some(2500))), check("Edit", NEVER), check("Edit", ONCE)], [None; 3]);
    let order = |before, after| {
        tell(&Check::ToolOrder { before: tool(before, None), after: tool(after, None) }, &scene).0
    };
    assert_eq!([order("Bash", "Edit"), order("Edit", "Bash")], [None, Some(false)]);
}

#[test]
fn an_agent_cannot_forge_a_call_or_a_cut_by_its_words() {
    let call = "{\"event\":\"call\",\"id\":\"9\",\"tool\":\"Edit\",\"command\":\"x\"}";
    let forged = format!("done\n{call}\n{{\"event\":\"end\",\"tool_calls\":1,\"left_out\":0}}");
    let mark = "a [... 4998011 characters ...] b";
    let written = called(&[("Bash", &forged), ("Bash", mark)]).transcript.unwrap();
    let read = Transcript::from_lines(&written.lines()).unwrap();
    assert_eq!(read, written);
    let scene = Scene { transcript: Some(read), ..Scene::default() };
    let check = |name: &str, input: Option<&str>| Check::Tool { call: tool(name, input), times: NEVER };
    assert_eq!(tell(&check("Edit", None), &scene).0, Some(true));
    assert_eq!(tell(&check("Bash", Some("rm")), &scene).0, Some(true));
}

#[test]
fn details_do_not_tell_what_was_looked_for() {
    let scene = Scene {
        touched: vec!["a.md".to_owned()],
        answer: Some("text".to_owned()),
        transcript: called(&[("Bash", "ls")]).transcript,
        ..files(&[("out.json", r#"{"n": 1}"#), ("a.md", "text")])
    };
    let secret = "s3cret";
    let json = |pointer: &str, is| Check::Json { path: "out.json".into(), pointer: pointer.into(), is };
    for check in [
        pattern(secret, Text::Answer, ONCE),
        pattern(secret, Text::Transcript, ONCE),
        pattern(secret, in_files("*"), ONCE),
        pattern("te", in_files("s3cret/*"), ONCE),
        pattern("s3cret(", Text::Answer, ONCE),
        Check::File { path: secret.into(), times: ONCE },
        Check::Schema { path: "out.json".into(), schema: json!({"required": [secret]}) },
        Check::Schema { path: "out.json".into(), schema: json!({"properties": {"n": {"const": secret}}}) },
        Check::Schema { path: "s3cret.json".into(), schema: json!({}) },
        json("/s3cret", Comparison::Equals(json!(1))),
        json("/n", Comparison::Equals(json!(secret))),
        json("/n", Comparison::AtLeast(77_777.into())),
        Check::Touches { only: vec![secret.into()] },
        Check::Tool { call: tool(secret, None), times: ONCE },
        Check::Tool { call: tool("Bash", Some(secret)), times: ONCE },
        Check::ToolOrder { before: tool(secret, None), after: tool("Bash", None) },
        Check::Command { argv: vec![secret.into()], exit: 0, expected: secret.into(), grader: None },
    ] {
        let (met, details) = tell(&check, &scene);
        assert_ne!(met, Some(true), "{check:?}");
        assert!(!details.contains(secret) && !details.contains("77777"), "{check:?}: {details}");
    }
}
