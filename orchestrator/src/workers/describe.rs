//! Asks a worker what it is, and for its agents.

use std::time::Duration;

use super::choice::Worker;
use super::frame::{Frame, Hello};
use super::link::{Link, Lost};
use crate::agent::{AgentFacts, Wanted};
use crate::process::CancelToken;

/// What a worker says of itself.
#[derive(Debug)]
pub struct WorkerFacts {
    pub hello: Hello,
    /// In the order of the questions; a line that says why not, instead of an agent.
    pub agents: Vec<Result<AgentFacts, String>>,
}

/// Starts a worker and asks it. It makes no call. `within` limits the wait for its first line.
pub fn describe(
    worker: &Worker,
    wanted: &[Wanted],
    within: Option<Duration>,
    cancel_token: &CancelToken,
) -> Result<WorkerFacts, Lost> {
    let mut link = Link::start(&worker.launch)?;
    let hello = link.hello(within, cancel_token)?;
    if let Some(why) = hello.refusal() {
        return Err(Lost::Gone(why));
    }
    link.send(&Frame::Describe { agents: wanted.to_vec() }, &[])?;
    match link.next(cancel_token)? {
        Frame::Described { agents } if agents.len() == wanted.len() => {
            link.close();
            Ok(WorkerFacts { hello, agents })
        }
        other => Err(Lost::unexpected(&other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Canceller;
    use crate::workers::Launch;

    #[test]
    fn a_worker_that_does_not_start_in_time_is_given_up() {
        let launch = Launch { program: "/bin/cat".into(), arguments: Vec::new(), env: Vec::new() };
        let worker = Worker { name: "queued".into(), launch, slots: 1, agents: Vec::new() };
        let canceller = Canceller::new().unwrap();
        let lost = describe(&worker, &[], Some(Duration::ZERO), &canceller.cancel_token()).unwrap_err();
        assert_eq!(lost.to_string(), "it did not start within 0 s");
    }
}
