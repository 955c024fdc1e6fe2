use super::*;
use crate::loops::gan::contract::{Change, Faulty};
use crate::loops::gan::profile::{self, Profile};

#[test]
fn both_profiles_make_contracts_whose_weights_are_those_of_the_original() {
    for (profile, weights) in [(profile::design(), [30, 25, 25, 20]), (profile::code(), [40, 25, 20, 15])] {
        let contract = profile.contract().unwrap();
        assert_eq!(contract.dimensions.iter().map(|one| one.weight).collect::<Vec<_>>(), weights);
        assert!(contract.criteria.iter().any(|criterion| criterion.must_pass));
        let of_own =
            |home: &str, id: &str| id.split_once('.').is_some_and(|(dimension, _)| dimension == home);
        assert!(contract.criteria.iter().all(|one| of_own(one.dimension.as_str(), one.id.as_str())));
        assert!(contract.anti_patterns.iter().all(|one| of_own(one.dimension.as_str(), one.id.as_str())));
    }
}

#[test]
fn the_design_profile_has_the_must_pass_list_and_the_anti_patterns_of_the_original() {
    let design = profile::design();
    let must: Vec<&str> =
        design.criteria.iter().filter(|one| one.must_pass).map(|one| one.id.as_str()).collect();
    assert_eq!(
        must,
        [
            "design.contrast",
            "originality.no_stock",
            "completeness.copy",
            "completeness.sections",
            "functionality.narrow",
            "functionality.links",
            "functionality.accessible"
        ]
    );
    let dimensions: Vec<&str> = design.anti_patterns.iter().map(|one| one.dimension.as_str()).collect();
    assert_eq!(dimensions, ["originality", "design", "functionality", "completeness"]);
}

#[test]
fn a_profile_of_a_person_is_read_strictly() {
    let text = "name: own\ndimensions:\n  - {id: a, name: A, weight: 1, anchors: [w, x, y, z]}\n\
                criteria:\n  - {id: a.1, dimension: a, criterion: holds, verification: look, must_pass: true}\n";
    let own = Profile::read(text).unwrap();
    assert!(own.criteria[0].must_pass && own.criteria[0].weight == 1 && own.anti_patterns.is_empty());
    for (wrong, why) in [
        (text.replace("must_pass", "must_pas"), "unknown field `must_pas`"),
        (
            text.replace("dimension: a", "dimension: b"),
            "a.1 belongs to b, which is not a dimension of the contract",
        ),
        (text.replace("x, y, z", "x, y"), "invalid length 3"),
        (text.replace("true}", "true, check: rm}"), "unknown variant `rm`"),
        (text.replace("name: own", "name: [own"), "line "),
    ] {
        let message = Profile::read(&wrong).unwrap_err().to_string();
        assert!(message.contains(why), "{message}");
    }
}

#[test]
fn what_cannot_be_scored_is_no_contract() {
    let faulty = |change: fn(&mut Contract)| {
        let mut contract = contract();
        change(&mut contract);
        contract.checked().unwrap_err()
    };
    assert_eq!(faulty(|all| all.dimensions.clear()), Faulty::Empty);
    assert_eq!(faulty(|all| all.criteria[1].id = id("a.1")), Faulty::Twice("a.1".into()));
    assert_eq!(faulty(|all| all.dimensions[0].weight = 0), Faulty::Weightless("a".into()));
    assert_eq!(faulty(|all| all.criteria.truncate(4)), Faulty::Unasked("b".into()));
    assert_eq!(
        faulty(|all| all.criteria[4..].iter_mut().for_each(|one| one.weight = 0)),
        Faulty::Unasked("b".into())
    );
    assert_eq!(faulty(|all| all.criteria[0].verification = " ".into()), Faulty::Silent(id("a.1")));
    assert_eq!(faulty(|all| all.criteria[0].weight = u32::MAX), Faulty::TooHeavy("a.1".into()));
    let astray = Faulty::Astray { criterion: id("a.1"), dimension: "c".into() };
    assert_eq!(faulty(|all| all.criteria[0].dimension = "c".into()), astray);
    assert_eq!(
        faulty(|all| all.criteria = (0..61).map(|nth| criterion(&format!("a.{nth}"))).collect()),
        Faulty::TooMany
    );
}

#[test]
fn an_amendment_has_another_hash_and_is_made_whole_or_not_at_all() {
    let base = contract();
    let must = Change::MustPass { criterion: id("a.1"), must: true };
    let drop = Change::Drop { criterion: id("a.2") };
    let add = Change::Add(Criterion { origin: Origin::Amended, ..criterion("b.9") });
    let text =
        |text: &str| Change::Reword { criterion: id("a.3"), text: text.into(), verification: "count".into() };
    let all = [must.clone(), drop.clone(), add.clone(), text("other")];
    let mut hashes: BTreeSet<_> =
        all.iter().map(|one| base.amended(std::slice::from_ref(one)).unwrap().hash()).collect();
    assert!(hashes.insert(base.hash()) && hashes.len() == 5);
    let amended = base.amended(&all).unwrap();
    assert!(amended.criterion(&id("a.1")).unwrap().must_pass && amended.criterion(&id("a.2")).is_none());
    assert_eq!(amended.criteria.last().unwrap().id, id("b.9"));
    assert_eq!(base.amended(&[must, Change::Drop { criterion: id("c.1") }]), Err(Faulty::Unknown(id("c.1"))));
    assert_eq!(base.amended(&[add.clone(), add]), Err(Faulty::Twice("b.9".into())));
    assert_eq!(base.amended(&[]), Err(Faulty::Unchanged));
    assert_eq!(base.amended(&[text("")]), Err(Faulty::Silent(id("a.3"))));
}
