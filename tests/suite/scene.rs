//! The world of one end-to-end test: a home, a project and a script.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::finished::Finished;

pub(crate) const SKILLTUNE: &str = env!("CARGO_BIN_EXE_skilltune");
pub(crate) const FAKE_AGENT: &str = env!("CARGO_BIN_EXE_fake-agent");

pub(crate) struct Scene {
    pub(crate) root: Arc<TempDir>,
    /// Gets the folder back for the next test, if tests share it.
    pub(crate) origin: Option<&'static Finished>,
}

impl Drop for Scene {
    fn drop(&mut self) {
        if let Some(origin) = self.origin {
            origin.give_back(Arc::clone(&self.root));
        }
    }
}

impl Scene {
    /// Creates a project with the named skills, each of the given quality, and agents that follow the script.
    pub(crate) fn new(skills: &[(&str, u32)], script: &Value) -> Self {
        Self::empty().filled(skills, script)
    }

    /// Like `new`, but on disk, for agents whose wrapper gives them their own `/dev`.
    pub(crate) fn on_disk(skills: &[(&str, u32)], script: &Value) -> Self {
        Self::below(&std::env::temp_dir()).filled(skills, script)
    }

    /// Like `new`, in a folder of this name, so that results that depend on paths are the same each time.
    pub(crate) fn named(name: &str, skills: &[(&str, u32)], script: &Value) -> Self {
        Self::made(tempfile::Builder::new().prefix(name).rand_bytes(0).tempdir_in(folder()))
            .filled(skills, script)
    }

    fn filled(self, skills: &[(&str, u32)], script: &Value) -> Self {
        for (name, quality) in skills {
            self.write_skill(name, *quality);
        }
        self.write_script(script);
        self.write_settings("");
        self
    }

    /// Creates an empty home and project.
    pub(crate) fn empty() -> Self {
        Self::below(&folder())
    }

    /// Creates a scene with a short path, which leaves room in lines that tests measure.
    fn below(folder: &Path) -> Self {
        Self::made(tempfile::Builder::new().prefix("").rand_bytes(5).tempdir_in(folder))
    }

    fn made(root: io::Result<TempDir>) -> Self {
        let scene = Self { root: Arc::new(root.expect("a temporary folder can be made")), origin: None };
        for folder in ["home", "config/skilltune", "state", "cache", "project/.git"] {
            fs::create_dir_all(scene.path(folder)).expect("made in our own folder");
        }
        scene
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root.path().canonicalize().expect("the root is there").join(below)
    }

    pub(crate) fn skill(&self, name: &str) -> PathBuf {
        self.path("project/.claude/skills").join(name)
    }

    pub(crate) fn write_skill(&self, name: &str, quality: u32) {
        let folder = self.skill(name);
        fs::create_dir_all(folder.join("references")).expect("made in our own folder");
        let page = format!(
            "---\nname: {name}\ndescription: Writes a page for tests. Use it in tests.\n---\n\n# {name}\n\nQuality: {quality}\n\nSee references/style.md.\n"
        );
        fs::write(folder.join("SKILL.md"), page).expect("written in our own folder");
        fs::write(folder.join("references/style.md"), "Be brief.\n").expect("written in our own folder");
    }

    /// Writes the script; its fields override the defaults of all tests.
    pub(crate) fn write_script(&self, script: &Value) {
        let mut whole = json!({
            "log": self.path("calls.log"), "lucky_file": self.path("lucky"), "linger": self.path("linger"),
        });
        let fields = script.as_object().expect("a script is an object");
        whole.as_object_mut().expect("an object").extend(fields.clone());
        fs::write(self.path("script.json"), whole.to_string()).expect("written in our own folder");
    }

    /// Writes the user's settings: one agent for each role, a champion that is applied even on weak evidence, and the
    /// test's own settings.
    pub(crate) fn write_settings(&self, more: &str) {
        let agent = |role: &str| {
            format!(
                "[agents.{role}]\ncommand = [{:?}, {role:?}, {:?}]\n\n",
                FAKE_AGENT,
                self.path("script.json").display().to_string()
            )
        };
        let roles =
            "[roles]\nexecutor = \"executor\"\nevaluator = \"evaluator\"\nimprover = \"improver\"\n\n";
        let tune = "[tune]\napply = \"auto\"\n";
        let more = match more {
            _ if more.contains("apply = ") => more.to_owned(),
            _ if more.contains("[tune]\n") => more.replace("[tune]\n", tune),
            _ => [more, "\n", tune].concat(),
        };
        let text = [&more, "\n", roles, &agent("executor"), &agent("evaluator"), &agent("improver")].concat();
        fs::write(self.path("config/skilltune/skilltune.toml"), text).expect("written in our own folder");
    }

    /// Removes the setting that says when to apply a champion.
    pub(crate) fn leave_apply_unset(&self) {
        let path = self.path("config/skilltune/skilltune.toml");
        let text = fs::read_to_string(&path).expect("the settings were written");
        fs::write(&path, text.replace("apply = \"auto\"\n", "")).expect("written in our own folder");
    }

    /// Runs git in the project.
    pub(crate) fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@localhost"]).args(arguments);
        git.current_dir(self.path("project")).env("HOME", self.path("home")).env("GIT_CONFIG_NOSYSTEM", "1");
        let ran = git.output().expect("git is here");
        assert!(ran.status.success(), "{arguments:?}: {ran:?}");
    }

    /// Commits all files of the project.
    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    /// Returns a command for our binary in this scene, without the machine's own environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.command_of(SKILLTUNE, &[], arguments)
    }

    /// Like `command`, for another program, which can have its own arguments.
    pub(crate) fn command_of(&self, program: &str, own: &[&str], arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(own)
            .args(arguments)
            .current_dir(self.path("project"))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().expect("our binary starts"))
    }

    /// Like `run`, after a shell has set limits.
    pub(crate) fn run_limited(&self, limits: &str, arguments: &[&str]) -> Ran {
        let limited = format!("{limits}; exec \"$0\" \"$@\"");
        let mut command = self.command_of("/bin/sh", &["-c", &limited, SKILLTUNE], arguments);
        Ran::of(command.output().expect("a shell starts"))
    }

    /// Returns our binary where the kernel grants no namespaces, and where root without the right to trace is like any
    /// other user. Returns `None` where namespaces cannot be disabled: there are none, or it is unknown.
    pub(crate) fn command_without_namespaces(&self, arguments: &[&str]) -> Option<Command> {
        let none = "echo 0 > /proc/sys/user/max_user_namespaces && \
                    exec setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace \"$@\"";
        let wrapper = ["--user", "--map-root-user", "sh", "-c", none, "sh"];
        if !Command::new("unshare").args(wrapper).arg("true").status().is_ok_and(|status| status.success()) {
            eprintln!("SKIPPED: namespaces cannot be taken away here");
            return None;
        }
        Some(self.command_of("unshare", &[&wrapper[..], &[SKILLTUNE]].concat(), arguments))
    }

    /// Lists everything in this scene: project, home, settings, state and cache.
    pub(crate) fn everything(&self) -> Listing {
        listing(&self.path(""))
    }

    /// Returns the binary's message when it refuses; it must have written nothing and printed no data.
    pub(crate) fn refusal(&self, arguments: &[&str]) -> String {
        let before = self.everything();
        let ran = self.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}: {ran:?}");
        assert_eq!(self.everything(), before, "{arguments:?} has written something");
        self.normalized(&ran.stderr)
    }

    /// Returns the text without parts that differ between scenes: the folder, run ids, hashes.
    pub(crate) fn normalized(&self, text: &str) -> String {
        let root = self.path("").to_str().expect("the path is text").trim_end_matches('/').to_owned();
        let ids = self.run_folders();
        let ids = ids.iter().filter_map(|folder| folder.file_name()?.to_str());
        let text = ids.fold(text.replace(&root, ""), |text, id| text.replace(id, "RUN"));
        text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()).map(without_digest).collect()
    }

    /// Runs `tune SKILLS a scenario --yes` with the test's own arguments.
    pub(crate) fn tune(&self, skills: &str, more: &[&str]) -> Ran {
        self.run(&[&["tune", skills, "write a page", "--yes", "--format", "json"], more].concat())
    }

    /// Returns the run's folder if there is exactly one.
    pub(crate) fn run_folder(&self) -> PathBuf {
        let mut runs = self.run_folders();
        assert_eq!(runs.len(), 1, "one run is expected");
        runs.remove(0)
    }

    /// Returns the run's id if there is exactly one.
    pub(crate) fn run_id(&self) -> String {
        let folder = self.run_folder();
        folder.file_name().and_then(|name| name.to_str()).expect("an id is text").to_owned()
    }

    pub(crate) fn run_folders(&self) -> Vec<PathBuf> {
        let Ok(runs) = fs::read_dir(self.path("project/.skilltune/runs")) else { return Vec::new() };
        let folders = runs.map(|run| run.expect("readable").path());
        // A run begins with its journal: a folder without one was just created by a killed program.
        folders.filter(|folder| folder.join("history.jsonl").exists()).collect()
    }

    pub(crate) fn state(&self) -> Value {
        let text = fs::read(self.run_folder().join("iteration-state.json")).expect("the state is there");
        serde_json::from_slice(&text).expect("the state is JSON")
    }

    /// Returns the journal's events of one kind, without times and costs, which differ between runs.
    pub(crate) fn events(&self, kind: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.run_folder().join("history.jsonl")).expect("the journal is there");
        let events = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line is JSON"));
        events.filter_map(|line| line["event"].get(kind).cloned()).map(without_costs).collect()
    }

    /// Returns the prompts of the run.
    pub(crate) fn prompts(&self) -> Vec<String> {
        let calls = fs::read_dir(self.run_folder().join("agents")).unwrap();
        let files = calls.map(|call| call.unwrap().path().join("prompt.md"));
        files.filter_map(|file| fs::read_to_string(file).ok()).collect()
    }

    /// Returns how often each call has begun and how often it has answered.
    pub(crate) fn calls(&self) -> HashMap<String, (usize, usize)> {
        let log = fs::read_to_string(self.path("calls.log")).unwrap_or_default();
        let mut calls = HashMap::<String, (usize, usize)>::new();
        for line in log.lines() {
            let mut words = line.split(' ');
            let (what, call) = (words.next().expect("a word"), words.next().expect("a call"));
            let (begun, answered) = calls.entry(call.to_owned()).or_default();
            match what {
                "start" => *begun += 1,
                "answer" => *answered += 1,
                "linger" => {}
                other => panic!("no agent logs {other}"),
            }
        }
        calls
    }

    /// Returns the number of agents that kept running after their answer.
    pub(crate) fn lingering(&self) -> usize {
        let log = fs::read_to_string(self.path("calls.log")).unwrap_or_default();
        log.lines().filter(|line| line.starts_with("linger ")).count()
    }

    pub(crate) fn answered(&self) -> usize {
        self.calls().values().map(|(_, answered)| answered).sum()
    }

    /// Returns all live processes started in this scene: skilltune, guardians, agents and their children. They are
    /// found by their environment or their working directory.
    pub(crate) fn alive(&self) -> Vec<u32> {
        let root = self.path("");
        let needle = root.as_os_str().as_encoded_bytes();
        processes(|pid, environment| {
            let stands = fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(&root));
            stands || environment.windows(needle.len()).any(|part| part == needle)
        })
    }

    pub(crate) fn quality(&self, name: &str) -> u32 {
        let page = fs::read_to_string(self.skill(name).join("SKILL.md")).expect("the skill has its page");
        let line =
            page.lines().find_map(|line| line.strip_prefix("Quality: ")).expect("it states its quality");
        line.parse().expect("a number")
    }
}

/// Returns the folder for scenes: `/dev/shm` if it has room and can run programs. On a real disk every durable step
/// would wait, and no test cuts the power.
fn folder() -> PathBuf {
    const ROOM: u64 = 2 << 30;
    let memory = Path::new("/dev/shm");
    let usable = rustix::fs::statvfs(memory).is_ok_and(|stat| {
        stat.f_bavail * stat.f_frsize >= ROOM && !stat.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC)
    });
    if usable && tempfile::tempfile_in(memory).is_ok() { memory.to_owned() } else { std::env::temp_dir() }
}

/// Masks a digest in a word, keeping the characters that end it.
fn without_digest(word: &str) -> String {
    let (hex, end) = word.split_at(word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).len());
    let is_digest = hex.len() == 12 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_digest { format!("HASH{end}") } else { word.to_owned() }
}

/// Returns the text without times of day.
pub(crate) fn without_moments(text: &str) -> String {
    let parts: Vec<&str> = text.split(" UTC").collect();
    let (last, before) = parts.split_last().expect("a text has a part");
    let masked = before.iter().map(|part| match part.len().checked_sub("2026-11-22 15:40:24".len()) {
        Some(at) if part.is_char_boundary(at) && part[at..].starts_with("20") => {
            format!("{}MOMENT", &part[..at])
        }
        _ => format!("{part} UTC"),
    });
    masked.chain([(*last).to_owned()]).collect()
}

/// Returns the text of a table with one gap between its columns, whatever their widths.
pub(crate) fn without_padding(table: &str) -> String {
    let cells = |line: &str| {
        let cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
        cells.collect::<Vec<_>>().join("  ")
    };
    table.lines().map(cells).collect::<Vec<_>>().join("\n")
}

fn without_costs(mut event: Value) -> Value {
    if let Some(fields) = event.as_object_mut() {
        fields.remove("spent");
    }
    event
}

/// The exit code and output of the binary.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("our output is text"),
            stderr: String::from_utf8(output.stderr).expect("our output is text"),
        }
    }

    /// Returns the object at the end of stdout.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|_| panic!("no object on stdout: {self:?}"))
    }
}

/// All entries of a folder: names, kinds, modes, bytes.
pub(crate) type Listing = Vec<(PathBuf, u32, Vec<u8>)>;

pub(crate) fn listing(folder: &Path) -> Listing {
    use std::os::unix::fs::PermissionsExt;
    let mut all = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).expect("readable") {
            let path = entry.expect("readable").path();
            let meta = path.symlink_metadata().expect("it is there");
            let bytes = if meta.is_file() { fs::read(&path).expect("readable") } else { Vec::new() };
            if meta.is_dir() {
                open.push(path.clone());
            }
            let name = path.strip_prefix(folder).expect("below it").to_owned();
            all.push((name, meta.permissions().mode(), bytes));
        }
    }
    all.sort();
    all
}

/// Returns the processes that carry a run's marker: there must be none once the run is over.
pub(crate) fn survivors(run_id: &str) -> Vec<u32> {
    let marker = format!("SKILLTUNE_RUN={run_id}-");
    let bears = |entry: &[u8]| entry.starts_with(marker.as_bytes());
    processes(|_, environment| environment.split(|&byte| byte == 0).any(bears))
}

fn processes(chosen: impl Fn(u32, &[u8]) -> bool) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("this is Linux").flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|&pid| chosen(pid, &fs::read(format!("/proc/{pid}/environ")).unwrap_or_default()))
        .collect()
}
