//! Signs what is sent, so that the receiver knows it from what anybody else sends.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// How a secret begins.
const SECRET_MARK: &str = "whsec_";

/// Bytes of a secret, as the convention has it.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// What deliveries are signed with.
pub(super) struct Key(Vec<u8>);

impl Key {
    /// The key that a secret holds: `whsec_` and its bytes in Base64.
    pub(super) fn read(secret: &str) -> Option<Self> {
        let bytes = STANDARD.decode(secret.trim().strip_prefix(SECRET_MARK)?).ok()?;
        SECRET_BYTES.contains(&bytes.len()).then_some(Self(bytes))
    }

    /// What the header `webhook-signature` holds.
    pub(super) fn sign(&self, id: &str, timestamp_sec: i64, body: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of any length will do for this");
        mac.update(format!("{id}.{timestamp_sec}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn a_signature_is_what_the_published_example_says() {
        let key = Key::read("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signed = key.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn what_is_no_secret_is_no_key() {
        let long = format!("whsec_{}", "A".repeat(88));
        for wrong in
            ["", "hunter2", "whsec_", "whsec_AAAA", "whsec_***", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", &long]
        {
            assert!(Key::read(wrong).is_none(), "{wrong}");
        }
    }
}
