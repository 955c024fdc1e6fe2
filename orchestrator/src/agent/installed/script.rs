//! Whether a file in a command line is run, or only read or written.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::disk;

/// Files that an interpreter reads, which need no execute permission.
const ENDINGS: [&str; 20] = [
    "py", "js", "mjs", "cjs", "ts", "mts", "rb", "pl", "sh", "bash", "zsh", "fish", "php", "lua", "r", "jl",
    "jar", "tcl", "ps1", "wasm",
];

/// Whether a file is executable, names its interpreter, or has a script's extension.
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
