//! `doctor --workers`: tries the workers of the user's settings.

use super::*;

/// A worker with its own home, settings and programs.
fn worker(scene: &Scene, name: &str, claude: &str) -> String {
    let home = scene.path(name);
    program(&home.join("bin/claude"), &format!("echo {claude}"));
    program(&home.join("bin/mine"), "echo 1");
    fs::create_dir_all(home.join(".config/skilltune")).unwrap();
    fs::write(home.join(".config/skilltune/skilltune.toml"), "[agents.mine]\ncommand = [\"mine\"]\n")
        .unwrap();
    let (variable, path) = (format!("HOME={}", home.display()), format!("PATH={}/bin", home.display()));
    let run = ["/usr/bin/env", "-i", &variable, &path, SKILLTUNE, "step", "--take", "-"];
    format!("[workers.{name}]\nrun = {run:?}\n")
}

/// An agent of a worker, in the report.
fn has(agent: &str, version: Option<&str>, unlike: Option<&str>) -> Value {
    json!({ "name": agent, "version": version, "trouble": null, "unlike": unlike })
}

#[test]
fn each_worker_is_tried_and_one_that_cannot_be_used_is_a_fault() {
    let scene = Scene::empty();
    program(&scene.path("bin/claude"), "echo 2.1.329");
    let roles = "[roles]\nexecutor = \"claude\"\nevaluator = \"claude\"\nimprover = \"claude\"\n";
    let (big, small) = (worker(&scene, "big", "2.1.329"), worker(&scene, "small", "2.1.330"));
    let loud = "[workers.loud]\nrun = [\"/bin/sh\", \"-c\", \"echo welcome; echo no route >&2; exit 7\"]\n";
    let settings = [
        roles,
        &big,
        "agents = [\"claude\", \"mine\"]\n",
        "[workers.gone]\nrun = [\"gone\"]\n",
        loud,
        &small,
    ]
    .concat();
    fs::write(scene.path("config/skilltune/skilltune.toml"), settings).unwrap();

    let ran = doctor(&scene, &["--workers", "--format", "json"]);
    let report = ran.json();
    assert_eq!((ran.code, &report["ready"]), (Some(3), &json!(false)), "{ran:?}");
    let next = report["next"].as_str().unwrap();
    assert!(next.starts_with("fix worker gone: program \"gone\" not found; fix worker loud: "), "{next}");
    let of = |name: &str| {
        let workers = report["workers"].as_array().unwrap();
        workers.iter().find(|worker| worker["name"] == name).unwrap_or_else(|| panic!("{name} in {report}"))
    };
    let big = of("big");
    assert_eq!((&big["version"], &big["trouble"]), (&json!("0.1.0"), &Value::Null));
    assert!(big["machine"].is_string(), "{big}");
    assert_eq!(big["agents"], json!([has("claude", Some("2.1.329"), None), has("mine", None, None)]));
    assert_eq!(of("small")["agents"], json!([has("claude", Some("2.1.330"), Some("big"))]));
    assert_eq!(of("loud")["trouble"], "its command ended: no route (exit status: 7)");
    assert_eq!(of("gone")["machine"], Value::Null);
    assert!(
        of("gone")["fix"].as_str().unwrap().starts_with("install it, or change workers.gone.run "),
        "{report}"
    );
    assert_eq!(scene.alive(), [0; 0]);

    let human = doctor(&scene, &["--workers"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        human.contains("ok big: ") && human.contains("claude 2.1.329; mine !! gone: program "),
        "{human}"
    );
    assert!(human.contains("a run with big first leaves out small"), "{human}");
    let few = doctor(&scene, &["--workers", "small", "--format", "json"]);
    assert_eq!((few.code, few.json()["workers"].as_array().unwrap().len()), (Some(0), 1), "{few:?}");
    let unknown = doctor(&scene, &["--workers", "bigg"]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    assert!(unknown.stderr.contains("did you mean `big`?"), "{unknown:?}");
}

#[test]
fn without_the_flag_no_worker_is_started_even_if_the_settings_choose_it() {
    let scene = Scene::empty();
    let touched = scene.path("touched");
    program(&scene.path("bin/worker"), &format!("echo run > {}", touched.display()));
    let settings =
        "[roles]\nexecutor = \"claude\"\n[calls]\nworkers = [\"big\"]\n[workers.big]\nrun = [\"worker\"]\n";
    fs::write(scene.path("config/skilltune/skilltune.toml"), settings).unwrap();
    assert_eq!(report(&scene, &[]).1["workers"], Value::Null);
    let human = doctor(&scene, &[]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        human.contains("workers -- 1 worker is described; skilltune doctor --workers tries it"),
        "{human}"
    );
    assert!(!touched.exists());
    assert_eq!(doctor(&scene, &["--workers"]).code, Some(3));
    assert!(touched.exists());
}
