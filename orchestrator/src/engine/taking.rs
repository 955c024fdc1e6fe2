//! The worker's side of a call: the call as it travels, and the engine that carries it out.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use skilltune_phases::asking::order::Order;
use skilltune_phases::base::id::{CallKey, TreeId};
use skilltune_phases::loops::shared::request::AgentRequest;
use skilltune_phases::runs::plan::Plan;
use skilltune_phases::runs::price::Prices;

use super::call::Job;
use super::call_dir::CallDir;
use super::elsewhere::FILES;
use super::{EngineError, LoopEngine, Services};
use crate::process::CancelToken;
use crate::snapshot::Limits;

/// A call, with everything that a worker needs besides the parts of its trees.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct ExportedCall<L: LoopEngine> {
    step: L::Step,
    request: AgentRequest<L>,
    usd: Option<f64>,
    pub output_bytes: u64,
    pub artifacts: Limits,
    pub prices: Prices,
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

    /// Carries out the call as this machine's own. Returns nothing if it was cancelled, and a line if it is not the call
    /// that was asked for.
    pub fn carry_out(
        self,
        services: Services,
        key: CallKey,
        cancel_token: CancelToken,
    ) -> Result<Option<Result<MadeReply, String>>, EngineError> {
        let Self { step, request, usd, .. } = self;
        let job = Job { services: Arc::new(services), step, request, cancel_token, usd };
        if job.key()? != key {
            return Ok(Some(Err("it would make another call of this request".to_owned())));
        }
        let Some(reply) = job.reply()? else { return Ok(None) };
        let dir = CallDir::of(&job.services, key);
        let most = job.services.limits.output_bytes;
        let text = |name| Ok((name, job.services.keys.hide(&dir.file(name).text(most)?).into_owned()));
        let files = FILES.into_iter().filter(|name| dir.file(name).is_file()).map(text);
        let files = files.collect::<Result<_, EngineError>>()?;
        let trees = reply.outcome.as_ref().map(L::trees).unwrap_or_default();
        let json = serde_json::to_vec(&reply).expect("a reply has a JSON text");
        Ok(Some(Ok(MadeReply { json, trees, files })))
    }
}
