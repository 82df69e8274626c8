//! Requests for a run: JSON alone, or a form with files.

use adjourn_api::Code;
use adjourn_api::read::Document;
use adjourn_runtime::workspace::{Incoming, UPLOAD_BYTES_MAX, UPLOADS_MAX};
use axum::extract::{FromRequest, Request};
use tokio::fs::File;
use tokio::io::AsyncWriteExt;

use crate::extract::body::{self, BODY_BYTES_MAX, Kind};
use crate::extract::form::Form;
use crate::problem::Problem;
use crate::server::Server;

/// The part of a form that is the request itself.
const REQUEST_PART: &str = "request";

/// A request for a run.
pub(crate) struct Sent {
    pub(crate) document: Document,
    /// The files that came with it. They are gone when this is.
    pub(crate) files: Option<Incoming>,
}

impl FromRequest<Server> for Sent {
    type Rejection = Problem;

    async fn from_request(request: Request, server: &Server) -> Result<Self, Problem> {
        match body::kind(request.headers(), &[Kind::Json, Kind::Form])? {
            Kind::Json => {
                let body::Parsed(document) = body::Parsed::from_request(request, server).await?;
                Ok(Self { document, files: None })
            }
            Kind::Form => {
                let (head, body) = request.into_parts();
                read(Form::new(&head.headers, body)?, server).await
            }
        }
    }
}

async fn read(mut form: Form, server: &Server) -> Result<Sent, Problem> {
    let mut files = server.blocking(|service| Ok(service.incoming()?)).await?;
    let mut document = None;
    while let Some(name) = form.next_part().await? {
        if name == REQUEST_PART {
            if document.replace(request_part(&mut form).await?).is_some() {
                return Err(Problem::new(Code::BadForm, "the part `request` is there twice"));
            }
        } else if files.uploads().len() < UPLOADS_MAX {
            file_part(&mut form, name, &mut files).await?;
        } else {
            let detail = format!("a request comes with at most {UPLOADS_MAX} files");
            return Err(Problem::new(Code::BodyTooLarge, detail));
        }
    }
    let missing = || Problem::new(Code::BadForm, "the part `request` is missing: it says what to run");
    Ok(Sent { document: document.ok_or_else(missing)?, files: Some(files) })
}

async fn request_part(form: &mut Form) -> Result<Document, Problem> {
    let mut bytes = Vec::new();
    while let Some(chunk) = form.chunk().await? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > BODY_BYTES_MAX {
            let detail = format!("the part `request` has at most {BODY_BYTES_MAX} bytes");
            return Err(Problem::new(Code::BodyTooLarge, detail));
        }
    }
    body::parse(&bytes)
}

async fn file_part(form: &mut Form, name: String, files: &mut Incoming) -> Result<(), Problem> {
    let too_large = || {
        let detail = format!("`{name}` has more than the {UPLOAD_BYTES_MAX} bytes that a file may have");
        Problem::new(Code::BodyTooLarge, detail)
    };
    let failed = |error| Problem::new(Code::WorkspaceFailed, format!("keeping an upload failed: {error}"));
    let mut file = File::from_std(files.add(name.clone())?);
    let mut left = UPLOAD_BYTES_MAX;
    while let Some(chunk) = form.chunk().await? {
        left = left.checked_sub(chunk.len() as u64).ok_or_else(too_large)?;
        file.write_all(&chunk).await.map_err(failed)?;
    }
    file.flush().await.map_err(failed)
}
