//! Looks at files of a test with a real browser. Tests print SKIPPED if no browser is installed.

use std::fs;
use std::io::{self, Write as _};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex};

use serde_json::Value;

use crate::scene::{Ran, SKILLTUNE, Scene};

/// A browser, used by at most two tests at once: it keeps several processors busy, and each look has a deadline.
pub(super) struct Browser {
    program: PathBuf,
}

static TURNS: (Mutex<u32>, Condvar) = (Mutex::new(2), Condvar::new());

impl Drop for Browser {
    fn drop(&mut self) {
        *TURNS.0.lock().unwrap() += 1;
        TURNS.1.notify_one();
    }
}

impl Deref for Browser {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.program
    }
}

/// Waits until fewer than two tests use a browser, and returns the installed one.
pub(super) fn browser() -> Option<Browser> {
    let known = skilltune_orchestrator::browser::NAMES.map(|name| Path::new("/usr/bin").join(name));
    let Some(program) = known.into_iter().find(|path| path.is_file()) else {
        let _ = writeln!(io::stderr(), "SKIPPED: no browser here; tests/programs installs one");
        return None;
    };
    let mut turns = TURNS.1.wait_while(TURNS.0.lock().unwrap(), |turns| *turns == 0).unwrap();
    *turns -= 1;
    Some(Browser { program })
}

/// Looks at these files with this input.
pub(super) fn look(
    scene: &Scene,
    browser: &Path,
    files: &[(&str, &str)],
    given: &Value,
    seconds: &str,
) -> Ran {
    look_with(axe().as_deref(), scene, browser, files, given, seconds)
}

/// Looks at these files with another axe-core.
pub(super) fn look_with(
    axe: Option<&str>,
    scene: &Scene,
    browser: &Path,
    files: &[(&str, &str)],
    given: &Value,
    seconds: &str,
) -> Ran {
    let desk = scene.path("desk");
    fs::create_dir_all(desk.join("site")).unwrap();
    fs::write(scene.path("input.json"), given.to_string()).unwrap();
    for (path, text) in files {
        fs::write(desk.join("site").join(path), text).unwrap();
    }
    let browser = browser.to_str().unwrap();
    let words = ["look", browser, seconds].into_iter().chain(axe).collect::<Vec<_>>();
    let mut command = scene.command_of(SKILLTUNE, &[], &words);
    command.current_dir(&desk).stdin(fs::File::open(scene.path("input.json")).unwrap());
    let ran = Ran::of(command.output().unwrap());
    if ran.code == Some(0) {
        fs::write(desk.join("looked.json"), &ran.stdout).unwrap();
    }
    ran
}

/// Returns the axe-core file that `tests/programs` fetches.
pub(super) fn axe() -> Option<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/axe/node_modules/axe-core/axe.min.js");
    file.canonicalize().ok().map(|file| file.to_str().unwrap().to_owned())
}

pub(super) fn findings(scene: &Scene) -> Value {
    serde_json::from_slice(&fs::read(scene.path("desk/looked.json")).unwrap()).unwrap()
}

pub(super) fn verdict<'a>(inspection: &'a Value, check: &str) -> &'a Value {
    let all = inspection["told"].as_array().unwrap();
    all.iter().find(|one| one["check"] == check).map_or(&Value::Null, |one| &one["verdict"])
}

pub(super) fn page(body: &str) -> String {
    format!(
        "<!doctype html><html lang=en><head><title>Pump</title><meta name=viewport content=\"width=device-width\">\
         <link rel=icon href=\"data:,\"></head><body><main>{body}</main></body></html>"
    )
}
