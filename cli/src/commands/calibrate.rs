//! `calibrate`: how small a change a suite can show, by trials of the same skill, before anything is spent on a search.

use crate::inputs::find;
use crate::inputs::find::Skill;
use crate::loops::tune::request::Purpose;
use crate::loops::tune::scenarios::Tried;
use crate::loops::tune::trial_flags::CalibrateArgs;
use crate::loops::tune::trying::{self, Trying, What};
use crate::settings::values::Panel;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;

pub(super) fn run(args: &CalibrateArgs, around: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let mut skills = find::skills(&args.skill, around)?;
    if skills.len() > 1 {
        return Err(Complaint::input("`calibrate` tries one skill").hint("name one of them"));
    }
    let skill = skills.remove(0);
    let (suite, found) = trying::suite(&args.flags, &[&skill.path], around)?;
    let tried = Tried::of_suite(suite.clone(), found)?;
    // Nothing is compared, so there is no work for a panel.
    let trying =
        Trying::new(&args.flags, Some(&Panel::default()), &around.project_of(&skill.path), around, printer)?;
    let stands = Skill { name: skill.name.clone(), path: suite.path.clone() };
    let purpose = Purpose::Calibrate { skill, trials: args.trials };
    trying.run(What { purpose, skill: stands, tried, confirm: None }, &suite)
}
