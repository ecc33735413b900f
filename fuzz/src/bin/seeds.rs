//! Writes the first cases of each target into `corpus`: each command line with what the sandbox answers to it, the journals, plans
//! and the log that they leave, and the sheets of the suite.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderValue};
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::{Value, json};
use storefront::client::transport::{Exchange, Transport, over_http};
use storefront::run_with;
use storefront_fuzz::{BETWEEN, HOME, Streams, TOKENS, commands, surroundings};
use storefront_sandbox::{Options, start};

/// Sends to the sandbox, and keeps what it answers as parts of a case.
#[derive(Debug)]
struct Recorder {
    inner: Box<dyn Transport>,
    url: reqwest::Url,
    tokens: [String; 2],
    heard: Rc<RefCell<Vec<u8>>>,
}

impl Transport for Recorder {
    fn exchange(&self, mut request: reqwest::Request, timeout: Duration) -> Exchange<'_> {
        let mut url = self.url.clone();
        url.set_path(request.url().path());
        url.set_query(request.url().query());
        *request.url_mut() = url;
        if let Some(value) = request.headers_mut().get_mut(AUTHORIZATION) {
            let text = value
                .to_str()
                .unwrap()
                .replace(TOKENS[0], &self.tokens[0])
                .replace(TOKENS[1], &self.tokens[1]);
            *value = HeaderValue::from_str(&text).unwrap();
        }
        Box::pin(async move {
            let reply = self.inner.exchange(request, timeout).await?;
            let mut heard = self.heard.borrow_mut();
            heard.push(BETWEEN);
            heard.extend_from_slice(format!("{} content-type: application/json\n", reply.status).as_bytes());
            heard.extend_from_slice(&reply.body);
            Ok(reply)
        })
    }
}

/// Runs a command line in a home, against the sandbox with this database; gives the replies.
fn record(line: &str, home: &Path, data: &Path) -> Vec<u8> {
    let (heard, streams) = (Rc::<RefCell<Vec<u8>>>::default(), Streams::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let code = runtime.block_on(async {
        let sandbox = start(Options::new(data.to_owned())).await.unwrap();
        let (url, recorded) = (sandbox.url.parse::<reqwest::Url>().unwrap(), heard.clone());
        let tokens = [sandbox.customer_token.clone(), sandbox.admin_token.clone()];
        let words = shell_words::split(line).unwrap();
        let surroundings = surroundings(&words, home, Arc::new(streams.clone()), move |link| {
            let inner = over_http(link).unwrap();
            Box::new(Recorder { inner, url: url.clone(), tokens: tokens.clone(), heard: recorded.clone() })
        });
        let code = run_with(&surroundings).await;
        drop(surroundings);
        sandbox.stop().await;
        code
    });
    let printed = streams.0.lock().unwrap().clone();
    println!("{code} {line}");
    if code != 0 {
        println!("    {}", printed.stderr.trim().replace('\n', "\n    "));
    }
    heard.take()
}

fn write(target: &str, number: usize, style: u8, file: &[u8], replies: &[u8]) {
    let directory = corpus().join(target);
    std::fs::create_dir_all(&directory).unwrap();
    let mut case = vec![u8::try_from(number % 256).unwrap(), style];
    case.extend_from_slice(file);
    case.extend_from_slice(replies);
    let name = storefront_core::text::hash::sha256(&mut case.as_slice()).unwrap();
    std::fs::write(directory.join(&name[..16]), case).unwrap();
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// Each value of a log as an edit that changes nothing.
fn values(log: &Path) -> Vec<Value> {
    let connection = Connection::open(log).unwrap();
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE").unwrap();
    let names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
    let mut tables = connection.prepare(names).unwrap();
    let tables: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut values = Vec::new();
    for table in tables {
        let mut rows = connection.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let columns: Vec<String> = rows.column_names().into_iter().map(str::to_owned).collect();
        let mut rows = rows.query([]).unwrap();
        let mut number = 0;
        while let Some(row) = rows.next().unwrap() {
            for (at, column) in columns.iter().enumerate() {
                let value: Value = match row.get_ref(at).unwrap() {
                    ValueRef::Integer(number) => number.into(),
                    ValueRef::Text(text) => {
                        let text = String::from_utf8_lossy(text).into_owned();
                        let document = serde_json::from_str(&text)
                            .ok()
                            .filter(|it: &Value| it.is_object() || it.is_array());
                        document.unwrap_or(text.into())
                    }
                    _ => continue,
                };
                values.push(json!({"table": table, "column": column, "row": number, "value": value}));
            }
            number += 1;
        }
    }
    values
}

fn main() {
    HOME.with(|home| {
        let home = home.clear().to_owned();
        let data = home.join("shop.db");
        let fresh = |files: &[(&str, &[u8])]| {
            HOME.with(|it| it.clear().to_owned());
            let _ = std::fs::remove_file(&data);
            files.iter().for_each(|(name, content)| std::fs::write(name, content).unwrap());
        };
        for (number, line) in commands::REPLIES.iter().enumerate() {
            fresh(&[]);
            if line.contains(" quote ") && line.contains("magento") && !line.contains("add-item") {
                record(commands::WITH_ITEM, &home, &data);
            }
            write("replies", number, 0, b"", &record(line, &home, &data));
        }
        let input = commands::INPUT.as_bytes();
        for (number, line) in commands::JOURNAL.iter().enumerate() {
            fresh(&[("in.ndjson", input)]);
            record(commands::JOURNAL[0], &home, &data);
            let journal = std::fs::read("in.ndjson.journal").unwrap();
            write("journal", number, 0, &journal, &record(line, &home, &data));
        }
        for planned in commands::PLANNED {
            for (number, line) in commands::PLAN.iter().enumerate() {
                let is_magento = planned.contains("magento");
                if line.contains("magento") != is_magento {
                    continue;
                }
                fresh(&[("in.ndjson", if is_magento { input } else { commands::OF_MARKETPLACE.as_bytes() })]);
                record(planned, &home, &data);
                let Ok(plan) = std::fs::read("a.plan") else { continue };
                write("plan", number, 0, &plan, &record(line, &home, &data));
            }
        }
        let sheets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/sheets");
        let mut sheets: Vec<PathBuf> =
            std::fs::read_dir(sheets).unwrap().map(|it| it.unwrap().path()).collect();
        sheets.sort();
        for (number, line) in commands::INPUTS.iter().enumerate() {
            let mut files: Vec<Vec<u8>> = sheets.iter().map(|path| std::fs::read(path).unwrap()).collect();
            files.push(input.to_vec());
            files.push(b"order,address,postcode,city\n000000002,shipping,10119,Berlin\n".to_vec());
            files.push(b"sku,store_view,weight,name\numbrella,,1.5,\nmug-blue,default,,Mug\n".to_vec());
            files.push(b"quote_id,sku,qty\n1,umbrella,1\n1,mug-blue,2\n".to_vec());
            for file in files.iter().filter(|file| !file.contains(&BETWEEN)) {
                fresh(&[("a", file)]);
                write("input", number, 0, file, &record(line, &home, &data));
            }
        }
        fresh(&[]);
        commands::HISTORY.iter().for_each(|line| drop(record(line, &home, &data)));
        let log = home.join("state/log.db");
        let edits: Vec<String> = values(&log).iter().map(Value::to_string).collect();
        let (log, shop) = (std::fs::read(log).unwrap(), std::fs::read(&data).unwrap());
        for (number, line) in commands::LOG.iter().enumerate() {
            fresh(&[]);
            std::fs::create_dir(home.join("state")).unwrap();
            std::fs::write(home.join("state/log.db"), &log).unwrap();
            std::fs::write(&data, &shop).unwrap();
            let replies = record(line, &home, &data);
            write("log", number, 0, edits.join("\n").as_bytes(), &replies);
            write("log", number, 1, br#"{"offset": 4096, "bytes": [0, 255]}"#, &replies);
        }
        std::fs::write(corpus().join("log.db"), log).unwrap();
    });
}
