use skilltune_orchestrator::agent::Login;
use skilltune_phases::base::role::Role;

use super::*;
use crate::commands::doctor::probe::Probed;
use crate::commands::doctor::project::{Lock, OpenRun};
use crate::commands::doctor::rights::Rights;

fn agent(name: &str) -> AgentSeen {
    AgentSeen {
        name: name.to_owned(),
        program: name.to_owned(),
        path: Some(format!("/usr/local/bin/{name}")),
        version: Some("2.1.329 (Claude Code)".to_owned()),
        described: Some("user file /home/me/.config/skilltune/skilltune.toml".to_owned()),
        usable: true,
        ..AgentSeen::default()
    }
}

/// Returns the same rights for all roles but one.
fn rights(words: &'static str) -> Rights {
    [(Role::EXECUTOR, "system"), (Role::EVALUATOR, words), (Role::IMPROVER, words)].into()
}

fn place(what: &'static str) -> Place {
    Place {
        what,
        path: format!("/home/me/{what}"),
        exists: true,
        writable: true,
        bytes: 5 << 20,
        more: false,
        free_bytes: Some(7 << 30),
        exchange: Some(true),
        reflink: Some(true),
    }
}

fn report() -> DoctorReport {
    let missing = AgentSeen { path: None, version: None, described: None, usable: false, ..agent("gemini") };
    let mute = AgentSeen {
        version: None,
        trouble: Some("version check failed: exit code 2".into()),
        ..agent("mine")
    };
    DoctorReport {
        verdict: DoctorVerdict {
            ready: true,
            next: "skilltune tune SKILL --agent claude".to_owned(),
            for_more: None,
        },
        version: "1.2.3",
        agents: vec![
            AgentSeen { roles: vec!["executor", "improver"], ..agent("claude") },
            AgentSeen { described: None, rights: Some(rights("system + agent")), ..agent("claude") },
            AgentSeen { get: Some("npm install -g @google/gemini-cli"), ..missing.clone() },
            AgentSeen { described: Some("user file /s".to_owned()), ..missing },
            AgentSeen { described: None, usable: false, ..agent("ccw") },
            mute,
        ],
        wrap: None,
        workers: Workers::default(),
        confinement: System::Cannot,
        processes: Ends::Kernel,
        browser: Some(Found { program: "/usr/bin/chromium".into(), axe: None }),
        folders: vec![
            place("store"),
            Place { exists: false, exchange: Some(false), reflink: Some(false), ..place("state") },
            Place { writable: false, ..place("cache") },
        ],
        project: Project {
            root: "/home/me/project".to_owned(),
            settings_file: Some("/home/me/project/skilltune.toml".to_owned()),
            settings_error: None,
            settings_fix: None,
            state_error: None,
            roles_error: None,
            trusted: Some(false),
            trusted_now: false,
            git: true,
            ignored: Some(false),
            runs: vec![OpenRun { id: "calm-otter".into(), status: "stopped", target: "haiku".into() }],
            damaged: vec!["bad-otter".to_owned()],
            locks: vec![Lock {
                pid: 7,
                host: "here".to_owned(),
                since: "2026-01-02 03:04:05 UTC".to_owned(),
                doing: "calm-otter".to_owned(),
            }],
        },
    }
}

#[test]
fn a_wide_terminal_gets_a_line_a_thing() {
    insta::assert_snapshot!(render(&report(), 200, Style::PLAIN), @r#"
        skilltune 1.2.3

        agents
          ok  claude: 2.1.329 (Claude Code), /usr/local/bin/claude (user file /home/me/.config/skilltune/skilltune.toml); executor, improver
          ok  claude: 2.1.329 (Claude Code), /usr/local/bin/claude; use it with --agent claude; rights: executor system, evaluator system + agent, improver system + agent
          --  gemini: not found; npm install -g @google/gemini-cli
          !!  gemini: program "gemini" not found (user file /s)
          --  ccw: 2.1.329 (Claude Code), /usr/local/bin/ccw; a wrapper: use it with --via ccw
          --  mine: version check failed: exit code 2, /usr/local/bin/mine (user file /home/me/.config/skilltune/skilltune.toml); run `mine --version` by hand, if it should know that
          --  rights: not enforced by the kernel, which needs Landlock from Linux 6.2 or newer
          ok  processes: the kernel ends all processes of a call
          --  shell: --tools shell works with codex only, because nothing here confines the others' commands
          --  browser: /usr/bin/chromium, without axe-core, which measures accessibility and contrast; npm install -g axe-core

        folders
          ok  store: /home/me/store: 5 MiB, 7 GiB free, copies share disk space
          ok  state: /home/me/state: not created yet, 7 GiB free, no atomic exchange of files
          !!  cache: /home/me/cache is not writable

        project
          ok  folder: /home/me/project
          !!  settings: /home/me/project/skilltune.toml, not trusted
          ok  roles: every role has an agent
          !!  git: .skilltune has no .gitignore with `*`
          --  run calm-otter: stopped, haiku; skilltune status calm-otter
          !!  run bad-otter: cannot read its journal
          --  lock: process 7 on here since 2026-01-02 03:04:05 UTC (calm-otter)

        ready: skilltune tune SKILL --agent claude
        "#);
}

#[test]
fn a_narrow_terminal_gets_lines_that_fit_and_paths_that_are_whole() {
    let mut not_ready = report();
    not_ready.verdict.ready = false;
    let text = render(&not_ready, 40, Style::PLAIN);
    insta::assert_snapshot!(text, @r#"
        skilltune 1.2.3

        agents
          ok  claude: 2.1.329 (Claude Code),
              /usr/local/bin/claude (user file
              /home/me/.config/skilltune/skilltune.toml);
              executor, improver
          ok  claude: 2.1.329 (Claude Code),
              /usr/local/bin/claude; use it with
              --agent claude; rights: executor
              system, evaluator system + agent,
              improver system + agent
          --  gemini: not found; npm install -g
              @google/gemini-cli
          !!  gemini: program "gemini" not found
              (user file /s)
          --  ccw: 2.1.329 (Claude Code),
              /usr/local/bin/ccw; a wrapper: use
              it with --via ccw
          --  mine: version check failed: exit
              code 2, /usr/local/bin/mine (user
              file
              /home/me/.config/skilltune/skilltune.toml);
              run `mine --version` by hand, if
              it should know that
          --  rights: not enforced by the
              kernel, which needs Landlock from
              Linux 6.2 or newer
          ok  processes: the kernel ends all
              processes of a call
          --  shell: --tools shell works with
              codex only, because nothing here
              confines the others' commands
          --  browser: /usr/bin/chromium,
              without axe-core, which measures
              accessibility and contrast; npm
              install -g axe-core

        folders
          ok  store: /home/me/store: 5 MiB, 7
              GiB free, copies share disk space
          ok  state: /home/me/state: not created
              yet, 7 GiB free, no atomic
              exchange of files
          !!  cache: /home/me/cache is not
              writable

        project
          ok  folder: /home/me/project
          !!  settings:
              /home/me/project/skilltune.toml,
              not trusted
          ok  roles: every role has an agent
          !!  git: .skilltune has no .gitignore
              with `*`
          --  run calm-otter: stopped, haiku;
              skilltune status calm-otter
          !!  run bad-otter: cannot read its
              journal
          --  lock: process 7 on here since
              2026-01-02 03:04:05 UTC
              (calm-otter)

        not ready: skilltune tune SKILL --agent
          claude
        "#);
    let wide = text.lines().filter(|line| line.chars().count() > 40);
    assert!(wide.clone().all(|line| line.trim().contains('/') && !line.trim().contains(' ')), "{text}");
}

#[test]
fn what_a_shell_can_reach_is_told_with_what_an_agent_here_refuses() {
    let codex = AgentSeen { described: None, shell_limit: Some("refuses x"), ..agent("codex") };
    let absent = AgentSeen { usable: false, shell_limit: Some("refuses y"), ..codex.clone() };
    let shell = |confinement| {
        let text = render(
            &DoctorReport { confinement, agents: vec![codex.clone(), absent.clone()], ..report() },
            400,
            Style::PLAIN,
        );
        text.lines().find(|line| line.contains("shell:")).unwrap().to_owned()
    };
    insta::assert_snapshot!([System::Enforces, System::TurnedOff].map(shell).join("\n"), @r"
      ok  shell: with --tools shell executors run commands, which the kernel confines to the trial's folders; they can read your files and use the network; codex refuses x
      --  shell: with --tools shell executors run commands, and nothing confines those of claude, gemini and opencode; they can read your files and use the network; codex refuses x
    ");
}

#[test]
fn nothing_that_was_found_drives_the_terminal() {
    let mut hostile = report();
    hostile.project.root = "/a\x1b[2J\u{202e}b".to_owned();
    hostile.verdict.next = "tune\x07".to_owned();
    let text = render(&hostile, 80, Style::PLAIN);
    assert!(!text.contains(['\x1b', '\u{202e}', '\x07']), "{text}");
    assert!(render(&report(), 80, Style::VIVID).contains("\x1b[32mready:\x1b[0m skilltune tune"));
}

#[test]
fn what_is_known_of_an_agent_stands_beside_it_and_what_came_of_its_call_below() {
    let login = Some(Login::Key("ANTHROPIC_API_KEY"));
    let remark = Some("newer than 2.1.329, the tested version".to_owned());
    let answered = Probed {
        answered: true,
        model: Some("sonnet".to_owned()),
        seconds: 2.0,
        usd: Some(0.0125),
        input_tokens: Some(9000),
        output_tokens: Some(4),
        ..Probed::broken("")
    };
    let answered = Probed { why: None, ..answered };
    let known = AgentSeen { described: None, ..agent("claude") };
    let failed = Probed::broken("cannot be started");
    let agents = vec![
        AgentSeen { login, remark, probe: Some(answered), ..known.clone() },
        AgentSeen {
            name: "gemini".into(),
            usable: false,
            login: Some(Login::Unseen),
            probe: Some(failed),
            ..known.clone()
        },
        AgentSeen { name: "ccw".into(), usable: false, ..known },
    ];
    let text = render(&DoctorReport { agents, ..report() }, 200, Style::PLAIN);
    let section = text.split("agents\n").nth(1).unwrap().split("\n\n").next().unwrap();
    insta::assert_snapshot!(section, @r"
    ok  claude: 2.1.329 (Claude Code), /usr/local/bin/claude; newer than 2.1.329, the tested version; key in ANTHROPIC_API_KEY; use it with --agent claude
    ok  claude: answered in 2s; sonnet; $0.0125; 9000 tokens in, 4 out
    !!  gemini: 2.1.329 (Claude Code), /usr/local/bin/claude; no key or login found
    !!  gemini: test call failed: cannot be started
    --  ccw: 2.1.329 (Claude Code), /usr/local/bin/claude; a wrapper: use it with --via ccw
    --  rights: not enforced by the kernel, which needs Landlock from Linux 6.2 or newer
    ok  processes: the kernel ends all processes of a call
    --  shell: --tools shell works with codex only, because nothing here confines the others' commands
    --  browser: /usr/bin/chromium, without axe-core, which measures accessibility and contrast; npm install -g axe-core
    ");
}
