//! How a run and its parts are told in words, in the report and on the terminal alike.

use skilltune_phases::ending::Class;
use skilltune_phases::event::{FailureKind, Pause, PlacedBy};
use skilltune_phases::judgement::VerdictShape;
use skilltune_phases::loops::tune::ending::Outcome;
use skilltune_phases::loops::tune::{self, Ending, Plan, Round, Run, Step, Trial, Verdict};
use skilltune_phases::loops::{Loop, MostCalls};
use skilltune_phases::plan::{Cast, Enforced, LoopKind, Roles};
use skilltune_phases::prompt::Page;
use skilltune_phases::role::Role;
use skilltune_phases::run::Recast;
use skilltune_phases::stop::Reason;
use skilltune_phases::target::Place;

use super::figures::count;

/// With fewer pairs than this, even winning all of them may be chance: five have one chance in sixteen, either way.
const FEW: usize = 6;

const ONE_SCENARIO: &str = "Weak evidence: one scenario. Other tasks may show a different result.";

const NOTHING_AFRESH: &str =
    "No fresh trials: the search scores decided, and they favour the best candidate.";

/// The most that a run will ask of its agents.
pub(crate) fn most_calls(most: MostCalls, roles: &Roles) -> String {
    let MostCalls { executor, evaluator, improver } = most;
    format!(
        "at most {} calls: {executor} by the executor ({}), {evaluator} by the evaluator ({}), {improver} by the improver ({})",
        executor + evaluator + improver,
        roles.executor.shown(),
        roles.evaluator.shown(),
        roles.improver.shown(),
    )
}

/// The members' names in their order.
pub(crate) fn target(run: &Run) -> String {
    let names: Vec<_> = run.plan.task.target.members.iter().map(|member| member.name.as_str()).collect();
    names.join(" -> ")
}

pub(crate) fn member(run: &Run, place: Place) -> &str {
    &run.plan.member(place).name
}

pub(crate) fn cast(cast: &Cast) -> String {
    cast.shown()
}

/// Who does what; said once when all roles are the same agent's.
pub(crate) fn roles(roles: &Roles) -> String {
    let [executor, evaluator, improver] = [&roles.executor, &roles.evaluator, &roles.improver].map(cast);
    if executor == evaluator && evaluator == improver {
        return format!("{executor} in all roles");
    }
    format!("executor {executor}, evaluator {evaluator}, improver {improver}")
}

/// What has to be known of who does what, before a result is believed.
pub(crate) fn remarks(roles: &Roles) -> Vec<String> {
    let lenient = |family| {
        format!(
            "the judge and the executor use the same model family ({family}); such a judge tends to be lenient"
        )
    };
    let world = "the agents use your own setup (--isolation user): your settings, memory, hooks, servers and skills affect the result";
    let world = roles.in_user_world().then(|| world.to_owned());
    let wrapped = |via| {
        let works = "the executor and the improver have all your rights, and nothing but the prompt keeps the judge from writing";
        let world = "your own settings apply unless you pass --isolation fresh; costs are unknown";
        format!("{via} does not enforce the rights of roles: {works}; {world}")
    };
    roles.own_judge().map(lenient).into_iter().chain(world).chain(roles.wrapper().map(wrapped)).collect()
}

/// The same of a run: whose pages its agents are given, too.
pub(crate) fn notes(plan: &Plan) -> Vec<String> {
    let own: Vec<&str> = plan.task.prompts.pages().map(Page::word).collect();
    let own = (!own.is_empty()).then(|| {
        format!("this run uses your own prompts ({}); they decide what a score means", own.join(", "))
    });
    let bare = match plan.roles.evaluator.verdict {
        VerdictShape::Evidenced => None,
        VerdictShape::Original => Some(format!(
            "the judge ({}) uses `verdict = \"original\"`: its scores carry no evidence and no code, so text in the files it reads can forge them",
            plan.roles.evaluator.shown()
        )),
    };
    remarks(&plan.roles).into_iter().chain(own).chain(bare).collect()
}

/// The agents that changed while the run was left.
pub(crate) fn recasts<L: Loop>(run: &skilltune_phases::run::Run<L>) -> impl Iterator<Item = String> {
    run.recasts.iter().map(|changed| recast(L::KIND, changed))
}

pub(crate) fn recast(kind: LoopKind, Recast { role, agent, parts, .. }: &Recast) -> String {
    let told = format!("the {} ({agent}) changed since the run began: {}", role.word(), parts.join(", "));
    let is_measure = match (kind, role) {
        (LoopKind::Tune, Role::Executor | Role::Evaluator) | (LoopKind::Reflex, Role::Evaluator) => true,
        (LoopKind::Tune | LoopKind::Reflex, Role::Improver) | (LoopKind::Reflex, Role::Executor) => false,
    };
    if is_measure { format!("{told}; earlier scores are not compared with later ones") } else { told }
}

/// Who keeps them to the rights of their roles.
pub(crate) fn rights(roles: &Roles) -> String {
    let [executor, evaluator, improver] =
        [&roles.executor, &roles.evaluator, &roles.improver].map(|cast| enforced(cast.rights));
    if executor == evaluator && evaluator == improver {
        return format!("{executor}, in all roles");
    }
    format!("executor {executor}; evaluator {evaluator}; improver {improver}")
}

fn enforced(rights: Enforced) -> &'static str {
    match rights {
        Enforced::SystemAndAgent => "enforced by the system and the agent",
        Enforced::System => "enforced by the system",
        Enforced::Agent => "enforced by the agent, not by the system",
        Enforced::Nobody => "not enforced",
    }
}

/// What a step does, and to what.
pub(crate) fn step(run: &Run, step: &Step) -> String {
    match step {
        Step::Exercise { member: place, trial, .. } => {
            format!("running {} on {}", member(run, *place), scenario(run, *trial))
        }
        Step::Judge { trial, .. } => format!("judging {}", scenario(run, *trial)),
        Step::Improve { member: place, .. } => format!("improving {}", member(run, *place)),
        Step::Ask(_) => "asking whether to apply the champion".to_owned(),
        Step::Promote { .. } => "applying the champion".to_owned(),
    }
}

fn scenario(run: &Run, trial: Trial) -> &str {
    run.plan.task.scenarios.get(trial.scenario).map_or("an unknown scenario", |scenario| &scenario.id)
}

pub(crate) fn failure(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::TimedOut => "timed out",
        FailureKind::NoResponse => "timed out before the model answered",
        FailureKind::Crashed => "exited with an error",
        FailureKind::Empty => "returned an empty answer",
        FailureKind::OffSchema => "returned an invalid answer",
        FailureKind::TooLarge => "wrote too much",
        FailureKind::Gate => "made no valid change",
        FailureKind::Refused => "refused the task",
        FailureKind::TurnLimit => "reached its turn limit",
        FailureKind::BudgetLimit => "reached its budget limit",
        FailureKind::DeniedTool => "was denied a tool that it needed",
        FailureKind::RateLimited => "is rate-limited",
        FailureKind::UsageLimit => "reached its usage limit",
        FailureKind::Overloaded => "found its service overloaded",
        FailureKind::Network => "could not reach its service",
        FailureKind::Authentication => "is not logged in",
        FailureKind::ModelNotFound => "cannot find the model",
        FailureKind::PromptTooLong => "got a prompt that is too long",
        FailureKind::Breach => "changed files that it must not change",
        FailureKind::UsageError => "rejected its arguments",
    }
}

pub(crate) fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Reached => "goal reached",
        Reason::Failed => "too many failed rounds in a row",
        Reason::Oscillating => "the improver kept undoing its own changes",
        Reason::Stalled => "the best score stopped rising",
        Reason::Budget => "budget used up",
        Reason::Exhausted => "maximum number of rounds reached",
    }
}

pub(crate) fn pause(pause: Pause) -> &'static str {
    match pause {
        Pause::Interrupted => "was interrupted; progress is saved",
        Pause::Terminated => "was terminated; progress is saved",
        Pause::Stopped => "was stopped; progress is saved",
        Pause::Blocked => "is paused; progress is saved",
    }
}

pub(crate) fn placed(by: PlacedBy) -> &'static str {
    match by {
        PlacedBy::Apply => "someone applied a candidate",
        PlacedBy::Rollback => "someone restored the skill to its state before the run",
    }
}

pub(crate) fn ending(ending: Ending) -> &'static str {
    match ending {
        Ending::Applied => "champion applied",
        Ending::Kept => "champion kept, not applied",
        Ending::Unchanged => "skill unchanged",
        Ending::Conflict => "the skill was edited during the run; champion not applied",
    }
}

/// One word for where a measured round stands; none while it is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The first score: that of the target as it was found.
    Baseline,
    Kept,
    /// The candidate had a score before; nothing new was tried.
    Again,
    Dropped,
    Incomplete,
}

impl Standing {
    pub(crate) fn of(run: &Run, round: &Round) -> Option<Self> {
        let earlier = || {
            run.course.rounds.iter().filter(|other| other.number < round.number && other.score().is_some())
        };
        match (&round.standing, &round.measured) {
            (Some(tune::Standing::Dropped(_)), _) => Some(Self::Dropped),
            (Some(tune::Standing::Kept), _) if earlier().next().is_none() => Some(Self::Baseline),
            (Some(tune::Standing::Kept), _) => {
                let known = earlier().any(|other| other.candidate == round.candidate);
                Some(if known { Self::Again } else { Self::Kept })
            }
            (None, Some(measured)) if measured.score.is_none() => Some(Self::Incomplete),
            (None, _) => None,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Kept => "kept",
            Self::Again => "unchanged",
            Self::Dropped => "dropped",
            Self::Incomplete => "incomplete",
        }
    }
}

/// One word for how the run came out, the original's where it has one.
pub(crate) fn label(run: &Run) -> &'static str {
    match (run.class(), run.course.closed, run.course.stopped) {
        (Class::Open, ..) => "NOT ENDED",
        (Class::Reached, ..) => "PASSED",
        (Class::Unjudged, ..) | (Class::Short, _, Some(Reason::Failed)) => "FAILED",
        (Class::Short, Some(Ending::Conflict), _) => "CONFLICT",
        (Class::Short, _, Some(Reason::Reached)) => "NOT CONFIRMED",
        (Class::Short, _, Some(Reason::Exhausted)) => "MAX ITERATIONS",
        (Class::Short, _, Some(Reason::Stalled)) => "STALLED",
        (Class::Short, _, Some(Reason::Oscillating)) => "OSCILLATING",
        (Class::Short, _, Some(Reason::Budget)) => "BUDGET SPENT",
        (Class::Short, _, None) => "COMPLETED",
    }
}

/// What became of the target.
pub(crate) fn became(run: &Run) -> &'static str {
    match run.outcome() {
        // A person has placed something since: what is there now is told beside it.
        Outcome::Improved if run.placed.is_some() => "The champion beat the start, and the run applied it.",
        Outcome::Improved => "The champion beat the start and was applied.",
        Outcome::Kept => {
            "The champion beat the start but was not applied, as you asked; the skill is unchanged."
        }
        Outcome::Conflict => {
            "Someone edited the skill during the run, so the champion was not applied; it is kept in the store."
        }
        Outcome::Unjudged => "The result could not be judged; the skill is unchanged.",
        Outcome::Held => "The run waits for your answer; the skill is unchanged.",
        Outcome::Stopped => "The run has not ended; `skilltune resume` continues it.",
        Outcome::Unchanged => match run.course.shipment.as_ref().map(|shipment| shipment.verdict) {
            Some(Verdict::Lost) => "No candidate beat the start; the skill is unchanged.",
            Some(Verdict::Unused) => {
                "No trial used the best candidate, so nothing shows that it is better; the skill is unchanged."
            }
            Some(Verdict::Won | Verdict::Unchallenged | Verdict::Indecisive) | None => {
                "No improvement found; the skill is unchanged."
            }
        },
    }
}

pub(crate) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Won => "won: the champion beat the start",
        Verdict::Lost => "lost: no candidate beat the start",
        Verdict::Unchallenged => "skipped: no candidate to compare",
        Verdict::Unused => "not won: no trial of the best candidate used the skill",
        Verdict::Indecisive => "inconclusive: not all trials could be judged",
    }
}

/// How little the run shows, if it is little: its final comparison, or without one its scores.
pub(crate) fn caution(run: &Run) -> Option<String> {
    let shipment = run.course.shipment.as_ref()?;
    let is_scored = run.initial_score().is_some();
    let lone = (is_scored && run.plan.task.scenarios.len() == 1).then_some(ONE_SCENARIO);
    match shipment.verdict {
        Verdict::Unchallenged | Verdict::Indecisive => return lone.map(str::to_owned),
        Verdict::Won | Verdict::Lost | Verdict::Unused => {}
    }
    if shipment.pairs == 0 {
        return Some(
            lone.map_or_else(|| NOTHING_AFRESH.to_owned(), |lone| format!("{NOTHING_AFRESH} {lone}")),
        );
    }
    let trials = usize::try_from(run.plan.task.rules.confirm.max(1)).unwrap_or(1);
    let scenarios = usize::try_from(shipment.pairs).unwrap_or(usize::MAX) / trials;
    match scenarios {
        0 | 1 => Some(ONE_SCENARIO.to_owned()),
        few if few < FEW => {
            Some(format!("Weak evidence: {}. The difference may be chance.", count(few, "scenario")))
        }
        _ => None,
    }
}
