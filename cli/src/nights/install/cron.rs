//! The lines of a crontab, and a crontab with and without them. Its other content is kept byte for byte.

use std::ops::Range;

use crate::nights::install::job::Job;
use crate::terminal::complaint::Complaint;

/// The longest command that Debian's cron accepts.
const LONGEST: usize = 998;

/// Returns our lines: the job between two comments, which mark it for later.
pub fn block(job: &Job) -> Result<String, Complaint> {
    let command = command(job);
    if command.len() > LONGEST {
        let what = format!(
            "a cron command can have at most {LONGEST} characters, and this one has {}",
            command.len()
        );
        return Err(Complaint::input(what).hint(
            "set a shorter PATH for the night: `PATH=/usr/local/bin:/usr/bin:/bin skilltune night install`",
        ));
    }
    let (minute, hour) = (job.at.minute(), job.at.hour());
    Ok(format!("{}\n{minute} {hour} * * * {command}\n{}\n", begin(&job.name), end(&job.name)))
}

fn begin(name: &str) -> String {
    format!("# {name}: begin (written by `skilltune night install`)")
}

fn end(name: &str) -> String {
    format!("# {name}: end (`skilltune night uninstall` removes these lines)")
}

/// Builds the command. `env` sets what skilltune needs, so that our lines do not change the environment of other jobs.
/// `env` would read a path with `=` as a variable; `nice` reads it as a program. Cron mails all output of a job.
fn command(job: &Job) -> String {
    let env = job.env.iter().map(|(name, value)| format!("{name}={value}"));
    let nice = ["/usr/bin/nice", "-n", "10"].map(str::to_owned);
    let night = job.argv().into_iter().chain(["--if-needed"]).map(str::to_owned);
    let words = std::iter::once("/usr/bin/env".to_owned()).chain(env).chain(nice).chain(night);
    words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
}

/// Quotes one word for cron and then for the shell that cron starts. Cron ends a command at `%`, and reads `\%` as `%`;
/// some crons read `\\` as one backslash, and some leave both as they are. So `\%` is outside of quotes, where the
/// shell too reads it as `%`, and no two backslashes are next to each other.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-=:".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let mut quoted = String::from("'");
    for letter in word.chars() {
        match letter {
            '%' => quoted.push_str("'\\%'"),
            '\'' => quoted.push_str("'\\''"),
            '\\' => quoted.push_str("\\''"),
            letter => quoted.push(letter),
        }
    }
    quoted + "'"
}

/// Returns a crontab with the job: at its old position, else at the end.
pub fn with(crontab: &[u8], job: &Job) -> Result<Vec<u8>, Complaint> {
    let block = block(job)?;
    let place = place(crontab, &job.name)?.unwrap_or(crontab.len()..crontab.len());
    let before = &crontab[..place.start];
    let is_cut = before.last().is_some_and(|last| *last != b'\n');
    let line_end: &[u8] = if is_cut { b"\n" } else { b"" };
    Ok([before, line_end, block.as_bytes(), &crontab[place.end..]].concat())
}

/// Returns a crontab without the job of that name; none if it has no such job.
pub fn without(crontab: &[u8], name: &str) -> Result<Option<Vec<u8>>, Complaint> {
    let place = place(crontab, name)?;
    Ok(place.map(|place| [&crontab[..place.start], &crontab[place.end..]].concat()))
}

/// Returns the range of our lines.
pub fn place(crontab: &[u8], name: &str) -> Result<Option<Range<usize>>, Complaint> {
    let (begin, end) = (begin(name), end(name));
    let (mut begins, mut ends, mut at) = (Vec::new(), Vec::new(), 0);
    for line in crontab.split_inclusive(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        if text == begin.as_bytes() {
            begins.push(at);
        }
        at += line.len();
        if text == end.as_bytes() {
            ends.push(at);
        }
    }
    match (&begins[..], &ends[..]) {
        ([], []) => Ok(None),
        (&[begin], &[end]) if begin < end => Ok(Some(begin..end)),
        _ => Err(Complaint::input(format!("the crontab needs exactly one begin and one end line of {name}"))
            .hint("delete the lines of this name with `crontab -e`, and run the command again")),
    }
}

#[cfg(test)]
mod tests;
