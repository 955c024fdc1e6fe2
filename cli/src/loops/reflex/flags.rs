//! The flags of `reflex` override files and answers.

use crate::args::overrides::{apply_role_flags, lay_given, override_with};
use crate::loops::reflex::args::NewArgs;
use crate::loops::reflex::settings::ReflexSettings;
use crate::settings::Settings;

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
    let own = [&args.executor, &args.evaluator, &args.improver].map(Option::as_ref);
    apply_role_flags(settings, args.agent.as_ref(), own);
    lay_given(settings, &args.calls, &args.given);
}
