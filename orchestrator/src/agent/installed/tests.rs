use serde_json::{Value, json};

use super::*;

fn ambient() -> BTreeMap<String, String> {
    let ambient =
        [("PATH", "/bin"), ("SECRET", "s"), ("HOME", "/home/me"), ("KEY", "k"), ("GEMINI_API_KEY", "g")];
    ambient.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

fn agent(settings: Value) -> Agent {
    let settings = serde_json::from_value(settings).unwrap();
    Agent::new("mine", Some("large".into()), settings, "/bin/mine".into(), &ambient())
}

fn slots(rights: Rights) -> Slots<'static> {
    let [workspace, temp, prompt_file] = ["/w/{model}", "/t", "/p/prompt.md"].map(Path::new);
    Slots { rights, workspace, temp, prompt_file, skills: false, usd: Some(2.5), schema: None }
}

fn real(name: &str, ambient: &BTreeMap<String, String>) -> Agent {
    Agent::real(Real::named(name).unwrap(), Some("large".into()), "/bin/real".into(), ambient)
}

fn shown(env: &[(String, String)]) -> Vec<String> {
    env.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

#[test]
fn placeholders_are_filled_once_and_other_braces_stand_for_themselves() {
    let command = ["mine", "--model={model}", "{workspace}", "{x} {model} {", "{{model}}", "a b; $(c)"];
    let argv = agent(json!({ "command": command })).argv(slots(Rights::Work));
    assert_eq!(argv, ["/bin/mine", "--model=large", "/w/{model}", "{x} large {", "{large}", "a b; $(c)"]);
}

#[test]
fn each_agent_reports_its_cost_or_its_tokens_or_neither() {
    let ambient = ambient();
    let reports = ["claude", "gemini", "codex", "opencode"].map(|name| real(name, &ambient).cost_report());
    let [dollars, tokens] = [CostReport::Dollars, CostReport::Tokens];
    assert_eq!(reports, [dollars, tokens, tokens, dollars]);
    let compatible = Agent { model: Some("openai-compatible/local".into()), ..real("opencode", &ambient) };
    assert_eq!(compatible.cost_report(), tokens, "it is in no catalogue");
    let wrapped = real("claude", &ambient).through(Via::Ccw, "/bin/ccw".into());
    assert_eq!(wrapped.cost_report(), CostReport::Nothing);
    let command = |cost: Value| agent(json!({ "command": ["mine"], "cost": cost }));
    assert_eq!(command(json!({ "usd": "/usd" })).cost_report(), dollars);
    assert_eq!(command(json!({ "input_tokens": "/in", "output_tokens": "/out" })).cost_report(), tokens);
    assert_eq!(command(json!({ "input_tokens": "/in" })).cost_report(), CostReport::Nothing);
    assert_eq!(Agent { model: None, ..command(json!({})) }.cost_report(), CostReport::Free);
    assert_eq!(Agent::built_in("/bin/skilltune".into(), "offline", &ambient).cost_report(), CostReport::Free);
}

#[test]
fn the_prompt_goes_to_stdin_unless_it_is_asked_for_as_a_file() {
    assert!(agent(json!({ "command": ["mine", "{model}"] })).reads_stdin());
    assert!(!agent(json!({ "command": ["mine", "-f={prompt_file}"] })).reads_stdin());
    assert!(real("claude", &ambient()).reads_stdin());
}

#[test]
fn the_environment_holds_what_is_documented_named_or_set_and_nothing_else() {
    let env = json!({ "pass": ["KEY", "ABSENT"], "set": { "MODE": "quiet", "HOME": "/elsewhere" } });
    let env = agent(json!({ "command": ["mine"], "env": env })).env(Rights::Work, Path::new("/t"), []);
    assert_eq!(shown(&env), ["HOME=/elsewhere", "KEY=k", "MODE=quiet", "PATH=/bin", "TMPDIR=/t"]);
}

#[test]
fn a_real_agent_has_its_own_key_and_no_other_and_keeps_its_files_where_they_are_cleared() {
    let mut ambient = ambient();
    ambient.insert("ANTHROPIC_API_KEY".into(), "a".into());
    let claude = shown(&real("claude", &ambient).env(Rights::Work, Path::new("/t"), []));
    for there in ["ANTHROPIC_API_KEY=a", "CLAUDE_CODE_TMPDIR=/t", "TMPDIR=/t", "CLAUDE_CODE_MAX_RETRIES=2"] {
        assert!(claude.iter().any(|one| one == there), "{there} in {claude:?}");
    }
    assert!(!claude.iter().any(|one| one.starts_with("SECRET") || one.starts_with("GEMINI")), "{claude:?}");
    let gemini = shown(&real("gemini", &ambient).env(Rights::Work, Path::new("/t"), []));
    // An unset service is set to nothing, so that no file can set one.
    for there in
        ["GEMINI_API_KEY=g", "GEMINI_CLI_NO_RELAUNCH=true", "GOOGLE_GEMINI_BASE_URL=", "GEMINI_CLI_HOME=/t"]
    {
        assert!(gemini.iter().any(|one| one == there), "{there} in {gemini:?}");
    }
    assert!(!gemini.iter().any(|one| one.starts_with("ANTHROPIC")), "{gemini:?}");
    let opencode = shown(&real("opencode", &ambient).env(Rights::Work, Path::new("/t"), []));
    assert!(opencode.iter().any(|one| one.starts_with("OPENCODE_CONFIG_CONTENT={")), "{opencode:?}");
    // opencode would take an empty value for an address.
    assert!(!opencode.iter().any(|one| one.starts_with("OPENAI_BASE_URL")), "{opencode:?}");
    // Without a key its login is in the user's home.
    ambient.remove("GEMINI_API_KEY");
    let gemini = shown(&real("gemini", &ambient).env(Rights::Work, Path::new("/t"), []));
    assert!(!gemini.iter().any(|one| one.starts_with("GEMINI_CLI_HOME")), "{gemini:?}");
}

#[test]
fn who_judges_cannot_write_and_nobody_has_a_shell_without_a_sandbox() {
    let argv = |name, rights| real(name, &ambient()).argv(slots(rights)).join(" ");
    let judge = argv("claude", Rights::Read);
    assert!(judge.contains("--permission-mode dontAsk --tools Read,Grep,Glob --model large"), "{judge}");
    assert!(argv("gemini", Rights::Read).contains("--approval-mode default --model large"));
    assert!(argv("codex", Rights::Read).contains(" --sandbox read-only "));
    assert!(argv("opencode", Rights::Read).contains(" --agent judge "));
    for rights in [Rights::Work, Rights::Edit] {
        assert!(argv("codex", rights).contains(" --sandbox workspace-write "));
        assert!(argv("opencode", rights).contains(" --agent writer "));
        let writer = argv("claude", rights);
        assert!(writer.contains(" --restricted ") && writer.contains("acceptEdits"), "{writer}");
        assert!(writer.ends_with("--max-budget-usd 2.5") && !writer.contains("Bash"), "{writer}");
        assert!(argv("gemini", rights).contains("--approval-mode auto_edit"));
    }
}

#[test]
fn only_who_is_to_run_commands_has_a_shell() {
    let argv =
        |name: &str, rights, skills| real(name, &ambient()).argv(Slots { skills, ..slots(rights) }).join(" ");
    let claude = argv("claude", Rights::Shell, true);
    for given in
        ["acceptEdits --tools Read,Grep,Glob,Write,Edit,Bash,Skill ", "\"allow\":[\"Skill\",\"Bash\"]"]
    {
        assert!(claude.contains(given), "{given} in {claude}");
    }
    assert!(!claude.contains("--restricted") && claude.contains(" --strict-mcp-config "), "{claude}");
    assert!(argv("claude", Rights::Shell, false).contains("Write,Edit,Bash --model"));
    assert!(argv("opencode", Rights::Shell, true).contains(" --agent apprentice "));
    assert!(argv("opencode", Rights::Shell, false).contains(" --agent worker "));
    let network =
        |rights| argv("codex", rights, false).contains("sandbox_workspace_write.network_access=true");
    assert_eq!(Rights::ALL.map(network), [false, false, false, true, true]);
    let policy = |rights| real("gemini", &ambient()).agent_files(rights, true, "")[1].text.clone();
    let runs = "toolName = \"run_shell_command\"\ndecision = \"allow\"";
    assert_eq!(Rights::ALL.map(|rights| policy(rights).contains(runs)), [false, false, false, true, true]);
    assert!(!policy(Rights::Shell).contains("priority = 999"));
    for rights in [Rights::Work, Rights::Read, Rights::Edit] {
        assert!(policy(rights).contains("\"run_shell_command\""), "denied: {}", policy(rights));
        for skills in [false, true] {
            assert!(!argv("claude", rights, skills).contains("Bash"));
            assert!(
                !["worker", "apprentice"].iter().any(|one| argv("opencode", rights, skills).contains(one))
            );
        }
    }
    for (name, skills) in Real::ALL.iter().flat_map(|real| [(real.name(), false), (real.name(), true)]) {
        let given = |rights| {
            let files = real(name, &ambient()).agent_files(rights, skills, "");
            (argv(name, rights, skills), files.into_iter().map(|file| file.text).collect::<Vec<_>>())
        };
        assert_eq!(
            given(Rights::Build),
            given(Rights::Shell),
            "{name}: the fingerprint has only one of them"
        );
    }
}

#[test]
fn who_is_to_find_a_skill_may_use_it_and_is_kept_in_the_workspace_all_the_same() {
    let argv =
        |name: &str, rights, skills| real(name, &ambient()).argv(Slots { skills, ..slots(rights) }).join(" ");
    let claude = argv("claude", Rights::Work, true);
    assert!(!claude.contains("--restricted") && claude.contains("--setting-sources project"), "{claude}");
    for kept in [
        "Write,Edit,Skill ",
        "\"blockReadsOutsideWorkingDirectories\":true",
        "\"blockWritesOutsideWorkingDirectories\":true",
        "\"disableAllHooks\":true",
        "\"disableSkillShellExecution\":true",
    ] {
        assert!(claude.contains(kept), "{kept} in {claude}");
    }
    assert!(!argv("claude", Rights::Work, false).contains("Skill"));
    assert!(argv("gemini", Rights::Work, true).contains("--policy .gemini/policy.toml"));
    let agent_files = |skills| real("gemini", &ambient()).agent_files(Rights::Work, skills, "");
    assert!(
        agent_files(false)[0].text.contains("\"enabled\":false")
            && !agent_files(false)[1].text.contains("skill")
    );
    let with = agent_files(true);
    let settings: Value = serde_json::from_str(&with[0].text).unwrap();
    assert_eq!(settings["skills"]["enabled"], true);
    assert_eq!((with[1].folder, with[1].file), (".gemini", "policy.toml"));
    assert!(with[1].text.contains("toolName = \"activate_skill\""));
    for rights in Rights::ALL {
        let policy = &real("gemini", &ambient()).agent_files(rights, false, "")[1].text;
        for denied in
            ["google_web_search", "web_fetch", "invoke_agent", "decision = \"deny\"", "priority = 200"]
        {
            assert!(policy.contains(denied), "{rights:?}: {policy}");
        }
        assert!(argv("gemini", rights, false).contains("--policy .gemini/policy.toml"));
    }
}

#[test]
fn an_edited_script_makes_another_agent() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("agent.py");
    let of = |text: &str| {
        std::fs::write(&script, text).unwrap();
        agent(json!({ "command": ["mine", script] })).fingerprint()
    };
    assert_eq!(of("one"), of("one"));
    assert_ne!(of("one"), of("two"));
}

#[test]
fn a_file_that_the_command_does_not_run_makes_no_other_agent_however_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("agent.log");
    let of = |text: &str, argument: String| {
        std::fs::write(&log, text).unwrap();
        agent(json!({ "command": ["mine", argument], "writes": [] })).fingerprint()
    };
    for argument in [log.display().to_string(), format!("--log={}", log.display())] {
        assert_eq!(of("one", argument.clone()), of("two", argument));
    }
    // An executable file, or one that names its interpreter, is run, unless the settings say that it is written.
    let tool = folder.path().join("tool");
    let of = |text: &str, writes: Value| {
        std::fs::write(&tool, text).unwrap();
        agent(json!({ "command": ["mine", tool], "writes": writes })).fingerprint().digest()
    };
    assert_eq!(of("one", json!([])), of("two", json!([])));
    assert_ne!(of("#!/bin/sh\n1", json!([])), of("#!/bin/sh\n2", json!([])));
    assert_eq!(of("#!/bin/sh\n1", json!([tool])), of("#!/bin/sh\n2", json!([tool])));
}

#[test]
fn what_has_changed_is_named_by_its_part() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("agent.py");
    let of = |text: &str, timeout: u64| {
        std::fs::write(&script, text).unwrap();
        agent(json!({ "command": ["mine", script], "timeout": timeout })).fingerprint()
    };
    let before = of("one", 1);
    assert_eq!(before.changed(&of("two", 1)), [format!("script {}", script.display())]);
    assert_eq!(before.changed(&of("one", 2)), ["settings"]);
    let claude = |place: &str| {
        let mut ambient = ambient();
        ambient.insert("ANTHROPIC_BASE_URL".into(), place.into());
        real("claude", &ambient).fingerprint()
    };
    let service = claude("http://one").changed(&claude("http://two"));
    assert!(service.contains(&"service".to_owned()), "{service:?}");
}

#[test]
fn another_service_makes_another_agent_and_another_key_does_not() {
    let of = |name: &str, value: &str| {
        let mut ambient = ambient();
        ambient.insert(name.into(), value.into());
        real("gemini", &ambient).fingerprint()
    };
    assert_eq!(of("GEMINI_API_KEY", "one"), of("GEMINI_API_KEY", "two"));
    assert_ne!(of("GOOGLE_GEMINI_BASE_URL", "http://one"), of("GOOGLE_GEMINI_BASE_URL", "http://two"));
    assert_ne!(of("X", ""), real("claude", &ambient()).fingerprint());
    let opencode = |place: &str| {
        let mut ambient = ambient();
        ambient.insert("OPENAI_BASE_URL".into(), place.into());
        real("opencode", &ambient).fingerprint()
    };
    assert_ne!(opencode("http://one"), opencode("http://two"));
}

fn isolated(name: &str, isolation: Isolation) -> Agent {
    let mut ambient = ambient();
    ambient.insert("ANTHROPIC_API_KEY".into(), "a".into());
    real(name, &ambient).isolated(isolation)
}

#[test]
fn a_fresh_world_is_an_empty_folder_in_the_calls_own() {
    let env = |name, isolation| shown(&isolated(name, isolation).env(Rights::Work, Path::new("/t"), []));
    let has = |env: &[String], one: &str| env.iter().any(|other| other == one);
    assert!(has(&env("claude", Isolation::Fresh), "CLAUDE_CONFIG_DIR=/t/claude"));
    assert!(has(&env("gemini", Isolation::Fresh), "GEMINI_CLI_HOME=/t"));
    for isolation in [Isolation::Partial, Isolation::User] {
        assert!(!env("claude", isolation).iter().any(|one| one.starts_with("CLAUDE_CONFIG_DIR")));
    }
    assert!(!env("gemini", Isolation::User).iter().any(|one| one.starts_with("GEMINI_CLI_HOME")));
}

#[test]
fn in_a_fresh_world_a_key_is_needed_and_the_variable_is_named() {
    let mut keyless = ambient();
    keyless.insert("GOOGLE_GENAI_USE_VERTEXAI".into(), "true".into());
    let missing = |name, isolation| real(name, &keyless).isolated(isolation).missing_key();
    assert_eq!(missing("claude", Isolation::Fresh), Some("ANTHROPIC_API_KEY"));
    assert_eq!(missing("gemini", Isolation::Fresh), Some("GEMINI_API_KEY"), "its key is not what it goes by");
    assert_eq!(missing("claude", Isolation::User), None);
    assert_eq!(isolated("claude", Isolation::Fresh).missing_key(), None);
}

#[test]
fn another_world_makes_another_agent() {
    let of = |isolation| isolated("claude", isolation).fingerprint();
    let all = [Isolation::Partial, Isolation::Fresh, Isolation::User].map(of);
    assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2]);
}

#[test]
fn in_the_users_world_who_judges_has_no_servers_and_nobody_a_shell() {
    let argv = |name, rights| isolated(name, Isolation::User).argv(slots(rights)).join(" ");
    let judge = argv("claude", Rights::Read);
    assert!(judge.contains("--strict-mcp-config --permission-mode dontAsk --tools Read,Grep,Glob,Skill"));
    assert!(argv("gemini", Rights::Read).contains("--allowed-mcp-server-names none"));
    let writer = argv("claude", Rights::Work);
    assert!(!writer.contains("--restricted") && !writer.contains("--strict-mcp-config"), "{writer}");
    assert!(writer.contains("acceptEdits --tools Read,Grep,Glob,Write,Edit,Skill"), "{writer}");
    assert!(!argv("gemini", Rights::Edit).contains("none"));
    for isolation in [Isolation::Partial, Isolation::Fresh, Isolation::User] {
        // The settings name the file: a wrapper does not pass our arguments on.
        let agent_files = |rights| isolated("gemini", isolation).agent_files(rights, false, "");
        assert!(agent_files(Rights::Read)[0].text.contains(r#""policyPaths":[".gemini/policy.toml"]"#));
        let fitting = |rights| agent_files(rights)[1].text.clone();
        assert!(Rights::ALL.iter().all(|rights| fitting(*rights).contains("run_shell_command")));
        assert!(fitting(Rights::Read).contains("write_file"));
    }
}

#[test]
fn a_login_is_a_key_that_it_goes_by_or_a_file_that_is_there() {
    let home = tempfile::tempdir().unwrap();
    let mut ambient = BTreeMap::from([("HOME".to_owned(), home.path().to_str().unwrap().to_owned())]);
    let login = |name: &str, ambient: &BTreeMap<String, String>| real(name, ambient).login().unwrap();
    assert_eq!(login("claude", &ambient), Login::Unseen);
    let file = home.path().join(".claude/.credentials.json");
    std::fs::create_dir(home.path().join(".claude")).unwrap();
    std::fs::write(&file, "secret").unwrap();
    assert_eq!(login("claude", &ambient), Login::File(file));
    ambient.insert("CLAUDE_CONFIG_DIR".into(), "/elsewhere".into());
    assert_eq!(login("claude", &ambient), Login::Unseen, "the login is there and nowhere else");
    ambient.insert("ANTHROPIC_AUTH_TOKEN".into(), "t0ken".into());
    assert_eq!(login("claude", &ambient), Login::Key("ANTHROPIC_AUTH_TOKEN"));
    assert_eq!(real("claude", &ambient).keys(), ["t0ken"]);
    assert_eq!(agent(json!({ "command": ["mine"] })).login(), None);
}

/// The fingerprints are parts of call keys: if one changes, no stored answer of this agent is found, and each is paid
/// for again.
#[test]
fn an_agent_has_the_fingerprint_that_it_had() {
    let settings = json!({
        "command": ["mine", "--model={model}", "{prompt_file}"], "output": "/result", "timeout": 60,
        "env": { "pass": ["KEY"], "set": { "MODE": "quiet" } },
        "cost": { "usd": "/usd", "input_tokens": "/in", "output_tokens": "/out" },
        "writes": ["/data"], "verdict": "evidenced",
    });
    let ambient = ambient();
    let wrap = Wrap::new(vec!["box".into(), "{workspace}".into()], "/bin/box".into(), Path::new("/home/me"));
    let real = |name| real(name, &ambient);
    let agents = [
        ("command", agent(settings)),
        ("built in", Agent::built_in("/bin/skilltune".into(), "offline", &ambient)),
        ("claude", real("claude")),
        ("claude by ccw", real("claude").through(Via::Ccw, "/bin/ccw".into())),
        ("claude in a wrapper", real("claude").wrapped(wrap)),
        ("codex", real("codex")),
        ("gemini", real("gemini")),
        ("opencode", real("opencode")),
    ];
    let digests = agents.map(|(name, agent)| (name, agent.fingerprint().digest().short()));
    let expected = [
        ("command", "e1810ffc7847"),
        ("built in", "d0f120f86401"),
        ("claude", "65709a557702"),
        ("claude by ccw", "a2edd7b4b92b"),
        ("claude in a wrapper", "afbcba0c76df"),
        ("codex", "40c608df8bfa"),
        ("gemini", "4b983085b444"),
        ("opencode", "6123164493c7"),
    ];
    assert_eq!(digests, expected.map(|(name, digest)| (name, digest.to_owned())));
}
