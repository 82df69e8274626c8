//! The id of a request: in its response, and in every line that is logged for it.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tracing::{Instrument, debug, debug_span, error};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Characters of an id that is taken from a client: enough for a UUID with a prefix.
const CHARS_MAX: usize = 64;

/// Gives a request its id, and logs what came of it. What is logged is the route and never the path, whose parameters
/// are the client's: not a body, not a header.
pub(crate) async fn identify(request: Request, next: Next) -> Response {
    let id = request.headers().get(REQUEST_ID).and_then(given).unwrap_or_else(make);
    let text = id.to_str().unwrap_or_default().to_owned();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    let span = debug_span!("request", request_id = text, method = %request.method(), route);
    let began = Instant::now();
    let mut response = next.run(request).instrument(span.clone()).await;
    let (status, latency_us) = (response.status(), began.elapsed().as_micros());
    span.in_scope(|| match status.is_server_error() {
        true => error!(status = status.as_u16(), latency_us, "answered"),
        false => debug!(status = status.as_u16(), latency_us, "answered"),
    });
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

/// The id that a client or a proxy gave, if it is one that can be logged as it is.
fn given(value: &HeaderValue) -> Option<HeaderValue> {
    let text = value.to_str().ok()?;
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
    ((1..=CHARS_MAX).contains(&text.len()) && text.chars().all(is_plain)).then(|| value.clone())
}

/// A new id: when this process began to count, and how far it counted. Nobody has to be unable to guess it.
fn make() -> HeaderValue {
    static BEGAN_MS: AtomicU64 = AtomicU64::new(0);
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    if BEGAN_MS.load(Ordering::Relaxed) == 0 {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX).max(1);
        // Whoever came first said when it began.
        let _ = BEGAN_MS.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    }
    let mut text = String::new();
    write!(text, "{:x}-{count:x}", BEGAN_MS.load(Ordering::Relaxed)).expect("a string takes what is written");
    HeaderValue::from_str(&text).expect("hexadecimal digits and a dash can be in a header")
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::{CHARS_MAX, given, make};

    #[test]
    fn ids_of_clients_are_taken_if_they_are_plain_and_others_are_made() {
        for plain in ["a", "7f3c-11ee", "proxy.1_2", &"x".repeat(CHARS_MAX)] {
            assert!(given(&HeaderValue::from_str(plain).unwrap()).is_some(), "{plain}");
        }
        for odd in ["", "a b", "a\"b", "run=1", &"x".repeat(CHARS_MAX + 1)] {
            assert!(given(&HeaderValue::from_str(odd).unwrap()).is_none(), "{odd}");
        }
        assert_ne!(make(), make());
    }
}
