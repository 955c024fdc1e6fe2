//! What flags say goes over all that files and answers have said.

use crate::agents::PerRole;
use crate::args::shared::{CallFlags, RunFlags};
use crate::loops::reflex::args::new::NewArgs;
use crate::loops::tune::args::TuneArgs;
use crate::settings::Settings;
use crate::settings::origin::Origin;
use crate::settings::setting::Setting;
use crate::settings::values::AgentSpec;

pub fn lay_tune_flags(settings: &mut Settings, args: &TuneArgs) {
    if let Some(preset) = args.preset {
        settings.set_preset(preset, &Origin::Flag("--preset"));
    }
    lay(&mut settings.max_iterations, args.max_iterations, "--max-iterations");
    lay(&mut settings.threshold, args.threshold, "--threshold");
    lay(&mut settings.delivery, args.delivery, "--delivery");
    lay(&mut settings.apply, args.apply, "--apply");
    let own = PerRole {
        executor: args.executor.as_ref(),
        evaluator: args.evaluator.as_ref(),
        improver: args.improver.as_ref(),
    };
    lay_roles(settings, args.agent.as_ref(), &own);
    lay_calls(settings, &args.calls);
    lay_run(settings, &args.run);
}

pub fn lay_reflex_flags(settings: &mut Settings, args: &NewArgs) {
    let reflex = &mut settings.reflex;
    lay(&mut reflex.max_iterations, args.max_iterations, "--max-iterations");
    // Whatever the text turns out to be.
    for threshold in [&mut reflex.threshold_a, &mut reflex.docs_threshold_a] {
        lay(threshold, args.threshold_a, "--threshold-a");
    }
    for threshold in [&mut reflex.threshold_b, &mut reflex.docs_threshold_b] {
        lay(threshold, args.threshold_b, "--threshold-b");
    }
    lay(&mut reflex.max_seconds, args.max_seconds.map(Some), "--max-seconds");
    lay(&mut reflex.checks, args.checks, "--checks");
    let own = PerRole {
        executor: args.executor.as_ref(),
        evaluator: args.evaluator.as_ref(),
        improver: args.improver.as_ref(),
    };
    lay_roles(settings, args.agent.as_ref(), &own);
    lay_calls(settings, &args.calls);
    lay_run(settings, &args.run);
}

/// One for all, and over it those that are named for their role.
fn lay_roles(settings: &mut Settings, all: Option<&AgentSpec>, own: &PerRole<Option<&AgentSpec>>) {
    let PerRole { executor, evaluator, improver } = &mut settings.roles;
    let named = [
        (executor, own.executor, "--executor"),
        (evaluator, own.evaluator, "--evaluator"),
        (improver, own.improver, "--improver"),
    ];
    for (role, own, flag) in named {
        lay(role, all.cloned().map(Some), "--agent");
        lay(role, own.cloned().map(Some), flag);
    }
}

fn lay_calls(settings: &mut Settings, flags: &CallFlags) {
    lay(&mut settings.isolation, flags.isolation, "--isolation");
    lay(&mut settings.via, flags.via, "--via");
    let PerRole { executor, evaluator, improver } = &mut settings.timeouts;
    for timeout in [executor, evaluator, improver] {
        lay(timeout, flags.timeout, "--timeout");
    }
}

fn lay_run(settings: &mut Settings, flags: &RunFlags) {
    lay(&mut settings.jobs, flags.jobs, "--jobs");
    lay(&mut settings.wait, flags.wait.then_some(true), "--wait");
}

/// A flag's value, if it was given.
pub fn lay<T: Clone>(setting: &mut Setting<T>, value: Option<T>, flag: &'static str) {
    if let Some(value) = value {
        setting.set(value, Origin::Flag(flag));
    }
}
