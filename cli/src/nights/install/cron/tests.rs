use std::process::Command;

use proptest::prelude::*;

use super::*;
use crate::nights::install::job::tests::{HOSTILE, hostile, job};
use crate::terminal::style::Style;

/// Parses a command like Debian's cron, before a shell gets it: it ends at `%`, and a backslash is dropped before `%`
/// and, if `collapses` is set, before a backslash.
fn by_cron(command: &str, collapses: bool) -> String {
    let (mut read, mut letters) = (String::new(), command.chars().peekable());
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some('%')) => read.extend(letters.next()),
            ('\\', Some('\\')) if collapses => read.extend(letters.next()),
            ('\\', Some('\\')) => {
                read.push('\\');
                read.extend(letters.next());
            }
            ('%', _) => break,
            (letter, _) => read.push(letter),
        }
    }
    read
}

/// Splits a command into words with a shell.
fn words(command: &str) -> Vec<String> {
    let script = format!("printf '%s\\n' {command}");
    let output = Command::new("/bin/sh").args(["-c", &script]).env_clear().output().unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn the_lines_of_a_plain_job() {
    insta::assert_snapshot!(block(&job()).unwrap(), @r"
    # skilltune-night-project-01234567: begin (written by `skilltune night install`)
    30 2 * * * /usr/bin/env PATH=/usr/local/bin:/usr/bin HOME=/home/me /usr/bin/nice -n 10 /usr/local/bin/skilltune --project /home/me/project night --file /home/me/project/skilltune-night.toml --scheduled --if-needed
    # skilltune-night-project-01234567: end (`skilltune night uninstall` removes these lines)
    ");
}

#[test]
fn every_word_reaches_the_program_as_it_is() {
    let job = hostile();
    let expected: Vec<String> = [
        &["/usr/bin/env", &format!("PATH={HOSTILE}"), "/usr/bin/nice", "-n", "10"][..],
        &job.argv(),
        &["--if-needed"],
    ]
    .concat()
    .into_iter()
    .map(str::to_owned)
    .collect();
    for cron in [by_cron(&command(&job), true), by_cron(&command(&job), false), command(&job)] {
        assert_eq!(words(&cron), expected, "{cron}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_word_is_one_word(word in r#"[a%\\'"$` !é~#;]{0,12}"#) {
        for command in [by_cron(&quoted(&word), true), by_cron(&quoted(&word), false), quoted(&word)] {
            prop_assert_eq!(words(&command), [word.clone()]);
        }
    }

    #[test]
    fn installed_twice_and_removed_leaves_every_byte(before in "([#a: \\r\u{e9}*\\\\]{0,9}\n){0,5}", after in "([#a *]{0,9}\n){0,5}") {
        let crontab = before.into_bytes();
        let mut once = with(&crontab, &job()).unwrap();
        once.extend(after.as_bytes());
        let later = Job { at: jiff::civil::Time::constant(4, 5, 0, 0), ..job() };
        let again = with(&once, &later).unwrap();
        prop_assert_eq!(&with(&once, &job()).unwrap(), &once);
        prop_assert_eq!(&with(&again, &job()).unwrap(), &once);
        prop_assert_eq!(without(&again, &job().name).unwrap(), Some([&crontab[..], after.as_bytes()].concat()));
    }
}

#[test]
fn bytes_that_are_no_text_stay() {
    let crontab = b"# \xff\xfe\n\x00\n";
    let installed = with(crontab, &job()).unwrap();
    assert_eq!(without(&installed, &job().name).unwrap().as_deref(), Some(&crontab[..]));
}

#[test]
fn the_job_of_another_file_stays() {
    let other = Job { name: "skilltune-night-other-89abcdef".to_owned(), ..job() };
    let first = with(b"", &job()).unwrap();
    let both = with(&first, &other).unwrap();
    assert_eq!(without(&both, &other.name).unwrap(), Some(first.clone()));
    assert_eq!(without(&first, &other.name).unwrap(), None);
}

#[test]
fn a_line_without_an_end_gets_one() {
    let installed = with(b"MAILTO=me", &job()).unwrap();
    assert!(installed.starts_with(b"MAILTO=me\n# "));
}

#[test]
fn lines_of_ours_that_somebody_has_torn_are_not_guessed_at() {
    let whole = String::from_utf8(with(b"", &job()).unwrap()).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    for torn in [
        lines[..2].join("\n"),
        lines[1..].join("\n"),
        whole.repeat(2),
        [lines[2], lines[1], lines[0]].join("\n"),
    ] {
        let complaint = with(torn.as_bytes(), &job()).unwrap_err();
        assert_eq!(without(torn.as_bytes(), &job().name).unwrap_err(), complaint);
        insta::allow_duplicates! {
            insta::assert_snapshot!(complaint.render(Style::PLAIN, 999), @r"
            error: the crontab needs exactly one begin and one end line of skilltune-night-project-01234567
            hint: delete the lines of this name with `crontab -e`, and run the command again
            ");
        }
    }
}

#[test]
fn a_command_that_cron_would_refuse_is_refused() {
    let long = Job { env: vec![("PATH".to_owned(), "/x".repeat(500))], ..job() };
    insta::assert_snapshot!(block(&long).unwrap_err().render(Style::PLAIN, 999), @r"
    error: a cron command can have at most 998 characters, and this one has 1165
    hint: set a shorter PATH for the night: `PATH=/usr/local/bin:/usr/bin:/bin skilltune night install`
    ");
}
