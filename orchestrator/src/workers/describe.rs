//! Asks a worker what it is, and for its agents.

use std::time::Duration;

use super::choice::Worker;
use super::frame::{Frame, Hello};
use super::link::{Link, Lost};
use crate::agent::{Agent, Wanted};
use crate::process::CancelToken;

/// What a worker says of itself.
#[derive(Debug)]
pub struct WorkerFacts {
    pub hello: Hello,
    /// The wanted agents in their order, or a line that says why the worker does not have it.
    pub agents: Vec<Result<Agent, String>>,
}

/// Starts a worker and asks it. It makes no call. `within` limits the wait for its first line.
pub fn describe(
    worker: &Worker,
    wanted: &[Wanted],
    within: Option<Duration>,
    cancel_token: &CancelToken,
) -> Result<WorkerFacts, Lost> {
    let mut link = Link::start(&worker.launch, cancel_token)?;
    let hello = link.hello(within)?;
    if let Some(why) = hello.refusal() {
        return Err(Lost::Gone(why));
    }
    link.send(&Frame::Describe { agents: wanted.to_vec() }, &[])?;
    match link.frame()? {
        Frame::Described { agents } if agents.len() == wanted.len() => {
            link.close();
            let checked = agents.into_iter().zip(wanted).map(|(facts, wanted)| {
                facts.and_then(|facts| facts.agent(wanted).map_err(|bad| bad.to_string()))
            });
            Ok(WorkerFacts { hello, agents: checked.collect() })
        }
        other => Err(Lost::unexpected(&other)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use skilltune_phases::base::role::Rights;
    use skilltune_phases::runs::plan::Isolation;

    use super::*;
    use crate::process::{Canceller, json_line};
    use crate::workers::{Launch, PROTOCOL};

    #[test]
    fn a_worker_that_does_not_start_in_time_is_given_up() {
        let launch = Launch { program: "/bin/cat".into(), arguments: Vec::new(), env: Vec::new() };
        let worker = Worker { name: "queued".into(), launch, slots: 1, agents: Vec::new() };
        let canceller = Canceller::new().unwrap();
        let lost = describe(&worker, &[], Some(Duration::ZERO), &canceller.cancel_token()).unwrap_err();
        assert_eq!(lost.to_string(), "it did not start within 0 s");
    }

    #[test]
    fn a_worker_that_describes_another_agent_does_not_have_the_wanted_one() {
        let program = env!("CARGO_PKG_VERSION").to_owned();
        let hello = Hello { skilltune_worker: PROTOCOL, program, machine: "m".to_owned(), memory: None };
        let offline = Agent::built_in("/bin/skilltune".into(), "offline", &BTreeMap::new()).facts(None, true);
        let described = Frame::Described { agents: vec![Ok(offline.clone()), Ok(offline)] };
        let said = String::from_utf8([json_line(&hello), json_line(&described)].concat()).unwrap();
        let arguments = ["-c", "printf %s \"$0\"; exec /bin/cat > /dev/null", &said].map(str::to_owned);
        let launch = Launch { program: "/bin/sh".into(), arguments: arguments.into(), env: Vec::new() };
        let worker = Worker { name: "odd".into(), launch, slots: 1, agents: Vec::new() };
        let wanted = ["offline", "claude"].map(|agent| Wanted {
            agent: agent.to_owned(),
            model: None,
            isolation: Isolation::Partial,
            via: None,
            rights: Rights::Read,
        });
        let canceller = Canceller::new().unwrap();
        let facts = describe(&worker, &wanted, None, &canceller.cancel_token()).unwrap();
        let names: Vec<_> = facts.agents.into_iter().map(|agent| agent.map(|agent| agent.name)).collect();
        assert_eq!(names, [Ok("offline".to_owned()), Err("its description is of another agent".to_owned())]);
    }
}
