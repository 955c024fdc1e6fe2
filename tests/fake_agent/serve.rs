//! A user's own server: `fake-agent serve PORT` serves its working folder, with routes that no file has.
//!
//! A page `/a/b?c` is the file `_a_b-c.txt`, and one that begins with `-> ` redirects. `/login` requires the origin of
//! its own page, sets a cookie, and redirects to `/me`. With a `forge` file it acts as an attacker.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, ExitCode};

pub(crate) fn serve(port: &str) -> ExitCode {
    let port = port.parse().expect("a port is a number");
    let Ok(listener) = TcpListener::bind(("127.0.0.1", port)) else { return ExitCode::FAILURE };
    if let Ok(target) = fs::read_to_string("forge") {
        forge(target.trim());
    }
    for stream in listener.incoming().flatten() {
        // A browser that disconnects early is ignored.
        let _ = answer(stream);
    }
    ExitCode::SUCCESS
}

/// Points `screens` to another folder with a symlink, again and again, from a process that also leaves its group.
fn forge(target: &str) {
    let script = format!("while :; do ln -sfn {target} ../screens; done");
    Command::new("setsid").args(["--fork", "sh", "-c", &script]).status().expect("a shell");
}

#[derive(Default)]
struct Asked {
    method: String,
    path: String,
    host: String,
    origin: String,
    cookie: String,
    body: String,
}

fn read(stream: &TcpStream) -> std::io::Result<Asked> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut asked, mut first, mut length) = (Asked::default(), String::new(), 0);
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        let (name, value) = line.trim().split_once(": ").unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap_or(0),
            "host" => value.clone_into(&mut asked.host),
            "origin" => value.clone_into(&mut asked.origin),
            "cookie" => value.clone_into(&mut asked.cookie),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    asked.body = String::from_utf8_lossy(&body).into_owned();
    let mut words = first.split(' ').map(str::to_owned);
    (asked.method, asked.path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    Ok(asked)
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let Asked { method, path, host, origin, cookie, body } = read(&stream)?;
    let page = |body: &str| {
        format!(
            "<!doctype html><html lang=en><title>P</title><meta name=viewport content=\"width=device-width\"><main>{body}</main></html>"
        )
    };
    let leads = |to: &str| ("303 See Other", format!("Location: {to}\r\n"), String::new());
    let shows = |body: &str| ("200 OK", "Content-Type: text/html\r\n".to_owned(), page(body));
    let file = |path: &str| match path {
        "/" if !Path::new("_.txt").exists() => "index.html".to_owned(),
        path => format!("{}.txt", path.replace('/', "_").replace('?', "-")),
    };
    let (status, headers, body) = match (method.as_str(), path.as_str(), fs::read_to_string(file(&path))) {
        ("GET", _, Ok(text)) => text.strip_prefix("-> ").map_or_else(|| shows(&text), leads),
        ("POST", "/order", _) => shows(&format!("<h1>Ordered: {body}</h1>")),
        ("POST", "/login", _) if origin == format!("http://{host}") => {
            let (status, leads, _) = leads(&format!("http://{host}/me"));
            (status, format!("{leads}Set-Cookie: {body}; Path=/; HttpOnly\r\n"), String::new())
        }
        ("GET", "/me", _) => shows(&format!("<h1>You: {cookie}</h1>")),
        ("GET", "/odd.js", _) => {
            ("200 OK", "Bad name: x\r\nX-Bad: \0\r\n".to_owned(), "var odd = 1;".to_owned())
        }
        ("GET", "/endless.css", _) => ("200 OK", String::new(), " ".repeat(17 << 20)),
        _ => ("404 Not Found", String::new(), String::new()),
    };
    write!(stream, "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}
