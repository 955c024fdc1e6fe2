//! The artifact as its own site: every request of a page is answered from its folder or by its preview, or fails.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skilltune_phases::base::base64;
use skilltune_phases::skills::lint::decoded;

use super::devtools::Listener;
use super::preview::{HttpRequest, Reply, Server};
use crate::disk::SafePath;

const LARGEST: u64 = 16 << 20;
const MOST_REDIRECTS: usize = 5;
/// The most errors of a page that are kept, and the longest text of each.
const MOST: usize = 20;
const LONGEST: usize = 300;

/// The source of the pages.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source<'a> {
    Folder(&'a Path),
    Server(&'a Server),
}

/// A page: its address below the origin, and its path for display.
#[derive(Clone, Debug)]
pub(super) struct Stop {
    pub(super) address: String,
    pub(super) name: String,
}

/// The result of a look-up of an address.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) stop: Stop,
    pub(super) is_page: bool,
}

/// Handles one page: answers its requests, closes its dialogs, keeps its errors.
#[derive(Debug)]
pub(super) struct Site<'a> {
    source: Source<'a>,
    pub(super) origin: String,
    /// The errors in the console.
    pub(super) errors: Vec<String>,
    /// Requests to other origins, which were refused.
    pub(super) refused: Vec<String>,
    /// Requests that could not be answered, which says nothing about the page.
    pub(super) lost: Vec<String>,
    /// The page requested a WebSocket of its own server.
    pub(super) wants_socket: bool,
    /// The addresses that the page tried to open in a new window.
    pub(super) windows: Vec<String>,
    /// The status code of the newest document of each frame.
    codes: BTreeMap<String, u16>,
}

impl Stop {
    /// Returns the page of an encoded path with its query.
    pub(super) fn at(path: &str) -> Self {
        let address = path.trim_start_matches('/').to_owned();
        let (path, query) =
            address.split_once('?').map_or((&*address, None), |(path, query)| (path, Some(query)));
        let index = if path.is_empty() || path.ends_with('/') { "index.html" } else { "" };
        let query = query.map_or(String::new(), |query| format!("?{query}"));
        let name = format!("{}{index}{query}", decoded(path));
        Self { address, name }
    }
}

impl Source<'_> {
    /// Returns the origin. A folder gets a random one, so that no page can recognize it.
    fn origin(self) -> String {
        match self {
            // No one can register this domain; for any other one, the browser uses HTTPS.
            Self::Folder(folder) => {
                let name = RandomState::new().hash_one(folder);
                format!("http://www.s{:08x}.s{:08x}/", name >> 32, name & 0xffff_ffff)
            }
            Self::Server(server) => server.origin(),
        }
    }

    /// Answers a request. An error is not the artifact's fault.
    fn ask(self, request: &HttpRequest<'_>, left: Duration) -> io::Result<Reply> {
        match self {
            Self::Folder(folder) => Ok(from_folder(folder, request.path)),
            Self::Server(server) => server.ask(request, left),
        }
    }

    /// Looks up an address, and follows its redirects.
    pub(super) fn find(self, address: &str, left: Duration) -> io::Result<Option<Found>> {
        let until = Instant::now() + left;
        let mut stop = Stop::at(address);
        for _ in 0..MOST_REDIRECTS {
            let left = until.saturating_duration_since(Instant::now());
            let reply = self.ask(&HttpRequest::get(&format!("/{}", stop.address)), left)?;
            let has = |name: &str| {
                let found = reply.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
                found.map_or("", |(_, value)| value)
            };
            let is_page = has("content-type").to_ascii_lowercase().starts_with("text/html");
            let to = has("location");
            match reply.code {
                400.. => return Ok(None),
                300..400 => match to.strip_prefix(&self.origin()).or(to.strip_prefix('/')) {
                    Some(to) => stop = Stop::at(to),
                    None => return Ok(Some(Found { stop, is_page: false })),
                },
                _ => return Ok(Some(Found { stop, is_page })),
            }
        }
        Ok(None)
    }
}

/// Answers like a file server: a folder is its `index.html`, and a page may be named without its extension.
fn from_folder(folder: &Path, path: &str) -> Reply {
    let reply = |code, name: &str, value: &str, body| {
        let headers = vec![(name.to_owned(), value.to_owned())];
        Reply { code, headers, body }
    };
    let written = path.split('?').next().unwrap_or_default();
    let path = decoded(written.trim_start_matches('/'));
    let index = if path.is_empty() || path.ends_with('/') { "index.html" } else { "" };
    let names = [format!("{path}{index}"), format!("{path}.html")];
    if let Some((name, body)) = names.iter().find_map(|name| Some((name, file(folder, name)?))) {
        return reply(200, "Content-Type", content_type(name), body);
    }
    if index.is_empty() && file(folder, &format!("{path}/index.html")).is_some() {
        return reply(301, "Location", &format!("{written}/"), Vec::new());
    }
    // Without a text the browser would show its own page.
    reply(404, "Content-Type", "text/plain", b"There is no such file.".to_vec())
}

impl<'a> Site<'a> {
    pub(super) fn of(source: Source<'a>) -> Self {
        let (errors, refused, lost, wants_socket, windows, codes) = Default::default();
        Self { source, origin: source.origin(), errors, refused, lost, wants_socket, windows, codes }
    }

    /// Returns the status code of a frame's document.
    pub(super) fn code(&self, frame: &str) -> Option<u16> {
        self.codes.get(frame).copied()
    }

    pub(super) fn lose(&mut self, what: &str) {
        keep(&mut self.lost, what);
    }

    fn answered(&mut self, params: &Value, left: Duration) -> (&'static str, Value) {
        let id = &params["requestId"];
        let url = params["request"]["url"].as_str().unwrap_or_default();
        let Some(path) = url.strip_prefix(&self.origin) else {
            keep(&mut self.refused, url);
            return ("Fetch.failRequest", json!({ "requestId": id, "errorReason": "BlockedByClient" }));
        };
        let path = format!("/{}", path.split('#').next().unwrap_or_default());
        let Reply { code, headers, body } = match self.reply(params, &path, left) {
            Ok(reply) => reply,
            Err(error) => {
                self.lose(&format!("{path}: {error}"));
                return ("Fetch.failRequest", json!({ "requestId": id, "errorReason": "Failed" }));
            }
        };
        if params["resourceType"] == "Document" {
            self.codes.insert(params["frameId"].as_str().unwrap_or_default().to_owned(), code);
        }
        let header = |(name, value): &(String, String)| json!({ "name": name, "value": value });
        let answer = json!({
            "requestId": id,
            "responseCode": code,
            "responseHeaders": headers.iter().map(header).collect::<Vec<_>>(),
            "body": base64::encoded(&body),
        });
        ("Fetch.fulfillRequest", answer)
    }

    fn reply(&self, params: &Value, path: &str, left: Duration) -> io::Result<Reply> {
        if params["resourceType"] == "EventSource" {
            return Err(io::Error::other("a stream of events is not handed on"));
        }
        let request = &params["request"];
        let headers = request["headers"].as_object().into_iter().flatten();
        let headers = headers.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)));
        let sent = request["postDataEntries"].as_array().into_iter().flatten();
        let sent = sent.filter_map(|part| base64::decoded(part["bytes"].as_str()?));
        let body: Vec<u8> = sent.flatten().collect();
        let method = request["method"].as_str().unwrap_or("GET");
        self.source.ask(&HttpRequest { method, path, headers: headers.collect(), body: &body }, left)
    }
}

impl Listener for Site<'_> {
    fn hear(&mut self, method: &str, params: &Value, left: Duration) -> Option<(&'static str, Value)> {
        match method {
            "Fetch.requestPaused" => return Some(self.answered(params, left)),
            "Page.javascriptDialogOpening" => {
                return Some(("Page.handleJavaScriptDialog", json!({ "accept": false })));
            }
            "Page.windowOpen" => keep(&mut self.windows, params["url"].as_str().unwrap_or_default()),
            "Runtime.exceptionThrown" => {
                let details = &params["exceptionDetails"];
                let thrown = details["exception"]["description"].as_str().or(details["text"].as_str());
                keep(&mut self.errors, thrown.unwrap_or("an exception"));
            }
            "Runtime.consoleAPICalled" if params["type"] == "error" => {
                let said = &params["args"][0];
                let text = said["value"].as_str().or(said["description"].as_str());
                keep(&mut self.errors, text.unwrap_or("console.error"));
            }
            "Log.entryAdded" if params["entry"]["level"] == "error" => {
                let entry = &params["entry"];
                let text = [&entry["text"], &entry["url"]].map(|part| part.as_str().unwrap_or_default());
                let socket = format!("WebSocket connection to 'ws{}", self.origin.trim_start_matches("http"));
                if text[0].starts_with(&socket) {
                    self.wants_socket = true;
                } else if !text[1].ends_with("/favicon.ico") {
                    // Browsers request that file by themselves.
                    keep(&mut self.errors, text.join(" ").trim());
                }
            }
            _ => {}
        }
        None
    }
}

fn keep(list: &mut Vec<String>, text: &str) {
    let line: String = text.lines().next().unwrap_or_default().chars().take(LONGEST).collect();
    if list.len() < MOST && !list.contains(&line) {
        list.push(line);
    }
}

/// Reads a file. Follows no symlink, and no path leads out of the folder.
fn file(folder: &Path, path: &str) -> Option<Vec<u8>> {
    let parts: Vec<&str> = path.split('/').collect();
    if parts.iter().any(|part| part.is_empty() || matches!(*part, "." | "..") || part.contains('\0')) {
        return None;
    }
    let place = SafePath::below(folder, parts[0]);
    let place = parts[1..].iter().fold(place, |place, part| place.join(part));
    place.read(LARGEST).ok().flatten()
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase().as_str() {
        "html" | "htm" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "ico" => "image/x-icon",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "ttf" => "font/ttf",
        "txt" | "md" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_folder_are_given() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("site");
        std::fs::create_dir_all(folder.join("a b")).unwrap();
        std::fs::write(folder.join("a b/x.css"), "p{}").unwrap();
        std::fs::write(place.path().join("secret"), "no").unwrap();
        std::os::unix::fs::symlink(place.path().join("secret"), folder.join("link")).unwrap();
        std::fs::write(folder.join("a b/index.html"), "<p>").unwrap();
        let mut site = Site::of(Source::Folder(&folder));
        let origin = site.origin.clone();
        let mut code = |url: &str| {
            let asked = json!({ "request": { "url": url } });
            site.answered(&asked, Duration::MAX).1["responseCode"].clone()
        };
        for there in ["a%20b/x.css?v=1", "a%20b/", "a%20b/index", "a%20b/index.html?x#y"] {
            assert_eq!(code(&format!("{origin}{there}")), 200, "{there}");
        }
        assert_eq!(code(&format!("{origin}a%20b")), 301, "its links are relative to the folder");
        for gone in ["", "link", "../secret", "%2e%2e/secret", "a%20b//x.css", "a%20b/x"] {
            assert_eq!(code(&format!("{origin}{gone}")), 404, "{gone}");
        }
        assert_eq!(code("http://localhost/"), Value::Null, "it is refused");
        assert_eq!(site.refused, ["http://localhost/"]);
    }

    #[test]
    fn a_page_has_a_name_for_people() {
        let name = |path: &str| Stop::at(path).name;
        assert_eq!(name("/"), "index.html");
        assert_eq!(name("/a%20b/?page=2"), "a b/index.html?page=2");
        assert_eq!(name("prices"), "prices");
    }
}
