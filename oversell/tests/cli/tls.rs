//! A shop behind TLS. The certificate and its key beside this file protect nothing: they are for 127.0.0.1, in this test.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Output};

use serde_json::Value;
use stack::{Launch, Ready, ServerKind, Service};
use tempfile::TempDir;

use crate::harness::{SOON, interrupt, oversell, stderr, up, word};

/// The folder of the certificate and its key.
const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/tls");

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Starts nginx, which ends TLS before each of these base URLs. Returns it and the base URLs with TLS.
fn tls_before(urls: &[String], folder: &Path) -> (Service, Vec<String>) {
    let plain = free_address();
    let servers = urls.iter().map(|url| (url, free_address()));
    let servers: Vec<(&String, SocketAddr)> = servers.collect();
    let blocks = servers.iter().map(|(url, tls)| {
        format!(
            "    server {{
        listen {tls} ssl; ssl_certificate {FILES}/certificate.pem; ssl_certificate_key {FILES}/key.pem;
        location / {{ proxy_pass {url}; proxy_http_version 1.1; proxy_next_upstream off; }}
    }}
"
        )
    });
    let configuration = format!(
        "daemon off; master_process off; error_log stderr; pid nginx.pid; events {{ worker_connections 4096; }}
http {{
    access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi; scgi_temp_path scgi; keepalive_requests 100000;
    server {{ listen {plain}; location / {{ return 200; }} }}
{}}}
",
        blocks.collect::<String>()
    );
    let path = folder.join("nginx.conf");
    fs::write(&path, configuration).unwrap();
    let program = stack::locate(ServerKind::Nginx, true).unwrap();
    let launch = Launch::from(&program).arg("-p").arg(folder).arg("-c").arg(path);
    let nginx = Service::start("tls", launch, Ready::Http(plain), folder).unwrap();
    nginx.wait_ready(SOON).unwrap();
    let urls = servers.iter().map(|(_, tls)| format!("https://{tls}"));
    (nginx, urls.collect())
}

/// A shop of two instances, and its base URLs behind TLS.
struct TlsShop {
    child: Child,
    said: Vec<String>,
    _nginx: Service,
    host: String,
    admins: [String; 2],
    results: TempDir,
}

impl TlsShop {
    fn up() -> Self {
        let (child, said) = up(&["--instances", "2"]);
        let folder = tempfile::tempdir().unwrap();
        let urls = ["shop", "app-1", "app-2"].map(|name| word(&said, name));
        let (nginx, urls) = tls_before(&urls, folder.path());
        let [host, one, other] = urls.try_into().unwrap();
        Self {
            child,
            said,
            _nginx: nginx,
            host,
            admins: [one, other],
            results: folder,
        }
    }

    /// Runs a command against these admin listeners, with further options and variables.
    fn output(&self, command: &[&str], admins: &[String], options: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = oversell(command);
        for admin in admins {
            command.args(["--admin", admin]);
        }
        for store in ["redis", "sql"] {
            command.arg(format!("--{store}")).arg(word(&self.said, store));
        }
        command
            .args(options)
            .envs(variables.iter().copied())
            .env("OVERSELL_ADMIN_TOKEN", word(&self.said, "token"));
        command.output().unwrap()
    }

    fn run(&self, admins: &[String], options: &[&str], variables: &[(&str, &str)]) -> Output {
        let line = "--json --strategy lua@redis --threat second-instance --repeat 1";
        let results = self.results.path().join("results");
        let mut options = options.to_vec();
        options.extend(line.split_whitespace());
        options.extend(["--results", results.to_str().unwrap()]);
        self.output(&["run", "--host", &self.host], admins, &options, variables)
    }
}

impl Drop for TlsShop {
    fn drop(&mut self) {
        interrupt(&self.child);
        self.child.wait().unwrap();
    }
}

/// Checks that a run ended as designed, and returns its result.
fn held(ran: &Output) -> Value {
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(ran));
    let run: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(run["rounds"][0]["verdict"], "holds", "{run}");
    assert!(run["rounds"][0]["told"]["sold"].as_i64().unwrap() > 0, "{run}");
    run
}

fn is_refused(output: &Output, status: i32, why: &str) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(status), "{said}");
    assert!(said.contains(why), "{said}");
}

#[test]
fn a_shop_behind_tls_is_tried_where_its_certificate_is_trusted_and_only_there() {
    let shop = TlsShop::up();
    let plain = ["app-1", "app-2"].map(|name| word(&shop.said, name));
    let file = format!("{FILES}/certificate.pem");
    is_refused(&shop.run(&plain, &[], &[]), 69, "--host leads to no shop");
    held(&shop.run(&plain, &[], &[("SSL_CERT_FILE", &file)]));
    let trusted = held(&shop.run(&shop.admins, &["--ca-file", &file], &[]));
    assert_eq!(trusted["environment"]["insecure"], Value::Null, "{trusted}");
    let unchecked = held(&shop.run(&shop.admins, &["--insecure"], &[]));
    assert_eq!(unchecked["environment"]["insecure"], true, "{unchecked}");
    let folder = shop.results.path().join("results");
    let reports = fs::read_dir(folder)
        .unwrap()
        .map(|run| run.unwrap().path().join("result.md"));
    let named = reports.filter(|report| {
        fs::read_to_string(report)
            .unwrap()
            .contains("certificates were not checked")
    });
    assert_eq!(named.count(), 1);
}

#[test]
fn a_shop_behind_tls_is_compared_with_the_contract() {
    let shop = TlsShop::up();
    let file = format!("{FILES}/certificate.pem");
    let check = |options: &[&str]| shop.output(&["check", &shop.host], &shop.admins, options, &[]);
    assert_eq!(check(&[]).status.code(), Some(1));
    let checked = check(&["--ca-file", &file]);
    assert_eq!(checked.status.code(), Some(0), "{}", stderr(&checked));
}

#[test]
fn a_file_without_certificates_is_refused_before_the_shop_is_asked() {
    let run = [
        "run",
        "--host",
        "https://127.0.0.1:9",
        "--admin",
        "https://127.0.0.1:9",
        "--admin-token",
        "x",
    ];
    let with = |options: &[&str]| {
        let stores = ["--redis", "redis://127.0.0.1:9"];
        oversell(&[&run[..], &stores, options].concat()).output().unwrap()
    };
    let key = format!("{FILES}/key.pem");
    is_refused(&with(&["--ca-file", "/nowhere"]), 64, "it cannot be opened");
    is_refused(&with(&["--ca-file", &key]), 64, "it has no certificate");
    let both = ["--ca-file", &key, "--insecure"];
    is_refused(&with(&both), 64, "cannot be used with");
    is_refused(
        &with(&["--insecure"]),
        69,
        "--host: there is no shop at https://127.0.0.1:9",
    );
    let alone = oversell(&["run", "--insecure"]).output().unwrap();
    is_refused(&alone, 64, "--host");
}
