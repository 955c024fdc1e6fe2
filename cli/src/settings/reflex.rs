//! `[reflex]`: what the reflex loop is judged, ended and paid by.

use skilltune_orchestrator::evolution::Evolution;
use skilltune_orchestrator::snapshot::RelPath;
use skilltune_phases::loops::reflex::criteria::{Criteria, Template, Thresholds, Weights};
use skilltune_phases::loops::reflex::{Bounds, Rules, RunThem};
use skilltune_phases::score::Score;
use skilltune_phases::stop::Stall;

use crate::settings::error::{Held, SettingsError};
use crate::settings::origin::Origin;
use crate::settings::setting::{Range, Setting, Slot};
use crate::settings::values::ChecksName;
use crate::settings::{COUNT, POINTS, SECONDS};
use crate::terminal::complaint::Complaint;

#[derive(Clone, Debug)]
pub struct ReflexSettings {
    pub max_iterations: Setting<u32>,
    pub threshold_a: Setting<Score>,
    pub threshold_b: Setting<Score>,
    pub docs_threshold_a: Setting<Score>,
    pub docs_threshold_b: Setting<Score>,
    pub checks: Setting<ChecksName>,
    pub stall_window: Setting<usize>,
    pub stall_gain: Setting<f64>,
    pub settle: Setting<u32>,
    pub retries: Setting<u32>,
    pub plan_least: Setting<usize>,
    pub plan_most: Setting<usize>,
    pub issues: Setting<usize>,
    pub events: Setting<usize>,
    pub checks_per_rule: Setting<usize>,
    pub check_seconds: Setting<u64>,
    pub max_seconds: Setting<Option<u64>>,
    pub weight_fail: Setting<u32>,
    pub weight_warn: Setting<u32>,
    pub weight_info: Setting<u32>,
    pub evolution: Setting<RelPath>,
}

/// What costs a call each time, or a line of a prompt.
const FEW: Range = Range { low: 0.0, high: 20.0 };
const MANY: Range = Range { low: 0.0, high: 100.0 };
/// Every level has rules of the heaviest kind: where they weigh something, no score is made of nothing.
const HEAVY: Range = Range { low: 1.0, high: 100.0 };

impl ReflexSettings {
    pub fn rules(&self, usd: Option<f64>) -> Rules {
        Rules {
            max_iterations: self.max_iterations.value,
            stall: Stall { window: self.stall_window.value, gain: self.stall_gain.value, reaching: true },
            settle: self.settle.value,
            retries: self.retries.value,
            plan_steps: Bounds { least: self.plan_least.value, most: self.plan_most.value },
            most_issues: self.issues.value,
            told_events: self.events.value,
            checks_per_rule: self.checks_per_rule.value,
            check_seconds: self.check_seconds.value,
            max_seconds: self.max_seconds.value,
            usd,
        }
    }

    pub fn criteria(&self, template: Template) -> Criteria {
        let (a, b) = match template {
            Template::Docs => (&self.docs_threshold_a, &self.docs_threshold_b),
            Template::Api | Template::Code | Template::Config => (&self.threshold_a, &self.threshold_b),
        };
        let weights = Weights {
            fail: self.weight_fail.value,
            warn: self.weight_warn.value,
            info: self.weight_info.value,
        };
        Criteria::of(template, weights, Thresholds { a: a.value, b: b.value })
    }

    /// A repository does not decide that what a model makes up is run on the machine that it is on.
    pub fn run_them(&self) -> Result<RunThem, Complaint> {
        match (&self.checks.origin, self.checks.value) {
            (Origin::Project(file), ChecksName::Run) => Err(Complaint::input(format!(
                "{}: only your own settings may say `reflex.checks = \"run\"`, which runs commands of a model without asking",
                file.display()
            ))
            .hint("remove it there; pass --checks run for one run, or set it in your own skilltune.toml")),
            (_, checks) => Ok(checks.into()),
        }
    }
}

impl ReflexSettings {
    /// Files may agree each for itself and not with one another.
    pub fn refuse_crossed(&self) -> Result<(), SettingsError> {
        let (least, most) = (&self.plan_least, &self.plan_most);
        if least.value <= most.value {
            return Ok(());
        }
        let held = |key, setting: &Setting<usize>| Held {
            key,
            value: setting.value,
            origin: setting.origin.clone(),
        };
        Err(SettingsError::Crossed {
            least: held("reflex.plan_least", least),
            most: held("reflex.plan_most", most),
        })
    }

    /// Every setting under its key: one that is left out here does not compile.
    pub fn slots(&mut self) -> Vec<(&'static str, &mut dyn Slot)> {
        let Self {
            max_iterations,
            threshold_a,
            threshold_b,
            docs_threshold_a,
            docs_threshold_b,
            checks,
            stall_window,
            stall_gain,
            settle,
            retries,
            plan_least,
            plan_most,
            issues,
            events,
            checks_per_rule,
            check_seconds,
            max_seconds,
            weight_fail,
            weight_warn,
            weight_info,
            evolution,
        } = self;
        vec![
            ("reflex.max_iterations", max_iterations),
            ("reflex.threshold_a", threshold_a),
            ("reflex.threshold_b", threshold_b),
            ("reflex.docs_threshold_a", docs_threshold_a),
            ("reflex.docs_threshold_b", docs_threshold_b),
            ("reflex.checks", checks),
            ("reflex.stall_window", stall_window),
            ("reflex.stall_gain", stall_gain),
            ("reflex.settle", settle),
            ("reflex.retries", retries),
            ("reflex.plan_least", plan_least),
            ("reflex.plan_most", plan_most),
            ("reflex.issues", issues),
            ("reflex.events", events),
            ("reflex.checks_per_rule", checks_per_rule),
            ("reflex.check_seconds", check_seconds),
            ("reflex.max_seconds", max_seconds),
            ("reflex.weight_fail", weight_fail),
            ("reflex.weight_warn", weight_warn),
            ("reflex.weight_info", weight_info),
            ("reflex.evolution", evolution),
        ]
    }
}

impl Default for ReflexSettings {
    fn default() -> Self {
        let (general, docs) = (Template::Api.thresholds(), Template::Docs.thresholds());
        let weights = Weights::default();
        let evolution = RelPath::parse(Evolution::USUAL.as_bytes()).expect("it is written as a path");
        Self {
            max_iterations: Setting::limit(COUNT, 4),
            threshold_a: Setting::within(POINTS, general.a),
            threshold_b: Setting::within(POINTS, general.b),
            docs_threshold_a: Setting::within(POINTS, docs.a),
            docs_threshold_b: Setting::within(POINTS, docs.b),
            checks: Setting::new(ChecksName::Ask),
            stall_window: Setting::within(COUNT, 2),
            stall_gain: Setting::within(POINTS, 2.0),
            settle: Setting::limit(MANY, 1),
            retries: Setting::limit(FEW, 1),
            plan_least: Setting::within(COUNT, 3),
            plan_most: Setting::within(COUNT, 5),
            issues: Setting::within(COUNT, 5),
            events: Setting::within(MANY, 3),
            checks_per_rule: Setting::limit(COUNT, 3),
            check_seconds: Setting::limit(SECONDS, 60),
            max_seconds: Setting::limit(SECONDS, None),
            weight_fail: Setting::within(HEAVY, weights.fail),
            weight_warn: Setting::within(MANY, weights.warn),
            weight_info: Setting::within(MANY, weights.info),
            evolution: Setting::new(evolution),
        }
    }
}

#[cfg(test)]
pub use crate::settings::reflex::tests::changes;

#[cfg(test)]
mod tests;
