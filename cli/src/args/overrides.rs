//! Flags override files and answers: those that several loops have.

use crate::settings::Settings;
use crate::settings::common::TimeoutSettings;
use crate::settings::flags::Given;
use crate::settings::origin::Origin;
use crate::settings::setting::Setting;
use crate::settings::values::AgentSpec;

/// Overrides files and answers with flags. `--agent` and `--timeout` are for all roles that no other flag names.
pub fn apply_shared_flags(
    settings: &mut Settings,
    agent: Option<&AgentSpec>,
    timeout: Option<u64>,
    given: &Given,
) {
    for role in settings.roles.required_mut() {
        override_with(role, agent.cloned().map(Some), "--agent");
    }
    let TimeoutSettings { executor, evaluator, improver } = &mut settings.timeouts;
    for role in [executor, evaluator, improver] {
        override_with(role, timeout, "--timeout");
    }
    settings.apply_flags(given);
}

/// A flag's value, if it was given.
pub fn override_with<T: Clone>(setting: &mut Setting<T>, value: Option<T>, flag: &'static str) {
    if let Some(value) = value {
        setting.set(value, Origin::Flag(flag));
    }
}
