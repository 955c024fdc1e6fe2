//! Symlinks that lead out of a project or an agent's folder: they give no access to a person's other files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::commands::talk;
use crate::gan::{ALL, build, building, page};
use crate::scene::{Ran, Scene};

const PRIVATE: &str = "private\n";

/// Creates a file of the person outside of the project.
fn private(scene: &Scene) -> PathBuf {
    let path = scene.path("home/documents/private.html");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, PRIVATE).unwrap();
    path
}

fn notes(ran: &Ran) -> String {
    ran.json()["notes"].as_array().unwrap().iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_symlink_that_a_repository_brought_leads_no_typed_path_out_of_the_project() {
    let scene = building(&[&ALL]);
    let private = private(&scene);
    symlink("../home/documents", scene.path("project/site")).unwrap();
    symlink(&private, scene.path("project/file")).unwrap();
    let gan = ["gan", "brief.md", "--profile", "plain.yaml", "--yes", "--no-browser"];
    for (line, target) in [
        ([&gan[..], &["--into", "site"]].concat(), "/home/documents"),
        ([&gan[..], &["--into", "site/new"]].concat(), "/home/documents"),
        ([&gan[..], &["--copy", "file"]].concat(), "/home/documents/private.html"),
        ([&gan[..], &["--tokens", "file"]].concat(), "/home/documents/private.html"),
        (vec!["gan", "file", "--yes"], "/home/documents/private.html"),
        (vec!["gan", "brief.md", "--profile", "file", "--yes"], "/home/documents/private.html"),
        (
            vec!["reflex", "new", "Write a page", "--template", "docs", "--yes", "--out", "site/page.md"],
            "/home/documents",
        ),
        (
            vec!["reflex", "new", "Write a page", "--template", "docs", "--yes", "--context", "file"],
            "/home/documents/private.html",
        ),
    ] {
        let message = scene.refusal(&line);
        assert!(message.contains("leads out of the project"), "{line:?}: {message}");
        assert!(message.contains(&format!("is a symlink to {target}\n")), "{line:?}: {message}");
    }
    let outside = scene.path("home/new");
    let ran = scene.run(&[&gan[..], &["--into", outside.to_str().unwrap()]].concat());
    assert_eq!(
        ran.code,
        Some(0),
        "a folder that a person names outside of the project is their choice: {ran:?}"
    );
    assert!(outside.join("index.html").exists());
}

#[test]
fn a_builder_reaches_no_file_through_a_symlink_of_its_folder() {
    let scene = building(&[&ALL]);
    let private = private(&scene);
    fs::create_dir(scene.path("project/site")).unwrap();
    symlink(&private, scene.path("project/site/index.html")).unwrap();
    let ran = build(&scene, &["--yes"]);
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(4), &json!("unjudged")), "{ran:?}");
    assert_eq!(fs::read_to_string(&private).unwrap(), PRIVATE);
    assert_eq!(fs::read_link(scene.path("project/site/index.html")).unwrap(), private);
    let report = scene.run(&["report"]).stdout;
    assert!(report.contains("index.html is a symlink out of the folder"), "{report}");
}

#[test]
fn a_symlink_out_of_a_folder_that_is_built_on_stays_in_it_and_is_named() {
    let scene = building(&[&ALL]);
    let private = private(&scene);
    fs::create_dir(scene.path("project/site")).unwrap();
    symlink(&private, scene.path("project/site/data")).unwrap();
    let ran = build(&scene, &["--yes"]);
    assert_eq!((ran.code, &ran.json()["promoted"]), (Some(0), &json!(true)), "{ran:?}");
    assert!(notes(&ran).contains(&format!("data (to {})", private.display())), "{ran:?}");
    assert!(page(&scene).is_some_and(|page| page.contains("Version 1")));
    assert_eq!(fs::read_link(scene.path("project/site/data")).unwrap(), private);
}

#[test]
fn a_symlink_out_of_a_skill_is_kept_through_promotion_and_rollback_and_is_named() {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 90 } } }));
    let (private, skill) = (private(&scene), scene.skill("writer"));
    let links = [("references/own.html", private.clone()), ("up", "../../../../home".into())];
    for (name, target) in &links {
        symlink(target, skill.join(name)).unwrap();
    }
    let assert_kept = || {
        for (name, target) in &links {
            assert_eq!(fs::read_link(skill.join(name)).unwrap(), *target);
        }
        assert_eq!(fs::read_to_string(&private).unwrap(), PRIVATE);
    };
    let ran = scene.tune("writer", &[]);
    assert_eq!((ran.code, scene.quality("writer")), (Some(0), 90), "{ran:?}");
    let note = format!("references/own.html (to {}), up (to ../../../../home)", private.display());
    assert!(notes(&ran).contains(&note), "{ran:?}");
    assert_kept();
    talk(&scene, &scene.run(&["rollback"]));
    assert_eq!(scene.quality("writer"), 40);
    assert_kept();
}

#[test]
fn an_agent_that_writes_where_a_skill_has_a_symlink_out_changes_no_file_outside() {
    for role in ["executor", "improver"] {
        let scene = Scene::new(&[("writer", 40)], &json!({}));
        let private = private(&scene);
        symlink(&private, scene.skill("writer").join("own.html")).unwrap();
        scene.write_script(&json!({
            "improve": { "writer": { "40": 90 } },
            "overwrite": { role: ["skill/writer/own.html"] },
            "overwritten": scene.path("overwritten.log"),
        }));
        let ran = scene.tune("writer", &["--max-iterations", "2"]);
        let tried = fs::read_to_string(scene.path("overwritten.log")).unwrap_or_default();
        assert!(tried.contains(&format!("written {role}")), "{tried} {ran:?}");
        assert_eq!(fs::read_to_string(&private).unwrap(), PRIVATE, "{role}: {ran:?}");
        assert_eq!((scene.quality("writer"), ran.code == Some(0)), (40, false), "{role}: {ran:?}");
        assert_eq!(fs::read_link(scene.skill("writer").join("own.html")).unwrap(), private);
    }
}

#[test]
fn lint_fixes_no_skill_that_a_symlink_of_a_repository_leads_to_outside() {
    let scene = Scene::empty();
    let page = scene.path("home/library/one/SKILL.md");
    fs::create_dir_all(page.parent().unwrap()).unwrap();
    let text = "---\nname: one\ndescription: Shows a thing. Use when asked.\n---\n\nGo. \n";
    fs::write(&page, text).unwrap();
    fs::create_dir(scene.path("project/skills")).unwrap();
    symlink("../../home/library/one", scene.path("project/skills/one")).unwrap();
    symlink("../home", scene.path("project/docs")).unwrap();
    let ran = scene.run(&["lint", ".", "--fix"]);
    assert_eq!((ran.code, fs::read_to_string(&page).unwrap().as_str()), (Some(0), text), "{ran:?}");
    let output = scene.normalized(&ran.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    let note = "not fixed: /home/library/one: a symlink leads there out of the project";
    assert!(output.starts_with(note), "{output}");
    let ran = scene.run(&["lint", page.parent().unwrap().to_str().unwrap(), "--fix"]);
    assert_eq!((ran.code, fs::read_to_string(&page).unwrap().ends_with("Go.\n")), (Some(0), true), "{ran:?}");
}
