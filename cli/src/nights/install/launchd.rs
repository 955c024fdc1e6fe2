//! The macOS launch agent, as a property list.

use crate::nights::install::job::Job;

/// Returns the property list. On wake-up, launchd starts a night that a sleeping machine has missed. It appends what the
/// night prints to the log.
pub fn plist(job: &Job) -> String {
    let string = |word: &str| format!("\t\t<string>{}</string>\n", escaped(word));
    let arguments: Vec<_> = job.argv().into_iter().map(string).collect();
    let env =
        job.env.iter().map(|(name, value)| format!("\t\t<key>{}</key>\n{}", escaped(name), string(value)));
    let home = job.env.iter().find(|(name, _)| name == "HOME").map(|(_, home)| home);
    let output = home.map_or_else(String::new, |home| {
        let path = escaped(&format!("{home}/{}", log(&job.name)));
        let key = |key: &str| format!("\t<key>{key}</key>\n\t<string>{path}</string>\n");
        key("StandardOutPath") + &key("StandardErrorPath")
    });
    format!(
        "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">
<!-- Written by `skilltune night install`; `skilltune night uninstall` removes it. -->
<plist version=\"1.0\">
<dict>
\t<key>Label</key>
\t<string>{name}</string>
\t<key>ProgramArguments</key>
\t<array>
{arguments}\t</array>
\t<key>EnvironmentVariables</key>
\t<dict>
{env}\t</dict>
\t<key>StartCalendarInterval</key>
\t<dict>
\t\t<key>Hour</key>
\t\t<integer>{hour}</integer>
\t\t<key>Minute</key>
\t\t<integer>{minute}</integer>
\t</dict>
\t<key>ProcessType</key>
\t<string>Background</string>
\t<key>Nice</key>
\t<integer>10</integer>
\t<key>ExitTimeOut</key>
\t<integer>60</integer>
{output}</dict>
</plist>
",
        name = escaped(&job.name),
        arguments = arguments.concat(),
        env = env.collect::<Vec<_>>().concat(),
        hour = job.at.hour(),
        minute = job.at.minute(),
    )
}

/// Returns the path of the log below the user's home. launchd creates the file, but not its folder, and every home of
/// macOS has this one.
pub fn log(name: &str) -> String {
    format!("Library/Logs/{name}.log")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nights::install::job::tests::job;

    #[test]
    fn the_agent_of_a_plain_job() {
        insta::assert_snapshot!(plist(&job()), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <!-- Written by `skilltune night install`; `skilltune night uninstall` removes it. -->
        <plist version="1.0">
        <dict>
        	<key>Label</key>
        	<string>skilltune-night-project-01234567</string>
        	<key>ProgramArguments</key>
        	<array>
        		<string>/usr/local/bin/skilltune</string>
        		<string>--project</string>
        		<string>/home/me/project</string>
        		<string>night</string>
        		<string>--file</string>
        		<string>/home/me/project/skilltune-night.toml</string>
        		<string>--scheduled</string>
        	</array>
        	<key>EnvironmentVariables</key>
        	<dict>
        		<key>PATH</key>
        		<string>/usr/local/bin:/usr/bin</string>
        		<key>HOME</key>
        		<string>/home/me</string>
        	</dict>
        	<key>StartCalendarInterval</key>
        	<dict>
        		<key>Hour</key>
        		<integer>2</integer>
        		<key>Minute</key>
        		<integer>30</integer>
        	</dict>
        	<key>ProcessType</key>
        	<string>Background</string>
        	<key>Nice</key>
        	<integer>10</integer>
        	<key>ExitTimeOut</key>
        	<integer>60</integer>
        	<key>StandardOutPath</key>
        	<string>/home/me/Library/Logs/skilltune-night-project-01234567.log</string>
        	<key>StandardErrorPath</key>
        	<string>/home/me/Library/Logs/skilltune-night-project-01234567.log</string>
        </dict>
        </plist>
        "#);
    }

    #[test]
    fn without_a_home_there_is_no_log() {
        let homeless = plist(&Job { env: Vec::new(), ..job() });
        assert!(!homeless.contains("Library/Logs"), "{homeless}");
        assert!(homeless.ends_with("<integer>60</integer>\n</dict>\n</plist>\n"), "{homeless}");
    }

    #[test]
    fn what_xml_would_read_as_its_own_is_escaped() {
        assert_eq!(escaped("a<b>&amp;]]>\"'"), "a&lt;b&gt;&amp;amp;]]&gt;\"'");
    }
}
