use crate::settings::origin::Origin;
use skilltune_phases::judging::stop::Stall;
use skilltune_phases::loops::reflex::Bounds;
use skilltune_phases::loops::reflex::criteria::Level;

use super::*;
use crate::commands::cli::new_args;
use crate::loops::reflex::invocation::apply_flags;
use crate::settings::{Files, Settings, project, refusal};
use crate::terminal::columns::UNBOUNDED;
use crate::terminal::style::Style;

/// Returns a value other than the default for every key.
pub fn changes() -> Vec<(&'static str, &'static str)> {
    vec![
        ("reflex.max_iterations", "7"),
        ("reflex.threshold_a", "70.5"),
        ("reflex.threshold_b", "95"),
        ("reflex.docs_threshold_a", "70.5"),
        ("reflex.docs_threshold_b", "95"),
        ("reflex.proposals", "0"),
        ("reflex.checks", "\"skip\""),
        ("reflex.stall_window", "3"),
        ("reflex.stall_gain", "0"),
        ("reflex.settle", "0"),
        ("reflex.retries", "0"),
        ("reflex.plan_least", "1"),
        ("reflex.plan_most", "9"),
        ("reflex.issues", "1"),
        ("reflex.events", "0"),
        ("reflex.checks_per_rule", "1"),
        ("reflex.check_seconds", "5"),
        ("reflex.max_seconds", "1_800"),
        ("reflex.weight_fail", "5"),
        ("reflex.weight_warn", "0"),
        ("reflex.weight_info", "1"),
        ("reflex.evolution", "\"notes/loop\""),
    ]
}

/// Returns all that a run is planned with.
fn rendered(settings: &Settings) -> String {
    let reflex = settings.of::<ReflexSettings>();
    let criteria = Template::ALL.map(|template| reflex.criteria(template));
    let weights = (reflex.weight_fail.value, reflex.weight_warn.value, reflex.weight_info.value);
    let others = (reflex.proposals.value, reflex.run_them(), &reflex.evolution.value);
    format!("{:?}", (reflex.rules(), criteria, weights, others))
}

fn thresholds(reflex: &ReflexSettings, template: Template) -> String {
    let thresholds = reflex.criteria(template).thresholds;
    Level::ALL.map(|level| thresholds.at(level).to_string()).join(" and ")
}

#[test]
fn every_key_changes_what_a_run_is_planned_with() {
    let before = rendered(&crate::loops::default_settings());
    for (key, value) in changes() {
        assert_ne!(before, rendered(&project(&format!("{key} = {value}"))), "{key}");
    }
}

#[test]
fn the_defaults_are_those_of_the_original() {
    let reflex = ReflexSettings::default();
    let rules = reflex.rules();
    let Rules {
        max_iterations,
        stall,
        settle,
        retries,
        plan_steps,
        most_issues,
        latest_events,
        checks_per_rule,
        check_seconds,
        max_seconds,
    } = rules;
    assert_eq!((max_iterations, settle, retries), (4, 1, 1));
    assert_eq!(stall, Stall { window: 2, gain: 2.0, reaching: true });
    assert_eq!(plan_steps, Bounds { least: 3, most: 5 });
    assert_eq!((most_issues, latest_events), (5, 3));
    assert_eq!((checks_per_rule, check_seconds), (3, 60));
    assert_eq!(max_seconds, None);
    assert_eq!(reflex.run_them(), Ok(RunThem::Ask));
    assert_eq!(reflex.evolution.value.as_path().to_str(), Some(".ai-factory/evolution"));
    for template in Template::ALL {
        let usual = Criteria::of(template, Weights::default(), template.thresholds());
        assert_eq!(reflex.criteria(template).id(), usual.id(), "{template}");
    }
}

#[test]
fn documentation_has_thresholds_of_its_own_and_the_flags_go_over_both() {
    let mut settings = project("[reflex]\nthreshold_a = 60\ndocs_threshold_b = 65\n");
    assert_eq!(thresholds(settings.of(), Template::Code), "60.0 and 90.0");
    assert_eq!(thresholds(settings.of(), Template::Docs), "75.0 and 65.0");
    let flags = new_args(&["task", "--thresholds", "50,55.5"]).unwrap();
    apply_flags(&mut settings, &flags);
    for template in Template::ALL {
        assert_eq!(thresholds(settings.of(), template), "50.0 and 55.5", "{template}");
    }
    assert_eq!(settings.of::<ReflexSettings>().docs_threshold_a.origin, Origin::Flag("--thresholds"));
}

#[test]
fn flags_go_over_what_the_files_say() {
    let mut settings = project("[reflex]\nmax_iterations = 9\nmax_seconds = 9\nchecks = \"ask\"\n");
    let line = [
        &["A task", "--max-iterations", "2", "--max-seconds", "10m", "--checks", "skip"][..],
        &["--agent", "a", "--evaluator", "b:m", "--timeout", "7", "--isolation", "fresh", "--via", "ccw"],
        &["--jobs", "3", "--wait"],
    ];
    let before = settings.rows();
    apply_flags(&mut settings, &new_args(&["A task"]).unwrap());
    assert_eq!(settings.rows(), before, "no flag, no change");
    apply_flags(&mut settings, &new_args(&line.concat()).unwrap());
    let rows = settings.rows().into_iter().filter(|row| row.origin == "flag");
    let rows: Vec<String> =
        rows.map(|row| format!("{} {} {}", row.key, row.value, row.origin_text)).collect();
    insta::assert_snapshot!(rows.join("\n"), @r#"
    roles.executor "a" flag --agent
    roles.evaluator "b:m" flag --evaluator
    roles.improver "a" flag --agent
    timeouts.executor 7 flag --timeout
    timeouts.evaluator 7 flag --timeout
    timeouts.improver 7 flag --timeout
    calls.jobs 3 flag --jobs
    calls.wait true flag --wait
    calls.isolation "fresh" flag --isolation
    calls.via "ccw" flag --via
    reflex.max_iterations 2 flag --max-iterations
    reflex.checks "skip" flag --checks
    reflex.max_seconds 600 flag --max-seconds
    "#);
}

#[test]
fn a_number_that_would_make_the_loop_senseless_is_refused() {
    let files = [
        "[reflex]\nmax_iterations = 0\n",
        "[reflex]\nstall_window = 0\n",
        "[reflex]\nplan_least = 0\n",
        "[reflex]\nissues = 0\n",
        "[reflex]\nchecks_per_rule = 0\n",
        "[reflex]\ncheck_seconds = 0\n",
        "[reflex]\nmax_seconds = 0\n",
        "[reflex]\nweight_fail = 0\n",
        "[reflex]\nretries = 21\n",
        "[reflex]\nthreshold_b = 100.5\n",
        "[reflex]\nchecks = \"always\"\n",
    ];
    insta::assert_snapshot!(files.map(refusal).join("\n"), @r#"
    error: /skilltune.toml:2: `reflex.max_iterations` must be a whole number from 1 to 100, not 0
    error: /skilltune.toml:2: `reflex.stall_window` must be a whole number from 1 to 100, not 0
    error: /skilltune.toml:2: `reflex.plan_least` must be a whole number from 1 to 100, not 0
    error: /skilltune.toml:2: `reflex.issues` must be a whole number from 1 to 100, not 0
    error: /skilltune.toml:2: `reflex.checks_per_rule` must be a whole number from 1 to 100, not 0
    error: /skilltune.toml:2: `reflex.check_seconds` must be a whole number from 1 to 604800, not 0
    error: /skilltune.toml:2: `reflex.max_seconds` must be a whole number from 1 to 604800, not 0
    error: /skilltune.toml:2: `reflex.weight_fail` must be a whole number from 1 to 100, not 0
    error: /skilltune.toml:2: `reflex.retries` must be a whole number from 0 to 20, not 21
    error: /skilltune.toml:2: `reflex.threshold_b` must be a number from 0 to 100, not 100.5
    error: /skilltune.toml:2: `reflex.checks` must be one of "ask", "run", "skip", not "always"
    "#);
}

#[test]
fn a_plan_of_more_steps_at_least_than_at_most_is_refused_whoever_said_which() {
    insta::assert_snapshot!(refusal("[reflex]\nplan_least = 6\n"), @r"
    error: `reflex.plan_least = 6` (project file /skilltune.toml) must not be more than `reflex.plan_most = 5` (default)
    hint: lower the first, or raise the second
    ");
    let files = Files::new("[reflex]\nplan_most = 4\n", "[reflex]\nplan_least = 5\n");
    let complaint = Complaint::from(crate::loops::settings(&files.project(), &files.env()).unwrap_err());
    assert_eq!(complaint.exit().code(), 2);
    let rendered = complaint.render(Style::PLAIN, UNBOUNDED);
    let (project, user) = (files.project(), files.env().config);
    let rendered =
        rendered.replace(project.to_str().unwrap(), "/project").replace(user.to_str().unwrap(), "/user");
    insta::assert_snapshot!(rendered, @r"
    error: `reflex.plan_least = 5` (project file /project/skilltune.toml) must not be more than `reflex.plan_most = 4` (user file /user/skilltune.toml)
    hint: lower the first, or raise the second
    ");
    assert_eq!(project_bounds("plan_least = 4\nplan_most = 4"), Bounds { least: 4, most: 4 });
}

fn project_bounds(lines: &str) -> Bounds {
    project(&format!("[reflex]\n{lines}\n")).of::<ReflexSettings>().rules().plan_steps
}

#[test]
fn commands_of_a_model_are_run_unasked_where_a_person_says_so_and_where_a_project_does_not() {
    const RUN: &str = "[reflex]\nchecks = \"run\"\n";
    let mine = Files::new(RUN, "").load();
    assert_eq!(mine.of::<ReflexSettings>().run_them(), Ok(RunThem::Always));
    // The origin is the last source that set the value.
    let files = Files::new(RUN, RUN);
    let mut theirs = files.load();
    let complaint = theirs.of::<ReflexSettings>().run_them().unwrap_err();
    assert_eq!(complaint.exit().code(), 2);
    let rendered = complaint.render(Style::PLAIN, UNBOUNDED).replace(files.project().to_str().unwrap(), "");
    insta::assert_snapshot!(rendered, @r#"
    error: /skilltune.toml: only your own settings may set `reflex.checks = "run"`, which runs commands of a model without asking
    hint: remove it there; pass --checks run for one run, or set it in your own skilltune.toml
    "#);
    for (flag, run) in [("skip", RunThem::Never), ("ask", RunThem::Ask), ("run", RunThem::Always)] {
        apply_flags(&mut theirs, &new_args(&["task", "--checks", flag]).unwrap());
        assert_eq!(theirs.of::<ReflexSettings>().run_them(), Ok(run));
    }
    assert_eq!(
        project("[reflex]\nchecks = \"skip\"\n").of::<ReflexSettings>().run_them(),
        Ok(RunThem::Never)
    );
}

#[test]
fn the_loops_folder_stays_in_the_project_and_out_of_what_others_keep_there() {
    for folder in
        ["/tmp", "../up", "a/../b", "", ".", "a//b", ".git/hooks", "a/.git", ".skilltune/runs", "a\\u001b"]
    {
        let rendered = refusal(&format!("[reflex]\nevolution = \"{folder}\"\n"));
        assert!(
            rendered.contains("`reflex.evolution` must be a folder inside the project"),
            "{folder}: {rendered}"
        );
    }
    let kept =
        project("[reflex]\nevolution = \"docs/.loop\"\n").of::<ReflexSettings>().evolution.value.clone();
    assert_eq!(kept.as_path().to_str(), Some("docs/.loop"));
}
