//! The machines of a review: the project's commands and the scanners that are installed.

use skilltune_phases::loops::review::finding::Severity;
use skilltune_phases::loops::review::task::{Changed, Machine};
use skilltune_phases::loops::shared::commands::{Stage, found, names};
use skilltune_phases::loops::shared::scanners::{Scanner, applicable};
use skilltune_phases::suites::checks::RunThem;

use crate::casting::{on_path, system_confines};
use crate::loops::review::base::Base;
use crate::settings::Settings;
use crate::settings::origin::Origin;
use crate::settings::setting::Setting;
use crate::terminal::environment::Environment;
use crate::text::plain::one_line;

/// A machine, and why a person has to agree before it runs.
#[derive(Clone, Debug)]
pub struct Planned {
    pub machine: Machine,
    pub needs: Option<Need>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// The command is not set: it was found in this manifest.
    Found(&'static str),
    /// The change alters a file that the command names.
    Altered(String),
    /// The project's settings name it: its file has to be trusted.
    Trust,
}

/// Returns the machines for these changed files.
pub fn machines(base: &Base, changed: &[Changed], settings: &Settings, env: &Environment) -> Vec<Planned> {
    let has_tests = base.project().join("tests").is_dir();
    let found = found(&|name| match name {
        "tests" => has_tests.then(String::new),
        name => base.text(name).cloned(),
    });
    let commands = Stage::ALL.into_iter().map(|stage| {
        let Setting { value, origin, .. } = settings.commands.of(stage);
        match found.iter().find(|one| one.stage == stage) {
            _ if !base.has_whole_project() => {
                let project = base.project().display();
                skipped(
                    stage.word(),
                    severity(stage),
                    &format!("the commands of {project} need all of its files"),
                )
            }
            _ if !value.0.is_empty() => {
                planned(stage.word(), value.0.clone(), severity(stage), of_origin(origin))
            }
            Some(found) => {
                planned(stage.word(), found.argv.clone(), severity(stage), Some(Need::Found(found.file)))
            }
            None => {
                skipped(stage.word(), severity(stage), &format!("no command; set commands.{}", stage.word()))
            }
        }
    });
    let paths: Vec<&str> = changed.iter().map(|one| &*one.path).collect();
    let left: Vec<&str> = changed.iter().filter(|one| !one.is_removed).map(|one| &*one.path).collect();
    let scanners = applicable(&left).into_iter().map(|(scanner, argv)| scan(scanner, argv, &paths));
    let mut all: Vec<Planned> = commands.chain(scanners).collect();
    for planned in &mut all {
        check(planned, &paths, settings, env);
    }
    all
}

fn of_origin(origin: &Origin) -> Option<Need> {
    origin.is_projects().then_some(Need::Trust)
}

fn severity(stage: Stage) -> Severity {
    match stage {
        Stage::Build => Severity::Critical,
        Stage::Test => Severity::High,
        Stage::Lint => Severity::Medium,
    }
}

fn planned(name: &str, argv: Vec<String>, severity: Severity, needs: Option<Need>) -> Planned {
    Planned { machine: Machine { name: name.into(), argv, severity, skipped: None }, needs }
}

fn skipped(name: &str, severity: Severity, why: &str) -> Planned {
    let skipped = Some(one_line(why).into());
    Planned { machine: Machine { name: name.into(), argv: Vec::new(), severity, skipped }, needs: None }
}

fn scan(scanner: Scanner, argv: Vec<String>, paths: &[&str]) -> Planned {
    let severity = if scanner.what == "secrets" { Severity::Critical } else { Severity::Medium };
    match scanner.config.iter().find(|config| paths.contains(config)) {
        Some(config) => {
            skipped(scanner.program, severity, &format!("the change alters its settings, {config}"))
        }
        None => planned(scanner.program, argv, severity, None),
    }
}

/// Skips a machine that cannot run here, and notes if the change alters a file that it names.
fn check(planned: &mut Planned, paths: &[&str], settings: &Settings, env: &Environment) {
    let Planned { machine, needs } = planned;
    let Some(program) = machine.argv.first().filter(|_| machine.skipped.is_none()) else { return };
    let is_missing = !program.contains('/') && on_path(program, env).is_err();
    let why = if paths.is_empty() {
        Some("nothing changed".to_owned())
    } else if is_missing {
        Some(format!("{program} is not installed"))
    } else if settings.limits.confine.value && !system_confines(settings) {
        Some("this system cannot confine commands (limits.confine)".to_owned())
    } else {
        None
    };
    machine.skipped = why.map(|why| one_line(&why).into());
    // A scanner names the changed files because it reads them.
    let is_command = Stage::ALL.iter().any(|stage| stage.word() == &*machine.name);
    let altered: Vec<String> =
        names(&machine.argv).into_iter().filter(|name| paths.contains(&name.as_str())).collect();
    if is_command && !altered.is_empty() {
        *needs = Some(Need::Altered(altered.join(", ")));
    }
}

/// Returns why an unattended review skips a machine, if it does.
pub fn unattended(needs: &Need, run: RunThem) -> Option<String> {
    match (needs, run) {
        (Need::Altered(files), _) => {
            Some(format!("the change alters {files}, which it names: a person has to agree"))
        }
        (Need::Found(_), RunThem::Always) | (Need::Trust, _) => None,
        (Need::Found(file), RunThem::Ask) => {
            Some(format!("found in {file}: set it in [commands], or pass --commands run"))
        }
        (Need::Found(file), RunThem::Never) => {
            Some(format!("found in {file}, and --commands skip was given"))
        }
    }
}

/// Returns the words of the question about a machine.
pub fn question(planned: &Planned) -> String {
    let why = match &planned.needs {
        Some(Need::Altered(files)) => format!(" (the change alters {files})"),
        Some(Need::Found(file)) => format!(" (found in {file})"),
        Some(Need::Trust) | None => String::new(),
    };
    format!("{}: {}{why}", planned.machine.name, planned.machine.argv.join(" "))
}
