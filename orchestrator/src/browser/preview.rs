//! An artifact served by a person's own server: `gan.preview` runs in the artifact's folder, and the pages' requests
//! are forwarded to it over loopback.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use skilltune_phases::loops::gan::inspect::Preview;

use super::last_words;
use crate::process::Confinement;

/// Replaced by the port in each argument.
const PORT: &str = "{port}";
const AGAIN: Duration = Duration::from_millis(50);
const CONNECTING: Duration = Duration::from_secs(5);
/// The timeout of one answer.
const ANSWERING: Duration = Duration::from_secs(10);
const LARGEST: u64 = 16 << 20;

#[derive(Debug)]
pub(super) struct Server {
    at: SocketAddr,
    group: Pid,
    ended: Receiver<String>,
    /// Its output so far.
    said: File,
}

#[derive(Debug)]
pub(super) struct Reply {
    pub(super) code: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct HttpRequest<'a> {
    pub(super) method: &'a str,
    /// The path, with query and fragment.
    pub(super) path: &'a str,
    pub(super) headers: Vec<(&'a str, &'a str)>,
    pub(super) body: &'a [u8],
}

impl<'a> HttpRequest<'a> {
    pub(super) fn get(path: &'a str) -> Self {
        Self { method: "GET", path, headers: Vec::new(), body: b"" }
    }
}

impl Server {
    /// Starts the server, and waits until it answers.
    pub(super) fn start(preview: &Preview, folder: &Path, confined: bool) -> Result<Self, String> {
        let server =
            Self::spawned(preview, folder, confined).map_err(|error| format!("it did not start: {error}"))?;
        let until = Instant::now() + Duration::from_secs(preview.seconds);
        let mut code = None;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            // The last question may have no time left for its answer. Then the one before it says more.
            if let Ok(reply) = server.ask(&HttpRequest::get(&preview.path), left) {
                code = Some(reply.code);
            }
            let answers = code.is_some_and(|code| code < 400);
            let why = match server.ended.recv_timeout(if answers { Duration::ZERO } else { AGAIN }) {
                Ok(how) => format!("it exited: {how}"),
                Err(RecvTimeoutError::Timeout) if answers => return Ok(server),
                Err(RecvTimeoutError::Timeout) if Instant::now() < until => continue,
                Err(_) => match code {
                    Some(code) => format!("it answers {code} to {}", preview.path),
                    None => format!("it did not answer within {} seconds", preview.seconds),
                },
            };
            return Err(format!("{why}{}", last_words(&server.said)));
        }
    }

    /// Returns how the server ended, if it did. Then its answers do not count: another process may have its port.
    pub(super) fn has_ended(&self) -> Option<String> {
        let how = self.ended.try_recv().ok()?;
        Some(format!("it exited during the check: {how}{}", last_words(&self.said)))
    }

    pub(super) fn origin(&self) -> String {
        format!("http://{}/", self.at)
    }

    fn spawned(preview: &Preview, folder: &Path, confined: bool) -> io::Result<Self> {
        // The port is free now; if another server takes it first, ours ends.
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let argv = preview.argv.iter().map(|word| word.replace(PORT, &port.to_string()).into());
        let argv: Vec<OsString> = argv.collect();
        let argv = if confined { confinement()?.argv(&argv) } else { argv };
        let said = tempfile::tempfile_in(".")?;
        let (program, words) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut child = Command::new(program)
            .args(words)
            .current_dir(folder)
            .env("PORT", port.to_string())
            .stdin(Stdio::null())
            .stdout(said.try_clone()?)
            .stderr(said.try_clone()?)
            .process_group(0)
            .spawn()?;
        let group = Pid::from_child(&child);
        let (tell, ended) = mpsc::channel();
        std::thread::spawn(move || {
            let how = child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
            // After the start, no one waits for it.
            let _ = tell.send(how);
        });
        Ok(Self { at: (Ipv4Addr::LOCALHOST, port).into(), group, ended, said })
    }

    /// Sends one request on its own connection. A server of the older protocol closes the connection after its answer.
    pub(super) fn ask(&self, request: &HttpRequest<'_>, left: Duration) -> io::Result<Reply> {
        let HttpRequest { method, path, headers, body } = request;
        let until = Instant::now() + left.min(ANSWERING);
        let mut stream = TcpStream::connect_timeout(&self.at, CONNECTING.min(left))?;
        stream.set_write_timeout(Some(ANSWERING))?;
        let mut head = format!("{method} {path} HTTP/1.0\r\nHost: {}\r\nConnection: close\r\n", self.at);
        if !body.is_empty() {
            let _ = write!(head, "Content-Length: {}\r\n", body.len());
        }
        let ours = ["host", "connection", "content-length", "accept-encoding"];
        let is_theirs =
            |name: &str, value: &str| is_header(name, value) && !ours.contains(&&*name.to_ascii_lowercase());
        for (name, value) in headers.iter().filter(|(name, value)| is_theirs(name, value)) {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        stream.write_all(format!("{head}\r\n").as_bytes())?;
        stream.write_all(body)?;
        let answer = whole(stream, until)?;
        parsed(&answer).ok_or_else(|| io::Error::other("it does not speak HTTP"))
    }
}

/// Confines the server to our workspace and its temporary folder.
fn confinement() -> io::Result<Confinement> {
    let workspace = std::env::current_dir()?.into_os_string();
    Ok(Confinement { writes: [workspace].into_iter().chain(std::env::var_os("TMPDIR")).collect() })
}

impl Drop for Server {
    fn drop(&mut self) {
        // If the group is gone, nothing is left to kill. Processes that left the group are ended later
        // (`end_descendants`).
        let _ = kill_process_group(self.group, Signal::KILL);
    }
}

/// Reads until the connection closes, within limits of time and size. An event stream never closes.
fn whole(mut stream: TcpStream, until: Instant) -> io::Result<Vec<u8>> {
    let (mut answer, mut piece) = (Vec::new(), [0; 16 << 10]);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || answer.len() as u64 > LARGEST {
            return Err(io::Error::other("the answer has no end"));
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut piece)? {
            0 => return Ok(answer),
            read => answer.extend_from_slice(&piece[..read]),
        }
    }
}

fn parsed(answer: &[u8]) -> Option<Reply> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&answer[..end]);
    let mut lines = head.split("\r\n");
    let status = lines.next()?.strip_prefix("HTTP/1.")?;
    let code = status.split(' ').nth(1)?.parse().ok().filter(|code| (200..600).contains(code))?;
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        let (name, value) = (name.trim(), value.trim());
        let is_of_connection =
            ["connection", "transfer-encoding", "content-length"].contains(&&*name.to_ascii_lowercase());
        // A browser rejects the whole answer because of one invalid header.
        (is_header(name, value) && !is_of_connection).then(|| (name.to_owned(), value.to_owned()))
    };
    Some(Reply { code, headers: lines.filter_map(header).collect(), body: answer[end + 4..].to_vec() })
}

/// Whether a header is valid: its name is a token, and its value has no line break, which would start another header.
fn is_header(name: &str, value: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_of_name) && !value.contains(['\0', '\r', '\n'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_with_its_headers_and_its_body() {
        let reply = parsed(
            b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nBad name: x\r\nX: a\nb\r\nConnection: close\r\n\r\n<p>\r\n\r\n",
        )
        .unwrap();
        assert_eq!((reply.code, &*reply.body), (404, &b"<p>\r\n\r\n"[..]));
        assert_eq!(reply.headers, [("Content-Type".to_owned(), "text/html".to_owned())]);
        for odd in [&b""[..], b"hello", b"HTTP/1.1 x\r\n\r\n", b"HTTP/1.1 100 x\r\n\r\n", b"SSH-2.0\r\n\r\n"]
        {
            assert!(parsed(odd).is_none(), "{odd:?}");
        }
    }
}
