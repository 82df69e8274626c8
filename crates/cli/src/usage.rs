//! Tokens and money, as people say them.

use adjourn_core::Usage;

/// What was used, if anything was reported.
pub(crate) fn usage_text(usage: Usage) -> Option<String> {
    let Usage { input_tokens, output_tokens, cost_usd } = usage;
    let mut parts = Vec::new();
    if input_tokens + output_tokens > 0 {
        parts.push(format!("{} in, {} out", tokens(input_tokens), tokens(output_tokens)));
    }
    parts.extend(cost_usd.map(|cost| format!("${cost:.4}")));
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn tokens(count: u64) -> String {
    match count {
        ..1000 => format!("{count} tokens"),
        1000..1_000_000 => format!("{:.1}k tokens", count as f64 / 1000.0),
        _ => format!("{:.1}M tokens", count as f64 / 1_000_000.0),
    }
}

#[cfg(test)]
mod tests {
    use adjourn_core::Usage;

    use super::usage_text;

    #[test]
    fn only_what_was_reported_is_said() {
        let usage = |input_tokens, output_tokens, cost_usd| Usage { input_tokens, output_tokens, cost_usd };
        assert_eq!(usage_text(Usage::default()), None);
        assert_eq!(usage_text(usage(999, 1200, None)).as_deref(), Some("999 tokens in, 1.2k tokens out"));
        assert_eq!(usage_text(usage(0, 0, Some(0.25))).as_deref(), Some("$0.2500"));
    }
}
