//! What every setting is for, in a sentence.

/// What a setting is for.
pub fn about(key: &str) -> &'static str {
    ABOUT.iter().find(|(known, _)| *known == key).map_or("", |(_, about)| about)
}

pub const ABOUT: [(&str, &str); 54] = [
    ("tune.preset", "How thorough the search is; sets max_iterations and threshold."),
    ("tune.max_iterations", "Maximum number of rounds, including the baseline."),
    ("tune.threshold", "Goal: the search stops when the score reaches this."),
    ("tune.regress", "Drop a candidate that scores this many points below the best."),
    ("tune.stall_window", "Stop if the best score did not rise by stall_gain in this many rounds."),
    ("tune.stall_gain", "Points by which the best score must rise in stall_window rounds."),
    ("tune.max_errors", "Stop after this many rounds in a row without a score."),
    ("tune.confirm", "Fresh trials per scenario in the final comparison; 0 compares search scores."),
    ("tune.coverage", "Share of trials that must be judged for a round to get a score."),
    (
        "tune.delivery",
        "How the executor gets the skill; auto means installed for agents that support skills, otherwise inline.",
    ),
    ("tune.apply", "When the champion may replace the skill; if unset, skilltune asks in a terminal."),
    ("tune.jobs", "Maximum number of agent calls at a time, in every loop."),
    ("tune.wait", "Whether runs wait instead of pausing when a usage limit is reached or a service is down."),
    ("tune.wait_hours", "Maximum number of hours to wait."),
    ("budget.usd", "Maximum cost of a run in dollars, such as `usd = 5`; no limit if unset."),
    (
        "budget.seconds",
        "Maximum total seconds of the calls of a tune run, such as `seconds = 3600`; no limit if unset.",
    ),
    (
        "roles.executor",
        "Agent that runs the skill, and plans and writes in reflex; if unset, claude if installed.",
    ),
    (
        "roles.evaluator",
        "Agent that judges the results, and prepares the checks in reflex; if unset, gemini if installed, otherwise another family than the executor's.",
    ),
    (
        "roles.improver",
        "Agent that improves the skill, and criticises and refines in reflex; if unset, claude if installed.",
    ),
    ("timeouts.executor", "Timeout of an executor call in seconds."),
    ("timeouts.evaluator", "Timeout of an evaluator call in seconds."),
    ("timeouts.improver", "Timeout of an improver call in seconds."),
    (
        "calls.isolation",
        "How much of your own setup claude and gemini use: your login, nothing, or everything.",
    ),
    ("calls.via", "Wrapper to call claude and gemini with; wrappers do not enforce the rights of roles."),
    ("limits.artifact_files", "Maximum number of files that a trial may write."),
    ("limits.artifact_bytes", "Maximum number of bytes that a trial may write."),
    ("limits.output_bytes", "Maximum number of bytes kept of an agent's output."),
    (
        "limits.confine",
        "Whether the kernel confines agents to their folders, where it can; only your own settings may turn this off.",
    ),
    (
        "limits.backoff_ms",
        "Delay in milliseconds before the first retry of a service that is down; later delays grow.",
    ),
    (
        "prompts.execute",
        "Your own prompt for an executor that gets the skill's text, such as `execute = \"prompts/execute.md\"`; see docs/prompts.md.",
    ),
    ("prompts.task", "Your own prompt for an executor that has the skill installed."),
    ("prompts.evaluate", "Your own prompt for the judge."),
    ("prompts.improve", "Your own prompt for the improver."),
    ("reflex.max_iterations", "Maximum number of iterations, including the first."),
    ("reflex.threshold_a", "Score to pass level A, except for documentation."),
    ("reflex.threshold_b", "Score to pass level B, except for documentation."),
    ("reflex.docs_threshold_a", "Score to pass level A, for documentation."),
    ("reflex.docs_threshold_b", "Score to pass level B, for documentation."),
    (
        "reflex.checks",
        "What to do with commands that the evaluator proposes as checks; only your own settings may say run.",
    ),
    (
        "reflex.stall_window",
        "Stop if the best score of a level did not rise by stall_gain in this many evaluations.",
    ),
    (
        "reflex.stall_gain",
        "Points by which the best score must rise in stall_window evaluations; 0 never stops.",
    ),
    ("reflex.settle", "Refinements at level B before skilltune accepts a text that has only warnings."),
    ("reflex.retries", "Maximum number of retries after an invalid answer."),
    ("reflex.plan_least", "Minimum number of steps of a plan."),
    ("reflex.plan_most", "Maximum number of steps of a plan."),
    ("reflex.issues", "Maximum number of issues of a critique."),
    ("reflex.events", "Number of latest events that the planner sees."),
    ("reflex.checks_per_rule", "Maximum number of checks per rule."),
    ("reflex.check_seconds", "Timeout of a check command in seconds."),
    (
        "reflex.max_seconds",
        "Maximum total seconds of completed phases, such as `max_seconds = 1800`; no limit if unset.",
    ),
    ("reflex.weight_fail", "Weight of a rule that a text must meet to pass a level."),
    ("reflex.weight_warn", "Weight of a rule that gives a warning."),
    ("reflex.weight_info", "Weight of a rule that gives a remark."),
    ("reflex.evolution", "Folder for the files of reflex, with one folder per task."),
];
