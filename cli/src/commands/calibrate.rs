//! `calibrate`: measures how small a change a suite can show, with trials of one skill, before money is spent on a
//! search.

use skilltune_phases::loops::tune::Aim;

use crate::inputs::find;
use crate::inputs::find::Skill;
use crate::inputs::suite::Suite;
use crate::loops::tune::scenarios::TaskSet;
use crate::loops::tune::trial_flags::CalibrateArgs;
use crate::loops::tune::trial_run::{self, TrialRun, What};
use crate::loops::tune::versions::Version;
use crate::settings::values::Panel;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::terminal::questions::Person;
use crate::text::figures::count;

pub(super) fn run(args: &CalibrateArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let person = Person::present(env).filter(|_| !args.flags.run.yes);
    let list = find::skill_list(args.skills.as_deref(), "calibrate", person, env, printer)?;
    let skills = find::skills_for("calibrate", &list, env)?;
    if skills.len() > 1 && !args.chain {
        return Err(Complaint::input(format!(
            "`calibrate` tries one skill or one chain, not {}",
            skills.len()
        ))
        .hint("name one skill, or pass --chain"));
    }
    let paths: Vec<_> = skills.iter().map(|skill| skill.path.as_path()).collect();
    let (mut suite, found) = trial_run::suite(&args.flags, &paths, env)?;
    only(&mut suite, &args.only)?;
    let task_set = TaskSet::of_suite(suite.clone(), found)?;
    // Nothing is compared, so no panel is needed.
    let project = env.project_of(&skills[0].path);
    let trial_run = TrialRun::new(&args.flags, Some(&Panel::default()), &project, env, printer)?;
    // A path below the suite, which is a file, so it cannot exist. Another skill can be tried on the same suite
    // meanwhile.
    let stand = |skill: &Skill| Skill { name: skill.name.clone(), path: suite.path.join(&skill.name) };
    let stands = skills.iter().map(stand).collect();
    let aim = Aim::Calibrate { trials: args.trials };
    let versions = skills.into_iter().map(Version::Folder).collect();
    trial_run.run(What { aim, versions, skills: stands, task_set, confirm: None }, suite)
}

/// Keeps only the scenarios with these ids.
fn only(suite: &mut Suite, ids: &[String]) -> Result<(), Complaint> {
    if ids.is_empty() {
        return Ok(());
    }
    if let Some(strange) = ids.iter().find(|id| suite.scenarios.iter().all(|one| one.id != **id)) {
        let has = count(suite.scenarios.len(), "scenario");
        return Err(Complaint::input(format!("{} has no scenario {strange:?}", suite.path.display()))
            .hint(format!("it has {has}; `skilltune suite check` lists them")));
    }
    suite.scenarios.retain(|one| ids.iter().any(|id| one.id == *id));
    Ok(())
}
