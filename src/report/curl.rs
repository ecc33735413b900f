//! A request as a curl command, the token as an environment variable.

use crate::plan::request::{Bearer, Request};
use crate::sanitize;
use crate::shell::Shell;

/// The command, on one line, for the shell of this system. A token that stands in URL or body is masked there as everywhere.
pub fn command(request: &Request, url: &str) -> String {
    command_for(request, url, Shell::NATIVE)
}

fn command_for(request: &Request, url: &str, shell: Shell) -> String {
    // In Windows PowerShell `curl` alone is another command.
    let (curl, token) = match (shell, request.bearer) {
        (Shell::Posix, Bearer::Customer) => ("curl", "$STOREFRONT_TOKEN"),
        (Shell::Posix, Bearer::Admin) => ("curl", "${STOREFRONT_ADMIN_TOKEN:-$STOREFRONT_TOKEN}"),
        (Shell::Windows, Bearer::Customer) => ("curl.exe", "$env:STOREFRONT_TOKEN"),
        (Shell::Windows, Bearer::Admin) => (
            "curl.exe",
            "$(if ($env:STOREFRONT_ADMIN_TOKEN) { $env:STOREFRONT_ADMIN_TOKEN } else { $env:STOREFRONT_TOKEN })",
        ),
    };
    let mut command = format!(
        "{curl} --request {} --globoff {} --header \"Authorization: Bearer {token}\"",
        request.method.as_str(),
        shell.quote(&sanitize::sanitize(url))
    );
    if let Some(body) = &request.body {
        command.push_str(" --header 'Content-Type: application/json' --data-raw ");
        command.push_str(&shell.quote(&sanitize::in_json(body)));
    }
    command
}

#[cfg(test)]
mod tests {
    use super::command_for;
    use crate::plan::operation::Operation;
    use crate::plan::request::dialect::MARKETPLACE;
    use crate::plan::request::{StoreView, Target};
    use crate::shell::Shell;

    #[test]
    fn what_a_terminal_would_obey_is_written_as_json_escapes() {
        let body = "{\"city\":\"a\u{9b}2J\u{202e}b\"}";
        let request = Operation::QuoteAddItem
            .request(&Target::new(&MARKETPLACE, Some(&StoreView::new("fr").unwrap())).unwrap(), body.into());
        let words =
            shell_words::split(&command_for(&request, "https://shop.example/rest/V1/x", Shell::Posix))
                .unwrap();
        let sent = words.last().unwrap();
        assert_eq!(sent, r#"{"city":"a\u009b2J\u202eb"}"#);
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(sent), value(body));
    }

    #[test]
    fn the_body_survives_the_shell() {
        let body = r#"{"cartItem":{"sku":"it's $5","qty":1}}"#;
        let request = Operation::QuoteAddItem
            .request(&Target::new(&MARKETPLACE, Some(&StoreView::new("fr").unwrap())).unwrap(), body.into());
        let words =
            shell_words::split(&command_for(&request, "https://shop.example/rest/V1/x", Shell::Posix))
                .unwrap();
        assert_eq!(words.last().unwrap(), body);
        // Without it curl makes three requests of a URL that ends in [1-3].
        assert!(words.contains(&"--globoff".to_owned()));
        assert!(words.contains(&"Authorization: Bearer $STOREFRONT_TOKEN".to_owned()));
    }

    #[test]
    fn on_windows_it_is_for_powershell() {
        let request = Operation::QuoteAddItem.request(
            &Target::new(&MARKETPLACE, Some(&StoreView::new("fr").unwrap())).unwrap(),
            r#"{"sku":"it's $5"}"#.into(),
        );
        assert_eq!(
            command_for(&request, "https://shop.example/x?a=1&b", Shell::Windows),
            "curl.exe --request POST --globoff \"https://shop.example/x?a=1&b\" \
             --header \"Authorization: Bearer $env:STOREFRONT_TOKEN\" --header 'Content-Type: application/json' \
             --data-raw '{\"sku\":\"it''s $5\"}'"
        );
    }
}
