//! A run of `expert`: one question, and any answer.

use skilltune_phases::base::id::Digest;
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::expert::{Expert, Origin, Persona, Plan, Task};

use crate::drive::{self, plan_of, roles_of};

pub type Drive = drive::Drive<Expert>;

impl drive::TestLoop for Expert {}

pub fn plan() -> Plan {
    let persona = "You are an architect.\n\n## Answer\n\nIn one sentence.\n";
    let expert = Persona {
        name: "architect".into(),
        persona: persona.into(),
        origin: Origin::BuiltIn,
        digest: Digest::of(persona.as_bytes()),
    };
    let task = Task {
        expert,
        task: "Should the pump have a queue?".into(),
        reads: Some("/project".into()),
        files: None,
        remarks: Vec::new(),
        drafts: None,
    };
    plan_of("/project", "expert-20261121-213000", task, roles_of([Role::EXPERT]))
}
