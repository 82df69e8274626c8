//! The session file: a folder with everything about a roundtable, kept current while it goes on.
//!
//! `session.json` has all of it for programs, `session.md` the document for people. Each is written beside its place and
//! moved there, so that a reader never sees half of one. The journal is what counts: the files are only read from it.

use std::io::Write;
use std::path::Path;

use adjourn_core::RoundtableId;
use adjourn_core::machines::{RoundStep, RoundtableStatus};
use adjourn_core::roundtable::{Frame, FrameType, RoundtableView};
use anyhow::Context;

use super::export::fetch;
use crate::attach::Signals;
use crate::client::Client;
use crate::exit::Exit;
use crate::tail::{News, Tail};

/// The files, and the formats that they are exported as.
const FILES: [(&str, &str); 2] = [("session.json", "json"), ("session.md", "md")];

/// Keeps the files in `folder` current until the roundtable closes, or somebody wants this process to end.
pub(super) async fn follow(
    client: &mut Client<'_>,
    table: RoundtableView,
    folder: &Path,
) -> anyhow::Result<Exit> {
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let mut signals = Signals::new()?;
    let mut tail = Tail::from_now(table);
    write(client, tail.id(), folder).await?;
    loop {
        if tail.now().status == RoundtableStatus::Closed && !tail.is_behind() {
            anstream::eprintln!("the roundtable is closed, and {} is complete", folder.display());
            return Ok(Exit::Done);
        }
        let news = tokio::select! {
            news = tail.next(client) => news?,
            _ = signals.next() => {
                anstream::eprintln!("{} is as of the last round; the roundtable goes on", folder.display());
                return Ok(Exit::Left);
            }
        };
        let News::Frames(frames) = news else { continue };
        // Without a frame it has ended.
        if frames.is_empty() || frames.iter().any(changes_the_files) {
            write(client, tail.id(), folder).await?;
        }
    }
}

/// Whether a frame ends a round or changes what was written down. The steps within a round are not worth a file each.
fn changes_the_files(frame: &Frame) -> bool {
    match frame.kind {
        FrameType::StepChanged => frame.data["to"] == RoundStep::Recorded.name(),
        FrameType::Opened
        | FrameType::ArtifactChanged
        | FrameType::InputRequired
        | FrameType::ReplyAccepted
        | FrameType::Closed => true,
        FrameType::RoundStarted
        | FrameType::Answered
        | FrameType::Missing
        | FrameType::TopicChanged
        | FrameType::ConflictChanged
        | FrameType::QuestionChanged
        | FrameType::NextDecided
        | FrameType::EscalationRaised
        | FrameType::ResumeFallback => false,
    }
}

async fn write(client: &mut Client<'_>, id: RoundtableId, folder: &Path) -> anyhow::Result<()> {
    for (name, format) in FILES {
        let document = fetch(client, id, format).await?;
        let file = folder.join(name);
        put(folder, &file, &document).with_context(|| format!("{} cannot be written", file.display()))?;
    }
    Ok(())
}

/// Puts a file in the place of what was there before, whole or not at all.
fn put(folder: &Path, file: &Path, document: &[u8]) -> anyhow::Result<()> {
    let mut part = tempfile::NamedTempFile::new_in(folder)?;
    part.write_all(document)?;
    part.as_file().sync_all()?;
    part.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use adjourn_core::roundtable::Frame;
    use serde_json::json;

    use super::changes_the_files;

    #[test]
    fn the_files_are_written_after_each_round_and_each_change_and_not_in_between() {
        for (kind, data, expected) in [
            ("round.step.changed", json!({ "to": "recorded" }), true),
            ("round.step.changed", json!({ "to": "synthesis" }), false),
            ("artifact.changed", json!({ "change": "withdrawn" }), true),
            ("user.input.required", json!({}), true),
            ("interaction.reply.accepted", json!({}), true),
            ("roundtable.closed", json!({}), true),
            ("participant.answered", json!({}), false),
            ("next.decided", json!({}), false),
        ] {
            let frame: Frame = serde_json::from_value(json!({
                "protocol_version": "fcmp/1.0", "roundtable_id": "rt_01h455vb4pex5vsknk084sn02q", "seq": 1,
                "ts": "2026-01-01T00:00:00.000Z", "engine": "claude", "type": kind, "data": data,
                "meta": { "attempt": 1, "local_seq": 1 }, "raw_ref": null,
            }))
            .unwrap();
            assert_eq!(changes_the_files(&frame), expected, "{kind} {}", frame.data);
        }
    }
}
