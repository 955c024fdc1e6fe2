//! Commands that a model proposes as checks: which are refused, and what is done with the others.

use serde::{Deserialize, Serialize};

/// What is done with the commands that an agent proposes as checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commands {
    pub run: RunThem,
    /// The system holds them to their workspace.
    pub confined: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunThem {
    /// A person has trusted whatever they will be.
    Always,
    /// A person is shown them first.
    Ask,
    /// The judge is asked in their place.
    Never,
}

/// Programs that would take a text for more than the arguments it consists of.
///
/// Refusing them is a convenience, for a list is easier to review than a script: awk, find, sed, tar, git and python do as
/// much by another name. What holds a command is the kernel, whatever it is called.
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

/// Why a command is refused that starts others.
pub fn shell_fault(argv: &[String]) -> Option<String> {
    let name = file_name(argv.first()?);
    let why = "is a shell or starts other programs; name the program itself in `argv`, with each argument as \
               an entry of its own";
    SHELLS.contains(&name.as_str()).then(|| format!("{name} {why}"))
}

/// As any of our systems would find it: `/bin/SH`, `C:\cmd.exe` and `sh` alike.
fn file_name(program: &str) -> String {
    let name = program.trim().rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    name.strip_suffix(".exe").map(str::to_owned).unwrap_or(name)
}
