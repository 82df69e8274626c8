//! Entry points for fuzzing, of this crate and of those below it: [`TARGETS`] has them all by name.
//!
//! Each function reads arbitrary bytes the way they are read when others send them. It may panic only if something is
//! wrong.

use std::convert::Infallible;

use adjourn_api::{Answer, ArtifactChange, NewRoundtable, SettleCall};
use adjourn_runtime::fuzzing::{self as runtime, core, engine};
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, header};
use futures::stream;

use crate::compat::jobs;
use crate::extract::body;
use crate::extract::form::Form;
use crate::extract::local::{self, Reach};

/// A function that reads arbitrary bytes.
pub type Target = fn(&[u8]);

/// Every target by its name, which is also the name of the folder with its samples in `fuzz/seeds`.
pub const TARGETS: &[(&str, Target)] = &[
    ("acp_frames", engine::acp_frames),
    ("configuration", runtime::configuration),
    ("exec_output", engine::exec_output),
    ("http_bodies", http_bodies),
    ("journal", core::journal),
    ("masking", engine::masking),
    ("mcp_results", engine::mcp_results),
    ("message", core::message),
    ("model_stream", engine::model_stream),
    ("model_whole", engine::model_whole),
    ("multipart", multipart),
    ("recording", engine::recording),
    ("roundtable_files", runtime::roundtable_files),
    ("schema", core::schema),
    ("skill_package", runtime::skill_package),
    ("template", runtime::template),
    ("visible", core::visible_text),
];

/// The target of this name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().find(|(known, _)| *known == name).map(|(_, target)| *target)
}

/// Reads the body of every request that is JSON.
fn http_bodies(bytes: &[u8]) {
    let Ok(document) = body::parse(bytes) else { return };
    for reach in [Reach::ThisMachine, Reach::Elsewhere] {
        let _ = local::read(document.clone(), reach);
    }
    let _ = document.read::<NewRoundtable>();
    let _ = document.read::<Answer>();
    let _ = document.read::<SettleCall>();
    let _ = document.read::<ArtifactChange>();
    let _ = jobs::request::read(&document);
}

/// Reads the first line as the type of a body, and the rest as the body, which comes in small pieces.
fn multipart(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (kind, rest) = bytes.split_at(end);
    let Ok(kind) = HeaderValue::from_bytes(kind) else { return };
    let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, kind)]);
    let content = rest.get(1..).unwrap_or_default();
    let pieces: Vec<_> =
        content.chunks(32).map(|piece| Ok::<_, Infallible>(Bytes::copy_from_slice(piece))).collect();
    let Ok(mut form) = Form::new(&headers, Body::from_stream(stream::iter(pieces))) else { return };
    let clock = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let clock = clock.expect("a runtime without threads needs only memory");
    let read = clock.block_on(async {
        let mut read = 0;
        while let Some(_name) = form.next_part().await? {
            while let Some(chunk) = form.chunk().await? {
                read += chunk.len();
            }
        }
        Ok::<_, crate::Problem>(read)
    });
    if let Ok(read) = read {
        assert!(read <= content.len(), "a form grows as it is read");
    }
}
