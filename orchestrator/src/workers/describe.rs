//! Asks a worker what it is, and for its agents.

use std::time::Duration;

use super::choice::Worker;
use super::frame::{Frame, Hello, PROTOCOL};
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
        return Err(Lost::Broken(why));
    }
    link.send(&Frame::Describe { agents: wanted.to_vec() }, &[])?;
    match link.next(cancel_token)? {
        Frame::Described { agents } if agents.len() == wanted.len() => {
            link.close();
            Ok(WorkerFacts { hello, agents })
        }
        Frame::Failed { why } => Err(Lost::Gone(shown(&why))),
        other => Err(Lost::unexpected(&other)),
    }
}

impl Hello {
    /// Returns why this program has no calls for such a worker.
    pub fn refusal(&self) -> Option<String> {
        let ours = env!("CARGO_PKG_VERSION");
        let is_same = self.skilltune_worker == PROTOCOL && self.program == ours;
        (!is_same).then(|| {
            let (theirs, protocol) = (shown(&self.program), self.skilltune_worker);
            format!("it has skilltune {theirs} with protocol {protocol}, and this is {ours} with protocol {PROTOCOL}")
        })
    }
}

/// The most that is shown of a worker's own words.
const SHOWN: usize = 300;

/// Returns what a worker said, as a line for people.
pub fn shown(text: &str) -> String {
    text.chars().map(|one| if one.is_control() { ' ' } else { one }).take(SHOWN).collect()
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
