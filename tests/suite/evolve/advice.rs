//! What experts advise on tasks: who is asked, and who gets the answer.

use std::fs;

use serde_json::{Value, json};

use super::{Project, both, ended, task, words};
use crate::scene::Ran;

/// Two experts on the first task, one on the second, and one who is hardly relevant.
fn play() -> Value {
    let relevant = |task: &str, expert: &str, relevance: f64| json!({ "task": task, "expert": expert, "domains": ["design"], "relevance": relevance, "why": "It helps." });
    json!({
        "tasks": [both()],
        "relevant": [
            relevant("one", "security-reviewer", 0.7),
            relevant("one", "architect", 0.9),
            relevant("one", "qa-engineer", 0.3),
            relevant("two", "designer", 0.6),
        ],
        // By words of their descriptions of themselves.
        "perspectives": {
            "a software architect": ["Build it of stone.", 0.8],
            "a security reviewer": ["Lock the door.", 0.6],
            "a product designer": ["Paint it green.", 0.5],
        },
        "consensus": {
            "consensus": "A stone house with a lock.",
            "conflicts": [{ "about": "keys", "between": ["architect", "security-reviewer"], "settled": "two keys" }],
        },
    })
}

fn advised(project: &Project, more: &[&str]) -> Ran {
    let start = ["evolve", "spec.md", "--yes", "--commands", "run", "--no-oracles", "--format", "json"];
    project.scene().run(&[&start[..], more].concat())
}

/// Returns the calls for advice: who is relevant, perspectives, agreements.
fn calls(project: &Project) -> [usize; 3] {
    ["match", "advise", "agree"].map(|page| project.begun(page))
}

/// Returns the first lines of the prompts that have a text.
fn having(project: &Project, text: &str) -> Vec<String> {
    let prompts = project.scene().prompts().into_iter().filter(|prompt| prompt.contains(text));
    let mut lines: Vec<String> =
        prompts.map(|prompt| prompt.lines().next().unwrap_or_default().to_owned()).collect();
    lines.sort();
    lines
}

#[test]
fn relevant_experts_advise_and_only_the_executor_of_the_task_gets_what_follows() {
    let project = Project::new(&play());
    let ran = advised(&project, &[]);
    assert_eq!((ended(&ran).as_str(), calls(&project)), ("0 reached success", [1, 3, 1]), "{ran:?}");
    let (work, agree) = ("# Do one task of a larger change", "# Make one advice of several");
    for (text, prompts) in [
        ("A stone house with a lock.", &[work][..]),
        ("- keys: two keys", &[work]),
        ("Build it of stone.", &[agree]),
        ("Lock the door.", &[agree]),
        ("Paint it green.", &[work]),
    ] {
        assert_eq!(having(&project, text), prompts, "{text}");
    }
    assert!(project.works("one")[0].contains("A stone house with a lock."), "{ran:?}");
    assert!(project.works("two")[0].contains("Paint it green."), "one perspective needs no agreement");

    let history = project.scene().run(&["history"]).stdout;
    for part in [
        "look for experts that can advise: 4 experts are relevant",
        "task one: ask architect: advised (confidence 0.80)",
        "task one: make one advice of several: agreed",
    ] {
        assert!(history.contains(part), "{part}: {history}");
    }
    let text = fs::read_to_string(project.scene().run_folder().join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let one = &report["advice"]["one"];
    assert_eq!(one["consensus"]["text"], json!("A stone house with a lock."), "{text}");
    let experts: Vec<&str> =
        one["experts"].as_array().unwrap().iter().map(|one| words(&one["expert"])).collect();
    assert_eq!(experts, ["architect", "security-reviewer"], "the most relevant first");
    assert_eq!(report["advice"]["two"]["experts"][0]["perspective"]["confidence"], json!(0.5));
    let page = project.scene().run(&["report"]).stdout;
    for part in ["## Advice", "A stone house with a lock.", "keys: two keys", "Paint it green."] {
        assert!(page.contains(part), "{part}: {page}");
    }

    // The advice depends on the specification and the project alone: another run finds it.
    let again = advised(&project, &[]);
    assert_eq!((again.code, calls(&project)), (Some(0), [1, 3, 1]), "{again:?}");
}

#[test]
fn named_experts_alone_advise_and_without_any_no_call_is_made() {
    let named = Project::new(&play());
    let ran = advised(&named, &["--roles", "architect"]);
    assert_eq!((ended(&ran).as_str(), calls(&named)), ("0 reached success", [1, 1, 0]), "{ran:?}");
    assert!(named.works("one")[0].contains("Build it of stone."), "{ran:?}");
    let offered =
        named.scene().prompts().into_iter().find(|text| text.starts_with("# Choose experts for tasks\n"));
    assert!(!offered.unwrap().contains("security-reviewer"));

    let none = Project::new(&play());
    let ran = advised(&none, &["--roles", "none"]);
    assert_eq!((ended(&ran).as_str(), calls(&none)), ("0 reached success", [0; 3]), "{ran:?}");
    assert_eq!(ran.json()["agents"]["expert"], Value::Null);
    assert_eq!(none.scene().answered(), 8, "four plan, two work, one looks for drift, one judges");

    let unneeded = Project::new(&json!({ "tasks": [[task("one", &["A1", "A2"], "a.txt")]] }));
    let ran = advised(&unneeded, &[]);
    assert_eq!((ended(&ran).as_str(), calls(&unneeded)), ("0 reached success", [1, 0, 0]), "{ran:?}");
}

#[test]
fn an_expert_that_gives_no_usable_advice_costs_its_advice_and_never_the_run() {
    let mut play = play();
    play["perspectives"] = json!({ "a product designer": ["Paint it green.", 0.5] });
    let project = Project::new(&play);
    let ran = advised(&project, &[]);
    // Two experts are asked twice, and nothing is left to agree on.
    assert_eq!((ended(&ran).as_str(), calls(&project)), ("0 reached success", [1, 5, 0]), "{ran:?}");
    assert!(!project.works("one")[0].contains("## What experts advise"), "{ran:?}");
    assert!(project.works("two")[0].contains("Paint it green."), "{ran:?}");
}
