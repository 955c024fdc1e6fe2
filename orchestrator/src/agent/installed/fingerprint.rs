//! The fingerprint of an agent: everything that affects its answers. The portable one has no path of its machine, so that
//! equal installations on two machines have equal ones.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use skilltune_phases::base::role::Rights;
use skilltune_phases::runs::plan::Fingerprint;
use skilltune_phases::skills::keys;

use super::super::command::{AgentSettings, EnvSettings};
use super::super::real::Real;
use super::{Agent, AgentKind, script};
use crate::disk;

/// A larger file is identified by its size, and on its own machine also by its modification time.
const SCRIPT_BYTES: u64 = 1 << 20;

/// The machines on which a fingerprint is compared.
#[derive(Clone, Copy)]
enum ComparedOn<'a> {
    OneMachine,
    /// With the version of an agent that needs no settings. Without a version, its program decides.
    AllMachines(Option<&'a str>),
}

use ComparedOn::{AllMachines, OneMachine};

impl Agent {
    /// Returns everything that affects the agent's answers: model, settings, program, the scripts that its command
    /// runs, and its wrappers.
    pub fn fingerprint(&self) -> Fingerprint {
        self.parts(OneMachine)
    }

    /// Like [`Agent::fingerprint`], for other machines. `version` is the version of an agent that needs no settings;
    /// without one, its program decides.
    pub fn portable_fingerprint(&self, version: Option<&str>) -> Fingerprint {
        self.parts(AllMachines(version))
    }

    fn parts(&self, machines: ComparedOn<'_>) -> Fingerprint {
        if let Some(there) = &self.elsewhere {
            return there.fingerprint.clone();
        }
        let mut parts = Fingerprint::default();
        parts.add("model", self.model.as_deref().unwrap_or_default().as_bytes());
        match (&self.kind, machines) {
            (AgentKind::Real(_), AllMachines(Some(version))) => parts.add("version", version.as_bytes()),
            (AgentKind::BuiltIn(_), AllMachines(_)) => {
                parts.add("version", env!("CARGO_PKG_VERSION").as_bytes());
            }
            (_, OneMachine | AllMachines(_)) => machines.add_files(&mut parts, "program", [&self.program]),
        }
        match &self.kind {
            AgentKind::Command(settings) => {
                let text = match machines {
                    OneMachine => serde_json::to_vec(settings),
                    AllMachines(_) => serde_json::to_vec(&self.portable(settings)),
                };
                parts.add("settings", &text.expect("settings have a JSON text"));
                machines.add_files(&mut parts, "script", scripts(&settings.command, &self.written()));
            }
            AgentKind::BuiltIn(hidden_arg) => parts.add("arguments", hidden_arg.as_bytes()),
            AgentKind::Real(real) => {
                let wrapper = self.via.as_ref().map(|through| &through.program);
                machines.add_files(&mut parts, "wrapper", wrapper);
                self.add_real(*real, &mut parts);
            }
        }
        if let Some(wrap) = &self.wrap {
            let (words, script) = match machines {
                OneMachine => (wrap.words()[1..].to_vec(), "script"),
                AllMachines(_) => (self.portable_arguments(wrap.words()), "script of the wrapper"),
            };
            machines.add_files(&mut parts, "wrapper", [wrap.program()]);
            parts.add("arguments of the wrapper", words.join("\0").as_bytes());
            machines.add_files(&mut parts, script, scripts(wrap.words(), &[]));
        }
        parts
    }

    fn add_real(&self, real: Real, parts: &mut Fingerprint) {
        parts.add("isolation", self.isolation.word().as_bytes());
        let (mut arguments, mut settings) = (Vec::new(), Vec::new());
        // `Build` gives the same arguments and settings as `Shell`.
        let all = Rights::ALL.into_iter().filter(|rights| *rights != Rights::Build);
        for (rights, skills) in all.flat_map(|rights| [(rights, false), (rights, true)]) {
            arguments.extend((real.profile().arguments)(&self.ask(rights, skills)));
            settings.extend(self.agent_files(rights, skills, "").into_iter().map(|fitting| fitting.text));
        }
        settings.extend((real.profile().composed)(&self.env, None).into_iter().map(|(_, value)| value));
        parts.add("arguments", arguments.join("\0").as_bytes());
        parts.add("settings", settings.join("\0").as_bytes());
        // A different service gives different answers.
        let service = self.env.get(real.profile().service).map(String::as_bytes);
        parts.add("service", service.unwrap_or_default());
    }

    /// Returns the places that a command writes, whose files are not its scripts.
    fn written(&self) -> Vec<PathBuf> {
        self.keeps(Rights::Work).into_iter().map(PathBuf::from).collect()
    }

    /// Returns the settings without the places and the keys of this machine.
    fn portable(&self, settings: &AgentSettings) -> AgentSettings {
        let EnvSettings { pass, set } = &settings.env;
        let keys = keys::of_environment(set);
        let value = |value: &String| {
            keys.iter().fold(self.without_home(value), |value, key| value.replace(key.as_str(), ""))
        };
        let set = set.iter().map(|(name, text)| (name.clone(), value(text))).collect();
        AgentSettings {
            command: self.portable_arguments(&settings.command),
            env: EnvSettings { pass: pass.clone(), set },
            writes: settings.writes.as_ref().map(|_| Vec::new()),
            ..settings.clone()
        }
    }

    /// Returns the arguments of a command without keys and places. The program is another part.
    fn portable_arguments(&self, command: &[String]) -> Vec<String> {
        keys::without_keys_in_arguments(command).iter().skip(1).map(|word| self.word(word)).collect()
    }

    /// Returns a word of a command, in which an existing file has only its name.
    fn word(&self, word: &str) -> String {
        let at = if word.starts_with('/') { 0 } else { word.find('=').map_or(word.len(), |at| at + 1) };
        let (before, path) = (&word[..at], Path::new(&word[at..]));
        if path.is_absolute() && path.is_file() {
            format!("{before}{}", file_name(path).display())
        } else {
            self.without_home(word)
        }
    }

    /// Returns a text with `~` for the home.
    fn without_home(&self, text: &str) -> String {
        match self.env.get("HOME").filter(|home| !home.is_empty()) {
            Some(home) if text == home => "~".to_owned(),
            Some(home) => text.replace(&format!("{home}/"), "~/"),
            None => text.to_owned(),
        }
    }
}

impl ComparedOn<'_> {
    /// Adds files by their paths, or by their names for other machines: files of the same name are one part.
    fn add_files(
        self,
        parts: &mut Fingerprint,
        part: &str,
        files: impl IntoIterator<Item = impl AsRef<Path>>,
    ) {
        let mut all = BTreeMap::<String, Vec<u8>>::new();
        for file in files {
            let (file, content) = (file.as_ref(), self.content(file.as_ref()));
            match self {
                OneMachine => _ = all.insert(format!("{part} {}", file.display()), content),
                AllMachines(_) => {
                    all.entry(format!("{part} {}", file_name(file).display())).or_default().extend(content);
                }
            }
        }
        for (part, content) in all {
            parts.add(part, &content);
        }
    }

    /// Returns what a path adds: of anything but a file, nothing.
    fn content(self, path: &Path) -> Vec<u8> {
        let Some(meta) = fs::metadata(path).ok().filter(Metadata::is_file) else { return Vec::new() };
        if meta.len() <= SCRIPT_BYTES {
            return disk::read(path, SCRIPT_BYTES).unwrap_or_default();
        }
        match self {
            OneMachine => format!("{} {:?}", meta.len(), meta.modified().ok()).into_bytes(),
            AllMachines(_) => meta.len().to_string().into_bytes(),
        }
    }
}

/// Returns the files that a command runs, by their type: an argument may also name a log. A relative path would be a
/// file of the workspace.
fn scripts(command: &[String], written: &[PathBuf]) -> Vec<PathBuf> {
    let named = command[1..].iter().flat_map(|argument| {
        let value = argument.split_once('=').map(|(_, value)| value);
        std::iter::once(argument.as_str()).chain(value).map(PathBuf::from)
    });
    let is_script = |path: &PathBuf| path.is_absolute() && script::is_run(path);
    named.filter(is_script).filter(|path| !written.iter().any(|place| path.starts_with(place))).collect()
}

fn file_name(path: &Path) -> &Path {
    path.file_name().map_or(path, Path::new)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use skilltune_phases::runs::plan::Isolation;

    use super::*;
    use crate::agent::{Via, Wrap};

    /// A machine with its own place for a command and its script, and its own home.
    struct Machine {
        root: tempfile::TempDir,
    }

    impl Machine {
        fn new() -> Self {
            let machine = Self { root: tempfile::tempdir().unwrap() };
            for (file, text) in [("agent", "#!/bin/sh\n"), ("agent.py", "one"), ("notes.txt", "n")] {
                machine.write(file, text);
            }
            machine
        }

        fn path(&self, file: &str) -> PathBuf {
            self.root.path().join(file)
        }

        fn write(&self, file: &str, text: &str) {
            fs::write(self.path(file), text).unwrap();
        }

        fn ambient(&self) -> BTreeMap<String, String> {
            BTreeMap::from([("HOME".to_owned(), self.path("home").to_str().unwrap().to_owned())])
        }

        fn agent(&self, change: impl FnOnce(&mut Value)) -> Agent {
            let [agent, script, notes, home] =
                ["agent", "agent.py", "notes.txt", "home"].map(|file| self.path(file));
            let mut settings = json!({
                "command": [agent, script, format!("--notes={}", notes.display()), home.join("data"), "{model}"],
                "env": { "set": { "DATA": home.join("more"), "API_KEY": self.path("a-key-of-its-own") } },
                "writes": [self.path("logs")],
            });
            change(&mut settings);
            let settings = serde_json::from_value(settings).unwrap();
            Agent::new("mine", Some("large".into()), settings, agent, &self.ambient())
        }

        fn real(&self, name: &str) -> Agent {
            let real = Real::named(name).unwrap();
            Agent::real(real, Some("large".into()), self.path("agent"), &self.ambient())
        }

        fn wrap(&self) -> Wrap {
            let [program, script, home] = ["agent", "agent.py", "home/x"].map(|file| self.path(file));
            let words = [&program, &script, &home].map(|path| path.to_str().unwrap().to_owned());
            Wrap::new(words.into(), program, &self.path("home"))
        }
    }

    fn of(agent: &Agent) -> Fingerprint {
        agent.portable_fingerprint(Some("1.2.3"))
    }

    #[test]
    fn equal_installations_on_two_machines_have_equal_fingerprints() {
        let (one, other) = (Machine::new(), Machine::new());
        assert_ne!(one.agent(|_| ()).fingerprint(), other.agent(|_| ()).fingerprint());
        let agents = |machine: &Machine| {
            let mut all: Vec<Agent> = Real::ALL.into_iter().map(|real| machine.real(real.name())).collect();
            all.push(machine.real("claude").isolated(Isolation::User));
            all.push(machine.real("claude").through(Via::Ccw, machine.path("agent")));
            all.push(machine.real("claude").wrapped(machine.wrap()));
            all.extend([machine.agent(|_| ()), machine.agent(|_| ()).wrapped(machine.wrap())]);
            all.push(Agent::built_in(machine.path("agent"), "offline", &machine.ambient()));
            all
        };
        for (here, there) in agents(&one).iter().zip(&agents(&other)) {
            assert_eq!(of(here), of(there), "{}", here.name);
            // Without a version, the programs are compared.
            assert_eq!(here.portable_fingerprint(None), there.portable_fingerprint(None), "{}", here.name);
        }
    }

    #[test]
    fn no_part_names_a_place() {
        let machine = Machine::new();
        for agent in
            [machine.agent(|_| ()).wrapped(machine.wrap()), machine.real("codex").wrapped(machine.wrap())]
        {
            let text = serde_json::to_string(&agent.portable_fingerprint(None)).unwrap();
            assert!(!text.contains('/'), "{text}");
        }
    }

    #[test]
    fn every_change_of_the_answers_is_named_by_its_part() {
        let machine = Machine::new();
        let before = of(&machine.agent(|_| ()));
        let settings = |change: fn(&mut Value)| before.changed(&of(&machine.agent(change)));
        assert_eq!(settings(|settings| settings["command"][4] = "{workspace}".into()), ["settings"]);
        assert_eq!(settings(|settings| settings["env"]["set"]["DATA"] = "/other".into()), ["settings"]);
        assert!(settings(|settings| settings["env"]["set"]["API_KEY"] = "another-key".into()).is_empty());
        let small = Agent { model: Some("small".into()), ..machine.agent(|_| ()) };
        assert_eq!(before.changed(&of(&small)), ["model"]);
        machine.write("notes.txt", "A command reads its own notes: they are no script.");
        assert_eq!(before, of(&machine.agent(|_| ())));
        machine.write("agent.py", "two");
        assert_eq!(before.changed(&of(&machine.agent(|_| ()))), ["script agent.py"]);
        let before = of(&machine.agent(|_| ()).wrapped(machine.wrap()));
        machine.write("agent.py", "three");
        let after = of(&machine.agent(|_| ()).wrapped(machine.wrap()));
        assert_eq!(before.changed(&after), ["script agent.py", "script of the wrapper agent.py"]);
    }

    #[test]
    fn a_real_agent_is_known_by_its_version_and_its_world() {
        let machine = Machine::new();
        let before = of(&machine.real("claude"));
        assert_eq!(before.changed(&machine.real("claude").portable_fingerprint(Some("1.2.4"))), ["version"]);
        machine.write("agent", "Another build of the same version.");
        assert_eq!(before, of(&machine.real("claude")));
        let user = before.changed(&of(&machine.real("claude").isolated(Isolation::User)));
        assert!(user.contains(&"isolation".to_owned()), "{user:?}");
        let mut ambient = machine.ambient();
        ambient.insert("ANTHROPIC_BASE_URL".to_owned(), "http://elsewhere".to_owned());
        let other = Agent::real(Real::named("claude").unwrap(), Some("large".into()), "/x".into(), &ambient);
        assert_eq!(before.changed(&of(&other)), ["service"]);
    }

    #[test]
    fn of_a_large_program_only_the_size_counts() {
        let (one, other) = (Machine::new(), Machine::new());
        let large = |machine: &Machine, more: u64| {
            let file = fs::File::options().write(true).open(machine.path("agent")).unwrap();
            file.set_len(SCRIPT_BYTES + more).unwrap();
            of(&machine.agent(|_| ()))
        };
        let first = large(&one, 1);
        assert_eq!(first, large(&other, 1));
        assert_eq!(first.changed(&large(&other, 2)), ["program agent"]);
    }
}
