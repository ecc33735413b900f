//! A request as a curl command, the token as an environment variable.

use crate::plan::request::{Bearer, Request};

/// The command, on one line, fit for a POSIX shell.
pub fn command(request: &Request, url: &str) -> String {
    let token = match request.bearer {
        Bearer::Customer => "$STOREFRONT_TOKEN",
        Bearer::Admin => "${STOREFRONT_ADMIN_TOKEN:-$STOREFRONT_TOKEN}",
    };
    let mut command = format!(
        "curl --request {} {} --header \"Authorization: Bearer {token}\"",
        request.method.as_str(),
        shell_words::quote(url)
    );
    if let Some(body) = &request.body {
        command.push_str(" --header 'Content-Type: application/json' --data-raw ");
        command.push_str(&shell_words::quote(body));
    }
    command
}

#[cfg(test)]
mod tests {
    use super::command;
    use crate::plan::request::{Request, StoreView};

    #[test]
    fn the_body_survives_the_shell() {
        let body = r#"{"cartItem":{"sku":"it's $5","qty":1}}"#;
        let request = Request::add_item(&StoreView::new("fr").unwrap(), body.into());
        let words = shell_words::split(&command(&request, "https://shop.example/rest/V1/x")).unwrap();
        assert_eq!(words.last().unwrap(), body);
        assert!(words.contains(&"Authorization: Bearer $STOREFRONT_TOKEN".to_owned()));
    }
}
