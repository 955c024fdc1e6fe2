//! A folder as the original leaves it.

use skilltune_phases::loops::reflex::original::{artifact_hash, rebuild};

use super::*;

const RUNNING: &str = "release-notes-20260301-091500";

fn alias(name: &str) -> Alias {
    Alias::parse(name).unwrap()
}

/// A copy, for some of these tests write.
fn scene() -> Scene {
    let scene = Scene::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/evolution");
    for name in ["courses-api-ddd", "release-notes"] {
        for (file, text) in files(&fixture.join(name)) {
            scene.put(&format!("{name}/{file}"), text);
        }
    }
    scene.put(CURRENT, fs::read(fixture.join(CURRENT)).unwrap());
    scene
}

#[test]
fn its_runs_are_listed_and_read() {
    let scene = scene();
    let evolution = Evolution::open(scene.project.path(), &Scene::usual()).unwrap().unwrap();
    assert_eq!(evolution.aliases().unwrap(), [alias("courses-api-ddd"), alias("release-notes")]);
    let current = read_current(&evolution.current().unwrap().unwrap()).unwrap();
    assert_eq!(current.active_run_id, RUNNING);
    let run = read_run(&evolution.read(&alias("courses-api-ddd"), Part::Run).unwrap().unwrap()).unwrap();
    let artifact = evolution.artifact(&alias("courses-api-ddd")).unwrap().unwrap();
    assert_eq!(run.evaluation.unwrap().artifact_hash, Some(artifact_hash(&artifact)));
    let history = evolution.read(&alias("release-notes"), Part::History).unwrap().unwrap();
    assert_eq!(rebuild(&read_history(&history)).unwrap().run_id.as_deref(), Some(RUNNING));
}

#[test]
fn no_run_of_ours_writes_among_its_files() {
    let scene = scene();
    let evolution = scene.evolution();
    for (name, holder) in [("courses-api-ddd", "courses-api-ddd-20260218-120000"), ("release-notes", RUNNING)]
    {
        let taken = evolution.writer(&alias(name), RUN).check().unwrap_err();
        assert!(matches!(taken, EvolutionError::Taken { run: Some(run), .. } if run == holder), "{name}");
    }
    let writer = evolution.writer(&task(), RUN);
    assert!(
        matches!(writer.point(at_noon(), |_| false), Err(EvolutionError::Active { run: Some(run), .. }) if run == RUNNING)
    );
    writer.write(Part::Run, named(RUN).as_bytes()).unwrap();
    assert_eq!(evolution.aliases().unwrap().len(), 3);
}
