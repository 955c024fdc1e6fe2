//! Keeps as many pages of older nights as the file says. Runs that only measured are kept as long as their page.

use std::collections::BTreeSet;

use skilltune_orchestrator::disk::atomic::Durability;
use skilltune_phases::nights::night::Work;
use skilltune_phases::runs::plan::RunId;

use crate::commands::clean;
use crate::nights::book::Book;
use crate::nights::file::NightPlan;
use crate::runs::scope::Scope;
use crate::runs::{Runs, unusable};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::printer::Printer;

/// Keeps this night's pages beside those of earlier nights, and removes the oldest. A run that searched is kept: it may
/// be needed to undo an applied winner.
pub fn keep(
    pages: &[(&str, &str)],
    plan: &NightPlan,
    book: &Book,
    env: &Environment,
    printer: Printer,
) -> Result<(), Complaint> {
    let nights = &book.history.nights;
    let (old, new) = nights.split_at(nights.len().saturating_sub(plan.content.keep));
    let folder = book.shelf.place("mornings");
    folder.make().map_err(unusable)?;
    if let Some(night) = new.last() {
        for (end, text) in pages {
            let place = folder.join(format!("{}.{end}", night.name));
            place.replace(text.as_bytes(), Durability::Order).map_err(unusable)?;
        }
    }
    let stays = |name: &str| new.iter().any(|night| name.starts_with(&format!("{}.", night.name)));
    for name in folder.names().map_err(unusable)? {
        if !name.to_str().is_some_and(stays) {
            folder.join(&name).remove().map_err(unusable)?;
        }
    }
    let measured = old.iter().flat_map(|night| &night.done).filter(|done| match done.work {
        Work::Measure { .. } | Work::Again { .. } => true,
        Work::Resume { .. } | Work::Tune => false,
    });
    let measured: BTreeSet<&RunId> = measured.filter_map(|done| done.outcome.run.as_ref()).collect();
    let runs = Runs::of(&plan.folder, env)?;
    let gone: Vec<RunId> = runs.ids(None).into_iter().filter(|id| measured.contains(id)).collect();
    if !gone.is_empty() {
        clean::delete(&gone, &Scope { runs, only: None, env, printer })?;
    }
    Ok(())
}
