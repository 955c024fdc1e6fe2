//! Reads from a service's message that the account has no credit left. A limit resets; credit has to be bought.

/// Matches messages about used-up credit, in lower case.
const WORDS: [&str; 9] = [
    "credit balance",
    "out of credit",
    "credits are depleted",
    "insufficient credit",
    "insufficient balance",
    "insufficient_quota",
    "requires more credits",
    "billing hard limit",
    "payment required",
];

/// Matches an exceeded quota. `OpenAI` means credit; Google uses the same words for limits that reset.
const QUOTA: [&str; 2] = ["exceeded your current quota", "quota exceeded. check your plan"];
const GOOGLES: [&str; 3] = ["for metric", "ai.google.dev", "googleapis"];

/// Returns true if a service says that the account has no credit left.
pub(super) fn is_used_up(message: &str) -> bool {
    let lower = message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|one| lower.contains(one));
    says(&WORDS) || (says(&QUOTA) && !says(&GOOGLES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credit_that_is_used_up_is_no_limit_that_resets() {
        for message in [
            "Credit balance is too low",
            "Credit balance too low · Add funds: https://platform.claude.com/settings/billing",
            "Your workspace is out of credits. Add credits to continue.",
            "Your prepayment credits are depleted.",
            "Quota exceeded. Check your plan and billing details.",
            "You exceeded your current quota, please check your plan: https://platform.openai.com/docs",
            "This request requires more credits, or fewer max_tokens.",
        ] {
            assert!(is_used_up(message), "{message}");
        }
        for message in [
            "You've hit your usage limit. Visit https://x to purchase more credits or try again at 8:29 PM.",
            "You exceeded your current quota, please check your plan: https://ai.google.dev/gemini-api",
            "You exceeded your current quota.\n* Quota exceeded for metric: requests. Please retry in 4s",
            "You have exhausted your daily quota on this model.",
        ] {
            assert!(!is_used_up(message), "{message}");
        }
    }
}
