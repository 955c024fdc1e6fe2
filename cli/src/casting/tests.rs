use std::collections::BTreeMap;

use skilltune_phases::base::role::Rights;
use skilltune_phases::loops::tune::Tune;

use super::*;
use crate::terminal::columns::UNBOUNDED;
use crate::terminal::style::Style;

fn env() -> Environment {
    Environment::fake("/w", &[("KEY", "value")])
}

fn settings(agents: &[&str]) -> Settings {
    let mut settings = crate::loops::default_settings();
    let entry = |command: &str| AgentEntry {
        settings: serde_json::from_value(serde_json::json!({"command": [command], "env": {"pass": ["KEY"]}}))
            .unwrap(),
        origin: Origin::User("/w/home/skilltune.toml".into()),
    };
    settings.agents = agents.iter().map(|name| ((*name).to_owned(), entry("sh"))).collect::<BTreeMap<_, _>>();
    settings
}

fn all(settings: &mut Settings, spec: &str) {
    for role in settings.roles.required_mut() {
        role.set(Some(spec.parse().unwrap()), Origin::Flag("--agent"));
    }
}

fn refusal(settings: &Settings) -> String {
    let complaint = cast(Tune::ROLES, settings, &env(), BuiltIn::Knows).unwrap_err();
    assert_eq!(complaint.exit().code(), 2);
    complaint.render(Style::PLAIN, UNBOUNDED)
}

#[test]
fn without_any_agent_it_is_shown_how_to_describe_one() {
    insta::assert_snapshot!(refusal(&settings(&[])), @r#"
    error: no agent for the role executor
    hint: install claude and log in: npm install -g @anthropic-ai/claude-code; `skilltune doctor` lists other agents
    hint: or pass --agent offline: it needs no model and checks structure only
    hint: or describe your own in skilltune.toml, then pass --agent mine:

        [agents.mine]
        command = ["program", "argument"]
    "#);
}

#[test]
fn agents_that_nobody_chose_are_never_taken_in_silence() {
    insta::assert_snapshot!(refusal(&settings(&["claude"])), @r"
    error: no agent for the role executor
    hint: pass --agent NAME or --executor NAME, or set roles.executor
    hint: agents in your settings: claude
    hint: or pass --agent offline: it needs no model and checks structure only
    ");
}

#[test]
fn an_unknown_agent_is_named_with_the_nearest_known_one() {
    let mut settings = settings(&["claude", "gemini"]);
    all(&mut settings, "cluade:opus");
    insta::assert_snapshot!(refusal(&settings), @r"
    error: unknown agent `cluade` as executor (flag --agent)
    hint: did you mean `claude`?
    hint: agents in your settings: claude, gemini
    ");
}

#[test]
fn a_missing_program_is_named_with_the_key_to_set() {
    let mut settings = settings(&["claude"]);
    all(&mut settings, "claude");
    settings.agents.get_mut("claude").unwrap().settings.command = vec!["no-such-program".to_owned()];
    insta::assert_snapshot!(refusal(&settings), @r#"
    error: cannot run agent `claude`: program "no-such-program" not found
    hint: install it, or set agents.claude.command (user file /w/home/skilltune.toml)
    "#);
}

#[test]
fn the_shortest_reach_decides_about_the_timeout() {
    let mut settings = settings(&["a"]);
    all(&mut settings, "a");
    let timeouts = |settings: &Settings| {
        cast(Tune::ROLES, settings, &env(), BuiltIn::Knows)
            .unwrap()
            .values()
            .map(|part| part.timeout_seconds)
            .collect::<Vec<_>>()
    };
    assert_eq!(timeouts(&settings), [600, 300, 600]);
    settings.agents.get_mut("a").unwrap().settings.timeout = Some(9);
    assert_eq!(timeouts(&settings), [9, 9, 9]);
    settings.timeouts.evaluator.set(5, Origin::Flag("--timeout"));
    assert_eq!(timeouts(&settings), [9, 5, 9]);
}

#[test]
fn a_run_that_is_taken_up_keeps_its_names_and_deadlines() {
    let mut settings = settings(&["a"]);
    all(&mut settings, "a:small");
    let planned = cast(Tune::ROLES, &settings, &env(), BuiltIn::Knows).unwrap().map(Part::cast);
    settings.timeouts.executor.set(1, Origin::Flag("--timeout"));
    let again = recast(Tune::ROLES, &planned, &settings, &env()).unwrap();
    assert_eq!(again.map(Part::cast), planned);
    settings.agents.clear();
    let gone = recast(Tune::ROLES, &planned, &settings, &env()).unwrap_err();
    assert_eq!(gone.what, "unknown agent `a` as executor (the plan of the run)");
}

#[test]
fn an_agent_gets_the_variables_that_are_passed_on() {
    let mut settings = settings(&["a"]);
    all(&mut settings, "a");
    let casting = cast(Tune::ROLES, &settings, &env(), BuiltIn::Knows).unwrap();
    assert!(
        casting
            .of(&Role::IMPROVER)
            .agent
            .env(Rights::Work, Path::new("/t"), [])
            .contains(&("KEY".to_owned(), "value".to_owned()))
    );
}

#[test]
fn a_role_without_a_setting_of_its_own_goes_by_the_executors() {
    let mut settings = settings(&["a"]);
    all(&mut settings, "a");
    settings.roles.executor.set(Some("a:large".parse().unwrap()), Origin::Flag("--executor"));
    let role = Role::try_from("red-team".to_owned()).unwrap();
    let roles = [RoleSpec::new(role.clone(), Rights::Read, false)];
    let casting = cast(&roles, &settings, &env(), BuiltIn::Knows).unwrap();
    assert_eq!(casting.iter().map(|(role, _)| role.as_str()).collect::<Vec<_>>(), ["red-team"]);
    let part = casting.of(&role);
    assert_eq!((part.cast().shown().as_str(), part.timeout_seconds), ("a:large", 600));
}
