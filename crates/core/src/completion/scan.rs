//! Finds the JSON objects in what a model wrote.
//!
//! A push-down automaton over bytes. It starts at a `{` and follows the JSON grammar strictly; at the first byte that
//! cannot continue, the whole candidate is given up and *that byte* is looked at again as prose. So no byte is looked
//! at more than twice, whatever the text, and an object inside a broken or truncated one never passes for a whole one.
//! The price: a stray `{"` in prose can hide an object that follows on the same line (a line break ends a string).

use std::ops::Range;

/// Nesting that is followed. `serde_json`, which parses what is found, gives up at the next level.
const DEPTH_MAX: u32 = 127;

/// The complete top-level objects of a text, in order, each as the range of its bytes.
#[derive(Debug)]
pub(super) struct Scan<'t> {
    text: &'t [u8],
    at: usize,
    /// How many times a byte was looked at, so that tests can show the bound without a clock.
    visits: usize,
}

impl<'t> Scan<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text: text.as_bytes(), at: 0, visits: 0 }
    }

    #[cfg(test)]
    pub(super) fn visits(&self) -> usize {
        self.visits
    }

    fn look(&mut self) -> Option<u8> {
        let byte = self.text.get(self.at).copied();
        self.visits += usize::from(byte.is_some());
        byte
    }
}

impl Iterator for Scan<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        while let Some(byte) = self.look() {
            self.at += 1;
            if byte != b'{' {
                continue;
            }
            let start = self.at - 1;
            let mut candidate = Candidate::new();
            while let Some(byte) = self.look() {
                match candidate.step(byte) {
                    Step::Goes => self.at += 1,
                    Step::Whole => {
                        self.at += 1;
                        return Some(start..self.at);
                    }
                    Step::Broken => break,
                }
            }
        }
        None
    }
}

/// What one more byte makes of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// It can still become an object.
    Goes,
    /// It is one, and this byte was its last.
    Whole,
    /// It can never be one.
    Broken,
}

/// What a candidate expects next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// After `{`.
    NameOrEnd,
    /// After `,` in an object.
    Name,
    /// After a name.
    Colon,
    /// After `:`, or after `,` in an array.
    Value,
    /// After `[`.
    ValueOrEnd,
    /// After a value.
    CommaOrEnd,
    /// Within a string that is a name or a value.
    Text(Role),
    /// After a backslash.
    Escape(Role),
    /// That many hex digits before the end of `\uXXXX`.
    Hex(Role, u8),
    /// The rest of `true`, `false` or `null`.
    Literal(&'static [u8]),
    /// Within a number.
    Number(Number),
}

/// What a string is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Name,
    Value,
}

/// What a number has so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Minus,
    Zero,
    Whole,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
}

impl Number {
    /// The number with one more byte, if it takes it.
    fn step(self, byte: u8) -> Option<Self> {
        match self {
            Self::Minus => match byte {
                b'0' => Some(Self::Zero),
                b'1'..=b'9' => Some(Self::Whole),
                _ => None,
            },
            Self::Zero | Self::Whole => match byte {
                b'0'..=b'9' if self == Self::Whole => Some(Self::Whole),
                b'.' => Some(Self::Point),
                b'e' | b'E' => Some(Self::Exponent),
                _ => None,
            },
            Self::Point | Self::Fraction => match byte {
                b'0'..=b'9' => Some(Self::Fraction),
                b'e' | b'E' if self == Self::Fraction => Some(Self::Exponent),
                _ => None,
            },
            Self::Exponent | Self::ExponentSign | Self::ExponentDigits => match byte {
                b'0'..=b'9' => Some(Self::ExponentDigits),
                b'+' | b'-' if self == Self::Exponent => Some(Self::ExponentSign),
                _ => None,
            },
        }
    }

    /// Whether it may end here.
    fn is_whole(self) -> bool {
        match self {
            Self::Zero | Self::Whole | Self::Fraction | Self::ExponentDigits => true,
            Self::Minus | Self::Point | Self::Exponent | Self::ExponentSign => false,
        }
    }
}

/// What may turn out to be an object, after its `{`.
#[derive(Debug)]
struct Candidate {
    state: State,
    depth: u32,
    /// One bit per open level, the innermost lowest: set for an array. A stack without an allocation.
    arrays: u128,
}

impl Candidate {
    fn new() -> Self {
        Self { state: State::NameOrEnd, depth: 1, arrays: 0 }
    }

    fn step(&mut self, byte: u8) -> Step {
        match self.state {
            State::NameOrEnd
            | State::Name
            | State::Colon
            | State::Value
            | State::ValueOrEnd
            | State::CommaOrEnd
                if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') =>
            {
                Step::Goes
            }
            State::NameOrEnd if byte == b'}' => self.close(),
            State::NameOrEnd | State::Name if byte == b'"' => self.go(State::Text(Role::Name)),
            State::NameOrEnd | State::Name => Step::Broken,
            State::Colon if byte == b':' => self.go(State::Value),
            State::Colon => Step::Broken,
            State::ValueOrEnd if byte == b']' => self.close(),
            State::Value | State::ValueOrEnd => self.value(byte),
            State::CommaOrEnd => match (byte, self.in_array()) {
                (b',', true) => self.go(State::Value),
                (b',', false) => self.go(State::Name),
                (b']', true) | (b'}', false) => self.close(),
                _ => Step::Broken,
            },
            State::Text(role) => self.text(role, byte),
            State::Escape(role) => self.escape(role, byte),
            State::Hex(role, left) => match (byte.is_ascii_hexdigit(), left) {
                (true, 1) => self.go(State::Text(role)),
                (true, left) => self.go(State::Hex(role, left - 1)),
                (false, _) => Step::Broken,
            },
            State::Literal(rest) => match rest {
                [last] if byte == *last => self.go(State::CommaOrEnd),
                [next, rest @ ..] if byte == *next => self.go(State::Literal(rest)),
                _ => Step::Broken,
            },
            State::Number(number) => match number.step(byte) {
                Some(number) => self.go(State::Number(number)),
                // Only its follower says that a number is over.
                None if number.is_whole() => {
                    self.state = State::CommaOrEnd;
                    self.step(byte)
                }
                None => Step::Broken,
            },
        }
    }

    fn text(&mut self, role: Role, byte: u8) -> Step {
        match byte {
            b'"' => self.go(match role {
                Role::Name => State::Colon,
                Role::Value => State::CommaOrEnd,
            }),
            b'\\' => self.go(State::Escape(role)),
            // Control characters have to be escaped; all others, of any language, are text.
            ..b' ' => Step::Broken,
            _ => Step::Goes,
        }
    }

    fn escape(&mut self, role: Role, byte: u8) -> Step {
        match byte {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.go(State::Text(role)),
            b'u' => self.go(State::Hex(role, 4)),
            _ => Step::Broken,
        }
    }

    fn value(&mut self, byte: u8) -> Step {
        match byte {
            b'{' => self.open(State::NameOrEnd, 0),
            b'[' => self.open(State::ValueOrEnd, 1),
            b'"' => self.go(State::Text(Role::Value)),
            b't' => self.go(State::Literal(b"rue")),
            b'f' => self.go(State::Literal(b"alse")),
            b'n' => self.go(State::Literal(b"ull")),
            b'-' => self.go(State::Number(Number::Minus)),
            b'0' => self.go(State::Number(Number::Zero)),
            b'1'..=b'9' => self.go(State::Number(Number::Whole)),
            _ => Step::Broken,
        }
    }

    fn go(&mut self, state: State) -> Step {
        self.state = state;
        Step::Goes
    }

    fn in_array(&self) -> bool {
        self.arrays & 1 == 1
    }

    fn open(&mut self, state: State, array: u128) -> Step {
        if self.depth == DEPTH_MAX {
            return Step::Broken;
        }
        self.depth += 1;
        self.arrays = self.arrays << 1 | array;
        self.go(state)
    }

    fn close(&mut self) -> Step {
        self.depth -= 1;
        self.arrays >>= 1;
        if self.depth == 0 { Step::Whole } else { self.go(State::CommaOrEnd) }
    }
}

#[cfg(test)]
mod tests;
