//! Reads a table of the file, with what the environment overrides in it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::str::FromStr;

use adjourn_core::UnknownName;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::document::{Document, Found};
use super::problem::Place;
use crate::Severity;
use crate::nearest::hint;

/// A table that is being read. Every key that is asked for is known; the rest is [unknown](Self::finish).
pub(super) struct Reader<'a> {
    pub(super) document: &'a Document<'a>,
    /// The keys that lead to it.
    path: String,
    /// None for a table that is not in the file: variables may still set something in it.
    table: Option<&'a DeTable<'a>>,
    at: usize,
    known: RefCell<Vec<&'static str>>,
}

impl<'a> Reader<'a> {
    pub(super) fn root(document: &'a Document<'a>, table: &'a DeTable<'a>) -> Self {
        Self { document, path: String::new(), table: Some(table), at: 0, known: RefCell::default() }
    }

    fn nested(&self, path: String, value: Option<&'a Spanned<DeValue<'a>>>) -> Self {
        let table = value.and_then(|value| match value.get_ref() {
            DeValue::Table(table) => Some(table),
            other => {
                self.wrong_type(&path, value.span().start, "a table", other);
                None
            }
        });
        let at = value.map_or(self.at, |value| value.span().start);
        Self { document: self.document, path, table, at, known: RefCell::default() }
    }

    pub(super) fn is_there(&self) -> bool {
        self.table.is_some()
    }

    /// Whether `key` is set at all, rightly or not.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entry(key).is_some() || self.document.variables.contains_key(&variable_of(&self.path_of(key)))
    }

    /// The names of the tables under `key`, whatever is wrong with them.
    pub(super) fn names(&self, key: &str) -> Vec<String> {
        let table = self.entry(key).and_then(|(_, value)| value.get_ref().as_table());
        table.into_iter().flatten().map(|(name, _)| name.get_ref().to_string()).collect()
    }

    /// The table under `key`.
    pub(super) fn table(&self, key: &'static str) -> Self {
        self.nested(self.path_of(key), self.get(key))
    }

    /// The tables under `key`, by names that the user chose.
    pub(super) fn tables(&self, key: &'static str) -> Vec<(String, Self)> {
        let parent = self.table(key);
        let members = parent.table.into_iter().flatten();
        members
            .map(|(name, value)| {
                let name = name.get_ref().to_string();
                let reader = parent.nested(parent.path_of(&name), Some(value));
                if !is_name(&name) {
                    reader.error_here("a name has only letters, digits, `-`, `_` and `.`");
                }
                (name, reader)
            })
            .collect()
    }

    /// The values under `key`, by names that the user chose.
    pub(super) fn named_map<T>(
        &self,
        key: &'static str,
        read: impl Fn(&Reader<'a>, &str, Found<&'a DeValue<'a>>) -> Option<T>,
    ) -> BTreeMap<String, T> {
        let parent = self.table(key);
        let members = parent.table.into_iter().flatten();
        members
            .filter_map(|(name, value)| {
                let name = name.get_ref().to_string();
                let read = read(&parent, &name, self.found(parent.path_of(&name), value))?;
                Some((name, read))
            })
            .collect()
    }

    pub(super) fn string(&self, key: &'static str) -> Option<Found<String>> {
        if let Some(found) = self.variable(key) {
            return Some(found);
        }
        let value = self.get(key)?;
        self.text(self.found(self.path_of(key), value))
    }

    pub(super) fn text(&self, found: Found<&DeValue<'a>>) -> Option<Found<String>> {
        match found.value {
            DeValue::String(text) => Some(found.with(text.to_string())),
            other => {
                found.error(self.document, expected("a string", other));
                None
            }
        }
    }

    pub(super) fn strings(&self, key: &'static str) -> Option<Found<Vec<String>>> {
        let list = self.found(self.path_of(key), self.get(key)?);
        let DeValue::Array(items) = list.value else {
            list.error(self.document, expected("a list of strings", list.value));
            return None;
        };
        let texts = items.iter().filter_map(|item| {
            let found = self.text(self.found(list.key.clone(), item))?;
            Some(found.value)
        });
        Some(list.with(texts.collect()))
    }

    /// The tables in the list under `key`.
    pub(super) fn list(&self, key: &'static str) -> Vec<Self> {
        let Some(value) = self.get(key) else { return Vec::new() };
        let list = self.found(self.path_of(key), value);
        let DeValue::Array(items) = list.value else {
            list.error(self.document, expected("a list of tables", list.value));
            return Vec::new();
        };
        items.iter().map(|item| self.nested(list.key.clone(), Some(item))).collect()
    }

    /// The names in the list under `key`.
    pub(super) fn names_in<T>(&self, key: &'static str) -> Vec<T>
    where
        T: FromStr<Err = UnknownName>,
    {
        let Some(found) = self.strings(key) else { return Vec::new() };
        let names = found.value.iter().filter_map(|name| match name.parse() {
            Ok(value) => Some(value),
            Err(UnknownName { given, known }) => {
                let hint = hint(&given, known.iter().copied());
                found.error(self.document, format!("unknown value `{given}`{hint}"));
                None
            }
        });
        names.collect()
    }

    pub(super) fn named<T>(&self, key: &'static str) -> Option<Found<T>>
    where
        T: FromStr<Err = UnknownName>,
    {
        let found = self.string(key)?;
        match found.value.parse() {
            Ok(value) => Some(found.with(value)),
            Err(UnknownName { given, known }) => {
                let hint = hint(&given, known.iter().copied());
                found.error(self.document, format!("unknown value `{given}`{hint}"));
                None
            }
        }
    }

    pub(super) fn number(&self, key: &'static str, range: RangeInclusive<u32>) -> Option<Found<u32>> {
        if let Some(found) = self.variable(key) {
            let number = found.value.parse().ok();
            return self.within(&found.with(number), range, "it is not a whole number in that range");
        }
        let found = self.found(self.path_of(key), self.get(key)?);
        self.integer(found, range)
    }

    pub(super) fn integer(
        &self,
        found: Found<&DeValue<'a>>,
        range: RangeInclusive<u32>,
    ) -> Option<Found<u32>> {
        let DeValue::Integer(digits) = found.value else {
            found.error(self.document, expected("a whole number", found.value));
            return None;
        };
        let number = u32::from_str_radix(digits.as_str(), digits.radix()).ok();
        self.within(&found.with(number), range, &format!("it is {digits}"))
    }

    /// An amount of something, which may have a fraction and is never less than nothing.
    pub(super) fn amount(&self, key: &'static str) -> Option<Found<f64>> {
        let found = match self.variable(key) {
            Some(found) => found,
            None => {
                let found = self.found(self.path_of(key), self.get(key)?);
                let text = match found.value {
                    DeValue::Integer(digits) if digits.radix() == 10 => digits.as_str(),
                    DeValue::Float(digits) => digits.as_str(),
                    other => {
                        found.error(self.document, expected("a number", other));
                        return None;
                    }
                };
                found.with(text.to_owned())
            }
        };
        match found.value.parse() {
            Ok(amount) if f64::is_finite(amount) && amount >= 0.0 => Some(found.with(amount)),
            Ok(_) | Err(_) => {
                found.error(self.document, format!("should be a number from 0 on, it is {}", found.value));
                None
            }
        }
    }

    fn within<T: Copy + Into<Option<u32>>>(
        &self,
        found: &Found<T>,
        range: RangeInclusive<u32>,
        is: &str,
    ) -> Option<Found<u32>> {
        match found.value.into() {
            Some(number) if range.contains(&number) => Some(found.with(number)),
            Some(_) | None => {
                let (least, most) = range.into_inner();
                found.error(self.document, format!("should be from {least} to {most}, {is}"));
                None
            }
        }
    }

    /// Says that a required key is missing. One that is there but wrong was spoken of already.
    pub(super) fn missing(&self, key: &str, why: &str) {
        if !self.has(key) {
            self.error_here(&format!("`{key}` is missing: {why}"));
        }
    }

    pub(super) fn error_here(&self, message: &str) {
        let place = self.document.place(self.at);
        self.document.problem(Severity::Error, place, &self.path, message.to_owned());
    }

    /// Refuses `key`, which is known but has no meaning here.
    pub(super) fn refuse(&self, key: &'static str, why: &str) {
        if let Some((name, _)) = self.entry(key) {
            let place = self.document.place(name.span().start);
            let message = format!("does not belong here: {why}");
            self.document.problem(Severity::Error, place, &self.path_of(key), message);
        }
        self.known.borrow_mut().push(key);
    }

    /// Refuses every key that was not asked for.
    pub(super) fn finish(&self) {
        let known = self.known.borrow();
        for (name, _) in self.table.into_iter().flatten() {
            let key = name.get_ref().as_ref();
            if !known.contains(&key) {
                let place = self.document.place(name.span().start);
                let message = format!("unknown key{}", hint(key, known.iter().copied()));
                self.document.problem(Severity::Error, place, &self.path_of(key), message);
            }
        }
    }

    fn get(&self, key: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.known.borrow_mut().push(key);
        self.entry(key).map(|(_, value)| value)
    }

    fn entry(&self, key: &str) -> Option<(&'a Spanned<DeString<'a>>, &'a Spanned<DeValue<'a>>)> {
        self.table?.iter().find(|(name, _)| name.get_ref() == key)
    }

    /// The variable that overrides `key`, if it is set.
    fn variable(&self, key: &'static str) -> Option<Found<String>> {
        self.known.borrow_mut().push(key);
        let path = self.path_of(key);
        let variable = variable_of(&path);
        self.document.known_variables.borrow_mut().push(variable.clone());
        let value = self.document.variables.get(&variable)?.clone();
        Some(Found { value, key: path, place: Place::Environment { variable } })
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn found(&self, key: String, value: &'a Spanned<DeValue<'a>>) -> Found<&'a DeValue<'a>> {
        Found { value: value.get_ref(), key, place: self.document.place(value.span().start) }
    }

    fn wrong_type(&self, path: &str, at: usize, wanted: &str, value: &DeValue<'_>) {
        let place = self.document.place(at);
        self.document.problem(Severity::Error, place, path, expected(wanted, value));
    }
}

fn expected(wanted: &str, value: &DeValue<'_>) -> String {
    format!("should be {wanted}, it is of type {}", value.type_str())
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|char| char.is_ascii_alphanumeric() || "-_.".contains(char))
}

/// `slots.queue_max` is overridden by `ADJOURN_SLOTS_QUEUE_MAX`.
fn variable_of(path: &str) -> String {
    let upper =
        path.chars().map(|char| if char.is_ascii_alphanumeric() { char.to_ascii_uppercase() } else { '_' });
    format!("ADJOURN_{}", upper.collect::<String>())
}
