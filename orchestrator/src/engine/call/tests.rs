//! The key of a call, which is made from its request.
//!
//! A stored answer is found by this key. If one of the hashes changes, all caches of all users miss, and every call
//! that could be replayed is paid for again. The requests are tested in `phases/tests/core/call_keys.rs`, and the
//! agents' parts in `agent/installed/tests.rs`.

use std::collections::BTreeSet;

use skilltune_phases::asking::order::{Access, CacheUse, Installed, Planted};
use skilltune_phases::asking::prompt::Faulty;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::base::role::{Rights, Role};
use skilltune_phases::judging::judgement::VerdictShape;
use skilltune_phases::runs::plan::{Enforced, Fingerprint, Isolation};
use skilltune_phases::suites::scenario::SkillFile;

use super::*;

/// The parts of a call's key.
struct Parts {
    order: Order,
    cast: Cast,
    prompt: &'static str,
    epoch: u64,
}

/// A question without a prompt, which is one of the parts.
struct NoQuestion;

impl Question for NoQuestion {
    fn prompt(&self, _: &Folders) -> Result<String, Faulty> {
        Ok(String::new())
    }
}

fn parts() -> Parts {
    let mut fingerprint = Fingerprint::default();
    fingerprint.add("model", b"large");
    let cast = Cast {
        agent: "mine".into(),
        model: None,
        fingerprint,
        timeout_seconds: 60,
        family: None,
        isolation: Isolation::Partial,
        via: None,
        wrap: None,
        rights: Enforced::System,
        verdict: VerdictShape::Evidenced,
        lacks_shell: false,
        opens_files: false,
    };
    let placement = Placement {
        at: "skill/writer".into(),
        tree: TreeId::EMPTY,
        access: Access::Fixed,
        hidden: vec!["evals".into(), "tests".into()],
        picked: vec![SkillFile { path: "data.csv".into(), at: "in/data.csv".into() }],
        links_outside: false,
    };
    let order = Order {
        step: r#"{"review":{}}"#.into(),
        attempt: 1,
        role: Role::EVALUATOR,
        rights: Rights::Read,
        placements: vec![placement],
        installed: None,
        plugin: None,
        command: None,
        repository: true,
        caches: None,
        brought: None,
        planted: Vec::new(),
        setup: None,
        hides: false,
    };
    Parts { order, cast, prompt: "Judge it.", epoch: 3 }
}

fn command() -> Command {
    let argv = ["sh", "check.sh"].map(str::to_owned).to_vec();
    Command { input: Some("1".into()), is_shared: true, ..Command::new(argv, 9, true) }
}

/// Returns the key after a change of these parts.
fn key(change: impl FnOnce(&mut Parts)) -> String {
    let mut parts = parts();
    change(&mut parts);
    let Parts { order, cast, prompt, epoch } = &parts;
    let roles: Roles = [(order.role.clone(), cast.clone())].into();
    let asking = Asking { order, question: &NoQuestion, roles: &roles, epoch: *epoch, usd: None };
    let input = order.command.as_ref().map_or(Some(*prompt), |command| command.input.as_deref());
    asking.key(input).0.hex()
}

fn of_command(change: impl FnOnce(&mut Command)) -> String {
    let mut command = command();
    change(&mut command);
    key(|parts| parts.order.command = Some(command))
}

#[test]
fn a_call_of_an_agent_and_one_of_a_command_have_the_keys_that_they_had() {
    let agent = "3b12e08c914ed11334a864f91b4ae2002c3b79b2084aa94c3a30631f4c2d793a";
    let command = "de6c3b08a26e7e61b68fadcf11cc182a652e838657da01efd34d37198d998317";
    assert_eq!([key(|_| ()), of_command(|_| ())], [agent, command]);
}

#[test]
fn every_part_of_a_request_changes_the_key() {
    let planted = |code: &str| {
        let words = vec![("WORD".into(), code.to_owned())];
        key(|parts| parts.order.planted = vec![Planted { tree: TreeId::EMPTY, words: words.clone() }])
    };
    let keys = [
        key(|_| ()),
        key(|parts| parts.order.step.push(' ')),
        key(|parts| parts.order.attempt = 2),
        key(|parts| parts.order.rights = Rights::Edit),
        key(|parts| parts.order.repository = false),
        key(|parts| parts.order.setup = Some(command())),
        key(|parts| parts.order.brought = parts.order.placements.first().cloned()),
        key(|parts| parts.order.placements[0].hidden.truncate(1)),
        key(|parts| parts.order.placements[0].picked[0].at.push('x')),
        key(|parts| parts.order.placements[0].picked[0].path.push('x')),
        key(|parts| parts.prompt = "Judge it!"),
        key(|parts| parts.cast.fingerprint.add("model", b"small")),
        key(|parts| parts.epoch = 4),
        planted("one"),
        planted("two"),
        of_command(|_| ()),
        of_command(|command| command.argv[1].push('x')),
        of_command(|command| command.input = None),
    ];
    let different: BTreeSet<_> = keys.iter().collect();
    assert_eq!(different.len(), keys.len(), "{keys:#?}");
}

#[test]
fn a_deadline_or_the_place_of_a_skill_does_not_change_the_key() {
    assert_eq!(key(|parts| parts.cast.timeout_seconds = 600), key(|_| ()));
    assert_eq!(key(|parts| parts.order.caches = Some(CacheUse::Copy)), key(|_| ()));
    let installed = Installed { name: "writer".into(), at: ".claude/skills/writer".into(), called: true };
    assert_eq!(key(|parts| parts.order.installed = Some(installed)), key(|_| ()));
    assert_eq!(of_command(|command| command.seconds = 90), of_command(|_| ()));
}
