use std::cell::Cell;

use super::*;

/// Returns the diagnostics of an output, one a line. Only `a.rs`, `src/b.py` and `Dockerfile` exist.
fn read(output: &str) -> Vec<String> {
    let is_file = |path: &str| ["a.rs", "src/b.py", "Dockerfile"].contains(&path);
    let line = |Diagnostic { path, line, message }| format!("{path} {line} {message}");
    diagnostics(output, is_file).into_iter().map(line).collect()
}

#[test]
fn each_form_of_a_place_is_read() {
    for (line, wanted) in [
        ("a.rs:3:7: error: odd", "a.rs 3 error: odd"),
        ("a.rs:3: odd", "a.rs 3 odd"),
        ("a.rs:3:7 odd", "a.rs 3 odd"),
        ("Dockerfile:3 DL3006 warning: odd", "Dockerfile 3 DL3006 warning: odd"),
        ("./src/b.py:12:1: F401 `os` is unused", "src/b.py 12 F401 `os` is unused"),
        ("    src/../a.rs:3: 7 are odd", "a.rs 3 7 are odd"),
        ("a.rs:0:0: no module", "a.rs 1 no module"),
        ("Fingerprint: src/b.py:generic-api-key:4", "src/b.py 4 possible secret: generic-api-key"),
    ] {
        assert_eq!(read(&format!("first\n{line}\r\nlast\n")), [wanted], "{line}");
    }
}

#[test]
fn a_line_needs_the_place_of_a_known_file_and_a_message() {
    for line in [
        "b.rs:3: odd",
        "/a.rs:3: odd",
        "../a.rs:3: odd",
        "a.rs: odd",
        "a.rs:x: odd",
        "a.rs:3x: odd",
        "a.rs:99999999999: odd",
        "a.rs:3:7:",
        "a.rs:3: \u{1b}\u{7}",
        "in a.rs:3: odd",
        "  --> a.rs:3:7",
        "Fingerprint: a.rs:3",
        "Fingerprint: a.rs:rule:x",
        ":3: odd",
        "",
    ] {
        assert_eq!(read(line), [""; 0], "{line}");
    }
}

#[test]
fn a_place_of_rustc_has_the_headline_before_it() {
    let output = "\
   Compiling a v0.1.0
error[E0308]: mismatched types
  --> a.rs:3:7
   |
3  |     1
   |     ^ expected `()`
note: function defined here
  --> a.rs:1:4

warning: unused import: `x`
 --> registry/c.rs:9:9
  |
note: in this macro
 --> a.rs:8:5
error: could not compile `a`
";
    assert_eq!(read(output), ["a.rs 3 error[E0308]: mismatched types", "a.rs 8 warning: unused import: `x`"]);
}

#[test]
fn diagnostics_differ_by_place_or_message() {
    let output = "a.rs:3: odd\na.rs:3:9: odd\na.rs:4: odd\na.rs:3: even\n";
    assert_eq!(read(output), ["a.rs 3 odd", "a.rs 4 odd", "a.rs 3 even"]);
}

#[test]
fn a_message_is_one_plain_line_without_keys() {
    let key = ["ghp", "_", "q7Rt2Xw9Kb4Zm1Vc8Ln5q7Rt2Xw9Kb4Zm1Vc"].concat();
    let output = format!("a.rs:3: \u{1b}[31mtoken\u{202e}\t {key}\u{1b}[0m\n");
    assert_eq!(read(&output), ["a.rs 3 [31mtoken [hidden][0m"]);
    let long = read(&format!("a.rs:3: {}\n", "long ".repeat(1000)));
    assert!(long[0].chars().count() <= 400 + "a.rs 3 ".len() && long[0].ends_with('…'), "{long:?}");
}

#[test]
fn hostile_output_is_read_once_and_its_diagnostics_are_bounded() {
    let many: Vec<String> = (1..=1000).map(|line| format!("a.rs:{line}: odd\n")).collect();
    let asked = Cell::new(0);
    let found = diagnostics(&many.concat(), |_| {
        asked.set(asked.get() + 1);
        true
    });
    assert_eq!((found.len(), asked.get()), (MOST, MOST));
    for text in [":", "a.rs:", "--> ", "error", "1:1:", "\u{1b}", "a.rs:1:1", "../"] {
        for output in [text.repeat(1 << 18), format!("{text}\n").repeat(1 << 16)] {
            assert!(read(&output).len() <= 1, "{text}");
        }
    }
}

#[test]
fn a_diagnostic_is_stored_as_it_is() {
    let found = diagnostics("a.rs:3: odd", |_| true);
    let stored = serde_json::to_string(&found).unwrap();
    assert_eq!(stored, r#"[{"path":"a.rs","line":3,"message":"odd"}]"#);
    assert_eq!(serde_json::from_str::<Vec<Diagnostic>>(&stored).unwrap(), found);
}
