//! The macOS launch agent, as a property list.

use crate::nights::install::job::Job;

/// Returns the property list. On wake-up, launchd starts a night that a sleeping machine has missed. Without an output
/// file the agent leaves no output: `--quiet` prints nothing for a good night, and `night status` shows any other.
pub fn plist(job: &Job) -> String {
    let string = |word: &str| format!("\t\t<string>{}</string>\n", escaped(word));
    let arguments: Vec<_> = job.argv().into_iter().chain(["--quiet"]).map(string).collect();
    let env =
        job.env.iter().map(|(name, value)| format!("\t\t<key>{}</key>\n{}", escaped(name), string(value)));
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
</dict>
</plist>
",
        name = escaped(&job.name),
        arguments = arguments.concat(),
        env = env.collect::<Vec<_>>().concat(),
        hour = job.at.hour(),
        minute = job.at.minute(),
    )
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
        		<string>--quiet</string>
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
        </dict>
        </plist>
        "#);
    }

    #[test]
    fn what_xml_would_read_as_its_own_is_escaped() {
        assert_eq!(escaped("a<b>&amp;]]>\"'"), "a&lt;b&gt;&amp;amp;]]&gt;\"'");
    }
}
