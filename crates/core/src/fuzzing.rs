//! Entry points for fuzzing: each function reads arbitrary bytes the way the runtime reads them from others.
//!
//! A function may panic only if something is wrong. It checks what has to hold for every input besides.

use serde_json::Value;

use crate::fcmp::Header;
use crate::roundtable::{self, Roundtable, RoundtableView};
use crate::{
    Ask, Entry, Event, Evidence, Folding, InteractionView, Question, Record, RoundtableId, Run, RunId,
    RunView, Schema, Stream, StreamId, Timestamp, Trace, is_hidden, reply, visible, visible_line,
};

/// Reads each line as the payload of an entry of the journal: of a run, and of a roundtable.
pub fn journal(bytes: &[u8]) {
    let run = RunId::from_bits(1);
    run_journal(
        run,
        &entries(run.into(), bytes, |entry| {
            let events = Record::of(entry).ok()?.events;
            let begins_after = match events.first() {
                Some(Event::SetAside(set_aside)) => Some(set_aside.seq),
                Some(_) | None => None,
            };
            Some((begins_after, events.len()))
        }),
    );
    let table = RoundtableId::from_bits(1);
    roundtable_journal(
        table,
        &entries(table.into(), bytes, |entry| {
            let events = Record::<roundtable::Event>::of(entry).ok()?.events;
            let begins_after = match events.first() {
                Some(roundtable::Event::SetAside(set_aside)) => Some(set_aside.seq),
                Some(_) | None => None,
            };
            Some((begins_after, events.len()))
        }),
    );
}

/// The entries whose payloads are the lines, each in its place after the one before.
///
/// `measure` says where a stream begins again, and how many events an entry has.
fn entries(
    stream: StreamId,
    bytes: &[u8],
    measure: impl Fn(&Entry) -> Option<(Option<u64>, usize)>,
) -> Vec<Entry> {
    let at = Timestamp::from_millis(1_700_000_000_000);
    let mut seq = 0_u64;
    let payloads = bytes.split(|byte| *byte == b'\n').filter(|payload| !payload.is_empty());
    payloads
        .map(|payload| {
            let payload = payload.to_vec();
            let mut entry = Entry { stream, position: 0, seq, at, events: 1, last_frame: 0, payload };
            let (begins_after, events) = measure(&entry).unwrap_or((None, 1));
            entry.events = u32::try_from(events).unwrap_or(u32::MAX);
            seq = begins_after.unwrap_or(seq).saturating_add(u64::from(entry.events));
            entry.seq = seq;
            entry
        })
        .collect()
}

fn run_journal(id: RunId, entries: &[Entry]) {
    let mut folding = Folding::<Run>::new(id);
    let mut trace = Trace::default();
    for entry in entries {
        folding.add(entry);
        let _ = trace.add(entry);
        if let Ok(record) = Record::<Event>::of(entry) {
            record.frames(Header { run_id: id, engine: "fuzz" }, entry);
        }
    }
    trace.into_steps();
    if let Ok(Some(run)) = folding.finish() {
        show_run(&run);
    }
}

fn show_run(run: &Run) {
    run.rows();
    RunView::of(run);
    for interaction in run.interactions() {
        InteractionView::of(run, interaction);
        answer(&interaction.question);
    }
}

fn roundtable_journal(id: RoundtableId, entries: &[Entry]) {
    let mut folding = Folding::<Roundtable>::new(id);
    for entry in entries {
        folding.add(entry);
    }
    if let Ok(Some(table)) = folding.finish() {
        show_roundtable(&table, entries);
    }
}

fn show_roundtable(table: &Roundtable, entries: &[Entry]) {
    table.rows();
    RoundtableView::of(table);
    table.todo();
    let _ = roundtable::export_markdown(table);
    let _ = roundtable::export_json(table);
    for record in
        entries.iter().filter_map(|entry| Some((Record::<roundtable::Event>::of(entry).ok()?, entry)))
    {
        record.0.frames(table, record.1);
    }
}

/// Reads the last message of an agent: a result, a question, or prose.
pub fn message(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let schema = serde_json::json!({
        "type": "object", "properties": {"answer": {"type": "integer"}}, "required": ["answer"]
    });
    let schema = Schema::compile(&schema).expect("the schema above is right");
    for schema in [None, Some(&schema)] {
        let evidence = Evidence::read(&text, schema);
        if let Ask::Question(question) = &evidence.ask {
            answer(question);
        }
    }
}

/// Answers a question in every way that a form has.
fn answer(question: &Question) {
    let default = question.default_answer();
    for response in [Value::Null, true.into(), 1.into(), "text".into(), default] {
        let _ = reply::check(question, &response);
    }
}

/// Reads the first line as a JSON schema, and each further line as a document to be checked.
pub fn schema(bytes: &[u8]) {
    let mut values = bytes.split(|byte| *byte == b'\n').map(serde_json::from_slice::<Value>);
    let Some(Ok(schema)) = values.next() else { return };
    let Ok(schema) = Schema::compile(&schema) else { return };
    for document in values.flatten() {
        let _ = schema.check(&document);
    }
}

/// Shows a text to a person. Nothing that is shown is hidden, and showing it twice changes nothing.
pub fn visible_text(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let shown = visible(&text);
    let hidden = shown.chars().find(|char| is_hidden(*char) && !matches!(char, '\n' | '\t' | '\u{fe0f}'));
    assert_eq!(hidden, None, "a hidden character is shown as it is");
    assert_eq!(visible(&shown), shown, "what was shown changes when it is shown again");
    let line = visible_line(&text);
    let hidden = line.chars().find(|char| is_hidden(*char) && *char != '\u{fe0f}');
    assert_eq!(hidden, None, "a hidden character is shown as it is on a line");
}
