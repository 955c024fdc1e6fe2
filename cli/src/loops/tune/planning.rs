//! From a request to a plan: the target as it stands, hashed, and everything that decides, frozen.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::snapshot::{CaptureError, Entry, Indexes, Limits, Manifest, Node, Objects};
use skilltune_orchestrator::store::Home;
use skilltune_phases::demand::Demand;
use skilltune_phases::id::Digest;
use skilltune_phases::loops::tune::Plan;
use skilltune_phases::loops::tune::Task;
use skilltune_phases::plan::{FORMAT, LoopKind, RunId};
use skilltune_phases::rubric;
use skilltune_phases::scenario::Scenario;
use skilltune_phases::score::Score;
use skilltune_phases::split::split;
use skilltune_phases::target::{Member, Target};

use crate::agents::Part;
use crate::inputs::find::Skill;
use crate::loops::tune::request::Request;
use crate::runs::seed;
use crate::terminal::complaint::{Complaint, Kind};

/// A plan without anything being written: what a dry run shows.
pub fn sketch(request: &Request, home: &Home, indexes: &Indexes, epoch: u64) -> Result<Plan, Complaint> {
    build(request, home, epoch, (None, request.scenarios.clone()), |path| {
        indexes.scan(path, &[], Limits::default())
    })
}

/// The plan of the run that a sketch has named, its target in the store.
pub fn plan(
    request: &Request,
    home: &Home,
    indexes: &Indexes,
    epoch: u64,
    run: RunId,
) -> Result<Plan, Complaint> {
    let objects = Objects::at(home.objects());
    let scenarios = request.starts.scenarios(&request.scenarios, &objects)?;
    build(request, home, epoch, (Some(run), scenarios), |path| {
        indexes.capture(&objects, path, &[], Limits::default()).map(|captured| captured.manifest)
    })
}

fn build(
    request: &Request,
    home: &Home,
    epoch: u64,
    (run, scenarios): (Option<RunId>, Vec<Scenario>),
    look: impl Fn(&Path) -> Result<Manifest, CaptureError>,
) -> Result<Plan, Complaint> {
    let mut scenarios = scenarios;
    if request.rules.confirm > 0 {
        split(&mut scenarios, request.held_out, request.seed.unwrap_or_default());
    }
    let tests = tests(request);
    let member = |skill| member(skill, &tests, &look);
    let members = request.members.iter().map(member).collect::<Result<Vec<_>, _>>()?;
    let mut plan = Plan {
        format: FORMAT,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        run: "unnamed".parse().expect("a plain name"),
        kind: LoopKind::Tune,
        folder: String::new(),
        task: Task {
            target: Target { mode: request.mode, members },
            scenarios,
            suite: request.suite.clone(),
            contract: rubric::tune(),
            rules: request.rules.clone(),
            delivery: request.delivery.clone(),
            tools: request.tools,
            apply: request.apply,
            confined: request.confines,
            prompts: request.prompts.clone(),
        },
        roles: request.casting.map(Part::cast),
        seed: 0,
        epoch,
    };
    if plan.is_structural() {
        // Less than all of it is no goal: what counts is whether findings are left.
        plan.task.rules.threshold = Score::FULL;
    }
    plan.seed = request.seed.unwrap_or_else(|| {
        let Task { target, scenarios, contract, .. } = &plan.task;
        seed(&(&target.members, scenarios, contract))
    });
    plan.run = run.unwrap_or_else(|| run_id(&plan, Timestamp::now()));
    plan.folder = home.run(&plan.run).root().to_string_lossy().into_owned();
    Ok(plan)
}

fn member(
    skill: &Skill,
    tests: &[PathBuf],
    look: impl Fn(&Path) -> Result<Manifest, CaptureError>,
) -> Result<Member, Complaint> {
    let manifest = look(&skill.path).map_err(|error| unreadable(&skill.path, &error))?;
    let hidden = hidden(&skill.path, tests, &manifest);
    let is_hidden = |entry: &&Entry| hidden.iter().any(|path| entry.path.as_path().starts_with(path));
    let own = || manifest.entries().iter().filter(|entry| !is_hidden(entry));
    let has_scripts = own().any(|entry| is_script(&skill.path, entry));
    let pages = own().filter(|entry| matches!(entry.node, Node::File { .. }));
    let pages = pages.map(|entry| entry.path.to_string()).filter(|path| is_markdown(path));
    Ok(Member {
        name: skill.name.parse().map_err(|error| Complaint::of(Kind::Input, &error))?,
        path: skill.path.to_str().expect("a skill's path was found to be text").to_owned(),
        files: pages.collect(),
        start: manifest.tree(),
        has_scripts,
        hidden,
    })
}

/// Where skills keep their suites.
const EVALS: &str = "evals";

/// The suite, and what its checks grade with.
fn tests(request: &Request) -> Vec<PathBuf> {
    let suite = request.suite.iter().map(|suite| PathBuf::from(&suite.path));
    let graders = request.scenarios.iter().flat_map(|scenario| {
        let own = move |demand: &'_ Demand| request.starts.grader(&scenario.id, &demand.id).to_vec();
        scenario.demands.iter().flat_map(own)
    });
    suite.chain(graders.map(|path| request.starts.base().join(path.as_path()))).collect()
}

/// What of them stands in the skill's folder. Whoever works with the skill may know its files; these are no part of it.
fn hidden(skill: &Path, tests: &[PathBuf], manifest: &Manifest) -> Vec<String> {
    let evals = manifest.entries().iter().any(|entry| entry.path.as_path() == Path::new(EVALS));
    let own = tests.iter().filter_map(|path| path.strip_prefix(skill).ok()?.to_str());
    let mut own: Vec<&str> =
        own.filter(|path| !path.is_empty() && !Path::new(path).starts_with(EVALS)).collect();
    own.extend(evals.then_some(EVALS));
    own.sort_unstable();
    own.dedup();
    own.into_iter().map(str::to_owned).collect()
}

/// A file that is there to be run: it is executable, names its interpreter, or stands among scripts.
fn is_script(skill: &Path, entry: &Entry) -> bool {
    let Node::File { mode, .. } = entry.node else { return false };
    if is_markdown(&entry.path.to_string()) {
        return false;
    }
    let path = entry.path.as_path();
    mode & 0o111 != 0 || path.starts_with("scripts") || names_interpreter(&SafePath::below(skill, path))
}

/// The plan was made from this file a moment ago; one that has gone since is no script.
fn names_interpreter(path: &SafePath) -> bool {
    let mut start = [0; 2];
    let file = path.open().ok().flatten();
    file.is_some_and(|mut file| file.read_exact(&mut start).is_ok()) && start == *b"#!"
}

fn is_markdown(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
}

fn unreadable(path: &Path, error: &CaptureError) -> Complaint {
    let kind = match error {
        CaptureError::Object(_) => Kind::Ours,
        CaptureError::Special(_)
        | CaptureError::Changing(_)
        | CaptureError::TooLarge(_)
        | CaptureError::TooDeep(_)
        | CaptureError::Replaced(_)
        | CaptureError::Disk(_) => Kind::Input,
    };
    Complaint::of(kind, error).hint(format!("check the permissions of {}", path.display()))
}

/// Four characters that are rarely shared, then the time of birth.
fn run_id(plan: &Plan, now: Timestamp) -> RunId {
    let parts: [&[u8]; 3] =
        [&plan.seed.to_le_bytes(), &now.as_nanosecond().to_le_bytes(), &std::process::id().to_le_bytes()];
    let name = &Digest::of_parts(parts).hex()[..4];
    let id = format!("{name}-{}", now.strftime("%Y%m%d-%H%M%S"));
    id.parse().expect("digits and a time are plain")
}
