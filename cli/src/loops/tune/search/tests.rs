use skilltune_phases::judging::proof::Confidence;
use skilltune_phases::suites::checks::How;
use skilltune_phases::suites::demand::Demand;
use skilltune_phases::suites::split::split;

use super::*;
use crate::loops::tune::settings::Preset;
use crate::loops::tune::words;
use crate::loops::tune::world;
use crate::settings::{Files, Settings, project};
use crate::terminal::columns::UNBOUNDED;
use crate::terminal::style::Style;

const FLAG: Origin = Origin::Flag("--flag");

/// Returns the search of a chain with this many members and scenarios, divided as `tune` does it.
fn chosen(members: usize, scenarios: usize, settings: &Settings) -> Result<Plan, Complaint> {
    let mut plan = world::plan(&["one", "two", "three", "four"][..members], scenarios);
    let drawn = split(&mut plan.task.scenarios, 40, Confidence::P90.fewest_pairs(), 0);
    choose(&mut plan, settings.of(), drawn).map(|()| plan)
}

/// Returns the runs that the search may make, if it drafts.
fn runs(members: usize, scenarios: usize, settings: &Settings) -> Option<u32> {
    match chosen(members, scenarios, settings).unwrap().task.rules.search {
        Search::Draft { runs, .. } => Some(runs),
        Search::Rounds => None,
    }
}

fn refusal(scenarios: usize, settings: &Settings) -> String {
    chosen(1, scenarios, settings).unwrap_err().render(Style::PLAIN, UNBOUNDED)
}

fn flags(of: impl FnOnce(&mut TuneSettings)) -> Settings {
    let mut settings = project("");
    of(settings.of_mut());
    settings
}

#[test]
fn a_run_drafts_where_two_scenarios_are_left_to_search_with_and_nobody_asks_for_rounds() {
    let default = project("");
    let searches: Vec<_> = [1, 5, 6, 12].map(|scenarios| runs(1, scenarios, &default)).into();
    assert_eq!(searches, [None, None, Some(48), Some(48)], "of five, four are held out");
    for rounds in ["max_iterations = 4", "search = \"rounds\"", "search = \"rounds\"\nruns = 20"] {
        assert_eq!(runs(1, 12, &project(&format!("[tune]\n{rounds}\n"))), None, "{rounds}");
    }
    let mut calibrated = world::plan(&["one"], 12);
    calibrated.task.aim = Aim::Calibrate { trials: 3 };
    let drawn = split(&mut calibrated.task.scenarios, 40, Confidence::P90.fewest_pairs(), 0);
    choose(&mut calibrated, default.of(), drawn).unwrap();
    assert!(
        matches!(calibrated.task.rules.search, Search::Draft { runs: 48, .. }),
        "its price is that of the search"
    );
    for (draft, many) in [("runs = 20", 20), ("preset = \"thorough\"", 128), ("search = \"draft\"", 48)] {
        assert_eq!(runs(1, 12, &project(&format!("[tune]\n{draft}\n"))), Some(many), "{draft}");
    }
}

#[test]
fn with_a_judge_that_gives_numbers_only_a_run_searches_in_rounds_unless_each_scenario_has_statements() {
    let bare = |settings: &Settings, is_graded: bool| {
        let mut plan = world::plan(&["one"], 12);
        plan.task.scenarios.iter_mut().skip(6).for_each(|scenario| scenario.held_out = true);
        plan.roles.of_mut(&Role::EVALUATOR).verdict = VerdictShape::Original;
        if is_graded {
            let how = How::Question { text: "It is calm.".into() };
            let demand = Demand::new("calm".parse().unwrap(), how);
            plan.task.scenarios.iter_mut().for_each(|scenario| scenario.demands = vec![demand.clone()]);
        }
        choose(&mut plan, settings.of(), true).map(|()| plan.task.rules.search)
    };
    assert!(matches!(bare(&project(""), false), Ok(Search::Rounds)));
    assert!(matches!(bare(&project(""), true), Ok(Search::Draft { .. })));
    let asked = project("[tune]\nsearch = \"draft\"\n");
    insta::assert_snapshot!(bare(&asked, false).unwrap_err().render(Style::PLAIN, UNBOUNDED), @r#"
    error: a search by drafts needs to know what failed, and a judge with `verdict = "original"` gives numbers only
    hint: pass a suite whose scenarios have checks or expectations
    hint: or pass --search rounds
    "#);
}

#[test]
fn the_note_on_a_judge_that_gives_numbers_only_speaks_of_rounds_only_in_a_search_by_rounds() {
    let noted = |is_drafted: bool| {
        let mut plan = world::plan(&["one"], 12);
        plan.task.scenarios.iter_mut().skip(6).for_each(|scenario| scenario.held_out = true);
        if is_drafted {
            choose(&mut plan, project("").of(), true).unwrap();
        }
        // A run may be resumed with another judge.
        plan.roles.of_mut(&Role::EVALUATOR).verdict = VerdictShape::Original;
        words::notes(&plan).concat()
    };
    let rounds = "so the search is by rounds";
    assert!(noted(false).contains(rounds), "{}", noted(false));
    assert!(noted(true).contains("uses `verdict") && !noted(true).contains(rounds), "{}", noted(true));
}

#[test]
fn with_the_built_in_agent_a_run_searches_in_rounds_unless_it_is_told_to_draft() {
    for role in [Role::EVALUATOR, Role::IMPROVER] {
        let drafts = |settings: &Settings| {
            let mut plan = world::plan(&["one"], 12);
            plan.task.scenarios.iter_mut().skip(6).for_each(|scenario| scenario.held_out = true);
            plan.roles.of_mut(&role).agent = offline::NAME.into();
            // A command that the built-in executor could run.
            plan.roles.of_mut(&Role::EXECUTOR).agent = offline::NAME.into();
            plan.task.scenarios[0].command = Some(vec!["true".into()]);
            choose(&mut plan, settings.of(), false).unwrap();
            matches!(plan.task.rules.search, Search::Draft { .. })
        };
        assert!(!drafts(&project("")), "{role:?}");
        assert!(!drafts(&project("[tune]\nruns = 20\n")), "{role:?}: a file may be for other agents, too");
        assert!(drafts(&project("[tune]\nsearch = \"draft\"\n")), "{role:?}");
    }
}

#[test]
fn a_flag_goes_over_files_and_the_users_file_over_a_projects() {
    let rounds = "[tune]\nmax_iterations = 4\n";
    let draft = "[tune]\nruns = 20\n";
    assert_eq!(runs(1, 12, &Files::new(rounds, draft).load()), None, "a limit of the user's own");
    assert_eq!(runs(1, 12, &Files::new(draft, rounds).load()), Some(20));
    let mut settings = project(rounds);
    settings.of_mut::<TuneSettings>().runs.set(24, FLAG);
    assert_eq!(runs(1, 12, &settings), Some(24));
    let mut settings = project(draft);
    settings.of_mut::<TuneSettings>().max_iterations.set(3, FLAG);
    assert_eq!(runs(1, 12, &settings), None);
    let mut settings = project(rounds);
    settings.of_mut::<TuneSettings>().set_preset(Preset::Quick, &FLAG);
    assert_eq!(runs(1, 12, &settings), Some(16), "a preset counts before the number in a file");
}

#[test]
fn a_number_of_runs_in_a_file_refuses_no_skill_without_a_suite_and_a_flag_does() {
    assert_eq!(runs(1, 1, &project("[tune]\nruns = 20\n")), None);
    insta::assert_snapshot!(refusal(1, &flags(|tune| tune.runs.set(20, FLAG))), @r"
    error: a search by drafts needs at least 2 scenarios to search with, and this run has 1
    hint: pass a suite with more scenarios; `skilltune suite new` drafts some
    hint: or leave out --runs
    ");
    insta::assert_snapshot!(refusal(5, &project("[tune]\nsearch = \"draft\"\n")), @r"
    error: a search by drafts needs at least 2 scenarios to search with, and this run has 1
    hint: pass a suite with more scenarios; `skilltune suite new` drafts some
    hint: or pass --search rounds
    ");
    insta::assert_snapshot!(refusal(3, &flags(|tune| tune.search.set(Some(SearchName::Draft), FLAG))), @r"
    error: a search by drafts needs at least 4 scenarios to compare on at confidence 0.9, and this run has 3
    hint: pass a suite with more scenarios; `skilltune suite new` drafts some
    hint: or pass --search rounds
    ");
    insta::assert_snapshot!(refusal(12, &flags(|tune| tune.runs.set(7, FLAG))), @r"
    error: 7 runs of the executor are not enough: the final comparison alone takes most of them
    hint: pass --runs 8 or more
    ");
}

#[test]
fn both_limits_in_one_file_need_the_name_of_the_search() {
    let both = "[tune]\nruns = 20\nmax_iterations = 3\n";
    let files = Files::new("", both);
    let refused = chosen(1, 12, &files.load()).unwrap_err().render(Style::PLAIN, UNBOUNDED);
    insta::assert_snapshot!(refused.replace(files.project().to_str().unwrap(), ""), @r#"
    error: /skilltune.toml: tune.runs and tune.max_iterations contradict each other
    hint: set tune.search to "draft" or "rounds" there, or pass --search
    "#);
    assert_eq!(runs(1, 12, &project(&format!("{both}search = \"draft\"\n"))), Some(20));
    assert_eq!(runs(1, 12, &project(&format!("{both}search = \"rounds\"\n"))), None);
}

#[test]
fn a_preset_gives_a_chain_as_many_runs_as_a_search_needs_and_a_number_is_taken_as_it_is() {
    let quick = project("[tune]\npreset = \"quick\"\n");
    let of_chains: Vec<_> = (1..=4).map(|members| runs(members, 12, &quick)).collect();
    assert_eq!(of_chains, [Some(16), Some(16), Some(25), Some(32)]);
    assert!(chosen(4, 12, &project("[tune]\nruns = 16\n")).is_err());
}

#[test]
fn a_setting_without_effect_is_named() {
    let unused_keys = |settings: &Settings| unused(&chosen(1, 12, settings).unwrap(), settings.of());
    assert_eq!(unused_keys(&project("[tune]\nthreshold = 90\npreset = \"quick\"\n")), None);
    assert_eq!(
        unused_keys(&project("[tune]\nregress = 5\nstall_gain = 1\n")).unwrap(),
        "tune.regress, tune.stall_gain have no effect: this run searches by drafts"
    );
    let rounds = project("[tune]\nsearch = \"rounds\"\nruns = 20\nregress = 5\n");
    assert_eq!(unused_keys(&rounds).unwrap(), "tune.runs has no effect: this run searches by rounds");
}
