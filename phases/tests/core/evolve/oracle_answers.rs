//! The readers of what agents answer about names, oracles and wrong versions.

use serde_json::{Value, json};
use skilltune_phases::asking::order::Question as _;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::evolve::oracle::Interface;
use skilltune_phases::loops::evolve::{AgentRequest, Call, Evolve, RawOracle, Step};

use super::world::{World, prompt};

/// Returns the request of the first step of a kind, with the code that its answer has to repeat.
fn request(world: &World, is_it: impl Fn(&Step) -> bool) -> (AgentRequest, String) {
    let (drive, step) = world.until(is_it);
    let page = prompt(&drive.run, &step);
    let (_, code) = page.rsplit_once("\"answer_to\": \"").expect("a code is asked for");
    let code = code.split('"').next().unwrap_or_default().to_owned();
    (Evolve::request(&drive.run, &step).expect("an agent is asked"), code)
}

fn with_code(mut answer: Value, code: &str) -> String {
    answer["answer_to"] = code.into();
    answer.to_string()
}

/// Reads an answer about the first criterion.
fn oracle(answer: Value, has_names: bool) -> Result<RawOracle, String> {
    let mut world = World::with_oracles();
    if !has_names {
        world.interface = Interface::default();
    }
    let (request, code) = request(&world, |step| matches!(step, Step::Oracle { .. }));
    let Call::Oracle(brief) = request.call() else { panic!("it is about an oracle") };
    assert!(request.schema().is_some());
    request.raw_oracle(brief, &with_code(answer, &code)).map_err(|failure| failure.why)
}

const BOTH: &str = "print('SKILLTUNE_RED'); print('SKILLTUNE_GREEN')";

fn file(path: &str, text: &str) -> Value {
    json!({ "path": path, "text": text })
}

fn answer(argv: &[&str], files: &[Value]) -> Value {
    json!({ "argv": argv, "files": files, "uses_names": false, "shows": " It pumps. ", "why_not": "" })
}

#[test]
fn a_command_with_files_of_its_own_is_an_oracle() {
    let read = oracle(answer(&["python3", "o.py"], &[file("o.py", BOTH)]), true).unwrap();
    let RawOracle::Oracle { argv, files, uses_names, shows } = read else { panic!("it is one") };
    assert_eq!((argv.len(), files[0].path.as_str(), uses_names, &*shows), (2, "o.py", false, "It pumps."));
    for taken in [
        answer(&["sh", "o.sh"], &[file("o.sh", BOTH)]),
        answer(&["python3", "-c", BOTH], &[]),
        answer(&["cargo", "test", "--", "SKILLTUNE_GREEN"], &[file("tests/o.rs", "SKILLTUNE_RED")]),
    ] {
        assert!(oracle(taken.clone(), true).is_ok(), "{taken}");
    }
    let mut named = answer(&["python3", "o.py"], &[file("o.py", BOTH)]);
    named["uses_names"] = true.into();
    assert!(matches!(oracle(named, true), Ok(RawOracle::Oracle { uses_names: true, .. })));
}

#[test]
fn an_empty_command_leaves_the_criterion_to_a_judge() {
    for (why_not, expected) in
        [("It is a matter of taste.", "It is a matter of taste."), (" ", "no machine can tell")]
    {
        let read = oracle(json!({ "argv": [], "why_not": why_not }), true).unwrap();
        assert_eq!(read, RawOracle::Judge { why: expected.into() });
    }
}

#[test]
fn an_oracle_that_would_show_nothing_is_refused_with_the_reason() {
    let own = || file("o.py", BOTH);
    let many: Vec<Value> = (0..21).map(|nth| file(&format!("o{nth}.py"), BOTH)).collect();
    let words: Vec<&str> = [&["python3", "o.py"][..], &["x"; 99]].concat();
    let with_names = {
        let mut named = answer(&["python3", "o.py"], &[own()]);
        named["uses_names"] = true.into();
        named
    };
    for (wrong, why) in [
        (answer(&["python3", "o.py"], &[file("o.py", "SKILLTUNE_RED")]), "have the word SKILLTUNE_GREEN"),
        (answer(&["python3", "o.py"], &[file("o.py", "SKILLTUNE_GREEN")]), "have the word SKILLTUNE_RED"),
        (answer(&["python3", "o.py"], &[]), "have the word SKILLTUNE_RED"),
        (
            answer(&["grep", "-r", BOTH, "src"], &[]),
            "grep only looks at files or text, which shows no behaviour",
        ),
        (answer(&["python3", "-c", &format!("open('x'); {BOTH}")], &[]), "its script looks at files"),
        (answer(&["bash", "o.py"], &[own()]), "bash is a shell or starts other programs"),
        (answer(&["sh", "-c", BOTH], &[own()]), "sh is a shell or starts other programs"),
        (answer(&["sh", "run.sh"], &[own()]), "sh is a shell or starts other programs"),
        (
            answer(&["python3", "o.py"], &[file("../o.py", BOTH)]),
            "\"../o.py\" is no plain relative path of a file",
        ),
        (answer(&["python3", "o.py"], &[file("/o.py", BOTH)]), "\"/o.py\" is no plain relative path"),
        (answer(&["python3", "o.py"], &[file("tests/", BOTH)]), "\"tests/\" is no plain relative path"),
        (answer(&["python3", "o.py"], &[own(), own()]), "the file \"o.py\" is there twice"),
        (answer(&["python3", "o.py"], &[own(), file("o.py/x", "")]), "\"o.py\" is both a file and a folder"),
        (answer(&["python3", "o0.py"], &many), "it has more than 20 files"),
        (
            answer(&["python3", "o.py"], &[own(), file("big", &"x".repeat(256 << 10))]),
            "more than 262144 bytes",
        ),
        (answer(&words, &[own()]), "it has more than 100 arguments"),
    ] {
        let failure = oracle(wrong, true).expect_err(why);
        assert!(failure.contains(why), "{why}: {failure}");
    }
    let failure = oracle(with_names, false).expect_err("nothing has a name");
    assert!(failure.contains("there are no agreed names, so it cannot use any"), "{failure}");
}

#[test]
fn names_are_a_note_and_the_stub_has_nothing_without_one() {
    let (request, code) = request(&World::with_oracles(), |step| *step == Step::Interface);
    assert!(request.schema().is_some());
    let read = |note: &str, stub: &[Value]| {
        let answer = json!({ "note": note, "stub": stub });
        request.raw_interface(&with_code(answer, &code)).map_err(|failure| failure.why)
    };
    let both = read(" pump.py: def pump() ", &[file("pump.py", "def pump(): pass")]).unwrap();
    assert_eq!((&*both.note, both.stub.len()), ("pump.py: def pump()", 1));
    let none = read("", &[]).unwrap();
    assert_eq!((&*none.note, none.stub.len()), ("", 0));
    let long = read(&"x".repeat(9_000), &[]).unwrap();
    assert!(long.note.chars().count() < 9_000, "it is cut");
    for (note, stub, why) in [
        (" ", file("pump.py", ""), "`stub` has files, and `note` names nothing"),
        ("pump.py", file("a/../pump.py", ""), "is no plain relative path of a file"),
    ] {
        let failure = read(note, &[stub]).expect_err(why);
        assert!(failure.contains(why), "{why}: {failure}");
    }
}

#[test]
fn a_wrong_version_is_a_list_of_edits() {
    let world = World::with_oracles().with_strength();
    let (request, code) = request(&world, |step| matches!(step, Step::Spoil { .. }));
    assert!(request.schema().is_some());
    let read = |versions: Value| {
        let answer = json!({ "versions": versions });
        request.raw_versions(&with_code(answer, &code)).map_err(|failure| failure.why)
    };
    let edit = json!({ "path": "pump.py", "old": "<=", "new": "<" });
    let version = |edits: usize| json!({ "what": " an edge ", "edits": vec![edit.clone(); edits] });
    let versions = read(json!([version(1), version(20), version(2), version(3)])).unwrap();
    let found: Vec<_> = versions.iter().map(|one| (one.what.as_str(), one.edits.len())).collect();
    assert_eq!(found, [("an edge", 1), ("an edge", 20), ("an edge", 2)], "more than three are left out");
    for wrong in [0, 21] {
        let failure = read(json!([version(wrong)])).expect_err("it is not one");
        assert!(failure.contains("each version needs 1 to 20 edits"), "{failure}");
    }
}
