//! The only table of names that act by themselves: files that an agent, editor or shell reads as soon as it works in
//! their folder. An edit that adds one controls what these programs do.
//!
//! Names are compared like on file systems that do not distinguish all names: without case, without the characters that
//! HFS+ ignores, and without the endings that NTFS drops; NTFS short names count too.

use unicode_normalization::UnicodeNormalization as _;

use super::fold::is_unseen;

/// Each file below these folders. Names are folded.
const FOLDERS: [&str; 50] = [
    // Agents.
    ".agents",
    ".amazonq",
    ".augment",
    ".claude",
    ".claude-plugin",
    ".cline",
    ".clinerules",
    ".codex",
    ".codex-plugin",
    ".continue",
    ".copilot",
    ".crush",
    ".cursor",
    ".cursor-plugin",
    ".devin",
    ".factory",
    ".gemini",
    ".goose",
    ".iflow",
    ".junie",
    ".kilocode",
    ".kiro",
    ".opencode",
    ".openhands",
    ".pi",
    ".qoder",
    ".qwen",
    ".roo",
    ".rules",
    ".trae",
    ".windsurf",
    // Editors, and programs that open a project.
    ".cargo",
    ".devcontainer",
    ".fleet",
    ".helix",
    ".idea",
    ".idx",
    ".nova",
    ".vim",
    ".vs",
    ".vscode",
    ".zed",
    // Shells, and programs that their prompts call.
    ".git",
    ".githooks",
    ".hg",
    ".husky",
    ".jj",
    ".mise",
    ".oh-my-zsh",
    ".ssh",
];

const NAMES: [&str; 105] = [
    // Agents.
    ".aider.conf.yml",
    ".aider.model.settings.yml",
    ".augment-guidelines",
    ".clinerules",
    ".continuerc.json",
    ".crush.json",
    ".cursorrules",
    ".env",
    ".goosehints",
    ".kilocodemodes",
    ".mcp.json",
    ".roomodes",
    ".roorules",
    ".rules",
    ".windsurfrules",
    "agent.md",
    "agents.local.md",
    "agents.md",
    "agents.override.md",
    "claude.local.md",
    "claude.md",
    "codex.md",
    "copilot-instructions.md",
    "crush.json",
    "crush.md",
    "gemini.md",
    "opencode.json",
    "opencode.jsonc",
    "qwen.md",
    "warp.md",
    // Editors, and programs that open a project.
    ".clangd",
    ".devcontainer.json",
    ".dir-locals-2.el",
    ".dir-locals.el",
    ".emacs",
    ".exrc",
    ".gdbinit",
    ".gitpod.yml",
    ".gvimrc",
    ".lazy.lua",
    ".lldbinit",
    ".luarc.json",
    ".lvimrc",
    ".neoconf.json",
    ".nvim.lua",
    ".nvimrc",
    ".replit",
    ".vimrc",
    ".ycm_extra_conf.py",
    "_vimrc",
    // Shells, and programs that their prompts call.
    ".autoenv",
    ".autoenv.zsh",
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cshrc",
    ".envrc",
    ".git",
    ".gitconfig",
    ".inputrc",
    ".kshrc",
    ".login",
    ".logout",
    ".mise.local.toml",
    ".mise.toml",
    ".mkshrc",
    ".pam_environment",
    ".profile",
    ".rtx.toml",
    ".shrc",
    ".tcshrc",
    ".tool-versions",
    ".xinitrc",
    ".xonshrc",
    ".xprofile",
    ".xsession",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "config.fish",
    "mise.local.toml",
    "mise.toml",
    // Languages, and programs that open a folder or a disk.
    ".bazelrc",
    ".eslintrc.cjs",
    ".eslintrc.js",
    ".irbrc",
    ".netrc",
    ".pnp.cjs",
    "_netrc",
    "autorun.inf",
    "conftest.py",
    "desktop.ini",
    "sitecustomize.py",
    // Run at the next install or commit.
    ".gitmodules",
    ".lefthook.yml",
    ".npmrc",
    ".pnpmfile.cjs",
    ".pre-commit-config.yaml",
    ".yarnrc",
    ".yarnrc.yml",
    "lefthook.yml",
];

const ENDS: [&str; 2] = [".code-workspace", ".instructions.md"];

/// Returns whether an agent, editor or shell reads this file by itself as soon as it works in the folder.
pub fn acts_by_itself(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().map(folded).unwrap_or_default();
    is_among(path, &FOLDERS, &NAMES) || ENDS.iter().any(|end| name.ends_with(end))
}

/// Returns whether git takes a file or a folder of this name for a repository.
pub fn is_git(name: &str) -> bool {
    is_called(&folded(name), ".git")
}

/// Returns whether the file has one of these names, or is below one of these folders.
pub(super) fn is_among(path: &str, folders: &[&str], names: &[&str]) -> bool {
    let parts: Vec<String> = path.split(['/', '\\']).map(folded).collect();
    let Some((name, above)) = parts.split_last() else { return false };
    let is = |part: &String, known: &[&str]| known.iter().any(|known| is_called(part, known));
    is(name, names) || above.iter().any(|folder| is(folder, folders))
}

/// Returns a name as such a file system compares it.
fn folded(name: &str) -> String {
    let stem = name.split(':').next().unwrap_or_default();
    let seen = stem.nfkc().filter(|c| !is_unseen(*c));
    // Both ways, because Unicode folds some letters into two.
    let folded: String = seen.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    folded.trim_end_matches([' ', '.']).to_owned()
}

fn is_called(name: &str, known: &str) -> bool {
    name == known || is_short(name, known)
}

/// Returns whether it is a short name that NTFS may give to a file of that name: `git~1` for `.git`, `openco~1.jso` for
/// `opencode.jsonc`, or `gi7eba~1` if there are other files with the same beginning.
fn is_short(name: &str, known: &str) -> bool {
    let Some((start, rest)) = name.split_once('~') else { return false };
    let (number, end) = rest.split_once('.').unwrap_or((rest, ""));
    let known = known.trim_start_matches('.');
    let (stem, known_end) = known.rsplit_once('.').unwrap_or((known, ""));
    let stem: String = stem.chars().filter(|c| !matches!(c, '.' | ' ')).collect();
    let begins = |many| stem.get(..many).unwrap_or(&stem);
    let is_hash = start.len() == 6
        && start.starts_with(begins(2))
        && start.bytes().skip(2).all(|byte| byte.is_ascii_hexdigit());
    !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && end == known_end.get(..3).unwrap_or(known_end)
        && (start == begins(6) || is_hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_act_by_themselves_are_known_wherever_they_are() {
        for path in [
            "AGENTS.md",
            "CLAUDE.md",
            "GEMINI.md",
            "sub/AGENTS.md",
            ".bashrc",
            ".profile",
            ".zshrc",
            ".envrc",
            "opencode.json",
            "opencode.jsonc",
            "mise.toml",
            ".mise.toml",
            ".tool-versions",
            ".git/config",
            ".git",
            ".vscode/tasks.json",
            ".idea/workspace.xml",
            ".cursor/rules/x.mdc",
            ".cursorrules",
            ".claude/settings.json",
            ".codex/config.toml",
            ".gemini/settings.json",
            ".mcp.json",
            ".npmrc",
            ".pre-commit-config.yaml",
            ".husky/pre-commit",
            "a/b/.hg/hgrc",
            "x.code-workspace",
            "a:b/X.Code-Workspace",
            ".github/copilot-instructions.md",
            ".github/instructions/x.instructions.md",
            ".cargo/config.toml",
            ".netrc",
            "tests/conftest.py",
            "Desktop.ini",
        ] {
            assert!(acts_by_itself(path), "{path}");
        }
        for path in [
            "index.html",
            "README.md",
            "agents.html",
            "my-claude.md",
            "git/config",
            "hooks/menu.js",
            "Makefile",
            "package.json",
            ".editorconfig",
            ".env.example",
            ".gitignore",
            "claude/x",
            "AGENTS.md/x",
            "a~1",
            "x~y",
            ".github/workflows/x.yml",
        ] {
            assert!(!acts_by_itself(path), "{path}");
        }
    }

    #[test]
    fn a_name_is_compared_as_file_systems_do_that_do_not_tell_all_names_apart() {
        for path in [
            "agents.MD",
            "Claude.md",
            ".GIT/config",
            ".g\u{200c}it/config",
            "\u{feff}.git/config",
            ".gi\u{200d}t",
            "\u{ff21}GENTS.md",
            "CLAUDE.md.",
            "CLAUDE.md . ",
            ".git . ./config",
            ".git::$INDEX_ALLOCATION/config",
            "AGENTS.md::$DATA",
            "git~1/config",
            "GIT~2/config",
            "gi7eba~1/config",
            "CLAUDE~1/settings.json",
            "OPENCO~1.JSO",
            "bashrc~1",
            ".x\u{17f}e\u{df}ion",
            ".claude\\settings.json",
            "a\\CLAUDE.md",
            "u\\.VSCODE\\tasks.json",
            ".ba\u{17f}hrc",
        ] {
            assert!(acts_by_itself(path), "{path}");
        }
        for name in [".git", ".GIT", "git~1", ".g\u{200c}it", ".git ", ".git::$INDEX_ALLOCATION"] {
            assert!(is_git(name), "{name}");
        }
        for name in ["git", "git~", "git~x", ".gitx", ".github", "~1"] {
            assert!(!is_git(name), "{name}");
        }
    }
}
