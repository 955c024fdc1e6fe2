//! Turns a request into a plan: hashes the target as it is, and freezes everything that decides.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use skilltune_orchestrator::skill_files;
use skilltune_orchestrator::snapshot::{CaptureError, IgnoreRules, Limits, Manifest, Objects, RulesError};
use skilltune_orchestrator::store::Home;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::judging::proof::Confidence;
use skilltune_phases::judging::score::Score;
use skilltune_phases::judging::{proof, rubric};
use skilltune_phases::loops::tune::trial::measure;
use skilltune_phases::loops::tune::{Aim, Basis, Plan, Task, Tune};
use skilltune_phases::runs::plan::RunId;
use skilltune_phases::skills::target::{self, Member, Mode};
use skilltune_phases::suites::demand::Demand;
use skilltune_phases::suites::scenario::Scenario;
use skilltune_phases::suites::split::split;

use crate::inputs::find::Skill;
use crate::loops::tune::invocation::Invocation;
use crate::loops::tune::member::{Content, described, withheld};
use crate::loops::tune::uncallable::refuse_uncallable;
use crate::loops::tune::versions::{Version, compared};
use crate::loops::tune::{held_out_uses, older, search};
use crate::runs::{Runs, new_run_id, seed};
use crate::terminal::complaint::{Complaint, ErrorKind};
use crate::terminal::environment::Environment;
use crate::text::figures::count;
use crate::text::plain::shell_path;

/// Makes a plan without writing anything, as shown by a dry run.
fn sketch(invocation: &Invocation, home: &Home, env: &Environment) -> Result<Plan, Complaint> {
    let indexes = env.indexes();
    build(invocation, home, (None, invocation.scenarios.clone()), None, |path| {
        Ok(indexes.scan(path, Some(IgnoreRules::of(path)?), Limits::default())?.manifest)
    })
}

/// Makes the plan of the run that a sketch has named, and stores its target; without one, makes the sketch.
pub fn plan(
    invocation: &Invocation,
    home: &Home,
    env: &Environment,
    named: Option<&Plan>,
) -> Result<Plan, Complaint> {
    let Some(Plan { run, .. }) = named else { return sketch(invocation, home, env) };
    let (objects, indexes) = (Objects::at(home.objects()), env.indexes());
    let scenarios = invocation.starts.scenarios(&invocation.scenarios, &objects)?;
    invocation.versions.iter().try_for_each(|version| version.store(&objects))?;
    let mut plan = build(invocation, home, (Some(run.clone()), scenarios), Some(&objects), |path| {
        Ok(indexes.capture(&objects, path, Some(IgnoreRules::of(path)?), Limits::default())?.manifest)
    })?;
    held_out_uses::note(&mut plan, &Runs::of(&invocation.common.project, env)?);
    Ok(plan)
}

fn build(
    invocation: &Invocation,
    home: &Home,
    (run, scenarios): (Option<RunId>, Vec<Scenario>),
    store: Option<&Objects>,
    look: impl Fn(&Path) -> Result<Manifest, CaptureError>,
) -> Result<Plan, Complaint> {
    let mut scenarios = scenarios;
    let Target { aim, members, answers } = target(invocation, &scenarios, (home, store), look)?;
    let mut drawn = false;
    // A calibration is about the search that may follow.
    let searches = matches!(aim, Aim::Improve | Aim::Calibrate { .. });
    if searches && !invocation.this_suite_only {
        let fewest = invocation.rules.confidence.fewest_pairs();
        drawn = split(&mut scenarios, invocation.held_out, fewest, invocation.seed.unwrap_or_default());
    } else if invocation.older.is_none() && !matches!(aim, Aim::Try { .. }) {
        // Without a search, no scenario is held out from it.
        for scenario in &mut scenarios {
            scenario.held_out = false;
        }
    }
    let task = Task {
        aim,
        target: target::Target { mode: invocation.mode, members },
        scenarios,
        suite: invocation.suite.clone().map(|suite| suite.with_answers(answers)),
        held_out_uses: 0,
        seen: invocation.older.as_ref().map(|older| older.regrading.seen.clone()).unwrap_or_default(),
        contract: rubric::tune(),
        rules: invocation.rules.clone(),
        delivery: invocation.delivery.clone(),
        tools: invocation.tools,
        apply: invocation.apply,
        fail_on: invocation.fail_on,
        confined: invocation.confines,
        prompts: invocation.prompts.clone(),
    };
    let unnamed = "unnamed".parse().expect("a plain name");
    let mut plan = invocation.common.plan::<Tune>(unnamed, 0, task);
    if let Some(older) = &invocation.older {
        plan.roles = older.roles(&invocation.common.casting);
    }
    refuse_uncallable(invocation)?;
    refuse_too_few(invocation, &plan)?;
    if searches {
        search::choose(&mut plan, invocation.common.settings.of(), drawn)?;
        plan.set_aside(invocation.rules.extensions);
    }
    if plan.is_structural() {
        // Only the full score is a goal: what counts is whether lint still has diagnostics.
        plan.task.rules.threshold = Score::FULL;
    }
    plan.seed = invocation.seed.unwrap_or_else(|| {
        let Task { target, scenarios, contract, .. } = &plan.task;
        // The seed depends on what they are, not on where they are.
        let members: Vec<_> = target.members.iter().map(|member| (&member.name, member.start)).collect();
        seed(&(members, scenarios, contract))
    });
    plan.epoch = separate_epoch(invocation, &plan);
    plan.run = run.unwrap_or_else(|| new_run_id(plan.seed, Timestamp::now()));
    Ok(plan)
}

/// The aim of a run, the skills as they are, and the answers that their files hold.
struct Target {
    aim: Aim,
    members: Vec<Member>,
    answers: Vec<String>,
}

fn target(
    invocation: &Invocation,
    scenarios: &[Scenario],
    (home, store): (&Home, Option<&Objects>),
    look: impl Fn(&Path) -> Result<Manifest, CaptureError>,
) -> Result<Target, Complaint> {
    let (tests, objects) = (tests(invocation), Objects::at(home.objects()));
    let Invocation { aim, versions, members: stands, .. } = invocation;
    if let Some(older) = &invocation.older {
        let (members, answers) = (older.members(&stands[0].path), older.answers_seen(&objects));
        return Ok(Target { aim: aim.clone(), members, answers });
    }
    let look = |skill: &Skill| {
        let manifest = look(&skill.path).map_err(|error| unreadable(&skill.path, &error))?;
        let files = skill_files::load(&skill.path, &skill.name);
        let files = files.map_err(|error| Complaint::of(ErrorKind::Input, &error))?;
        Ok::<_, Complaint>(Content { manifest, files })
    };
    let content = |version: &Version| version.content(&tests, &objects, &look);
    if let (Aim::Compare(two), [a, b]) = (aim, &versions[..]) {
        let (member, aim, answers) = compared(two, [a, b], &no_skill(&stands[0])?, scenarios, content)?;
        let plugin = |version: &Version| version.plugin(&member, store).transpose();
        let plugin = versions.iter().find_map(plugin).transpose()?;
        return Ok(Target { aim, members: vec![Member { plugin, ..member }], answers });
    }
    let is_chain = invocation.mode == Mode::Chain;
    let (mut members, mut answers) = (Vec::new(), Vec::new());
    for (version, stand) in versions.iter().zip(stands) {
        let (content, mut hidden) = content(version)?;
        let keys = withheld(&content.files, &hidden, scenarios);
        let whose = |note: String| if is_chain { format!("{}: {note}", stand.name) } else { note };
        answers.extend(keys.notes.into_iter().map(whose));
        hidden.extend(keys.paths);
        let member = described(no_skill(stand)?, &content, hidden);
        members.push(Member { plugin: version.plugin(&member, store)?, ..member });
    }
    Ok(Target { aim: aim.clone(), members, answers })
}

/// Returns an epoch that other kinds of runs do not share: what one run has selected by must not decide another.
fn separate_epoch(invocation: &Invocation, plan: &Plan) -> u64 {
    match &plan.task.aim {
        _ if plan.epoch != 0 => plan.epoch,
        // The answers of the older run's judge are reused.
        Aim::Compare(_) if let Some(older) = &invocation.older => older.plan.epoch,
        Aim::Compare(two) => seed(&(plan.task.target.members[0].start, &two.trees)),
        Aim::Calibrate { .. } => 1,
        Aim::Improve | Aim::Try { .. } => 0,
    }
}

/// Refuses a comparison that cannot show anything. A single task may run: it is not a suite, and the report calls it
/// weak evidence.
fn refuse_too_few(invocation: &Invocation, plan: &Plan) -> Result<(), Complaint> {
    let many = plan.task.scenarios.len();
    if plan.task.aim.sides().is_some() {
        return too_few_to_compare(plan);
    }
    // A run that only tries a suite reports how many would be needed.
    let is_fine = !plan.task.searches() || many == 1 || invocation.this_suite_only;
    if is_fine || matches!(plan.basis(), Basis::HeldOut | Basis::Structure) {
        return Ok(());
    }
    let confidence = invocation.rules.confidence;
    let Some(Shortage { have, needs, more }) = shortage(&plan.task.scenarios, confidence) else {
        return Ok(());
    };
    let what =
        format!("{have} cannot show a difference at confidence {confidence}: it takes at least {needs}");
    let drafts = plan.task.suite.as_ref().map_or(0, |suite| suite.drafts.len());
    let uncounted = (drafts > 0)
        .then(|| format!("{} not counted: remove `draft = true` once reviewed", count(drafts, "draft")));
    Err(uncounted.into_iter().fold(Complaint::input(what), Complaint::hint)
        .hint(format!("add {more} more; `skilltune suite new` drafts some"))
        .hint("or pass --this-suite-only to compare on the scenarios of the search: weaker evidence, never applied without you"))
}

/// What a suite lacks for a comparison that can show something.
#[derive(Debug)]
pub struct Shortage {
    pub have: String,
    pub needs: String,
    pub more: usize,
}

pub fn shortage(scenarios: &[Scenario], confidence: Confidence) -> Option<Shortage> {
    let (many, fewest) = (scenarios.len(), confidence.fewest_pairs());
    let marked = scenarios.iter().filter(|scenario| scenario.held_out).count();
    let (have, needs, what) =
        if marked > 0 { (marked, fewest, "held-out scenario") } else { (many, fewest + 1, "scenario") };
    let more = needs.checked_sub(have).filter(|more| *more > 0)?;
    Some(Shortage { have: count(have, what), needs: count(needs, what), more })
}

fn too_few_to_compare(plan: &Plan) -> Result<(), Complaint> {
    let (many, confidence) = (measure::planned(plan).len(), plan.task.rules.confidence);
    let fewest = confidence.fewest_pairs();
    let first = plan.task.regraded().filter(|of| of.unpaired).map(|_| measure::searched(plan).len());
    let is_enough =
        many >= fewest && first.is_none_or(|first| proof::can_tell(first, many, plan.task.rules.alpha()));
    if plan.is_structural() || is_enough {
        return Ok(());
    }
    let what = match first {
        Some(first) => format!(
            "{} of the start and {} of the candidate cannot show a difference at confidence {confidence}",
            count(first, "scenario"),
            count(many, "scenario")
        ),
        None => format!(
            "{} cannot show a difference at confidence {confidence}: it takes at least {fewest}",
            count(many, "scenario")
        ),
    };
    let Some(of) = plan.task.regraded() else {
        let hint = format!("add {} more; `skilltune suite new` drafts some", fewest - many);
        return Err(Complaint::input(what).hint(hint));
    };
    let left_out = of.left_out.iter().map(|(id, why)| format!("left out: {id}, {}", older::reason(*why)));
    let complaint = left_out.fold(Complaint::input(what), Complaint::caused_by);
    let (Some(sides), Some(suite), false) =
        (plan.task.aim.sides(), plan.task.suite.as_ref(), plan.is_chain())
    else {
        return Err(complaint.hint("start a new run with the current suite"));
    };
    let (start, challenger) =
        (shell_path(Path::new(&*sides.start)), shell_path(Path::new(&*sides.challenger)));
    let suite = shell_path(Path::new(&suite.path));
    Err(complaint
        .hint(format!("to try them again, run `skilltune compare {start} {challenger} --suite {suite}`")))
}

/// Returns a member without any files, for a run without a skill.
fn no_skill(Skill { name, path, .. }: &Skill) -> Result<Member, Complaint> {
    Ok(Member {
        name: name.parse().map_err(|error| Complaint::of(ErrorKind::Input, &error))?,
        path: path.to_str().expect("the path was found to be text").to_owned(),
        files: Vec::new(),
        start: TreeId::EMPTY,
        has_scripts: false,
        too_long: None,
        hidden: Vec::new(),
        links_outside: Vec::new(),
        plugin: None,
    })
}

/// Returns the paths of the suite and of the files that its checks grade with.
fn tests(invocation: &Invocation) -> Vec<PathBuf> {
    let suite = invocation.suite.iter().map(|suite| PathBuf::from(&suite.path));
    let graders = invocation.scenarios.iter().flat_map(|scenario| {
        let own = move |demand: &'_ Demand| invocation.starts.grader(&scenario.id, &demand.id).to_vec();
        scenario.demands.iter().flat_map(own)
    });
    suite.chain(graders.map(|path| invocation.starts.base().join(path.as_path()))).collect()
}

fn unreadable(path: &Path, error: &CaptureError) -> Complaint {
    let kind = match error {
        CaptureError::Object(_) => ErrorKind::Ours,
        CaptureError::Special(_)
        | CaptureError::Changing(_)
        | CaptureError::TooLarge(_)
        | CaptureError::TooDeep(_)
        | CaptureError::Replaced(_)
        | CaptureError::Rules(_)
        | CaptureError::Disk(_) => ErrorKind::Input,
    };
    let hint = match error {
        CaptureError::TooLarge(_) => {
            format!("list the files to leave out in {}", path.join(".skilltuneignore").display())
        }
        CaptureError::Rules(RulesError::TooLarge(_) | RulesError::Unusable(_)) => {
            "shorten these .gitignore and .skilltuneignore files".to_owned()
        }
        CaptureError::Rules(RulesError::Index(_)) => "check the repository with `git status`".to_owned(),
        _ => format!("check the permissions of {}", path.display()),
    };
    Complaint::of(kind, error).hint(hint)
}
