//! Classifies a file by its path: a program, settings, or media.

use super::acting::{acts_by_itself, is_among};
use super::fold;

/// Returns whether agents only show or pass on the file, and do not follow it.
pub(super) fn is_media(path: &str) -> bool {
    const ENDS: [&str; 20] = [
        "bmp", "docx", "gif", "ico", "jpeg", "jpg", "mp3", "mp4", "odt", "otf", "pdf", "png", "pptx", "tiff",
        "ttf", "wav", "webp", "woff", "woff2", "xlsx",
    ];
    path.rsplit_once('.').is_some_and(|(_, end)| ENDS.contains(&end.to_ascii_lowercase().as_str()))
}

/// Returns whether the path has any of the names of pages: most of a page is prose, some of it is code.
pub(super) fn is_page(path: &str) -> bool {
    const ENDS: [&str; 9] = ["md", "mdc", "mdown", "mdx", "mkd", "markdown", "rst", "text", "txt"];
    let path = fold::word(path);
    path.rsplit_once('.').is_some_and(|(_, end)| ENDS.contains(&end))
}

pub(super) fn is_rst(path: &str) -> bool {
    fold::word(path).rsplit_once('.').is_some_and(|(_, end)| end == "rst")
}

pub(super) fn is_program(path: &str) -> bool {
    let name = fold::word(path.rsplit('/').next().unwrap_or_default());
    // For example, `Dockerfile.dev`, `Makefile.linux`.
    let is_variant = |known: &&str| name.strip_prefix(*known).is_some_and(|rest| rest.starts_with('.'));
    let is_named = NAMES.contains(&name.as_str()) || VARIANTS.iter().any(is_variant);
    let end = name.rsplit_once('.').map(|(_, end)| end);
    let is_list = name.starts_with("requirements") && end == Some("txt");
    is_named || is_list || end.is_some_and(|end| FAMILIES.iter().any(|family| family.contains(&end)))
}

/// File extensions, a line for each family.
const FAMILIES: [&[&str]; 13] = [
    &[
        "sh", "bash", "zsh", "fish", "ksh", "mksh", "csh", "tcsh", "dash", "ash", "nu", "xsh", "bats",
        "command",
    ],
    &["ps1", "psm1", "psd1", "bat", "cmd", "vbs", "vbe", "wsf", "wsh", "hta", "reg", "ahk", "au3"],
    &["py", "pyw", "pyx", "pyc", "pyo", "pyd", "pyz", "pth", "ipynb", "whl"],
    &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "coffee", "vue", "svelte", "node"],
    &["rb", "rake", "gemspec", "erb", "pl", "pm", "raku", "php", "phtml", "phar", "lua", "tcl", "expect"],
    &["awk", "gawk", "sed", "jq", "applescript", "scpt", "scptd", "osascript"],
    &["r", "rmd", "qmd", "jl", "sage", "nb", "wls"],
    &["java", "kt", "kts", "scala", "sc", "groovy", "gradle", "clj", "cljs", "cljc", "bb"],
    &[
        "c", "cc", "cpp", "cxx", "h", "hh", "hpp", "m", "mm", "go", "rs", "zig", "nim", "d", "cr", "dart",
        "swift",
    ],
    &["cs", "csx", "fs", "fsx", "vb", "ex", "exs", "erl", "escript", "hs", "ml", "el", "lisp", "scm", "rkt"],
    &["mk", "mak", "make", "just", "cmake", "ninja", "nix", "bzl", "bazel", "tf"],
    &[
        "exe", "dll", "so", "dylib", "jar", "war", "class", "wasm", "com", "scr", "msi", "appimage", "bin",
        "elf",
    ],
    &["deb", "rpm", "apk", "gem", "vsix", "xpi", "crx", "desktop", "service", "timer", "plist", "lnk"],
];

/// Names that tools run, or that determine what tools install.
const NAMES: [&str; 32] = [
    "makefile",
    "gnumakefile",
    "justfile",
    "rakefile",
    "gemfile",
    "podfile",
    "brewfile",
    "pipfile",
    "procfile",
    "vagrantfile",
    "jenkinsfile",
    "dockerfile",
    "containerfile",
    "compose.yml",
    "compose.yaml",
    "docker-compose.yml",
    "docker-compose.yaml",
    "taskfile.yml",
    "taskfile.yaml",
    "package.json",
    "deno.json",
    "deno.jsonc",
    "composer.json",
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    "environment.yml",
    "cargo.toml",
    "go.mod",
    "pom.xml",
    "build.xml",
    "sconstruct",
];

const VARIANTS: [&str; 3] = ["makefile", "dockerfile", "containerfile"];

/// Returns whether an agent, an editor or a tool reads settings, servers or hooks from the file, by itself or after an
/// install.
pub(super) fn is_settings(path: &str) -> bool {
    const FOLDERS: [&str; 2] = [".github", "hooks"];
    const NAMES: [&str; 7] = [
        ".gitattributes",
        ".gitmodules",
        "hooks.json",
        "mcp.json",
        "plugin.json",
        "settings.json",
        "settings.local.json",
    ];
    acts_by_itself(path) || is_among(path, &FOLDERS, &NAMES)
}
