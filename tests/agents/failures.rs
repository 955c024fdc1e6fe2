//! Failures between an agent and its service, and how the journal records them.

use jiff::Timestamp;

use crate::scene::{Ran, Scene, several};

/// Runs one round under a scenario of the server in which the executor fails.
fn failing(agent: &str, scenario: &str, more: &[&str]) -> Ran {
    let scene = Scene::new();
    let once = ["--agent", agent, "--max-iterations", "1"];
    let ran = scene.tune(scenario, scenario, &[&once, more].concat());
    assert!(scene.skill().ends_with("Quality: 40\n"), "{ran:?}");
    assert_eq!(ran.code, Some(4), "{ran:?}");
    ran
}

/// Fails unless the run ended with this kind of failure: two attempts, or one if a retry is useless; the run stays
/// resumable if the fault was not the call's own.
fn assert_fails(agent: &str, scenario: &str, kind: &str) {
    let ran = failing(agent, scenario, &[]);
    let once = ["authentication", "forbidden", "model_not_found", "no_credit", "usage_error", "usage_limit"];
    let times = if once.contains(&kind) { 1 } else { 2 };
    assert_eq!(ran.failures(), vec![kind; times], "{agent} {scenario}: {ran:?}");
    let own = matches!(kind, "refused" | "empty" | "off_schema");
    assert_eq!(ran.summary["blocked"].is_null(), own, "{ran:?}");
}

const CLAUDE: &str = "claude:claude-sonnet-4-5";
const GEMINI: &str = "gemini:gemini-3-pro-preview";
const CODEX: &str = "codex:gpt-5.5-codex";
const OPENCODE: &str = "opencode:openai-compatible/large";

#[test]
fn what_claude_tells_of_its_service_is_understood() {
    for (scenario, kind) in [
        ("400", "usage_error"),
        ("401", "authentication"),
        ("403", "forbidden"),
        ("404", "model_not_found"),
        ("429", "rate_limited"),
        ("500", "overloaded"),
        ("529", "overloaded"),
        ("used-up", "usage_limit"),
        ("page", "network"),
        ("refusal", "refused"),
        ("empty", "empty"),
    ] {
        assert_fails(CLAUDE, scenario, kind);
    }
}

#[test]
fn what_gemini_tells_of_its_service_is_understood() {
    for (scenario, kind) in [
        ("400", "usage_error"),
        ("401", "authentication"),
        ("403", "forbidden"),
        ("404", "model_not_found"),
        ("429", "rate_limited"),
        ("500", "overloaded"),
        ("503", "overloaded"),
        ("used-up", "usage_limit"),
        ("page", "network"),
        ("empty", "empty"),
    ] {
        assert_fails(GEMINI, scenario, kind);
    }
}

/// Returns the minutes until the run may continue.
fn lifted_in(ran: &Ran) -> i64 {
    let until: Timestamp = ran.summary["blocked"]["until"].as_str().expect("a time is told").parse().unwrap();
    until.duration_since(Timestamp::now()).as_mins()
}

#[test]
fn a_limit_says_when_it_is_lifted() {
    let key = failing(CLAUDE, "used-up", &[]);
    assert!((-60..=24 * 60).contains(&lifted_in(&key)), "it is a time of the day: {key:?}");
    let mut scene = Scene::new();
    scene.way_in = "CLAUDE_CODE_OAUTH_TOKEN";
    let login = scene.tune("used-up", "500", &["--agent", CLAUDE]);
    assert_eq!((login.code, login.failures()), (Some(4), vec!["usage_limit".to_owned()]), "{login:?}");
    assert!((110..=120).contains(&lifted_in(&login)), "{login:?}");
    let said = login.summary["blocked"]["why"].as_str().unwrap();
    assert!(said.contains("limit · resets "), "what claude says for people is as we know it: {said}");
    let gemini = failing(GEMINI, "used-up", &[]);
    assert!((110..=120).contains(&lifted_in(&gemini)), "{gemini:?}");
}

#[test]
fn a_limit_is_waited_for_and_the_run_goes_on() {
    let mut scene = Scene::new();
    scene.way_in = "CLAUDE_CODE_OAUTH_TOKEN";
    let ran = scene.tune("used-up-once", "500", &["--agent", CLAUDE, "--wait"]);
    assert_eq!((ran.code, ran.failures()), (Some(0), vec!["usage_limit".to_owned()]), "{ran:?}");
    assert!(scene.skill().ends_with("Quality: 95\n"), "{ran:?}");
    let noted = ran.history.iter().filter_map(|line| line.pointer("/event/noted"));
    assert_eq!(noted.count(), 2, "a wait and its end: {ran:?}");
}

#[test]
fn who_is_not_let_in_is_told_so_after_no_more_tries_than_we_allow() {
    for (agent, most) in [(CLAUDE, 3), (GEMINI, 2)] {
        let scene = Scene::new();
        let ran = scene.tune("401", "401", &["--agent", agent]);
        assert_eq!(ran.failures(), ["authentication"], "{ran:?}");
        assert!(scene.server.asked("401") <= most, "{agent}: {}", scene.server.asked("401"));
    }
}

#[test]
fn what_codex_tells_of_its_service_is_understood() {
    let cases = [
        ("400", "usage_error"),
        ("401", "authentication"),
        ("403", "forbidden"),
        ("404", "model_not_found"),
        ("429", "rate_limited"),
        ("500", "overloaded"),
        ("503", "overloaded"),
        ("used-up", "usage_limit"),
        ("page", "network"),
        ("cut", "network"),
        ("refusal", "refused"),
        ("empty", "empty"),
    ];
    several(&cases, |(scenario, kind)| assert_fails(CODEX, scenario, kind));
}

#[test]
fn what_opencode_tells_of_its_service_is_understood() {
    let cases = [
        ("400", "usage_error"),
        ("401", "authentication"),
        ("404", "model_not_found"),
        ("429", "rate_limited"),
        ("500", "overloaded"),
        ("used-up", "no_credit"),
        ("refusal", "refused"),
        ("empty", "empty"),
        ("page", "network"),
        ("good", "model_not_found"),
    ];
    several(&cases, |(scenario, kind)| match scenario {
        // opencode does not know this provider.
        "good" => assert_fails("opencode:nobody/nothing", scenario, kind),
        // opencode retries with full CPU load until the timeout ends it. On a busy machine the shorter timeout can end
        // before its first request.
        "page" => {
            let names_the_network = |seconds| {
                let ran = failing(OPENCODE, scenario, &["--timeout", seconds]);
                ran.failures().iter().any(|failure| failure == kind)
            };
            assert!(["40", "160"].into_iter().any(names_the_network));
        }
        scenario => assert_fails(OPENCODE, scenario, kind),
    });
}

/// Temporary faults, and how often each agent retries by itself before it reports one.
const PASSING: [(&str, &str, [usize; 4]); 4] = [
    ("429", "rate_limited", [3, 2, 1, 6]),
    ("500", "overloaded", [3, 2, 4, 6]),
    ("503", "overloaded", [3, 2, 4, 6]),
    ("529", "overloaded", [3, 2, 4, 6]),
];

/// Runs one round with a service that fails this often and then answers, and returns all failures that reach skilltune.
/// codex is the judge because it starts fastest.
fn after_failing(agent: &str, status: &str, times: usize) -> Vec<String> {
    let scene = Scene::new();
    let scenario = format!("{status}-{times}");
    let roles = ["--executor", agent, "--evaluator", CODEX, "--improver", CODEX, "--max-iterations", "1"];
    let other = if agent == GEMINI { "good" } else { &scenario };
    let ran = scene.tune(other, &scenario, &roles);
    assert_eq!((ran.code, ran.skills()), (Some(3), vec!["used"]), "it was answered in the end: {ran:?}");
    // A read of the skill, a file, a text, and a verdict.
    let asked = scene.server.asked(&scenario) + scene.server.asked("good");
    assert_eq!(asked, times + 4, "{agent} {scenario}");
    ran.failures()
}

#[test]
fn what_passes_while_an_agent_tries_by_itself_is_never_seen_and_what_lasts_longer_is_one_failure() {
    // The slowest agents come first.
    let agents = [(OPENCODE, 3), (GEMINI, 1), (CLAUDE, 0), (CODEX, 2)];
    let cases = agents.map(|(agent, nth)| PASSING.map(|(status, kind, own)| (agent, status, kind, own[nth])));
    several(cases.as_flattened(), |(agent, status, kind, own_tries)| {
        if own_tries > 1 {
            assert_eq!(after_failing(agent, status, 1), [""; 0], "{agent} {status}, once");
        }
        if own_tries == 1 || kind == "rate_limited" {
            assert_eq!(
                after_failing(agent, status, own_tries),
                [kind],
                "{agent} {status}, as long as it tries"
            );
        }
    });
}

#[test]
fn a_service_that_says_nothing_ends_with_the_deadline() {
    several(&[CLAUDE, GEMINI, CODEX, OPENCODE], |agent| {
        let ran = failing(agent, "hang", &["--timeout", "4"]);
        assert_eq!(ran.failures(), ["no_response"; 2], "{ran:?}");
    });
}

#[test]
fn an_excuse_in_the_place_of_files_is_a_denied_tool() {
    several(&[CLAUDE, GEMINI, CODEX, OPENCODE], |agent| {
        let ran = failing(agent, "forbidden", &[]);
        assert_eq!(ran.failures(), ["denied_tool"; 2], "{ran:?}");
    });
}

#[test]
fn an_agent_that_turns_in_circles_comes_to_the_end_of_its_turns() {
    // codex has no such limit, and opencode at its limit only asks its model to end.
    for agent in [CLAUDE, GEMINI] {
        let once = ["--agent", agent, "--max-iterations", "1"];
        let ran = Scene::new().tune("loop", "loop", &once);
        // The skill may cause the loop, so the trial scores 0.
        assert_eq!((ran.code, ran.failures()), (Some(3), vec!["turn_limit".to_owned()]), "{ran:?}");
    }
}

#[test]
fn an_answer_that_is_cut_off_at_the_output_limit_scores_0() {
    for agent in [CODEX, OPENCODE] {
        let once = ["--agent", agent, "--max-iterations", "1"];
        let ran = Scene::new().tune("too-long", "too-long", &once);
        assert_eq!((ran.code, ran.failures()), (Some(3), vec!["output_limit".to_owned()]), "{ran:?}");
    }
}

#[test]
fn money_that_is_spent_ends_claude_in_the_middle() {
    let scene = Scene::new();
    std::fs::write(scene.path("project/skilltune.toml"), "[budget]\nusd = 0.01\n").unwrap();
    let ran = scene.tune("loop", "500", &["--agent", CLAUDE, "--max-iterations", "1"]);
    assert_eq!(ran.failures()[0], "budget_limit", "{ran:?}");
}

#[test]
fn words_that_are_no_verdict_are_asked_for_once_more_and_then_given_up() {
    let scene = Scene::new();
    let roles = ["--agent", CLAUDE, "--evaluator", GEMINI, "--max-iterations", "1"];
    let ran = scene.tune("good", "chat", &roles);
    assert_eq!((ran.code, ran.failures()), (Some(4), vec!["off_schema".to_owned(); 2]), "{ran:?}");
}
