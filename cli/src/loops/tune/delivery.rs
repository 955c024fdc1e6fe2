//! The way the skill gets to its executor: the setting is checked against what the agent supports.

use skilltune_orchestrator::agent::{Agent, Skills};
use skilltune_phases::base::delivery::Delivery;

use crate::loops::tune::settings::DeliveryName;
use crate::settings::setting::Setting;
use crate::settings::values::word;
use crate::terminal::complaint::Complaint;

pub fn delivery(set: &Setting<DeliveryName>, executor: &Agent) -> Result<Delivery, Complaint> {
    let at = |skills: Skills| skills.at.to_owned();
    match (set.value, executor.skills()) {
        (DeliveryName::Inline, _) | (DeliveryName::Auto, None) => Ok(Delivery::Inline),
        (DeliveryName::Auto | DeliveryName::Installed, Some(skills)) => {
            Ok(Delivery::Installed { at: at(skills) })
        }
        (DeliveryName::Slash, Some(skills)) if skills.by_name => Ok(Delivery::Slash { at: at(skills) }),
        (DeliveryName::Slash, Some(_)) => {
            let why = format!("`{}` cannot call a skill by /NAME", executor.name);
            Err(impossible(set, &why)
                .hint("pass --delivery installed to let it find the skill by its description"))
        }
        (DeliveryName::Installed | DeliveryName::Slash, None) => {
            Err(impossible(set, &format!("`{}` does not support skills", executor.name)))
        }
    }
}

fn impossible(set: &Setting<DeliveryName>, why: &str) -> Complaint {
    let (way, origin) = (word(&set.value), &set.origin);
    Complaint::input(format!("delivery `{way}` ({origin}) is not possible: {why}"))
        .hint("pass --delivery inline to put the skill's text into the prompt")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use skilltune_orchestrator::agent::{AgentSettings, Real};

    use super::*;
    use crate::settings::origin::Origin;

    fn agent(name: &str) -> Agent {
        let (program, env) = ("/bin/agent".into(), BTreeMap::new());
        match Real::named(name) {
            Some(real) => Agent::real(real, None, program, &env),
            None => Agent::new(name, None, AgentSettings::default(), program, &env),
        }
    }

    fn found(way: DeliveryName, name: &str) -> Result<Delivery, String> {
        let mut set = Setting::new(way);
        set.set(way, Origin::Flag("--delivery"));
        delivery(&set, &agent(name)).map_err(|complaint| complaint.what)
    }

    #[test]
    fn who_reads_skills_finds_it_and_who_reads_none_is_told_it() {
        let installed = |at: &str| Ok(Delivery::Installed { at: at.into() });
        assert_eq!(found(DeliveryName::Auto, "claude"), installed(".claude/skills"));
        assert_eq!(found(DeliveryName::Auto, "gemini"), installed(".gemini/skills"));
        assert_eq!(found(DeliveryName::Auto, "codex"), installed(".agents/skills"));
        assert_eq!(found(DeliveryName::Auto, "opencode"), installed(".opencode/skills"));
        assert_eq!(found(DeliveryName::Auto, "mine"), Ok(Delivery::Inline));
        assert_eq!(found(DeliveryName::Inline, "claude"), Ok(Delivery::Inline));
        let slash = Delivery::Slash { at: ".claude/skills".into() };
        assert_eq!(found(DeliveryName::Slash, "claude"), Ok(slash));
    }

    #[test]
    fn what_an_agent_cannot_do_is_said_with_where_it_was_asked_for() {
        let why = |way, name| found(way, name).unwrap_err();
        insta::assert_snapshot!(why(DeliveryName::Slash, "gemini"), @"delivery `slash` (flag --delivery) is not possible: `gemini` cannot call a skill by /NAME");
        insta::assert_snapshot!(why(DeliveryName::Installed, "mine"), @"delivery `installed` (flag --delivery) is not possible: `mine` does not support skills");
    }
}
