//! `[agents.NAME]`: a command as an agent, parsed by hand so that no message can quote a secret.

use std::collections::BTreeMap;

use skilltune_orchestrator::agent::{AgentSettings, CostPointers, EnvSettings, Output};
use skilltune_phases::judging::judgement::VerdictShape;
use skilltune_phases::skills::offline;
use toml::de::DeTable;

use crate::settings::error::SettingsError;
use crate::settings::origin::Origin;
use crate::settings::page::{Found, SettingsPage};
use crate::settings::range::SECONDS;
use crate::settings::setting::{Setting, Slot as _, plain, texts};
use crate::settings::values::is_agent_name;

/// An agent and the file that describes it: a project's agent replaces the whole agent of that name from the user's
/// file.
#[derive(Clone, Debug)]
pub struct AgentEntry {
    pub settings: AgentSettings,
    pub origin: Origin,
}

/// One table of an agent, and its dotted key.
struct Section<'a, 't> {
    page: SettingsPage<'a>,
    key: String,
    table: Option<&'a DeTable<'t>>,
}

pub fn read(
    agents: &Found<'_>,
    page: SettingsPage<'_>,
    origin: &Origin,
) -> Result<BTreeMap<String, AgentEntry>, SettingsError> {
    let table = agents.get_ref().as_table().into_iter().flatten();
    let entries = table.map(|(name, value)| {
        let (name, key) = (name.get_ref(), format!("agents.{}", name.get_ref()));
        if !is_agent_name(name) {
            return Err(page.wrong_secret(&key, value, "a name of letters, digits, `-`, `_` and `.`"));
        }
        if *name == offline::NAME {
            return Err(page.wrong_secret(&key, value, "another name, because this is the built-in agent"));
        }
        let agent = Section::open(page, key, value, "a table with a `command`")?.agent(value)?;
        Ok((name.to_string(), AgentEntry { settings: agent, origin: origin.clone() }))
    });
    entries.collect()
}

impl<'a, 't> Section<'a, 't> {
    fn open(
        page: SettingsPage<'a>,
        key: String,
        value: &'a Found<'t>,
        must: &str,
    ) -> Result<Self, SettingsError> {
        match value.get_ref().as_table() {
            Some(table) => Ok(Self { page, key, table: Some(table) }),
            None => Err(page.wrong_secret(&key, value, must)),
        }
    }

    fn agent(&self, whole: &Found<'_>) -> Result<AgentSettings, SettingsError> {
        self.refuse_unknown(&["command", "output", "timeout", "env", "cost", "writes", "verdict"])?;
        let Some(command) = self.get("command") else {
            return Err(self.page.wrong_secret(&self.name("command"), whole, COMMAND));
        };
        let env = self.inner("env")?;
        env.refuse_unknown(&["pass", "set"])?;
        let cost = self.inner("cost")?;
        cost.refuse_unknown(&["usd", "input_tokens", "output_tokens"])?;
        Ok(AgentSettings {
            command: self.command(command)?,
            output: self.output()?,
            timeout: self.timeout()?,
            env: EnvSettings { pass: env.names("pass")?, set: env.inner("set")?.variables()? },
            cost: CostPointers {
                usd: cost.pointer("usd")?,
                input_tokens: cost.pointer("input_tokens")?,
                output_tokens: cost.pointer("output_tokens")?,
            },
            writes: self.places("writes")?,
            verdict: self.verdict()?,
        })
    }

    fn command(&self, value: &Found<'_>) -> Result<Vec<String>, SettingsError> {
        let words =
            texts(value.get_ref()).filter(|words| words.first().is_some_and(|program| !program.is_empty()));
        words.ok_or_else(|| self.page.wrong_secret(&self.name("command"), value, COMMAND))
    }

    fn output(&self) -> Result<Output, SettingsError> {
        let Some(value) = self.get("output") else { return Ok(Output::default()) };
        let output = value.get_ref().as_str().and_then(|text| Output::try_from(text.to_owned()).ok());
        output.ok_or_else(|| {
            self.page.wrong(&self.name("output"), value, "\"text\" or a JSON pointer such as \"/result\"")
        })
    }

    fn timeout(&self) -> Result<Option<u64>, SettingsError> {
        let Some(value) = self.get("timeout") else { return Ok(None) };
        let mut timeout = Setting::within(SECONDS, None::<u64>);
        let read = timeout.read(value.get_ref(), &Origin::Default);
        read.map_err(|must| self.page.wrong(&self.name("timeout"), value, must))?;
        Ok(timeout.value)
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

    fn names(&self, key: &str) -> Result<Vec<String>, SettingsError> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let names = texts(value.get_ref()).filter(|names| names.iter().all(|name| is_variable(name)));
        names.ok_or_else(|| self.page.wrong_secret(&self.name(key), value, "a list of variable names"))
    }

    fn places(&self, key: &str) -> Result<Option<Vec<String>>, SettingsError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let is_place = |path: &String| path.starts_with('/') || path.starts_with("~/");
        match texts(value.get_ref()).filter(|places| places.iter().all(is_place)) {
            Some(places) => Ok(Some(places)),
            None => Err(self.page.wrong(&self.name(key), value, PLACES)),
        }
    }

    fn variables(&self) -> Result<BTreeMap<String, String>, SettingsError> {
        let pairs = self.table.into_iter().flatten().map(|(name, value)| {
            let (name, text) = (name.get_ref(), plain(value.get_ref()));
            let Some(text) = text.filter(|_| is_variable(name)) else {
                return Err(self.page.wrong_secret(&self.name(name), value, "a variable name and its text"));
            };
            Ok((name.to_string(), text))
        });
        pairs.collect()
    }

    fn pointer(&self, key: &str) -> Result<Option<String>, SettingsError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match value.get_ref().as_str() {
            Some(text) if text.starts_with('/') => Ok(Some(text.to_owned())),
            _ => Err(self.page.wrong(&self.name(key), value, "a JSON pointer such as \"/usage/cost\"")),
        }
    }

    fn inner(&self, key: &str) -> Result<Self, SettingsError> {
        match self.get(key) {
            Some(value) => Self::open(self.page, self.name(key), value, "a table"),
            None => Ok(Self { page: self.page, key: self.name(key), table: None }),
        }
    }

    fn refuse_unknown(&self, known: &[&str]) -> Result<(), SettingsError> {
        let stranger = self
            .table
            .into_iter()
            .flat_map(DeTable::keys)
            .find(|key| !known.contains(&key.get_ref().as_ref()));
        let Some(stranger) = stranger else { return Ok(()) };
        let known: Vec<String> = known.iter().map(|key| self.name(key)).collect();
        Err(self.page.unknown(stranger, &self.name(stranger.get_ref()), known.iter().map(String::as_str)))
    }

    fn get(&self, key: &str) -> Option<&'a Found<'t>> {
        self.table?.get(key)
    }

    fn name(&self, key: &str) -> String {
        format!("{}.{key}", self.key)
    }
}

const PLACES: &str = "a list of paths that are absolute or start with `~/`";
const COMMAND: &str = "a list of strings: a program and its arguments";

fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}
