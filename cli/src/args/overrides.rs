//! Flags override files and answers: those that several loops have.

use crate::args::shared::CallFlags;
use crate::settings::Settings;
use crate::settings::common::TimeoutSettings;
use crate::settings::flags::Given;
use crate::settings::origin::Origin;
use crate::settings::setting::Setting;
use crate::settings::values::AgentSpec;

/// One for all, and over it those that are named for their role.
pub fn apply_role_flags(settings: &mut Settings, all: Option<&AgentSpec>, own: [Option<&AgentSpec>; 3]) {
    let flags = ["--executor", "--evaluator", "--improver"];
    for ((role, own), flag) in settings.roles.required_mut().into_iter().zip(own).zip(flags) {
        override_with(role, all.cloned().map(Some), "--agent");
        override_with(role, own.cloned().map(Some), flag);
    }
}

/// Overrides the settings that have no flag of their own for a command, then those that have one.
pub fn lay_given(settings: &mut Settings, calls: &CallFlags, given: &Given) {
    let TimeoutSettings { executor, evaluator, improver } = &mut settings.timeouts;
    for timeout in [executor, evaluator, improver] {
        override_with(timeout, calls.timeout, "--timeout");
    }
    settings.lay(given);
}

/// A flag's value, if it was given.
pub fn override_with<T: Clone>(setting: &mut Setting<T>, value: Option<T>, flag: &'static str) {
    if let Some(value) = value {
        setting.set(value, Origin::Flag(flag));
    }
}
