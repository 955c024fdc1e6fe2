//! The flags of `tune` override files and answers.

use crate::args::overrides::{apply_role_flags, lay_given, override_with};
use crate::loops::tune::args::TuneArgs;
use crate::loops::tune::settings::TuneSettings;
use crate::settings::Settings;
use crate::settings::origin::Origin;

pub fn lay_tune_flags(settings: &mut Settings, args: &TuneArgs) {
    let tune = settings.of_mut::<TuneSettings>();
    if let Some(preset) = args.preset {
        tune.set_preset(preset, &Origin::Flag("--preset"));
    }
    override_with(&mut tune.max_iterations, args.max_iterations, "--max-iterations");
    override_with(&mut tune.search, args.search.map(Some), "--search");
    override_with(&mut tune.runs, args.runs, "--runs");
    override_with(&mut tune.threshold, args.threshold, "--threshold");
    override_with(&mut tune.confidence, args.confidence, "--confidence");
    override_with(&mut tune.delivery, args.delivery, "--delivery");
    override_with(&mut tune.tools, args.tools, "--tools");
    override_with(&mut tune.apply, args.apply, "--apply");
    let own = [&args.executor, &args.evaluator, &args.improver].map(Option::as_ref);
    override_with(&mut settings.roles.panel, args.panel.clone(), "--panel");
    let second = args.second_improver.clone().map(Some);
    override_with(&mut settings.roles.second_improver, second, "--second-improver");
    apply_role_flags(settings, args.agent.as_ref(), own);
    lay_given(settings, &args.calls, &args.given);
}
