//! The plan of a simulated run: what a user would ask of `tune`, with simulated agents.

use skilltune_phases::asking::prompt::Prompts;
use skilltune_phases::base::ceiling::Ceilings;
use skilltune_phases::base::delivery::Delivery;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::base::role::Role;
use skilltune_phases::judging::contract::Contract;
use skilltune_phases::judging::judgement::VerdictShape;
use skilltune_phases::loops::tune::{Aim, Apply, FailOn, Improver, Plan, Rules, Task};
use skilltune_phases::runs::plan::{Cast, Enforced, FORMAT, Fingerprint, Isolation, LoopKind, Roles};
use skilltune_phases::skills::target::{Member, Mode, Target};
use skilltune_phases::suites::scenario::{Scenario, Tools};

use super::chain::Chain;
use super::skill::Skill;
use super::world::World;

pub(super) fn plan(world: &World, scenarios: Vec<Scenario>, rules: Rules) -> Plan {
    let members = world.start.len();
    let member = |(nth, skill): (usize, &Skill)| Member {
        name: if members == 1 { "skill".parse().expect("a plain name") } else { Chain::name(nth) },
        path: format!("/skill-{}", nth + 1),
        start: TreeId(skill.version()),
        files: vec!["SKILL.md".into()],
        has_scripts: false,
        too_long: None,
        hidden: Vec::new(),
        links_outside: Vec::new(),
        plugin: None,
    };
    Plan {
        format: FORMAT,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        run: "simulated".parse().expect("a plain id"),
        kind: LoopKind::Tune,
        folder: "/simulated".into(),
        task: Task {
            aim: Aim::Improve,
            target: Target {
                mode: if members == 1 { Mode::Single } else { Mode::Chain },
                members: world.start.iter().enumerate().map(member).collect(),
            },
            scenarios,
            suite: None,
            held_out_uses: 0,
            seen: Vec::new(),
            // The skill has no text, so a judgement of it would say nothing.
            contract: Contract { dimensions: Vec::new(), criteria: Vec::new() },
            rules,
            delivery: Delivery::Inline,
            tools: Tools::Files,
            apply: Apply::Auto,
            fail_on: FailOn::default(),
            confined: true,
            prompts: Prompts::default(),
        },
        roles: roles(world),
        ceilings: Ceilings::default(),
        seed: world.seed,
        epoch: 0,
        unattended: false,
        workers: Vec::new(),
    }
}

fn roles(world: &World) -> Roles {
    let improvers = world.law.improvers().map(Improver::role);
    let all = [Role::EXECUTOR, Role::EVALUATOR].into_iter().chain(improvers);
    all.map(|role| (role, agent())).collect()
}

fn agent() -> Cast {
    Cast {
        agent: "simulated".into(),
        model: None,
        fingerprint: Fingerprint::default(),
        timeout_seconds: 1,
        family: None,
        isolation: Isolation::Partial,
        via: None,
        wrap: None,
        rights: Enforced::Nobody,
        verdict: VerdictShape::Evidenced,
        lacks_shell: false,
        opens_files: false,
    }
}
