//! A table of a settings file that is parsed by hand, so that no message can quote a secret.

use std::collections::BTreeMap;

use skilltune_orchestrator::agent::EnvSettings;
use toml::de::DeTable;

use crate::settings::error::SettingsError;
use crate::settings::origin::Origin;
use crate::settings::page::{Found, SettingsPage};
use crate::settings::setting::{Readable, Setting, Slot as _, plain, texts};
use crate::settings::values::is_agent_name;

/// A table, its dotted key, and where it is.
pub struct Section<'a, 't> {
    pub page: SettingsPage<'a>,
    key: String,
    /// The table, or the one that it would be in.
    at: &'a Found<'t>,
    table: Option<&'a DeTable<'t>>,
}

/// Reads each table of one whose keys are names from users, such as `[agents.NAME]`.
pub fn each<T>(
    page: SettingsPage<'_>,
    (key, tables): (&str, &Found<'_>),
    must: &str,
    read: impl Fn(&str, &Section<'_, '_>) -> Result<T, SettingsError>,
) -> Result<BTreeMap<String, T>, SettingsError> {
    let entries = tables.get_ref().as_table().into_iter().flatten().map(|(name, value)| {
        let (name, key) = (name.get_ref(), format!("{key}.{}", name.get_ref()));
        if !is_agent_name(name) {
            return Err(page.wrong_secret(&key, value, "a name of letters, digits, `-`, `_` and `.`"));
        }
        Ok((name.to_string(), read(name, &Section::open(page, key, value, must)?)?))
    });
    entries.collect()
}

impl<'a, 't> Section<'a, 't> {
    fn open(
        page: SettingsPage<'a>,
        key: String,
        at: &'a Found<'t>,
        must: &str,
    ) -> Result<Self, SettingsError> {
        match at.get_ref().as_table() {
            Some(table) => Ok(Self { page, key, at, table: Some(table) }),
            None => Err(page.wrong_secret(&key, at, must)),
        }
    }

    /// Says what the whole table must be.
    pub fn wrong(&self, must: &str) -> SettingsError {
        self.page.wrong_secret(&self.key, self.at, must)
    }

    /// Reads a program and its arguments, which the table must have.
    pub fn command(&self, key: &str) -> Result<Vec<String>, SettingsError> {
        let value = self.get(key).unwrap_or(self.at);
        let words =
            texts(value.get_ref()).filter(|words| words.first().is_some_and(|program| !program.is_empty()));
        words.ok_or_else(|| self.page.wrong_secret(&self.name(key), value, COMMAND))
    }

    /// Reads a value as a setting, which has the default.
    pub fn setting<T: Readable>(&self, key: &str, mut setting: Setting<T>) -> Result<T, SettingsError> {
        if let Some(value) = self.get(key) {
            let read = setting.read(value.get_ref(), &Origin::Default);
            read.map_err(|must| self.page.wrong(&self.name(key), value, must))?;
        }
        Ok(setting.value)
    }

    /// Reads a list of such names, which may be missing.
    pub fn names(
        &self,
        key: &str,
        is_name: fn(&str) -> bool,
        must: &str,
    ) -> Result<Vec<String>, SettingsError> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let names = texts(value.get_ref()).filter(|names| names.iter().all(|name| is_name(name)));
        names.ok_or_else(|| self.page.wrong_secret(&self.name(key), value, must))
    }

    pub fn env(&self) -> Result<EnvSettings, SettingsError> {
        let env = self.inner("env")?;
        env.refuse_unknown(&["pass", "set"])?;
        let pass = env.names("pass", is_variable, "a list of variable names")?;
        Ok(EnvSettings { pass, set: env.inner("set")?.variables()? })
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

    pub fn inner(&self, key: &str) -> Result<Self, SettingsError> {
        match self.get(key) {
            Some(value) => Self::open(self.page, self.name(key), value, "a table"),
            None => Ok(Self { page: self.page, key: self.name(key), at: self.at, table: None }),
        }
    }

    pub fn refuse_unknown(&self, known: &[&str]) -> Result<(), SettingsError> {
        let stranger = self
            .table
            .into_iter()
            .flat_map(DeTable::keys)
            .find(|key| !known.contains(&key.get_ref().as_ref()));
        let Some(stranger) = stranger else { return Ok(()) };
        let known: Vec<String> = known.iter().map(|key| self.name(key)).collect();
        Err(self.page.unknown(stranger, &self.name(stranger.get_ref()), known.iter().map(String::as_str)))
    }

    pub fn get(&self, key: &str) -> Option<&'a Found<'t>> {
        self.table?.get(key)
    }

    pub fn name(&self, key: &str) -> String {
        format!("{}.{key}", self.key)
    }
}

const COMMAND: &str = "a list of strings: a program and its arguments";

fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}
