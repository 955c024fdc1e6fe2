//! Runs of `reflex`.

use serde_json::{Value, json};

use super::{Case, Made, REASON, ended};
use crate::background::{Background, Gate};
use crate::ceilings::priced;
use crate::reflex::{ACCURACY, CLARITY, EXAMPLES, NEW, PASSES_A, SECTIONS, checks};
use crate::scene::Scene;

pub(super) const CASES: &[Case] = &[
    ("reflex-only-warnings", || {
        let refined = [&PASSES_A[..], &[CLARITY]].concat();
        played(&json!({ "produced": { "1": PASSES_A }, "refined": { "1": refined } }), &[], 3)
    }),
    ("reflex-stagnation", || {
        let still = json!([ACCURACY]);
        let scene = scene(&json!({ "produced": { "1": still }, "refined": { "1": still, "2": still } }));
        scene.write_settings("[reflex]\nstall_window = 1\n");
        new(scene, &[], 3)
    }),
    ("reflex-oscillation", || {
        let (one, other) = (json!([ACCURACY]), json!([SECTIONS]));
        let refined = json!({ "1": other, "2": one, "3": other, "4": one });
        let scene = scene(&json!({ "produced": { "1": one }, "refined": refined }));
        scene.write_settings("[reflex]\nstall_window = 8\n");
        new(scene, &["--max-iterations", "9"], 3)
    }),
    ("reflex-last-iteration", || {
        // The second version is worse than the first, so the run continues from the first.
        let worse = json!({ "1": [EXAMPLES] });
        let scene =
            scene(&json!({ "produced": { "1": [ACCURACY, EXAMPLES], "3": [ACCURACY] }, "refined": worse }));
        scene.write_settings("[reflex]\nstall_window = 8\n");
        new(scene, &["--max-iterations", "3"], 3)
    }),
    ("reflex-out-of-time", || {
        let scene = Scene::new(&[], &json!({ "reflex": rising(), "delay_ms": 550 }));
        new(scene, &["--max-seconds", "1"], 3)
    }),
    ("reflex-failed", || {
        let mut play = rising();
        let pattern = json!({ "type": "content", "search": "^met: a\\.quality", "expected": "absent" });
        let command = json!({ "type": "executable", "argv": ["grep", "-q", "met", "artifact.md"], "exit": 0, "expected": "" });
        play["checks"] = json!({ ACCURACY: [command], CLARITY: [pattern] });
        play["proposed"] = json!([{
            "id": "a.completeness.ports", "severity": "warn", "description": "It names ports.", "check": "Look.",
        }]);
        play["odd"] = json!({ "critique": "rubbish" });
        played(&play, &["--checks", "run"], 4)
    }),
    ("reflex-stopped", || {
        let scene = scene(&rising());
        let gate = Gate::before("evaluate", &scene, json!({ "reflex": rising() }));
        let run = Background::start(&scene, &line(&[]));
        run.until_begun(5);
        std::thread::scope(|scope| {
            let stop = scope.spawn(|| scene.run(&["reflex", "stop", "pump", REASON]));
            run.until_said("stopping: finishing");
            gate.open();
            ended(&stop.join().unwrap(), 0);
        });
        ended(&run.wait(), 3);
        scene.into()
    }),
    ("reflex-ceiling", || {
        let scene = priced(&[], &json!({ "reflex": rising() }));
        new(scene, &["--proposals", "0", "--max-usd", "1"], 5)
    }),
    ("reflex-held", || checks::held().expect("there is a terminal").into()),
    ("reflex-allowed", || {
        let scene = checks::held().expect("there is a terminal");
        ended(&scene.run(&["reflex", "resume", "pump", "--answer", "run"]), 0);
        scene.into()
    }),
];

/// Returns a script that passes level A at once, and level B after a refinement.
fn rising() -> Value {
    json!({ "produced": { "1": PASSES_A } })
}

fn scene(play: &Value) -> Scene {
    Scene::new(&[], &json!({ "reflex": play }))
}

fn played(play: &Value, more: &[&str], code: i32) -> Made {
    new(scene(play), more, code)
}

fn line<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&NEW[..], &["--format", "json", "--seed", "7", "--jobs", "1"], more].concat()
}

fn new(scene: Scene, more: &[&str], code: i32) -> Made {
    ended(&scene.run(&line(more)), code);
    scene.into()
}
