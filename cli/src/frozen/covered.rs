//! Names the kinds of steps, answers, decisions, signals and endings that stored runs have.

use std::collections::BTreeSet;

use skilltune_phases::base::ceiling::Ceiling;
use skilltune_phases::judging::stop::Reason as TuneReason;
use skilltune_phases::loops::evolve::course::{Pattern, Persona};
use skilltune_phases::loops::evolve::decision::{Pass, PassKind, WorkEnd};
use skilltune_phases::loops::evolve::{
    self, Answer as EvolveAnswer, Decision as EvolveDecision, Ending as EvolveEnding, Evolve,
    Step as EvolveStep,
};
use skilltune_phases::loops::expert::{
    self, Answer as ExpertAnswer, Decision as ExpertDecision, Expert, Step as ExpertStep,
};
use skilltune_phases::loops::gan::course::{Choice, Ending as GanEnding, Question as GanQuestion, Who};
use skilltune_phases::loops::gan::{
    self, Answer as GanAnswer, Decision as GanDecision, Gan, Step as GanStep,
};
use skilltune_phases::loops::reflex::{
    self, Answer as ReflexAnswer, Decision as ReflexDecision, Phase, Reason as ReflexReason, Reflex,
    Step as ReflexStep,
};
use skilltune_phases::loops::review::{
    self, Answer as ReviewAnswer, Decision as ReviewDecision, Review, Step as ReviewStep,
};
use skilltune_phases::loops::tune::{
    self, Aim, Answer as TuneAnswer, Decision as TuneDecision, Ending as TuneEnding, Step as TuneStep, Tune,
    Verdict as TuneVerdict,
};
use skilltune_phases::nights::night::{
    End as NightEnd, Entry, Event as NightEvent, Halt, Left, Over, Place as NightPlace, Work,
};
use skilltune_phases::runs::event::{Event, Pause, Record, Signal};

use crate::loops::LoopCommands;

/// The names of variants that appear in stored runs.
pub(super) type Covered = BTreeSet<&'static str>;

/// Variants that no stored run has: browsers and workers differ between machines, questions of a draft need a terminal,
/// and some failures of a night need more than a script.
pub(super) const NOT_STORED: &[&str] = &[
    "Signal::Workers",
    "Signal::WorkerRefused",
    "Pause::Exported",
    "GanStep::Browse",
    "ExpertStep::Inquire",
    "ExpertStep::Reply",
    "ExpertAnswer::Inquired",
    "ExpertAnswer::Replied",
    "NightEvent::Drafted",
    "NightEvent::Dismissed",
    "NightEvent::Merged",
    "NightEvent::Waits",
    "NightEnd::Refused",
    "NightEnd::Failed",
    "NightPlace::PullRequest",
    "NightPlace::Conflict",
    "Halt::Person",
    "Left::Busy",
    "Work::Extend",
];

/// Lists every variant of these enums under this name. A new variant does not compile until it is listed.
macro_rules! variants {
    ($($name:ident { $($variant:ident)* })*) => {
        $(
            impl Variant for $name {
                fn name(&self) -> &'static str {
                    match self {
                        $(Self::$variant { .. } => concat!(stringify!($name), "::", stringify!($variant)),)*
                    }
                }
            }
        )*

        const ALL: &[&str] = &[$($(concat!(stringify!($name), "::", stringify!($variant)),)*)*];
    };
}

pub(super) trait Variant {
    fn name(&self) -> &'static str;
}

variants! {
    Signal { Paused Resumed Recast Ceilings Held KeptFree Workers WorkerRefused Waiting Waited Placing Placed Proposed }
    Pause { Exported Interrupted Terminated Stopped Blocked Ceiling }
    Ceiling { Usd Tokens Calls Minutes }
    Aim { Improve Try Calibrate Compare }
    TuneStep { SetUp Exercise Inspect Check Grade JudgeText Judge Improve Ask Promote Propose }
    TuneAnswer { SetUp Exercised Checked Judged Improved Chosen Promoted Conflict Proposed NotProposed }
    TuneDecision {
        Open Scored Calibrate Keep Drop Target Focus Turn Draft NoDraft Stop Compare LookAgain Dismiss Consult Retry Ship
        Close
    }
    TuneReason { Reached Failed Refused Oscillating Stalled Exhausted Finished }
    TuneVerdict { Won Lost Tied Indecisive Regressed Unused Unchallenged Unjudged }
    TuneEnding { Applied Kept Unchanged Conflict Proposed Exercised Compared }
    ReflexStep { Propose Agree Plan Produce Prepare Allow Match Check Judge Critique Refine }
    ReflexAnswer { Proposed Agreed Planned Written Prepared Allowed Checked Judged Criticised }
    ReflexDecision {
        Agreed Enter Planned Produced Prepared Evaluated Drop Criticised Refined Switch Advance Stop Close
    }
    Phase { Plan ProducePrepare Evaluate Critique Refine Prepare }
    ReflexReason {
        ThresholdReached NoMajorIssues UserStop PhaseError Oscillation Stagnation BudgetExceeded IterationLimit
    }
    GanStep { Draft Propose Rule Build Inspect Browse Allow Try Judge Ask Promote Commit }
    GanAnswer {
        Drafted Proposed Ruled Built Inspected Judged Allowed Chosen Promoted Conflict Committed NotCommitted
    }
    GanDecision { Drafted Proposed Ruled Agreed Sprint Built Again Judged Answered Ended Close }
    GanEnding { Reached Forced Accepted Kept Aborted Failed }
    GanQuestion { Escalation Stagnation Exhausted }
    ExpertStep { Inquire Reply Ask }
    ExpertAnswer { Inquired Replied Answered }
    ExpertDecision { Close }
    ReviewStep { Scan Review Verify Allow Prove }
    ReviewAnswer { Ran Reviewed Verified Allowed }
    ReviewDecision { Merge Close }
    EvolveStep {
        Split SetUp Classify Interface Oracle Divide Replan Group Match Advise Agree Look Run Work Merge Drift Allow
        Probe Judge Settle Spoil Control Amend Transplant Follow Audit File Ask Promote Commit
    }
    EvolveAnswer {
        Split Classified Divided Grouped Interface Proposed Probed Spoiled Matched Advised Agreed Found Ran Worked
        Merged Drifted Allowed Judged Amended Audited Transplanted Followed Filed
        Chosen Promoted Conflict Committed NotCommitted
    }
    EvolveDecision {
        Planned Pass Batch TakenBack Integrated Found Moved Stayed Evaluated Amended Answered Ended Close
    }
    EvolveEnding { Success Caller HumanEscalation Planned Incomplete Failed Repeated NotRepeated }
    PassKind { Plan Fix Patch Pivot }
    Persona { Multistability Simplicity Invariance Reification }
    Pattern { HardCap Oscillation DiminishingReturns NoDrift }
    WorkEnd { Merged Again Failed Skipped }
    Choice { Refocus Amend Guide Force Accept Stop Abort }
    Who { Person Default }
    NightEvent { Began Asked Ended Left Drafted Over Acknowledged Dismissed Merged Waits }
    NightEnd { Decided Measured Paused Unjudged Refused Failed }
    NightPlace { Nowhere Applied Branch Patch PullRequest Kept Conflict }
    Halt { Budget Time Away Person }
    Left { Budget Time Away Busy Refused Unchanged }
    Over { Done Time Interrupted }
    Work { Measure Again Resume Extend Tune }
}

/// Returns the variants that no stored run has, in the order of their enums.
pub(super) fn missing(covered: &Covered) -> Vec<&'static str> {
    ALL.iter().copied().filter(|name| !covered.contains(name)).collect()
}

/// A loop whose records are counted.
pub(super) trait Counted: LoopCommands<Step: Variant, Answer: Variant, Decision: Variant> {
    /// Names the reason, the verdict or the ending that a decision holds.
    fn endings(decision: &Self::Decision) -> Vec<&'static str>;

    /// Whether the program decided this after a look at the project, which no replay repeats.
    fn is_observed(_: &Self::Decision) -> bool {
        false
    }

    fn of_plan(_: &skilltune_phases::runs::plan::Plan<Self>) -> Option<&'static str> {
        None
    }

    fn covered(records: &[Record<Self>]) -> Covered {
        records.iter().flat_map(|record| Self::in_event(&record.event)).collect()
    }

    fn in_event(event: &Event<Self>) -> Vec<&'static str> {
        match event {
            Event::Started(plan) => Self::of_plan(plan).into_iter().collect(),
            Event::Done(done) => {
                let answer = done.outcome.as_ref().ok().map(Variant::name);
                std::iter::once(done.step.name()).chain(answer).collect()
            }
            Event::Decided(decision) => [vec![decision.name()], Self::endings(decision)].concat(),
            Event::Noted(signal @ Signal::Paused(pause @ Pause::Ceiling(ceiling))) => {
                vec![signal.name(), pause.name(), ceiling.name()]
            }
            Event::Noted(signal @ Signal::Paused(pause)) => vec![signal.name(), pause.name()],
            Event::Noted(signal) => vec![signal.name()],
        }
    }
}

impl Counted for Tune {
    fn endings(decision: &tune::Decision) -> Vec<&'static str> {
        match decision {
            TuneDecision::Stop(reason) => vec![reason.name()],
            TuneDecision::Ship(shipment) => vec![shipment.verdict.name()],
            TuneDecision::Close(ending) => vec![ending.name()],
            _ => Vec::new(),
        }
    }

    fn of_plan(plan: &tune::Plan) -> Option<&'static str> {
        Some(plan.task.aim.name())
    }
}

impl Counted for Reflex {
    fn endings(decision: &reflex::Decision) -> Vec<&'static str> {
        match decision {
            ReflexDecision::Stop(stop) => vec![stop.reason.name()],
            ReflexDecision::Enter(phase) => vec![phase.name()],
            _ => Vec::new(),
        }
    }
}

impl Counted for Expert {
    fn endings(_: &expert::Decision) -> Vec<&'static str> {
        Vec::new()
    }
}

impl Counted for Review {
    fn endings(_: &review::Decision) -> Vec<&'static str> {
        Vec::new()
    }
}

impl Counted for Evolve {
    fn endings(decision: &evolve::Decision) -> Vec<&'static str> {
        match decision {
            EvolveDecision::Pass(pass) => of_pass(pass),
            EvolveDecision::Batch(batch) => batch.skipped.iter().map(|_| WorkEnd::Skipped.name()).collect(),
            EvolveDecision::Integrated { ends, .. } => ends.iter().map(|one| one.end.name()).collect(),
            EvolveDecision::Moved(moved) => moved.pass.as_ref().map(of_pass).unwrap_or_default(),
            EvolveDecision::Amended(amended) => amended.pass.as_ref().map(of_pass).unwrap_or_default(),
            EvolveDecision::Ended(end) => vec![end.ending.name()],
            _ => Vec::new(),
        }
    }

    fn is_observed(decision: &evolve::Decision) -> bool {
        matches!(decision, EvolveDecision::Found(_))
    }
}

fn of_pass(pass: &Pass) -> Vec<&'static str> {
    match pass.kind {
        PassKind::Pivot { persona, pattern } => vec![pass.kind.name(), persona.name(), pattern.name()],
        kind => vec![kind.name()],
    }
}

impl Counted for Gan {
    fn endings(decision: &gan::Decision) -> Vec<&'static str> {
        match decision {
            GanDecision::Ended(end) => vec![end.ending.name()],
            GanDecision::Answered { hold, choice, by } => vec![hold.name(), choice.name(), by.name()],
            _ => Vec::new(),
        }
    }
}

pub(super) fn of_nights(entries: &[Entry]) -> Covered {
    entries.iter().flat_map(|entry| in_night(&entry.event)).collect()
}

fn in_night(event: &NightEvent) -> Vec<&'static str> {
    let inside = match event {
        NightEvent::Asked { work, .. } => vec![work.name()],
        NightEvent::Ended { outcome, .. } => match &outcome.end {
            end @ NightEnd::Decided(decided) => vec![end.name(), decided.place.name()],
            end @ NightEnd::Paused { halt, .. } => vec![end.name(), halt.name()],
            end => vec![end.name()],
        },
        NightEvent::Left { left, .. } => vec![left.name()],
        NightEvent::Over { why } => vec![why.name()],
        _ => Vec::new(),
    };
    [vec![event.name()], inside].concat()
}
