//! The uses of the installed skill: reported if it was not used in every trial.

use skilltune_phases::base::id::CandidateId;
use skilltune_phases::loops::tune::trial::measure::SEARCH;
use skilltune_phases::loops::tune::{Round, Run, Uses};

use crate::text::figures::count;

/// Returns the uses of a round's candidate in the search.
pub fn of_round(run: &Run, round: &Round) -> Uses {
    Uses::of(run, round.candidate, None, SEARCH..=SEARCH)
}

/// Returns the uses of the champion or else the newest kept version, with the final comparison's trials.
pub fn of_champion(run: &Run) -> Uses {
    let candidate: CandidateId =
        run.state.shipment.as_ref().map_or_else(|| run.head(), |shipment| shipment.champion);
    Uses::of(run, candidate, None, SEARCH..=SEARCH + run.confirm())
}

/// Returns in how many trials it was used, and what to do otherwise; nothing if it was used in all.
pub fn text(uses: Uses) -> Option<String> {
    let said = |times: usize, hint: &str| (times > 0).then(|| format!(" {hint}"));
    let hints = [
        said(
            uses.offered,
            "Where the agent saw it but did not use it, its description does not match the task; `--delivery inline` tests its text without the description.",
        ),
        said(
            uses.not_offered,
            "Where the agent did not offer it to its model, check its front matter with `skilltune lint`.",
        ),
        said(
            uses.shadowed,
            "Where the agent used another skill of the same name, remove that skill and try again.",
        ),
    ];
    let hints: String = hints.into_iter().flatten().collect();
    let cost = if uses.is_unused() { NOTHING_SHOWN } else { PARTLY_SHOWN };
    uses.is_wanting().then(|| {
        format!("The skill was used in {} of {}: {cost}{hints}", uses.used, count(uses.trials(), "trial"))
    })
}

/// The consequence of not using it.
const NOTHING_SHOWN: &str = "its effect is `unverified`, and an unused version cannot win.";
const PARTLY_SHOWN: &str = "in the others its effect is `unverified`.";

#[cfg(test)]
mod tests {
    use skilltune_phases::base::delivery::{Delivery, SkillUse};
    use skilltune_phases::loops::tune::{Answer, Step};

    use super::*;
    use crate::loops::tune::report::{evaluation, final_report, json};
    use crate::loops::tune::world::{plan, play, scored};

    /// Returns a run of one round whose trials have these uses in turn.
    fn tried(uses: &[SkillUse]) -> Run {
        let mut plan = plan(&["haiku"], 3);
        plan.task.delivery = Delivery::Installed { at: ".claude/skills".into() };
        plan.task.rules.max_iterations = 1;
        let (mut answer, mut uses) = (scored(&[50], &[50]), uses.iter().copied());
        let whole = play(plan, |run, step| match (step, answer(run, step)) {
            (Step::Exercise { .. }, Ok(Answer::Exercised { artifacts, files, digest, kept, .. })) => {
                Ok(Answer::Exercised { artifacts, files, skill: uses.next(), digest, kept, opened: None })
            }
            (_, outcome) => outcome,
        });
        whole.run
    }

    #[test]
    fn a_skill_that_was_not_used_everywhere_is_told_of_with_what_to_do() {
        let run = tried(&[SkillUse::Used, SkillUse::Offered, SkillUse::Used]);
        let said = "The skill was used in 2 of 3 trials: in the others its effect is `unverified`. Where the agent saw it";
        let page = evaluation(&run, &run.state.rounds[0]);
        assert!(page.contains(said), "{page}");
        let report = final_report(&run);
        assert!(
            report.contains(said) && report.contains("| Delivery | installed in `.claude/skills` |"),
            "{report}"
        );
        let report = json::report(&run);
        assert_eq!(report["delivery"], "installed");
        let uses = serde_json::json!({ "used": 2, "offered": 1, "not_offered": 0, "shadowed": 0 });
        assert_eq!(report["rounds"][0]["skill"], uses);
    }

    #[test]
    fn a_skill_that_was_used_or_of_which_nothing_is_known_is_not_talked_about() {
        for uses in [&[SkillUse::Used; 3][..], &[]] {
            let run = tried(uses);
            assert_eq!(text(of_round(&run, &run.state.rounds[0])), None);
            assert!(!final_report(&run).contains("The skill was used"));
        }
    }

    #[test]
    fn each_way_of_not_being_used_has_its_own_advice() {
        let one = |uses: Uses| text(Uses { used: 1, ..uses }).unwrap();
        assert!(one(Uses { offered: 1, ..Uses::default() }).contains("--delivery inline"));
        assert!(one(Uses { not_offered: 1, ..Uses::default() }).contains("skilltune lint"));
        assert!(one(Uses { shadowed: 1, ..Uses::default() }).contains("remove that skill"));
    }
}
