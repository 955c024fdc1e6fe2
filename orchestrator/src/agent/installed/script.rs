//! Whether a file that stands in a command is run by it, or is something that it reads or writes.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::disk;

/// Read by an interpreter, which asks for no right to execute them.
const ENDINGS: [&str; 20] = [
    "py", "js", "mjs", "cjs", "ts", "mts", "rb", "pl", "sh", "bash", "zsh", "fish", "php", "lua", "r", "jl",
    "jar", "tcl", "ps1", "wasm",
];

/// A file that may be executed, that names its interpreter, or whose name ends like a script's.
pub(super) fn is_run(path: &Path) -> bool {
    let Ok(meta) = fs::metadata(path) else { return false };
    meta.is_file() && (meta.permissions().mode() & 0o111 != 0 || has_ending(path) || names_interpreter(path))
}

fn has_ending(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

fn names_interpreter(path: &Path) -> bool {
    let mut start = [0; 2];
    disk::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *b"#!"
}
