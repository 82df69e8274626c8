use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use serde_json::Value;

use super::Interpreter;
use crate::exec::presets::Preset;
use crate::exec::used::Used;
use crate::lines::Line;

/// JSON in the words that agents use, but in any order and with any type.
fn events() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("type"),
        Just("result"),
        Just("assistant"),
        Just("message"),
        Just("content"),
        Just("text"),
        Just("item"),
        Just("item.completed"),
        Just("agent_message"),
        Just("turn.completed"),
        Just("usage"),
        Just("input_tokens"),
        Just("part"),
        Just("tokens"),
        Just("cache"),
        Just("read"),
        Just("input"),
        Just("step_finish"),
        Just("init"),
        Just("session_id"),
        Just("adjourn"),
        Just("handle"),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((word.clone(), inner), 0..6).prop_map(|fields| fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_an_agent_prints_can_be_read(events in proptest::collection::vec(events(), 0..8)) {
        for preset in [Preset::Claude, Preset::Codex, Preset::Gemini, Preset::Opencode, Preset::Command] {
            let mut interpreter = Interpreter::new(preset.profile().output, 1, Used::default());
            for event in &events {
                let bytes = event.to_string().into_bytes();
                interpreter.read(&Line { from: 0, to: bytes.len() as u64, bytes: Some(bytes) });
            }
            interpreter.finish();
        }
    }
}
