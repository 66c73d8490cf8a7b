//! A shop behind TLS. The certificate and its key beside this file protect nothing: they are for 127.0.0.1, in this test.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use serde_json::Value;
use stack::{Launch, Ready, ServerKind, Service};

use crate::harness::{SOON, interrupt, oversell, stderr, up, word};

/// The folder of the certificate and its key.
const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/tls");

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Starts nginx, which ends TLS before a shop. Returns it and its base URL.
fn tls_before(host: &str, folder: &Path) -> (Service, String) {
    let (plain, tls) = (free_address(), free_address());
    let configuration = format!(
        "daemon off; master_process off; error_log stderr; pid nginx.pid; events {{ worker_connections 4096; }}
http {{
    access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi; scgi_temp_path scgi; keepalive_requests 100000;
    server {{ listen {plain}; location / {{ return 200; }} }}
    server {{
        listen {tls} ssl; ssl_certificate {FILES}/certificate.pem; ssl_certificate_key {FILES}/key.pem;
        location / {{ proxy_pass {host}; proxy_http_version 1.1; proxy_next_upstream off; }}
    }}
}}
"
    );
    let path = folder.join("nginx.conf");
    fs::write(&path, configuration).unwrap();
    let program = stack::locate(ServerKind::Nginx, true).unwrap();
    let launch = Launch::from(&program).arg("-p").arg(folder).arg("-c").arg(path);
    let nginx = Service::start("tls", launch, Ready::Http(plain), folder).unwrap();
    nginx.wait_ready(SOON).unwrap();
    (nginx, format!("https://{tls}"))
}

#[test]
fn a_shop_behind_tls_is_tried_where_its_certificate_is_trusted_and_only_there() {
    let (mut child, said) = up(&["--instances", "2"]);
    let word = |name: &str| word(&said, name);
    let folder = tempfile::tempdir().unwrap();
    let (_nginx, host) = tls_before(&word("shop"), folder.path());
    let results = tempfile::tempdir().unwrap();
    let run = |trusted: Option<String>| {
        let [one, other, redis, sql] = ["app-1", "app-2", "redis", "sql"].map(word);
        let mut command = oversell(&[
            "run", "--host", &host, "--admin", &one, "--admin", &other, "--json", "--redis", &redis,
        ]);
        command.args([
            "--sql",
            &sql,
            "--strategy",
            "lua@redis",
            "--threat",
            "second-instance",
            "--repeat",
            "1",
        ]);
        command
            .arg("--results")
            .arg(results.path())
            .env("OVERSELL_ADMIN_TOKEN", word("token"));
        if let Some(file) = trusted {
            command.env("SSL_CERT_FILE", file);
        }
        command.output().unwrap()
    };
    let refused = run(None);
    assert_eq!(refused.status.code(), Some(69), "{}", stderr(&refused));
    assert!(
        stderr(&refused).contains("--host leads to no shop"),
        "{}",
        stderr(&refused)
    );
    let ran = run(Some(format!("{FILES}/certificate.pem")));
    interrupt(&child);
    child.wait().unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    let run: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(run["rounds"][0]["verdict"], "holds", "{run}");
    assert!(run["rounds"][0]["told"]["sold"].as_i64().unwrap() > 0, "{run}");
}
