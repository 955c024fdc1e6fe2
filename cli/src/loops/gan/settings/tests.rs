use clap::Parser as _;

use super::*;
use crate::commands::cli::{Cli, Command};
use crate::loops::LoopCommand;
use crate::settings::{Settings, project};

/// Returns a value other than the default for every key.
pub fn changes() -> Vec<(&'static str, &'static str)> {
    vec![
        ("gan.level", "\"thorough\""),
        ("gan.contract", "true"),
        ("gan.threshold", "80"),
        ("gan.minimums", "\"craft=75\""),
        ("gan.strict", "true"),
        ("gan.strict_rounds", "3"),
        ("gan.max_rounds", "7"),
        ("gan.escalate_after", "2"),
        ("gan.gain", "2.5"),
        ("gan.standstill", "3"),
        ("gan.cap", "25"),
        ("gan.negotiation_rounds", "1"),
        ("gan.apart", "20"),
        ("gan.extra_items", "0"),
        ("gan.commands", "\"skip\""),
        ("gan.command_seconds", "60"),
        ("gan.browser", "false"),
        ("gan.browser_seconds", "30"),
        ("gan.apply", "\"branch\""),
        ("gan.preview", "[\"serve\"]"),
        ("gan.preview_path", "\"/en\""),
        ("gan.preview_seconds", "9"),
        ("gan.retries", "0"),
    ]
}

/// Returns all that a run is planned with.
fn rendered(settings: &Settings) -> String {
    let gan = settings.of::<GanSettings>();
    let preview = (&gan.preview.value, &gan.preview_path.value, gan.preview_seconds.value);
    let browser = (gan.browser.value, gan.browser_seconds.value, preview);
    let commands = (gan.run_them(), gan.command_seconds.value);
    format!(
        "{:?}",
        (
            (gan.rules(), gan.is_negotiated(&ContractLevels::default()), Level::from(gan.level.value)),
            (gan.retries.value, browser, commands, Apply::from(gan.apply.value)),
        )
    )
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
    let gan = GanSettings::default();
    assert_eq!(gan.rules(), Rules::default());
    assert!(!gan.is_negotiated(&ContractLevels::default()) && gan.retries.value == 1);
    let Rules { threshold, max_rounds, escalate_after, gain, standstill, cap, .. } = gan.rules();
    assert_eq!((threshold.typed(), gain.typed(), cap.typed()), ("75".into(), "5".into(), "50".into()));
    assert_eq!((max_rounds, escalate_after, standstill), (5, 3, 2));
}

#[test]
fn a_contract_is_agreed_on_at_level_thorough_and_where_that_is_asked_for() {
    for (level, asked, is_negotiated) in [
        ("minimal", true, false),
        ("standard", false, false),
        ("standard", true, true),
        ("thorough", false, true),
    ] {
        let settings = project(&format!("gan.level = {level:?}\ngan.contract = {asked}\n"));
        let gan = settings.of::<GanSettings>();
        assert_eq!(gan.is_negotiated(&ContractLevels::default()), is_negotiated, "{level}, {asked}");
        assert_eq!(gan.rules().judge_twice, level == "thorough");
    }
}

#[test]
fn flags_go_over_files() {
    let line = "skilltune gan b.md --level minimal --contract --strict --threshold 90 --max-rounds 2 --minimums a=60,b=70";
    let parsed = Cli::try_parse_from(line.split(' ')).unwrap();
    let Some(Command::Loop(LoopCommand::Gan(args))) = parsed.command else { panic!("not a gan") };
    let mut settings = project("gan.level = \"thorough\"\ngan.threshold = 60\n");
    settings.apply_flags(&args.given);
    let gan = settings.of::<GanSettings>();
    assert_eq!((gan.level.value, gan.contract.value, gan.strict.value), (LevelName::Minimal, true, true));
    assert_eq!((gan.threshold.value.typed(), gan.max_rounds.value), ("90".to_owned(), 2));
    assert_eq!(gan.minimums.value.json(), "a=60, b=70");
}

#[test]
fn minimums_are_names_and_scores() {
    for wrong in ["craft", "craft=", "craft=101", "craft=x"] {
        assert!(wrong.parse::<Minimums>().is_err(), "{wrong}");
    }
    assert_eq!("".parse::<Minimums>().unwrap(), Minimums::default());
}
