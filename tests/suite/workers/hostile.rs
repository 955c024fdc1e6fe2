//! Workers that lie. Each is a real worker behind a program that changes its reply; so all else is as it should be.

use super::*;

/// Passes everything on, and runs the Python statements of its first argument before the reply: on `parts`, what comes
/// before it, and on `frame` and `reply`; or on `body`, if the reply is to be other than JSON.
const BETWEEN: &str = r#"
import json, os, subprocess, sys, threading

child = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

def feed():
    while piece := os.read(0, 65536):
        child.stdin.write(piece)
        child.stdin.flush()
    child.stdin.close()

def send(frame, body):
    sys.stdout.buffer.write(json.dumps(frame).encode() + b"\n" + body + (b"\n" if body else b""))
    sys.stdout.buffer.flush()

threading.Thread(target=feed, daemon=True).start()
parts = []
for line in child.stdout:
    frame = json.loads(line)
    body = child.stdout.read(frame.get("bytes", 0))
    if body:
        child.stdout.read(1)
    kind = frame.get("frame")
    if kind in ("object", "file"):
        parts.append((frame, body))
    elif kind == "reply":
        reply = json.loads(body)
        names = {"json": json, "os": os, "child": child, "parts": parts}
        names.update(frame=frame, reply=reply, body=None)
        exec(sys.argv[1], names)
        body = names["body"]
        if body is None:
            body = json.dumps(reply).encode()
            frame["bytes"] = len(body)
        for part in parts:
            send(*part)
        send(frame, body)
    else:
        send(frame, body)
child.wait()
os._exit(0)
"#;

/// Returns the command of a worker whose replies these statements change; none if there is no Python.
pub(super) fn lying(scene: &Scene, name: &str, statements: &str) -> Option<Vec<String>> {
    let python = scene.command_of("python3", &["--version"], &[]).output();
    if !python.is_ok_and(|ran| ran.status.success()) {
        eprintln!("SKIPPED: python3 is not installed here");
        return None;
    }
    let between = scene.path("between.py");
    fs::write(&between, BETWEEN).unwrap();
    let words = ["python3", between.to_str().unwrap(), statements].map(str::to_owned);
    Some(words.into_iter().chain(worker(scene, name)).collect())
}

/// Runs with this worker alone. Each of its replies must be a lost call for this reason, and nothing may come of it.
fn assert_lost(scene: &Scene, run: Vec<String>, why: &str) {
    settle(scene, &[("den", run)]);
    let before = listing(&scene.skill("writer"));
    let ran = tune(scene, "den", &[]);
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(4), &json!("paused")), "{why}: {ran:?}");
    let failed = failures(scene);
    assert_eq!(failed.len(), 2, "{why}: tried, and tried again: {failed:?}");
    for (kind, said) in &failed {
        let lost = format!("the call was lost 5 times, at last with den: {why}");
        assert!(kind == "worker_lost" && said.starts_with(&lost), "{why}: {failed:?}");
        assert!(said.lines().count() == 1 && said.len() < 1000, "{why}: {said}");
    }
    assert_eq!(ran.json()["blocked"]["why"], failed[1].1, "{why}: {ran:?}");
    let stored = listing(&scene.path("project/.skilltune/cache"));
    let stored: Vec<_> =
        stored.iter().map(|(path, ..)| path).filter(|path| path.extension().is_some()).collect();
    assert!(stored.is_empty(), "{why}: {stored:?}");
    assert_eq!(listing(&scene.skill("writer")), before, "{why}");
    assert_eq!(scene.alive(), [0; 0], "{why}");
    // The worker keeps the reply to a call, so the agent was called once in each attempt.
    let begun = scene.calls().values().map(|(begun, _)| begun).sum::<usize>();
    assert!(begun <= 2, "{why}: {begun} agents were called");
}

fn assert_all_lost(lies: &[(&str, &str)]) {
    for (statements, why) in lies {
        let scene = scene(&rising(), &["den"]);
        let Some(run) = lying(&scene, "den", statements) else { return };
        assert_lost(&scene, run, why);
    }
}

#[test]
fn a_reply_that_is_not_the_one_to_the_call_is_lost() {
    assert_all_lost(&[
        ("frame['key'] = '0' * 64", "it replied to another call"),
        ("reply['key'] = '0' * 64", "it replied to another call"),
        ("body = b'{no'; frame['bytes'] = 3", "its reply cannot be read: "),
        ("del reply['outcome']", "its reply cannot be read: "),
        ("reply['spent']['usd'] = -1.0", "it reported an impossible cost"),
        (
            "reply['outcome'] = {'failed': {'kind': 'no_worker', 'why': 'none'}}",
            "it reported a failure that only a coordinator can know",
        ),
    ]);
}

#[test]
fn what_is_larger_than_it_may_be_is_not_waited_for() {
    assert_all_lost(&[
        ("body = b''; frame['bytes'] = 13 << 20", "it sent 13631488 bytes where at most 12582912 may be"),
        (
            "parts[:] = [({'frame': 'object', 'digest': '0' * 64, 'bytes': 10 ** 10}, b'')]",
            "it sent more than a call may leave",
        ),
        (
            "parts[:] = [({'frame': 'file', 'name': 'stdout', 'bytes': 10 ** 12}, b'')]",
            "it sent 1000000000000 bytes where at most ",
        ),
    ]);
}

#[test]
fn parts_that_are_missing_or_wrong_and_frames_at_the_wrong_time_are_lost_calls() {
    assert_all_lost(&[
        ("parts.clear()", "it sent only a part of what its reply names"),
        (
            "parts[:] = [({'frame': 'object', 'digest': '0' * 64, 'bytes': 5}, b'bytes')]",
            "it sent a part that has another hash",
        ),
        ("parts[:] = [({'frame': 'described', 'agents': []}, b'')]", "it sent a frame at the wrong time: "),
        ("parts[:] = [({'frame': 'unheard of'}, b'')]", "it sent no frame: "),
        (
            "frame.clear(); frame['frame'] = 'failed'; frame['why'] = 'no disk\\nleft'; body = b''",
            "no disk left",
        ),
        ("child.wait(); os._exit(3)", "its command ended"),
    ]);
}

/// They behave until the run begins.
#[test]
fn a_line_without_an_end_and_a_flood_before_the_greeting_are_lost_calls() {
    for (flood, why) in [
        ("head -c 1048640 /dev/zero | tr '\\0' x", "it sent a line without an end"),
        ("yes \"$(seq -s ' ' 1000)\" | head -c 1060000", "it printed more than 1 MiB before its first line"),
        ("echo '{\"skilltune_worker\":1}'", "its first line is no greeting: "),
        ("echo '{\"frame\":\"beat\"}'; echo no room >&2; exit 3", "its command ended: no room"),
    ] {
        let scene = scene(&rising(), &["den"]);
        let script = format!("if {}; then\n{flood}\nexec cat > /dev/null\nfi", has_begun(&scene));
        assert_lost(&scene, shell(&script, worker(&scene, "den")), why);
    }
}

#[test]
fn a_call_that_a_lying_worker_lost_is_made_by_an_honest_one() {
    let scene = scene(&rising(), &["attic", "den"]);
    let Some(liar) = lying(&scene, "attic", "reply['key'] = '0' * 64") else { return };
    settle(&scene, &[("attic", liar), ("den", worker(&scene, "den"))]);
    let ran = tune(&scene, "attic,den", &["--max-iterations", "1"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_eq!((makers(&scene), failures(&scene)), (BTreeSet::from(["den".to_owned()]), Vec::new()));
    let calls = calls(&scene);
    let first = &calls[0]["machine"];
    assert_eq!(
        (&first["lost"], &first["why"]),
        (&json!(1), &json!("attic: it replied to another call")),
        "{first}"
    );
}

#[test]
fn a_file_beside_the_reply_has_no_other_place_and_no_other_name() {
    let scene = scene(&rising(), &["den"]);
    let names = ["../../stolen", "/dev/shm/stolen", "stolen", "reply.json", "ended.json"];
    let statements = format!(
        "parts.extend(({{'frame': 'file', 'name': name, 'bytes': 6}}, b'forged') for name in {names:?})"
    );
    let Some(run) = lying(&scene, "den", &statements) else { return };
    settle(&scene, &[("den", run)]);
    let ran = tune(&scene, "den", &[]);
    assert_eq!(End::of(&scene, &ran), End::here(&[]), "{ran:?}");
    assert_tidy(&scene, "files with other names");
    for (path, _, bytes) in listing(&scene.path("project")) {
        assert!(bytes != b"forged" && !path.ends_with("stolen"), "{}", path.display());
    }
}
