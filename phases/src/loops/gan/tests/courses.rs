use super::*;
use crate::base::id::{Digest, TreeId};
use crate::judging::contract::DimensionId;
use crate::loops::gan::contract::Change;
use crate::loops::gan::course::{Answered, Choice, Ending, Item, NextAction, Question, Round, Rounds, Who};
use crate::loops::gan::evaluation::evaluate;
use crate::loops::gan::rules::{Rules, Unruly};

/// A run whose builder and judges do what a test says.
struct Played {
    contract: Contract,
    rules: Rules,
    era: u32,
    course: Rounds,
}

const ALL: [&str; 8] = ["a.1", "a.2", "a.3", "a.4", "b.1", "b.2", "b.3", "b.4"];

fn artifact(nth: usize) -> TreeId {
    TreeId(Digest::of(nth.to_string().as_bytes()))
}

impl Played {
    fn new(rules: Rules) -> Self {
        Self { contract: contract(), rules: rules.checked().unwrap(), era: 0, course: Rounds::default() }
    }

    fn follow(&self) -> NextAction {
        self.course.follow(&self.contract, &self.rules, self.era)
    }

    fn round(&self, sprints: u32, artifact: TreeId, passed: &[&str]) -> Round {
        let before = self.course.owed(&self.contract, &self.rules, self.era);
        let first = evaluate(&self.contract, &raw_verdicts(&self.contract, passed), &before, self.rules.cap);
        Round { sprints, artifact, era: self.era, first, second: None, wanted: Vec::new() }
    }

    /// Builds or judges whatever comes next, and lets these criteria pass.
    fn goes(&mut self, passed: &[&str]) -> &mut Self {
        let next = artifact(self.course.rounds.len());
        let round = match self.follow() {
            NextAction::Build { sprint, .. } => self.round(sprint, next, passed),
            NextAction::Judge { artifact } => {
                self.round(self.course.rounds.last().unwrap().sprints, artifact, passed)
            }
            other => panic!("{other:?}"),
        };
        self.course.rounds.push(round);
        self
    }

    /// Adds a second judgement of the same artifact.
    fn judged_again(&mut self, passed: &[&str]) -> &mut Self {
        let first = self.course.rounds.pop().unwrap();
        let second = self.round(first.sprints, first.artifact, passed).first;
        self.course.rounds.push(Round { second: Some(second), ..first });
        self
    }

    fn answers(&mut self, choice: Choice) -> &mut Self {
        let NextAction::Question(hold) = self.follow() else { panic!("{:?}", self.follow()) };
        assert!(hold.allows(&choice), "{hold:?} {choice:?}");
        let after = self.course.rounds.len();
        self.course.answers.push(Answered { after, hold, choice, by: Who::Person });
        self
    }

    fn unattended(&mut self, tried: &str) -> &mut Self {
        let NextAction::Question(hold) = self.follow() else { panic!("{:?}", self.follow()) };
        let choice = self.course.unattended(
            hold,
            (&self.contract, &self.rules, self.era),
            Some(&DimensionId::new(tried)),
        );
        self.answers(choice)
    }

    /// Returns the artifact that the next build starts from, and its priority.
    fn next(&self) -> (usize, String) {
        let NextAction::Build { from, focus, .. } = self.follow() else { panic!("{:?}", self.follow()) };
        let from = (0..9).find(|nth| Some(artifact(*nth)) == from).unwrap();
        (from, focus.priority.to_string())
    }
}

/// One whole dimension is not enough.
fn hard() -> Rules {
    Rules { threshold: score(90.0), ..Rules::default() }
}

fn few(count: usize) -> Vec<&'static str> {
    ALL[..count].to_vec()
}

#[test]
fn what_passes_ends_the_run_and_a_strict_one_only_in_its_second_round() {
    let mut played = Played::new(Rules::default());
    assert_eq!(played.goes(&ALL).follow(), NextAction::End(Ending::Reached));
    let mut strict = Played::new(Rules { strict: true, ..Rules::default() });
    assert!(matches!(strict.goes(&ALL).follow(), NextAction::Build { sprint: 2, .. }));
    assert_eq!(strict.goes(&ALL).follow(), NextAction::End(Ending::Reached));
    let higher = Rules { threshold: score(95.0), ..Rules::default() };
    assert!(matches!(Played::new(higher).goes(&few(7)).follow(), NextAction::Build { .. }));
    assert_eq!(Played::new(Rules::default()).goes(&few(7)).follow(), NextAction::End(Ending::Reached));
}

#[test]
fn the_first_build_sees_to_the_heaviest_dimension_and_the_next_to_the_lowest() {
    let mut played = Played::new(Rules::default());
    let NextAction::Build { sprint: 1, from: None, focus } = played.follow() else { panic!() };
    assert_eq!((focus.priority.as_str(), focus.unmet.len()), ("a", 8));
    played.goes(&["a.1", "a.2"]);
    let NextAction::Build { sprint: 2, from, focus } = played.follow() else { panic!() };
    assert_eq!((from, focus.priority.as_str()), (Some(artifact(0)), "b"));
    assert_eq!(focus.unmet, ["a.3", "a.4", "b.1", "b.2", "b.3", "b.4"].map(id));
}

#[test]
fn a_forged_contract_without_dimensions_is_no_panic() {
    let mut played = Played::new(Rules::default());
    played.contract.dimensions.clear();
    let NextAction::Build { focus, .. } = played.follow() else { panic!() };
    assert_eq!(focus.priority.as_str(), "");
}

#[test]
fn the_next_build_goes_on_from_the_best_and_not_from_what_lost_something() {
    let mut played = Played::new(Rules::default());
    played.goes(&few(3)).goes(&few(1));
    assert_eq!(played.next().0, 0, "it has less");
    let mut fallen = Played::new(Rules { escalate_after: 9, ..Rules::default() });
    // It passes more in all, but lost a criterion that had passed.
    fallen.goes(&["b.1"]).goes(&["a.1", "a.2", "b.2"]);
    assert_eq!(fallen.next().0, 0);
    // A criterion that only the dropped artifact passed is not missed.
    fallen.goes(&["b.1", "a.1"]);
    assert_eq!((&fallen.course.rounds[2].first.fallen, fallen.next().0), (&Vec::new(), 2));
    let mut better = Played::new(Rules::default());
    better.goes(&few(1)).goes(&few(3));
    assert_eq!(better.next().0, 1);
}

#[test]
fn rounds_in_a_row_that_gain_too_little_hold_the_run() {
    let mut played = Played::new(Rules::default());
    played.goes(&few(2)).goes(&few(2));
    assert!(matches!(played.follow(), NextAction::Build { .. }), "once is no standstill");
    assert_eq!(played.goes(&few(2)).follow(), NextAction::Question(Question::Stagnation));
    // A quarter of the lighter dimension is 6.25 points: enough for 5, too little for 7.
    let steps = |gain| {
        let mut played = Played::new(Rules { gain: score(gain), escalate_after: 9, ..Rules::default() });
        played.goes(&["b.1"]).goes(&["b.1", "b.2"]).goes(&["b.1", "b.2", "b.3"]);
        played.follow()
    };
    assert!(matches!(steps(5.0), NextAction::Build { .. }));
    assert_eq!(steps(7.0), NextAction::Question(Question::Stagnation));
    let still = |standstill, rounds| {
        let mut played = Played::new(Rules { standstill, escalate_after: 9, ..Rules::default() });
        for _ in 0..rounds {
            played.goes(&few(2));
        }
        played.follow()
    };
    assert_eq!(still(1, 2), NextAction::Question(Question::Stagnation));
    assert!(matches!(still(3, 3), NextAction::Build { .. }));
    assert_eq!(still(3, 4), NextAction::Question(Question::Stagnation));
    let mut once = Played::new(Rules { escalate_after: 9, ..Rules::default() });
    once.goes(&few(1)).goes(&few(1)).goes(&few(2)).goes(&few(2));
    assert!(matches!(once.follow(), NextAction::Build { .. }), "not twice in a row");
}

#[test]
fn a_run_without_a_pass_escalates_and_ends_with_its_last_round() {
    let mut played = Played::new(hard());
    played.goes(&few(1)).goes(&few(2)).goes(&few(3));
    assert_eq!(played.follow(), NextAction::Question(Question::Escalation));
    played.answers(Choice::Guide { text: "shorter".into() }).goes(&few(4));
    assert!(matches!(played.follow(), NextAction::Build { sprint: 5, .. }));
    played.goes(&few(5));
    assert_eq!(played.follow(), NextAction::Question(Question::Exhausted));
    let mut sooner = Played::new(Rules { max_rounds: 2, ..hard() });
    assert_eq!(sooner.goes(&few(1)).goes(&few(2)).follow(), NextAction::Question(Question::Exhausted));
    let mut earlier = Played::new(Rules { escalate_after: 2, ..Rules::default() });
    assert_eq!(earlier.goes(&few(1)).goes(&few(2)).follow(), NextAction::Question(Question::Escalation));
}

#[test]
fn each_answer_to_a_hold_does_what_it_says() {
    let held = || {
        let mut played = Played::new(Rules { max_rounds: 9, ..Rules::default() });
        played.goes(&few(2)).goes(&few(2)).goes(&few(2));
        assert_eq!(played.follow(), NextAction::Question(Question::Stagnation));
        played
    };
    for (choice, ending) in [
        (Choice::Force, Ending::Forced),
        (Choice::Accept, Ending::Accepted),
        (Choice::Stop, Ending::Kept(Question::Stagnation)),
        (Choice::Abort, Ending::Aborted),
    ] {
        assert_eq!(held().answers(choice).follow(), NextAction::End(ending));
    }
    assert_eq!(held().next_after(Choice::Guide { text: "mind the map".into() }), (0, "b".to_owned()));
    assert_eq!(held().next_after(Choice::Refocus { dimension: "a".into() }), (0, "a".to_owned()));
    // After an answer, a person is not asked again before two more rounds.
    let mut again = held();
    again.answers(Choice::Guide { text: "mind the map".into() }).goes(&few(2));
    assert!(matches!(again.follow(), NextAction::Build { .. }));
    assert_eq!(again.goes(&few(2)).follow(), NextAction::Question(Question::Stagnation));
}

impl Played {
    fn next_after(&mut self, choice: Choice) -> (usize, String) {
        self.answers(choice).next()
    }
}

#[test]
fn an_amendment_begins_a_new_series_with_what_is_there() {
    let mut played = Played::new(hard());
    played.goes(&few(4)).goes(&few(1)).goes(&few(4));
    assert_eq!(played.follow(), NextAction::Question(Question::Stagnation));
    let changes = vec![Change::Drop { criterion: id("b.4") }];
    played.answers(Choice::Amend { changes: changes.clone() });
    played.contract = played.contract.amended(&changes).unwrap();
    assert_eq!(
        played.follow(),
        NextAction::Judge { artifact: artifact(0) },
        "the best is judged under it first"
    );
    played.goes(&few(1));
    assert_eq!(
        played.course.rounds.last().unwrap().first.fallen,
        [],
        "what passed under another contract has not fallen"
    );
    assert!(matches!(played.follow(), NextAction::Build { sprint: 4, .. }));
    played.goes(&few(1));
    assert!(matches!(played.follow(), NextAction::Build { .. }), "a new series has not stood still yet");
}

#[test]
fn the_best_of_an_older_series_is_the_one_that_passes_what_must_pass() {
    let mut played = Played::new(hard());
    played.contract.criteria[0].must_pass = true;
    played.goes(&few(2)).goes(&ALL[1..]);
    played.era = 1;
    assert_eq!(
        played.follow(),
        NextAction::Judge { artifact: artifact(0) },
        "the other lacks a.1, which must pass"
    );
}

#[test]
fn verdicts_of_another_evaluator_begin_a_new_series_too() {
    let mut played = Played::new(Rules::default());
    played.goes(&few(3)).goes(&few(4));
    played.era = 1;
    assert_eq!(played.follow(), NextAction::Judge { artifact: artifact(1) });
    assert!(matches!(played.goes(&few(1)).follow(), NextAction::Build { sprint: 3, .. }));
}

#[test]
fn where_nobody_answers_an_escalation_changes_the_focus_and_all_else_keeps_the_best() {
    let mut played = Played::new(hard());
    played.goes(&["a.1"]).goes(&["a.1", "a.2"]).goes(&["a.1", "a.2", "a.3"]);
    assert_eq!(played.follow(), NextAction::Question(Question::Escalation));
    assert_eq!(
        played.unattended("b").next(),
        (2, "a".to_owned()),
        "the lowest is b, which was seen to before"
    );
    played.goes(&few(4)).goes(&few(5));
    assert_eq!(played.unattended("a").follow(), NextAction::End(Ending::Kept(Question::Exhausted)));
    let best = played.course.best(&played.contract, &played.rules, 0).unwrap();
    assert_eq!(best.artifact, artifact(4));
    let mut still = Played::new(Rules::default());
    still.goes(&few(2)).goes(&few(1)).goes(&few(1));
    assert_eq!(still.unattended("a").follow(), NextAction::End(Ending::Kept(Question::Stagnation)));
    assert_eq!(still.course.best(&still.contract, &still.rules, 0).unwrap().artifact, artifact(0));
}

#[test]
fn a_pass_is_judged_twice_where_that_is_asked_for_and_the_lower_one_stands() {
    let rules = || Rules { judge_twice: true, ..hard() };
    let mut played = Played::new(rules());
    assert_eq!(played.goes(&ALL).follow(), NextAction::Second { artifact: artifact(0) });
    let mut agreed = Played::new(rules());
    assert_eq!(agreed.goes(&ALL).judged_again(&ALL).follow(), NextAction::End(Ending::Reached));
    let mut split = Played::new(rules());
    split.goes(&ALL).judged_again(&few(4));
    assert!(matches!(split.follow(), NextAction::Build { sprint: 2, .. }));
    let round = &split.course.rounds[0];
    assert_eq!((round.evaluation().score, round.disagreement(&rules())), (score(81.3), Some(score(18.7))));
    assert_eq!(round.disagreement(&Rules { disagreement: score(20.0), ..rules() }), None);
    let owed = split.course.owed(&split.contract, &rules(), 0);
    assert_eq!(owed.len(), 4, "what only one of them passed is not owed");
}

/// A second judge may give a higher score and still have missed something that must pass.
#[test]
fn what_either_judge_has_missed_is_to_be_seen_to() {
    let rules = Rules { judge_twice: true, threshold: score(60.0), ..Rules::default() };
    let mut played = Played::new(rules.clone());
    played.contract.criteria[0].must_pass = true;
    played.goes(&few(4)).judged_again(&ALL[1..]);
    let round = &played.course.rounds[0];
    assert!(round.second.as_ref().unwrap().share > round.first.share);
    let NextAction::Build { focus, .. } = played.follow() else { panic!("{:?}", played.follow()) };
    let unmet: Vec<_> = focus.unmet.iter().map(CriterionId::as_str).collect();
    assert_eq!(unmet, ["a.1", "b.1", "b.2", "b.3", "b.4"]);
    assert!(!played.course.owed(&played.contract, &rules, 0).contains(&id("a.1")));
}

#[test]
fn a_focus_has_a_few_of_the_items_that_the_judge_would_look_at_besides() {
    let item =
        |nth: usize| Item { id: id(&format!("extra.{nth}")), text: "x".into(), verification: "look".into() };
    let extra = |rules: Rules| {
        let mut played = Played::new(rules);
        played.goes(&few(1)).course.rounds[0].wanted = (0..9).map(item).collect();
        let NextAction::Build { focus, .. } = played.follow() else { panic!() };
        focus.extra.len()
    };
    assert_eq!(extra(Rules::default()), 3);
    assert_eq!(extra(Rules { extra_items: 2, ..Rules::default() }), 2);
}

#[test]
fn rules_that_no_run_can_keep_are_refused() {
    let refused = |rules: Rules| rules.checked().unwrap_err();
    assert_eq!(refused(Rules { threshold: score(59.9), ..Rules::default() }), Unruly::Threshold);
    assert_eq!(refused(Rules { max_rounds: 0, ..Rules::default() }), Unruly::Rounds);
    assert_eq!(refused(Rules { max_rounds: 1, strict: true, ..Rules::default() }), Unruly::TooFew(2));
    assert_eq!(refused(Rules { escalate_after: 0, ..Rules::default() }), Unruly::Escalation);
    assert_eq!(refused(Rules { standstill: 0, ..Rules::default() }), Unruly::Standstill);
    assert!(Rules { threshold: score(60.0), ..Rules::default() }.checked().is_ok());
}

#[test]
fn only_some_answers_fit_a_hold() {
    assert!(!Question::Escalation.allows(&Choice::Stop));
    assert!(!Question::Exhausted.allows(&Choice::Refocus { dimension: "a".into() }));
    for hold in [Question::Escalation, Question::Stagnation, Question::Exhausted] {
        assert!([Choice::Force, Choice::Accept, Choice::Abort].iter().all(|choice| hold.allows(choice)));
    }
}
