//! The requests of one buyer, with cookies and with the values that were taken from answers.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use loadtest::trust::Trust;
use reqwest::cookie::{CookieStore, Jar};
use reqwest::header::{CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue, LOCATION, SET_COOKIE};
use reqwest::redirect::Policy;
use reqwest::{Client, Method};
use serde_json::Value;
use url::Url;

use crate::description::{Answer, Source, Step, Values};

/// The longest time for one answer.
pub const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// The most bytes of an answer that are read.
pub const MAX_BODY: usize = 1024 * 1024;

/// The longest value that is taken from an answer, in bytes.
const MAX_VALUE: usize = 16 * 1024;

/// A request whose places for values are filled.
pub struct Filled {
    /// The method.
    pub method: Method,
    /// The whole URL.
    pub url: Url,
    /// The headers, with the cookies.
    pub headers: HeaderMap,
    /// The body.
    pub body: String,
}

/// One buyer at the shop.
pub struct Session {
    base: Url,
    client: Client,
    jar: Arc<Jar>,
    /// The values so far.
    pub values: Values,
    /// Whether the buyer has learnt, before the raced request, that too few units are left.
    pub is_refused: bool,
}

impl Session {
    /// Creates the session of a buyer with these values at a shop whose certificates are trusted so.
    ///
    /// # Errors
    /// When the HTTP client cannot be built.
    pub fn new(base: &Url, trust: &Trust, values: Values) -> Result<Self> {
        let jar = Arc::new(Jar::default());
        // A redirect would be one more request than the shop file says, and could go in a circle.
        let client = Client::builder()
            .timeout(ANSWER_WITHIN)
            .no_proxy()
            .redirect(Policy::none());
        let client = client.no_gzip().no_brotli().no_zstd().no_deflate();
        Ok(Self {
            base: base.clone(),
            client: trust.build(client.cookie_provider(jar.clone()))?,
            jar,
            values,
            is_refused: false,
        })
    }

    /// Fills the places for values of a request.
    ///
    /// # Errors
    /// When the result is no request.
    pub fn fill(&self, step: &Step) -> Result<Filled> {
        let path = step.request.path.filled(&self.values);
        let url = self.base.join(&path).context("the path of the request")?;
        let mut headers = HeaderMap::new();
        for (name, value) in &step.headers {
            let name: HeaderName = name.parse().with_context(|| format!("a header {name:?}"))?;
            let value = HeaderValue::from_str(&value.filled(&self.values));
            headers.insert(name, value.context("the value of a header")?);
        }
        let (kind, body) = if let Some(json) = &step.json {
            (Some("application/json"), json.filled(&self.values).to_string())
        } else if let Some(form) = &step.form {
            let mut fields = url::form_urlencoded::Serializer::new(String::new());
            for (name, value) in form {
                fields.append_pair(name, &value.0.filled(&self.values));
            }
            (Some("application/x-www-form-urlencoded"), fields.finish())
        } else {
            let body = step.body.as_ref().map(|body| body.filled(&self.values));
            (None, body.unwrap_or_default())
        };
        if let Some(kind) = kind
            && !headers.contains_key(CONTENT_TYPE)
        {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        }
        if let Some(cookies) = self.jar.cookies(&url) {
            headers.insert(COOKIE, cookies);
        }
        Ok(Filled {
            method: step.request.method.clone(),
            url,
            headers,
            body,
        })
    }

    /// Sends a request, and takes the values that it is to give. Returns whether the buyer learns that too few units are left.
    ///
    /// # Errors
    /// When no answer comes, or it is no success, or has no such value.
    pub async fn take(&mut self, step: &Step) -> Result<bool> {
        let sent = self.send(step).await;
        let (answer, headers) = sent.with_context(|| step.request.hidden(&self.values))?;
        if step.tells_sold_out(&answer) {
            return Ok(true);
        }
        self.accept(step, &answer, &headers)?;
        Ok(false)
    }

    /// Takes the values that an answer is to give.
    ///
    /// # Errors
    /// When it is no success, or has no such value.
    pub fn accept(&mut self, step: &Step, answer: &Answer, headers: &HeaderMap) -> Result<()> {
        let line = step.request.hidden(&self.values);
        let is_expected = match &step.expect {
            Some(expected) => expected.contain(answer.status),
            None => (200..400).contains(&answer.status),
        };
        if !is_expected {
            let expected = step
                .expect
                .as_ref()
                .map_or("200 to 399".to_owned(), ToString::to_string);
            bail!("{line}: status {}, not {expected}", answer.status);
        }
        for (name, source) in &step.take {
            let value = find(source, answer, headers);
            let value = value.with_context(|| format!("{line}: the answer has no {name}, which is {source}"))?;
            ensure!(value.len() <= MAX_VALUE, "{line}: {name} has over {MAX_VALUE} bytes");
            self.values.insert(name.clone(), value);
        }
        Ok(())
    }

    /// Sends a request, and returns the answer whatever it is.
    ///
    /// # Errors
    /// When no answer comes in time, or it is too long.
    pub async fn send(&self, step: &Step) -> Result<(Answer, HeaderMap)> {
        let Filled {
            method,
            url,
            mut headers,
            body,
        } = self.fill(step)?;
        // The client adds them itself.
        headers.remove(COOKIE);
        let request = self.client.request(method, url).headers(headers).body(body);
        let mut response = request.send().await.map_err(|error| error.without_url())?;
        let headers = response.headers().clone();
        let status = response.status().as_u16();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| error.without_url())? {
            ensure!(
                bytes.len() + chunk.len() <= MAX_BODY,
                "the answer is longer than {MAX_BODY} bytes"
            );
            bytes.extend_from_slice(&chunk);
        }
        Ok((answer(status, &headers, &bytes), headers))
    }
}

/// Returns the parts of an answer that a shop file can speak of.
pub fn answer(status: u16, headers: &HeaderMap, body: &[u8]) -> Answer {
    let location = headers.get(LOCATION).and_then(|location| location.to_str().ok());
    Answer {
        status,
        location: location.map(str::to_owned),
        body: String::from_utf8_lossy(body).into_owned(),
    }
}

fn find(source: &Source, answer: &Answer, headers: &HeaderMap) -> Option<String> {
    match source {
        Source::Json(pointer) => {
            let body: Value = serde_json::from_str(&answer.body).ok()?;
            pointer.text(&body)
        }
        Source::Header(name) => Some(headers.get(name)?.to_str().ok()?.to_owned()),
        Source::Cookie(name) => {
            let set = headers.get_all(SET_COOKIE).iter().filter_map(|set| set.to_str().ok());
            let mut pairs = set.filter_map(|set| set.split(';').next()?.split_once('='));
            let (_, value) = pairs.find(|(known, _)| known.trim() == name)?;
            Some(value.trim().to_owned())
        }
        Source::Regex(pattern) => pattern.find(&answer.body),
    }
}
