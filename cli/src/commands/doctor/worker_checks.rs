//! The workers of the user's settings: with `--workers`, what each of them is and which agents it has.
//!
//! Their commands are the user's own, so they run without a guardian, all at the same time. They make no call.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use skilltune_orchestrator::agent::{Agent, Real};
use skilltune_orchestrator::workers::{WorkerFacts, describe, shown};
use skilltune_phases::base::role::Rights;
use skilltune_phases::runs::plan::Fingerprint;
use skilltune_phases::skills::offline;

use crate::casting::installed::Manner;
use crate::casting::workers;
use crate::commands::args::DoctorArgs;
use crate::nights::check::{About, Check, State};
use crate::runs::under_guard::under_guard;
use crate::settings::Settings;
use crate::settings::origin::Origin;
use crate::settings::values::AgentSpec;
use crate::settings::worker_settings::{WorkerEntry, WorkerNames};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::text::figures;
use crate::text::plain::one_line;

#[derive(Debug, Default, Serialize)]
pub struct Workers {
    /// The number of workers in the settings.
    #[serde(skip)]
    described: usize,
    /// The workers that make the calls of runs, by the settings.
    #[serde(skip)]
    chosen: Vec<String>,
    /// The result of `--workers`.
    #[serde(rename = "workers", skip_serializing_if = "Option::is_none")]
    tried: Option<Vec<WorkerSeen>>,
}

/// A worker that was started.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct WorkerSeen {
    name: String,
    /// The name of its machine.
    machine: Option<String>,
    /// The version of its skilltune.
    version: Option<String>,
    free_memory_bytes: Option<u64>,
    agents: Vec<WorkerAgent>,
    /// Why it cannot be used.
    trouble: Option<String>,
    fix: Option<String>,
}

/// An agent that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct WorkerAgent {
    /// `NAME[:MODEL]`.
    name: String,
    /// Unknown for a command of the worker's settings.
    version: Option<String>,
    /// Why the worker does not have it.
    trouble: Option<String>,
    /// An earlier worker that has another version of it, or other settings for it.
    unlike: Option<String>,
    #[serde(skip)]
    fingerprint: Option<Fingerprint>,
}

impl Workers {
    /// Starts the workers that the flag asks for. Afterwards the settings choose none: all other checks are of this machine,
    /// and start no worker.
    pub fn look(args: &DoctorArgs, settings: &mut Settings, env: &Environment) -> Result<Self, Complaint> {
        let chosen = std::mem::take(&mut settings.calls.workers.value).0;
        let mut workers = Self { described: settings.workers.len(), chosen, tried: None };
        if let Some(WorkerNames(names)) = &args.workers {
            let names = if names.is_empty() { all(&workers.chosen, settings) } else { names.clone() };
            settings.calls.workers.set(WorkerNames(names), Origin::Flag("--workers"));
            workers.tried = Some(try_chosen(args.timeout, settings, env)?);
            settings.calls.workers.value = WorkerNames::default();
        }
        Ok(workers)
    }

    pub fn checks(&self) -> Vec<Check> {
        let Some(tried) = &self.tried else { return self.untried().into_iter().collect() };
        if tried.is_empty() {
            return vec![Check::new(About::Workers, State::Unknown, "your settings describe no worker")];
        }
        let unlike = tried.iter().flat_map(WorkerSeen::unlike_checks);
        let trust = "trust: the settings on a worker's machine decide what runs there: agents that they describe or that are \
                     installed, and commands of suites only with --allow-commands";
        let trust = Check::fine(About::Workers, trust);
        tried.iter().map(WorkerSeen::check).chain(unlike).chain([trust]).collect()
    }

    /// Returns how to fix each worker that cannot be used.
    pub fn to_fix(&self) -> impl Iterator<Item = String> {
        let fix = |seen: &WorkerSeen| Some(format!("fix worker {}: {}", seen.name, seen.trouble.as_ref()?));
        self.tried.iter().flatten().filter_map(fix)
    }

    fn untried(&self) -> Option<Check> {
        let (verb, them) = if self.described == 1 { ("is", "it") } else { ("are", "them") };
        let workers = figures::count(self.described, "worker");
        let chosen = match self.chosen.join(", ") {
            chosen if chosen.is_empty() => chosen,
            chosen => format!("; runs use the agents of {chosen} (calls.workers), not those of this machine"),
        };
        let text = format!("{workers} {verb} described; skilltune doctor --workers tries {them}{chosen}");
        (self.described > 0).then(|| Check::new(About::Workers, State::Unknown, text))
    }
}

/// Returns the names of all workers: first the chosen ones, in the order in which a run asks them.
fn all(chosen: &[String], settings: &Settings) -> Vec<String> {
    let known = chosen.iter().filter(|name| settings.workers.contains_key(*name));
    let others = settings.workers.keys().filter(|name| !chosen.contains(name));
    known.chain(others).cloned().collect()
}

/// Starts all chosen workers at the same time.
fn try_chosen(
    within: Duration,
    settings: &Settings,
    env: &Environment,
) -> Result<Vec<WorkerSeen>, Complaint> {
    let chosen = settings.chosen_workers()?;
    let specs: Vec<_> = chosen.iter().map(|entry| wanted(entry, settings)).collect();
    let ask = |nth: usize, _| {
        let (worker, entry, manner) = (workers::worker(chosen[nth], env), chosen[nth], Manner::of(settings));
        // An agent is the same with all rights.
        let wanted: Vec<_> = specs[nth].iter().map(|spec| manner.wanted(spec, Rights::Read)).collect();
        let (name, origin) = (&entry.name, &entry.origin);
        let hint = format!("check workers.{name}.run ({origin}); a queue may need a longer --timeout");
        // Only its program can be missing.
        let missing = format!("program {:?} not found", entry.run[0]);
        move |_, cancel_token| {
            let worker = worker.map_err(|complaint| Complaint { what: missing, ..complaint })?;
            let facts = describe(&worker, &wanted, Some(within), &cancel_token);
            facts.map_err(|lost| Complaint::input(lost).hint(hint))
        }
    };
    let answers = under_guard(chosen.len(), || Err(Complaint::input("cancelled")), ask)?;
    let seen = chosen.iter().zip(&specs).zip(answers);
    let mut seen: Vec<_> =
        seen.map(|((entry, specs), facts)| WorkerSeen::of(&entry.name, specs, facts)).collect();
    compare(&mut seen);
    Ok(seen)
}

/// Returns the agents to ask a worker for: those of the roles, those that the settings describe, and those that the worker
/// is for. If neither roles nor the worker name any, also those that need no settings.
fn wanted(entry: &WorkerEntry, settings: &Settings) -> Vec<AgentSpec> {
    let roles = &settings.roles;
    // A run with workers uses no agent just because this machine has it.
    let required = roles.required().into_iter().filter(|role| role.origin != Origin::Installed);
    let optional = roles.second_improver.value.iter().chain(&roles.panel.value.0);
    let mut specs: Vec<AgentSpec> =
        required.filter_map(|role| role.value.as_ref()).chain(optional).cloned().collect();
    let mut names: Vec<&str> = settings.agents.keys().chain(&entry.agents).map(String::as_str).collect();
    if specs.is_empty() && entry.agents.is_empty() {
        names.splice(0..0, Real::ALL.map(Real::name).into_iter().chain([offline::NAME]));
    }
    specs.extend(names.into_iter().map(|name| AgentSpec { agent: name.to_owned(), model: None }));
    let mut wanted: Vec<AgentSpec> = Vec::new();
    for spec in specs {
        let is_same = |other: &AgentSpec| {
            other.agent == spec.agent && (spec.model.is_none() || other.model == spec.model)
        };
        let is_for = entry.agents.is_empty() || entry.agents.contains(&spec.agent);
        if is_for && !wanted.iter().any(is_same) {
            wanted.push(spec);
        }
    }
    wanted
}

/// Notes the agents that are not the same as those of an earlier worker.
fn compare(seen: &mut [WorkerSeen]) {
    let mut first: BTreeMap<String, (Fingerprint, String)> = BTreeMap::new();
    for WorkerSeen { name, agents, .. } in seen {
        for agent in agents {
            let Some(own) = &agent.fingerprint else { continue };
            let (fingerprint, earlier) =
                first.entry(agent.name.clone()).or_insert_with(|| (own.clone(), name.clone()));
            agent.unlike = (fingerprint != own).then(|| earlier.clone());
        }
    }
}

impl WorkerSeen {
    fn of(name: &str, specs: &[AgentSpec], facts: Result<WorkerFacts, Complaint>) -> Self {
        let seen = Self { name: name.to_owned(), ..Self::default() };
        let WorkerFacts { hello, agents } = match facts {
            Ok(facts) => facts,
            Err(Complaint { what, hints, .. }) => {
                return Self { trouble: Some(one_line(&what)), fix: hints.into_iter().next(), ..seen };
            }
        };
        let agents = specs.iter().zip(agents);
        let agents: Vec<_> = agents.map(|(spec, agent)| WorkerAgent::of(spec, agent)).collect();
        let lacks = agents.iter().all(|agent| agent.trouble.is_some());
        Self {
            machine: Some(harmless(&hello.machine)),
            version: Some(harmless(&hello.program)),
            free_memory_bytes: hello.memory,
            agents,
            trouble: lacks.then(|| "it has none of these agents".to_owned()),
            fix: lacks.then(|| "install one there, or describe it in the settings there".to_owned()),
            ..seen
        }
    }

    fn check(&self) -> Check {
        let mut parts: Vec<String> = Vec::new();
        if let (Some(machine), Some(version)) = (&self.machine, &self.version) {
            let memory = |bytes| format!(", {} of memory free", figures::bytes(bytes));
            let memory = self.free_memory_bytes.map(memory).unwrap_or_default();
            parts.push(format!("{machine}, skilltune {version}{memory}"));
        }
        parts.extend(self.agents.iter().map(|WorkerAgent { name, version, trouble, .. }| {
            match (trouble, version) {
                (Some(why), _) => format!("no {name}: {why}"),
                (None, Some(version)) => format!("{name} {version}"),
                (None, None) => name.clone(),
            }
        }));
        parts.extend(self.trouble.clone());
        let state = match &self.trouble {
            Some(_) => State::Broken,
            None if self.agents.iter().any(|agent| agent.trouble.is_some()) => State::Unknown,
            None => State::Fine,
        };
        let text = format!("{}: {}", self.name, parts.join("; "));
        Check::new(About::Workers, state, text).with_fix(self.fix.as_ref())
    }

    /// Returns a check for each agent for which a run leaves this worker out.
    fn unlike_checks(&self) -> impl Iterator<Item = Check> {
        self.agents.iter().filter_map(|agent| {
            let (name, own, first) = (&agent.name, &self.name, agent.unlike.as_ref()?);
            let text = format!(
                "{name}: {own} has another one than {first}, but both sides of a comparison need the same one: a run with \
                 {first} first leaves out {own}"
            );
            Some(Check::new(About::Workers, State::Unknown, text))
        })
    }
}

impl WorkerAgent {
    fn of(spec: &AgentSpec, answer: Result<Agent, String>) -> Self {
        let seen = Self { name: spec.to_string(), ..Self::default() };
        match answer {
            Ok(agent) => Self {
                version: agent.reported_version().map(harmless),
                fingerprint: Some(agent.fingerprint()),
                ..seen
            },
            Err(why) => Self { trouble: Some(harmless(&why)), ..seen },
        }
    }
}

/// Returns the words of another machine, short and safe to print.
fn harmless(text: &str) -> String {
    one_line(&shown(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nights::check::sections;
    use crate::settings::Files;
    use crate::terminal::style::Style;

    fn agent(name: &str, version: &str) -> WorkerAgent {
        let mut fingerprint = Fingerprint::default();
        fingerprint.add("version", version.as_bytes());
        let version = (!version.is_empty()).then(|| version.to_owned());
        WorkerAgent { name: name.into(), version, fingerprint: Some(fingerprint), ..WorkerAgent::default() }
    }

    fn worker(name: &str, agents: &[WorkerAgent]) -> WorkerSeen {
        WorkerSeen {
            name: name.to_owned(),
            machine: Some(format!("{name}-01")),
            version: Some("1.2.3".to_owned()),
            free_memory_bytes: Some(31 << 30),
            agents: agents.to_vec(),
            ..WorkerSeen::default()
        }
    }

    fn shown_checks(workers: &Workers) -> String {
        sections(&workers.checks(), 400, Style::PLAIN).join("\n").trim_start().to_owned()
    }

    #[test]
    fn each_worker_is_shown_with_its_machine_and_its_agents_or_with_why_it_cannot_be_used() {
        let missing = WorkerAgent {
            name: "gemini".into(),
            trouble: Some("program \"gemini\" not found".into()),
            ..WorkerAgent::default()
        };
        let lost = WorkerSeen {
            name: "lost".into(),
            trouble: Some("its command ended: no route to host (exit status: 255)".into()),
            fix: Some("check workers.lost.run (user file /s)".into()),
            ..WorkerSeen::default()
        };
        let hostile = WorkerSeen { machine: Some("a\x1b[2J\u{202e}b".into()), ..worker("odd", &[]) };
        let mut all = vec![
            worker("big", &[agent("claude:opus", "2.1.329 (Claude Code)"), agent("mine", "")]),
            WorkerSeen {
                free_memory_bytes: None,
                ..worker("small", &[agent("claude:opus", "2.2.0"), missing])
            },
            lost,
        ];
        compare(&mut all);
        let workers = Workers { tried: Some(all), ..Workers::default() };
        insta::assert_snapshot!(shown_checks(&workers), @r#"
        workers
          ok  big: big-01, skilltune 1.2.3, 31 GiB of memory free; claude:opus 2.1.329 (Claude Code); mine
          --  small: small-01, skilltune 1.2.3; claude:opus 2.2.0; no gemini: program "gemini" not found
          !!  lost: its command ended: no route to host (exit status: 255); check workers.lost.run (user file /s)
          --  claude:opus: small has another one than big, but both sides of a comparison need the same one: a run with big first leaves out small
          ok  trust: the settings on a worker's machine decide what runs there: agents that they describe or that are installed, and commands of suites only with --allow-commands
        "#);
        let fixes: Vec<String> = workers.to_fix().collect();
        assert_eq!(fixes, ["fix worker lost: its command ended: no route to host (exit status: 255)"]);
        let text = shown_checks(&Workers { tried: Some(vec![hostile]), ..Workers::default() });
        assert!(!text.contains(['\x1b', '\u{202e}']), "{text}");
    }

    #[test]
    fn without_the_flag_workers_are_only_counted() {
        let untried = |described, chosen: &[&str]| {
            let chosen = chosen.iter().map(|&name| name.to_owned()).collect();
            shown_checks(&Workers { described, chosen, tried: None })
        };
        assert_eq!(untried(0, &[]), "");
        insta::assert_snapshot!([untried(1, &[]), untried(2, &["big", "small"])].join("\n"), @r"
        workers
          --  1 worker is described; skilltune doctor --workers tries it
        workers
          --  2 workers are described; skilltune doctor --workers tries them; runs use the agents of big, small (calls.workers), not those of this machine
        ");
        let none = Workers { tried: Some(Vec::new()), ..Workers::default() };
        assert!(shown_checks(&none).ends_with("--  your settings describe no worker"));
    }

    #[test]
    fn a_worker_is_asked_for_the_agents_that_runs_need_from_it() {
        let asked = |roles: &str, agents: &str| {
            let worker = format!("{roles}[workers.w]\nrun = [\"p\"]\nagents = {agents}\n");
            let settings = Files::new(&worker, "").load();
            let specs = wanted(&settings.workers["w"], &settings);
            specs.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        let roles =
            "[roles]\nexecutor = \"claude:opus\"\nevaluator = \"gemini\"\nimprover = \"claude:opus\"\n";
        let described = "[agents.mine]\ncommand = [\"mine\"]\n";
        assert_eq!(asked("", "[]"), "claude gemini codex opencode offline");
        assert_eq!(asked(roles, "[]"), "claude:opus gemini");
        assert_eq!(asked(&[roles, described].concat(), "[]"), "claude:opus gemini mine");
        assert_eq!(asked(roles, "[\"claude\", \"theirs\"]"), "claude:opus theirs");
        assert_eq!(asked("", "[\"theirs\"]"), "theirs");
    }

    #[test]
    fn the_chosen_workers_are_tried_first_in_their_order() {
        let worker = |name: &str| format!("[workers.{name}]\nrun = [\"p\"]\n");
        let settings = Files::new(&["a", "b", "c"].map(worker).concat(), "").load();
        let chosen = ["c", "gone", "b"].map(str::to_owned);
        assert_eq!(all(&chosen, &settings), ["c", "b", "a"]);
    }
}
