//! A wrapper of the user's choice around the calls of agents: a container, bubblewrap, a vendor's sandbox.
//!
//! Its words come before the agent's own. It decides what an agent can read and write: within Landlock it could not
//! mount, so skilltune does not confine its calls.

use std::path::{Path, PathBuf};

use super::super::command::{Slots, filled};

/// A wrapper, installed on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrap {
    words: Vec<String>,
    program: PathBuf,
    home: PathBuf,
}

const WORKSPACE: &str = "{workspace}";
const TEMP: &str = "{temp}";
const PROMPT_FOLDER: &str = "{prompt_folder}";
const HOME: &str = "{home}";

impl Wrap {
    pub const PLACEHOLDERS: [&str; 4] = [WORKSPACE, TEMP, PROMPT_FOLDER, HOME];

    /// `program` is the path of the first word.
    pub fn new(words: Vec<String>, program: PathBuf, home: &Path) -> Self {
        Self { words, program, home: home.to_owned() }
    }

    /// Returns the first unknown placeholder in a word. Braces around anything but a name are ignored.
    pub fn unknown_placeholder(word: &str) -> Option<&str> {
        let named = word.match_indices('{').filter_map(|(open, _)| {
            let close = open + word[open..].find('}')?;
            let name = &word[open + 1..close];
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
            is_name.then(|| &word[open..=close])
        });
        { named }.find(|name| !Self::PLACEHOLDERS.contains(name))
    }

    pub(super) fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns the name of the wrapper's program, for reports.
    pub fn name(&self) -> String {
        let name = self.program.file_name().unwrap_or(self.program.as_os_str());
        name.to_string_lossy().into_owned()
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Returns the words before the agent's own program.
    pub(super) fn argv(&self, slots: Slots<'_>) -> Vec<String> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let prompt_folder = slots.prompt_file.parent().unwrap_or(slots.prompt_file);
        let values = [
            (WORKSPACE, text(slots.workspace)),
            (TEMP, text(slots.temp)),
            (PROMPT_FOLDER, text(prompt_folder)),
            (HOME, text(&self.home)),
        ];
        let values: Vec<_> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let arguments = self.words[1..].iter().map(|word| filled(word, &values));
        std::iter::once(text(&self.program)).chain(arguments).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use skilltune_phases::base::role::Rights;
    use skilltune_phases::runs::plan::Enforced;

    use super::*;
    use crate::agent::{Agent, AgentSettings, Real, Via};

    const SLOTS: [&str; 3] = ["/call/space", "/call/tmp", "/run/agents/1/prompt.md"];

    fn argv(agent: &Agent) -> Vec<String> {
        let [workspace, temp, prompt_file] = SLOTS.map(Path::new);
        agent.argv(Slots {
            rights: Rights::Read,
            workspace,
            temp,
            prompt_file,
            skills: false,
            usd: None,
            schema: None,
        })
    }

    fn wrap(words: &[&str]) -> Wrap {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Wrap::new(words, "/usr/bin/box".into(), Path::new("/home/{temp}"))
    }

    fn command() -> Agent {
        let command = vec!["mine".to_owned(), "{workspace}".to_owned()];
        let settings = AgentSettings { command, writes: Some(Vec::new()), ..AgentSettings::default() };
        Agent::new("mine", None, settings, "/bin/mine".into(), &BTreeMap::new())
    }

    fn claude() -> Agent {
        Agent::real(Real::named("claude").unwrap(), None, "/bin/claude".into(), &BTreeMap::new())
    }

    #[test]
    fn its_words_come_first_and_nothing_that_is_filled_in_is_read_again() {
        let wrap =
            wrap(&["box", "-v", "{workspace}:{workspace}", "{temp}", "{prompt_folder}", "{home}/x", "--"]);
        let words = "/usr/bin/box -v /call/space:/call/space /call/tmp /run/agents/1 /home/{temp}/x --";
        assert_eq!(
            argv(&command().wrapped(wrap.clone())).join(" "),
            format!("{words} /bin/mine /call/space")
        );
        let plain = argv(&claude());
        assert_eq!(argv(&claude().wrapped(wrap.clone()))[7..], plain);
        let via = || claude().through(Via::Ccw, "/bin/ccw".into());
        assert_eq!(argv(&via().wrapped(wrap.clone()))[7..], argv(&via()), "around the other wrapper");
        let built_in = || Agent::built_in("/bin/skilltune".into(), "offline", &BTreeMap::new());
        assert_eq!(argv(&built_in().wrapped(wrap)), argv(&built_in()), "it is ourselves");
    }

    #[test]
    fn another_wrapper_makes_another_agent_and_every_part_of_it_counts() {
        let root = tempfile::tempdir().unwrap();
        let script = root.path().join("box.sh");
        fs::write(&script, "exec \"$@\"").unwrap();
        let script = script.to_str().unwrap();
        let of = |words: &[&str]| command().wrapped(wrap(words)).fingerprint();
        let inside = of(&["sh", script]);
        assert_eq!(inside, of(&["sh", script]));
        let changed = inside.changed(&of(&["sh", script, "-x"]));
        assert_eq!(changed, ["arguments of the wrapper"]);
        fs::write(script, "exec env \"$@\"").unwrap();
        assert_eq!(inside.changed(&of(&["sh", script])), [format!("script {script}")]);
        let changed = command().fingerprint().changed(&inside);
        assert!(changed.contains(&"wrapper /usr/bin/box".to_owned()), "{changed:?}");
        assert_ne!(claude().fingerprint().digest(), claude().wrapped(wrap(&["box"])).fingerprint().digest());
    }

    #[test]
    fn the_system_enforces_nothing_around_it() {
        let enforced = |agent: &Agent| Rights::ALL.map(|rights| agent.enforced(rights, true));
        assert_eq!(enforced(&command()), [Enforced::System; 5]);
        assert_eq!(enforced(&command().wrapped(wrap(&["box"]))), [Enforced::Wrapper; 5]);
        // An agent without a sandbox does not control what its commands write.
        let kept = |rights: Rights| {
            if rights.has_shell() { Enforced::Wrapper } else { Enforced::WrapperAndAgent }
        };
        assert_eq!(enforced(&claude().wrapped(wrap(&["box"]))), Rights::ALL.map(kept));
        let via = claude().through(Via::Ccw, "/bin/ccw".into());
        assert_eq!(enforced(&via.wrapped(wrap(&["box"]))), [Enforced::Wrapper; 5]);
        assert!(Rights::ALL.into_iter().all(|rights| {
            let wrapped = claude().wrapped(wrap(&["box"])).enforced(rights, true);
            wrapped.by_wrapper() && !wrapped.by_system()
        }));
        let built_in = || Agent::built_in("/bin/x".into(), "offline", &BTreeMap::new());
        assert_eq!(enforced(&built_in().wrapped(wrap(&["box"]))), enforced(&built_in()));
    }

    #[test]
    fn a_placeholder_that_stands_for_nothing_is_found() {
        let unknown = Wrap::unknown_placeholder;
        assert_eq!(unknown("-v={workspace}:{work_space}"), Some("{work_space}"));
        assert_eq!(unknown("${HOME}/.claude"), Some("{HOME}"));
        assert_eq!(unknown("{{model}"), Some("{model}"));
        for word in ["{workspace}{temp}{prompt_folder}{home}", "{{.ID}}", "{\"a\": 1}", "{}", "{", "a{b"] {
            assert_eq!(unknown(word), None, "{word}");
        }
    }
}
