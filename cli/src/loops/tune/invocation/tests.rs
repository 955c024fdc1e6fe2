mod asked;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use skilltune_orchestrator::process::can_confine;
use skilltune_phases::runs::plan::Enforced;
use skilltune_phases::suites::scenario::Tools;

use super::*;
use crate::casting::Part;
use crate::commands::cli::tune_args;
use crate::terminal::columns::UNBOUNDED;
use crate::terminal::questions::scripted::Script;
use crate::terminal::style::Style;

const AGENTS: &str =
    "[agents.mine]\ncommand = [\"./agent\"]\n[agents.other]\ncommand = [\"./agent\"]\nwrites = []\n";
const ROLES: &str = "[roles]\nexecutor = \"mine\"\nevaluator = \"mine:small\"\nimprover = \"other\"\n";

/// A project with two skills, whose agents the user describes.
struct World {
    root: tempfile::TempDir,
}

impl World {
    fn new(user: &str, project: &str) -> Self {
        let world = Self { root: tempfile::tempdir().unwrap() };
        let repo = world.root.path().join("repo");
        for (folder, settings) in [(&world.env().config, user), (&repo, project)] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join("skilltune.toml"), settings).unwrap();
            fs::write(folder.join("agent"), "#!/bin/true\n").unwrap();
            fs::set_permissions(folder.join("agent"), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let programs = world.root.path().join("bin");
        fs::create_dir(&programs).unwrap();
        for program in ["claude", "ccw"] {
            fs::write(programs.join(program), "#!/bin/true\n").unwrap();
            fs::set_permissions(programs.join(program), fs::Permissions::from_mode(0o755)).unwrap();
        }
        for skill in ["a", "b", "other/a"] {
            let folder = repo.join(skill);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("SKILL.md"), "---\nname: a\ndescription: b\n---\n").unwrap();
        }
        world
    }

    fn usual() -> Self {
        Self::new(&format!("{AGENTS}{ROLES}"), "")
    }

    fn env(&self) -> Environment {
        let root = self.root.path().canonicalize().unwrap();
        Environment { cwd: root.join("repo"), ..Environment::fake(root, &[]) }
    }

    /// Returns an environment with a real agent in the PATH.
    fn equipped(&self) -> Environment {
        let mut env = self.env();
        let programs = self.root.path().canonicalize().unwrap().join("bin");
        env.vars.insert("PATH".to_owned(), programs.display().to_string());
        env
    }

    fn ask(&self, person: Option<&dyn Answers>, line: &[&str]) -> Result<Vec<Invocation>, Complaint> {
        invocations(&tune_args(line).unwrap(), &self.env(), person)
    }

    fn one(&self, line: &[&str]) -> Invocation {
        self.ask(None, line).unwrap().remove(0)
    }

    fn refusal(&self, line: &[&str]) -> String {
        let complaint = self.ask(None, line).unwrap_err();
        assert_eq!(complaint.exit().code(), 2);
        let root = self.root.path().canonicalize().unwrap();
        complaint.render(Style::PLAIN, UNBOUNDED).replace(root.to_str().unwrap(), "")
    }
}

/// Returns the requests of a user who does not want a suite drafted.
fn invocations(
    args: &TuneArgs,
    env: &Environment,
    person: Option<&dyn Answers>,
) -> Result<Vec<Invocation>, Complaint> {
    Ok(super::invocations(args, env, person)?.continue_value().unwrap())
}

fn names(invocations: &[Invocation]) -> Vec<Vec<&str>> {
    invocations.iter().map(|one| one.members.iter().map(|member| member.name.as_str()).collect()).collect()
}

#[test]
fn several_skills_are_several_requests_or_one_chain() {
    let world = World::usual();
    let single = world.ask(None, &["./a,./b"]).unwrap();
    assert_eq!(names(&single), [["a"], ["b"]]);
    assert!(single.iter().all(|one| one.mode == Mode::Single));
    for flags in [&["--chain"][..], &["--mode", "chain"], &["--chain", "--mode", "chain"]] {
        let chain = world.ask(None, &[&["./a,./other/a"], flags].concat()).unwrap();
        assert_eq!(names(&chain), [["a", "a-2"]]);
        assert_eq!(chain[0].mode, Mode::Chain);
    }
    assert_eq!(world.one(&["./a", "--chain"]).mode, Mode::Single, "a chain of one");
}

#[test]
fn contradictory_flags_are_refused() {
    for flags in [
        &["--search", "rounds", "--runs", "48"][..],
        &["--search", "draft", "--max-iterations", "3"],
        &["--runs", "48", "--max-iterations", "3"],
    ] {
        let person = Script::default();
        let refused = World::usual().ask(Some(&person), &[&["./a"], flags].concat()).unwrap_err();
        assert!(refused.what.ends_with("contradict each other"), "{refused:?}");
        assert!(person.asked.borrow().is_empty(), "{flags:?}: told before anything is asked");
    }
    insta::assert_snapshot!(World::usual().refusal(&["./a,./b", "--chain", "--mode", "single"]), @r"
    error: --chain and --mode single contradict each other
    hint: pass only one of them
    ");
}

#[test]
fn flags_go_over_settings() {
    let world = World::new(
        &format!("{AGENTS}{ROLES}"),
        "[tune]\nmax_iterations = 4\nthreshold = 60\n[calls]\njobs = 2\n",
    );
    let asked = world.one(&["./a"]);
    assert_eq!(
        (asked.rules.max_iterations, asked.rules.threshold.points(), asked.common.settings.calls.jobs.value),
        (4, 60.0, 2)
    );
    let flags = ["--preset", "quick", "--threshold", "99", "--jobs", "8", "--apply", "never", "--seed", "5"];
    let asked = world.one(&[&["./a"], &flags[..]].concat());
    assert_eq!(
        (asked.rules.max_iterations, asked.rules.threshold.points(), asked.common.settings.calls.jobs.value),
        (3, 99.0, 8)
    );
    assert_eq!((asked.apply, asked.seed), (Apply::Never, Some(5)));
}

#[test]
fn a_projects_settings_do_not_answer_for_a_person_who_is_there() {
    let settings = |user: &str| format!("{AGENTS}{ROLES}{user}");
    let person = Script::default();
    for (user, project, applies) in [
        ("", "[tune]\napply = \"auto\"\n", Apply::Ask),
        ("", "[tune]\napply = \"never\"\n", Apply::Never),
        ("[tune]\napply = \"auto\"\n", "", Apply::Auto),
        ("", "[tune]\napply = \"pr\"\n", Apply::Propose(Form::Branch)),
        ("[tune]\napply = \"pr\"\n", "", Apply::Propose(Form::PullRequest)),
    ] {
        let world = World::new(&settings(user), project);
        let asked = world.ask(Some(&person), &["./a", "write a page"]).unwrap().remove(0);
        assert_eq!(asked.apply, applies, "{user:?} {project:?}");
        assert_eq!(world.ask(None, &["./a", "--apply", "auto"]).unwrap().remove(0).apply, Apply::Auto);
    }
}

#[test]
fn every_key_of_the_settings_changes_the_request() {
    let rendered = World::rendered_with;
    let before = rendered("");
    assert_eq!(before, rendered(""), "the same settings make the same request");
    let is_a_projects = |key: &str| !["limits.confine", "budget.unpriced"].contains(&key);
    for (key, value) in crate::settings::changes().into_iter().filter(|(key, _)| is_a_projects(key)) {
        assert_ne!(before, rendered(&format!("{key} = {value}")), "{key}");
    }
}

#[test]
fn agents_are_let_go_by_a_persons_own_settings_and_by_no_projects() {
    const OFF: &str = "[limits]\nconfine = false\n";
    let agents = format!("{AGENTS}{ROLES}");
    let rights = |user: &str| {
        let world = World::new(&format!("{user}{agents}"), "");
        world.ask(None, &["./a", "--dry-run"]).unwrap()[0]
            .common
            .casting
            .values()
            .map(|part| part.rights)
            .collect::<Vec<_>>()
    };
    let free = [Enforced::Nobody; 3];
    assert_eq!(rights(OFF), free);
    let held = if can_confine() { Enforced::System } else { Enforced::Nobody };
    assert_eq!(rights(""), [Enforced::Nobody, Enforced::Nobody, held]);
    let complaint = World::new(&agents, OFF).ask(None, &["./a", "--dry-run"]).unwrap_err();
    assert_eq!(complaint.exit().code(), 2);
    assert!(complaint.render(Style::PLAIN, UNBOUNDED).contains("only your own settings may set"));
}

impl World {
    /// Returns a request's content, except for the folders that change from test to test.
    fn rendered_with(project: &str) -> String {
        let world = Self::new(&format!("{AGENTS}{ROLES}"), project);
        // The command lines of real agents matter only if there is one.
        [&[][..], &["--agent", "claude"]].map(|more| world.rendered(more)).concat()
    }

    fn rendered(&self, more: &[&str]) -> String {
        let line = [&["./a", "--dry-run"], more].concat();
        let invocations = match invocations(&tune_args(&line).unwrap(), &self.equipped(), None) {
            Ok(invocations) => invocations,
            // A missing feature of an agent turns the request into a complaint.
            Err(complaint) => return complaint.what,
        };
        let Invocation {
            common: Common { settings, casting, project: _, pinned: _, epoch: _ },
            aim: _,
            versions: _,
            older: _,
            mode,
            members: _,
            scenarios,
            starts: _,
            suite: _,
            held_out,
            this_suite_only,
            confines: _,
            rules,
            apply,
            fail_on,
            seed,
            delivery,
            tools,
            prompts,
            untrusted: _,
        } = &invocations[0];
        let options = (
            &settings.limits,
            settings.patience(),
            settings.prices(),
            (settings.calls.jobs.value, &settings.calls.at_once.value),
            settings.ceilings(&[(Role::EXECUTOR, 100)].into()),
        );
        let casting = casting.values().map(|part| {
            (
                &part.agent.name,
                &part.agent.model,
                part.timeout_seconds,
                part.agent.isolation(),
                part.agent.via(),
                part.rights,
            )
        });
        let casting: Vec<_> = casting.collect();
        let tune = settings.of::<TuneSettings>();
        format!(
            "{:?}",
            (
                mode,
                scenarios,
                rules,
                casting,
                options,
                (apply, fail_on),
                seed,
                (delivery, tools, prompts),
                (held_out, this_suite_only),
                (search::wish(tune), tune.runs.value)
            )
        )
    }
}

#[test]
fn a_flag_says_what_an_executor_may_use_and_otherwise_the_scenario_before_the_settings() {
    let world = World::new(&format!("{AGENTS}{ROLES}[tune]\ntools = \"shell\"\n"), "");
    let suite = "[[scenarios]]\ndescription = \"a\"\ntools = \"files\"\n[[scenarios]]\ndescription = \"b\"\n";
    fs::write(world.env().cwd.join("suite.toml"), suite).unwrap();
    let tools = |more: &[&str]| {
        let Invocation { tools, scenarios, .. } =
            world.one(&[&["./a", "--suite", "suite.toml"], more].concat());
        scenarios.iter().map(|scenario| scenario.tools.unwrap_or(tools)).collect::<Vec<_>>()
    };
    assert_eq!(tools(&[]), [Tools::Files, Tools::Shell]);
    assert_eq!(tools(&["--tools", "shell"]), [Tools::Shell; 2]);
    assert_eq!(tools(&["--tools", "files"]), [Tools::Files; 2]);
}

#[test]
fn no_project_gives_a_shell_that_nobody_has_agreed_to() {
    let world = World::new(&format!("{AGENTS}{ROLES}"), "[tune]\ntools = \"shell\"\n");
    insta::assert_snapshot!(world.refusal(&["./a"]), @r"
    error: the settings of /repo/skilltune.toml are not trusted: a shell for the executor (tune.tools)
    hint: read the file, then run `skilltune trust /repo/skilltune.toml`
    hint: or pass --trust to trust them for this run
    ");
    assert_eq!(world.one(&["./a", "--trust"]).tools, Tools::Shell);
    assert_eq!(world.one(&["./a", "--tools", "shell"]).tools, Tools::Shell, "the user's own word");
    let world = World::usual();
    fs::write(world.env().cwd.join("suite.toml"), "[[scenarios]]\ndescription = \"a\"\ntools = \"shell\"\n")
        .unwrap();
    insta::assert_snapshot!(world.refusal(&["./a", "--suite", "suite.toml"]), @r"
    error: the programs of /repo/suite.toml are not trusted: a shell for the executor
    hint: read the file, then run `skilltune trust /repo/suite.toml`
    hint: or pass --trust to trust them for this run
    ");
    let files = world.one(&["./a", "--suite", "suite.toml", "--tools", "files"]);
    assert_eq!((files.tools, files.scenarios[0].tools), (Tools::Files, None));
}

#[test]
fn an_executor_with_a_shell_is_held_by_the_system_alone_and_never_in_the_users_own_setup() {
    let world = World::usual();
    let asked = |more: &[&str]| {
        let line = [&["./a", "--dry-run", "--agent", "claude", "--tools", "shell"], more].concat();
        invocations(&tune_args(&line).unwrap(), &world.equipped(), None)
    };
    if can_confine() {
        let rights: Vec<_> = asked(&[]).unwrap()[0].common.casting.values().map(|part| part.rights).collect();
        assert_eq!(rights, [Enforced::System, Enforced::SystemAndAgent, Enforced::SystemAndAgent]);
    }
    assert_eq!(
        asked(&["--isolation", "user"]).unwrap_err().what,
        "cannot give `claude` a shell with --isolation user"
    );
}

#[test]
fn a_delivery_that_the_executor_cannot_do_is_refused() {
    insta::assert_snapshot!(World::usual().refusal(&["./a", "--delivery", "slash"]), @r"
    error: delivery `slash` (flag --delivery) is not possible: `mine` does not support skills
    hint: pass --delivery inline to put the skill's text into the prompt
    ");
    let asked = World::usual().one(&["./a", "--delivery", "auto"]);
    assert_eq!(asked.delivery, Delivery::Inline);
}

#[test]
fn a_projects_agents_need_trust_and_a_users_do_not() {
    let user = World::usual();
    assert!(user.ask(None, &["./a"]).is_ok());
    let world = World::new("", &format!("{AGENTS}{ROLES}"));
    insta::assert_snapshot!(world.refusal(&["./a"]), @r"
    error: the agents of /repo/skilltune.toml are not trusted: mine, other
    hint: read the file and the files its commands use, then run `skilltune trust /repo/skilltune.toml`
    hint: or pass --trust to trust them for this run
    ");
    assert!(world.ask(None, &["./a", "--trust"]).is_ok());
    assert!(world.ask(None, &["./a", "--dry-run"]).is_ok(), "nothing is run");
    assert!(!world.env().state.exists(), "nothing is written");
    let person = Script::default();
    assert!(world.ask(Some(&person), &["./a", "-y"]).is_err(), "yes is no trust");
    assert!(world.ask(Some(&person), &["./a"]).is_ok());
    assert!(world.ask(None, &["./a"]).is_ok(), "trust is remembered");
}

#[test]
fn a_project_may_choose_among_the_users_agents_without_trust() {
    let world = World::new(AGENTS, ROLES);
    let casting = world.one(&["./a"]).common.casting;
    assert!(matches!(casting.of(&Role::EXECUTOR).described, Origin::User(_)));
}

#[test]
fn each_skill_has_the_settings_of_its_own_project() {
    let world = World::usual();
    let inner = world.root.path().join("repo/other");
    fs::write(inner.join("skilltune.toml"), "[calls]\njobs = 9\n").unwrap();
    let invocations = world.ask(None, &["./a,./other/a"]).unwrap();
    assert_eq!(
        invocations.iter().map(|one| one.common.settings.calls.jobs.value).collect::<Vec<_>>(),
        [4, 9]
    );
    assert!(invocations[1].common.project.ends_with(Path::new("repo/other")));
}

#[test]
fn a_fresh_world_needs_a_key_and_says_which() {
    let world = World::usual();
    let ask = |env: &Environment| {
        let args = tune_args(&["./a", "--agent", "claude", "--isolation", "fresh", "--dry-run"]).unwrap();
        invocations(&args, env, None)
    };
    let mut env = world.equipped();
    let refusal = ask(&env).unwrap_err();
    assert_eq!(refusal.exit().code(), 2);
    insta::assert_snapshot!(refusal.render(Style::PLAIN, UNBOUNDED), @r"
    error: no API key for agent `claude`, which --isolation fresh needs
    hint: set ANTHROPIC_API_KEY, or pass --isolation partial to use your login
    ");
    env.vars.insert("ANTHROPIC_API_KEY".to_owned(), "k".to_owned());
    let casting = &ask(&env).unwrap()[0].common.casting;
    assert_eq!(casting.of(&Role::EXECUTOR).cast().isolation.word(), "fresh");
    // What the settings describe is in no world of ours.
    let args = tune_args(&["./a", "--isolation", "fresh", "--dry-run"]).unwrap();
    let described = invocations(&args, &world.env(), None).unwrap();
    assert_eq!(described[0].common.casting.of(&Role::EXECUTOR).cast().isolation.word(), "partial");
}

#[test]
fn a_project_may_not_open_the_users_world_without_trust() {
    let world = World::new(&format!("{AGENTS}{ROLES}"), "[calls]\nisolation = \"user\"\n");
    insta::assert_snapshot!(world.refusal(&["./a"]), @r"
    error: the settings of /repo/skilltune.toml are not trusted: your full setup for agents (calls.isolation)
    hint: read the file, then run `skilltune trust /repo/skilltune.toml`
    hint: or pass --trust to trust them for this run
    ");
    assert!(world.ask(None, &["./a", "--isolation", "partial"]).is_ok(), "a flag goes over it");
    let own = World::new(&format!("{AGENTS}{ROLES}[calls]\nisolation = \"user\"\n"), "");
    assert!(own.ask(None, &["./a"]).is_ok());
}

#[test]
fn a_wrapper_has_to_be_there_and_the_plan_keeps_it_with_the_world() {
    let world = World::usual();
    let ask = |via: &str| {
        let args =
            tune_args(&["./a", "--agent", "claude:opus", "--via", via, "--isolation", "user", "--dry-run"])
                .unwrap();
        invocations(&args, &world.equipped(), None)
    };
    let planned = ask("ccw").unwrap()[0].common.casting.map(Part::cast);
    assert_eq!(planned.of(&Role::EXECUTOR).shown(), "claude:opus via ccw");
    assert_eq!(planned.of(&Role::EXECUTOR).isolation.word(), "user");
    let again =
        casting::recast(Tune::ROLES, &planned, &crate::loops::default_settings(), &world.equipped()).unwrap();
    assert_eq!(again.map(Part::cast), planned);
    assert_ne!(
        ask("direct").unwrap()[0].common.casting.of(&Role::EXECUTOR).cast().fingerprint,
        planned.of(&Role::EXECUTOR).fingerprint
    );
    insta::assert_snapshot!(ask("maestro").unwrap_err().render(Style::PLAIN, UNBOUNDED), @r#"
    error: cannot call agent `claude` via maestro: program "maestro" not found
    hint: install it (it comes with the project maestro-flow), or pass --via direct
    "#);
}
