//! What a transcript must not keep of the environment of a call.

use std::path::Path;

use skilltune_phases::transcript::Redaction;

use super::Env;

/// The keys of an environment, by the names of their variables, and the password of a proxy.
pub fn keys(env: &Env) -> Vec<String> {
    let keys = env.iter().filter(|(name, _)| is_key(name)).map(|(_, value)| value.as_str());
    let passwords = env.values().filter_map(|value| password(value));
    keys.chain(passwords).map(str::to_owned).collect()
}

pub(super) fn redaction(env: &Env, workspace: &Path) -> Redaction {
    let real = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
    let mut paths = [real.as_path(), workspace].map(|path| path.to_string_lossy().into_owned());
    // A path that the other one begins with goes last.
    paths.sort_by_key(|path| std::cmp::Reverse(path.len()));
    Redaction { secrets: keys(env), workspace: paths.into() }
}

fn is_key(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    // Its value is a path.
    let is_path = name.ends_with("_CREDENTIALS");
    !is_path && ["KEY", "TOKEN", "SECRET", "PASSWORD"].iter().any(|word| name.contains(word))
}

/// That of `http://user:password@host`.
fn password(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("://")?;
    let (user, _) = rest.split('/').next()?.rsplit_once('@')?;
    user.split_once(':').map(|(_, password)| password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_and_passwords_of_an_environment_are_hidden_and_nothing_else_is() {
        let env = [
            ("ANTHROPIC_API_KEY", "key-1"),
            ("CLAUDE_CODE_OAUTH_TOKEN", "key-2"),
            ("HTTPS_PROXY", "http://me:pass@word@proxy:80/x"),
            ("ANTHROPIC_BASE_URL", "http://localhost:80/a@b"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/home/me/login.json"),
            ("PATH", "/usr/bin"),
        ];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let redaction = redaction(&env, Path::new("/nowhere/space"));
        assert_eq!(redaction.secrets, ["key-1", "key-2", "pass@word"]);
        assert_eq!(redaction.workspace, ["/nowhere/space", "/nowhere/space"]);
    }
}
