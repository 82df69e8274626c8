use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};
use serde_json::{Value, json};

use super::{MASK, Masker, SECRETS_BYTES_MAX, Secret, spellings};

fn masker<const N: usize>(secrets: [&str; N]) -> Masker {
    Masker::new(secrets.map(Secret::new)).unwrap()
}

fn in_pieces(masker: &Masker, bytes: &[u8], cuts: &[usize]) -> Vec<u8> {
    let mut stream = masker.stream();
    let mut out = Vec::new();
    let mut cuts: Vec<_> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.sort_unstable();
    let mut at = 0;
    for cut in cuts.into_iter().chain([bytes.len()]) {
        out.extend(stream.push(&bytes[at..cut]));
        at = cut;
    }
    out.extend(stream.finish());
    out
}

#[test]
fn a_secret_is_masked_wherever_it_stands() {
    let masker = masker(["hunter2!"]);
    for (text, expected) in [
        ("", ""),
        ("hunter2!", "⟦masked⟧"),
        ("a hunter2! b hunter2!hunter2!", "a ⟦masked⟧ b ⟦masked⟧⟦masked⟧"),
        ("hunter2 hunter", "hunter2 hunter"),
        ("huntehunter2!", "hunte⟦masked⟧"),
        ("?p=hunter2%21&q", "?p=⟦masked⟧&q"),
    ] {
        assert_eq!(masker.text(text), expected);
    }
    // The digits at both ends of base64 depend on the neighbours and may stay.
    let basic = masker.text("Basic dXNlcjpodW50ZXIyIQ==").into_owned();
    assert!(basic.contains(MASK) && !basic.contains("W50ZXIyI"), "{basic}");
}

#[test]
fn secrets_that_overlap_are_masked_as_one() {
    let masker = masker(["abcdef", "defghi", "abcdefgh", "xxxxxx"]);
    assert_eq!(masker.text("1abcdefghi2"), "1⟦masked⟧2");
    assert_eq!(masker.text(&format!("1{}2", "x".repeat(1000))), "1⟦masked⟧2");
    for cut in 0..12 {
        assert_eq!(in_pieces(&masker, b"1abcdefghi2", &[cut]), "1⟦masked⟧2".as_bytes());
    }
}

#[test]
fn only_what_may_be_a_secret_is_held_back() {
    let mut stream = masker(["hunter2!"]).stream();
    assert_eq!(stream.push(b"my pet hun"), b"my pet ");
    assert_eq!(stream.push(b"gry hunt"), b"hungry ");
    assert_eq!(stream.push(b"er2!."), "⟦masked⟧.".as_bytes());
    assert_eq!(stream.push(b"hunt"), b"");
    assert_eq!(stream.finish(), b"hunt");
}

#[test]
fn values_too_short_are_left_alone_and_too_much_is_refused() {
    assert_eq!(masker(["short", "", "masked"]).text("short ⟦masked⟧"), "short ⟦masked⟧");
    let error = Masker::new([Secret::new("x".repeat(SECRETS_BYTES_MAX + 1))]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the values of all secrets have 262145 bytes together, at most 262144 can be masked"
    );
}

fn secret() -> impl Strategy<Value = String> {
    prop_oneof!["[ab]{6,9}", "[a-c/\"<& \\\\é\n]{6,12}", "\\PC{6,20}"]
        .prop_filter("brackets are for the mask", |secret| {
            !secret.contains(['⟦', '⟧']) && !MASK.contains(secret)
        })
}

proptest! {
    #[test]
    fn a_secret_survives_no_chunking_in_no_spelling(
        secrets in prop::collection::vec(secret(), 1..4),
        parts in prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), prop_oneof![Just(String::new()), "[ab ]{0,8}"]),
            1..8,
        ),
        cuts in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        let masker = Masker::new(secrets.iter().map(Secret::new)).unwrap();
        let mut text = String::new();
        for (which, spelling, filler) in &parts {
            let spellings = spellings::of(&secrets[which.index(secrets.len())]);
            text.push_str(&spellings[spelling.index(spellings.len())]);
            text.push_str(filler);
        }
        let masked = masker.text(&text).into_owned();
        for spelling in secrets.iter().flat_map(|secret| spellings::of(secret)) {
            prop_assert!(!masked.contains(&spelling), "{spelling:?} is in {masked:?}");
        }
        prop_assert_eq!(masker.text(&masked), masked.as_str());
        let bytes = in_pieces(&masker, text.as_bytes(), &cuts);
        prop_assert_eq!(String::from_utf8(bytes).unwrap(), masked.as_str());

        let document: Value = json!({"a": [text.as_str()], text.as_str(): 1});
        let printed = masker.json(&document).to_string();
        for secret in &secrets {
            prop_assert!(!printed.contains(secret.as_str()), "{secret:?} is in {printed}");
        }
    }

    #[test]
    fn bytes_without_secrets_pass_unchanged(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        cuts in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        // Not UTF-8, so it cannot be a part of any text that the secret's spellings are.
        let masker = masker(["not-in-there-0123456789"]);
        prop_assert_eq!(in_pieces(&masker, &bytes, &cuts), bytes);
    }
}
