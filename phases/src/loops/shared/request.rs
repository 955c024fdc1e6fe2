//! A request to an agent: one step made ready, with the question and the reader of its answer.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::asking::order::{Order, Question};
use crate::asking::prompt::Faulty;
use crate::base::answer::{OffSchema, shape};
use crate::base::material::Folders;
use crate::loops::Loop;
use crate::runs::event::{Failure, FailureKind, Outcome};
use crate::runs::plan::Plan;
use crate::runs::run::Run;
use crate::skills::offline::Task;

/// A step of a loop, ready for an agent. It owns all it needs, so that it can be carried out apart from the run, also on
/// another machine by the same version of skilltune.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct AgentRequest<L: Loop> {
    pub(crate) order: Order,
    pub(crate) plan: Arc<Plan<L>>,
    /// The code that the answer must repeat. It is also the seed of the fences in the prompt.
    pub(crate) code: String,
    /// The last failure of the step.
    pub(crate) retry: Option<Failure>,
    pub(crate) brief: L::Brief,
}

/// The question of a call: its prompt, the form of the answer, and the reader of the answer.
pub trait Brief<L: Loop> {
    /// Returns the prompt. Fails only for a prompt page of the user's own.
    fn prompt(&self, _: &AgentRequest<L>, _folders: &Folders) -> Result<String, Faulty> {
        Ok(String::new())
    }

    /// Returns the JSON Schema of an answer that is data, for an agent that can enforce one.
    fn form(&self, _: &AgentRequest<L>) -> Option<Value> {
        None
    }

    /// Reads an answer that is data.
    fn read(&self, _: &AgentRequest<L>, _answer: &str) -> Result<L::Answer, OffSchema> {
        Err(shape("this step expects no JSON"))
    }

    /// Checks an answer that was read on another machine, by those rules of its reader that are about the answer itself.
    fn check(&self, _: &AgentRequest<L>, _answer: &L::Answer) -> Result<(), OffSchema> {
        Ok(())
    }

    /// Returns the task of the built-in agent.
    fn task(&self, _: &AgentRequest<L>) -> Option<Task> {
        None
    }
}

/// The question of a command: it runs instead of an agent.
#[derive(Debug)]
pub(crate) struct NoAgent;

impl<L: Loop> Brief<L> for NoAgent {}

impl<L: Loop> AgentRequest<L> {
    /// Makes a request of an order. The code covers `quotes`, the texts of other agents in the prompt.
    pub(crate) fn new(run: &Run<L>, step: &L::Step, order: Order, quotes: &[&str], brief: L::Brief) -> Self {
        let plan = Arc::clone(&run.plan);
        let code = order.code(L::CODE, quotes, plan.seed);
        Self { order, plan, code, retry: run.last_failure(step).cloned(), brief }
    }

    pub fn plan(&self) -> &Plan<L> {
        &self.plan
    }

    /// Reads an answer that is data.
    pub fn read(&self, answer: &str) -> Outcome<L::Answer> {
        L::brief(&self.brief).read(self, answer).map_err(|why| off_schema(&why))
    }

    /// Checks an answer that was read on another machine.
    pub fn check(&self, answer: &L::Answer) -> Outcome<()> {
        L::brief(&self.brief).check(self, answer).map_err(|why| off_schema(&why))
    }

    /// Returns why the previous answer could not be used.
    pub(crate) fn retry_error(&self) -> Option<&str> {
        self.retry.as_ref().map(|failure| failure.why.as_str())
    }
}

/// Returns the failure of a call whose answer cannot be read.
pub(crate) fn off_schema(why: &OffSchema) -> Failure {
    Failure::new(FailureKind::OffSchema, why.to_string())
}

impl<L: Loop> AsRef<Order> for AgentRequest<L> {
    fn as_ref(&self) -> &Order {
        &self.order
    }
}

impl<L: Loop> Question for AgentRequest<L> {
    fn prompt(&self, folders: &Folders) -> Result<String, Faulty> {
        L::brief(&self.brief).prompt(self, folders)
    }

    fn task(&self) -> Option<Task> {
        L::brief(&self.brief).task(self)
    }

    fn schema(&self) -> Option<String> {
        L::brief(&self.brief).form(self).map(|form| form.to_string())
    }
}
