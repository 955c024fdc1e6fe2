//! Suites whose scenarios have demands: the outcome is the score, in every suite format.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::scene::{Ran, Scene};

const SUITE: &str = r#"
[[scenarios]]
id = "one"
description = "Write it"

[[scenarios.checks]]
id = "made"
file = "out.md"

[[scenarios.checks]]
id = "counted"
command = ["sh", "{grader}/count.sh", "60"]
grader = ["graders/count.sh"]
weight = 2

[[scenarios.checks]]
id = "said"
pattern = "(?i)done"
in = "answer"

[[scenarios]]
id = "two"
description = "Write it again"
expectations = ["Its quality is at least 80."]
"#;

/// Succeeds from a given quality on.
const GRADER: &str = "n=$(sed -n 's/.*quality //p' out.md)\ntest \"$n\" -ge \"$1\"\n";

fn scene() -> Scene {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 80 } } }));
    fs::create_dir_all(scene.path("project/graders")).unwrap();
    fs::write(scene.path("project/graders/count.sh"), GRADER).unwrap();
    fs::write(scene.path("project/suite.toml"), SUITE).unwrap();
    scene
}

fn tune(scene: &Scene, more: &[&str]) -> Ran {
    let line = ["tune", "writer", "--suite", "suite.toml", "--trust", "--yes", "--format", "json"];
    scene.run(&[&line[..], more].concat())
}

fn scores(scene: &Scene) -> Vec<(Value, Value)> {
    let scored = scene.events("decided").into_iter().filter_map(|one| one.get("scored").cloned());
    scored.map(|one| (one["score"].clone(), one["quality"].clone())).collect()
}

#[test]
fn the_outcome_is_the_score_and_the_text_is_judged_once_a_version() {
    let scene = scene();
    let ran = tune(&scene, &["--max-iterations", "3", "--threshold", "100", "--this-suite-only"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // The first scenario meets 2 of 4, then all; the second meets nothing before the end.
    let outcomes: Vec<_> = scores(&scene).into_iter().map(|(score, _)| score).collect();
    assert_eq!(outcomes, [json!(25.0), json!(50.0), json!(100.0)]);
    assert!(scores(&scene).iter().all(|(_, quality)| quality.is_number()), "{:?}", scores(&scene));
    let steps = |kind: &str| scene.events("done").iter().filter(|done| !done["step"][kind].is_null()).count();
    // Three versions; two contestants on fresh trials.
    assert_eq!((steps("review"), steps("grade"), steps("judge")), (3, 5, 0));
    assert_eq!((steps("inspect"), steps("check")), (5, 5));
    let page =
        fs::read_to_string(scene.run_folder().join("iterations/iteration-1/iteration-1-eval.md")).unwrap();
    for words in [
        "one: 50.0/100",
        "**fail** `one/counted`",
        "**pass** `one/made`",
        "Quality of the text",
        "The text: ",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

/// Agents that run or improve the skill must not read its suite.
#[test]
fn a_suite_in_the_skills_folder_is_hidden_from_agents_and_stays_as_it_was() {
    let scene = scene();
    let own = scene.path("project/.claude/skills/writer/evals");
    let skill = scene.skill("writer");
    let own = if own.parent().unwrap().exists() { own } else { skill.join("evals") };
    fs::create_dir_all(&own).unwrap();
    let evals = json!({ "skill_name": "writer", "evals": [
        { "id": 1, "prompt": "Write it", "expected_output": "zebra-42", "expectations": ["Its quality is at least 60."] },
    ]});
    fs::write(own.join("evals.json"), evals.to_string()).unwrap();
    fs::set_permissions(own.join("evals.json"), fs::Permissions::from_mode(0o640)).unwrap();
    let ran = scene.run(&["tune", "writer", "--max-iterations", "2", "--yes", "--format", "json"]);
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(0), &json!("improved")), "{ran:?}");
    assert!(ran.json()["notes"].to_string().contains("evals.json"), "{ran:?}");
    let (mut graded, mut others) = (0, 0);
    for prompt in scene.prompts() {
        let knows = prompt.contains("zebra-42");
        if prompt.starts_with("# Judge what was produced") {
            assert!(knows, "{prompt}");
            graded += 1;
        } else {
            assert!(!knows && !prompt.contains("evals.json"), "{prompt}");
            others += 1;
        }
    }
    assert!(graded > 1 && others > 3, "{graded} and {others}");
    // The champion was promoted, and its suite is unchanged.
    assert_eq!(fs::read_to_string(own.join("evals.json")).unwrap(), evals.to_string());
    assert_eq!(fs::metadata(own.join("evals.json")).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::read_to_string(skill.join("SKILL.md")).unwrap().contains("Quality: 60"));
}

/// Writes two scenarios for the search, and four held-out ones.
fn write_marked(scene: &Scene) {
    let marked =
        [(1, false), (2, false), (3, true), (4, true), (5, true), (6, true)].map(|(nth, held_out)| {
            format!(
                "[[scenarios]]\nid = \"s{nth}\"\ndescription = \"Task {nth}\"\nheld_out = {held_out}\n\
             expectations = [\"Its quality is at least 60.\"]\n"
            )
        });
    fs::write(scene.path("project/suite.toml"), marked.concat()).unwrap();
}

#[test]
fn how_often_held_out_scenarios_have_decided_is_counted_over_runs_and_told() {
    let scene = scene();
    write_marked(&scene);
    let line =
        ["tune", "writer", "--suite", "suite.toml", "--max-iterations", "2", "--apply", "never", "--yes"];
    let output = || {
        let ran = scene.run(&[&line[..], &["--fresh"]].concat());
        assert!(ran.stdout.contains("verdict: WIN"), "{ran:?}");
        ran.stdout
    };
    assert!(!output().contains("have decided"));
    let first = scene.run_folder();
    assert!(output().contains("These held-out scenarios have decided 2 times; expect about 0.2 false wins"));
    fs::remove_dir_all(first).unwrap();
    assert!(output().contains("have decided 3 times"), "the newest run knows of those that are gone");
}

#[test]
fn what_is_held_out_is_not_searched_and_decides_at_the_end() {
    let scene = scene();
    write_marked(&scene);
    let ran = tune(&scene, &["--max-iterations", "2"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let trials: Vec<(u64, u64)> = scene
        .events("done")
        .iter()
        .filter_map(|done| {
            let trial = done["step"]["exercise"].get("trial")?.clone();
            Some((trial["scenario"].as_u64()?, trial["ordinal"].as_u64()?))
        })
        .collect();
    assert!(trials.iter().all(|(scenario, ordinal)| (*scenario >= 2) == (*ordinal > 0)), "{trials:?}");
    let improvers: Vec<_> =
        scene.prompts().into_iter().filter(|prompt| prompt.starts_with("# Improve")).collect();
    assert!(!improvers.is_empty() && improvers.iter().all(|prompt| !prompt.contains("Task 3")));
}

#[test]
fn a_suite_of_drafts_alone_and_a_check_about_a_stranger_are_refused() {
    let scene = scene();
    let refused = |suite: &str| {
        fs::write(scene.path("project/suite.toml"), suite).unwrap();
        scene.refusal(&["tune", "writer", "--suite", "suite.toml", "--yes", "--trust"])
    };
    let draft = refused("[[scenarios]]\ndescription = \"a\"\ndraft = true\n");
    assert!(draft.contains("all its scenarios are drafts"), "{draft}");
    let held = refused("[[scenarios]]\ndescription = \"a\"\nheld_out = true\n");
    assert!(held.contains("all its scenarios are held out"), "{held}");
    let stranger = refused(
        "[[scenarios]]\nid = \"one\"\ndescription = \"a\"\n[[scenarios.checks]]\nid = \"made\"\nfile = \"x\"\nmember = \"reader\"\n",
    );
    assert!(stranger.contains("`made` of scenario `one` is about `reader`"), "{stranger}");
    assert!(!stranger.contains("--chain"), "{stranger}");
    scene.write_skill("reader", 40);
    let part = scene.refusal(&["tune", "writer,reader", "--suite", "suite.toml", "--yes", "--trust"]);
    assert!(part.contains("hint: pass --chain to tune them together"), "{part}");
}

/// The two checks differ only in `exit`, so a cached result of the first must not be used for the second.
#[test]
fn what_a_check_came_to_in_one_run_is_no_answer_in_another() {
    let scene = scene();
    let score = |exit: u8| {
        let check = format!("command = [\"grep\", \"-q\", \"zebra\", \"out.md\"]\nexit = {exit}");
        let suite = format!("[[scenarios]]\ndescription = \"a\"\n[[scenarios.checks]]\n{check}\n");
        fs::write(scene.path("project/suite.toml"), suite).unwrap();
        let score = tune(&scene, &["--max-iterations", "1", "--seed", "7"]).json()["initial_score"].clone();
        fs::remove_dir_all(scene.run_folder()).unwrap();
        score
    };
    assert_eq!((score(0), score(1)), (json!(0.0), json!(100.0)));
}

#[test]
fn a_scenarios_own_folder_called_input_is_there_for_its_checks_and_our_own_files_count_for_nothing() {
    let scene = scene();
    fs::create_dir_all(scene.path("project/cases/input")).unwrap();
    fs::write(scene.path("project/cases/input/data.csv"), "1").unwrap();
    let checks = ["file = \"input/data.csv\"", "only_changes = [\"out.md\"]"]
        .map(|check| format!("[[scenarios.checks]]\n{check}\n"));
    let suite = |files: &str| {
        let head = format!("[[scenarios]]\nid = \"one\"\ndescription = \"a\"\nfiles = [\"{files}\"]\n");
        fs::write(scene.path("project/suite.toml"), head + &checks.concat()).unwrap();
    };
    suite("cases/input");
    let ran = tune(&scene, &["--max-iterations", "1"]);
    assert_eq!(ran.json()["initial_score"], 100.0, "{ran:?}");
    fs::create_dir_all(scene.path("project/cases/skill")).unwrap();
    suite("cases/skill");
    let refused = scene.refusal(&["tune", "writer", "--suite", "suite.toml", "--yes"]);
    assert!(refused.contains("scenario `one` uses `skill`, where skilltune puts the skill"), "{refused}");
}

/// Agents see neither the suite nor its graders, beside the skill's page or in a folder; they see the other folders.
#[test]
fn a_suite_anywhere_in_the_skill_is_hidden_with_what_it_grades_with_and_nothing_else_is() {
    let scene = scene();
    let skill = scene.skill("writer");
    fs::create_dir_all(skill.join("graders")).unwrap();
    fs::write(skill.join("graders/secret.sh"), "exit 0 # zebra-42").unwrap();
    let suite = "[[scenarios]]\ndescription = \"a\"\n[[scenarios.checks]]\ncommand = [\"sh\", \"{grader}/secret.sh\"]\n\
                 grader = [\"PLACE/secret.sh\"]\n";
    fs::write(skill.join("suite.toml"), suite.replace("PLACE", "graders")).unwrap();
    fs::write(skill.join("references/more.sh"), "exit 0 # zebra-42").unwrap();
    let line = [
        "tune",
        "writer",
        "--this-suite-only",
        "--max-iterations",
        "1",
        "--trust",
        "--yes",
        "--format",
        "json",
        "--suite",
    ];
    let ran = scene.run(&[&line[..], &[skill.join("suite.toml").to_str().unwrap()]].concat());
    assert_eq!(ran.json()["initial_score"], 100.0, "{ran:?}");
    let prompts = scene.prompts();
    assert!(prompts.iter().all(|prompt| !prompt.contains("secret.sh") && !prompt.contains("suite.toml")));
    assert!(prompts.iter().any(|prompt| prompt.contains("Be brief.") && prompt.contains("more.sh")));
}

#[test]
fn another_grader_is_another_check_though_all_else_is_the_same() {
    let scene = scene();
    let suite = "[[scenarios]]\ndescription = \"a\"\n[[scenarios.checks]]\ncommand = [\"sh\", \"{grader}/g.sh\"]\n\
                 grader = [\"graders/g.sh\"]\n";
    fs::write(scene.path("project/suite.toml"), suite).unwrap();
    let score = |grader: &str| {
        fs::write(scene.path("project/graders/g.sh"), grader).unwrap();
        let score = tune(&scene, &["--max-iterations", "1", "--seed", "7"]).json()["initial_score"].clone();
        fs::remove_dir_all(scene.run_folder()).unwrap();
        score
    };
    assert_eq!((score("exit 0"), score("exit 1"), score("exit 0")), (json!(100.0), json!(0.0), json!(100.0)));
}
