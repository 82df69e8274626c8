use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use futures::stream;

use super::{Form, HEAD_BYTES_MAX, parameter};
use crate::problem::Problem;

/// The parts of a body that comes in pieces of this many bytes.
async fn parts(body: &[u8], piece: usize) -> Result<Vec<(String, Vec<u8>)>, Problem> {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, "multipart/form-data; boundary=\"b b\"".parse().unwrap());
    let pieces: Vec<_> =
        body.chunks(piece).map(|piece| Ok::<_, std::io::Error>(Bytes::copy_from_slice(piece))).collect();
    let mut form = Form::new(&headers, Body::from_stream(stream::iter(pieces)))?;
    let mut parts = Vec::new();
    while let Some(name) = form.next_part().await? {
        let mut content = Vec::new();
        while let Some(chunk) = form.chunk().await? {
            assert!(!chunk.is_empty());
            content.extend_from_slice(&chunk);
        }
        parts.push((name, content));
    }
    assert_eq!(form.next_part().await, Ok(None), "the end stays the end");
    Ok(parts)
}

#[tokio::test]
async fn a_form_is_the_same_however_it_comes() {
    let body = b"before\r\n--b b\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n{}\r\n--b b  \r\n\
                 X: y\r\ncontent-disposition: form-data; filename=\"; name=x\\\"; name=\"a\xc3\xa4\"\r\n\r\n\
                 \r\n--b \r\n-\r\n\r\n--b b\r\nContent-Disposition: FORM-DATA; name=empty\r\n\r\n\r\n--b b--after";
    let expected = [("request", &b"{}"[..]), ("aä", b"\r\n--b \r\n-\r\n"), ("empty", b"")];
    let expected = expected.map(|(name, content)| (name.to_owned(), content.to_vec()));
    for piece in 1..body.len() {
        assert_eq!(parts(body, piece).await.unwrap(), expected, "in pieces of {piece}");
    }
}

#[tokio::test]
async fn parts_that_were_not_read_are_passed_over() {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, "multipart/form-data; boundary=b".parse().unwrap());
    let head = "Content-Disposition: form-data; name=";
    let body = format!("--b\r\n{head}one\r\n\r\nunread\r\n--b\r\n{head}two\r\n\r\n2\r\n--b--");
    let mut form = Form::new(&headers, Body::from(body)).unwrap();
    assert_eq!(form.next_part().await.unwrap().as_deref(), Some("one"));
    assert_eq!(form.next_part().await.unwrap().as_deref(), Some("two"));
    assert_eq!(form.chunk().await.unwrap().unwrap(), "2");
}

#[tokio::test]
async fn what_is_no_form_is_said() {
    let head = "Content-Disposition: form-data; name=x";
    for (body, expected) in [
        (String::new(), "it ends in the middle"),
        ("--b b".to_owned(), "it ends in the middle"),
        (format!("--b b\r\n{head}\r\n\r\ncontent"), "it ends in the middle"),
        ("--b b\r\n\r\ncontent\r\n--b b--".to_owned(), "each part should have"),
        (
            "--b b\r\nContent-Disposition: attachment; name=x\r\n\r\n\r\n--b b--".to_owned(),
            "each part should have",
        ),
        (format!("--b b\r\n{}", "x".repeat(2 * HEAD_BYTES_MAX)), "the head of a part has at most"),
    ] {
        let problem = format!("{:?}", parts(body.as_bytes(), 1000).await.unwrap_err());
        assert!(problem.contains(&format!("the body is not a form: {expected}")), "{body:?}: {problem}");
    }
    for kind in ["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; charset=x"] {
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, kind.parse().unwrap())]);
        assert!(Form::new(&headers, Body::empty()).is_err(), "{kind}");
    }
}

#[test]
fn parameters_may_be_quoted() {
    let text = r#"form-data; a="1; b=2"; B=3 ;c="4%22\"; d=5"#;
    let expected = [("a", "1; b=2"), ("b", "3"), ("c", "4\"\\"), ("d", "5")];
    for (name, value) in expected {
        assert_eq!(parameter(text, name).as_deref(), Some(value), "{name}");
    }
    assert_eq!(parameter(text, "e"), None);
    assert_eq!(parameter("form-data; a=\"open", "a"), None);
}
