//! `--probe`: makes one minimal call with each real agent that is installed, and reports its result and cost.

use std::time::Duration;

use serde::Serialize;
use skilltune_orchestrator::agent::{Agent, Response, Via};
use skilltune_orchestrator::probe;
use skilltune_phases::runs::event::{Failure, FailureKind};
use skilltune_phases::runs::remedy::Remedy;

use crate::nights::check::{About, Check, State};
use crate::report::{advice, words};
use crate::runs::under_guard::under_guard;
use crate::terminal::complaint::Complaint;
use crate::text::{figures, plain};

/// The result of an agent's one call.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Probed {
    pub answered: bool,
    /// The wrapper used for the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<&'static str>,
    /// The kind of failure.
    pub kind: Option<FailureKind>,
    pub why: Option<String>,
    pub mend: Option<String>,
    pub model: Option<String>,
    pub seconds: f64,
    pub usd: Option<f64>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
}

/// Calls all agents and returns the results in their order.
pub fn ask(agents: &[Agent], system: bool) -> Result<Vec<Probed>, Complaint> {
    under_guard(
        agents.len(),
        || Probed::broken("cancelled"),
        |nth, room| {
            let agent = agents[nth].clone();
            move |pool, cancel_token| match probe::probe(&agent, system, &room, &pool, &cancel_token) {
                Ok(heard) => Probed::of(&agent, heard),
                Err(error) => Probed::broken(&error.to_string()),
            }
        },
    )
}

impl Probed {
    fn of(agent: &Agent, heard: Response) -> Self {
        let Response { answer, spent, talk } = heard;
        let failure = match answer {
            Ok(text) if text.trim().is_empty() => Some(Failure::new(FailureKind::Empty, "no text at all")),
            Ok(_) => None,
            Err(failure) => Some(failure),
        };
        let why = |failure: &Failure| plain::one_line(&failure.why);
        Self {
            answered: failure.is_none(),
            via: agent.via().map(Via::name),
            kind: failure.as_ref().map(|failure| failure.kind),
            why: failure.as_ref().map(why),
            mend: failure.as_ref().map(|failure| fix(&agent.name, failure)),
            model: talk.and_then(|talk| talk.model).map(String::from),
            seconds: Duration::from_millis(spent.ms).as_secs_f64(),
            usd: spent.usd,
            input_tokens: spent.input_tokens,
            output_tokens: spent.output_tokens,
        }
    }

    /// A call that could not be made.
    pub fn broken(why: &str) -> Self {
        Self { why: Some(plain::one_line(why)), ..Self::default() }
    }

    /// Returns the check of a call to `agent`.
    pub fn check(&self, agent: &str) -> Check {
        let via = self.via.map_or(String::new(), |via| format!(" via {via}"));
        let text = format!("{agent}{via}: {}", self.describe());
        Check::new(About::Agents, State::fine_if(self.answered), text)
    }

    fn describe(&self) -> String {
        let mut parts = vec![match (self.kind, &self.why) {
            (Some(kind), Some(why)) => format!("test call failed: it {}: {why}", words::failure(kind)),
            (_, Some(why)) => format!("test call failed: {why}"),
            (_, None) => format!("answered in {}", figures::duration(Duration::from_secs_f64(self.seconds))),
        }];
        parts.extend(self.model.clone());
        parts.extend(self.usd.map(|usd| format!("${usd:.4}")));
        let tokens = self.input_tokens.zip(self.output_tokens);
        parts.extend(tokens.map(|(input, output)| format!("{input} tokens in, {output} out")));
        parts.extend(self.mend.clone());
        parts.join("; ")
    }
}

fn fix(agent: &str, failure: &Failure) -> String {
    match failure.kind.remedy() {
        Remedy::Fix | Remedy::Wait => advice::fix(agent, failure),
        Remedy::Repeat => "check that you can reach its service, and retry".to_owned(),
        Remedy::Tell => format!("run `{agent}` by hand to see the error"),
    }
}
