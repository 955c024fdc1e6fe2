//! The machines of a run: which worker made its calls, with which version of an agent.

use skilltune_phases::base::role::Role;
use skilltune_phases::loops::tune::{Event, Outcome, Run};
use skilltune_phases::runs::event::{Done, Failure, FailureKind, Machine, Spent};

use crate::drive::reread;
use crate::world::{Drive, plan, ran};

fn machine(worker: &str, host: &str, version: Option<&str>, lost: u32) -> Machine {
    let why = (lost > 0).then(|| "it sent no beat".into());
    Machine { worker: worker.into(), host: host.into(), agent: version.map(Into::into), lost, why }
}

/// Returns a run whose first steps ended so.
fn after(ends: Vec<(Outcome, bool, Option<Machine>)>) -> Drive {
    let mut drive = Drive::start(plan(1, 9));
    let steps = drive.due(ends.len());
    assert_eq!(steps.len(), ends.len());
    for (step, (outcome, cached, machine)) in steps.into_iter().zip(ends) {
        let spent = Spent { cached, ..Spent::default() };
        let windows = Vec::new();
        let done = Done { step, attempt: 0, call: None, outcome, spent, model: None, windows, machine };
        drive.record(Event::Done(Box::new(done)));
    }
    drive
}

fn seen(run: &Run) -> Vec<(&str, &str, Option<&str>, u32, u32)> {
    let all = run.machines.all();
    all.map(|(at, made)| (&*at.worker, &*at.host, at.version.as_deref(), made.calls, made.lost)).collect()
}

#[test]
fn calls_are_counted_by_machine_and_version_whatever_their_order() {
    let failed = || Err(Failure::new(FailureKind::Network, "every worker was lost"));
    let mut ends = vec![
        (ran("a"), false, Some(machine("den", "den.example", Some("2"), 1))),
        (ran("b"), false, Some(machine("den", "den.example", Some("2"), 2))),
        (failed(), false, Some(machine("den", "den.example", Some("1"), 5))),
        (ran("c"), false, Some(machine("attic", "attic.example", None, 0))),
        (ran("d"), false, Some(machine("den", "cellar.example", Some("2"), 0))),
        (ran("e"), true, Some(machine("den", "den.example", Some("2"), 7))),
        (ran("f"), false, None),
    ];
    let wanted = [
        ("attic", "attic.example", None, 1, 0),
        ("den", "cellar.example", Some("2"), 1, 0),
        ("den", "den.example", Some("1"), 1, 5),
        ("den", "den.example", Some("2"), 2, 3),
    ];
    let drive = after(ends.clone());
    assert_eq!(seen(&drive.run), wanted);
    let records: Vec<_> = drive.records.iter().map(reread).collect();
    assert_eq!(Run::replay(&records).unwrap(), drive.run);
    ends.reverse();
    assert_eq!(seen(&after(ends).run), wanted);
}

#[test]
fn only_known_versions_of_one_agent_differ() {
    let versions = |versions: &[Option<&str>]| {
        let end = |(nth, version): (usize, Option<&str>)| {
            (ran("done"), false, Some(machine(&format!("worker-{nth}"), "host", version, 0)))
        };
        let drive = after(versions.iter().copied().enumerate().map(end).collect());
        let mixed = drive.run.machines.mixed().into_iter();
        mixed.map(|(agent, versions)| format!("{agent}: {versions:?}")).collect::<Vec<_>>()
    };
    let agent = plan(1, 3).roles.of(&Role::EXECUTOR).agent.clone();
    assert_eq!(versions(&[Some("2"), Some("1"), Some("2")]), [format!(r#"{agent}: {{"1", "2"}}"#)]);
    assert_eq!(versions(&[Some("2"), None, Some("2")]), [""; 0]);
    assert_eq!(versions(&[]), [""; 0]);
}

#[test]
fn a_call_of_this_machine_is_written_as_before_workers_existed() {
    let line = |machine| {
        let drive = after(vec![(ran("a"), false, machine)]);
        serde_json::to_string(drive.records.last().unwrap()).unwrap()
    };
    assert!(!line(None).contains("machine"));
    let plain = line(Some(machine("den", "den.example", None, 0)));
    assert!(plain.ends_with(r#""machine":{"worker":"den","host":"den.example"}}}}"#), "{plain}");
    let lost = line(Some(machine("den", "h", Some("2"), 1)));
    assert!(lost.contains(r#""host":"h","agent":"2","lost":1,"why":"it sent no beat"}"#), "{lost}");
}
