//! Commands that a model proposes as checks: which ones are rejected, and how the others are used.

use serde::{Deserialize, Serialize};

/// The use of commands that an agent proposes as checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commands {
    pub run: RunThem,
    /// Whether the system confines them to their workspace.
    pub confined: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunThem {
    /// A person trusts all of them in advance.
    Always,
    /// A person reviews them first.
    Ask,
    /// The judge answers instead.
    Never,
}

/// Programs that would run a text instead of passing it on as arguments.
///
/// Rejecting them is only a convenience, because a list is easier to review than a script: awk, find, sed, tar, git and
/// python can do as much. The kernel confines a command, whatever its name.
const SHELLS: [&str; 30] = [
    "ash",
    "bash",
    "busybox",
    "cmd",
    "csh",
    "dash",
    "doas",
    "elvish",
    "env",
    "eval",
    "exec",
    "fish",
    "ksh",
    "mksh",
    "nice",
    "nohup",
    "nu",
    "osascript",
    "parallel",
    "powershell",
    "pwsh",
    "setsid",
    "sh",
    "su",
    "sudo",
    "tcsh",
    "timeout",
    "wsl",
    "xargs",
    "zsh",
];

/// Returns why a command is rejected that starts other commands.
pub fn shell_fault(argv: &[String]) -> Option<String> {
    let name = file_name(argv.first()?);
    let why = "is a shell or starts other programs; name the program itself in `argv`, with each argument as \
               an entry of its own";
    SHELLS.contains(&name.as_str()).then(|| format!("{name} {why}"))
}

/// Returns the name by which any supported system finds a program: `/bin/SH`, `C:\cmd.exe` and `sh` alike.
fn file_name(program: &str) -> String {
    let name = program.trim().rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    name.strip_suffix(".exe").map(str::to_owned).unwrap_or(name)
}
