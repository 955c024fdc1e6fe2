//! The workers of the settings: their commands, found on this machine, and what they get of our environment.

use std::collections::BTreeMap;

use skilltune_orchestrator::agent::{AgentFacts, Wanted};
use skilltune_orchestrator::process::Canceller;
use skilltune_orchestrator::workers::{Launch, Worker, describe};

use crate::casting::on_path;
use crate::settings::Settings;
use crate::settings::worker_settings::WorkerEntry;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;

/// Passed on to the command of a worker: what connections and schedulers need. The keys of agents stay here.
const PASSED: [&str; 15] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "SSH_AUTH_SOCK",
    "KRB5CCNAME",
    "KUBECONFIG",
];

/// The variables of schedulers and container engines begin so.
const FAMILIES: [&str; 4] = ["SLURM_", "NOMAD_", "DOCKER_", "CONTAINER_"];

/// Returns a worker with its program.
pub fn found(name: &str, entry: &WorkerEntry, env: &Environment) -> Result<Worker, Complaint> {
    let program = &entry.run[0];
    let found = on_path(program, env).map_err(|_| {
        Complaint::input(format!("cannot start worker `{name}`: program {program:?} not found"))
            .hint(format!("install it, or change workers.{name}.run ({})", entry.origin))
    })?;
    let is_passed = |name: &String| {
        PASSED.contains(&name.as_str())
            || FAMILIES.iter().any(|family| name.starts_with(family))
            || entry.env.pass.contains(name)
    };
    let passed = env.vars.iter().filter(|(name, _)| is_passed(name));
    let mut variables: BTreeMap<String, String> =
        passed.map(|(name, value)| (name.clone(), value.clone())).collect();
    variables.extend(entry.env.set.clone());
    Ok(Worker {
        name: name.to_owned(),
        launch: Launch {
            program: found,
            arguments: entry.run[1..].to_vec(),
            env: variables.into_iter().collect(),
        },
        slots: entry.slots,
        agents: entry.agents.clone(),
    })
}

/// Returns the workers that make the calls; none for this machine.
pub fn chosen(settings: &Settings, env: &Environment) -> Result<Vec<Worker>, Complaint> {
    settings.chosen_workers()?.into_iter().map(|(name, entry)| found(name, entry, env)).collect()
}

/// The workers of a run, which know their agents.
pub trait Describe {
    /// Returns the description of each wanted agent, or the reason why no worker has it. All of them at once: each
    /// connection may wait in a queue.
    fn describe(&self, wanted: &[Wanted]) -> Result<Vec<Result<AgentFacts, String>>, Complaint>;
}

/// The chosen workers, asked in their order.
pub struct Connected(pub Vec<Worker>);

impl Describe for Connected {
    /// The first worker that has an agent describes it. Others make its calls if they have the same one.
    fn describe(&self, wanted: &[Wanted]) -> Result<Vec<Result<AgentFacts, String>>, Complaint> {
        let canceller = Canceller::new().map_err(ours)?;
        let mut found: Vec<Option<AgentFacts>> = wanted.iter().map(|_| None).collect();
        let mut whys = vec![Vec::new(); wanted.len()];
        for worker in &self.0 {
            let is_for = |one: &Wanted| worker.agents.is_empty() || worker.agents.contains(&one.agent);
            let is_open = |&at: &usize| found[at].is_none() && is_for(&wanted[at]);
            let open: Vec<usize> = (0..wanted.len()).filter(is_open).collect();
            if open.is_empty() {
                continue;
            }
            let asked: Vec<Wanted> = open.iter().map(|&at| wanted[at].clone()).collect();
            let answers = match describe(worker, &asked, None, &canceller.cancel_token()) {
                Ok(facts) => facts.agents,
                Err(lost) => asked.iter().map(|_| Err(lost.to_string())).collect(),
            };
            for (at, answer) in open.into_iter().zip(answers) {
                match answer {
                    Ok(facts) => found[at] = Some(facts),
                    Err(why) => whys[at].push(format!("{}: {why}", worker.name)),
                }
            }
        }
        let described = found.into_iter().zip(whys).map(|(found, whys)| found.ok_or_else(|| whys.join("; ")));
        Ok(described.collect())
    }
}
