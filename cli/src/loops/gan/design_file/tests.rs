use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::settings::Files;

const FILE: &str = "\
design:
  gan_loop:
    max_iterations: 4
    pass_threshold: 0.8
    sprint_contract:
      enabled: false
      required_harness_levels: [standard]
      artifact_dir: .moai/sprints
";

/// Writes the file into a project whose user and project have these settings.
fn world(user: &str, project: &str, file: &str) -> Files {
    let files = Files::new(user, project);
    let path = files.project().join(PLACE);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, file).unwrap();
    files
}

fn found(files: &Files, is_trusted: bool) -> DesignFile {
    DesignFile::found(&files.project(), is_trusted, &files.env()).unwrap()
}

/// Returns the remarks about the file, without the folder of the test.
fn remarks(files: &Files, design: &DesignFile) -> String {
    design.remarks.join("\n").replace(files.project().to_str().unwrap(), "/p")
}

/// Returns the number of rounds, the threshold and whether a contract is asked for.
fn applied(files: &Files, design: &DesignFile) -> (u32, String, bool) {
    let mut settings = files.load();
    design.apply(&mut settings);
    let gan = settings.of::<GanSettings>();
    (gan.max_rounds.value, gan.threshold.value.typed(), gan.contract.value)
}

#[test]
fn a_file_that_is_not_trusted_is_named_with_what_it_sets_and_changes_nothing() {
    let files = world("", "", FILE);
    let design = found(&files, false);
    insta::assert_snapshot!(remarks(&files, &design), @".moai/config/sections/design.yaml is not used, because you do not trust it: it sets max_iterations 4, pass_threshold 0.8, sprint_contract.enabled false, sprint_contract.required_harness_levels [standard], sprint_contract.artifact_dir .moai/sprints; `skilltune trust /p/.moai/config/sections/design.yaml` allows it");
    assert_eq!(applied(&files, &design), (5, "75".to_owned(), false));
    assert_eq!(design.original(), &Original::default());
    let broken = world("", "", "design: {gan_loop: {max_iterations: many}}\n");
    insta::assert_snapshot!(remarks(&broken, &found(&broken, false)), @r#".moai/config/sections/design.yaml is not used: gan_loop.max_iterations: invalid type: string "many", expected u32"#);
}

#[test]
fn a_trusted_file_overrides_the_user_and_not_the_projects_own_settings() {
    let files = world("[gan]\nmax_rounds = 3\ncontract = true\n", "[gan]\nthreshold = 90\n", FILE);
    let file = TextFile::read(&files.project().join(PLACE)).unwrap().unwrap();
    TrustStore::new(&files.env()).record(&file, &[]).unwrap();
    let design = found(&files, false);
    insta::assert_snapshot!(remarks(&files, &design), @".moai/config/sections/design.yaml sets max_iterations 4, pass_threshold 0.8, sprint_contract.enabled false, sprint_contract.required_harness_levels [standard], sprint_contract.artifact_dir .moai/sprints; the project's skilltune.toml and flags override what they set");
    assert_eq!(applied(&files, &design), (4, "90".to_owned(), false));
    let mut settings = files.load();
    design.apply(&mut settings);
    let overs = settings.overs().join("\n");
    assert!(overs.contains("gan.max_rounds is 4, above your own limit of 3: you trust"), "{overs}");
    fs::write(files.project().join(PLACE), FILE.replace('4', "5")).unwrap();
    let changed = found(&files, false);
    assert_eq!(applied(&files, &changed).0, 3, "it changed since it was trusted");
    let said = remarks(&files, &changed);
    assert!(said.contains("is not used, because it changed since you trusted it: it sets"), "{said}");
}

#[test]
fn a_file_named_by_a_flag_overrides_all_settings() {
    let files = Files::new("", "[gan]\nthreshold = 90\n");
    let design = DesignFile::named("own.yaml", Original::read(FILE).unwrap().unwrap());
    assert_eq!(applied(&files, &design), (4, "80".to_owned(), false));
    assert!(design.remarks[0].starts_with("own.yaml sets max_iterations 4"), "{:?}", design.remarks);
    assert!(design.remarks[0].ends_with("; flags override what they set"), "{:?}", design.remarks);
}

#[test]
fn what_does_nothing_is_named() {
    let text = "design:\n  evaluator: {memory_scope: project}\n  gan_loop:\n    max_iteration: 4\n    \"\\e[1m\": 1\n";
    let files = world("", "", text);
    let design = found(&files, true);
    insta::assert_snapshot!(remarks(&files, &design), @r"
    .moai/config/sections/design.yaml has unknown keys, which do nothing: gan_loop.max_iteration, gan_loop.[1m
    .moai/config/sections/design.yaml sets evaluator.memory_scope project, which does nothing: a new evaluator judges each round
    ");
    let keys: Vec<_> = (10..40).map(|key| format!("  key_{key}: 1\n")).collect();
    let files = world("", "", &format!("design:\n  gan_loop: {{}}\n{}", keys.concat()));
    let said = remarks(&files, &found(&files, true));
    assert!(said.ends_with("key_20, key_21 and 18 more"), "{said}");
}

#[test]
fn without_a_file_nothing_is_said() {
    let files = Files::new("", "");
    assert_eq!(found(&files, true).remarks.len(), 0);
    fs::write(files.project().join(".moai"), "a file").unwrap();
    let design = found(&files, true);
    assert_eq!((design.remarks.len(), design.original()), (0, &Original::default()));
}

#[test]
fn a_file_without_its_part_is_named_also_if_it_is_trusted() {
    for text in ["design: {gan_lop: {max_iterations: 7}}\n", "evaluator: {memory_scope: global}\n", ""] {
        let files = world("", "", text);
        for is_trusted in [false, true] {
            let design = found(&files, is_trusted);
            let said = ".moai/config/sections/design.yaml is not used: it has no gan_loop";
            assert_eq!((remarks(&files, &design).as_str(), applied(&files, &design).0), (said, 5), "{text}");
        }
    }
}

#[test]
fn no_symlink_is_followed() {
    let files = world("", "", FILE);
    let path = files.project().join(PLACE);
    fs::rename(&path, files.project().join("elsewhere.yaml")).unwrap();
    symlink(files.project().join("elsewhere.yaml"), &path).unwrap();
    let design = found(&files, true);
    insta::assert_snapshot!(remarks(&files, &design), @".moai/config/sections/design.yaml is not used: it is a symlink, or inside one");
    assert_eq!(applied(&files, &design).0, 5);
}

#[test]
fn a_trusted_file_with_a_value_that_the_original_refuses_is_an_error() {
    let files = world("", "", "design: {gan_loop: {pass_threshold: 0.5}}\n");
    let error = DesignFile::found(&files.project(), true, &files.env()).unwrap_err();
    assert_eq!(error.exit().code(), 2);
    assert!(error.what.ends_with("gan_loop.pass_threshold: must be from 0.60 to 1.00"), "{error:?}");
}

#[test]
fn sprints_go_only_where_they_harm_nothing() {
    let files = Files::new("", "");
    let project = files.project();
    fs::write(project.join("taken"), "").unwrap();
    symlink("/", project.join("out")).unwrap();
    let folder = |dir: &str, into: Option<&str>| {
        let original = Original { artifact_dir: Some(dir.into()), ..Original::default() };
        let mut design = DesignFile::named("own.yaml", original);
        let into = into.map(|into| project.join(into));
        let folder = design.artifact_dir(&project, into.as_deref());
        (folder.map(|folder| folder.map(|dir| dir.below)), design.remarks.len())
    };
    for dir in [".moai/sprints", "./.moai/sprints/"] {
        assert_eq!(folder(dir, Some("site")), (Ok(Some(".moai/sprints".to_owned())), 1));
    }
    let (inside, remarks) = folder("site/sprints", Some("site"));
    assert_eq!((inside, remarks), (Ok(None), 2), "it is said");
    let long = "a".repeat(256);
    for (dir, why) in [
        (long.as_str(), "a name in it is too long"),
        ("", "a folder inside the project"),
        ("..", "a folder inside the project"),
        ("/tmp", "outside .git and .skilltune, as a plain relative path"),
        (".git/sprints", "a folder inside the project"),
        (".claude", "read files there by themselves"),
        ("taken", "taken is a symlink or a file"),
        ("out/sprints", "out is a symlink or a file"),
    ] {
        let error = folder(dir, None).0.unwrap_err();
        assert!(error.what.contains(why), "{dir}: {error:?}");
    }
}
