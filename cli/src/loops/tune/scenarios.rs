//! The tasks of a run, from text, flags and a suite.

use skilltune_phases::name::Name;
use skilltune_phases::scenario::Scenario;

use crate::inputs::suite::{Suite, numbered};
use crate::loops::tune::args::TuneArgs;

/// What a skill is tried on when nobody says what for.
pub const GENERAL: &str = "Use the skill for a typical task of the kind that it describes, from its first step to its last, \
and leave everything that it promises. Choose realistic input yourself: one ordinary case, and one at the edge of what \
the skill should cover.";

/// All that was said, or the general task. The requirements of the flags hold for the tasks of the flags.
pub fn scenarios(args: &TuneArgs, suite: Option<&Suite>) -> Vec<Scenario> {
    let mut scenarios = suite.map_or_else(Vec::new, |suite| suite.scenarios.clone());
    let text = args.text.join(" ");
    let said = std::iter::once(&text).chain(&args.scenarios).map(|text| text.trim());
    let mut tasks: Vec<&str> = said.filter(|task| !task.is_empty()).collect();
    if tasks.is_empty() && scenarios.is_empty() {
        tasks.push(GENERAL);
    }
    for task in tasks {
        let id = next_id(&scenarios);
        scenarios.push(scenario(id, task, args));
    }
    scenarios
}

/// The first number that no scenario before it has taken.
fn next_id(scenarios: &[Scenario]) -> Name {
    let ids = (scenarios.len() + 1..).map(numbered);
    let mut free = ids.filter(|id| scenarios.iter().all(|scenario| scenario.id != *id));
    free.next().expect("numbers do not end")
}

fn scenario(id: Name, task: &str, args: &TuneArgs) -> Scenario {
    let mut scenario = Scenario::new(id, task);
    let requirements = args.requirements.iter().map(|requirement| requirement.trim());
    scenario.requirements = requirements.filter(|text| !text.is_empty()).map(str::to_owned).collect();
    scenario.input_args = args.input_args.clone().unwrap_or_default();
    let criteria = args.success_criteria.as_deref().map(str::trim).filter(|text| !text.is_empty());
    if let Some(criteria) = criteria {
        criteria.clone_into(&mut scenario.success_criteria);
    }
    scenario
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::cli::tune_args;

    fn told(line: &[&str]) -> Vec<Scenario> {
        scenarios(&tune_args(line).unwrap(), None)
    }

    #[test]
    fn the_rest_of_the_line_is_one_scenario_and_every_flag_another() {
        let told = told(&["a", "Write", "a haiku", "--scenario", "Write a limerick"]);
        let tasks: Vec<&str> = told.iter().map(|scenario| scenario.description.as_str()).collect();
        assert_eq!(tasks, ["Write a haiku", "Write a limerick"]);
        assert_eq!(told[1].id, "scenario-2");
    }

    #[test]
    fn nothing_said_means_the_general_task() {
        assert_eq!(told(&["a"]), [Scenario::new(numbered(1), GENERAL)]);
        assert_eq!(told(&["a", "", "--scenario", "  "]), told(&["a"]));
    }

    #[test]
    fn requirements_and_criteria_hold_for_every_scenario() {
        let flags = ["--requirements", "x, ,y", "--input-args", "-v 1", "--success-criteria", "It rhymes"];
        let line: Vec<&str> = ["a", "--test", "one", "--test", "two"].into_iter().chain(flags).collect();
        for scenario in told(&line) {
            assert_eq!(scenario.requirements, ["x", "y"]);
            assert_eq!(scenario.input_args, "-v 1");
            assert_eq!(scenario.success_criteria, "It rhymes");
        }
    }
}
