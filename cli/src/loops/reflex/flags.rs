//! The flags of `reflex` override files and answers.

use crate::args::overrides::{lay, override_with};
use crate::loops::reflex::args::NewArgs;
use crate::loops::reflex::settings::ReflexSettings;
use crate::settings::Settings;
use crate::settings::common::RoleSettings;

pub fn lay_reflex_flags(settings: &mut Settings, args: &NewArgs) {
    let reflex = settings.of_mut::<ReflexSettings>();
    override_with(&mut reflex.max_iterations, args.max_iterations, "--max-iterations");
    // The flag applies to texts of any kind.
    for threshold in [&mut reflex.threshold_a, &mut reflex.docs_threshold_a] {
        override_with(threshold, args.thresholds.map(|both| both.a), "--thresholds");
    }
    for threshold in [&mut reflex.threshold_b, &mut reflex.docs_threshold_b] {
        override_with(threshold, args.thresholds.map(|both| both.b), "--thresholds");
    }
    override_with(&mut reflex.proposals, args.proposals, "--proposals");
    override_with(&mut reflex.max_seconds, args.max_seconds.map(Some), "--max-seconds");
    override_with(&mut reflex.checks, args.checks, "--checks");
    lay(settings, args.agent.as_ref(), args.calls.timeout, &args.given);
    let RoleSettings { executor, evaluator, improver, .. } = &mut settings.roles;
    override_with(executor, args.executor.clone().map(Some), "--executor");
    override_with(evaluator, args.evaluator.clone().map(Some), "--evaluator");
    override_with(improver, args.improver.clone().map(Some), "--improver");
}
