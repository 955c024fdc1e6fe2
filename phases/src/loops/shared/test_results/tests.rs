use super::*;

/// Returns the results in one line: `Cargo 1/2/3 a, b`.
fn read(stdout: &str) -> String {
    described(test_results(stdout, ""))
}

fn described(results: Option<TestResults>) -> String {
    let Some(TestResults { runner, passed, failed, skipped, failing }) = results else {
        return "not counted".to_owned();
    };
    format!("{runner:?} {passed}/{failed}/{skipped} {}", failing.join(", ")).trim_end().to_owned()
}

/// Two binaries with a test of the same name, and the tests in documentation.
const CARGO: &str = "
running 3 tests
test tests::slow ... ignored, needs a network
test tests::adds ... ok
test tests::logs_in ... FAILED

failures:

---- tests::logs_in stdout ----

thread 'tests::logs_in' (71) panicked at core/src/lib.rs:20:9:
assertion `left == right` failed
  left: 1
 right: 2
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace


failures:
    tests::logs_in

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s


running 2 tests
test tests::logs_in ... FAILED
test tests::panics - should panic ... ok

failures:

---- tests::logs_in stdout ----
failures:
    forged


failures:
    tests::logs_in

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 4 filtered out; finished in 0.01s


running 0 tests

test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s


running 2 tests
test core/src/lib.rs - add (line 3) ... ok
test core/src/lib.rs - sub (line 9) ... FAILED

failures:

---- core/src/lib.rs - sub (line 9) stdout ----
Test executable failed (exit status: 101).


failures:
    core/src/lib.rs - sub (line 9)

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.20s

all doctests ran in 0.45s; merged doctests compilation took 0.20s
";

#[test]
fn cargo_adds_up_its_binaries() {
    assert_eq!(read(CARGO), "Cargo 3/3/1 core/src/lib.rs - sub (line 9), tests::logs_in");
    let quiet = "\nrunning 5 tests\n.....\ntest result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n";
    assert_eq!(read(quiet), "Cargo 5/0/0");
    let coloured = "running 1 test\ntest a ... \u{1b}[31mFAILED\u{1b}(B\u{1b}[m\n\nfailures:\n    a\n\ntest result: \u{1b}[31mFAILED\u{1b}[m. 0 passed; 1 failed; 0 ignored; 0 measured\r\n";
    assert_eq!(read(coloured), "Cargo 0/1/0 a");
}

#[test]
fn a_binary_of_cargo_without_all_of_its_tests_is_not_counted() {
    for (cut, wanted) in [
        ("running 3 tests\ntest a ... ok\n", "not counted"),
        ("test a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n", "not counted"),
        ("running 2 tests\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n", "not counted"),
        ("running 1 test\nrunning 1 test\ntest result: ok. 1 passed; 0 failed\n", "not counted"),
        ("running 1 test\n\ntest result: ok. 1 passed; 0 failed\n", "Cargo 1/0/0"),
        ("running 1 mile\n\ntest result: ok. 1 passed; 0 failed\n", "not counted"),
    ] {
        assert_eq!(read(cut), wanted, "{cut}");
    }
    // What is left of the second binary shows that the first one is missing.
    let from = CARGO.find("test tests::panics").unwrap();
    assert_eq!(read(&CARGO[from..]), "not counted");
}

const PYTEST: &str = "\
.FFFsxXEF                                                                [100%]
==================================== ERRORS ====================================
__________________________ ERROR at setup of test_err __________________________
------------------------------ Captured log setup ------------------------------
ERROR    root:test_a.py:13 no
E   RuntimeError: no
=================================== FAILURES ===================================
>   def test_bad(): assert 1 == 2
E   assert 1 == 2
=========================== short test summary info ============================
FAILED test_a.py::test_bad - assert 1 == 2
FAILED test_a.py::test_p[a b] - AssertionError: assert 'a b' == 'z'
FAILED test_a.py::test_p[c - d] - AssertionError: assert 'c - d' == 'z'
FAILED test_a.py::TestK::test_m
ERROR test_a.py::test_err - RuntimeError: no
4 failed, 1 passed, 1 skipped, 1 xfailed, 1 xpassed, 1 error in 0.03s
";

#[test]
fn pytest_names_tests_in_its_summary() {
    let names = "test_a.py::TestK::test_m, test_a.py::test_bad, test_a.py::test_err, test_a.py::test_p[a b], test_a.py::test_p[c - d]";
    assert_eq!(read(PYTEST), format!("Pytest 2/5/2 {names}"));
    let end = &PYTEST[PYTEST.find("E   assert 1").unwrap()..];
    assert_eq!(read(end), read(PYTEST), "the end has all");
    let cut = PYTEST.rsplit_once("4 failed").unwrap().0;
    assert_eq!(read(cut), "not counted", "as with -qq");
}

#[test]
fn the_last_line_of_pytest_counts() {
    for (line, wanted) in [
        ("============ 1 failed, 2 passed, 3 warnings in 61.23s (0:01:01) ============", "Pytest 2/1/0"),
        (
            "\u{1b}[32m\u{1b}[32m\u{1b}[1m1 passed\u{1b}[0m, \u{1b}[33m8 deselected\u{1b}[0m\u{1b}[32m in 0.01s\u{1b}[0m\u{1b}[0m",
            "Pytest 1/0/0",
        ),
        ("no tests ran in 0.00s", "Pytest 0/0/0"),
        ("9 deselected in 0.01s", "Pytest 0/0/0"),
        ("1 error in 0.10s", "Pytest 0/1/0"),
        ("2 passed, 3 subtests passed in 0.10s", "Pytest 2/0/0"),
        ("1 failed in 0.1s\n2 passed in 0.1s", "Pytest 2/0/0"),
        ("9 tests collected in 0.01s", "not counted"),
        ("1 failed, 2 passed", "not counted"),
        ("1 failed, two passed in 0.1s", "not counted"),
        ("1 failed in a second", "not counted"),
        ("99999999999 passed in 0.1s", "not counted"),
    ] {
        assert_eq!(read(line), wanted, "{line}");
    }
}

const GO: &str = r#"{"Time":"2026-01-02T03:04:05Z","Action":"start","Package":"example.com/a"}
{"Action":"run","Package":"example.com/a","Test":"TestAdd"}
{"Action":"output","Package":"example.com/a","Test":"TestAdd","Output":"=== RUN   TestAdd\n"}
{"Action":"pass","Package":"example.com/a","Test":"TestAdd","Elapsed":0}
{"Action":"run","Package":"example.com/a","Test":"TestSub"}
{"Action":"run","Package":"example.com/a","Test":"TestSub/zero"}
{"Action":"output","Package":"example.com/a","Test":"TestSub/zero","Output":"    --- FAIL: TestSub/zero (0.00s)\n"}
{"Action":"fail","Package":"example.com/a","Test":"TestSub/zero","Elapsed":0}
{"Action":"fail","Package":"example.com/a","Test":"TestSub","Elapsed":0}
{"Action":"run","Package":"example.com/a","Test":"TestSlow"}
{"Action":"skip","Package":"example.com/a","Test":"TestSlow","Elapsed":0}
{"Action":"fail","Package":"example.com/a","Elapsed":0.002}
{"ImportPath":"example.com/b","Action":"build-output","Output":"b/b.go:3:2: undefined: x\n"}
{"ImportPath":"example.com/b","Action":"build-fail"}
{"Action":"start","Package":"example.com/b"}
{"Action":"fail","Package":"example.com/b","Elapsed":0,"FailedBuild":"example.com/b"}
{"Action":"start","Package":"example.com/c"}
{"Action":"output","Package":"example.com/c","Output":"?   \texample.com/c\t[no test files]\n"}
{"Action":"skip","Package":"example.com/c","Elapsed":0}
"#;

#[test]
fn go_is_counted_by_its_events() {
    let names = "example.com/a, example.com/a.TestSub, example.com/a.TestSub/zero, example.com/b";
    assert_eq!(read(GO), format!("Go 1/2/1 {names}"));
    for from in ["{\"Action\":\"run\"", "Action\":\"pass\"", "{\"Action\":\"fail\"", "ample.com/c\"}"] {
        assert_eq!(read(&GO[GO.find(from).unwrap()..]), "not counted", "{from}");
    }
    assert_eq!(
        read(GO.split_once("{\"Action\":\"fail\",\"Package\":\"example.com/b\"").unwrap().0),
        "not counted"
    );
    for plain in [
        "--- FAIL: TestSub (0.00s)\nFAIL\nFAIL\texample.com/a\t0.002s\nFAIL\n",
        "ok  \texample.com/a\t0.002s\n",
    ] {
        assert_eq!(read(plain), "not counted", "{plain}");
    }
}

const TAP: &str = "\
TAP version 13
# Subtest: top ok
ok 1 - top ok
  ---
  duration_ms: 0.94943
  ...
# Subtest: suite \\# one
    # Subtest: in bad
    not ok 1 - in bad
      ---
      duration_ms: 7.149024
      ...
    # Subtest: sk
    ok 2 - sk # SKIP
    # Subtest: td
    not ok 3 - td # TODO
    1..3
not ok 2 - suite \\# one
  ---
  type: 'suite'
  ...
1..2
# tests 4
# suites 1
# pass 1
# fail 1
# cancelled 0
# skipped 1
# todo 1
# duration_ms 176.414331
";

const SPEC: &str = "\
✔ top ok (0.879086ms)
▶ suite # one
  ✖ in bad (7.05166ms)
  ﹣ sk (0.121771ms) # SKIP
  ✖ td (0.084346ms) # TODO
✖ suite # one (7.832429ms)
ℹ tests 4
ℹ suites 1
ℹ pass 1
ℹ fail 1
ℹ cancelled 0
ℹ skipped 1
ℹ todo 1
ℹ duration_ms 187.378649

✖ failing tests:

test at a.test.mjs:5:56
✖ in bad (7.05166ms)
  AssertionError [ERR_ASSERTION]: The expression evaluated to a falsy value:
";

#[test]
fn both_reporters_of_node_give_the_same() {
    for (output, names) in [(TAP, "suite # one"), (SPEC, "in bad, suite # one")] {
        assert_eq!(read(output), "Node 1/1/2 in bad, suite # one", "{output}");
        let end = &output[output.find("sk").unwrap()..];
        assert_eq!(read(end), format!("Node 1/1/2 {names}"), "the end has all totals");
        assert_eq!(read(&output[..output.find(" todo 1").unwrap()]), "not counted", "{output}");
    }
    let other = "ok 1 should be equal\n1..1\n# tests 1\n# pass  1\n";
    assert_eq!(read(other), "not counted", "assertions are no tests");
}

const JEST: &str = "\
PASS t/d.test.js
  ● Console

    console.log
FAIL t/a.test.js (5.2 s)
  ● Console

  ● top bad

    expect(received).toBe(expected) // Object.is equality

    Tests: 9 failed, 9 total

      at Object.toBe (t/a.test.js:3:35)

  ● suite › in bad

FAIL t/b.test.js
  ● Test suite failed to run

    crash

Test Suites: 2 failed, 1 passed, 3 total
Tests:       2 failed, 1 skipped, 2 todo, 4 passed, 9 total
Snapshots:   0 total
Time:        0.352 s
Ran all test suites.
";

#[test]
fn jest_prints_to_stderr() {
    let wanted = "Jest 4/2/3 t/a.test.js › suite › in bad, t/a.test.js › top bad, t/b.test.js";
    assert_eq!(described(test_results("> jest\n", JEST)), wanted);
    let cut = JEST.split_once("\nTests:  ").unwrap().0;
    assert_eq!(described(test_results("", cut)), "not counted");
    assert_eq!(read("Tests:       0 total\n"), "Jest 0/0/0");
    assert_eq!(read("Tests: all of them\n"), "not counted");
}

const VITEST: &str = "
 RUN  v3.2.4 /project

 ❯ t/a.test.mjs (6 tests | 2 failed | 2 skipped) 8ms
   ✓ top ok 1ms
   × top bad 6ms
     → expected 1 to be 2 // Object.is equality

 Test Files  2 failed (2)
      Tests  2 failed | 2 passed | 1 skipped | 1 todo (6)
   Start at  18:00:56
";

const VITEST_ERRORS: &str = "
⎯⎯⎯⎯⎯⎯ Failed Suites 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  t/b.test.mjs [ t/b.test.mjs ]
Error: crash

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 2 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  t/a.test.mjs > top bad
AssertionError: expected 1 to be 2 // Object.is equality

 FAIL  t/a.test.mjs > suite > in [ bad ]
";

#[test]
fn vitest_prints_names_to_stderr_and_totals_to_stdout() {
    let wanted = "Vitest 2/2/2 t/a.test.mjs > suite > in [ bad ], t/a.test.mjs > top bad, t/b.test.mjs";
    assert_eq!(described(test_results(VITEST, VITEST_ERRORS)), wanted);
    let cut = VITEST.split_once("Tests  2").unwrap().0;
    assert_eq!(described(test_results(cut, VITEST_ERRORS)), "not counted");
    assert_eq!(read("      Tests  1 passed | 5 skipped (6)\n"), "Vitest 1/0/5", "as version 1 prints it");
    assert_eq!(read("      Tests  no tests\n"), "Vitest 0/0/0");
}

const JUNIT: &str = r#"> run
<?xml version="1.0" encoding="UTF-8" ?>
<testsuites name="all" tests="6" failures="2" errors="1">
  <!-- <testcase name="no"/> -->
  <testsuite name="outer" tests="6" failures="2" errors="1" skipped="1">
    <testsuite name='a > b' tests="4">
      <testcase classname="t/a" name="adds" time="0.1"/>
      <testcase name="suite &gt; &quot;x&quot; &amp;lt;" classname="t/a">
        <failure message="1 > 2">
          at a
        </failure>
      </testcase>
      <testcase classname="t/a" name="slow"><skipped/></testcase>
      <testcase name="crash"><error/><system-out><![CDATA[</testsuite><testcase name="no">]]></system-out></testcase>
    </testsuite>
    <testsuite/>
  </testsuite>
</testsuites>
done
"#;

#[test]
fn the_cases_of_a_junit_report_are_counted() {
    assert_eq!(read(JUNIT), "JUnit 1/2/1 crash, t/a > suite > \"x\" &lt;");
    let report = |inside: &str| format!("<testsuite>{inside}</testsuite>");
    for (xml, wanted) in [
        (report("<testcase name='a'></testcase>"), "JUnit 1/0/0"),
        (report("<testcase name='a'><failure/><skipped/></testcase>"), "JUnit 0/1/0 a"),
        (report("<testcase/><failure/>"), "JUnit 1/0/0"),
        (report("<testcase name='a'>"), "not counted"),
        (report("</testcase>"), "not counted"),
        (report("</testsuite>"), "not counted"),
        (report("<testsuite>"), "not counted"),
        (report("<testcase name='a>"), "not counted"),
        (report("<![CDATA["), "not counted"),
        ("</testsuite><testsuite>".to_owned(), "not counted"),
    ] {
        assert_eq!(read(&xml), wanted, "{xml}");
    }
    let from = JUNIT.find("<testsuite name='a").unwrap();
    assert_eq!(read(&JUNIT[from..]), "not counted", "a cut report");
}

#[test]
fn results_are_compared_by_the_names_that_fail() {
    let of = |passed, failed, names: &[&str]| TestResults {
        passed,
        failed,
        failing: names.iter().map(|&name| name.into()).collect(),
        ..TestResults::default()
    };
    let base = of(3, 1, &["a"]);
    assert_eq!(of(1, 3, &["a", "b", "c"]).newly_failing(&base), ["b", "c"]);
    assert_eq!(of(4, 0, &[]).newly_failing(&base), [""; 0]);
    assert_eq!((base.ran(), of(u32::MAX, 1, &[]).ran()), (4, u32::MAX));
}

#[test]
fn a_long_list_of_names_says_nothing_about_those_after_it() {
    let output = |from: usize| {
        let names = (from..from + 300).map(|number| format!("not ok 1 - t{number:03}\n"));
        let names = names.collect::<Vec<_>>().concat();
        let totals = "# tests 300\n# pass 0\n# fail 300\n# cancelled 0\n# skipped 0\n# todo 0\n";
        test_results(&format!("{names}{totals}"), "").unwrap()
    };
    let (base, later) = (output(1), output(2));
    assert_eq!((base.failing.len(), &*base.failing[199]), (200, "t200"));
    assert_eq!(&*later.failing[199], "t201");
    assert_eq!(later.newly_failing(&base), [""; 0], "t201 may fail in the base");
    assert_eq!(output(0).newly_failing(&base), ["t000"]);
}

#[test]
fn names_are_short_plain_and_without_keys() {
    let key = ["ghp", "_", "q7Rt2Xw9Kb4Zm1Vc8Ln5q7Rt2Xw9Kb4Zm1Vc"].concat();
    let output = format!(
        "FAIL a.js\n  ● {key}\u{202e}\u{7}\t x\u{1b}]0;title\u{7}\n  ● {}\nTests: 2 failed, 2 total\n",
        "é".repeat(5000)
    );
    let found = test_results(&output, "").unwrap();
    assert_eq!(&*found.failing[0], "a.js › [hidden] x");
    assert_eq!(found.failing[1].chars().count(), LONGEST_NAME);
}

#[test]
fn hostile_output_is_read_in_linear_time() {
    let pieces = [
        "running 1 test\n",
        "test result: ",
        "failures:\n",
        "    a\n",
        "{\"Action\":",
        "[",
        "not ok 1 - ",
        "  ● ",
        "<testsuite>",
        "<testcase ",
        "<![CDATA[",
        "<!--",
        "</testsuite",
        "\u{1b}",
        "\u{1b}]",
        "\u{1b}[",
        "\u{1b}[0",
        "1 passed, ",
        " in ",
        "Tests:",
        "Tests  1 | ",
        "=",
        "\"",
        "é",
    ];
    for piece in pieces {
        for start in [
            "",
            "<testsuite><testsuite>",
            "<testsuite><testcase a='",
            "{\"Action\":\"start\",\"Test\":",
            "# tests ",
        ] {
            let output = format!("{start}{}</testsuite>", piece.repeat(1 << 13));
            assert_eq!(read(&output), "not counted", "{start}{piece}");
        }
    }
}

#[test]
fn results_are_stored_as_they_are() {
    let found = test_results("FAIL a.js\n  ● b\nTests: 1 failed, 1 total\n", "");
    let stored = serde_json::to_string(&found).unwrap();
    let wanted = r#"{"runner":"jest","passed":0,"failed":1,"skipped":0,"failing":["a.js › b"]}"#;
    assert_eq!(stored, wanted);
    assert_eq!(serde_json::from_str::<Option<TestResults>>(&stored).unwrap(), found);
    assert_eq!(serde_json::to_string(&Runner::JUnit).unwrap(), r#""junit""#);
}
