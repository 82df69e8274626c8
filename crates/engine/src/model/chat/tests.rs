//! Chunks as servers send them, in all their variety.

use adjourn_core::Usage;
use serde_json::{Value, json};

use super::WIRE;
use crate::model::conversation::ToolUse;
use crate::model::reply::{Delta, Reply, Stop};
use crate::model::wire::Bad;
use crate::model::{ARGUMENTS_BYTES_MAX, CALLS_MAX};

/// A chunk with this delta.
fn chunk(delta: Value) -> Value {
    json!({"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn end(reason: &str) -> Value {
    json!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn read(chunks: &[Value]) -> (Vec<Delta>, Reply) {
    let mut reader = (WIRE.reader)();
    let shown = chunks.iter().filter_map(|chunk| reader.take(&chunk.to_string()).unwrap()).collect();
    assert!(reader.is_complete());
    (shown, (WIRE.reply)(reader.whole()).unwrap())
}

fn calls_in(pieces: &[Value]) -> Vec<ToolUse> {
    let chunks = pieces.iter().map(|piece| chunk(json!({"tool_calls": [piece]})));
    read(&chunks.chain([end("tool_calls")]).collect::<Vec<_>>()).1.calls
}

fn call(id: &str, name: &str, arguments: Value) -> ToolUse {
    ToolUse { id: id.to_owned(), name: name.to_owned(), arguments }
}

#[test]
fn chunks_add_up_to_the_completion_they_stand_for() {
    let usage =
        json!({"id": "c", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "cost": 0.5}});
    let (shown, reply) = read(&[
        chunk(json!({"role": "assistant", "content": ""})),
        chunk(json!({"role": "assistant", "reasoning_content": "Hm"})),
        chunk(json!({"role": "assistant", "content": "Grü", "new_field": {"a": "x"}})),
        chunk(json!({"role": "assistant", "content": "ezi", "new_field": {"a": "y"}})),
        end("stop"),
        usage,
    ]);
    let expected = ["Hm", "Grü", "ezi"];
    assert_eq!(
        shown,
        [
            Delta::Reasoning(expected[0].to_owned()),
            Delta::Text(expected[1].to_owned()),
            Delta::Text(expected[2].to_owned())
        ]
    );
    assert_eq!(
        reply,
        Reply {
            text: "Grüezi".to_owned(),
            reasoning: "Hm".to_owned(),
            calls: Vec::new(),
            stop: Stop::Finished,
            usage: Some(Usage { input_tokens: 3, output_tokens: 2, cost_usd: Some(0.5) }),
            raw: json!({
                "id": "c",
                "choices": [{
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": "Grüezi",
                        "reasoning_content": "Hm",
                        "new_field": {"a": "xy"},
                    },
                    "finish_reason": "stop",
                }],
                "usage": {"prompt_tokens": 3, "completion_tokens": 2, "cost": 0.5},
            }),
        }
    );
}

#[test]
fn calls_are_told_apart_however_a_server_numbers_them() {
    let named = |id: &str, name: &str, arguments: &str| json!({"id": id, "function": {"name": name, "arguments": arguments}});
    let with = |mut piece: Value, index: u32| {
        piece["index"] = json!(index);
        piece
    };
    let rest = |arguments: &str| json!({"function": {"arguments": arguments}});
    let expected = [call("a", "f", json!({"n": 1})), call("b", "g", json!({}))];
    // OpenAI's own: numbered, interleaved, in pieces.
    let numbered = [
        with(named("a", "f", ""), 0),
        with(named("b", "g", "{"), 1),
        with(rest("{\"n\""), 0),
        with(rest("}"), 1),
        with(rest(":1}"), 0),
    ];
    assert_eq!(calls_in(&numbered), expected);
    // Without numbers, one after the other.
    assert_eq!(calls_in(&[named("a", "f", "{\"n\""), rest(":1}"), named("b", "g", "")]), expected);
    // All with the same number.
    assert_eq!(calls_in(&[with(named("a", "f", "{\"n\":1}"), 0), with(named("b", "g", ""), 0)]), expected);
    // With the id and name repeated in every piece.
    assert_eq!(
        calls_in(&[
            with(named("a", "f", "{\"n\""), 0),
            with(named("a", "f", ":1}"), 0),
            with(named("b", "g", ""), 1)
        ]),
        expected
    );
    // Without ids, as objects.
    let object = json!({"index": 0, "function": {"name": "f", "arguments": {"n": 1}}});
    assert_eq!(calls_in(&[object]), [call("call_0", "f", json!({"n": 1}))]);
}

#[test]
fn arguments_that_are_no_json_are_kept_for_the_model_to_see() {
    let piece = json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"n\": "}});
    assert_eq!(calls_in(&[piece]), [call("a", "f", json!("{\"n\": "))]);
}

#[test]
fn a_reason_to_stop_that_nobody_knows_is_kept() {
    let stop = |reason| read(&[chunk(json!({"content": "x"})), end(reason)]).1.stop;
    assert_eq!(stop("length"), Stop::Length);
    assert_eq!(stop("content_filter"), Stop::Refused);
    assert_eq!(stop("insufficient_system_resource"), Stop::Other("insufficient_system_resource".to_owned()));
    let (_, refused) =
        read(&[chunk(json!({"refusal": "I will "})), chunk(json!({"refusal": "not."})), end("stop")]);
    assert_eq!((refused.stop, refused.text.as_str()), (Stop::Refused, "I will not."));
}

#[test]
fn too_many_calls_and_too_long_arguments_are_refused_while_they_come() {
    let mut reader = (WIRE.reader)();
    let mut taken = (0..).map(|index| {
        let piece =
            json!({"index": index, "id": index.to_string(), "function": {"name": "f", "arguments": "{}"}});
        reader.take(&chunk(json!({"tool_calls": [piece]})).to_string())
    });
    assert_eq!(taken.by_ref().take(CALLS_MAX).filter(Result::is_ok).count(), CALLS_MAX);
    assert!(matches!(taken.next(), Some(Err(Bad::TooMuch(_)))));

    let mut reader = (WIRE.reader)();
    let piece =
        json!({"index": 0, "function": {"name": "f", "arguments": "x".repeat(ARGUMENTS_BYTES_MAX / 2)}});
    let piece = chunk(json!({"tool_calls": [piece]})).to_string();
    assert!(reader.take(&piece).is_ok() && reader.take(&piece).is_ok());
    assert!(matches!(reader.take(&piece), Err(Bad::TooMuch(_))));
}

#[test]
fn nonsense_is_told_from_an_error_and_from_what_is_merely_odd() {
    let mut reader = (WIRE.reader)();
    assert!(matches!(reader.take("{no"), Err(Bad::Nonsense(_))));
    assert!(matches!(reader.take("3"), Err(Bad::Nonsense(_))));
    assert!(matches!(reader.take(r#"{"error": {"message": "x"}}"#), Err(Bad::Error(_))));
    for odd in [
        "{}",
        r#"{"choices": null}"#,
        r#"{"choices": [{}]}"#,
        r#"{"choices": [{"delta": {"tool_calls": 3}}]}"#,
    ] {
        assert_eq!(reader.take(odd), Ok(None), "{odd}");
    }
    assert!(!reader.is_complete());
    assert_eq!(reader.take("[DONE]"), Ok(None));
    assert!(reader.is_complete());
    assert!((WIRE.reply)(json!({"choices": []})).is_err());
}
