//! Which pages are looked at: those of a folder, or those that a server's first page leads to.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::time::Duration;

use skilltune_phases::loops::gan::inspect::Given;

use super::devtools::{DevTools, Mute};
use super::page::{self, Seen};
use super::preview::Server;
use super::site::{Source, Stop, decoded};
use crate::disk::SafePath;

const MOST_PAGES: usize = 10;
const MOST_FILES: usize = 20_000;
const MOST_LINKS: usize = 300;
const DEEPEST: usize = 8;

/// All that was seen on the way.
#[derive(Debug, Default)]
pub(super) struct Tour {
    pub(super) pages: Vec<String>,
    pub(super) seen: Vec<Seen>,
    /// The paths that pages may lead to.
    pub(super) files: Vec<String>,
    /// So many pages more were not looked at.
    pub(super) more: usize,
}

/// Where a tour begins: the pages of a folder, or the first page of a server.
#[derive(Debug)]
pub(super) struct Start {
    stops: Vec<Stop>,
    files: Vec<String>,
}

impl Start {
    pub(super) fn of_folder(site: &Path) -> Self {
        let files = files(site);
        let is_page = |path: &&String| [".html", ".htm"].iter().any(|end| path.to_lowercase().ends_with(end));
        let mut pages: Vec<String> = files.iter().filter(is_page).cloned().collect();
        pages.sort_by_key(|path| (path != "index.html", path.matches('/').count(), path.clone()));
        let stop = |path: String| Stop { address: page::address(&path), name: path };
        Self { stops: pages.into_iter().map(stop).collect(), files }
    }

    pub(super) fn of_server(path: &str) -> Self {
        Self { stops: vec![stop(path)], files: Vec::new() }
    }

    pub(super) fn first(&self) -> Option<&Stop> {
        self.stops.first()
    }

    /// Looks at each page, and on a server at those that it leads to. A page that takes longer than this holds up no other one.
    pub(super) fn walk(
        &self,
        browser: &mut DevTools,
        source: Source<'_>,
        given: &Given,
        axe: Option<&str>,
        longest: Duration,
    ) -> Result<Tour, Mute> {
        let mut todo: VecDeque<Stop> = self.stops.iter().cloned().collect();
        let mut tour = Tour { files: self.files.clone(), ..Tour::default() };
        let mut known: BTreeMap<String, bool> =
            todo.iter().map(|stop| (stop.address.clone(), true)).collect();
        while tour.pages.len() < MOST_PAGES {
            let Some(next) = todo.pop_front() else { break };
            let seen = browser.within(longest, |browser| page::look(browser, source, (&next, given), axe));
            let seen = match seen {
                Err(Mute::Late) => {
                    tour.more += 1;
                    continue;
                }
                other => other?,
            };
            if let Source::Server(server) = source {
                let led = seen.looks.iter().flat_map(|look| &look.measured.links);
                for link in led.map(|link| stop(link)) {
                    if known.len() < MOST_LINKS && !known.contains_key(&link.address) {
                        let kind = kind(server, &link);
                        known.insert(link.address.clone(), kind.is_some());
                        todo.extend((kind == Some(Kind::Page)).then_some(link));
                    }
                }
            }
            tour.pages.push(next.name);
            tour.seen.push(seen);
        }
        if tour.pages.is_empty() {
            return Err(Mute::Late);
        }
        tour.more += todo.len();
        if matches!(source, Source::Server(_)) {
            let there = known.into_iter().filter(|(_, is_there)| *is_there);
            tour.files = there.map(|(address, _)| stop(&address).name).collect();
        }
        Ok(tour)
    }
}

/// A path of a server, as an address has it.
fn stop(path: &str) -> Stop {
    let address = path.trim_start_matches('/').to_owned();
    let name = if address.is_empty() { "index.html".to_owned() } else { decoded(&address) };
    Stop { address, name }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Page,
    File,
}

/// What a server has there, if it has anything.
fn kind(server: &Server, stop: &Stop) -> Option<Kind> {
    let reply = server.get(&format!("/{}", stop.address)).filter(|reply| reply.code < 400)?;
    let is_html = reply.headers.iter().any(|(name, value)| {
        name.eq_ignore_ascii_case("content-type") && value.to_ascii_lowercase().starts_with("text/html")
    });
    Some(if is_html { Kind::Page } else { Kind::File })
}

/// The paths of all files of a site. No link is followed.
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
