//! The server: routes, and one request from its bytes to its answer.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::body::{self, Body};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::answer::{Answer, Frame};
use super::conversation::Conversation;
use super::progress::{Next, Progress};
use super::requests::{Outcome, Recorded, Requests};
use super::script::{Fault, Reply, Script};
use super::stream::{self, Sending};
use super::wire::Wire;
use super::{anthropic, chat, gemini, responses, side};
use crate::agents;

/// The longest request that is read. Agents send their whole conversation and all their tools, some hundred kilobytes.
const REQUEST_BYTES_MAX: usize = 64 << 20;

/// A scripted model that listens on loopback until it is dropped.
///
/// It has a thread and a runtime of its own, so it goes on while a test blocks, and is not fooled by paused time.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    requests: Arc<Requests>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Starts a server on a free port.
    pub fn start(script: Script) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        let requests = Arc::new(Requests::default());
        let model = Arc::new(Model {
            progress: Mutex::new(Progress::new(script)),
            requests: Arc::clone(&requests),
            answers: AtomicUsize::new(0),
        });
        let (stop, stopped) = oneshot::channel::<()>();
        let serve = move || {
            runtime.block_on(async move {
                let router = Router::new().fallback(answer).with_state(model);
                // Not a graceful shutdown, which would wait for a stalled stream for ever.
                tokio::select! {
                    _ = axum::serve(listener, router) => {}
                    _ = stopped => {}
                }
            });
        };
        let thread = std::thread::Builder::new().name("scripted-model".to_owned()).spawn(serve)?;
        Ok(ModelServer { address, requests, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT`, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far, in the order in which they were answered.
    pub fn requests(&self) -> Vec<Recorded> {
        self.requests.all()
    }

    /// What became of the requests of the conversation, without those on the side.
    pub fn outcomes(&self) -> Vec<Outcome> {
        let all = self.requests.all().into_iter().map(|recorded| recorded.outcome);
        all.filter(|outcome| matches!(outcome, Outcome::Reply(_) | Outcome::Refused(_))).collect()
    }

    /// Blocks until there is a request like that; none if there is none in time.
    pub fn wait_for(&self, wanted: impl Fn(&Recorded) -> bool, timeout: Duration) -> Option<Recorded> {
        self.requests.wait_for(wanted, timeout)
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic in there has already been reported on stderr, and a second one would hide the test's own.
            let _ = thread.join();
        }
    }
}

/// What all requests share.
struct Model {
    progress: Mutex<Progress>,
    requests: Arc<Requests>,
    /// How many answers were given, for their ids.
    answers: AtomicUsize,
}

async fn answer(State(model): State<Arc<Model>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = body::to_bytes(body, REQUEST_BYTES_MAX).await.unwrap_or_default();
    let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let path = parts.uri.path();
    let mut format = None;
    let (response, outcome) = match Route::of(parts.method.as_str(), path) {
        Route::Generate { wire, model: name, stream } => {
            let mut read = (wire.read)(&body);
            read.model = name.map_or(read.model, ToOwned::to_owned);
            read.stream |= stream;
            format = Some(wire.name);
            model.generate(wire, read)
        }
        Route::Count => (json_response(200, &json!({"input_tokens": 1, "totalTokens": 1})), Outcome::Served),
        Route::Models => (json_response(200, &models()), Outcome::Served),
        Route::Unknown => {
            let message = format!("the scripted model does not serve {} {path}", parts.method);
            (json_response(404, &chat::error(404, &message)), Outcome::Served)
        }
    };
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    model.requests.push(Recorded {
        format,
        method: parts.method.to_string(),
        path: parts.uri.path_and_query().map_or_else(|| path.to_owned(), ToString::to_string),
        headers: parts.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect(),
        body,
        outcome,
    });
    response
}

/// What a path asks for.
enum Route<'a> {
    /// The model is to say something.
    Generate {
        wire: &'static Wire,
        model: Option<&'a str>,
        stream: bool,
    },
    /// How many tokens that would be.
    Count,
    /// Which models there are.
    Models,
    Unknown,
}

impl<'a> Route<'a> {
    fn of(method: &str, path: &'a str) -> Self {
        let generate = |wire| Route::Generate { wire, model: None, stream: false };
        match (method, path) {
            ("POST", "/v1/messages") => generate(&anthropic::WIRE),
            ("POST", "/v1/responses") => generate(&responses::WIRE),
            ("POST", "/v1/chat/completions") => generate(&chat::WIRE),
            ("POST", "/v1/messages/count_tokens") => Route::Count,
            ("GET", "/v1/models" | "/v1beta/models") => Route::Models,
            ("POST", path) => Route::of_gemini(path).unwrap_or(Route::Unknown),
            _ => Route::Unknown,
        }
    }

    /// `/v1beta/models/MODEL:METHOD`, and the same below `/v1`.
    fn of_gemini(path: &'a str) -> Option<Self> {
        let (_version, call) = path.trim_start_matches('/').split_once("/models/")?;
        let (model, method) = call.rsplit_once(':')?;
        let generate = |stream| Route::Generate { wire: &gemini::WIRE, model: Some(model), stream };
        match method {
            "streamGenerateContent" => Some(generate(true)),
            "generateContent" => Some(generate(false)),
            "countTokens" => Some(Route::Count),
            _ => None,
        }
    }
}

impl Model {
    fn generate(self: &Arc<Self>, wire: &'static Wire, request: Conversation) -> (Response, Outcome) {
        if let Some(purpose) = side::purpose(&request) {
            let response = self.say(wire, &request, &side::reply(), None, Box::new(|| ()));
            return (response, Outcome::Side(purpose.to_owned()));
        }
        let next = self.progress.lock().unwrap_or_else(PoisonError::into_inner).next(&request);
        match next {
            Next::Refused(problem) => {
                (json_response(400, &(wire.error)(400, &problem)), Outcome::Refused(problem))
            }
            Next::Reply { index, reply, fault: Some(Fault::Status(status)) } => {
                let message = format!("the script answers with status {status} here");
                let mut response = json_response(status, &(wire.error)(status, &message));
                let when = reply.retry_after.and_then(|when| HeaderValue::try_from(when).ok());
                response.headers_mut().extend(when.map(|when| (RETRY_AFTER, when)));
                (response, Outcome::Reply(index))
            }
            Next::Reply { index, fault: Some(Fault::TooLong), .. } => {
                (json_response(400, &(wire.too_long)()), Outcome::Reply(index))
            }
            Next::Reply { index, reply, fault } => {
                let (this, told) = (Arc::clone(self), request.clone());
                let done = move || {
                    this.progress.lock().unwrap_or_else(PoisonError::into_inner).sent(index, &told);
                };
                (self.say(wire, &request, &reply, fault, Box::new(done)), Outcome::Reply(index))
            }
        }
    }

    fn say(
        &self,
        wire: &Wire,
        request: &Conversation,
        reply: &Reply,
        fault: Option<Fault>,
        done: Box<dyn FnOnce() + Send>,
    ) -> Response {
        let answer = Answer::new(self.answers.fetch_add(1, Ordering::Relaxed), reply, request);
        let delay = Duration::from_millis(reply.delay_ms);
        let (kind, frames) = if request.stream {
            ("text/event-stream", (wire.frames)(&answer))
        } else {
            ("application/json", stream::in_one_piece((wire.whole)(&answer).to_string()))
        };
        let error = Frame::named(&(wire.error)(529, "the script has no capacity here"));
        response(200, kind, stream::body(Sending { frames, delay, fault, error, done }))
    }
}

/// The list of models, in the words of OpenAI and Anthropic, and empty in those that Codex has for itself.
fn models() -> Value {
    let model = |id: &str| json!({"id": id, "type": "model", "object": "model", "display_name": id});
    json!({"object": "list", "data": [model(agents::MODEL), model(agents::SIDE_MODEL)], "models": []})
}

fn json_response(status: u16, body: &Value) -> Response {
    response(status, "application/json", Body::from(body.to_string()))
}

fn response(status: u16, kind: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    // A script may ask for a status that there is not.
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
