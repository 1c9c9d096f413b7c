//! A receiver of OTLP/HTTP: reads requests with spans by the types of OpenTelemetry's Rust SDK, and prints each span as a line of JSON. A
//! request that those types do not accept is answered 400, and ends the program with an error. The first line is the port.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use serde_json::{Value, json};

fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?.port());
    for stream in listener.incoming() {
        if let Err(error) = serve(&mut stream?) {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
    Ok(())
}

fn serve(stream: &mut TcpStream) -> Result<(), Box<dyn std::error::Error>> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut line, mut length, mut first) = (String::new(), 0, String::new());
    while reader.read_line(&mut line)? > 2 {
        if first.is_empty() {
            first = line.trim().to_owned();
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse()?;
        }
        line.clear();
    }
    if first.is_empty() {
        return Ok(());
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let read: Result<ExportTraceServiceRequest, _> = serde_json::from_slice(&body);
    let status = if read.is_ok() && first.starts_with("POST /v1/traces ") { "200 OK" } else { "400 Bad Request" };
    write!(stream, "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}")?;
    for resource in read?.resource_spans {
        for span in resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
            let links: Vec<Value> = span.links.iter().map(|link| hex(&link.span_id).into()).collect();
            println!(
                "{}",
                json!({"trace": hex(&span.trace_id), "id": hex(&span.span_id), "parent": hex(&span.parent_span_id), "name": span.name,
                    "kind": span.kind, "links": links, "begun": span.start_time_unix_nano.to_string(), "ended": span.end_time_unix_nano.to_string(),
                    "attributes": span.attributes.len(), "status": span.status.map(|status| status.code)})
            );
        }
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
