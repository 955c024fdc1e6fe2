//! A run of `review`: one changed file, the reviewers security and quality, and what a test lets them find.

use skilltune_phases::base::id::Digest;
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::expert::{Origin, Persona};
use skilltune_phases::loops::review::finding::{Finding, Place, Severity, Side};
use skilltune_phases::loops::review::proof::{CommandEnd, Proposal, Verdict, Verification};
use skilltune_phases::loops::review::task::{Changed, LeftOut, Reviewer, Rules, Task, Trees};
use skilltune_phases::loops::review::{Answer, Files, Plan, Review, Run, Step};
use skilltune_phases::runs::event::Outcome;
use skilltune_phases::suites::checks::{Commands, RunThem};

use crate::drive::{self, plan_of, roles_of, tree};

pub type Drive = drive::Drive<Review>;

impl drive::TestLoop for Review {}

/// The file that the change is about. It changes the lines 1 to 500.
pub const PATH: &str = "src/pump.py";

pub fn plan() -> Plan {
    let trees = Trees { before: tree("before"), after: tree("after"), diffs: tree("diffs") };
    let changed = Changed { path: PATH.into(), added: vec![(1, 500)], ..Changed::default() };
    let task = Task {
        subject: "uncommitted changes of /project".into(),
        root: "/project".into(),
        trees: Some(trees),
        changed: vec![changed],
        parts: vec![vec![format!("{PATH}.diff").into()]],
        left_out: vec![LeftOut { path: "poetry.lock".into(), why: "a lock file".into() }],
        hidden: Vec::new(),
        reviewers: vec![reviewer("security"), reviewer("quality")],
        machines: Vec::new(),
        found: Vec::new(),
        suppressed: Vec::new(),
        is_skill: false,
        is_whole: false,
        commands: Commands { run: RunThem::Always, confined: true },
        command_seconds: 60,
        rules: Rules::default(),
        remarks: Vec::new(),
    };
    plan_of("/project", "review-20261121-213000", task, roles_of([Role::REVIEWER, Role::VERIFIER]))
}

fn reviewer(short: &str) -> Reviewer {
    let (name, persona) = (format!("{short}-reviewer"), format!("You look for faults of {short}.\n"));
    let digest = Digest::of(persona.as_bytes());
    Reviewer { short: short.into(), expert: Persona { name, persona, origin: Origin::BuiltIn, digest } }
}

/// Makes a finding in the new file. Findings with other titles have other fingerprints, and far from each other they
/// are not merged.
pub fn finding(severity: Severity, title: &str, line: u32) -> Finding {
    let quote = format!("quote of {title}");
    Finding {
        severity,
        title: title.into(),
        place: Some(place(line, &quote)),
        what: format!("What fails of {title}.").into(),
        suggestion: format!("Mend {title}.").into(),
        fixed: None,
    }
}

pub fn place(line: u32, quote: &str) -> Place {
    let code = format!("{line:>5}  {quote}").into();
    let (path, side, lines) = (PATH.into(), Side::New, (line, line));
    Place { path, side, lines, quote: quote.into(), code, is_changed: true }
}

pub fn verified(verdict: Verdict, why: &str) -> Verification {
    Verification { verdict, why: why.into(), against: None, unfounded: None, proposal: None }
}

/// Refutes a finding by a quote of the same file.
pub fn refuted(line: u32, quote: &str) -> Verification {
    Verification { against: Some(place(line, quote)), ..verified(Verdict::Refuted, "it is handled") }
}

/// Confirms a finding and proposes a command that shows it.
pub fn with_proof(argv: &[&str]) -> Verification {
    let argv = argv.iter().map(|word| (*word).to_owned()).collect();
    let proposal = Proposal { argv, announces: "ZeroDivisionError".into(), refused: None };
    Verification { proposal: Some(proposal), ..verified(Verdict::Confirmed, "it happens") }
}

/// Returns the end of a command, whose output has the announced words if it fails.
pub fn ended(exit: i32) -> CommandEnd {
    let details = format!("it ended with {exit}").into();
    CommandEnd { exit: Some(exit), details, announced: exit != 0, diagnostics: Vec::new() }
}

/// Answers a step: machines pass, each reviewer reports its findings, `verify` checks them, and each proposed command
/// fails with the change and passes without it.
pub fn answer(
    run: &Run,
    step: Step,
    found: &[Vec<Finding>; 2],
    verify: impl Fn(&Finding) -> Outcome<Verification>,
) -> Outcome<Answer> {
    let merged = run.state.merged.as_deref().unwrap_or_default();
    Ok(match step {
        Step::Review { reviewer, .. } => {
            Answer::Reviewed { findings: found[reviewer].clone(), dropped: Vec::new() }
        }
        Step::Verify { finding } => Answer::Verified(Box::new(verify(&merged[finding].finding)?)),
        Step::Allow => Answer::Allowed(true),
        Step::Prove { on: Files::After, .. } => Answer::Ran(Box::new(ended(1))),
        Step::Scan { .. } | Step::Prove { on: Files::Before | Files::Fixed, .. } => {
            Answer::Ran(Box::new(ended(0)))
        }
    })
}

/// Plays a run to its end.
pub fn play(
    plan: Plan,
    found: &[Vec<Finding>; 2],
    verify: impl Fn(&Finding) -> Outcome<Verification>,
) -> Drive {
    let mut drive = Drive::start(plan);
    drive.finish_alone(|run, step| answer(run, *step, found, &verify));
    drive
}
