//! The workers of the settings: their commands, found on this machine, and what they get of our environment.

use skilltune_orchestrator::agent::{Agent, Wanted};
use skilltune_orchestrator::process::Canceller;
use skilltune_orchestrator::workers::{Launch, Worker, describe};

use crate::casting::on_path;
use crate::settings::worker_settings::WorkerEntry;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;

/// The variables that connections and schedulers need, besides those that every program gets. The keys of agents stay here.
const CONNECTION: [&str; 6] =
    ["SHELL", "TMPDIR", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "KRB5CCNAME", "KUBECONFIG"];

/// The variables of schedulers and container engines begin so.
const FAMILIES: [&str; 4] = ["SLURM_", "NOMAD_", "DOCKER_", "CONTAINER_"];

/// Returns these workers with their programs.
pub fn found<'a>(
    entries: impl IntoIterator<Item = &'a WorkerEntry>,
    env: &Environment,
) -> Result<Vec<Worker>, Complaint> {
    entries.into_iter().map(|entry| worker(entry, env)).collect()
}

/// Returns a worker with its program.
pub fn worker(entry: &WorkerEntry, env: &Environment) -> Result<Worker, Complaint> {
    let (name, program) = (&entry.name, &entry.run[0]);
    let found = on_path(program, env).map_err(|_| {
        Complaint::input(format!("cannot start worker `{name}`: program {program:?} not found"))
            .hint(format!("install it, or change workers.{name}.run ({})", entry.origin))
    })?;
    let connects =
        |name: &str| CONNECTION.contains(&name) || FAMILIES.iter().any(|family| name.starts_with(family));
    let mut variables = env.vars.clone();
    variables.retain(|name, _| connects(name));
    variables.extend(entry.env.variables(&env.vars));
    Ok(Worker {
        name: name.clone(),
        launch: Launch {
            program: found,
            arguments: entry.run[1..].to_vec(),
            env: variables.into_iter().collect(),
        },
        slots: entry.slots,
        agents: entry.agents.clone(),
    })
}

/// Returns each wanted agent as the first worker that has it describes it, or the reasons why no worker has it. Other
/// workers make its calls if they have the same one.
///
/// A worker is asked for all agents at once, and only for those that are missing: its connection may wait in a queue.
pub fn describe_all(workers: &[Worker], wanted: &[Wanted]) -> Result<Vec<Result<Agent, String>>, Complaint> {
    let canceller = Canceller::new().map_err(ours)?;
    let mut found: Vec<Result<Agent, Vec<String>>> = wanted.iter().map(|_| Err(Vec::new())).collect();
    for worker in workers {
        let open = wanted.iter().cloned().zip(&mut found);
        let open = open.filter(|(one, found)| found.is_err() && worker.is_for(&one.agent));
        let (asked, open): (Vec<_>, Vec<_>) = open.unzip();
        if asked.is_empty() {
            continue;
        }
        let answers = match describe(worker, &asked, None, &canceller.cancel_token()) {
            Ok(facts) => facts.agents,
            Err(lost) => vec![Err(lost.to_string()); asked.len()],
        };
        for (found, answer) in open.into_iter().zip(answers) {
            match answer {
                Ok(agent) => *found = Ok(agent),
                Err(why) => {
                    if let Err(whys) = found {
                        whys.push(format!("{}: {why}", worker.name));
                    }
                }
            }
        }
    }
    let why = |whys: Vec<String>| match whys.as_slice() {
        [] => "no chosen worker has it among its `agents`".to_owned(),
        _ => whys.join("; "),
    };
    Ok(found.into_iter().map(|found| found.map_err(why)).collect())
}
