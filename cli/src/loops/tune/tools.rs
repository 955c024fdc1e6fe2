//! A shell for the executor: where it may have one, and what confines its commands to the workspace.

use skilltune_orchestrator::process::can_confine;
use skilltune_phases::base::role::{Rights, Role};
use skilltune_phases::runs::plan::Isolation;
use skilltune_phases::suites::scenario::{Scenario, Tools};

use crate::casting::system_confines;
use crate::loops::start::Common;
use crate::loops::tune::settings::TuneSettings;
use crate::terminal::complaint::Complaint;

/// Gives the executor a shell if one of the scenarios needs it, or says why this is impossible. A custom command has the
/// tools that it has.
pub fn allow_shell(common: &mut Common, scenarios: &[Scenario]) -> Result<(), Complaint> {
    let Common { settings, casting, .. } = common;
    let usual = Tools::from(settings.of::<TuneSettings>().tools.value);
    if scenarios.iter().all(|scenario| scenario.tools.unwrap_or(usual) != Tools::Shell) {
        return Ok(());
    }
    let executor = casting.of_mut(&Role::EXECUTOR);
    let agent = &executor.agent;
    if agent.via().is_none() && agent.isolation() == Isolation::User {
        let what = format!("cannot give `{}` a shell with --isolation user", agent.name);
        return Err(Complaint::input(what)
            .caused_by("its commands could change your own setup, which your other sessions run")
            .hint("pass --isolation partial, or --tools files"));
    }
    executor.rights = agent.enforced(Rights::Shell, system_confines(settings));
    if agent.lacks_shell() && settings.limits.confine.value && !can_confine() {
        let what = format!("cannot give `{}` a shell: this system cannot confine its commands", agent.name);
        return Err(Complaint::input(what).hint(
            "pass --tools files, or set `limits.confine = false` in your own settings to run them unconfined",
        ));
    }
    Ok(())
}
