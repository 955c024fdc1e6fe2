//! `[reflex]`: the settings by which the reflex loop is judged, ended and paid.

use clap::builder::ValueParser;
use skilltune_orchestrator::evolution::Evolution;
use skilltune_orchestrator::snapshot::RelPath;
use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::reflex::Rules;
use skilltune_phases::loops::reflex::criteria::{Criteria, Template, Thresholds, Weights};
use skilltune_phases::suites::checks::RunThem;

use crate::settings::error::{Held, SettingsError};
use crate::settings::proposed;
use crate::settings::proposed::ChecksName;
use crate::settings::range::{COUNT, FEW, POINTS, Range, SECONDS};
use crate::settings::setting::Setting;
use crate::settings::table::{Table, flag, options};
use crate::settings::values;
use crate::terminal::complaint::Complaint;

/// Each is a line of a prompt.
const MANY: Range = Range { low: 0.0, high: 100.0 };
/// Every level has rules of the heaviest kind: they must weigh something, or a score would have no basis.
const HEAVY: Range = Range { low: 1.0, high: 100.0 };

options! {
    ReflexSettings, "reflex", Rules as usual;
    max_iterations: u32 = Setting::limit(COUNT, usual.max_iterations) => max_iterations,
        "Maximum number of iterations, including the first.",
        flag("--max-iterations", "N");
    threshold_a: Score = Setting::within(POINTS, Template::Api.thresholds().a),
        "Score to pass level A, except for documentation.";
    threshold_b: Score = Setting::within(POINTS, Template::Api.thresholds().b),
        "Score to pass level B, except for documentation.";
    docs_threshold_a: Score = Setting::within(POINTS, Template::Docs.thresholds().a),
        "Score to pass level A, for documentation.";
    docs_threshold_b: Score = Setting::within(POINTS, Template::Docs.thresholds().b),
        "Score to pass level B, for documentation.";
    proposals: u32 = Setting::limit(FEW, 4),
        "Maximum number of rules that the evaluator proposes for a task; 0 for none.",
        flag("--proposals", "N").help("Maximum number of rules that the evaluator proposes for the task; 0 for none");
    checks: ChecksName = Setting::new(ChecksName::Ask),
        "What to do with commands that the evaluator proposes as checks; only your own settings may set run.",
        flag("--checks", "HOW").help("What to do with commands that the evaluator proposes as checks");
    stall_window: usize = Setting::within(COUNT, usual.stall.window) => stall.window,
        "Stop if the best score of a level did not rise by stall_gain in this many evaluations.";
    stall_gain: f64 = Setting::within(POINTS, usual.stall.gain) => stall.gain,
        "Points by which the best score must rise in stall_window evaluations; 0 never stops.";
    settle: u32 = Setting::limit(MANY, usual.settle) => settle,
        "Refinements at level B before skilltune accepts a text that has only warnings.";
    retries: u32 = Setting::limit(FEW, usual.retries) => retries,
        "Maximum number of retries after an invalid answer.";
    plan_least: usize = Setting::within(COUNT, usual.plan_steps.least) => plan_steps.least,
        "Minimum number of steps of a plan.";
    plan_most: usize = Setting::within(COUNT, usual.plan_steps.most) => plan_steps.most,
        "Maximum number of steps of a plan.";
    issues: usize = Setting::within(COUNT, usual.most_issues) => most_issues,
        "Maximum number of issues of a critique.";
    events: usize = Setting::within(MANY, usual.latest_events) => latest_events,
        "Number of latest events that the planner sees.";
    checks_per_rule: usize = Setting::limit(COUNT, usual.checks_per_rule) => checks_per_rule,
        "Maximum number of checks per rule.";
    check_seconds: u64 = Setting::limit(SECONDS, usual.check_seconds) => check_seconds,
        "Timeout of a check command in seconds.";
    max_seconds: Option<u64> = Setting::limit(SECONDS, usual.max_seconds) => max_seconds,
        "Maximum total seconds of completed phases, such as `max_seconds = 1800`; no limit if unset.",
        flag("--max-seconds", "TIME").help("Maximum total time of completed phases, such as 90, 90s or 10m")
            .by(|| ValueParser::from(values::seconds));
    weight_fail: u32 = Setting::within(HEAVY, Weights::default().fail),
        "Weight of a rule that a text must meet to pass a level.";
    weight_warn: u32 = Setting::within(MANY, Weights::default().warn),
        "Weight of a rule that gives a warning.";
    weight_info: u32 = Setting::within(MANY, Weights::default().info),
        "Weight of a rule that gives a remark.";
    evolution: RelPath = Setting::new(usual_folder()),
        "Folder for the files of reflex, with one folder per task.";
}

impl ReflexSettings {
    pub fn rules(&self) -> Rules {
        self.as_rules()
    }

    pub fn criteria(&self, template: Template) -> Criteria {
        let (a, b) = match template {
            Template::Docs => (&self.docs_threshold_a, &self.docs_threshold_b),
            Template::Api | Template::Code | Template::Config | Template::Other => {
                (&self.threshold_a, &self.threshold_b)
            }
        };
        Criteria::of(template, self.weights(), Thresholds { a: a.value, b: b.value })
    }

    pub fn weights(&self) -> Weights {
        Weights { fail: self.weight_fail.value, warn: self.weight_warn.value, info: self.weight_info.value }
    }

    /// Returns what to do with the commands of a model.
    pub fn run_them(&self) -> Result<RunThem, Complaint> {
        proposed::by_own_word("reflex.checks", "--checks", &self.checks)
    }
}

impl Table for ReflexSettings {
    /// Checks the settings together: each file may be consistent alone and not with the others.
    fn check(&self) -> Result<(), SettingsError> {
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
}

fn usual_folder() -> RelPath {
    RelPath::parse(Evolution::USUAL.as_bytes()).expect("it is written as a path")
}

#[cfg(test)]
pub use tests::changes;

#[cfg(test)]
mod tests;
