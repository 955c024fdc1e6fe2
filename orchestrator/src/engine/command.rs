//! Commands of skilltune that run in place of an agent: they get little of our environment.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use skilltune_phases::asking::order::{Command, Needs};

use super::Services;
use super::call_dir::CallDir;
use crate::process::{self, Confinement};

impl Services {
    /// A local command gets `PATH` and nothing else of our environment; some find toolchains.
    pub(super) fn command(&self, dir: &CallDir, command: &Command) -> process::Call {
        let temp = dir.temp_path();
        let text = temp.to_string_lossy().into_owned();
        let path = std::env::var("PATH").unwrap_or_default();
        // A browser has no sandbox under root, and as root it could change system settings in `/proc`.
        let sandbox = command.needs == Needs::Proc && !rustix::process::geteuid().is_root();
        let places = [dir.space_path(), temp].into_iter().chain(sandbox.then(|| "/proc".into()));
        let env = [("PATH", path), ("HOME", text.clone()), ("TMPDIR", text), ("LANG", "C.UTF-8".to_owned())];
        let env = env.map(|(name, value)| (name.to_owned(), value));
        process::Call {
            argv: command.argv.iter().map(OsString::from).collect(),
            env: env.into_iter().chain(toolchains(command)).chain([self.mark()]).collect(),
            confinement: command
                .confined
                .then(|| Confinement { writes: places.map(OsString::from).collect() }),
            stdin: command.input.as_ref().map(|_| dir.prompt_path()),
            ..self.bare(dir, Duration::from_secs(command.seconds))
        }
    }
}

/// The variables by which programs find toolchains and packages, and where these are below the user's home.
const TOOLCHAINS: [(&str, &str); 4] = [
    ("CARGO_HOME", ".cargo"),
    ("RUSTUP_HOME", ".rustup"),
    ("GOMODCACHE", "go/pkg/mod"),
    ("PYENV_ROOT", ".pyenv"),
];

/// Returns where a command finds the user's toolchains: its own home is an empty folder.
fn toolchains(command: &Command) -> Vec<(String, String)> {
    if command.needs != Needs::Toolchains {
        return Vec::new();
    }
    let home = std::env::var("HOME").unwrap_or_default();
    let place = |(name, below): (&str, &str)| {
        let usual = Path::new(&home).join(below).to_string_lossy().into_owned();
        let place = std::env::var(name).unwrap_or(usual);
        Path::new(&place).is_dir().then(|| (name.to_owned(), place))
    };
    TOOLCHAINS.into_iter().filter_map(place).collect()
}
