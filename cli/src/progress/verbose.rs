//! `--verbose`: a line for each agent call as it ends, beside what another reporter writes.

use std::io;
use std::path::Path;

use skilltune_phases::base::id::CallKey;
use skilltune_phases::base::model::ModelName;
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::Loop;
use skilltune_phases::runs::event::{Done, Event, Failure, Record, Spent};
use skilltune_phases::runs::run::Run;

use crate::progress::reporter::Reporter;
use crate::report::words;
use crate::text::{figures, plain};

pub struct Verbose<L: Loop>(pub Box<dyn Reporter<L>>);

impl<L: Loop> Reporter<L> for Verbose<L> {
    fn recorded(&mut self, run: &Run<L>, record: &Record<L>) {
        if let Event::Done(done) = &record.event
            && let Some(line) = line(run, done)
        {
            self.0.remark(&line);
        }
        self.0.recorded(run, record);
    }

    fn began(&mut self, run: &Run<L>, step: &L::Step) {
        self.0.began(run, step);
    }

    fn ended(&mut self, run: &Run<L>, step: &L::Step) {
        self.0.ended(run, step);
    }

    fn finished(&mut self, run: &Run<L>) -> io::Result<()> {
        self.0.finished(run)
    }

    fn remark(&mut self, text: &str) {
        self.0.remark(text);
    }
}

/// Describes a call: role, agent, model, time, cost, folder, and why it failed. Other steps of a run have no line.
fn line<L: Loop>(run: &Run<L>, done: &Done<L>) -> Option<String> {
    let role = L::role(&done.step)?;
    let mut parts =
        vec![call_text(&role, &run.plan.roles.of(&role).shown(), done.model.as_ref(), &done.spent)];
    if !done.spent.cached {
        // A cached call has no folder in this run.
        let folder = |key: CallKey| Path::new(&run.plan.folder).join("agents").join(key.short());
        parts.extend(done.call.map(|key| plain::shell_path(&folder(key))));
    }
    let failed = |failure: &Failure| format!("{}: {}", words::failure(failure.kind), failure.why);
    parts.extend(done.outcome.as_ref().err().map(failed));
    Some(plain::unbroken(&parts.join(", ")))
}

/// Describes a call by its role, agent, model, time and cost.
pub fn call_text(role: &Role, agent: &str, model: Option<&ModelName>, spent: &Spent) -> String {
    let mut parts = vec![format!("call: {role} {agent}")];
    parts.extend(model.map(ToString::to_string));
    if spent.cached {
        parts.push("cached".to_owned());
    } else {
        let about = if spent.estimated { "about " } else { "" };
        let cost = spent.usd.map(|usd| format!("{about}{}", figures::dollars(usd)));
        parts.push(figures::milliseconds(spent.ms));
        parts.push(cost.unwrap_or_else(|| "cost unknown".to_owned()));
    }
    parts.join(", ")
}
