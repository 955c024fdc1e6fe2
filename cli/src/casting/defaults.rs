//! Assigns installed agents to roles that have none, as the original does.
//!
//! Uses only agents that need no settings, under their own names: a user who describes a command must name it.

use skilltune_orchestrator::agent::{Real, Via};

use crate::casting::{elsewhere, on_path};
use crate::settings::Settings;
use crate::settings::origin::Origin;
use crate::settings::setting::Setting;
use crate::settings::values::AgentSpec;
use crate::terminal::environment::Environment;

/// The default agents for work and for judging.
const WORKER: &str = "claude";
const JUDGE: &str = "gemini";

/// Fills the open roles; fills none if there is no agent to run the skill, or if workers make the calls: the agents of
/// this machine say nothing about theirs.
pub fn fill(settings: &mut Settings, env: &Environment) {
    if elsewhere::is_chosen(settings) {
        return;
    }
    let via: Option<Via> = settings.calls.via.value.into();
    let is_here = |real: &Real| {
        let is_described = settings.agents.contains_key(real.name());
        !is_described && (via.is_none() || Via::calls(*real)) && on_path(real.name(), env).is_ok()
    };
    let here: Vec<Real> = Real::ALL.into_iter().filter(is_here).collect();
    let worker = here.iter().copied().find(|real| real.name() == WORKER);
    take(&mut settings.roles.executor, worker);
    let Some(executor) = settings.roles.executor.value.clone() else { return };
    let judge = judge(&here, family(&executor.agent, settings));
    take(&mut settings.roles.evaluator, judge);
    take(&mut settings.roles.improver, worker);
}

fn take(role: &mut Setting<Option<AgentSpec>>, real: Option<Real>) {
    if let (None, Some(real)) = (&role.value, real) {
        role.set(Some(AgentSpec { agent: real.name().to_owned(), model: None }), Origin::Installed);
    }
}

/// Returns a judge, preferably of another model family than the executor, and preferably the original's.
fn judge(here: &[Real], executor: Option<&str>) -> Option<Real> {
    let is_own = |real: &Real| executor.is_some() && real.family() == executor;
    here.iter().copied().min_by_key(|real| (is_own(real), real.name() != JUDGE))
}

fn family(name: &str, settings: &Settings) -> Option<&'static str> {
    Real::named(name).filter(|_| !settings.agents.contains_key(name)).and_then(Real::family)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::settings::values::ViaName;

    /// Returns which agent has which role on a machine with these programs; `-` if none.
    fn taken(programs: &[&str], set: impl Fn(&mut Settings)) -> [String; 3] {
        let root = tempfile::tempdir().unwrap();
        for program in programs {
            fs::write(root.path().join(program), "#!/bin/true\n").unwrap();
            fs::set_permissions(root.path().join(program), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let env = Environment::fake("/w", &[("PATH", root.path().to_str().unwrap())]);
        let mut settings = Settings::new(Vec::new());
        set(&mut settings);
        fill(&mut settings, &env);
        settings
            .roles
            .required()
            .map(|role| role.value.as_ref().map_or("-".to_owned(), |spec| format!("{spec} {}", role.origin)))
    }

    fn names(programs: &[&str], executor: Option<&str>) -> [String; 3] {
        let taken = taken(programs, |settings| {
            if let Some(executor) = executor {
                settings.roles.executor.set(executor.parse().ok(), Origin::Flag("--executor"));
            }
        });
        taken.map(|one| one.split(' ').next().unwrap().to_owned())
    }

    #[test]
    fn claude_works_and_gemini_judges_and_each_says_that_it_is_a_default() {
        let default = "default, because it is installed";
        assert_eq!(
            taken(&["claude", "gemini"], |_| ()),
            [format!("claude {default}"), format!("gemini {default}"), format!("claude {default}")]
        );
    }

    #[test]
    fn who_judges_is_of_another_family_where_there_is_one() {
        assert_eq!(names(&["claude"], None), ["claude", "claude", "claude"]);
        assert_eq!(names(&["claude", "gemini"], Some("gemini:pro")), ["gemini:pro", "claude", "claude"]);
        assert_eq!(names(&["claude", "gemini"], Some("mine")), ["mine", "gemini", "claude"]);
        assert_eq!(names(&["gemini"], Some("gemini")), ["gemini", "gemini", "-"]);
    }

    #[test]
    fn an_agent_that_does_not_work_through_the_wrapper_is_not_taken() {
        let through = |via| {
            taken(&["claude", "codex"], |settings| settings.calls.via.set(via, Origin::Flag("--via")))
                .map(|one| one.split(' ').next().unwrap().to_owned())
        };
        assert_eq!(through(ViaName::Direct), ["claude", "codex", "claude"]);
        assert_eq!(through(ViaName::Ccw), ["claude", "claude", "claude"]);
    }

    #[test]
    fn without_anybody_to_run_the_skill_nobody_is_taken() {
        assert_eq!(names(&[], None), ["-", "-", "-"]);
        assert_eq!(names(&["gemini"], None), ["-", "-", "-"]);
    }

    #[test]
    fn what_was_chosen_stays_and_a_described_agent_is_taken_by_nobody() {
        let described = taken(&["claude", "gemini"], |settings| {
            let entry = crate::settings::agent_settings::AgentEntry {
                settings: serde_json::from_value(serde_json::json!({ "command": ["claude"] })).unwrap(),
                origin: Origin::User("/s".into()),
            };
            settings.agents.insert("claude".to_owned(), entry);
        });
        assert_eq!(described, ["-", "-", "-"]);
        let chosen = taken(&["claude", "gemini"], |settings| {
            settings.roles.evaluator.set("mine".parse().ok(), Origin::Answer);
        });
        assert_eq!(chosen[1], "mine answer");
    }
}
