//! What every setting is for, in a sentence.

/// What a setting is for.
pub(super) fn about(key: &str) -> &'static str {
    ABOUT.iter().find(|(known, _)| *known == key).map_or("", |(_, about)| about)
}

pub(super) const ABOUT: [(&str, &str); 54] = [
    ("tune.preset", "How many rounds, and to what score: stands for max_iterations and threshold."),
    ("tune.max_iterations", "Measurements at most, the first one included."),
    ("tune.threshold", "The score to reach."),
    ("tune.regress", "A candidate is dropped when it scores so many points less than the best."),
    ("tune.stall_window", "Over how many rounds the best score must rise for the search to go on."),
    ("tune.stall_gain", "By how many points it must rise there."),
    ("tune.max_errors", "After so many rounds without a score, one after the other, the search ends."),
    ("tune.confirm", "Fresh trials a scenario in the final comparison; 0 compares the scores of the search."),
    ("tune.coverage", "The share of trials that must be judged for a round to have a score."),
    (
        "tune.delivery",
        "How the skill comes to its executor; auto is installed for claude and gemini, and inline for all others.",
    ),
    ("tune.apply", "When the champion may replace the skill; unless set, a person at the terminal is asked."),
    ("tune.jobs", "Calls at the same time, in every loop."),
    (
        "tune.wait",
        "Whether a run of any loop waits when an account's limit is reached or a service is not there, and goes on when that has passed.",
    ),
    ("tune.wait_hours", "Hours that it waits at most."),
    ("budget.usd", "Dollars that a run may cost; no limit unless set, such as `usd = 5`."),
    (
        "budget.seconds",
        "Seconds that the calls of a run of tune may take; no limit unless set, such as `seconds = 3600`.",
    ),
    (
        "roles.executor",
        "Who runs the skill, and plans and writes in reflex; claude unless set, if it is installed.",
    ),
    (
        "roles.evaluator",
        "Who judges the results, and prepares the checks in reflex; gemini unless set, or else another family than the executor's.",
    ),
    (
        "roles.improver",
        "Who improves the skill, and criticises and refines in reflex; claude unless set, if it is installed.",
    ),
    ("timeouts.executor", "Seconds that a call of the executor may take."),
    ("timeouts.evaluator", "Seconds that a call of the evaluator may take."),
    ("timeouts.improver", "Seconds that a call of the improver may take."),
    (
        "calls.isolation",
        "How much of your own world claude and gemini are in: your login, nothing, or all of it.",
    ),
    ("calls.via", "What stands between us and claude and gemini; a wrapper keeps no role to its rights."),
    ("limits.artifact_files", "Files that a trial may leave."),
    ("limits.artifact_bytes", "Bytes that a trial may leave."),
    ("limits.output_bytes", "Bytes of an agent's output that are kept."),
    (
        "limits.confine",
        "Whether the system holds agents to their folders, where it can; only your own settings may say false.",
    ),
    (
        "limits.backoff_ms",
        "Milliseconds from which the pauses grow after which a service that was not there is asked again.",
    ),
    (
        "prompts.execute",
        "Your own page for an executor that has the skill's text, such as `execute = \"prompts/execute.md\"`; see docs/prompts.md.",
    ),
    ("prompts.task", "Your own page for an executor that has the skill installed."),
    ("prompts.evaluate", "Your own page for the judge."),
    ("prompts.improve", "Your own page for the improver."),
    ("reflex.max_iterations", "Iterations of the reflex loop at most, the first one included."),
    ("reflex.threshold_a", "The score that passes level A, for all but documentation."),
    ("reflex.threshold_b", "The score that passes level B, for all but documentation."),
    ("reflex.docs_threshold_a", "The score that passes level A, for documentation."),
    ("reflex.docs_threshold_b", "The score that passes level B, for documentation."),
    (
        "reflex.checks",
        "What is done with commands that the evaluator proposes as checks; only your own settings may say run.",
    ),
    (
        "reflex.stall_window",
        "Over how many evaluations of a level the best score must rise for the loop to go on.",
    ),
    ("reflex.stall_gain", "By how many points it must rise there at least; 0 lets it go on."),
    (
        "reflex.settle",
        "How many refinements at level B are judged before a text is taken that only warnings speak against.",
    ),
    ("reflex.retries", "How often an answer that cannot be used is asked for again."),
    ("reflex.plan_least", "Steps that a plan has at least."),
    ("reflex.plan_most", "Steps that a plan has at most."),
    ("reflex.issues", "Issues that a critique names at most."),
    ("reflex.events", "How many of the newest events the planner is told."),
    ("reflex.checks_per_rule", "Checks that one rule has at most."),
    ("reflex.check_seconds", "Seconds that the command of a check may take."),
    (
        "reflex.max_seconds",
        "Seconds that completed phases may take in all; no limit unless set, such as `max_seconds = 1800`.",
    ),
    ("reflex.weight_fail", "What a rule weighs that no level is passed without."),
    ("reflex.weight_warn", "What a rule weighs whose breach is a warning."),
    ("reflex.weight_info", "What a rule weighs whose breach is a remark."),
    ("reflex.evolution", "The folder of the loop's files, with one folder for each task."),
];
