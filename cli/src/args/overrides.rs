//! Flags override files and answers: those that several loops have.

use crate::args::shared::{CallFlags, CeilingFlags, RunFlags};
use crate::settings::Settings;
use crate::settings::origin::Origin;
use crate::settings::per_role::PerRole;
use crate::settings::setting::Setting;
use crate::settings::values::AgentSpec;

/// One for all, and over it those that are named for their role.
pub fn apply_role_flags(settings: &mut Settings, all: Option<&AgentSpec>, own: &PerRole<Option<&AgentSpec>>) {
    let PerRole { executor, evaluator, improver } = &mut settings.roles;
    let named = [
        (executor, own.executor, "--executor"),
        (evaluator, own.evaluator, "--evaluator"),
        (improver, own.improver, "--improver"),
    ];
    for (role, own, flag) in named {
        override_with(role, all.cloned().map(Some), "--agent");
        override_with(role, own.cloned().map(Some), flag);
    }
}

pub fn lay_calls(settings: &mut Settings, flags: &CallFlags) {
    override_with(&mut settings.calls.isolation, flags.isolation, "--isolation");
    override_with(&mut settings.calls.via, flags.via, "--via");
    let PerRole { executor, evaluator, improver } = &mut settings.timeouts;
    for timeout in [executor, evaluator, improver] {
        override_with(timeout, flags.timeout, "--timeout");
    }
}

pub fn lay_run(settings: &mut Settings, flags: &RunFlags) {
    override_with(&mut settings.calls.jobs, flags.jobs, "--jobs");
    override_with(&mut settings.calls.wait, flags.wait.then_some(true), "--wait");
    let budget = &mut settings.budget;
    let CeilingFlags { usd, tokens, calls, minutes, keep_free, unpriced } = flags.ceilings;
    override_with(&mut budget.usd, usd.map(Some), "--max-usd");
    override_with(&mut budget.tokens, tokens.map(Some), "--max-tokens");
    override_with(&mut budget.calls, calls.map(Some), "--max-calls");
    override_with(&mut budget.minutes, minutes.map(Some), "--max-minutes");
    override_with(&mut budget.keep_free, keep_free.map(Some), "--keep-free");
    override_with(&mut budget.unpriced, unpriced, "--unpriced");
}

/// A flag's value, if it was given.
pub fn override_with<T: Clone>(setting: &mut Setting<T>, value: Option<T>, flag: &'static str) {
    if let Some(value) = value {
        setting.set(value, Origin::Flag(flag));
    }
}
