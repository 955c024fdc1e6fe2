//! Selects the pages to check: those of a folder, or those that a server's first page links to.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::time::Duration;

use skilltune_phases::loops::gan::inspect::{Given, Lead};

use super::devtools::{DevTools, Mute};
use super::page::{self, PageFindings};
use super::site::{Found, Source, Stop};
use crate::disk::SafePath;

const MOST_PAGES: usize = 10;
const MOST_FILES: usize = 20_000;
const MOST_LINKS: usize = 300;
const DEEPEST: usize = 8;

/// The results of all pages.
#[derive(Debug, Default)]
pub(super) struct Tour {
    pub(super) pages: Vec<String>,
    pub(super) findings: Vec<PageFindings>,
    /// The number of pages that were not checked.
    pub(super) more: usize,
    /// axe-core was run on each page.
    pub(super) with_axe: bool,
}

impl Tour {
    /// Returns each page with its results.
    pub(super) fn each(&self) -> impl Iterator<Item = (&String, &PageFindings)> {
        self.pages.iter().zip(&self.findings)
    }
}

/// The start of a tour: the pages of a folder, or the first page of a server.
#[derive(Debug)]
pub(super) struct Start {
    stops: Vec<Stop>,
}

impl Start {
    pub(super) fn of_folder(site: &Path) -> Self {
        let is_page = |path: &String| [".html", ".htm"].iter().any(|end| path.to_lowercase().ends_with(end));
        let mut pages: Vec<String> = files(site).into_iter().filter(is_page).collect();
        pages.sort_by_key(|path| (path != "index.html", path.matches('/').count(), path.clone()));
        let stop = |path: String| Stop { address: page::address(&path), name: path };
        Self { stops: pages.into_iter().map(stop).collect() }
    }

    pub(super) fn of_server(path: &str) -> Self {
        Self { stops: vec![Stop::at(path)] }
    }

    pub(super) fn first(&self) -> Option<&Stop> {
        self.stops.first()
    }

    /// Checks each page, and on a server also the linked pages. A page that takes longer than `longest` is skipped.
    pub(super) fn walk(
        &self,
        browser: &mut DevTools,
        source: Source<'_>,
        given: &Given,
        axe: Option<&str>,
        longest: Duration,
    ) -> Result<Tour, Mute> {
        let mut todo: VecDeque<Stop> = self.stops.iter().cloned().collect();
        let mut tour = Tour { with_axe: axe.is_some(), ..Tour::default() };
        let mut known: BTreeMap<String, Lead> = BTreeMap::new();
        known.extend(todo.iter().map(|stop| (stop.address.clone(), Lead::To(stop.name.clone()))));
        let mut asked = BTreeSet::new();
        while tour.pages.len() < MOST_PAGES {
            let Some(next) = todo.pop_front() else { break };
            let findings =
                browser.within(longest, |browser| page::look(browser, source, (&next, given), axe));
            let findings = match findings {
                Err(Mute::Late) => {
                    tour.more += 1;
                    continue;
                }
                other => other?,
            };
            for (_, address) in findings.links() {
                let is_known = known.contains_key(address) || asked.contains(address);
                if is_known || asked.len() == MOST_LINKS || browser.left().is_zero() {
                    continue;
                }
                asked.insert(address.clone());
                // A link without an answer stays open.
                let Ok(found) = source.find(address, browser.left()) else { continue };
                let lead = found.as_ref().map_or(Lead::Nowhere, |found| Lead::To(found.stop.name.clone()));
                known.insert(address.clone(), lead.clone());
                let Some(Found { stop, is_page }) = found else { continue };
                let is_new = known.insert(stop.address.clone(), lead).is_none() || stop.address == *address;
                todo.extend((is_new && is_page && matches!(source, Source::Server(_))).then_some(stop));
            }
            tour.pages.push(next.name);
            tour.findings.push(findings);
        }
        if tour.pages.is_empty() {
            return Err(Mute::Late);
        }
        tour.more += todo.len();
        for findings in &mut tour.findings {
            let lead =
                |(written, address): &(String, String)| Some((written.clone(), known.get(address)?.clone()));
            let links = findings.links().filter_map(lead).collect();
            if let Some(live) = &mut findings.live {
                live.links = links;
            }
        }
        Ok(tour)
    }
}

/// Returns the paths of all files of a site. Follows no symlink.
fn files(site: &Path) -> Vec<String> {
    let (Some(parent), Some(name)) = (site.parent(), site.file_name()) else { return Vec::new() };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let mut found = Vec::new();
    collect(&SafePath::below(parent, name), "", 0, &mut found);
    found
}

fn collect(folder: &SafePath, below: &str, depth: usize, found: &mut Vec<String>) {
    let Ok(names) = folder.names() else { return };
    for name in names.into_iter().filter_map(|name| name.into_string().ok()) {
        let (place, path) = (folder.join(&name), format!("{below}{name}"));
        if found.len() >= MOST_FILES {
            return;
        } else if place.is_folder() && depth < DEEPEST {
            collect(&place, &format!("{path}/"), depth + 1, found);
        } else if place.is_file() {
            found.push(path);
        }
    }
}
