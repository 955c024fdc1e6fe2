//! The engine's part for `expert`: the answer is a text, and becomes a file of the run.

use skilltune_phases::base::json;
use skilltune_phases::loops::expert::{AgentRequest, Answer, Expert, Run};

use super::{AgentOutput, EngineError, Extent, LoopEngine, ReadError, Services};
use crate::disk::atomic::Durability;
use crate::snapshot::Objects;
use crate::store::RunFolder;

impl LoopEngine for Expert {
    fn read(_: &Services, request: &AgentRequest, output: &AgentOutput<'_>) -> Result<Answer, ReadError> {
        Ok(request.answered(output.answer)?)
    }

    fn project(_: &Objects, folder: &RunFolder, run: &Run, _: Extent) -> Result<(), EngineError> {
        if let Some(answer) = run.answer() {
            let page = folder.place().join("answer.md");
            page.replace(format!("{answer}\n").as_bytes(), Durability::Order)?;
        }
        Ok(())
    }

    fn state(run: &Run) -> String {
        json::page(&serde_json::json!({
            "run": run.plan.run,
            "expert": run.plan.task.expert.name,
            "outcome": run.outcome(),
            "updated_at": run.updated_at,
        }))
    }
}
