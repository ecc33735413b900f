//! What an assistant asks. Its tools run a program that does nothing.
#![no_main]

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use storefront::commands::mcp::Assistant;
use storefront_core::interface::dialect::{MAGENTO, MARKETPLACE};
use storefront_core::text::sanitize::in_json;
use tokio::io::AsyncWrite;

/// How a session begins.
const HANDSHAKE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"#,
    r#""clientInfo":{"name":"fuzz","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n"
);

/// A program that reads its input and does nothing: libFuzzer's main function leaves SIGPIPE as it is.
static NOTHING: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = std::env::temp_dir().join(format!("storefront-fuzz-{}", std::process::id()));
    std::fs::write(&path, "#!/bin/sh\ncat >/dev/null\n").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    path
});

/// Keeps what is written.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl AsyncWrite for Kept {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((kind, rest)) = data.split_first() else { return };
    let begins = if kind % 8 == 0 { "" } else { HANDSHAKE };
    let asked = [begins.as_bytes(), rest, b"\n"].concat();
    let dialect = if kind % 2 == 0 { &MARKETPLACE } else { &MAGENTO };
    let assistant = Assistant::new(NOTHING.clone(), Vec::new(), std::env::temp_dir(), dialect).unwrap();
    let kept = Kept::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let served = assistant.serve_over(io::Cursor::new(asked), kept.clone());
    let _ = runtime
        .block_on(async { tokio::time::timeout(Duration::from_secs(20), served).await })
        .expect("it ends");
    let answers = String::from_utf8(kept.0.lock().unwrap().clone()).expect("answers are text");
    for line in answers.lines() {
        let answer: Value = serde_json::from_str(line).expect("an answer is JSON");
        assert_eq!(answer["jsonrpc"], "2.0");
        assert_eq!(line, in_json(line));
    }
});
