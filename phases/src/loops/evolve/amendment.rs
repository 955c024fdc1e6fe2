//! Changes of the criteria and constraints during a run. The goal cannot change.
//!
//! Adding is free. To change or remove what was there takes a person's approval.

use serde::{Deserialize, Serialize};

use super::evaluation::{Agreed, Contract};
use super::spec::{Constraint, Id, Priority};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amendment {
    /// A note for the executors of the tasks; may be empty.
    pub description: Box<str>,
    pub criteria: Vec<NewCriterion>,
    pub constraints: Vec<NewConstraint>,
    pub changes: Vec<Change>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewCriterion {
    pub text: Box<str>,
    pub priority: Priority,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewConstraint {
    pub text: Box<str>,
    /// The tasks that have to keep to it.
    pub tasks: Vec<Id>,
}

/// A change of a criterion or a constraint that was there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub id: Id,
    /// None removes it.
    pub text: Option<Box<str>>,
    pub why: Box<str>,
}

/// An answer may add at most this many of each, so that a run ends.
pub const MOST: usize = 10;

impl Amendment {
    /// Whether a person has to approve a part of it.
    pub fn needs_approval(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Whether it says nothing at all.
    pub fn is_empty(&self) -> bool {
        self.criteria.is_empty()
            && self.constraints.is_empty()
            && self.changes.is_empty()
            && self.description.is_empty()
    }

    /// Returns the part that needs no approval.
    #[must_use]
    pub fn without_changes(&self) -> Self {
        Self { changes: Vec::new(), ..self.clone() }
    }

    /// Returns what is wrong with it, for the agent that is asked again.
    pub fn fault(&self, contract: &Contract, is_task: impl Fn(&str) -> bool) -> Option<String> {
        if [self.criteria.len(), self.constraints.len(), self.changes.len()].iter().any(|count| *count > MOST)
        {
            return Some(format!("it has more than {MOST} new criteria, constraints or changes"));
        }
        let tasks = self.constraints.iter().flat_map(|one| &one.tasks);
        if let Some(stranger) = tasks.into_iter().find(|task| !is_task(task)) {
            return Some(format!("there is no task {stranger:?}"));
        }
        for (at, change) in self.changes.iter().enumerate() {
            if !contract.has(&change.id) {
                return Some(format!("there is no criterion or constraint {:?}", change.id));
            }
            if self.changes[..at].iter().any(|other| other.id == change.id) {
                return Some(format!("{:?} is changed twice", change.id));
            }
        }
        None
    }
}

impl Contract {
    /// Returns the contract with an amendment, and the ids of its new criteria.
    pub fn amended(&self, amendment: &Amendment) -> (Self, Vec<Id>) {
        let mut new = self.clone();
        let change_of = |id: &Id| amendment.changes.iter().find(|change| change.id == *id);
        let text_of = |id: &Id, text: &str| match change_of(id) {
            None => Some(text.into()),
            Some(change) => change.text.clone(),
        };
        let is_moved = self.criteria.iter().any(|one| one.is_original && change_of(&one.id).is_some());
        new.series += u32::from(is_moved);
        new.criteria = self
            .criteria
            .iter()
            .filter_map(|one| {
                let text = text_of(&one.id, &one.text)?;
                // A check was written for the text as it was.
                let check = one.check.clone().filter(|_| text == one.text);
                Some(Agreed { text, check, ..one.clone() })
            })
            .collect();
        new.constraints = self
            .constraints
            .iter()
            .filter_map(|one| Some(Constraint { id: one.id.clone(), text: text_of(&one.id, &one.text)? }))
            .collect();
        let mut ids = Vec::new();
        for NewCriterion { text, priority } in &amendment.criteria {
            let id = free('A', |id| self.has(id) || new.has(id));
            ids.push(id.clone());
            let (text, priority) = (text.clone(), *priority);
            new.criteria.push(Agreed { id, text, priority, check: None, is_original: false });
        }
        for NewConstraint { text, .. } in &amendment.constraints {
            let id = free('K', |id| self.has(id) || new.has(id));
            new.constraints.push(Constraint { id, text: text.clone() });
        }
        (new, ids)
    }
}

/// Returns the first free id with this letter.
fn free(letter: char, is_taken: impl Fn(&str) -> bool) -> Id {
    let ids = (1_u32..).map(|number| format!("{letter}{number}"));
    ids.into_iter().find(|id| !is_taken(id)).expect("there are enough numbers").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contract() -> Contract {
        let criterion = |id: &str, is_original| Agreed {
            id: id.into(),
            text: format!("text of {id}").into(),
            priority: Priority::High,
            check: Some(vec!["true".into()]),
            is_original,
        };
        let constraint = Constraint { id: "K1".into(), text: "no network".into() };
        let criteria = vec![criterion("A1", true), criterion("A2", false)];
        Contract { statements: vec!["it runs".into()], constraints: vec![constraint], criteria, series: 0 }
    }

    fn change(id: &str, text: Option<&str>) -> Change {
        Change { id: id.into(), text: text.map(Into::into), why: "why".into() }
    }

    #[test]
    fn additions_get_free_ids_and_keep_the_series() {
        let amendment = Amendment {
            criteria: vec![NewCriterion { text: "new".into(), priority: Priority::Low }; 2],
            constraints: vec![NewConstraint { text: "offline".into(), tasks: vec![] }; 2],
            ..Amendment::default()
        };
        assert!(!amendment.needs_approval() && !amendment.is_empty());
        let (new, ids) = contract().amended(&amendment);
        assert_eq!(ids, ["A3".into(), "A4".into()] as [Id; 2]);
        let constraints: Vec<&str> = new.constraints.iter().map(|one| &*one.id).collect();
        assert_eq!((constraints, new.series), (vec!["K1", "K2", "K3"], 0));
        assert!(new.criteria[2..].iter().all(|one| !one.is_original));
        let mut taken = contract();
        taken.constraints[0].id = "A3".into();
        assert_eq!(taken.amended(&amendment).1, ["A4".into(), "A5".into()] as [Id; 2]);
    }

    #[test]
    fn a_changed_original_begins_a_new_series_and_loses_the_check_of_its_old_text() {
        for (changes, series, left) in [
            (vec![change("A1", Some("other"))], 1, ["A1: other", "A2: text of A2"].as_slice()),
            (vec![change("A1", None)], 1, &["A2: text of A2"]),
            (vec![change("A2", None), change("K1", None)], 0, &["A1: text of A1"]),
        ] {
            let amendment = Amendment { changes, ..Amendment::default() };
            assert!(amendment.needs_approval() && amendment.without_changes().is_empty());
            let (new, _) = contract().amended(&amendment);
            let shown: Vec<String> =
                new.criteria.iter().map(|one| format!("{}: {}", one.id, one.text)).collect();
            assert_eq!(
                (shown.as_slice(), new.series),
                (left.iter().map(|&one| one.to_owned()).collect::<Vec<_>>().as_slice(), series)
            );
            let checks = new.criteria.iter().filter(|one| one.check.is_some());
            assert!(checks.into_iter().all(|one| one.text.starts_with("text")));
        }
    }

    #[test]
    fn an_amendment_names_what_is_there() {
        let fault = |amendment: &Amendment| amendment.fault(&contract(), |task| task == "t1");
        let constraint = |task: &str| NewConstraint { text: "x".into(), tasks: vec![task.into()] };
        let with = |constraints, changes| Amendment { constraints, changes, ..Amendment::default() };
        for (amendment, expected) in [
            (with(vec![constraint("t1")], vec![change("K1", None)]), None),
            (with(vec![constraint("t2")], vec![]), Some("there is no task \"t2\"")),
            (with(vec![], vec![change("A9", None)]), Some("there is no criterion or constraint \"A9\"")),
            (with(vec![], vec![change("A1", None); 2]), Some("\"A1\" is changed twice")),
            (
                with(vec![constraint("t1"); MOST + 1], vec![]),
                Some("it has more than 10 new criteria, constraints or changes"),
            ),
        ] {
            assert_eq!(fault(&amendment).as_deref(), expected);
        }
    }
}
