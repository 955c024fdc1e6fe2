//! Our lines of a crontab, and the variables that are set above them.

use super::{Reading, job, time, variable};
use crate::nights::install::cron::block;

/// Reads the lines between our two comments, and the variables that the crontab sets before them.
pub fn read(name: &str, before: &str, lines: &str) -> Reading {
    let own = lines.lines().find(|line| !line.starts_with('#')).unwrap_or_default();
    let (at, command) = entry(own).unwrap_or_default();
    let mut rest = words(command).unwrap_or_default();
    if rest.first().is_some_and(|first| first == "/usr/bin/env") {
        rest.remove(0);
    }
    let length = rest.iter().take_while(|word| variable(word).is_some()).count();
    let command = rest.split_off(length);
    let env: Vec<_> = rest.iter().filter_map(|word| variable(word)).collect();
    let command = command.strip_prefix(&["/usr/bin/nice", "-n", "10"].map(str::to_owned)).unwrap_or(&command);
    let command = command.strip_suffix(&["--quiet".to_owned()]).unwrap_or(command);
    let job = job(name, command, &env, at);
    let is_ours = job.as_ref().is_some_and(|job| block(job).is_ok_and(|block| block == lines));
    Reading { job, is_ours, env: set(before).chain(env).collect(), has_more_env: false }
}

/// Returns the time and the command.
fn entry(line: &str) -> Option<(Option<jiff::civil::Time>, &str)> {
    let mut parts = line.splitn(6, ' ');
    let (minute, hour) = (parts.next()?, parts.next()?);
    let is_daily = [parts.next()?, parts.next()?, parts.next()?] == ["*"; 3];
    Some((time(hour, minute).filter(|_| is_daily), parts.next()?))
}

/// Returns each `NAME = value` of a crontab, with or without quotes.
fn set(crontab: &str) -> impl Iterator<Item = (String, String)> {
    crontab.lines().filter_map(|line| {
        let (name, value) = line.split_once('=')?;
        let bare = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
        variable(&format!("{}={}", bare(name), bare(value)))
    })
}

/// Splits a command into words like a shell, if it is in the form that we write; none if a shell would do more.
fn words(command: &str) -> Option<Vec<String>> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let (mut is_quoted, mut letters) = (false, command.chars());
    while let Some(letter) = letters.next() {
        match (letter, is_quoted) {
            ('\'', _) => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            (letter, true) => word.get_or_insert_default().push(letter),
            (' ', false) => words.extend(word.take()),
            ('\\', false) => word.get_or_insert_default().push(letters.next()?),
            (letter, false) if letter.is_alphanumeric() || "/._-=:".contains(letter) => {
                word.get_or_insert_default().push(letter);
            }
            _ => return None,
        }
    }
    words.extend(word);
    (!is_quoted).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nights::install::job::tests::{hostile, job as plain};

    #[test]
    fn what_install_writes_is_read_back_as_it_was() {
        for job in [plain(), hostile()] {
            let lines = block(&job).unwrap();
            let env = job.env.iter().cloned().collect();
            let read = read(&job.name, "", &lines);
            assert_eq!(read, Reading { job: Some(job), is_ours: true, env, has_more_env: false });
        }
    }

    #[test]
    fn variables_above_are_the_nights_too_and_what_is_no_start_of_ours_is_none() {
        let lines = block(&plain()).unwrap();
        let above = "# A=comment=\nKEY = \"a b\"\nPATH=/elsewhere\n5 4 * * * FOO=bar mine\n";
        let with_more = read(&plain().name, above, &lines);
        let get = |name: &str| with_more.env.get(name).map(String::as_str);
        assert_eq!((get("KEY"), get("PATH")), (Some("a b"), Some("/usr/local/bin:/usr/bin")));
        assert_eq!((get("FOO"), get("A")), (None, None));
        let later = read(&plain().name, "", &lines.replace("30 2 * * *", "5 4 * * *"));
        assert!(later.is_ours && later.job.unwrap().at.hour() == 4);
        for line in
            ["", "30 2", "30 2 * * 1 x", "99 2 * * * x", "30 2 * * * /bin/sh -c 'x", "30 2 * * * a; b"]
        {
            assert_eq!(read(&plain().name, "", line), Reading::default(), "{line}");
        }
        let other = lines.replace("--scheduled", "--scheduled --extra");
        assert_eq!(read(&plain().name, "", &other).job, None);
    }
}
