//! A home with the real agents on its PATH, a project with one skill, and the connection to our server.

use std::fmt;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::Server;

pub(crate) struct Scene {
    root: TempDir,
    pub(crate) server: Server,
    /// The variable with claude's credentials: a key's or a login's.
    pub(crate) way_in: &'static str,
}

/// The result of a run.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) summary: Value,
    pub(crate) stderr: String,
    pub(crate) history: Vec<Value>,
    /// The `reply.json` of every call.
    pub(crate) replies: Vec<Value>,
}

const SKILL: &str = "---\nname: haiku\ndescription: Writes a haiku. Use it for haiku.\n---\n\nQuality: 40\n";

/// Returns the workspace's build folder: `tests/agents/run` installs the agents there and builds skilltune.
pub(crate) fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target")
}

/// Returns the skilltune that `tests/agents/run` built; the bench runs the release build.
pub(crate) fn program() -> PathBuf {
    target().join(if cfg!(debug_assertions) { "debug/skilltune" } else { "release/skilltune" })
}

/// A text in every place where a user may keep things outside the skill; no model may see it.
pub(crate) const SECRET: &str = "KEEP-THIS-OUT";

impl Scene {
    pub(crate) fn new() -> Self {
        let scene =
            Self { root: tempfile::tempdir().unwrap(), server: Server::start(), way_in: "ANTHROPIC_API_KEY" };
        for folder in [
            "bin",
            "project/.git",
            "home/.claude/skills/haiku",
            "home/.claude/skills/other",
            "home/.gemini/skills/haiku",
            "home/.gemini/skills/other",
            "home/.codex/skills/haiku",
            "home/.codex/skills/other",
            "home/.agents/skills/haiku",
            "home/.agents/skills/other",
            "home/.config/opencode/skills/haiku",
            "home/.config/opencode/skills/other",
            "project/.claude/skills/haiku",
        ] {
            fs::create_dir_all(scene.path(folder)).unwrap();
        }
        scene.install("claude", "@anthropic-ai/claude-code-linux-x64/claude");
        scene.install("gemini", "@google/gemini-cli/bundle/gemini.js");
        scene.install("codex", "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex");
        scene.install("opencode", "opencode-linux-x64/bin/opencode");
        // Without one, opencode downloads it whenever it loads a skill.
        scene.install("rg", "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/codex-path/rg");
        scene.write("project/.claude/skills/haiku/SKILL.md", SKILL);
        scene.write("home/.claude/CLAUDE.md", SECRET);
        // In a folder above the workspaces, where agents also look.
        scene.write("home/CLAUDE.md", SECRET);
        scene.write("home/GEMINI.md", SECRET);
        scene.write("home/.gemini/GEMINI.md", SECRET);
        for memory in ["home/AGENTS.md", "home/.codex/AGENTS.md", "home/.config/opencode/AGENTS.md"] {
            scene.write(memory, SECRET);
        }
        // The user's own skills, some with the name of the skill on trial.
        for (place, name) in [
            (".claude", "haiku"),
            (".claude", "other"),
            (".gemini", "haiku"),
            (".gemini", "other"),
            (".codex", "haiku"),
            (".codex", "other"),
            (".agents", "haiku"),
            (".agents", "other"),
            (".config/opencode", "haiku"),
            (".config/opencode", "other"),
        ] {
            let page = format!("---\nname: {name}\ndescription: {SECRET}\n---\nx\n");
            scene.write(&format!("home/{place}/skills/{name}/SKILL.md"), &page);
        }
        let [claude, gemini, codex, opencode] = scene.traces();
        let server = json!({ "command": "touch", "args": [gemini] });
        let theirs = format!("[mcp_servers.theirs]\ncommand = \"touch\"\nargs = [{}]\n", json!(codex));
        scene.write("home/.codex/config.toml", &format!("developer_instructions = \"{SECRET}\"\n{theirs}"));
        let theirs = json!({ "type": "local", "command": ["touch", opencode] });
        let theirs = json!({ "mcp": { "theirs": theirs }, "instructions": [scene.path("home/AGENTS.md")] });
        scene.write("home/.config/opencode/opencode.json", &theirs.to_string());
        let settings = json!({
            "security": { "auth": { "selectedType": "gemini-api-key" } },
            "mcpServers": { "theirs": server },
        });
        scene.write("home/.gemini/settings.json", &settings.to_string());
        let hook =
            json!([{ "hooks": [{ "type": "command", "command": format!("touch {}", claude.display()) }] }]);
        scene.write("home/.claude/settings.json", &json!({ "hooks": { "SessionStart": hook } }).to_string());
        scene
    }

    /// Creates the home of a user who has used opencode, which writes into its existing folders, and who keeps their
    /// settings in a repository, up to whose root agents search.
    pub(crate) fn settle_in(&self) {
        let home = self.path("home");
        let used = [".local/share/opencode", ".local/state/opencode", ".cache/opencode"];
        for folder in [".git/objects", ".git/refs"].iter().chain(&used) {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        self.write("home/.git/HEAD", "ref: refs/heads/main\n");
    }

    /// Returns the files that the user's hooks or servers create, where the agent that starts them can write.
    pub(crate) fn traces(&self) -> [PathBuf; 4] {
        [".claude", ".gemini", ".codex", ".config/opencode"]
            .map(|own| self.path("home").join(own).join("started"))
    }

    pub(crate) fn was_started(&self) -> bool {
        self.traces().iter().any(|trace| trace.exists())
    }

    /// Writes user settings that allow everything.
    pub(crate) fn allow_everything(&self) {
        let all = ["Bash", "Write", "Edit"];
        let claude = json!({ "permissions": { "allow": all, "defaultMode": "bypassPermissions" } });
        self.write("home/.claude/settings.json", &claude.to_string());
        let gemini = json!({
            "security": { "auth": { "selectedType": "gemini-api-key" } },
            "tools": { "allowed": ["run_shell_command", "write_file", "replace"] },
        });
        self.write("home/.gemini/settings.json", &gemini.to_string());
    }

    /// Returns the real path, because agents give their models real paths.
    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(below)
    }

    pub(crate) fn skill(&self) -> String {
        fs::read_to_string(self.path("project/.claude/skills/haiku/SKILL.md")).unwrap()
    }

    /// Replaces the initial skill with another one of the same quality.
    pub(crate) fn begin_with(&self, front: &str, body: &str) {
        let page =
            format!("---\nname: haiku\ndescription: Writes a haiku.\n{front}---\n\n{body}\nQuality: 40\n");
        self.write("project/.claude/skills/haiku/SKILL.md", &page);
    }

    /// Adds a skill, for a chain.
    pub(crate) fn add_skill(&self, name: &str) {
        fs::create_dir_all(self.path(&format!("project/.claude/skills/{name}"))).unwrap();
        let page = format!("---\nname: {name}\ndescription: Follows.\n---\n\nQuality: 40\n");
        self.write(&format!("project/.claude/skills/{name}/SKILL.md"), &page);
    }

    /// Runs `tune` with our own binary; each agent has its own scenario on the server.
    pub(crate) fn tune(&self, claude: &str, gemini: &str, more: &[&str]) -> Ran {
        let always = ["tune", ".claude/skills/haiku", "write one about a leaf", "--yes"];
        let always = [&always[..], &["--apply", "auto", "--format", "json"]].concat();
        self.run(claude, gemini, &[&always[..], more].concat())
    }

    pub(crate) fn run(&self, claude: &str, gemini: &str, arguments: &[&str]) -> Ran {
        let output = self.command(claude, gemini, arguments).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran {
            code: output.status.code(),
            summary: serde_json::from_str(&text(&output.stdout)).unwrap_or_default(),
            stderr: text(&output.stderr),
            history: self.history(),
            replies: self.files("reply.json").iter().flat_map(|file| lines(file)).collect(),
        }
    }

    pub(crate) fn command(&self, claude: &str, gemini: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command
            .args(arguments)
            .current_dir(self.path("project"))
            .env_clear()
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", self.path("bin").display()))
            .env("HOME", self.path("home"))
            .env("LANG", "C.UTF-8")
            .env(self.way_in, "a-key-of-nobody")
            .env("ANTHROPIC_BASE_URL", self.server.url(claude))
            .env("GEMINI_API_KEY", "a-key-of-nobody")
            .env("GOOGLE_GEMINI_BASE_URL", self.server.url(gemini))
            // The other agents use the first scenario.
            .env("CODEX_API_KEY", "a-key-of-nobody")
            .env("OPENAI_API_KEY", "a-key-of-nobody")
            .env("OPENAI_BASE_URL", format!("{}/v1", self.server.url(claude)))
            .stdin(Stdio::null());
        command
    }

    /// Returns the records of all journals.
    pub(crate) fn history(&self) -> Vec<Value> {
        self.files("history.jsonl").iter().flat_map(|file| lines(file)).collect()
    }

    /// Returns the stderr of all agent calls.
    pub(crate) fn agents_stderr(&self) -> String {
        let kept = self.files("stderr");
        kept.iter().map(|file| String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned()).collect()
    }

    /// Returns all files with this name below the runs.
    pub(crate) fn files(&self, name: &str) -> Vec<PathBuf> {
        let runs = walkdir::WalkDir::new(self.path("project/.skilltune/runs")).into_iter().flatten();
        runs.map(walkdir::DirEntry::into_path).filter(|path| path.ends_with(name)).collect()
    }

    fn install(&self, name: &str, package: &str) {
        let modules = target().join("agents/node_modules");
        let program = modules.join(package).canonicalize().expect("tests/agents/run installs the agents");
        symlink(program, self.path("bin").join(name)).unwrap();
    }

    /// Puts the system's bubblewrap, or the one that `tests/agents/run` fetched, on the agents' PATH.
    pub(crate) fn install_bubblewrap(&self) -> bool {
        let fetched = target().join("agents/bubblewrap/usr/bin/bwrap");
        let systems = ["/usr/local/bin/bwrap", "/usr/bin/bwrap", "/bin/bwrap"].map(PathBuf::from);
        let Some(program) = systems.into_iter().chain([fetched]).find_map(|path| path.canonicalize().ok())
        else {
            return false;
        };
        symlink(program, self.path("bin/bwrap")).unwrap();
        true
    }

    /// Puts the compiler and what belongs to it on the PATH.
    pub(crate) fn install_toolchain(&self) {
        let cargo = std::env::var_os("CARGO").expect("cargo runs the tests");
        let folder = Path::new(&cargo).canonicalize().unwrap().with_file_name("");
        for program in ["cargo", "rustc", "rustdoc"] {
            symlink(folder.join(program), self.path("bin").join(program)).unwrap();
        }
    }

    /// Leaves no agent on the PATH.
    pub(crate) fn remove_agents(&self) {
        for agent in ["claude", "gemini", "codex", "opencode"] {
            fs::remove_file(self.path("bin").join(agent)).unwrap();
        }
    }

    /// Runs git in the project and returns what it prints.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@localhost"]).args(arguments);
        let ran = git.current_dir(self.path("project")).env("HOME", self.path("home")).output();
        let ran = ran.expect("git is here");
        assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    }

    pub(crate) fn write(&self, below: &str, text: &str) {
        fs::write(self.path(below), text).unwrap();
    }
}

/// Prints one line for each item, so that a log that folds long lines still shows why a call failed.
impl fmt::Debug for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?} {}\n{}", self.code, self.summary, self.stderr)?;
        self.history
            .iter()
            .chain(&self.replies)
            .chain(self.failed())
            .try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl Ran {
    /// Returns the kinds of all failures, in order.
    pub(crate) fn failures(&self) -> Vec<String> {
        let kinds = self.failed().filter_map(|failure| failure["kind"].as_str());
        kinds.map(str::to_owned).collect()
    }

    fn failed(&self) -> impl Iterator<Item = &Value> {
        self.history.iter().filter_map(|line| line.pointer("/event/done/outcome/failed"))
    }

    /// Returns how the skill was used in every trial.
    pub(crate) fn skills(&self) -> Vec<&str> {
        let ran = self.history.iter().filter_map(|line| line.pointer("/event/done/outcome/exercised"));
        ran.map(|outcome| outcome["skill"].as_str().unwrap_or("nothing")).collect()
    }
}

fn lines(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Runs a few cases at a time: one by one takes too long, and all at once too much memory.
pub(crate) fn several<T: Copy + Sync>(cases: &[T], check: impl Fn(T) + Sync) {
    let rest = Mutex::new(cases.iter().copied());
    let next = || rest.lock().unwrap().next();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(case) = next() {
                    check(case);
                }
            });
        }
    });
}
