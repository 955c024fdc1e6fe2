//! Looks at the pages of runs in a headless Chromium: stored runs, hostile ones, and a large one.
//!
//! With `SKILLTUNE_SHOTS=FOLDER` it writes screenshots of the pages of stored runs there.

mod checks;
mod chromium;
mod hostile;
mod large;
mod questions;

use std::fs;
use std::path::Path;

use skilltune_worlds::tier::Tier;
use tempfile::TempDir;

use super::stored::{Texts, parse};
use super::{divided, nights, run, stored_runs};
use checks::Look;

/// Looks at every second run, and at all of them with `just pages`.
#[test]
fn every_figure_of_a_stored_run_is_on_its_pages() {
    let Some(mut look) = Look::new() else { return };
    let place = TempDir::new().unwrap();
    let every = if Tier::of_this_run() == Tier::All { 1 } else { 2 };
    for (name, path) in stored_runs().into_iter().step_by(every) {
        let (given, _) = divided(parse(&fs::read_to_string(path).unwrap()));
        let project = place.path().join(&name);
        fs::create_dir(&project).unwrap();
        if name.starts_with("night-") {
            look_at_night(&mut look, &name, &given, &project);
        } else {
            let folder = run::write_pages(&given, &project, str::to_owned);
            look.check_run(&name, &folder);
        }
    }
    look.finish();
}

/// Checks the page of the last morning and those of its series, which have the figures of `night.json` and of `trend`.
fn look_at_night(look: &mut Look, name: &str, given: &Texts, folder: &Path) {
    let texts = nights::replay(given).texts;
    let html = texts.iter().filter_map(|(path, page)| Some((path.strip_suffix(".html")?, page)));
    for (path, page) in html {
        let (before, stem) = path.rsplit_once('/').unwrap();
        let is_morning = stem == "report";
        let figures = if is_morning {
            texts[&format!("{before}/night.json")].clone()
        } else {
            texts[&format!("said/trend {stem} --format json")].clone()
        };
        let (name, folder) = (format!("{name}-{stem}"), folder.join(stem));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(checks::REPORT), page).unwrap();
        let shown = look.check_page(&name, &folder, checks::REPORT, is_morning);
        look.note(&name, checks::missing(&serde_json::from_str(&figures).unwrap(), &shown));
        look.keep_shots(&name, &folder);
    }
}
