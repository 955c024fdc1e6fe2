//! Opens a page in the user's browser, without a shell.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::terminal::environment::Environment;

/// The desktop's program for it.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// The variables of our environment that it gets, beside those that begin with `XDG_`: what finds the desktop and the
/// browser. None of them is a key.
const PASSED: [&str; 10] = [
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "DESKTOP_SESSION",
    "BROWSER",
];

/// Opens a page at an absolute path, and does not wait for the browser. Returns false where no person is at a terminal,
/// and where no program can open it.
pub fn open(path: &Path, env: &Environment) -> bool {
    let Some(program) = program(env).filter(|_| env.is_interactive()) else { return false };
    let mut command = Command::new(program);
    command.arg(path).current_dir("/").env_clear().envs(passed(env)).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().is_ok()
}

/// Finds the program: the one that `BROWSER` names by its full path, or else the desktop's.
fn program(env: &Environment) -> Option<PathBuf> {
    let named = env.vars.get("BROWSER").filter(|name| Path::new(name).is_absolute());
    let find = |name: &str| which::which_in(name, Some(env.search_path()), "/").ok();
    named.and_then(|name| find(name)).or_else(|| find(OPENER))
}

fn passed(env: &Environment) -> impl Iterator<Item = (&String, &String)> {
    let is_passed = |name: &str| PASSED.contains(&name) || name.starts_with("XDG_");
    env.vars.iter().filter(move |(name, _)| is_passed(name))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_browser_of_the_user_goes_before_that_of_the_desktop_and_none_of_a_repository_is_started() {
        let root = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = root.path().join(name);
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let (desktop, own) = (make(OPENER), make("my browser"));
        let path = root.path().to_str().unwrap();
        let found = |path: &str, browser: &str| {
            program(&Environment::fake(root.path(), &[("PATH", path), ("BROWSER", browser)]))
        };
        assert_eq!(found(path, own.to_str().unwrap()), Some(own));
        for other in ["", "my browser", "/missing", "/bin/sh -c", "/bin/sh:/bin/ls"] {
            assert_eq!(found(path, other).as_ref(), Some(&desktop), "{other}");
        }
        assert_eq!(found(".", ""), None);
    }

    #[test]
    fn without_a_terminal_nothing_is_opened_and_no_key_is_passed_on() {
        let env =
            Environment::fake("/w", &[("BROWSER", "/bin/sh"), ("API_KEY", "k"), ("XDG_RUNTIME_DIR", "/r")]);
        assert!(!open("/w/report.html".as_ref(), &env));
        let names: Vec<&String> = passed(&env).map(|(name, _)| name).collect();
        assert_eq!(names, ["BROWSER", "HOME", "PATH", "XDG_RUNTIME_DIR"]);
    }
}
