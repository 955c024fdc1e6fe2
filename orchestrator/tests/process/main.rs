//! The guardians against real programs that misbehave. No test sleeps; each waits for an event.
#![expect(clippy::disallowed_methods, reason = "tests build their own scenes")]
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that fails should stop where it fails")]

mod confined;
mod deaths;
mod endings;
mod hidden;
mod leftovers;
mod output;
mod pool;
mod stage;

use std::io::Write;
use std::process::Command;

/// Runs all tests again without namespaces, inside a namespace whose limit of further namespaces is 0.
#[test]
fn it_all_holds_where_no_namespace_is_to_be_had() {
    let within = "SKILLTUNE_TEST_WITHOUT_NAMESPACES";
    if std::env::var_os(within).is_some() {
        assert!(!stage::is_contained(), "there is one");
        return;
    }
    let wrapper = ["--user", "--map-root-user", "sh", "-c"];
    // Without `sys_ptrace`, root is like any other user: it cannot inspect processes that hide from it.
    let none = "echo 0 > /proc/sys/user/max_user_namespaces && \
                exec setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace \"$@\"";
    let mut command = Command::new("unshare");
    command.args(wrapper).args([none, "sh"]);
    if !command.arg("true").status().is_ok_and(|status| status.success()) {
        let _ =
            writeln!(std::io::stderr(), "SKIPPED: there are no namespaces to take away: all else had none");
        assert!(!stage::is_contained(), "there is one");
        return;
    }
    let mut command = Command::new("unshare");
    command.args(wrapper).args([none, "sh"]).arg(std::env::current_exe().unwrap()).env(within, "yes");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
