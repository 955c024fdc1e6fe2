//! The settings for every loop.

use skilltune_phases::base::ceiling::Ceilings;
use skilltune_phases::base::role::Role;
use skilltune_phases::base::window::Percent;
use skilltune_phases::loops::tune::{Improver, Seat};

use crate::settings::at_once::AtOnce;
use crate::settings::origin::Origin;
use crate::settings::range::{AMOUNT, ANY, HOURS, JOBS, PAUSE, SECONDS};
use crate::settings::setting::Setting;
use crate::settings::table::{flag, options, switch};
use crate::settings::values::{AgentSpec, IsolationName, Panel, UnpricedName, ViaName, WrapWords};
use crate::settings::worker_settings::WorkerNames;

options! {
    /// Settings for agent calls.
    CallSettings, "calls";
    jobs: u32 = Setting::limit(JOBS, 4), "Maximum number of agent calls at a time.",
        flag("--jobs", "N");
    workers: WorkerNames = Setting::new(WorkerNames::default()),
        "Machines that make the calls, by the names of their `[workers.NAME]`; this machine if empty. They make as many calls at a time as they have slots, unless `calls.jobs` is set to less; only your own settings may set this.",
        flag("--workers", "NAMES").help("Machines that make the calls: names of [workers.NAME] in your own settings, comma-separated");
    at_once: AtOnce = Setting::new(AtOnce::default()),
        "Maximum number of calls of an agent at a time, on all machines of a run together, such as `at_once = [\"claude=4\"]`: for accounts that take no more.";
    wait: bool = Setting::new(false),
        "Whether runs wait instead of pausing when a usage limit is reached or a service is down.",
        switch("--wait").help("Wait instead of pausing when a usage limit is reached or a service is down");
    wait_hours: u32 = Setting::limit(HOURS, 12), "Maximum number of hours to wait.";
    isolation: IsolationName = Setting::new(IsolationName::Partial),
        "How much of your own setup your agents use: your login, nothing, or everything.",
        flag("--isolation", "HOW").help("How much of your own setup your agents use");
    via: ViaName = Setting::new(ViaName::Direct),
        "Wrapper to call claude and gemini with; wrappers do not enforce the rights of roles.",
        flag("--via", "WRAPPER").help("Wrapper to call claude and gemini with");
    wrap: WrapWords = Setting::limit(ANY, WrapWords::default()),
        "Program that agents run in, such as bubblewrap or podman, with its arguments; none if empty. It replaces skilltune's own confinement of agents.";
}

options! {
    /// Limits on the usage of a run before it pauses.
    BudgetSettings, "budget", Ceilings as usual;
    usd: Option<f64> = Setting::limit(AMOUNT, usual.usd) => usd,
        "Maximum cost of a run in dollars, such as `usd = 5`; a run pauses before a call that might exceed it; no limit if unset.",
        flag("--max-usd", "USD").help("Maximum cost in dollars: the run pauses before a call that might exceed it");
    tokens: Option<u64> = Setting::limit(AMOUNT, usual.tokens) => tokens,
        "Maximum number of tokens of a run, input and output together, such as `tokens = 2_000_000`; no limit if unset.",
        flag("--max-tokens", "N").help("Maximum number of tokens, input and output together");
    calls: Option<u64> = Setting::limit(AMOUNT, usual.calls) => calls,
        "Maximum number of agent calls of a run, without cached ones, such as `calls = 100`; if unset, the most that its plan needs.",
        flag("--max-calls", "N").help("Maximum number of agent calls, without cached ones [default: the most that the plan needs]");
    minutes: Option<u64> = Setting::limit(AMOUNT, usual.minutes) => minutes,
        "Maximum minutes of work in a run, without pauses, such as `minutes = 90`; no limit if unset.",
        flag("--max-minutes", "N").help("Maximum minutes of work, without pauses");
    keep_free: Option<Percent> = Setting::limit(ANY, usual.keep_free) => keep_free,
        "Share of each usage window of an account that stays free, where the agent reports it, such as `keep_free = \"30%\"`; none if unset.",
        flag("--keep-free", "SHARE").help("Share of each usage window of your account that stays free, where the agent reports it, such as 30%");
    unpriced: UnpricedName = Setting::new(UnpricedName::Refuse),
        "Whether a run with a maximum cost may call agents of unknown cost, which the maximum does not include; only your own settings may allow it.",
        flag("--unpriced", "HOW").help("Whether a run with a maximum cost may call agents whose cost would stay unknown");
}

impl BudgetSettings {
    pub fn ceilings(&self) -> Ceilings {
        let allow_unpriced = (self.unpriced.value == UnpricedName::Allow).then_some(true);
        Ceilings { allow_unpriced, ..self.as_rules() }
    }
}

options! {
    /// Limits on the output of agents.
    LimitSettings, "limits";
    artifact_files: u64 = Setting::limit(AMOUNT, 1_000), "Maximum number of files that a trial may write.";
    artifact_bytes: u64 = Setting::limit(AMOUNT, 64 << 20), "Maximum number of bytes that a trial may write.";
    output_bytes: u64 = Setting::limit(AMOUNT, 8 << 20), "Maximum number of bytes kept of an agent's output.";
    confine: bool = Setting::new(true),
        "Whether the kernel confines agents to their folders, where it can; only your own settings may turn this off.";
    backoff_ms: u64 = Setting::within(PAUSE, 2_000),
        "Delay in milliseconds before the first retry of a service that is down; later delays grow.";
}

options! {
    /// The agent of each role.
    RoleSettings, "roles";
    executor: Option<AgentSpec> = Setting::new(None),
        "Agent that runs the skill, plans and writes in reflex, and builds in gan, such as `executor = \"claude\"`; if unset, claude if installed.",
        flag("--executor", "AGENT").help("Agent that runs the skill");
    evaluator: Option<AgentSpec> = Setting::new(None),
        "Agent that judges the results, prepares the checks in reflex, and judges in gan, such as `evaluator = \"gemini\"`; if unset, gemini if installed, otherwise another family than the executor's.",
        flag("--evaluator", "AGENT").help("Agent that judges the results");
    improver: Option<AgentSpec> = Setting::new(None),
        "Agent that improves the skill, and criticises and refines in reflex, such as `improver = \"claude:opus\"`; if unset, claude if installed.",
        flag("--improver", "AGENT").help("Agent that improves the skill");
    second_improver: Option<AgentSpec> = Setting::new(None),
        "Agent that takes turns with the improver, such as `second_improver = \"codex\"`; the one with better edits gets more turns.",
        flag("--second-improver", "AGENT").help("Second agent that improves the skill; the one whose edits help more gets more turns");
    panel: Panel = Setting::new(Panel::default()),
        "Agents that judge close scenarios of the final comparison besides the evaluator, such as `panel = [\"codex\", \"claude\"]`, preferably of other families.",
        flag("--panel", "AGENTS").help("Agents that also judge close scenarios of the final comparison: NAME or NAME:MODEL, comma-separated");
}

options! {
    /// The timeout of a call in each role, in seconds.
    TimeoutSettings, "timeouts";
    executor: u64 = Setting::limit(SECONDS, 600), "Timeout of an executor call in seconds.";
    evaluator: u64 = Setting::limit(SECONDS, 300), "Timeout of an evaluator call in seconds.";
    improver: u64 = Setting::limit(SECONDS, 600), "Timeout of an improver call in seconds.";
}

impl RoleSettings {
    /// The names of the roles that most runs have.
    pub const REQUIRED: [&str; 3] = ["executor", "evaluator", "improver"];

    pub fn required(&self) -> [&Setting<Option<AgentSpec>>; 3] {
        [&self.executor, &self.evaluator, &self.improver]
    }

    pub fn required_mut(&mut self) -> [&mut Setting<Option<AgentSpec>>; 3] {
        [&mut self.executor, &mut self.evaluator, &mut self.improver]
    }

    /// Returns the agent of a role that is not optional.
    pub fn of(&self, role: &Role) -> &Setting<Option<AgentSpec>> {
        pick(role, self.required())
    }

    /// Returns the agent of an optional role, and the origin of that setting.
    pub fn optional(&self, role: &Role) -> Option<(&AgentSpec, &Origin)> {
        if *role == Role::SECOND_IMPROVER {
            return Some((self.second_improver.value.as_ref()?, &self.second_improver.origin));
        }
        Some((self.panel.value.of(role)?, &self.panel.origin))
    }
}

impl TimeoutSettings {
    pub fn of(&self, role: &Role) -> &Setting<u64> {
        pick(role, [&self.executor, &self.evaluator, &self.improver])
    }
}

/// Picks the value of a role. All judges and verifiers use the evaluator's, all improvers use the improver's, and any other role uses
/// the executor's.
fn pick<'s, T>(role: &Role, [executor, evaluator, improver]: [&'s T; 3]) -> &'s T {
    if *role == Role::VERIFIER || Seat::ALL.iter().any(|seat| seat.role() == *role) {
        evaluator
    } else if Improver::ALL.iter().any(|by| by.role() == *role) {
        improver
    } else {
        executor
    }
}
