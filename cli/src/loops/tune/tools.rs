//! A shell for the executor: where it may have one, and what confines its commands to the workspace.

use skilltune_orchestrator::process::can_confine;
use skilltune_phases::base::role::Rights;
use skilltune_phases::runs::plan::Isolation;

use crate::casting::{Part, system_confines};
use crate::settings::Settings;
use crate::terminal::complaint::Complaint;

/// Gives the executor a shell, or says why this is impossible. A custom command has the tools that it has.
pub fn allow_shell(executor: &mut Part, settings: &Settings) -> Result<(), Complaint> {
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
