//! The part of HTTP that the agents' clients need.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) body: String,
}

pub(super) struct Answer {
    status: u16,
    kind: &'static str,
    /// Whole header lines.
    headers: String,
    body: String,
    /// Whether the announced length exceeds the body.
    cut: bool,
    /// Whether to send nothing at all.
    mute: bool,
}

impl Request {
    /// Reads the next request of a connection, if there is one.
    pub(super) fn read(reader: &mut BufReader<TcpStream>) -> Option<Self> {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let mut words = line.split_whitespace();
        let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim().split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        Some(Self { method, path, body: String::from_utf8(body).ok()? })
    }
}

impl Answer {
    pub(super) fn json(body: &serde_json::Value) -> Self {
        Self::ok("application/json", body.to_string())
    }

    pub(super) fn events(body: String) -> Self {
        Self::ok("text/event-stream", body)
    }

    pub(super) fn page() -> Self {
        Self::ok("text/html", "<html><body>Log in to this network first.</body></html>".to_owned())
    }

    pub(super) fn error(status: u16, body: &serde_json::Value) -> Self {
        Self { status, ..Self::json(body) }
    }

    pub(super) fn status(status: u16, text: &str) -> Self {
        Self { status, ..Self::ok("text/plain", text.to_owned()) }
    }

    pub(super) fn nothing() -> Self {
        Self { mute: true, ..Self::status(200, "") }
    }

    pub(super) fn header(self, name: &str, value: &str) -> Self {
        Self { headers: format!("{}{name}: {value}\r\n", self.headers), ..self }
    }

    pub(super) fn cut(self) -> Self {
        Self { cut: true, ..self }
    }

    fn ok(kind: &'static str, body: String) -> Self {
        Self { status: 200, kind, headers: String::new(), body, cut: false, mute: false }
    }

    /// Writes the answer and returns whether the connection can carry another request. Only an answer that is cut closes
    /// it: a busy client of ours took a connection that its server closed after the answer for a broken one.
    pub(super) fn write(self, stream: &mut BufReader<TcpStream>) -> bool {
        if self.mute {
            // Until the client closes the connection.
            let _ = std::io::copy(stream, &mut std::io::sink());
            return false;
        }
        let length = self.body.len() + usize::from(self.cut);
        // A client that retries need not wait.
        let again = if self.status == 200 { "" } else { "retry-after-ms: 1\r\n" };
        let answer = format!(
            "HTTP/1.1 {} Said\r\ncontent-type: {}\r\ncontent-length: {length}\r\n{}{again}\r\n{}",
            self.status, self.kind, self.headers, self.body
        );
        stream.get_mut().write_all(answer.as_bytes()).is_ok() && !self.cut
    }
}
