//! The roles of a journal must be exactly those of its loop: none added and none missing.

use serde_json::{Map, Value, json};
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::Loop;
use skilltune_phases::loops::reflex::criteria::Template;
use skilltune_phases::loops::tune::Tune;
use skilltune_phases::runs::event::{Event, Record, Signal};
use skilltune_phases::runs::plan::Plan;
use skilltune_phases::runs::run::{NotARun, Run};

use crate::{evolve, reflex, world};

/// Replays a journal of these events.
fn replayed<L: Loop>(events: impl IntoIterator<Item = Value>) -> Result<Run<L>, String> {
    let at = "2026-11-21T21:30:00Z";
    let record = |(seq, event)| serde_json::from_value(json!({ "seq": seq, "at": at, "event": event }));
    let records: Result<Vec<Record<L>>, _> = (0_u64..).zip(events).map(record).collect();
    Run::replay(&records.map_err(|error| error.to_string())?).map_err(|error: NotARun| error.to_string())
}

fn is_held_to_its_roles<L: Loop>(plan: Plan<L>) {
    let specs = L::roles(&plan);
    let cast = json!(plan.roles.of(&specs[0].role));
    let started = json!(Event::Started(Box::new(plan)));
    let with = |change: &dyn Fn(&mut Map<String, Value>)| {
        let mut event = started.clone();
        change(event["started"]["roles"].as_object_mut().expect("roles are an object"));
        replayed::<L>([event])
    };
    let refused = |why: &str| Err(why.to_owned());
    for spec in specs.iter().filter(|spec| !spec.is_optional) {
        let role = spec.role.as_str();
        let without = with(&|roles| drop(roles.shift_remove(role)));
        assert_eq!(without, refused(&format!("no agent for the role {role}")));
    }
    let add = |name: &str| with(&|roles| drop(roles.insert(name.to_owned(), cast.clone())));
    assert_eq!(add("stranger"), refused("the loop has no role stranger"));
    assert_eq!(add("\u{1b}[31m"), refused("not a valid name for a role"));
    let reversed = with(&|roles| *roles = std::mem::take(roles).into_iter().rev().collect());
    assert_eq!(reversed, replayed([started.clone()]), "the roles are in the order of the loop");

    let recast = |role: &str| {
        replayed::<L>([started.clone(), json!({ "noted": { "recast": { "role": role, "cast": cast } } })])
    };
    assert_eq!(recast("evaluator").map(|run| run.recasts.len()), Ok(1));
    assert_eq!(recast("stranger"), refused("the loop has no role stranger"));
}

#[test]
fn a_journal_names_an_agent_for_each_role_of_its_loop_and_for_no_other() {
    is_held_to_its_roles(world::plan(1, 1));
    is_held_to_its_roles(reflex::world::plan(Template::Docs));
    is_held_to_its_roles(evolve::world::World::new().plan);
    is_held_to_its_roles(evolve::world::World::new().advised().plan);
}

#[test]
fn a_record_of_an_optional_role_that_the_run_does_not_have_changes_nothing() {
    let plan = world::plan(1, 1);
    let cast = plan.roles.of(&Role::IMPROVER).clone();
    let recast = Signal::Recast { role: Role::SECOND_IMPROVER, cast };
    let events: [Event<Tune>; 2] = [Event::Started(Box::new(plan)), Event::Noted(recast)];
    let run = replayed::<Tune>(events.map(|event| json!(event)));
    assert_eq!(run.map(|run| (run.seq, run.recasts.len())), Ok((1, 0)));
}
