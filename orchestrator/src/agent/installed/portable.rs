//! The fingerprint of an agent without any path of its machine: equal installations on two machines have equal ones.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use skilltune_phases::runs::plan::Fingerprint;
use skilltune_phases::skills::keys;

use super::super::command::{AgentSettings, EnvSettings};
use super::{Agent, AgentKind, SCRIPT_BYTES, Through, Wrap, contents, named, scripts, written};

impl Agent {
    /// Like [`Agent::fingerprint`], for other machines. `version` is the version of an agent that needs no settings;
    /// without one, its program decides.
    pub fn portable_fingerprint(&self, version: Option<&str>) -> Fingerprint {
        if let Some(there) = &self.elsewhere {
            return there.fingerprint.clone();
        }
        let mut parts = Fingerprint::default();
        parts.add("model", self.model.as_deref().unwrap_or_default().as_bytes());
        match &self.kind {
            AgentKind::Command(settings) => {
                add_files(&mut parts, "program", [self.program.as_path()]);
                let text = serde_json::to_vec(&self.portable(settings)).expect("settings have a JSON text");
                parts.add("settings", &text);
                let scripts = scripts(&settings.command, &written(self));
                add_files(&mut parts, "script", scripts.iter().map(AsRef::as_ref));
            }
            AgentKind::BuiltIn(hidden_arg) => {
                parts.add("version", env!("CARGO_PKG_VERSION").as_bytes());
                parts.add("arguments", hidden_arg.as_bytes());
            }
            AgentKind::Real(real) => {
                match version {
                    Some(version) => parts.add("version", version.as_bytes()),
                    None => add_files(&mut parts, "program", [self.program.as_path()]),
                }
                let wrapper = self.via.as_ref().map(|Through { program, .. }| program.as_path());
                add_files(&mut parts, "wrapper", wrapper);
                self.add_real(*real, &mut parts);
            }
        }
        if let Some(wrap) = &self.wrap {
            self.add_wrap(wrap, &mut parts);
        }
        parts
    }

    fn add_wrap(&self, wrap: &Wrap, parts: &mut Fingerprint) {
        add_files(parts, "wrapper", [wrap.program()]);
        parts.add("arguments of the wrapper", self.words(wrap.words()).join("\0").as_bytes());
        let scripts = scripts(wrap.words(), &[]);
        add_files(parts, "script of the wrapper", scripts.iter().map(AsRef::as_ref));
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
            command: self.words(&settings.command),
            env: EnvSettings { pass: pass.clone(), set },
            writes: settings.writes.as_ref().map(|_| Vec::new()),
            ..settings.clone()
        }
    }

    /// Returns the arguments of a command. The program is another part.
    fn words(&self, command: &[String]) -> Vec<String> {
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

/// Adds files by their names. Files of the same name are one part.
fn add_files<'a>(parts: &mut Fingerprint, part: &str, files: impl IntoIterator<Item = &'a Path>) {
    let mut all = BTreeMap::<String, Vec<u8>>::new();
    for file in files {
        all.entry(named(part, file_name(file))).or_default().extend(contents_anywhere(file));
    }
    for (part, content) in all {
        parts.add(part, &content);
    }
}

/// Returns what a file adds: of a large one only its size, because each machine has another time of its installation.
fn contents_anywhere(file: &Path) -> Vec<u8> {
    match fs::metadata(file) {
        Ok(meta) if meta.is_file() && meta.len() > SCRIPT_BYTES => meta.len().to_string().into_bytes(),
        Ok(_) | Err(_) => contents(file),
    }
}

fn file_name(path: &Path) -> &Path {
    path.file_name().map_or(path, Path::new)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::{Value, json};
    use skilltune_phases::runs::plan::Isolation;

    use super::*;
    use crate::agent::{Real, Via};

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
