//! The roles of a journal must be exactly those of its loop: none added and none missing.

use serde_json::{Map, Value, json};
use skilltune_phases::loops::Loop;
use skilltune_phases::loops::reflex::criteria::Template;
use skilltune_phases::runs::event::{Event, Signal};
use skilltune_phases::runs::plan::Plan;

use crate::{reflex, world};

fn read<L: Loop>(event: &Value) -> Result<Event<L>, String> {
    serde_json::from_value(event.clone()).map_err(|error| error.to_string())
}

fn is_held_to_its_roles<L: Loop>(plan: Plan<L>) {
    let cast = json!(plan.roles.of(&L::ROLES[0].role));
    let started = Event::Started(Box::new(plan));
    let with = |change: &dyn Fn(&mut Map<String, Value>)| {
        let mut event = json!(started);
        change(event["started"]["roles"].as_object_mut().expect("roles are an object"));
        read::<L>(&event)
    };
    let refused = |why: &str| Err(why.to_owned());
    for spec in L::ROLES.iter().filter(|spec| !spec.is_optional) {
        let role = spec.role.as_str();
        let without = with(&|roles| drop(roles.shift_remove(role)));
        assert_eq!(without, refused(&format!("no agent for the role {role}")));
    }
    let add = |name: &str| with(&|roles| drop(roles.insert(name.to_owned(), cast.clone())));
    assert_eq!(add("stranger"), refused("the loop has no role stranger"));
    assert_eq!(add("\u{1b}[31m"), refused("not a valid name for a role"));
    let reversed = with(&|roles| *roles = std::mem::take(roles).into_iter().rev().collect());
    assert_eq!(reversed, Ok(started));

    let recast = |role: &str| read::<L>(&json!({ "noted": { "recast": { "role": role, "cast": cast } } }));
    assert!(matches!(recast("evaluator"), Ok(Event::Noted(Signal::Recast { .. }))));
    assert_eq!(recast("stranger"), refused("the loop has no role stranger"));
}

#[test]
fn a_journal_names_an_agent_for_each_role_of_its_loop_and_for_no_other() {
    is_held_to_its_roles(world::plan(1, 1));
    is_held_to_its_roles(reflex::world::plan(Template::Docs));
}
