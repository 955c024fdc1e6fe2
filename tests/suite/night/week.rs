//! The cost of seven days, on the page of each morning.

use super::{Nights, WRITER, climbs};

/// Returns the line of the page about the week.
fn line(nights: &Nights) -> String {
    let page = nights.page();
    let line = page.lines().find(|line| line.starts_with("The last seven days: "));
    line.unwrap_or_else(|| panic!("{page}")).to_owned()
}

fn calls(nights: &Nights, cost: &str) -> u64 {
    nights.morning()[cost]["calls"].as_u64().unwrap()
}

#[test]
fn a_morning_says_what_seven_days_cost_and_what_they_may() {
    let limits = "[week]\nmax_calls = 2000\n\n";
    let nights = Nights::new(&[("writer", 20)], &climbs(), WRITER);
    assert_eq!(nights.night("2026-11-02", &[]).code, Some(0));
    let first = calls(&nights, "cost");
    assert!(line(&nights).contains(&format!("; {first} calls, ")), "{}", line(&nights));
    assert!(line(&nights).ends_with(" of agent time."), "{}", line(&nights));
    nights.write_jobs(&format!("{limits}{WRITER}"));
    assert_eq!(nights.night("2026-11-05", &[]).code, Some(0));
    let second = calls(&nights, "cost");
    assert!(first > 0 && second > 0);
    assert_eq!(calls(&nights, "cost_of_week"), first + second);
    assert!(line(&nights).contains(&format!("; {} calls, ", first + second)), "{}", line(&nights));
    assert!(line(&nights).ends_with(" The limit of a week: 2,000 calls."), "{}", line(&nights));
    // Eight days after the first night, only the second one counts.
    assert_eq!(nights.night("2026-11-10", &[]).code, Some(0));
    assert_eq!(calls(&nights, "cost_of_week"), second + calls(&nights, "cost"));
    let status = nights.scene.run(&["night", "status"]);
    assert!(status.stdout.contains(" The limit of a week: 2,000 calls."), "{status:?}");
}
