//! Agents of other machines, which workers call.
//!
//! A worker describes an agent of its own. From that the run makes an agent that answers like the worker's, without a
//! program and an environment here: nothing of a description is ever started.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skilltune_phases::base::role::Rights;
use skilltune_phases::runs::plan::{Fingerprint, Isolation};
use skilltune_phases::skills::offline;

use super::super::command::{AgentSettings, EnvSettings};
use super::super::profile::Env;
use super::super::real::Real;
use super::super::via::Via;
use super::{Agent, AgentKind, Wrap};

/// An agent that a run needs from a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    pub agent: String,
    pub model: Option<String>,
    pub isolation: Isolation,
    /// The wrapper to call an agent through that needs no settings.
    pub via: Option<String>,
    pub rights: Rights,
}

/// An agent as its worker describes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AgentFacts {
    pub name: String,
    pub model: Option<String>,
    pub kind: FactsKind,
    pub isolation: Isolation,
    /// The wrapper that it is called through, if any.
    pub via: Option<String>,
    /// The program of the user's own wrapper there, if any.
    pub wrap: Option<String>,
    /// Whether the system there may confine agents.
    pub confines: bool,
    /// The portable one.
    pub fingerprint: Fingerprint,
    /// The version of an agent that needs no settings, if known.
    pub version: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactsKind {
    /// A command from the worker's settings. Its words, its variables and its places stay there.
    Command(Box<AgentSettings>),
    BuiltIn,
    Real,
}

/// Why a description is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadFacts {
    #[error("its description is too large, or has control characters")]
    Form,
    #[error("its description names an unknown agent or wrapper")]
    Unknown,
    #[error("its description has a timeout that is not from 1 second to a week")]
    Timeout,
    #[error("its description is of another agent")]
    Other,
}

/// The most bytes of a text, and the most items of a list.
const TEXT: usize = 64 << 10;
const LIST: usize = 256;

/// The longest timeout in seconds.
const WEEK: u64 = 604_800;

impl Agent {
    /// Returns what another machine may know of this agent. `confines` is whether the system may confine agents.
    pub fn facts(&self, version: Option<&str>, confines: bool) -> AgentFacts {
        AgentFacts {
            name: self.name.clone(),
            model: self.model.clone(),
            kind: match &self.kind {
                AgentKind::Command(settings) => FactsKind::Command(Box::new(public(settings))),
                AgentKind::BuiltIn(_) => FactsKind::BuiltIn,
                AgentKind::Real(_) => FactsKind::Real,
            },
            isolation: self.isolation,
            via: self.via().map(|via| via.name().to_owned()),
            wrap: self.wrap().map(Wrap::name),
            confines,
            fingerprint: self.portable_fingerprint(version),
            version: version.map(str::to_owned),
        }
    }

    /// Returns an agent of another machine, which answers like the described one and cannot be started here.
    pub fn elsewhere(facts: AgentFacts) -> Result<Self, BadFacts> {
        if !is_bounded(&serde_json::to_value(&facts).expect("facts have a JSON form")) {
            return Err(BadFacts::Form);
        }
        let is_built_in = facts.name == offline::NAME;
        let kind = match &facts.kind {
            FactsKind::Command(settings) if !is_built_in => {
                if settings.timeout.is_some_and(|seconds| !(1..=WEEK).contains(&seconds)) {
                    return Err(BadFacts::Timeout);
                }
                AgentKind::Command(public(settings))
            }
            FactsKind::BuiltIn if is_built_in && facts.model.is_none() => AgentKind::BuiltIn(String::new()),
            FactsKind::Real => AgentKind::Real(Real::named(&facts.name).ok_or(BadFacts::Unknown)?),
            FactsKind::Command(_) | FactsKind::BuiltIn => return Err(BadFacts::Unknown),
        };
        let mut agent = Self::bare(facts.name.clone(), facts.model.clone(), PathBuf::new(), Env::new(), kind)
            .isolated(facts.isolation);
        if let Some(via) = &facts.via {
            agent = agent.through(Via::named(via).ok_or(BadFacts::Unknown)?, PathBuf::new());
        }
        if let Some(program) = &facts.wrap {
            agent = agent.wrapped(Wrap::new(Vec::new(), program.into(), Path::new("")));
        }
        Ok(Self { elsewhere: Some(Box::new(facts)), ..agent })
    }

    /// Whether the agent is one of another machine.
    pub fn is_elsewhere(&self) -> bool {
        self.elsewhere.is_some()
    }

    /// Returns the version that a worker reports of its agent.
    pub fn reported_version(&self) -> Option<&str> {
        self.elsewhere.as_ref()?.version.as_deref()
    }
}

impl AgentFacts {
    /// Returns the described agent, if it is the wanted one.
    pub fn agent(self, wanted: &Wanted) -> Result<Agent, BadFacts> {
        let agent = Agent::elsewhere(self)?;
        let mut is_wanted = agent.name == wanted.agent && agent.model == wanted.model;
        if let AgentKind::Real(_) = agent.kind {
            let via = agent.via().map(Via::name);
            is_wanted &= agent.isolation == wanted.isolation && via == wanted.via.as_deref();
        }
        if is_wanted { Ok(agent) } else { Err(BadFacts::Other) }
    }
}

/// Returns the settings of a command without what belongs to its machine: it may name keys and folders.
fn public(settings: &AgentSettings) -> AgentSettings {
    AgentSettings {
        command: Vec::new(),
        env: EnvSettings::default(),
        writes: settings.writes.as_ref().map(|_| Vec::new()),
        ..settings.clone()
    }
}

fn is_bounded(value: &Value) -> bool {
    match value {
        Value::String(text) => is_plain(text),
        Value::Array(all) => all.len() <= LIST && all.iter().all(is_bounded),
        Value::Object(all) => {
            all.len() <= LIST && all.keys().all(|name| is_plain(name)) && all.values().all(is_bounded)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

fn is_plain(text: &str) -> bool {
    text.len() <= TEXT && !text.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::agent::{CostReport, Slots};

    fn ambient() -> BTreeMap<String, String> {
        [("HOME", "/home/me"), ("KEY", "secret")].map(|(name, value)| (name.into(), value.into())).into()
    }

    fn real(name: &str) -> Agent {
        Agent::real(Real::named(name).unwrap(), Some("large".into()), "/bin/real".into(), &ambient())
    }

    fn command() -> Agent {
        let settings = json!({
            "command": ["/opt/mine", "--token", "secret-1", "{prompt_file}"], "output": "/result",
            "timeout": 60, "env": { "pass": ["KEY"], "set": { "MODE": "secret-2" } },
            "cost": { "usd": "/usd" }, "writes": ["/data/secret-3"], "verdict": "original",
        });
        let settings = serde_json::from_value(settings).unwrap();
        Agent::new("mine", Some("large".into()), settings, "/opt/mine".into(), &ambient())
    }

    fn agents() -> Vec<Agent> {
        let wrap = Wrap::new(vec!["box".into()], "/usr/bin/box".into(), Path::new("/home/me"));
        let mut all: Vec<Agent> = Real::ALL.into_iter().map(|one| real(one.name())).collect();
        all.push(real("claude").isolated(Isolation::User));
        all.push(real("gemini").through(Via::Ccw, "/bin/ccw".into()));
        all.push(real("claude").wrapped(wrap.clone()));
        all.extend([command(), command().wrapped(wrap)]);
        all.push(Agent::built_in("/bin/skilltune".into(), "offline", &ambient()));
        all
    }

    /// Returns the description as it comes over the wire.
    fn sent(agent: &Agent) -> AgentFacts {
        let text = serde_json::to_string(&agent.facts(Some("1.2.3"), true)).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn an_agent_of_another_machine_answers_like_the_one_there() {
        let answers = |agent: &Agent, system| {
            let cost = agent.cost_report();
            let shown = (agent.name.clone(), agent.model.clone(), agent.isolation(), agent.via());
            let wrap = agent.wrap().map(Wrap::name);
            let skills = agent.skills().map(|skills| (skills.at, skills.by_name));
            let can = (agent.lacks_shell(), agent.opens_files(), agent.is_built_in());
            let rights = Rights::ALL.map(|rights| agent.enforced(rights, system));
            (shown, wrap, cost, skills, can, rights, agent.family(), agent.timeout(), agent.verdict())
        };
        for here in agents() {
            let there = Agent::elsewhere(sent(&here)).unwrap();
            // Their system confines agents, whatever this one can do.
            assert_eq!(answers(&there, false), answers(&here, true), "{}", here.name);
            assert_eq!(there.fingerprint(), here.portable_fingerprint(Some("1.2.3")), "{}", here.name);
            assert_eq!(there.portable_fingerprint(None), there.fingerprint());
            assert!(there.is_elsewhere() && !here.is_elsewhere());
        }
        assert_eq!(Agent::elsewhere(sent(&command())).unwrap().cost_report(), CostReport::Dollars);
    }

    #[test]
    fn nothing_of_another_machine_is_started_here_and_no_key_is_missing() {
        let [workspace, temp, prompt_file] = ["/w", "/t", "/p"].map(Path::new);
        for here in agents() {
            let there = Agent::elsewhere(sent(&here)).unwrap();
            let rights = Rights::Shell;
            let slots = Slots { rights, workspace, temp, prompt_file, skills: true, usd: None, schema: None };
            assert!(there.argv(slots).is_empty(), "{}", here.name);
            assert_eq!(there.isolated(Isolation::Fresh).missing_key(), None);
        }
    }

    #[test]
    fn a_description_has_no_key_and_no_place_of_its_machine() {
        for agent in agents() {
            let text = serde_json::to_string(&agent.facts(None, false)).unwrap();
            for private in ["secret", "/opt", "/home", "/bin", "/data", "KEY"] {
                assert!(!text.contains(private), "{private} in {text}");
            }
        }
    }

    #[test]
    fn a_description_of_something_unknown_or_too_large_is_refused() {
        let refused = |agent: &Agent, change: &dyn Fn(&mut AgentFacts)| {
            let mut facts = agent.facts(None, true);
            change(&mut facts);
            Agent::elsewhere(facts).unwrap_err()
        };
        let built_in = Agent::built_in("/bin/skilltune".into(), "offline", &ambient());
        let rename = |name: &'static str| move |facts: &mut AgentFacts| facts.name = name.to_owned();
        for (agent, name) in [(real("claude"), "clyde"), (command(), "offline"), (built_in, "claude")] {
            assert_eq!(refused(&agent, &rename(name)), BadFacts::Unknown, "{name}");
        }
        let claude = real("claude");
        let via = |facts: &mut AgentFacts| facts.via = Some("mine".to_owned());
        assert_eq!(refused(&claude, &via), BadFacts::Unknown);
        let long = |facts: &mut AgentFacts| facts.version = Some("1".repeat(TEXT + 1));
        assert_eq!(refused(&claude, &long), BadFacts::Form);
        let painted = |facts: &mut AgentFacts| facts.wrap = Some("\u{1b}[2J".to_owned());
        assert_eq!(refused(&claude, &painted), BadFacts::Form);
        let many =
            |facts: &mut AgentFacts| (0..=LIST).for_each(|nth| facts.fingerprint.add(format!("{nth}"), b""));
        assert_eq!(refused(&claude, &many), BadFacts::Form);
        for seconds in [0, WEEK + 1] {
            let late = |facts: &mut AgentFacts| {
                let FactsKind::Command(settings) = &mut facts.kind else { panic!("a command") };
                settings.timeout = Some(seconds);
            };
            assert_eq!(refused(&command(), &late), BadFacts::Timeout);
        }
    }

    #[test]
    fn a_description_of_another_agent_than_the_wanted_one_is_refused() {
        let wanted = |agent: &Agent, isolation| Wanted {
            agent: agent.name.clone(),
            model: agent.model.clone(),
            isolation,
            via: None,
            rights: Rights::Work,
        };
        let (claude, mine) = (real("claude"), command());
        let own = wanted(&claude, Isolation::Partial);
        assert_eq!(sent(&claude).agent(&own).unwrap().name, "claude");
        // A command has only one world.
        assert!(sent(&mine).agent(&wanted(&mine, Isolation::User)).is_ok());
        let refused = |agent: &Agent, wanted: &Wanted| sent(agent).agent(wanted).unwrap_err();
        assert_eq!(refused(&claude, &wanted(&claude, Isolation::User)), BadFacts::Other);
        assert_eq!(refused(&claude, &Wanted { via: Some("ccw".into()), ..own.clone() }), BadFacts::Other);
        assert_eq!(refused(&claude, &Wanted { model: None, ..own.clone() }), BadFacts::Other);
        assert_eq!(refused(&mine, &own), BadFacts::Other);
    }
}
