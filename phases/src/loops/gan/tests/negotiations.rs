use super::*;
use crate::loops::gan::contract::{Change, Faulty};
use crate::loops::gan::negotiation::{Draft, Foul, Negotiation, Proposal, Ruling, Turn};
use crate::loops::gan::rules::Rules;

const BRIEF: &str = "# Landing page\n\nA page for a bakery.\nVisitors see the\nopening hours at once.\n";

fn draft(criteria: Vec<Criterion>) -> Draft {
    Draft { criteria, ..Draft::default() }
}

fn begun() -> Negotiation {
    Negotiation::begin(&contract(), draft(vec![criterion("b.hours"), criterion("b.map")])).unwrap()
}

fn dropping(id: &str) -> Proposal {
    Proposal { change: Change::Drop { criterion: id.into() }, why: "the brief asks for no such thing".into() }
}

fn ruling(is_accepted: bool) -> Ruling {
    Ruling { is_accepted, cites: "visitors see the opening hours".into(), why: "it decides".into() }
}

fn ids(negotiation: &Negotiation) -> Vec<String> {
    let contract = negotiation.contract(&contract()).unwrap();
    contract.criteria[8..].iter().map(|criterion| criterion.id.to_string()).collect()
}

#[test]
fn a_draft_that_the_builder_accepts_is_the_contract() {
    let mut talk = begun();
    assert_eq!(talk.turn(&Rules::default()), Turn::Builder { round: 1 });
    talk.propose(&contract(), Vec::new()).unwrap();
    assert_eq!(talk.turn(&Rules::default()), Turn::Settled);
    assert_eq!(ids(&talk), ["b.hours", "b.map"]);
    let settled = talk.contract(&contract()).unwrap();
    assert!(settled.criteria[8..].iter().all(|criterion| criterion.origin == Origin::Negotiated));
}

#[test]
fn the_evaluator_rules_on_each_proposal_and_has_the_last_word() {
    let (profile, rules) = (contract(), Rules::default());
    let mut talk = begun();
    talk.propose(&profile, vec![dropping("b.hours"), dropping("b.map")]).unwrap();
    assert_eq!(talk.turn(&rules), Turn::Evaluator { round: 1 });
    talk.rule(&profile, BRIEF, vec![ruling(false), ruling(true)]).unwrap();
    assert_eq!(ids(&talk), ["b.hours"]);
    assert_eq!(talk.turn(&rules), Turn::Builder { round: 2 });
    talk.propose(&profile, vec![dropping("b.hours")]).unwrap();
    talk.rule(&profile, BRIEF, vec![ruling(false)]).unwrap();
    assert_eq!(talk.turn(&rules), Turn::Settled);
    assert_eq!(ids(&talk), ["b.hours"]);
    // There are more rounds if they are wanted, but none after all proposals were accepted.
    assert_eq!(talk.turn(&Rules { negotiation_rounds: 3, ..Rules::default() }), Turn::Builder { round: 3 });
    let mut content = begun();
    content.propose(&profile, vec![dropping("b.map")]).unwrap();
    content.rule(&profile, BRIEF, vec![ruling(true)]).unwrap();
    assert_eq!(content.turn(&rules), Turn::Settled);
}

#[test]
fn what_the_profile_asks_for_is_not_negotiated() {
    let mut talk = begun();
    let frozen = Err(Foul::Frozen("a.1".into()));
    assert_eq!(talk.propose(&contract(), vec![dropping("a.1")]), frozen);
    // A journal that somebody else has written cannot change that either.
    talk.rounds.push(super::super::negotiation::Round {
        proposals: vec![dropping("a.1")],
        rulings: vec![ruling(true)],
    });
    assert_eq!(talk.contract(&contract()).unwrap_err(), Foul::Frozen("a.1".into()));
    let clash = Negotiation::begin(&contract(), draft(vec![criterion("a.1")]));
    assert_eq!(clash.unwrap_err(), Foul::Faulty(Faulty::Twice("a.1".into())));
}

#[test]
fn a_ruling_cites_the_brief_and_there_is_one_for_each_proposal() {
    let profile = contract();
    let mut talk = begun();
    talk.propose(&profile, vec![dropping("b.map")]).unwrap();
    assert_eq!(talk.rule(&profile, BRIEF, Vec::new()), Err(Foul::Miscounted { rulings: 0, proposals: 1 }));
    for cites in ["", " … ", "visitors see a map", "opening hour", "e"] {
        let made_up = Ruling { cites: cites.into(), ..ruling(true) };
        assert_eq!(talk.rule(&profile, BRIEF, vec![made_up]), Err(Foul::Uncited(1)), "{cites}");
    }
    assert_eq!(talk.turn(&Rules::default()), Turn::Evaluator { round: 1 });
    let unexplained = Proposal { why: " ".into(), ..dropping("b.map") };
    assert_eq!(begun().propose(&profile, vec![unexplained]), Err(Foul::Unexplained(1)));
}

#[test]
fn two_proposals_that_exclude_each_other_are_not_both_accepted() {
    let profile = contract();
    let mut talk = begun();
    let must = Change::MustPass { criterion: id("b.map"), must: true };
    let must = Proposal { change: must, why: "it matters most".into() };
    talk.propose(&profile, vec![dropping("b.map"), must]).unwrap();
    let both = talk.rule(&profile, BRIEF, vec![ruling(true), ruling(true)]);
    assert_eq!(both, Err(Foul::Faulty(Faulty::Unknown(id("b.map")))));
    talk.rule(&profile, BRIEF, vec![ruling(false), ruling(true)]).unwrap();
    assert!(talk.contract(&profile).unwrap().criterion(&id("b.map")).unwrap().must_pass);
}
