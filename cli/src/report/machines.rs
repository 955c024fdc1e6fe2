//! The machines of workers that made the calls of a run. Their names and versions are the words of other machines.

use std::collections::BTreeSet;
use std::iter;

use serde_json::{Value, json};
use skilltune_phases::loops::Loop;
use skilltune_phases::runs::event::Machine;
use skilltune_phases::runs::ledger::{MachineAgent, MachineCalls};
use skilltune_phases::runs::run::Run;

use crate::report::document::{Block, Section, Text, code, paragraph, plain as span, table, words};
use crate::text::figures::count;
use crate::text::plain;
use crate::text::width::cut;

/// The most columns of a name or a version.
const LONGEST: usize = 60;

/// Returns the section about machines; none if no worker made a call.
pub fn machines<L: Loop>(run: &Run<L>) -> Option<Section> {
    run.machines.all().next()?;
    let head = ["Worker", "Host", "Agent", "Version", "Calls", "Lost Before"];
    let mixed = run.machines.mixed().into_iter().map(|(agent, versions)| mixed(agent, &versions));
    let blocks = iter::once(table(&head, run.machines.all().map(row))).chain(mixed).chain(losses(run));
    Some(Section { title: "Machines", blocks: blocks.collect() })
}

/// Returns the key `workers`; no key if no worker made a call.
pub fn json<L: Loop>(run: &Run<L>) -> Value {
    let one = |(MachineAgent { worker, host, agent, version }, made): (&MachineAgent, &MachineCalls)| {
        let (worker, host, agent) = (name(worker), name(host), name(agent));
        let (version, calls, lost) = (version.as_deref().map(name), made.calls, made.lost);
        json!({ "worker": worker, "host": host, "agent": agent, "version": version, "calls": calls, "lost": lost })
    };
    let all: Vec<_> = run.machines.all().map(one).collect();
    if all.is_empty() { json!({}) } else { json!({ "workers": all }) }
}

/// Describes the machine that made one call.
pub fn of_call(Machine { worker, host, agent, lost, why }: &Machine) -> String {
    let version = agent.as_ref().map_or(String::new(), |version| format!(", version {}", name(version)));
    let why = why.as_ref().map_or(String::new(), |why| format!(": {why}"));
    let lost = if *lost == 0 { String::new() } else { format!(", lost {} before{why}", times(*lost)) };
    format!("on {} ({}){version}{lost}", name(worker), name(host))
}

fn row((at, made): (&MachineAgent, &MachineCalls)) -> Vec<Text> {
    let version = at.version.as_deref().map_or(span("unknown"), |version| words(&name(version)));
    let [worker, host, agent] = [&*at.worker, &*at.host, &at.agent].map(|text| words(&name(text)).into());
    vec![worker, host, agent, version.into(), made.calls.to_string().into(), made.lost.to_string().into()]
}

fn mixed(agent: &str, versions: &BTreeSet<&str>) -> Block {
    /// Each call may report a different one.
    const MOST: usize = 4;
    let mut listed: Vec<String> = versions.iter().take(MOST).map(|version| name(version)).collect();
    if versions.len() > MOST {
        listed.push(format!("and {}", count(versions.len() - MOST, "other")));
    }
    let (agent, versions) = (words(&name(agent)), words(&listed.join(", ")));
    let caution = "; results of different versions may differ for that reason alone.";
    paragraph([agent, span(" ran in several versions: "), versions, span(caution)])
}

fn losses<L: Loop>(run: &Run<L>) -> Option<Block> {
    let lost = run.machines.all().map(|(_, made)| made.lost).fold(0, u32::saturating_add);
    let text = format!("Calls were lost with their worker {}; ", times(lost));
    let command = format!("skilltune history {}", run.plan.run);
    (lost > 0).then(|| paragraph([span(text), code(&command), span(" says why.")]))
}

fn times(number: u32) -> String {
    count(number as usize, "time")
}

fn name(text: &str) -> String {
    cut(&plain::one_line(text), LONGEST)
}

#[cfg(test)]
mod tests {
    use skilltune_phases::base::role::Role;
    use skilltune_phases::base::vocabulary::Vocabulary as _;
    use skilltune_phases::loops::tune::{Event, Record, Tune};

    use super::*;
    use crate::loops::tune::world::{plan, play, scored};
    use crate::report::page;
    use crate::text::markdown::MarkdownPage;

    /// Replays a run in which these workers made the first calls of the executor.
    fn run(machines: &[Machine]) -> Run<Tune> {
        let mut records = play(plan(&["haiku"], 1), scored(&[50, 95], &[52, 91])).records;
        let calls = records.iter_mut().filter_map(|record: &mut Record| match &mut record.event {
            Event::Done(done) if Tune::role(&done.step) == Some(Role::EXECUTOR) => Some(done),
            _ => None,
        });
        calls.zip(machines).for_each(|(done, machine)| done.machine = Some(machine.clone()));
        Run::replay(&records).unwrap()
    }

    fn machine(worker: &str, host: &str, version: Option<&str>, lost: u32) -> Machine {
        let why = (lost > 0).then(|| "it sent no beat".into());
        Machine { worker: worker.into(), host: host.into(), agent: version.map(Into::into), lost, why }
    }

    fn shown(section: &Section) -> String {
        let mut page = MarkdownPage::titled("Report");
        page::add(&mut page, section);
        page.finish()
    }

    #[test]
    fn a_run_without_workers_has_no_section_and_no_key() {
        let run = run(&[]);
        assert!(machines(&run).is_none());
        assert_eq!(json(&run), json!({}));
    }

    #[test]
    fn machines_versions_and_losses_are_told_once() {
        let run = run(&[
            machine("den", "den.example", Some("2.1.0"), 0),
            machine("attic", "attic.example", Some("2.2.0"), 3),
            machine("den", "den.example", Some("2.1.0"), 1),
            machine("attic", "attic.example", None, 0),
        ]);
        insta::assert_snapshot!(shown(&machines(&run).unwrap()), @r"
        # Report

        ## Machines

        | Worker | Host | Agent | Version | Calls | Lost Before |
        | --- | --- | --- | --- | --- | --- |
        | attic | attic.example | claude | unknown | 1 | 0 |
        | attic | attic.example | claude | 2\.2.0 | 1 | 3 |
        | den | den.example | claude | 2\.1.0 | 2 | 1 |

        claude ran in several versions: 2\.1.0, 2.2.0; results of different versions may differ for that reason alone.

        Calls were lost with their worker 4 times; `skilltune history calm-otter` says why.
        ");
        assert_eq!(
            json(&run)["workers"][1],
            json!({
                "worker": "attic", "host": "attic.example", "agent": "claude", "version": "2.2.0", "calls": 1, "lost": 3,
            })
        );
        assert_eq!(json(&run)["workers"][0]["version"], Value::Null);
    }

    #[test]
    fn the_words_of_another_machine_are_harmless_and_short() {
        let host = format!("a|b\n# <b>*c*</b>\u{202e}\u{1b}[2J{}", "x".repeat(99));
        let hostile = machine("den", &host, Some("`1`"), 0);
        let told = shown(&machines(&run(std::slice::from_ref(&hostile))).unwrap());
        insta::assert_snapshot!(told.lines().last().unwrap(), @r"| den | a\|b # \<b>\*c\*\</b>\<U+202E>␛\[2Jxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… | claude | \`1\` | 1 | 0 |");
        insta::assert_snapshot!(of_call(&hostile), @"on den (a|b # <b>*c*</b><U+202E>␛[2Jxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…), version `1`");
    }

    #[test]
    fn a_call_that_was_lost_says_why_and_only_some_versions_are_listed() {
        insta::assert_snapshot!(of_call(&machine("den", "h", None, 2)), @"on den (h), lost 2 times before: it sent no beat");
        let versions = mixed("claude", &BTreeSet::from(["a", "b", "c", "d", "e", "f"]));
        let told = shown(&Section { title: "Machines", blocks: vec![versions] });
        assert!(told.contains("claude ran in several versions: a, b, c, d, and 2 others;"), "{told}");
    }
}
