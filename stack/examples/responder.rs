//! The smallest instance for the tests: it is ready at once, and a request can crash it.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |flag: &str| {
        let mut given = arguments.iter().skip_while(|argument| *argument != flag).skip(1);
        given
            .next()
            .cloned()
            .ok_or_else(|| io::Error::other(format!("{flag} is missing")))
    };
    let instance = value("--instance")?;
    let _admin = TcpListener::bind(value("--admin-listen")?)?;
    let listener = TcpListener::bind(value("--listen")?)?;
    for stream in listener.incoming().flatten() {
        let instance = instance.clone();
        thread::spawn(move || answer(stream, &instance));
    }
    Ok(())
}

fn answer(mut stream: TcpStream, instance: &str) {
    let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
    let request = lines.next().unwrap_or_default();
    lines.take_while(|line| !line.is_empty()).for_each(drop);
    match request.split(' ').nth(1) {
        Some("/crash" | "/deduct_stock?crash") => std::process::exit(1),
        // Shows a test what reached this instance.
        Some("/environment") => respond(&mut stream, &std::env::var("OVERSELL_REDIS_URL").unwrap_or_default()),
        Some("/traces") => respond(&mut stream, &std::env::var("OVERSELL_TRACES").unwrap_or_default()),
        _ => respond(&mut stream, instance),
    }
}

fn respond(stream: &mut TcpStream, body: &str) {
    let length = body.len();
    // A client that has gone needs no answer.
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
}
