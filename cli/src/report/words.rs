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

const ONE_SCENARIO: &str =
    "This shows little: it rests on one scenario, and says nothing of how the skill does on other tasks.";

const NOTHING_AFRESH: &str =
    "Nothing was tried afresh: the scores of the search decided, and those flatter the best.";

/// The most that a run will ask of its agents.
pub(crate) fn most_calls(most: MostCalls, roles: &Roles) -> String {
    let MostCalls { executor, evaluator, improver } = most;
    format!(
        "at most {} calls: {executor} of the executor ({}), {evaluator} of the evaluator ({}), {improver} of the improver ({})",
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
    let lenient =
        |family| format!("the judge is of the executor's own family ({family}): such a judge is lenient");
    let world = "the agents are in your own world (--isolation user): your settings, memory, hooks, servers and skills take part";
    let world = roles.in_user_world().then(|| world.to_owned());
    let wrapped = |via| {
        let works = "who works may do all that you may, and who judges is only asked to read";
        let world = "your own settings take part, unless it is --isolation fresh; no cost is told";
        format!("via {via} the rights of the roles are not enforced: {works}; {world}")
    };
    roles.own_judge().map(lenient).into_iter().chain(world).chain(roles.wrapper().map(wrapped)).collect()
}

/// The same of a run: whose pages its agents are given, too.
pub(crate) fn notes(plan: &Plan) -> Vec<String> {
    let own: Vec<&str> = plan.task.prompts.pages().map(Page::word).collect();
    let own = (!own.is_empty()).then(|| {
        format!(
            "prompts of your own are in use ({}): a score is worth what its judge is asked",
            own.join(", ")
        )
    });
    let bare = match plan.roles.evaluator.verdict {
        VerdictShape::Evidenced => None,
        VerdictShape::Original => Some(format!(
            "the judge ({}) is set to `verdict = \"original\"`: its scores carry no evidence and no code, so text in the files that it reads can forge them",
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
    if is_measure { format!("{told}; scores from before are not compared with later ones") } else { told }
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
        Step::Promote { .. } => "bringing the champion into the target".to_owned(),
    }
}

fn scenario(run: &Run, trial: Trial) -> &str {
    run.plan.task.scenarios.get(trial.scenario).map_or("an unknown scenario", |scenario| &scenario.id)
}

pub(crate) fn failure(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::TimedOut => "timed out",
        FailureKind::NoResponse => "timed out before its model said a word",
        FailureKind::Crashed => "ended with an error",
        FailureKind::Empty => "answered nothing",
        FailureKind::OffSchema => "gave an answer that cannot be read",
        FailureKind::TooLarge => "left too much",
        FailureKind::Gate => "made no valid change",
        FailureKind::Refused => "would not do it",
        FailureKind::TurnLimit => "came to no end within its turns",
        FailureKind::BudgetLimit => "came to no end within the budget",
        FailureKind::DeniedTool => "was denied what it needed",
        FailureKind::RateLimited => "was told to ask less often",
        FailureKind::UsageLimit => "has reached the account's limit",
        FailureKind::Overloaded => "met a service that is overloaded",
        FailureKind::Network => "did not reach the service",
        FailureKind::Authentication => "is not let in",
        FailureKind::ModelNotFound => "does not find the model",
        FailureKind::PromptTooLong => "was asked more than it can read",
        FailureKind::Breach => "changed what it was to leave alone",
        FailureKind::UsageError => "does not take its arguments",
    }
}

pub(crate) fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Reached => "the threshold was reached",
        Reason::Failed => "too many rounds failed in a row",
        Reason::Oscillating => "the improver kept undoing its own work",
        Reason::Stalled => "the best score no longer rose",
        Reason::Budget => "the budget was spent",
        Reason::Exhausted => "all rounds were used",
    }
}

pub(crate) fn pause(pause: Pause) -> &'static str {
    match pause {
        Pause::Interrupted => "was interrupted; everything so far is saved",
        Pause::Terminated => "was told to end; everything so far is saved",
        Pause::Stopped => "was told to stop; everything so far is saved",
        Pause::Blocked => "cannot go on; everything so far is saved",
    }
}

pub(crate) fn placed(by: PlacedBy) -> &'static str {
    match by {
        PlacedBy::Apply => "a person brought a candidate into the target",
        PlacedBy::Rollback => "a person brought the target back to what the run found",
    }
}

pub(crate) fn ending(ending: Ending) -> &'static str {
    match ending {
        Ending::Applied => "the champion is in the target",
        Ending::Kept => "the champion is kept in the store",
        Ending::Unchanged => "the target stays as it was found",
        Ending::Conflict => "the target carries somebody else's edit, and was left alone",
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
        Outcome::Improved if run.placed.is_some() => {
            "The champion beat the start and was brought into the target."
        }
        Outcome::Improved => "The champion beat the start and is in the target.",
        Outcome::Kept => {
            "The champion beat the start and is kept in the store; the target was left as it was, by wish."
        }
        Outcome::Conflict => {
            "The target was edited by someone else during the run, so it was left alone; the champion is kept in the \
             store."
        }
        Outcome::Unjudged => {
            "It could not be judged whether anything is better; the target stays as it was found."
        }
        Outcome::Held => "The run waits for an answer; the target is as it was found.",
        Outcome::Stopped => "The run is not at its end, and can be taken up again.",
        Outcome::Unchanged => match run.course.shipment.as_ref().map(|shipment| shipment.verdict) {
            Some(Verdict::Lost) => "Nothing beat the start; the target stays as it was found.",
            Some(Verdict::Unused) => {
                "The best candidate was not used in any of its trials, so nothing shows that it is better; the target \
                 stays as it was found."
            }
            Some(Verdict::Won | Verdict::Unchallenged | Verdict::Indecisive) | None => {
                "There was nothing to put in its place; the target stays as it was found."
            }
        },
    }
}

pub(crate) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Won => "won: the champion beat the start",
        Verdict::Lost => "lost: nothing beat the start",
        Verdict::Unchallenged => "unchallenged: there was nothing to compare the start with",
        Verdict::Unused => "not won: the skill was used in none of the best candidate's trials",
        Verdict::Indecisive => "indecisive: it could not be judged",
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
        few if few < FEW => Some(format!(
            "This shows little: it rests on {}, and such a difference may well be chance.",
            count(few, "scenario")
        )),
        _ => None,
    }
}
