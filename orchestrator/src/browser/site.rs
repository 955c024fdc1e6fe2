//! The artifact as a site of its own: every request of a page is met from its folder or by its preview, or not at all.

use std::path::Path;

use serde_json::{Value, json};

use super::base64;
use super::devtools::Listener;
use super::preview::{self, Reply, Server};
use crate::disk::SafePath;

/// An origin that exists nowhere else.
pub(super) const ORIGIN: &str = "http://site.test/";
const LARGEST: u64 = 16 << 20;
/// So many errors of a page are kept, and so much of each.
const MOST: usize = 20;
const LONGEST: usize = 300;

/// Where the pages come from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source<'a> {
    Folder(&'a Path),
    Server(&'a Server),
}

/// A page: its address below the origin, and its path for people.
#[derive(Clone, Debug)]
pub(super) struct Stop {
    pub(super) address: String,
    pub(super) name: String,
}

/// Listens to one page: answers its requests, closes its dialogs, keeps its errors.
#[derive(Debug)]
pub(super) struct Site<'a> {
    source: Source<'a>,
    /// What the console showed as errors.
    pub(super) errors: Vec<String>,
    /// What was asked for elsewhere, and not given.
    pub(super) refused: Vec<String>,
}

impl Source<'_> {
    fn answer(self, request: &Value, path: &str) -> Reply {
        match self {
            Self::Folder(folder) => from_folder(folder, path),
            Self::Server(server) => from_server(server, request, path),
        }
    }
}

fn from_folder(folder: &Path, path: &str) -> Reply {
    let path = decoded(path.split(['?', '#']).next().unwrap_or_default());
    let path = if path.is_empty() || path.ends_with('/') { format!("{path}index.html") } else { path };
    let found = file(folder, &path);
    let (code, kind) = if found.is_some() { (200, content_type(&path)) } else { (404, "text/plain") };
    let headers = vec![("Content-Type".to_owned(), kind.to_owned())];
    Reply { code, headers, body: found.unwrap_or_default() }
}

fn from_server(server: &Server, request: &Value, path: &str) -> Reply {
    let all = request["headers"].as_object().into_iter().flatten();
    let headers = all.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)));
    // A header with a line break would be two.
    let headers =
        headers.filter(|(name, value)| !name.contains(['\r', '\n']) && !value.contains(['\r', '\n']));
    let body = request["postData"].as_str().unwrap_or_default().as_bytes();
    let path = format!("/{}", path.split('#').next().unwrap_or_default());
    let method = request["method"].as_str().unwrap_or("GET");
    let asked = preview::Request { method, path: &path, headers: headers.collect(), body };
    server.ask(&asked).unwrap_or_else(|error| Reply {
        code: 502,
        headers: vec![("Content-Type".to_owned(), "text/plain".to_owned())],
        body: format!("the preview does not answer: {error}").into_bytes(),
    })
}

impl<'a> Site<'a> {
    pub(super) fn of(source: Source<'a>) -> Self {
        Self { source, errors: Vec::new(), refused: Vec::new() }
    }

    fn answered(&mut self, params: &Value) -> (&'static str, Value) {
        let id = &params["requestId"];
        let url = params["request"]["url"].as_str().unwrap_or_default();
        let Some(path) = url.strip_prefix(ORIGIN) else {
            keep(&mut self.refused, url);
            return ("Fetch.failRequest", json!({ "requestId": id, "errorReason": "BlockedByClient" }));
        };
        let Reply { code, headers, body } = self.source.answer(&params["request"], path);
        let header = |(name, value): &(String, String)| json!({ "name": name, "value": value });
        let answer = json!({
            "requestId": id,
            "responseCode": code,
            "responseHeaders": headers.iter().map(header).collect::<Vec<_>>(),
            "body": base64::encoded(&body),
        });
        ("Fetch.fulfillRequest", answer)
    }
}

impl Listener for Site<'_> {
    fn hear(&mut self, method: &str, params: &Value) -> Option<(&'static str, Value)> {
        match method {
            "Fetch.requestPaused" => return Some(self.answered(params)),
            "Page.javascriptDialogOpening" => {
                return Some(("Page.handleJavaScriptDialog", json!({ "accept": false })));
            }
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
                // A browser asks for this by itself.
                if !text[1].ends_with("/favicon.ico") {
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

/// No link is followed, and no path leads out of the folder.
fn file(folder: &Path, path: &str) -> Option<Vec<u8>> {
    let parts: Vec<&str> = path.split('/').collect();
    if parts.iter().any(|part| part.is_empty() || matches!(*part, "." | "..") || part.contains('\0')) {
        return None;
    }
    let place = SafePath::below(folder, parts[0]);
    let place = parts[1..].iter().fold(place, |place, part| place.join(part));
    place.read(LARGEST).ok().flatten()
}

pub(super) fn decoded(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = code.and_then(|code| u8::from_str_radix(code, 16).ok()).filter(|_| first == b'%');
        rest = if byte.is_some() { &after[2..] } else { after };
        bytes.push(byte.unwrap_or(first));
    }
    String::from_utf8_lossy(&bytes).into_owned()
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
        let mut site = Site::of(Source::Folder(&folder));
        let mut code =
            |url: &str| site.answered(&json!({ "request": { "url": url } })).1["responseCode"].clone();
        assert_eq!(code("http://site.test/a%20b/x.css?v=1"), 200);
        for gone in ["", "link", "../secret", "%2e%2e/secret", "a%20b//x.css", "a%20b"] {
            assert_eq!(code(&format!("{ORIGIN}{gone}")), 404, "{gone}");
        }
        assert_eq!(code("http://localhost/"), Value::Null, "it is refused");
        assert_eq!(site.refused, ["http://localhost/"]);
    }
}
