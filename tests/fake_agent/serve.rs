//! A server of a user's own: `fake-agent serve PORT` serves the folder that it is started in, with routes that no file has.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;

pub(crate) fn serve(port: &str) -> ExitCode {
    let port = port.parse().expect("a port is a number");
    let Ok(listener) = TcpListener::bind(("127.0.0.1", port)) else { return ExitCode::FAILURE };
    for stream in listener.incoming().flatten() {
        // A browser that goes away in the middle is none of our business.
        let _ = answer(stream);
    }
    ExitCode::SUCCESS
}

fn answer(stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(number) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = number.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let page = |body: &str| {
        Some(format!(
            "<!doctype html><html lang=en><title>P</title><meta name=viewport content=\"width=device-width\"><main>{body}</main></html>"
        ))
    };
    let file = |name: &str| fs::read_to_string(name).ok();
    let found = match (method, path.split('?').next().unwrap_or_default()) {
        ("GET", "/") => file("home.txt").and_then(|text| page(&text)).or_else(|| file("index.html")),
        ("GET", "/prices") => file("prices.txt").and_then(|text| page(&text)),
        ("POST", "/order") => page(&format!("<h1>Ordered: {}</h1>", String::from_utf8_lossy(&body))),
        _ => None,
    };
    let status = if found.is_some() { "200 OK" } else { "404 Not Found" };
    let body = found.unwrap_or_else(|| "nothing here".to_owned());
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}
