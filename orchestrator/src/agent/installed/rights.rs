//! Decides where an agent may write during a call, given its rights, and who enforces that.

use std::ffi::OsString;
use std::path::Path;

use skilltune_phases::base::role::{Rights, Writes};
use skilltune_phases::runs::plan::Enforced;

use super::{Agent, AgentKind};
use crate::process::Confinement;

/// The folders of one call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground<'a> {
    pub(crate) workspace: &'a Path,
    pub(crate) temp: &'a Path,
    /// An improver's copy of the skill, in the workspace.
    pub(crate) copy: Option<&'a Path>,
}

impl Agent {
    /// Returns the folders that a call with these rights may write: its workspace, its draft or neither, and always its
    /// temporary folder and the folders where the agent keeps its own state.
    pub(crate) fn confinement(&self, rights: Rights, ground: Ground<'_>) -> Confinement {
        let work = match rights.writes() {
            Writes::Workspace => Some(ground.workspace),
            Writes::Draft => ground.copy,
            Writes::Nothing => None,
        };
        let places = work.into_iter().chain([ground.temp]).map(OsString::from);
        let kept = self.keeps(rights).into_iter().map(OsString::from);
        Confinement {
            writes: places
                .chain(kept)
                .chain(self.shell_places(rights).into_iter().map(OsString::from))
                .collect(),
        }
    }

    /// Returns what enforces those rights; `system` is whether the system may. An agent of another machine has another
    /// system.
    pub fn enforced(&self, rights: Rights, system: bool) -> Enforced {
        let system = self.elsewhere.as_ref().map_or(system, |there| there.confines);
        let (confined, restricts_itself) = match &self.kind {
            AgentKind::Command(settings) => (settings.writes.is_some(), false),
            // As an executor, it runs the commands of a suite.
            AgentKind::BuiltIn(_) => (true, rights.writes() != Writes::Workspace),
            // A wrapper writes to unknown places, and does not report the rights of its agent.
            AgentKind::Real(_) if self.via.is_some() => (false, false),
            // An agent without a sandbox does not control what its commands write.
            AgentKind::Real(real) => {
                let has_sandbox = real.profile().has_sandbox;
                (!has_sandbox, has_sandbox || !rights.has_shell())
            }
        };
        match self.wrap {
            Some(_) => Enforced::within_wrapper(restricts_itself),
            None => Enforced::by(system && confined, restricts_itself),
        }
    }

    /// Whether the agent cannot start any program. Among the known agents, one that always has a shell runs its
    /// commands in its own sandbox; a wrapper gives any agent a shell.
    pub fn lacks_shell(&self) -> bool {
        match &self.kind {
            AgentKind::Command(_) | AgentKind::BuiltIn(_) => false,
            AgentKind::Real(real) => self.via.is_none() && !real.profile().has_sandbox,
        }
    }

    /// Returns true if the agent has tools that open files of its workspace, with any rights. For a command this is
    /// unknown, and the built-in agent gets no prompt.
    pub fn opens_files(&self) -> bool {
        match &self.kind {
            AgentKind::Real(_) => true,
            AgentKind::Command(_) | AgentKind::BuiltIn(_) => false,
        }
    }

    /// Returns the agent's own places that persist between calls: a renewed login, sessions.
    pub(super) fn keeps(&self, rights: Rights) -> Vec<String> {
        match &self.kind {
            AgentKind::Command(settings) => {
                settings.writes.iter().flatten().filter_map(|place| self.at_home(place)).collect()
            }
            AgentKind::BuiltIn(_) => Vec::new(),
            AgentKind::Real(real) => (real.profile().keeps)(&self.env, self.world(rights)),
        }
    }

    /// Replaces `~` in a path by the home; none without a home.
    fn at_home(&self, place: &str) -> Option<String> {
        match place.strip_prefix("~/") {
            Some(below) => Some(format!("{}/{below}", self.env.get("HOME")?)),
            None => Some(place.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use super::*;
    use crate::agent::{AgentSettings, Real};

    const GROUND: &str = "/desk/call";

    fn places(agent: &Agent, rights: Rights) -> Vec<String> {
        let at = |below: &str| PathBuf::from(GROUND).join(below);
        let (workspace, temp, copy) = (at("space"), at("tmp"), at("space/skill/a"));
        let copy = (rights.writes() == Writes::Draft).then_some(copy.as_path());
        let confinement = agent.confinement(rights, Ground { workspace: &workspace, temp: &temp, copy });
        confinement.writes.into_iter().map(|place| place.into_string().unwrap()).collect()
    }

    fn ambient(more: &[(&str, &str)]) -> BTreeMap<String, String> {
        let all = [("HOME", "/home/me")].iter().chain(more);
        all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn real(name: &str, more: &[(&str, &str)]) -> Agent {
        Agent::real(Real::named(name).unwrap(), None, "/bin/x".into(), &ambient(more))
    }

    fn command(writes: Option<&[&str]>) -> Agent {
        let writes = writes.map(|places| places.iter().map(|place| (*place).to_owned()).collect());
        let settings = AgentSettings { command: vec!["x".into()], writes, ..AgentSettings::default() };
        Agent::new("mine", None, settings, "/bin/x".into(), &ambient(&[]))
    }

    #[test]
    fn each_role_has_its_own_ground_and_all_have_the_temporary_folder() {
        let agent = Agent::built_in("/bin/x".into(), "offline", &ambient(&[]));
        assert_eq!(places(&agent, Rights::Work), ["/desk/call/space", "/desk/call/tmp"]);
        assert_eq!(places(&agent, Rights::Read), ["/desk/call/tmp"]);
        for rights in [Rights::Edit, Rights::Build] {
            assert_eq!(places(&agent, rights), ["/desk/call/space/skill/a", "/desk/call/tmp"]);
        }
    }

    #[test]
    fn only_of_known_agents_it_is_certain_that_they_open_files() {
        for known in Real::ALL {
            assert!(real(known.name(), &[]).opens_files(), "{known:?}");
        }
        assert!(!command(None).opens_files());
        assert!(!Agent::built_in("/bin/x".into(), "offline", &ambient(&[])).opens_files());
    }

    #[test]
    fn an_agent_keeps_its_login_wherever_it_stands() {
        let kept = |agent: &Agent| places(agent, Rights::Read)[1..].to_vec();
        assert_eq!(kept(&real("claude", &[])), ["/home/me/.claude"]);
        assert_eq!(kept(&real("claude", &[("CLAUDE_CONFIG_DIR", "/c")])), ["/c"]);
        assert_eq!(kept(&real("gemini", &[])), ["/home/me/.gemini"]);
        assert_eq!(kept(&real("gemini", &[("GEMINI_CLI_HOME", "/g")])), ["/g/.gemini"]);
        assert_eq!(kept(&real("gemini", &[("GEMINI_API_KEY", "k")])), [""; 0], "then its home is the call's");
        assert_eq!(
            kept(&command(Some(&["~/.cache/mine", "/var/mine"]))),
            ["/home/me/.cache/mine", "/var/mine"]
        );
    }

    #[test]
    fn it_is_told_who_enforces_what_and_a_command_is_held_only_when_it_says_where_it_writes() {
        let enforced =
            |agent: &Agent, system| Rights::ALL.map(|rights| agent.enforced(rights, system).words());
        let both = "system + agent";
        assert_eq!(enforced(&real("claude", &[]), true), [both, both, both, "system", "system"]);
        let unless_commands = ["agent", "agent", "agent", "not enforced", "not enforced"];
        assert_eq!(enforced(&real("gemini", &[]), false), unless_commands);
        assert_eq!(enforced(&real("codex", &[]), true), ["agent"; 5], "its own sandbox holds its commands");
        let built_in = Agent::built_in("/bin/x".into(), "offline", &ambient(&[]));
        assert_eq!(enforced(&built_in, true), ["system", both, both, "system", both]);
        assert_eq!(enforced(&built_in, false), ["not enforced", "agent", "agent", "not enforced", "agent"]);
        assert_eq!(enforced(&command(None), true), ["not enforced"; 5]);
        assert_eq!(enforced(&command(Some(&[])), true), ["system"; 5]);
        assert_eq!(enforced(&command(Some(&[])), false), ["not enforced"; 5]);
    }
}
