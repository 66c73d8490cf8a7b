//! Texts without the values that came from the environment, also where a shop returns one of them in another form.

use std::collections::BTreeSet;

use url::form_urlencoded::byte_serialize;

/// What stands in the place of a secret.
const HIDDEN: &str = "***";

/// A shorter value is no secret, and hiding it would hide every number.
const SHORTEST: usize = 4;

/// The values from the environment, in the forms in which an answer may have them: as they are, in HTML, in a URL, in JSON.
pub struct Hidden(Vec<String>);

impl Hidden {
    /// Prepares the forms of these secrets.
    pub fn new(secrets: &BTreeSet<String>) -> Self {
        let secrets = secrets.iter().filter(|secret| secret.len() >= SHORTEST);
        let mut forms: Vec<String> = secrets.flat_map(|secret| forms(secret)).collect();
        // A longer form may contain a shorter one.
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        forms.dedup();
        Self(forms)
    }

    /// Returns a text without them.
    pub fn in_text(&self, text: &str) -> String {
        let hidden = |text: String, form: &String| text.replace(form, HIDDEN);
        self.0.iter().fold(text.to_owned(), hidden)
    }
}

fn forms(secret: &str) -> Vec<String> {
    let html = |apostrophe: &str| {
        let text = secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        text.replace('"', "&quot;").replace('\'', apostrophe)
    };
    let in_form: String = byte_serialize(secret.as_bytes()).collect();
    let in_path = in_form.replace('+', "%20");
    let json = serde_json::Value::from(secret).to_string();
    let mut forms = vec![
        secret.to_owned(),
        html("&#39;"),
        html("&#x27;"),
        html("'"),
        html("&apos;"),
    ];
    forms.push(json[1..json.len() - 1].to_owned());
    for encoded in [in_form, in_path] {
        forms.push(lower_case_escapes(&encoded));
        forms.push(encoded);
    }
    forms
}

/// Returns a URL-encoded text with escapes such as `%2f` for `%2F`.
fn lower_case_escapes(encoded: &str) -> String {
    let mut parts = encoded.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (code, rest) = part.split_at(part.len().min(2));
        format!("{text}%{}{rest}", code.to_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_hidden_in_every_form_in_which_a_page_may_have_it() {
        let hidden = Hidden::new(&BTreeSet::from(["it's <a>&b/ c".to_owned(), String::new()]));
        for text in [
            "it's <a>&b/ c",
            "it&#39;s &lt;a&gt;&amp;b/ c",
            "it&#x27;s &lt;a&gt;&amp;b/ c",
            "it%27s+%3Ca%3E%26b%2F+c",
            "it%27s%20%3ca%3e%26b%2f%20c",
        ] {
            assert_eq!(hidden.in_text(&format!("see {text}!")), "see ***!", "{text}");
        }
        assert_eq!(
            Hidden::new(&BTreeSet::from(["a\"bc".to_owned(), "1".to_owned()])).in_text(r#"{"1":"a\"bc"}"#),
            r#"{"1":"***"}"#
        );
    }
}
