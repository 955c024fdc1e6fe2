//! Turns a request into a plan: everything that decides is frozen.

use std::path::Path;

use jiff::Timestamp;
use skilltune_orchestrator::snapshot::{CaptureError, Captured, IgnoreRules, Manifest, Objects};
use skilltune_orchestrator::store::Home;
use skilltune_phases::base::ceiling::Ceilings;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::gan::{Browser, Gan, Plan, Task};
use skilltune_phases::runs::plan::{FORMAT, LoopKind};
use skilltune_phases::suites::checks::Commands;

use crate::casting::{Part, priced};
use crate::inputs::links;
use crate::loops::gan::browser::{self, Found};
use crate::loops::gan::invocation::Invocation;
use crate::runs::runtime_options::RuntimeOptions;
use crate::runs::{new_run_id, seed};
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;

/// The trees that a run starts with.
#[derive(Clone, Debug)]
pub struct Stored {
    pub start: TreeId,
    links_outside: Vec<String>,
    pub materials: Option<TreeId>,
}

/// Stores the files that a run starts with.
pub fn store(invocation: &Invocation, objects: &Objects, env: &Environment) -> Result<Stored, Complaint> {
    let start = match invocation.into.as_ref().filter(|path| path.is_dir()) {
        None => {
            let manifest = Manifest::default();
            Captured { tree: objects.put_manifest(&manifest).map_err(ours)?, manifest }
        }
        Some(path) => {
            let limits = RuntimeOptions::artifacts(&invocation.settings);
            read(path, |rules| env.indexes().capture(objects, path, rules, limits))?
        }
    };
    let files: Vec<_> = invocation.materials.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    let materials = (!files.is_empty()).then(|| objects.put_files(&files)).transpose().map_err(ours)?;
    Ok(Stored { start: start.tree, links_outside: links::outside(&start.manifest), materials })
}

/// Reads a folder without its ignored files.
pub fn read<T>(
    path: &Path,
    how: impl FnOnce(Option<IgnoreRules>) -> Result<T, CaptureError>,
) -> Result<T, Complaint> {
    let read = IgnoreRules::of(path).map_err(CaptureError::from).and_then(|rules| how(Some(rules)));
    read.map_err(|error| {
        let cannot = Complaint::input(format!("cannot read {}", path.display()));
        let is_too_large = matches!(error, CaptureError::TooLarge(_));
        let cannot = cannot.caused_by(error);
        if is_too_large {
            cannot.hint(
                "add files that agents do not need to .gitignore, or raise limits.artifact_files and limits.artifact_bytes",
            )
        } else {
            cannot
        }
    })
}

/// Makes the plan without writing anything, as shown by a dry run.
pub fn sketch(invocation: &Invocation, home: &Home) -> Result<Plan, Complaint> {
    plan(invocation, home, Stored { start: TreeId::EMPTY, links_outside: Vec::new(), materials: None })
}

pub fn plan(invocation: &Invocation, home: &Home, stored: Stored) -> Result<Plan, Complaint> {
    let Stored { start, links_outside, materials } = stored;
    let browser = |found: &Found| {
        let (argv, confined) = (browser::argv(found, invocation.browser_seconds)?, invocation.confines);
        let preview = invocation.preview.clone();
        let starting = preview.as_ref().map_or(0, |preview| preview.seconds);
        let seconds = invocation.browser_seconds.saturating_add(starting);
        Ok::<_, Complaint>(Browser { argv, seconds, confined, preview })
    };
    let task = Task {
        name: invocation.name.clone(),
        brief: invocation.brief.clone(),
        level: invocation.level,
        negotiated: invocation.negotiated,
        profile: invocation.profile.clone(),
        asked: invocation.asked.clone(),
        given: invocation.given.clone(),
        materials,
        start,
        links_outside,
        into: invocation.into.as_ref().map(|path| path.to_string_lossy().into_owned()),
        apply: invocation.apply,
        rules: invocation.rules.clone(),
        retries: invocation.retries,
        commands: Commands { run: invocation.commands, confined: invocation.confines },
        command_seconds: invocation.command_seconds,
        browser: invocation.browser.as_ref().map(browser).transpose()?,
    };
    let seed = invocation
        .seed
        .unwrap_or_else(|| seed(&(&task.brief, &task.asked, &task.given, &task.rules, &task.start)));
    let run = new_run_id(seed, Timestamp::now());
    let mut plan = Plan {
        format: FORMAT,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        kind: LoopKind::Gan,
        folder: home.run(&run).root().to_string_lossy().into_owned(),
        run,
        seed,
        task,
        roles: invocation.casting.map(Part::cast),
        ceilings: Ceilings::default(),
        epoch: invocation.epoch,
        unattended: invocation.unattended,
    };
    plan.ceilings = priced::ceilings(&invocation.settings, &invocation.casting, &Gan::most_calls(&plan))?;
    Ok(plan)
}
