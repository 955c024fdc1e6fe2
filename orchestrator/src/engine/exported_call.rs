//! The worker's side of a call: the call as it travels, and the engine that carries it out.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use skilltune_phases::asking::order::Order;
use skilltune_phases::base::id::{CallKey, TreeId};
use skilltune_phases::loops::shared::request::AgentRequest;
use skilltune_phases::runs::plan::{Fingerprint, Plan};
use skilltune_phases::runs::price::Prices;

use super::call::{Job, KeyedCall};
use super::call_dir::CallDir;
use super::{EngineError, LoopEngine, Services};
use crate::process::CancelToken;
use crate::snapshot::Limits;

/// The files that a worker sends beside its reply.
pub(super) const FILES: [&str; 3] = ["transcript.jsonl", "stdout", "stderr"];

/// A call, with everything that a worker needs besides the parts of its trees.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct ExportedCall<L: LoopEngine> {
    step: L::Step,
    request: AgentRequest<L>,
    usd: Option<f64>,
    /// The agent that has to make it, if the plan has the fingerprint of a path.
    agent: Option<Fingerprint>,
    pub output_bytes: u64,
    pub artifacts: Limits,
    pub prices: Prices,
}

/// A call that a worker is about to make.
#[expect(missing_debug_implementations, reason = "a request shows nothing")]
pub struct ReadyCall<L: LoopEngine> {
    job: Job<L>,
    call: KeyedCall,
}

/// A reply that is ready to be sent.
#[derive(Debug)]
pub struct MadeReply {
    pub json: Vec<u8>,
    /// The trees that the answer names.
    pub trees: Vec<TreeId>,
    /// The files beside it, each with its name. They have none of the keys that the agent got.
    pub files: Vec<(&'static str, String)>,
}

impl<L: LoopEngine> ExportedCall<L> {
    pub(super) fn of(job: &Job<L>) -> Self {
        let services = &job.services;
        Self {
            step: job.step.clone(),
            request: job.request.clone(),
            usd: job.usd,
            agent: services
                .exports
                .as_ref()
                .and_then(|exports| exports.agents.get(&job.request.as_ref().role))
                .cloned(),
            output_bytes: services.limits.output_bytes,
            artifacts: services.limits.artifacts,
            prices: services.prices.clone(),
        }
    }

    pub(super) fn json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a call has a JSON text")
    }

    pub fn order(&self) -> &Order {
        self.request.as_ref()
    }

    pub fn agent(&self) -> Option<&Fingerprint> {
        self.agent.as_ref()
    }

    pub fn plan(&self) -> &Plan<L> {
        self.request.plan()
    }

    /// Returns the trees that the call reads.
    pub fn trees(&self) -> Vec<TreeId> {
        let order = self.order();
        let placed = order.placements.iter().chain(&order.brought).map(|placement| placement.tree);
        let planted = order.planted.iter().map(|planted| planted.tree);
        let read = L::base(&self.request).unwrap_or_default().into_iter().chain(L::also_reads(&self.request));
        let mut trees: Vec<TreeId> = placed.chain(planted).chain(read).collect();
        trees.sort();
        trees.dedup();
        trees
    }

    /// Returns the call as one of this machine, if it is the one that was asked for.
    pub fn ready(
        self,
        services: Services,
        key: CallKey,
        cancel_token: CancelToken,
    ) -> Result<Option<ReadyCall<L>>, EngineError> {
        let Self { step, request, usd, .. } = self;
        let job = Job { services: Arc::new(services), step, request, cancel_token, usd };
        let call = job.keyed()?;
        Ok((call.key == key).then_some(ReadyCall { job, call }))
    }
}

impl<L: LoopEngine> ReadyCall<L> {
    /// Carries out the call. Returns nothing if it was cancelled. Answers of other runs are not used: whether they still
    /// count is up to the coordinator.
    pub fn carry_out(self) -> Result<Option<MadeReply>, EngineError> {
        let Self { job, call } = self;
        let Some(reply) = job.reply(&call, false)? else { return Ok(None) };
        let dir = CallDir::of(&job.services, call.key);
        let most = job.services.limits.output_bytes;
        let text = |name| {
            let text = dir.file(name).text(most)?;
            Ok((name, cut(&job.services.keys.hide(&text), most).to_owned()))
        };
        let files = FILES.into_iter().filter(|name| dir.file(name).is_file()).map(text);
        let files = files.collect::<Result<_, EngineError>>()?;
        let trees = reply.outcome.as_ref().map(L::trees).unwrap_or_default();
        let json = serde_json::to_vec(&reply).expect("a reply has a JSON text");
        Ok(Some(MadeReply { json, trees, files }))
    }
}

/// Returns the beginning of a text with at most `most` bytes.
fn cut(text: &str, most: u64) -> &str {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}
