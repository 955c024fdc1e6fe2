//! The settings: the value of each, and its origin.
//!
//! Settings have layers: defaults, the user's file, the project's file, answers, flags. A preset is expanded in its own
//! layer, so that a higher layer's preset overrides a lower layer's number. A limit that the user's file sets is a
//! ceiling: a project can lower it, and can raise it only if its file is trusted; the same holds for the wrapper that
//! the user runs agents in, and for the user's own commands. Only the user's own file has workers. Each loop adds
//! its own table.

pub mod agent_settings;
pub mod at_once;
pub mod commands;
pub mod common;
pub mod error;
pub mod flags;
pub mod origin;
pub mod page;
pub mod prices;
pub mod proposed;
pub mod range;
mod schema;
mod section;
pub mod setting;
pub mod show;
pub mod table;
mod template;
mod types;
pub mod values;
pub mod worker_settings;

use std::any::Any;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::Path;
use std::time::Duration;

use serde_json::Value as Json;
use skilltune_orchestrator::engine::Patience;
use skilltune_phases::base::ceiling::Ceilings;
use skilltune_phases::loops::MostCalls;
use skilltune_phases::runs::price::Prices;

use crate::settings::agent_settings::AgentEntry;
use crate::settings::commands::CommandSettings;
use crate::settings::common::{BudgetSettings, CallSettings, LimitSettings, RoleSettings, TimeoutSettings};
use crate::settings::error::SettingsError;
use crate::settings::flags::Given;
use crate::settings::origin::Origin;
use crate::settings::page::{SettingsPage, value_at};
use crate::settings::prices::ModelPrice;
use crate::settings::setting::{Over, Setting, Slot as _};
use crate::settings::table::{Key, Keyed, Named, Table};
use crate::settings::values::{IsolationName, ViaName};
use crate::settings::worker_settings::WorkerEntry;
use crate::terminal::environment::{Environment, SETTINGS_FILE};
use crate::text::plain::shell_path;
use crate::trust::TrustStore;
use crate::trust::file::TextFile;

#[derive(Clone, Debug)]
pub struct Settings {
    pub roles: RoleSettings,
    pub timeouts: TimeoutSettings,
    pub calls: CallSettings,
    pub budget: BudgetSettings,
    pub limits: LimitSettings,
    pub commands: CommandSettings,
    loops: Vec<Box<dyn Table>>,
    pub agents: BTreeMap<String, AgentEntry>,
    /// Prices by model name.
    pub prices: BTreeMap<String, Setting<ModelPrice>>,
    /// The machines that the user's own file describes.
    pub workers: BTreeMap<String, WorkerEntry>,
    /// The project's file, to check its trust.
    pub project_file: Option<TextFile>,
}

impl Settings {
    /// Returns the defaults, including those of the loops.
    pub fn new(mut loops: Vec<Box<dyn Table>>) -> Self {
        for table in &mut loops {
            table.unfold_preset(&Origin::Default);
        }
        Self {
            roles: RoleSettings::default(),
            timeouts: TimeoutSettings::default(),
            calls: CallSettings::default(),
            budget: BudgetSettings::default(),
            limits: LimitSettings::default(),
            commands: CommandSettings::default(),
            loops,
            agents: BTreeMap::new(),
            prices: BTreeMap::new(),
            workers: BTreeMap::new(),
            project_file: None,
        }
    }

    /// Loads all layers of files; a missing file counts as empty.
    pub fn load(
        loops: Vec<Box<dyn Table>>,
        project: &Path,
        env: &Environment,
    ) -> Result<Self, SettingsError> {
        Self::load_with(loops, TextFile::read(&project.join(SETTINGS_FILE))?, env)
    }

    /// Loads the user's file, and this file of a project.
    pub fn load_with(
        loops: Vec<Box<dyn Table>>,
        project: Option<TextFile>,
        env: &Environment,
    ) -> Result<Self, SettingsError> {
        let mut settings = Self::new(loops);
        let user = TextFile::read(&env.config.join(SETTINGS_FILE))?;
        if let Some(file) = &user {
            settings.apply_file(file, &Origin::User(file.path.clone()))?;
        }
        // The user's own folder may be the project; its file then needs no trust.
        if let Some(file) = project.filter(|file| user.is_none_or(|user| user.path != file.path)) {
            settings.apply_file(&file, &Origin::Project(file.path.clone()))?;
            // An unreadable record of trust trusts nothing.
            let is_trusted = || TrustStore::new(env).trusts(&file, &[]).unwrap_or(false);
            settings.keys().into_iter().for_each(|key| key.slot.hold(&is_trusted));
            settings.prices.values_mut().for_each(|price| price.hold(&is_trusted));
            settings.project_file = Some(file);
        }
        settings.loops.iter().try_for_each(|table| table.check())?;
        Ok(settings)
    }

    /// Overrides the current values with those of the file.
    pub fn apply_file(&mut self, file: &TextFile, origin: &Origin) -> Result<(), SettingsError> {
        let page = SettingsPage::of(file);
        let document = page.parse()?;
        let document = document.get_ref();
        let names: Vec<&str> = self.keys().iter().map(|key| key.name).collect();
        page.refuse_unknown(document, &names)?;
        if origin.is_projects() {
            page.refuse_own(document)?;
        }
        if let Some(agents) = value_at(document, "agents") {
            self.agents.extend(agent_settings::read(agents, page, origin)?);
        }
        if let Some(workers) = value_at(document, "workers") {
            self.workers.extend(worker_settings::read(workers, page, origin)?);
        }
        if let Some(prices) = value_at(document, "prices") {
            prices::apply(&mut self.prices, prices, page, origin)?;
        }
        let read = |key: Key<'_>| match value_at(document, key.name) {
            Some(value) => {
                let read = key.slot.read(value.get_ref(), origin);
                read.map(|()| true).map_err(|must| page.wrong(key.name, value, must))
            }
            None => Ok(false),
        };
        self.layer(origin, read)
    }

    /// Overrides files and answers with the flags of a command line.
    pub fn apply_flags(&mut self, given: &Given) {
        let take = |key: Key<'_>| Ok::<_, Infallible>(given.take(key));
        let Ok(()) = self.layer(&Origin::Flag("--preset"), take);
    }

    /// Sets each key that a layer has. A preset comes first, because all other values of its layer override it.
    fn layer<E>(&mut self, origin: &Origin, set: impl Fn(Key<'_>) -> Result<bool, E>) -> Result<(), E> {
        for table in &mut self.loops {
            let preset = table.keys().into_iter().find(|key| key.name.ends_with(".preset"));
            if preset.map(&set).transpose()?.unwrap_or(false) {
                table.unfold_preset(origin);
            }
        }
        self.keys().into_iter().try_for_each(|key| set(key).map(drop))
    }

    /// Returns the table of one loop.
    pub fn of<T: Table>(&self) -> &T {
        let mut tables = self.loops.iter().map(|table| table.as_ref() as &dyn Any);
        tables
            .find_map(|table| table.downcast_ref())
            .expect("settings are loaded with the table of every loop")
    }

    pub fn of_mut<T: Table>(&mut self) -> &mut T {
        let mut tables = self.loops.iter_mut().map(|table| table.as_mut() as &mut dyn Any);
        tables
            .find_map(|table| table.downcast_mut())
            .expect("settings are loaded with the table of every loop")
    }

    /// Returns the project's settings that let more into or out of a call than a person may expect.
    pub fn foreign_wishes(&self) -> Vec<String> {
        let world = match (&self.calls.isolation.origin, self.calls.isolation.value) {
            (Origin::Project(_), IsolationName::User) => Some("your full setup for agents (calls.isolation)"),
            _ => None,
        };
        let wrapper = match (&self.calls.via.origin, self.calls.via.value) {
            (Origin::Project(_), ViaName::Ccw | ViaName::Maestro) => {
                Some("a wrapper around agents (calls.via)")
            }
            _ => None,
        };
        let inside = (self.calls.wrap.origin.is_projects() && !self.calls.wrap.value.0.is_empty())
            .then_some("a program that agents run in (calls.wrap)");
        let of_loops = self.loops.iter().filter_map(|table| table.needs_trust());
        world.into_iter().chain(wrapper).chain(inside).chain(of_loops).map(str::to_owned).collect()
    }

    /// Returns the commands that settings name, except those of agents and those of `[commands]`.
    pub fn named_commands(&self) -> impl Iterator<Item = Named<'_>> {
        let wrap = &self.calls.wrap;
        let wrap = Named { key: "calls.wrap", words: &wrap.value.0, origin: &wrap.origin };
        let of_loops = self.loops.iter().filter_map(|table| table.command());
        std::iter::once(wrap).chain(of_loops).filter(|command| !command.words.is_empty())
    }

    /// Returns the settings where the project asks for more than the user's own limits, and whether they are in force.
    pub fn overs(&self) -> Vec<String> {
        let mut own = self.clone();
        let overs = own.keys().into_iter().filter_map(|key| Some((key.name.to_owned(), key.slot.over()?)));
        let prices = self.prices.iter();
        let prices = prices.filter_map(|(model, price)| Some((format!("prices.{model}"), price.over()?)));
        // A trusted file replaces nothing if the user has set nothing.
        let overs = overs.chain(prices).filter(|(_, over)| !(over.is_allowed && over.ceiling.is_null()));
        let lines = overs.map(|(key, Over { ceiling, asked, asks, is_allowed })| {
            let file = asks.file().map(|file| file.display().to_string()).unwrap_or_default();
            let own = match &ceiling {
                Json::Number(ceiling) => format!("your own limit of {ceiling}"),
                ceiling => format!("your own value {ceiling}"),
            };
            if is_allowed {
                let above = if ceiling.is_number() { "above" } else { "in place of" };
                return format!("{key} is {asked}, {above} {own}: you trust {file}");
            }
            let stays = if ceiling.is_null() { "unset".to_owned() } else { format!("at {own}") };
            let trust = format!("`skilltune trust {}` would allow it", shell_path(Path::new(&file)));
            format!("{key} stays {stays}: {file} asks for {asked}; {trust}")
        });
        lines.collect()
    }

    /// Returns the ceilings of a run with at most this many planned calls; a project's file does not raise that
    /// default.
    pub fn ceilings(&self, most: &MostCalls) -> Ceilings {
        let own = self.budget.ceilings();
        let calls = own.calls.filter(|_| self.unused_calls(most).is_none());
        Ceilings { calls, ..own }
    }

    /// Describes the number of calls that a project's file asks for in vain, if it does.
    pub fn unused_calls(&self, most: &MostCalls) -> Option<String> {
        let (calls, most) = (&self.budget.calls, most.values().sum::<u64>());
        let asked = calls.value.filter(|asked| calls.origin.is_projects() && *asked > most)?;
        let file = calls.origin.file()?.display();
        Some(format!(
            "budget.calls stays at {most}, the most that the plan needs: {file} asks for {asked}, and a project does not raise it"
        ))
    }

    /// Returns whether a run waits for a limit to reset, and how long.
    pub fn patience(&self) -> Patience {
        Patience {
            waits: self.calls.wait.value,
            longest: Duration::from_secs(u64::from(self.calls.wait_hours.value) * 3600),
            backoff: Duration::from_millis(self.limits.backoff_ms.value),
        }
    }

    pub fn prices(&self) -> Prices {
        self.prices.iter().filter_map(|(model, price)| Some((model.clone(), price.value.0?))).collect()
    }

    fn keys(&mut self) -> Vec<Key<'_>> {
        let Self { roles, timeouts, calls, budget, limits, commands, loops, .. } = self;
        let loops = loops.iter_mut().flat_map(|table| table.keys());
        let common: [&mut dyn Keyed; 5] = [roles, timeouts, calls, budget, limits];
        let common = common.into_iter().flat_map(Keyed::keys);
        common.chain(loops).chain(commands.keys()).collect()
    }
}

#[cfg(test)]
pub use tests::{Files, changes, project, refusal};

#[cfg(test)]
mod tests;
