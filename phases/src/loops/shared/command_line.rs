//! Commands as people read them.

/// Returns the line that a shell would read as these arguments.
pub fn shell_line(argv: &[String]) -> String {
    argv.iter().map(|argument| quoted(argument)).collect::<Vec<_>>().join(" ")
}

fn quoted(argument: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_@%+:,./-".contains(&byte);
    if !argument.is_empty() && argument.bytes().all(is_plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_become_the_line_that_a_shell_would_read_as_them() {
        let line = |argv: &[&str]| shell_line(&argv.iter().copied().map(String::from).collect::<Vec<_>>());
        assert_eq!(line(&["test", "-s", "artifact.md"]), "test -s artifact.md");
        assert_eq!(line(&["grep", "$(rm -rf ~)", "", "it's", "~"]), r"grep '$(rm -rf ~)' '' 'it'\''s' '~'");
        assert_eq!(line(&["A=b", "x"]), "'A=b' x");
    }
}
