use std::fs;
use std::path::PathBuf;

use clap::Parser as _;

use super::*;
use crate::commands::cli::{Cli, Command, new_args, tune_args};
use crate::loops::LoopCommand;
use crate::loops::tune::settings::{Preset, TuneSettings};
use crate::settings::page::OWN;
use crate::terminal::columns::UNBOUNDED;
use crate::terminal::complaint::Complaint;
use crate::terminal::style::Style;

/// A user's file and a project's file in one folder.
pub struct Files {
    root: tempfile::TempDir,
}

impl Files {
    pub fn new(user: &str, project: &str) -> Self {
        let files = Self { root: tempfile::tempdir().unwrap() };
        for (folder, text) in [(files.env().config, user), (files.project(), project)] {
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(SETTINGS_FILE), text).unwrap();
        }
        files
    }

    pub fn project(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("repo")
    }

    pub fn env(&self) -> Environment {
        Environment::fake(self.root.path().canonicalize().unwrap(), &[])
    }

    pub fn load(&self) -> Settings {
        crate::loops::settings(&self.project(), &self.env()).unwrap()
    }
}

pub fn project(text: &str) -> Settings {
    Files::new("", text).load()
}

/// Loads one setting from a file that may have it.
fn set(key: &str, value: &str) -> Settings {
    let line = format!("{key} = {value}");
    if OWN.contains(&key) { Files::new(&line, "").load() } else { project(&line) }
}

pub fn refusal(text: &str) -> String {
    let files = Files::new("", text);
    let complaint = Complaint::from(crate::loops::settings(&files.project(), &files.env()).unwrap_err());
    assert_eq!(complaint.exit().code(), 2);
    complaint.render(Style::PLAIN, UNBOUNDED).replace(files.project().to_str().unwrap(), "")
}

/// Uncomments every setting of a template.
pub fn switched_on(template: &str) -> String {
    let line = |line: &str| match line.strip_prefix('#') {
        Some(setting) if !setting.starts_with(' ') => format!("{setting}\n"),
        _ => format!("{line}\n"),
    };
    template.lines().map(line).collect()
}

/// A value other than the default for every key that `tune` reads.
pub fn changes() -> Vec<(&'static str, &'static str)> {
    vec![
        ("roles.executor", "\"other:m\""),
        ("roles.evaluator", "\"other:m\""),
        ("roles.improver", "\"other:m\""),
        ("roles.second_improver", "\"other:m\""),
        ("roles.panel", "[\"mine\", \"other:small\"]"),
        ("timeouts.executor", "11"),
        ("timeouts.evaluator", "11"),
        ("timeouts.improver", "11"),
        ("calls.jobs", "256"),
        ("calls.workers", "[\"big\", \"small\"]"),
        ("calls.at_once", "[\"claude=4\"]"),
        ("calls.wait", "true"),
        ("calls.wait_hours", "168"),
        ("calls.isolation", "\"user\""),
        ("calls.via", "\"ccw\""),
        ("calls.wrap", "[\"box\", \"{workspace}\"]"),
        ("budget.usd", "2.5"),
        ("budget.tokens", "2_000_000"),
        ("budget.calls", "40"),
        ("budget.minutes", "90"),
        ("budget.keep_free", "\"30%\""),
        ("budget.unpriced", "\"allow\""),
        ("limits.artifact_files", "11"),
        ("limits.artifact_bytes", "11"),
        ("limits.output_bytes", "0x0b"),
        ("limits.confine", "false"),
        ("limits.backoff_ms", "0"),
        ("tune.preset", "\"thorough\""),
        ("tune.search", "\"draft\""),
        ("tune.runs", "16"),
        ("tune.max_iterations", "7"),
        ("tune.threshold", "85.5"),
        ("tune.regress", "3"),
        ("tune.stall_window", "4"),
        ("tune.stall_gain", "0.5"),
        ("tune.max_errors", "9"),
        ("tune.confirm", "2"),
        ("tune.confidence", "0.95"),
        ("tune.held_out", "20"),
        ("tune.coverage", "1"),
        ("tune.delivery", "\"installed\""),
        ("tune.tools", "\"shell\""),
        ("tune.apply", "\"never\""),
        ("prompts.execute", "\"own.md\""),
        ("prompts.task", "\"own.md\""),
        ("prompts.evaluate", "\"own.md\""),
        ("prompts.improve", "\"own.md\""),
    ]
}

/// A value other than the default for every key.
pub fn all_changes() -> Vec<(&'static str, &'static str)> {
    use crate::loops::{evolve, expert, gan, reflex, review};
    let of_loops = [
        reflex::settings::changes(),
        gan::settings::changes(),
        expert::settings::changes(),
        review::settings::changes(),
        evolve::settings::changes(),
    ];
    [changes(), of_loops.concat(), commands::changes()].concat()
}

#[test]
fn every_key_can_be_set_and_knows_its_origin() {
    let keys: Vec<&str> = crate::loops::default_settings().keys().iter().map(|key| key.name).collect();
    let changes = all_changes();
    assert_eq!(keys, changes.iter().map(|(key, _)| *key).collect::<Vec<_>>());
    for (key, value) in changes {
        let find = |settings: &Settings| settings.rows().into_iter().find(|row| row.key == key).unwrap();
        let (before, after) = (find(&crate::loops::default_settings()), find(&set(key, value)));
        assert_ne!(before.value, after.value, "{key}");
        let file = if OWN.contains(&key) { "user_file" } else { "project_file" };
        assert_eq!(after.origin, file, "{key}");
    }
}

#[test]
fn every_flag_sets_what_its_key_sets_in_a_file() {
    let changes: BTreeMap<_, _> = all_changes().into_iter().collect();
    let row =
        |settings: &Settings, key: &str| settings.rows().into_iter().find(|row| row.key == key).unwrap();
    let mut defaults = crate::loops::default_settings();
    let flags = defaults.keys().into_iter().filter_map(|key| Some((key.name, key.flag?.long)));
    for (key, long) in flags {
        let mut value = changes[key].replace(['[', ']', '"', ' '], "");
        if value.starts_with(|first: char| first.is_ascii_digit()) {
            value = value.replace('_', "");
        }
        let is_switch = value.parse::<bool>().is_ok();
        let flag = if is_switch { long.to_owned() } else { format!("{long}={value}") };
        let given = match key.split('.').next() {
            Some("reflex") => new_args(&["a task", &flag]).unwrap().given,
            Some("gan") => match Cli::try_parse_from(["skilltune", "gan", "b.md", &flag]).unwrap().command {
                Some(Command::Loop(LoopCommand::Gan(args))) => args.given,
                other => panic!("not a gan: {other:?}"),
            },
            Some("review") => match Cli::try_parse_from(["skilltune", "review", &flag]).unwrap().command {
                Some(Command::Loop(LoopCommand::Review(args))) => args.given,
                other => panic!("not a review: {other:?}"),
            },
            Some("evolve") => {
                match Cli::try_parse_from(["skilltune", "evolve", "s.md", &flag]).unwrap().command {
                    Some(Command::Loop(LoopCommand::Evolve(args))) => args.flags.given,
                    other => panic!("not an evolve: {other:?}"),
                }
            }
            _ => tune_args(&["a", &flag]).unwrap().given,
        };
        let mut settings = crate::loops::default_settings();
        settings.apply_flags(&given);
        let (flagged, read) = (row(&settings, key), row(&set(key, changes[key]), key));
        assert_eq!((flagged.value, flagged.origin), (read.value, "flag"), "{key}");
    }
}

#[test]
fn the_defaults_are_the_documented_ones() {
    let defaults = crate::loops::default_settings();
    let rules = defaults.of::<TuneSettings>().rules();
    assert_eq!((rules.max_iterations, rules.threshold.points()), (5, 80.0));
    assert_eq!((rules.regress, rules.stall.window, rules.stall.gain), (10.0, 2, 2.0));
    assert_eq!((rules.max_errors, rules.confirm, rules.coverage), (3, 1, 0.8));
    let Patience { waits, longest, backoff } = crate::loops::default_settings().patience();
    let text = format!("`calls.wait_hours` ({})", longest.as_secs() / 3600);
    let page = include_str!("../../../docs/failures.md");
    assert!(!waits && page.contains(&text), "{text}");
    assert!(page.contains(&format!("`limits.backoff_ms` ({})", backoff.as_millis())));
}

#[test]
fn missing_files_are_empty_ones() {
    let nowhere = Environment::fake("/nowhere", &[]);
    let settings = crate::loops::settings(Path::new("/nowhere"), &nowhere).unwrap();
    assert!(settings.project_file.is_none());
    assert!(settings.rows().iter().all(|row| row.file.is_none()));
}

#[test]
fn the_project_goes_over_the_user_key_by_key() {
    let files = Files::new("tune = {regress = 5}\ncalls = {jobs = 3}\n", "[calls]\njobs = 2\n");
    let settings = files.load();
    assert_eq!(settings.calls.jobs.value, 2);
    assert_eq!(settings.calls.jobs.origin, Origin::Project(files.project().join(SETTINGS_FILE)));
    assert_eq!(settings.of::<TuneSettings>().regress.value.to_string(), "5");
    assert_eq!(
        settings.of::<TuneSettings>().regress.origin,
        Origin::User(files.env().config.join(SETTINGS_FILE))
    );
    assert_eq!(settings.of::<TuneSettings>().coverage.origin, Origin::Default);
}

/// The limits on calls, time, money and bytes of a run.
const LIMITS: [&str; 30] = [
    "tune.runs",
    "tune.max_iterations",
    "tune.max_errors",
    "calls.jobs",
    "calls.wait_hours",
    "budget.usd",
    "budget.tokens",
    "budget.calls",
    "budget.minutes",
    "timeouts.executor",
    "timeouts.evaluator",
    "timeouts.improver",
    "limits.artifact_files",
    "limits.artifact_bytes",
    "limits.output_bytes",
    "reflex.max_iterations",
    "reflex.settle",
    "reflex.retries",
    "reflex.checks_per_rule",
    "reflex.check_seconds",
    "reflex.max_seconds",
    "gan.strict_rounds",
    "gan.max_rounds",
    "gan.negotiation_rounds",
    "gan.browser_seconds",
    "gan.retries",
    "evolve.fixes",
    "evolve.patches",
    "evolve.retries",
    "commands.seconds",
];

#[test]
fn a_project_lowers_every_limit_of_the_user_and_raises_none_until_it_is_trusted() {
    for key in LIMITS {
        let (table, name) = key.split_once('.').unwrap();
        let text = |value: u32| format!("[{table}]\n{name} = {value}\n");
        let row = |files: &Files| {
            let row = files.load().rows().into_iter().find(|row| row.key == key).unwrap();
            (row.value.as_f64(), row.origin, row.ceiling.and_then(|ceiling| ceiling.as_f64()))
        };
        let raising = Files::new(&text(4), &text(5));
        assert_eq!(row(&raising), (Some(4.0), "user_file", Some(4.0)), "{key}");
        let file = raising.load().project_file.unwrap();
        TrustStore::new(&raising.env()).record(&file, &[]).unwrap();
        assert_eq!(row(&raising), (Some(5.0), "project_file", Some(4.0)), "{key}");
        assert_eq!(row(&Files::new(&text(5), &text(4))), (Some(4.0), "project_file", None), "{key}");
        assert_eq!(row(&Files::new("", &text(4))), (Some(4.0), "project_file", None), "{key}");
        assert!(Files::new("", &text(4)).load().overs().is_empty(), "a default is no limit of the user's");
    }
    let preset = Files::new("[tune]\npreset = \"quick\"\n", "[tune]\npreset = \"thorough\"\n").load();
    assert_eq!(
        (
            preset.of::<TuneSettings>().runs.value,
            preset.of::<TuneSettings>().max_iterations.value,
            preset.of::<TuneSettings>().threshold.value.points()
        ),
        (16, 3, 90.0)
    );
}

#[test]
fn a_project_keeps_more_of_a_usage_window_free_than_the_user_and_no_less_until_it_is_trusted() {
    let text = |free: &str| format!("[budget]\nkeep_free = \"{free}\"\n");
    let kept = |files: &Files| {
        let free = files.load().budget.keep_free;
        (free.value.map(|free| free.to_string()), free.origin.word())
    };
    let percent = |free: &str| Some(free.to_owned());
    assert_eq!(kept(&Files::new(&text("30%"), &text("40%"))), (percent("40%"), "project_file"));
    assert_eq!(kept(&Files::new("", &text("5%"))), (percent("5%"), "project_file"));
    let less = Files::new(&text("30%"), &text("5%"));
    assert_eq!((kept(&less), less.load().overs().len()), ((percent("30%"), "user_file"), 1));
    let file = less.load().project_file.unwrap();
    TrustStore::new(&less.env()).record(&file, &[]).unwrap();
    assert_eq!(kept(&less), (percent("5%"), "project_file"));
    let bad = refusal(&text("30"));
    assert!(bad.contains("`budget.keep_free` must be a whole percentage from \"1%\" to \"99%\""), "{bad}");
}

#[test]
fn a_project_changes_no_wrapper_of_the_user_until_it_is_trusted_and_its_own_is_a_wish() {
    let text = |words: &str| format!("[calls]\nwrap = {words}\n");
    let wrap = |files: &Files| {
        let settings = files.load();
        (
            settings.calls.wrap.value.0.clone(),
            settings.calls.wrap.origin.word(),
            settings.foreign_wishes().len(),
        )
    };
    for other in ["[]", "[\"env\"]", "[\"box\", \"-x\"]"] {
        let files = Files::new(&text("[\"box\"]"), &text(other));
        assert_eq!(wrap(&files), (vec!["box".to_owned()], "user_file", 0), "{other}");
        assert_eq!(files.load().overs().len(), 1);
        let file = files.load().project_file.unwrap();
        TrustStore::new(&files.env()).record(&file, &[]).unwrap();
        let (words, origin, wishes) = wrap(&files);
        assert_eq!((origin, wishes), ("project_file", usize::from(!words.is_empty())), "{other}");
    }
    let agreed = Files::new(&text("[\"box\"]"), &text("[\"box\"]"));
    assert!(agreed.load().overs().is_empty());
    assert_eq!(wrap(&Files::new("", &text("[\"box\"]"))), (vec!["box".to_owned()], "project_file", 1));
    assert_eq!(wrap(&Files::new(&text("[\"box\"]"), "")), (vec!["box".to_owned()], "user_file", 0));
    assert_eq!(wrap(&Files::new("", &text("[]"))), (Vec::new(), "project_file", 0));
}

#[test]
fn a_preset_yields_to_numbers_of_its_own_layer_and_beats_lower_ones() {
    let settings = project("[tune]\nmax_iterations = 4\npreset = \"quick\"\n");
    assert_eq!(
        (
            settings.of::<TuneSettings>().max_iterations.value,
            settings.of::<TuneSettings>().threshold.value.points()
        ),
        (4, 70.0)
    );
    let mut settings = Files::new("[tune]\nmax_iterations = 4\n", "[tune]\npreset = \"quick\"\n").load();
    assert_eq!(settings.of::<TuneSettings>().max_iterations.value, 3);
    settings.of_mut::<TuneSettings>().set_preset(Preset::Thorough, &Origin::Flag("--preset"));
    assert_eq!(settings.of::<TuneSettings>().max_iterations.value, 8);
    assert_eq!(
        settings.of::<TuneSettings>().max_iterations.origin.to_string(),
        "preset thorough, flag --preset"
    );
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_the_nearest_known_one() {
    let files = [
        "[tune]\nregress = 1\ntreshold = 3\n",
        "threshold = 80\n",
        "[tunes]\n",
        "[roles]\nexecuter = \"a\"\n",
        "[agents.a]\ncommand = [\"a\"]\nenvironment = {}\n",
        "[agents.a]\ncommand = [\"a\"]\n[agents.a.cost]\nusdd = \"/a\"\n",
        "[tune]\ncolour = 1\n",
        "[colour]\n",
    ];
    insta::assert_snapshot!(files.map(refusal).join("\n"), @r"
    error: /skilltune.toml:3: unknown key `tune.treshold`
    hint: did you mean `tune.threshold`?
    error: /skilltune.toml:1: unknown key `threshold`
    hint: did you mean `tune.threshold`?
    error: /skilltune.toml:1: unknown key `tunes`
    hint: did you mean `tune`?
    error: /skilltune.toml:2: unknown key `roles.executer`
    hint: did you mean `roles.executor`?
    error: /skilltune.toml:3: unknown key `agents.a.environment`
    hint: known keys: command, output, timeout, env, cost, writes, verdict
    error: /skilltune.toml:4: unknown key `agents.a.cost.usdd`
    hint: did you mean `agents.a.cost.usd`?
    error: /skilltune.toml:2: unknown key `tune.colour`
    hint: known keys: preset, search, runs, max_iterations, threshold, regress, stall_window, stall_gain, max_errors, confirm, confidence, held_out, coverage, delivery, tools, apply
    error: /skilltune.toml:1: unknown key `colour`
    hint: known keys: roles, timeouts, calls, budget, limits, tune, prompts, reflex, gan, experts, review, evolve, commands, agents, prices, workers
    ");
}

#[test]
fn a_wrong_value_is_told_what_it_must_be() {
    let files = [
        "[tune]\nthreshold = 101\n",
        "[tune]\nthreshold = nan\n",
        "[calls]\njobs = 1.5\n",
        "[calls]\njobs = -1\n",
        "[tune]\npreset = \"fast\"\n",
        "[tune]\ncoverage = true\n",
        "[tune]\nmax_errors = 99999999999999999999\n",
        "tune = 3\n",
        "[roles]\nexecutor = \"a:\"\n",
        "[timeouts]\nexecutor = 0\n",
        "[budget]\nusd = -1\n",
        "[limits]\nconfine = \"yes\"\n",
        "[calls]\nwrap = \"bwrap --\"\n",
        "[calls]\nwrap = [\"\"]\n",
        "[calls]\nwrap = [\"box\", \"{temp}:{work_space}\"]\n",
        "[prompts]\nevaluate = \"../judge.md\"\n",
    ];
    insta::assert_snapshot!(files.map(refusal).join("\n"), @r#"
    error: /skilltune.toml:2: `tune.threshold` must be a number from 0 to 100, not 101
    error: /skilltune.toml:2: `tune.threshold` must be a number from 0 to 100, not nan
    error: /skilltune.toml:2: `calls.jobs` must be a whole number from 1 to 256, not 1.5
    error: /skilltune.toml:2: `calls.jobs` must be a whole number from 1 to 256, not -1
    error: /skilltune.toml:2: `tune.preset` must be one of "quick", "standard", "thorough", not "fast"
    error: /skilltune.toml:2: `tune.coverage` must be a number from 0 to 1, not true
    error: /skilltune.toml:2: `tune.max_errors` must be a whole number from 1 to 100, not 99999999999999999999
    error: /skilltune.toml:1: `tune` must be a table, not 3
    error: /skilltune.toml:2: `roles.executor` must be the name of an agent, or "NAME:MODEL", not "a:"
    error: /skilltune.toml:2: `timeouts.executor` must be a whole number from 1 to 604800, not 0
    error: /skilltune.toml:2: `budget.usd` must be a number from 0 up, not -1
    error: /skilltune.toml:2: `limits.confine` must be true or false, not "yes"
    error: /skilltune.toml:2: `calls.wrap` must be a list of strings, a program and its arguments; the placeholders are {workspace}, {temp}, {prompt_folder}, {home}, not "bwrap --"
    error: /skilltune.toml:2: `calls.wrap` must be a list of strings, a program and its arguments; the placeholders are {workspace}, {temp}, {prompt_folder}, {home}, not a list
    error: /skilltune.toml:2: `calls.wrap` must be a list of strings, a program and its arguments; the placeholders are {workspace}, {temp}, {prompt_folder}, {home}, not a list
    error: /skilltune.toml:2: `prompts.evaluate` must be a file in the folder of these settings, not "../judge.md"
    "#);
}

#[test]
fn a_file_that_is_no_toml_or_no_text_is_refused() {
    assert!(refusal("[calls]\njobs = 1\njobs = 2\n").starts_with("error: /skilltune.toml:3: duplicate key"));
    let files = Files::new("", "");
    fs::write(files.project().join(SETTINGS_FILE), b"\xff").unwrap();
    let error = crate::loops::settings(&files.project(), &files.env()).unwrap_err();
    assert!(matches!(error, SettingsError::Unreadable { .. }));
}

#[test]
fn the_users_own_file_is_not_a_projects_file() {
    let files = Files::new("[calls]\njobs = 2\n", "");
    let env = files.env();
    let settings = crate::loops::settings(&env.config, &env).unwrap();
    assert!(settings.project_file.is_none());
    assert!(matches!(settings.calls.jobs.origin, Origin::User(_)));
}
