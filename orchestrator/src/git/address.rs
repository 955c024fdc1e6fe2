//! Addresses of remotes. They may contain a password.

/// Returns true if the address is a local folder, by git's rule for telling it from `host:path`.
pub(super) fn is_local(address: &str) -> bool {
    if let Some((scheme, _)) = address.split_once("://") {
        return scheme.eq_ignore_ascii_case("file");
    }
    match (address.find(':'), address.find('/')) {
        (None, _) => true,
        (Some(colon), Some(slash)) => slash < colon,
        (Some(_), None) => false,
    }
}

/// Returns `HOST/OWNER/NAME`, as `gh` takes it.
pub(super) fn repository(address: &str) -> Option<String> {
    let (host, path) = match address.split_once("://") {
        Some(("https" | "http" | "ssh" | "git", rest)) => rest.split_once('/')?,
        Some(_) => return None,
        None if is_local(address) => return None,
        None => address.split_once(':')?,
    };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    // GitHub's ssh server on the https port.
    let host = if host == "ssh.github.com" { "github.com" } else { host };
    let path = path.trim_matches('/');
    let (owner, name) = path.strip_suffix(".git").unwrap_or(path).split_once('/')?;
    let is_plain = |part: &str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        !part.starts_with(['-', '.']) && !part.is_empty() && part.chars().all(is_plain)
    };
    [host, owner, name].into_iter().all(is_plain).then(|| format!("{host}/{owner}/{name}"))
}

/// Returns a program's output on one line, without the user names and passwords in its addresses.
pub(super) fn without_secrets(said: &str) -> String {
    let mut parts = said.split("://");
    let first = parts.next().unwrap_or_default().to_owned();
    let all = parts.fold(first, |all, part| {
        let ends = |c: char| c == '/' || c == '\'' || c == '"' || c.is_whitespace();
        let (authority, rest) = part.split_at(part.find(ends).unwrap_or(part.len()));
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        format!("{all}://{host}{rest}")
    });
    let is_said = |line: &&str| !line.is_empty() && !line.starts_with("hint: ");
    let lines: Vec<&str> = all.lines().map(str::trim).filter(is_said).collect();
    lines.join("; ").chars().take(MOST_SAID).collect()
}

const MOST_SAID: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_the_repository_of_a_server_or_none() {
        for address in [
            "https://github.com/acme/skills.git",
            "https://me:secret@github.com:443/acme/skills/",
            "git@github.com:acme/skills.git",
            "ssh://git@ssh.github.com:443/acme/skills",
        ] {
            assert_eq!(repository(address).as_deref(), Some("github.com/acme/skills"), "{address}");
            assert!(!is_local(address), "{address}");
        }
        for address in [
            "/srv/acme/skills.git",
            "../acme/skills",
            "file:///srv/acme/skills",
            "ext::sh -c 'a/b'",
            "https://github.com/acme",
            "https://github.com/acme/skills/more",
            "https://-x/acme/skills",
            "git@github.com:--repo/x",
            "",
        ] {
            assert_eq!(repository(address), None, "{address}");
        }
        for local in ["/srv/a:b", "a", "../a", "file:///a", "FILE:///a"] {
            assert!(is_local(local), "{local}");
        }
    }

    #[test]
    fn what_a_program_says_is_told_without_passwords() {
        let said = "unable to access 'https://me:se@cret@a.b/c/': no\n\nhint: x\n  see ssh://git@a/ and http://a@b\n";
        assert_eq!(without_secrets(said), "unable to access 'https://a.b/c/': no; see ssh://a/ and http://b");
    }
}
