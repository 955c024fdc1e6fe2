//! `[agents.NAME]`: a command as an agent, parsed by hand so that no message can quote a secret.

use std::collections::BTreeMap;

use skilltune_orchestrator::agent::{AgentSettings, CostPointers, Output};
use skilltune_phases::judging::judgement::VerdictShape;
use skilltune_phases::skills::offline;

use crate::settings::error::SettingsError;
use crate::settings::origin::Origin;
use crate::settings::page::{Found, SettingsPage};
use crate::settings::range::SECONDS;
use crate::settings::section::{self, Section};
use crate::settings::setting::{Setting, texts};

/// An agent and the file that describes it: a project's agent replaces the whole agent of that name from the user's
/// file.
#[derive(Clone, Debug)]
pub struct AgentEntry {
    pub settings: AgentSettings,
    pub origin: Origin,
}

pub fn read(
    agents: &Found<'_>,
    page: SettingsPage<'_>,
    origin: &Origin,
) -> Result<BTreeMap<String, AgentEntry>, SettingsError> {
    section::each(page, ("agents", agents), "a table with a `command`", |name, agent| {
        if name == offline::NAME {
            return Err(agent.wrong("another name, because this is the built-in agent"));
        }
        Ok(AgentEntry { settings: agent.agent()?, origin: origin.clone() })
    })
}

impl Section<'_, '_> {
    fn agent(&self) -> Result<AgentSettings, SettingsError> {
        self.refuse_unknown(&["command", "output", "timeout", "env", "cost", "writes", "verdict"])?;
        let command = self.command("command")?;
        let cost = self.inner("cost")?;
        cost.refuse_unknown(&["usd", "input_tokens", "output_tokens"])?;
        Ok(AgentSettings {
            command,
            output: self.output()?,
            timeout: self.setting("timeout", Setting::within(SECONDS, None))?,
            env: self.env()?,
            cost: CostPointers {
                usd: cost.pointer("usd")?,
                input_tokens: cost.pointer("input_tokens")?,
                output_tokens: cost.pointer("output_tokens")?,
            },
            writes: self.places("writes")?,
            verdict: self.verdict()?,
        })
    }

    fn output(&self) -> Result<Output, SettingsError> {
        let Some(value) = self.get("output") else { return Ok(Output::default()) };
        let output = value.get_ref().as_str().and_then(|text| Output::try_from(text.to_owned()).ok());
        output.ok_or_else(|| {
            self.page.wrong(&self.name("output"), value, "\"text\" or a JSON pointer such as \"/result\"")
        })
    }

    fn verdict(&self) -> Result<VerdictShape, SettingsError> {
        let Some(value) = self.get("verdict") else { return Ok(VerdictShape::default()) };
        let named = |shape: &VerdictShape| value.get_ref().as_str() == Some(shape.word());
        let shape = VerdictShape::ALL.into_iter().find(named);
        shape.ok_or_else(|| {
            let words = VerdictShape::ALL.map(|shape| format!("{:?}", shape.word())).join(", ");
            self.page.wrong(&self.name("verdict"), value, format!("one of {words}"))
        })
    }

    fn places(&self, key: &str) -> Result<Option<Vec<String>>, SettingsError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let is_place = |path: &String| path.starts_with('/') || path.starts_with("~/");
        match texts(value.get_ref()).filter(|places| places.iter().all(is_place)) {
            Some(places) => Ok(Some(places)),
            None => Err(self.page.wrong(&self.name(key), value, PLACES)),
        }
    }

    fn pointer(&self, key: &str) -> Result<Option<String>, SettingsError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match value.get_ref().as_str() {
            Some(text) if text.starts_with('/') => Ok(Some(text.to_owned())),
            _ => Err(self.page.wrong(&self.name(key), value, "a JSON pointer such as \"/usage/cost\"")),
        }
    }
}

const PLACES: &str = "a list of paths that are absolute or start with `~/`";

#[cfg(test)]
mod tests {
    use crate::settings::origin::Origin;
    use crate::settings::{Files, project, refusal};

    #[test]
    fn an_agent_is_read_whole_and_replaces_one_of_the_same_name() {
        let user = "[agents.a]\ncommand = [\"old\"]\ntimeout = 5\n";
        let mine = "[agents.a]\ncommand = [\"new\", \"{model}\"]\noutput = \"/r\"\nenv.pass = [\"KEY\"]\nenv.set.B = \"c\"\ncost.usd = \"/usd\"\nwrites = [\"~/.mine\"]\nverdict = \"original\"\n";
        let settings = Files::new(user, mine).load();
        let agent = &settings.agents["a"];
        assert!(matches!(agent.origin, Origin::Project(_)));
        let written = serde_json::json!({
            "command": ["new", "{model}"], "output": "/r", "timeout": null,
            "env": {"pass": ["KEY"], "set": {"B": "c"}},
            "cost": {"usd": "/usd", "input_tokens": null, "output_tokens": null},
            "writes": ["~/.mine"],
            "verdict": "original",
        });
        assert_eq!(serde_json::to_value(&agent.settings).unwrap(), written);
    }

    #[test]
    fn a_wrong_agent_is_told_what_it_must_be() {
        let files = [
            "[agents]\na = 3\n",
            "[agents.\"a:b\"]\ncommand = [\"a\"]\n",
            "[agents.a]\n",
            "[agents.a]\ncommand = []\n",
            "[agents.a]\ncommand = \"a b\"\n",
            "[agents.a]\ncommand = [\"a\"]\noutput = \"json\"\n",
            "[agents.a]\ncommand = [\"a\"]\ntimeout = 0\n",
            "[agents.a]\ncommand = [\"a\"]\nenv.pass = [\"A=B\"]\n",
            "[agents.a]\ncommand = [\"a\"]\ncost.usd = \"usd\"\n",
            "[agents.a]\ncommand = [\"a\"]\nwrites = [\"cache\"]\n",
            "[agents.a]\ncommand = [\"a\"]\nverdict = \"claimed\"\n",
        ];
        insta::assert_snapshot!(files.map(refusal).join("\n"), @r#"
        error: /skilltune.toml:2: `agents.a` must be a table with a `command`
        error: /skilltune.toml:1: `agents.a:b` must be a name of letters, digits, `-`, `_` and `.`
        error: /skilltune.toml:1: `agents.a.command` must be a list of strings: a program and its arguments
        error: /skilltune.toml:2: `agents.a.command` must be a list of strings: a program and its arguments
        error: /skilltune.toml:2: `agents.a.command` must be a list of strings: a program and its arguments
        error: /skilltune.toml:3: `agents.a.output` must be "text" or a JSON pointer such as "/result", not "json"
        error: /skilltune.toml:3: `agents.a.timeout` must be a whole number from 1 to 604800, not 0
        error: /skilltune.toml:3: `agents.a.env.pass` must be a list of variable names
        error: /skilltune.toml:3: `agents.a.cost.usd` must be a JSON pointer such as "/usage/cost", not "usd"
        error: /skilltune.toml:3: `agents.a.writes` must be a list of paths that are absolute or start with `~/`, not a list
        error: /skilltune.toml:3: `agents.a.verdict` must be one of "evidenced", "original", not "claimed"
        "#);
    }

    #[test]
    fn a_secret_is_never_shown() {
        let secret = "s3cret";
        let agent = "[agents.a]\ncommand = [\"a\"]\n";
        let rows = project(&format!("{agent}env.set.TOKEN = \"{secret}\"\n")).rows();
        assert!(!serde_json::to_string(&rows).unwrap().contains(secret));
        assert!(rows.iter().any(|row| row.key == "agents.a.env.set.TOKEN" && row.value == "(set)"));
        for broken in [
            format!("{agent}env.set.TOKEN = [\"{secret}\"]\n"),
            format!("{agent}env.set = \"{secret}\"\n"),
            format!("{agent}env = \"{secret}\"\n"),
            format!("{agent}env.set.TOKEN = \"{secret}\n"),
            format!("{agent}env.set.TOKEN = {secret}\n"),
        ] {
            let refusal = refusal(&broken);
            assert!(refusal.contains("skilltune.toml:3") && !refusal.contains(secret), "{refusal}");
        }
    }
}
