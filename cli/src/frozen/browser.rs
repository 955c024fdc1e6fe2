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

use serde_json::Value;
use tempfile::TempDir;

use super::stored::{Texts, parse};
use super::{divided, nights, run, stored_runs};
use checks::Look;

#[test]
fn every_figure_of_every_stored_run_is_on_its_pages() {
    let Some(mut look) = Look::new() else { return };
    let place = TempDir::new().unwrap();
    for (name, path) in stored_runs() {
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

/// Checks the page of the last morning, beside which the same figures are as JSON.
fn look_at_night(look: &mut Look, name: &str, given: &Texts, folder: &Path) {
    const PAGE: &str = "/skilltune-night/report.html";
    let texts = nights::replay(given).texts;
    let Some((path, page)) = texts.iter().find(|(path, _)| path.ends_with(PAGE)) else { return };
    fs::write(folder.join(checks::REPORT), page).unwrap();
    let figures = &texts[&path.replace("report.html", "night.json")];
    let figures: Value = serde_json::from_str(figures).unwrap();
    let shown = look.check_page(name, folder, checks::REPORT, true);
    look.note(name, checks::missing(&figures, &shown));
    look.keep_shots(name, folder);
}
