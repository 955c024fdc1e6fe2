//! The settings: what each is worth, and where that comes from.
//!
//! Layers lie upon each other: defaults, the user's file, the project's file, answers, flags. A preset stands for two
//! settings and is unfolded in its own layer, so that a higher layer's preset beats a lower layer's number. A limit that
//! the user's file sets is a ceiling: a project can lower it, and raise it only when its file is trusted.

pub mod values;

mod about;
pub mod agents;
pub mod error;
pub mod file;
pub mod origin;
pub mod prices;
pub mod prompts;
mod reflex;
pub mod setting;
pub mod show;
mod template;

pub use crate::settings::agents::AgentEntry;
pub use crate::settings::error::SettingsError;
pub use crate::settings::file::SettingsFile;
pub use crate::settings::origin::Origin;
pub use crate::settings::prices::PriceEntry;
pub use crate::settings::prompts::PromptSettings;
pub use crate::settings::reflex::ReflexSettings;
pub use crate::settings::setting::{Range, Setting};

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use skilltune_orchestrator::engine::Patience;
use skilltune_phases::loops::tune::Rules;
use skilltune_phases::price::Prices;
use skilltune_phases::score::Score;
use skilltune_phases::stop::{Budget, Stall};

use crate::agents::PerRole;
use crate::settings::setting::{Over, Slot};
use crate::settings::values::{AgentSpec, ApplyWhen, DeliveryName, IsolationName, Preset, ViaName};
use crate::terminal::environment::{Environment, SETTINGS_FILE};
use crate::text::plain::shell_path;
use crate::trust::TrustStore;

pub const COUNT: Range = Range { low: 1.0, high: 100.0 };
pub const JOBS: Range = Range { low: 1.0, high: 256.0 };
pub const POINTS: Range = Range { low: 0.0, high: 100.0 };
/// Up to a week.
pub const SECONDS: Range = Range { low: 1.0, high: 604_800.0 };
/// Up to a week, too.
const HOURS: Range = Range { low: 1.0, high: 168.0 };
/// Milliseconds, up to a minute.
const PAUSE: Range = Range { low: 0.0, high: 60_000.0 };
const SHARE: Range = Range { low: 0.0, high: 1.0 };
/// Up to where every whole number has a float of its own.
const AMOUNT: Range = Range { low: 0.0, high: 9_007_199_254_740_992.0 };

#[derive(Clone, Debug)]
pub struct Settings {
    pub preset: Setting<Preset>,
    pub max_iterations: Setting<u32>,
    pub threshold: Setting<Score>,
    pub regress: Setting<f64>,
    pub stall_window: Setting<usize>,
    pub stall_gain: Setting<f64>,
    pub max_errors: Setting<u32>,
    pub confirm: Setting<u32>,
    pub coverage: Setting<f64>,
    pub delivery: Setting<DeliveryName>,
    pub apply: Setting<ApplyWhen>,
    pub jobs: Setting<u32>,
    pub wait: Setting<bool>,
    pub wait_hours: Setting<u32>,
    pub usd: Setting<Option<f64>>,
    pub seconds: Setting<Option<u64>>,
    pub roles: PerRole<Setting<Option<AgentSpec>>>,
    pub timeouts: PerRole<Setting<u64>>,
    pub isolation: Setting<IsolationName>,
    pub via: Setting<ViaName>,
    pub prompts: PromptSettings,
    pub artifact_files: Setting<u64>,
    pub artifact_bytes: Setting<u64>,
    pub output_bytes: Setting<u64>,
    pub confine: Setting<bool>,
    pub backoff_ms: Setting<u64>,
    pub reflex: ReflexSettings,
    pub agents: BTreeMap<String, AgentEntry>,
    pub prices: BTreeMap<String, PriceEntry>,
    /// The project's file, for the question of trust.
    pub project_file: Option<SettingsFile>,
}

/// How much of what agents make is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub artifact_files: u64,
    pub artifact_bytes: u64,
    pub output_bytes: u64,
}

impl Settings {
    /// All layers of files; a missing file is an empty one.
    pub fn load(project: &Path, around: &Environment) -> Result<Self, SettingsError> {
        let mut settings = Self::default();
        let user = SettingsFile::read(&around.config.join(SETTINGS_FILE))?;
        if let Some(file) = &user {
            file.lay_upon(&mut settings, &Origin::User(file.path.clone()))?;
        }
        // The user's own folder may be the project: then its file needs no trust.
        let project = SettingsFile::read(&project.join(SETTINGS_FILE))?;
        if let Some(file) = project.filter(|file| user.is_none_or(|user| user.path != file.path)) {
            file.lay_upon(&mut settings, &Origin::Project(file.path.clone()))?;
            // A record of trust that cannot be read trusts nothing.
            let is_trusted = || TrustStore::new(around).trusts(&file, &[]).unwrap_or(false);
            settings.slots().into_iter().for_each(|(_, slot)| slot.hold(&is_trusted));
            settings.project_file = Some(file);
        }
        settings.reflex.refuse_crossed()?;
        Ok(settings)
    }

    /// A preset, with the two settings that it stands for.
    pub fn set_preset(&mut self, preset: Preset, origin: &Origin) {
        let unfolded = Origin::Preset(preset, Box::new(origin.clone()));
        self.preset.set(preset, origin.clone());
        self.max_iterations.set(preset.rounds(), unfolded.clone());
        self.threshold.set(preset.threshold(), unfolded);
    }

    pub fn rules(&self) -> Rules {
        Rules {
            max_iterations: self.max_iterations.value,
            threshold: self.threshold.value,
            regress: self.regress.value,
            stall: Stall { window: self.stall_window.value, gain: self.stall_gain.value, reaching: false },
            max_errors: self.max_errors.value,
            confirm: self.confirm.value,
            coverage: self.coverage.value,
            budget: Budget { usd: self.usd.value, seconds: self.seconds.value },
        }
    }

    /// What the project asks for that lets more into a call, or out of it, than a person may expect.
    pub fn foreign_wishes(&self) -> Vec<String> {
        let world = match (&self.isolation.origin, self.isolation.value) {
            (Origin::Project(_), IsolationName::User) => Some("your own world for agents (calls.isolation)"),
            _ => None,
        };
        let wrapper = match (&self.via.origin, self.via.value) {
            (Origin::Project(_), ViaName::Ccw | ViaName::Maestro) => {
                Some("a wrapper around agents (calls.via)")
            }
            _ => None,
        };
        world.into_iter().chain(wrapper).map(str::to_owned).collect()
    }

    /// Where the project asks for more than the user's own limits, and whether it gets it.
    pub fn overs(&self) -> Vec<String> {
        let mut own = self.clone();
        let overs = own.slots().into_iter().filter_map(|(key, slot)| Some((key, slot.over()?)));
        let told = overs.map(|(key, Over { ceiling, asked, asks, is_allowed })| {
            let file = asks.file().map(|file| file.display().to_string()).unwrap_or_default();
            if is_allowed {
                return format!("{key} is {asked}, above your own limit of {ceiling}: you trust {file}");
            }
            let trust = format!("`skilltune trust {}` would allow it", shell_path(Path::new(&file)));
            format!("{key} stays at your own limit of {ceiling}: {file} asks for {asked}; {trust}")
        });
        told.collect()
    }

    pub fn limits(&self) -> Limits {
        Limits {
            artifact_files: self.artifact_files.value,
            artifact_bytes: self.artifact_bytes.value,
            output_bytes: self.output_bytes.value,
        }
    }

    /// What is waited for, and how long.
    pub fn patience(&self) -> Patience {
        Patience {
            waits: self.wait.value,
            longest: Duration::from_secs(u64::from(self.wait_hours.value) * 3600),
            backoff: Duration::from_millis(self.backoff_ms.value),
        }
    }

    pub fn prices(&self) -> Prices {
        self.prices.iter().map(|(model, entry)| (model.clone(), entry.price)).collect()
    }

    /// Every setting under its key: one that is left out here does not compile.
    fn slots(&mut self) -> Vec<(&'static str, &mut dyn Slot)> {
        let Self {
            preset,
            max_iterations,
            threshold,
            regress,
            stall_window,
            stall_gain,
            max_errors,
            confirm,
            coverage,
            delivery,
            apply,
            jobs,
            wait,
            wait_hours,
            usd,
            seconds,
            roles,
            timeouts,
            isolation,
            via,
            prompts,
            artifact_files,
            artifact_bytes,
            output_bytes,
            confine,
            backoff_ms,
            reflex,
            agents: _,
            prices: _,
            project_file: _,
        } = self;
        let mut slots: Vec<(&str, &mut dyn Slot)> = vec![
            (PRESET, preset),
            ("tune.max_iterations", max_iterations),
            ("tune.threshold", threshold),
            ("tune.regress", regress),
            ("tune.stall_window", stall_window),
            ("tune.stall_gain", stall_gain),
            ("tune.max_errors", max_errors),
            ("tune.confirm", confirm),
            ("tune.coverage", coverage),
            ("tune.delivery", delivery),
            ("tune.apply", apply),
            ("tune.jobs", jobs),
            ("tune.wait", wait),
            ("tune.wait_hours", wait_hours),
            ("budget.usd", usd),
            ("budget.seconds", seconds),
            ("roles.executor", &mut roles.executor),
            ("roles.evaluator", &mut roles.evaluator),
            ("roles.improver", &mut roles.improver),
            ("timeouts.executor", &mut timeouts.executor),
            ("timeouts.evaluator", &mut timeouts.evaluator),
            ("timeouts.improver", &mut timeouts.improver),
            ("calls.isolation", isolation),
            ("calls.via", via),
            ("limits.artifact_files", artifact_files),
            ("limits.artifact_bytes", artifact_bytes),
            ("limits.output_bytes", output_bytes),
            ("limits.confine", confine),
            ("limits.backoff_ms", backoff_ms),
        ];
        slots.extend(prompts.slots());
        slots.extend(reflex.slots());
        slots
    }
}

const PRESET: &str = "tune.preset";

impl Default for Settings {
    fn default() -> Self {
        let nobody = || Setting::new(None);
        let mut settings = Self {
            preset: Setting::new(Preset::Standard),
            max_iterations: Setting::limit(COUNT, 5),
            threshold: Setting::within(POINTS, Score::FULL),
            regress: Setting::within(POINTS, 10.0),
            stall_window: Setting::within(COUNT, 2),
            stall_gain: Setting::within(POINTS, 2.0),
            max_errors: Setting::limit(COUNT, 3),
            confirm: Setting::within(POINTS, 1),
            coverage: Setting::within(SHARE, 0.8),
            delivery: Setting::new(DeliveryName::Auto),
            apply: Setting::new(ApplyWhen::Auto),
            jobs: Setting::limit(JOBS, 4),
            wait: Setting::new(false),
            wait_hours: Setting::limit(HOURS, 12),
            usd: Setting::limit(AMOUNT, None),
            seconds: Setting::limit(AMOUNT, None),
            roles: PerRole { executor: nobody(), evaluator: nobody(), improver: nobody() },
            timeouts: PerRole {
                executor: Setting::limit(SECONDS, 600),
                evaluator: Setting::limit(SECONDS, 300),
                improver: Setting::limit(SECONDS, 600),
            },
            isolation: Setting::new(IsolationName::Partial),
            via: Setting::new(ViaName::Direct),
            prompts: PromptSettings::default(),
            artifact_files: Setting::limit(AMOUNT, 1_000),
            artifact_bytes: Setting::limit(AMOUNT, 64 << 20),
            output_bytes: Setting::limit(AMOUNT, 8 << 20),
            confine: Setting::new(true),
            backoff_ms: Setting::within(PAUSE, 2_000),
            reflex: ReflexSettings::default(),
            agents: BTreeMap::new(),
            prices: BTreeMap::new(),
            project_file: None,
        };
        settings.set_preset(Preset::Standard, &Origin::Default);
        settings
    }
}

#[cfg(test)]
pub use tests::{Files, changes};

#[cfg(test)]
mod tests;
