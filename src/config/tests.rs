//! Precedence of settings, hosts of tokens, base URLs, and the values of settings.

use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

use url::Url;

use super::profile::parse_base_url;
use super::settings::with_root;
use super::token::TokenSource;
use super::{
    ConfigFile, Credentials, DEFAULT_PROFILE, Key, PROFILE, ServiceId, Setting, Settings, ShipLayout, Stored,
    origin, to_json,
};
use crate::cli::GlobalArgs;
use crate::system::context::Context;
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::interface::request::Bearer;
use storefront_core::text::token::Credential;

const SHOP: &str = "[profiles.shop]\nbase-url = \"https://shop.example/rest\"\n";
const ENV_URL: (&str, &str) = ("STOREFRONT_BASE_URL", "https://other.example");
const ENV_TOKEN: (&str, &str) = ("STOREFRONT_TOKEN", "from-environment");

/// A home with a private `config.toml`.
fn home(config: &str) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("config")).unwrap();
    write(&home, "config/config.toml", config, 0o600);
    home
}

#[cfg_attr(windows, expect(unused_variables, reason = "Windows has no permission bits"))]
fn write(home: &TempDir, name: &str, text: &str, mode: u32) {
    let path = home.path().join(name);
    std::fs::write(&path, text).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
}

fn resolve_in(context: &Context, global: &GlobalArgs) -> Result<Settings, Failure> {
    Settings::resolve(context, global, &ConfigFile::load(context))
}

fn resolve_with(home: &Path, variables: &[(&str, &str)], global: &GlobalArgs) -> Result<Settings, Failure> {
    resolve_in(&Context::detached(variables, home), global)
}

fn resolve(home: &TempDir, variables: &[(&str, &str)]) -> Result<Settings, Failure> {
    let global = GlobalArgs::default().for_profile("shop");
    resolve_with(home.path(), variables, &global)
}

fn read(source: &TokenSource) -> Result<Credential, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(source.token())
}

fn secret(source: &TokenSource) -> String {
    read(source).unwrap().expose().into_owned()
}

#[test]
fn the_environment_alone_is_enough() {
    let home = tempfile::tempdir().unwrap();
    let settings = resolve_with(home.path(), &[ENV_URL, ENV_TOKEN], &GlobalArgs::default()).unwrap();
    assert_eq!(settings.profile, None);
    assert_eq!(settings.endpoint.base_url.as_str(), "https://other.example/");
    assert_eq!(secret(&settings.token), "from-environment");
    assert_eq!(secret(&settings.admin_token), "from-environment");
    assert_eq!(settings.read.ignore, ["/updated_at"]);
    assert_eq!((settings.endpoint.timeout, settings.endpoint.retry), (Duration::from_secs(30), 2));
    assert_eq!(settings.retention_days, 30);
    assert!(settings.endpoint.use_proxy && settings.sandbox.is_none() && !settings.endpoint.allow_plain_http);
    assert!(settings.target().unwrap_err().hint.unwrap().to_string().contains("--store-view"));
}

#[test]
fn the_environment_alone_is_enough_where_no_home_is_known() {
    let mut context = Context::detached(&[ENV_URL, ENV_TOKEN], Path::new("/dev/null"));
    assert!(resolve_in(&context, &GlobalArgs::default()).is_ok());
    context.directories = None;
    assert!(resolve_in(&context, &GlobalArgs::default()).is_ok());
    let mut context = Context::detached(&[ENV_URL], Path::new("/dev/null"));
    context.directories = None;
    assert!(resolve_in(&context, &GlobalArgs::default()).is_err());
}

#[test]
fn flags_win_over_environment_over_profile_over_default() {
    let config = format!("{SHOP}store-view = \"fr\"\ntimeout = 7.5\nretry = 9\ntoken = \"literal\"\n");
    let home = home(&config);
    let settings = resolve(&home, &[]).unwrap();
    assert_eq!(settings.target().unwrap().store_view.unwrap().code(), "fr");
    assert_eq!((settings.endpoint.timeout, settings.endpoint.retry), (Duration::from_millis(7500), 9));
    assert_eq!(secret(&settings.token), "literal");

    let variables = [ENV_TOKEN, ("STOREFRONT_STORE_VIEW", "de")];
    let settings = resolve(&home, &variables).unwrap();
    assert_eq!(settings.target().unwrap().store_view.unwrap().code(), "de");
    assert_eq!(secret(&settings.token), "from-environment");

    let mut global = GlobalArgs::default().for_profile("shop");
    global.flags.store_view = Some("it".to_owned());
    (global.request.timeout, global.request.retry) = (Some(Duration::from_secs(1)), Some(0));
    let settings = resolve_with(home.path(), &variables, &global).unwrap();
    assert_eq!(settings.target().unwrap().store_view.unwrap().code(), "it");
    assert_eq!((settings.endpoint.timeout, settings.endpoint.retry), (Duration::from_secs(1), 0));
}

#[test]
fn the_profile_is_named_by_flag_then_environment_then_file() {
    let config = "default-profile = \"c\"\n\
        [profiles]\na.base-url = \"https://a\"\nb.base-url = \"https://b\"\nc.base-url = \"https://c\"\n";
    let home = home(config);
    let flag = GlobalArgs::default().for_profile("a");
    let named = |variables: &[(&str, &str)], global: &GlobalArgs| {
        resolve_with(home.path(), variables, global).unwrap().profile.unwrap()
    };
    let variable = [("STOREFRONT_PROFILE", "b")];
    assert_eq!(named(&variable, &flag), "a");
    assert_eq!(named(&variable, &GlobalArgs::default()), "b");
    assert_eq!(named(&[], &GlobalArgs::default()), "c");
}

/// Every key of the table reaches the settings: none is parsed and then forgotten.
#[test]
fn every_key_of_the_table_changes_the_settings() {
    let plain = home(SHOP);
    let plain = format!("{:?}", resolve(&plain, &[("X", "y")]).unwrap());
    for key in PROFILE {
        let values =
            "\"https://x.example\" \"magento\" \"flat\" \"no\" \"2.4.8\" [\"/x\"] true false 77 \"/x\" \"x\"";
        let fits = |value: &&str| key.check(&toml_edit::Item::Value(value.parse().unwrap())).is_ok();
        let changes = |value: &str| {
            let line = format!("{} = {value}\n", key.name);
            let before = if key.name == "base-url" { "[profiles.shop]\n" } else { SHOP };
            let config = home(&format!("{before}{line}"));
            format!("{:?}", resolve(&config, &[("X", "y")]).unwrap()) != plain
        };
        assert!(values.split(' ').filter(fits).any(changes), "{}", key.name);
    }
}

#[test]
fn a_token_of_a_profile_does_not_follow_the_environment_to_another_host() {
    for token in [
        "token = \"literal\"",
        "token-env = \"SHOP\"",
        "token-file = \"t\"",
        if cfg!(windows) {
            r#"token-command = ["cmd", "/c", "echo", "t"]"#
        } else {
            r#"token-command = ["echo", "t"]"#
        },
    ] {
        let home = home(&format!("{SHOP}{token}\nadmin-{token}\nallow-plain-http = true\n"));
        write(&home, "config/t", "from-file", 0o600);
        for url in ["https://other.example", "http://shop.example", "https://shop.example:8443"] {
            let variables = [("SHOP", "from-shop"), ("STOREFRONT_BASE_URL", url)];
            let settings = resolve(&home, &variables).unwrap();
            for source in [&settings.token, &settings.admin_token] {
                let failure = read(source).unwrap_err();
                assert_eq!(failure.kind, FailureKind::Auth);
                assert!(failure.message.contains(url), "{failure}");
                assert!(failure.message.contains("https://shop.example"), "{failure}");
            }
            assert!(!settings.endpoint.allow_plain_http);
        }
        let same_host = [("SHOP", "from-shop"), ("STOREFRONT_BASE_URL", "https://shop.example/v2")];
        let settings = resolve(&home, &same_host).unwrap();
        assert_eq!(settings.endpoint.base_url.path(), "/v2");
        assert!(read(&settings.token).is_ok() && settings.endpoint.allow_plain_http, "{token}");
    }
}

#[test]
fn a_profile_without_a_host_lends_its_token_to_none() {
    let home = home("[profiles.shop]\ntoken = \"literal\"\n");
    let failure = read(&resolve(&home, &[ENV_URL]).unwrap().token).unwrap_err();
    assert!(failure.message.contains("has no base URL"), "{failure}");
    assert!(resolve(&home, &[]).unwrap_err().message.contains("no base-url"));
}

#[test]
fn a_token_of_the_environment_serves_both_kinds_at_another_host() {
    let home = home(&format!("{SHOP}token = \"literal\"\nadmin-token = \"boss\"\n"));
    let settings = resolve(&home, &[ENV_URL, ENV_TOKEN]).unwrap();
    assert_eq!(secret(&settings.admin_token), "from-environment");
    let settings = resolve(&home, &[ENV_TOKEN]).unwrap();
    assert_eq!(secret(&settings.admin_token), "boss");
}

#[test]
fn a_stored_token_stays_with_the_host_it_was_given_for() {
    let home = home(SHOP);
    let context = Context::detached(&[], home.path());
    for (bearer, token, origin) in
        [(Bearer::Customer, "stored", "https://shop.example"), (Bearer::Admin, "boss", "https://old.example")]
    {
        let stored =
            Stored { token: Credential::new(token).unwrap(), origin: origin.to_owned(), expires: None };
        Credentials::store(&context, "shop", bearer, &stored).unwrap();
    }
    let settings = resolve(&home, &[]).unwrap();
    assert_eq!(secret(&settings.token), "stored");
    assert_eq!(settings.token.from, "auth login of profile shop");
    let failure = read(&settings.admin_token).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Auth);
    assert!(failure.message.contains("https://old.example"), "{failure}");
    assert!(settings.admin_token.from.ends_with("bound to https://old.example"));
    assert!(read(&resolve(&home, &[ENV_URL]).unwrap().token).is_err());
    assert_eq!(Credentials::delete(&context, "shop", &[Bearer::Admin]).unwrap(), [Bearer::Admin]);
    assert_eq!(secret(&resolve(&home, &[]).unwrap().admin_token), "stored");
}

#[test]
fn a_named_token_wins_over_a_stored_one() {
    let home = home(&format!("{SHOP}token-env = \"SHOP\"\n"));
    let context = Context::detached(&[], home.path());
    let stored = Stored {
        token: Credential::new("old").unwrap(),
        origin: "https://shop.example".to_owned(),
        expires: None,
    };
    Credentials::store(&context, "shop", Bearer::Customer, &stored).unwrap();
    assert_eq!(secret(&resolve(&home, &[("SHOP", "new")]).unwrap().token), "new");
    let failure = read(&resolve(&home, &[]).unwrap().token).unwrap_err();
    assert!(failure.message.contains("variable SHOP"), "{failure}");
}

#[test]
fn the_sandbox_takes_nothing_from_outside() {
    let token = |text| Credential::new(text).unwrap();
    let url: url::Url = "http://127.0.0.1:1".parse().unwrap();
    let context = Context::detached(&[], std::path::Path::new("/nowhere"));
    let sandbox = |global: &GlobalArgs| {
        Settings::sandbox(
            &context,
            global,
            "sandbox.db".into(),
            url.clone(),
            token("customer"),
            token("admin"),
        )
    };
    let settings = sandbox(&GlobalArgs::default()).unwrap();
    assert_eq!(settings.target().unwrap().store_view.unwrap().code(), "default");
    assert_eq!(secret(&settings.admin_token), "admin");
    assert_eq!(settings.ship_layout, ShipLayout::Wrapped);
    assert!(settings.sandbox.is_some() && !settings.endpoint.use_proxy && settings.profile.is_none());
    let mut french = GlobalArgs::default();
    french.flags.store_view = Some("fr".to_owned());
    assert_eq!(sandbox(&french).unwrap().store_view.unwrap().code(), "fr");
}

#[test]
fn a_bad_file_is_refused_with_its_path() {
    for (config, problem) in [
        ("[profiles.shop]\ntokn = 1", "unknown key `profiles.shop.tokn`; did you mean `token`?"),
        ("profile = 1", "unknown key `profile`; did you mean `profiles`?"),
        ("zzz = 1", "unknown key `zzz`; expected one of default-profile, profiles"),
        (
            "[profiles.shop.read]\nignored = []",
            "unknown key `profiles.shop.read.ignored`; did you mean `ignore`?",
        ),
        ("[profiles.shop]\nretry = \"2\"", "profiles.shop.retry: expected a non-negative integer"),
        ("[profiles.shop]\nread = 1", "profiles.shop.read: expected a table"),
        ("profiles = 1", "profiles: expected a table"),
        ("[profiles]\nshop = 1", "profiles.shop: expected a table"),
        ("[profiles.\"a/b\"]", "profiles.\"a/b\": invalid profile name"),
        ("[profiles.\"..\"]", "profiles.\"..\": invalid profile name"),
        (
            "[profiles.shop]\nbase-url = \"https://me:pw@shop\"",
            "profiles.shop.base-url: must not contain credentials",
        ),
        (
            "[profiles.shop]\ntoken = \"a\"\ntoken-env = \"B\"",
            "profiles.shop: token and token-env are mutually exclusive",
        ),
        (
            "[profiles.shop]\nadmin-token-file = \"a\"\nadmin-token-env = \"B\"",
            "admin-token-env and admin-token-file are mutually exclusive",
        ),
        ("[profiles.other]\nretry = 1", "no profile `shop` in "),
    ] {
        let failure = resolve(&home(config), &[]).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Usage);
        assert!(failure.message.contains(problem), "{config}: {failure}");
    }
    let both = format!("{SHOP}token = \"a\"\nadmin-token = \"b\"\n");
    assert!(resolve(&home(&both), &[]).is_ok());
}

#[cfg(unix)]
#[test]
fn a_file_with_a_token_is_its_owners_only() {
    let home = home(&format!("{SHOP}token-file = \"t\"\n"));
    write(&home, "config/t", "secret\n", 0o600);
    write(&home, "config/config.toml", &format!("{SHOP}token-file = \"t\"\n"), 0o644);
    assert_eq!(secret(&resolve(&home, &[]).unwrap().token), "secret");
    for mode in [0o644, 0o604] {
        write(&home, "config/t", "secret\n", mode);
        let failure = read(&resolve(&home, &[]).unwrap().token).unwrap_err();
        let path = home.path().join("config/t");
        assert_eq!(failure.hint.unwrap().to_string(), format!("run `chmod 600 {}`", path.display()));

        write(&home, "config/credentials.toml", "", mode);
        write(&home, "config/config.toml", SHOP, 0o644);
        assert!(
            read(&resolve(&home, &[]).unwrap().token)
                .unwrap_err()
                .hint
                .unwrap()
                .to_string()
                .contains("credentials")
        );

        write(&home, "config/config.toml", &format!("{SHOP}admin-token = \"t\"\n"), mode);
        let failure = resolve(&home, &[]).unwrap_err();
        assert!(failure.hint.unwrap().to_string().starts_with("run `chmod 600 "));
        write(&home, "config/config.toml", &format!("{SHOP}token-file = \"t\"\n"), 0o600);
    }
}

#[test]
fn debugging_settings_shows_no_token() {
    let home = home(&format!("{SHOP}token = \"hunter2\"\n"));
    let settings = resolve(&home, &[("STOREFRONT_ADMIN_TOKEN", "hunter2")]).unwrap();
    assert!(!format!("{settings:?}").contains("hunter2"));
    assert!(!settings.token.from.contains("hunter2"));
}

#[test]
fn tildes_are_homes_and_relative_paths_are_the_files() {
    let home = home(&format!("{SHOP}ca-file = \"~/ca.pem\"\nclient-certificate = \"me.pem\"\n"));
    let settings = resolve(&home, &[("HOME", "/home/me"), ("USERPROFILE", "/home/me")]).unwrap();
    assert_eq!(settings.endpoint.ca_file.unwrap(), Path::new("/home/me/ca.pem"));
    assert_eq!(settings.endpoint.client_certificate.unwrap(), home.path().join("config/me.pem"));
}

#[test]
fn a_path_is_kept() {
    assert_eq!(parse_base_url("https://shop.example/rest").unwrap().as_str(), "https://shop.example/rest");
}

#[test]
fn what_is_no_base_url_is_refused_without_repeating_it() {
    for text in [
        "shop.example",
        "localhost:8080",
        "ftp://shop.example",
        "https://me:hunter2@shop.example",
        "https://hunter2@shop.example",
        "https://shop.example/?hunter2",
        "https://shop.example/#hunter2",
        "https://",
        "",
    ] {
        let problem = parse_base_url(text).unwrap_err();
        assert!(!problem.contains("hunter2"), "{text}: {problem}");
    }
}

#[test]
fn an_origin_is_scheme_host_and_port() {
    let origin_of = |text| origin(&parse_base_url(text).unwrap());
    assert_eq!(origin_of("https://SHOP.example:443/a"), origin_of("https://shop.example/b"));
    assert_ne!(origin_of("https://shop.example"), origin_of("http://shop.example"));
    assert_ne!(origin_of("https://shop.example"), origin_of("https://shop.example:8443"));
}

fn id(url: &str) -> ServiceId {
    ServiceId::new(&Url::parse(url).unwrap(), "marketplace")
}

#[test]
fn spellings_of_one_base_url_are_one_service() {
    for spelling in [
        "https://shop.example/rest",
        "HTTPS://Shop.EXAMPLE/rest/",
        "https://shop.example:443/rest//",
        "https://shop.example./rest",
    ] {
        assert_eq!(id(spelling), id("https://shop.example/rest"), "{spelling}");
    }
    assert_eq!(id("https://shop.example/rest").to_string(), "marketplace https://shop.example/rest");
    assert_eq!(id("https://shop.example/").url, "https://shop.example");
}

#[test]
fn this_machine_is_one_host_however_it_is_spelled() {
    for spelling in
        ["http://LOCALHOST:8080", "http://127.0.0.1:8080/", "http://[::1]:8080", "http://localhost.:8080"]
    {
        assert_eq!(id(spelling), id("http://localhost:8080"), "{spelling}");
    }
    assert_eq!(id("http://[::ffff:127.0.0.1]:8080").lock_key, "localhost:8080");
    assert_ne!(id("http://localhost:8081"), id("http://localhost:8080"));
    assert_ne!(id("http://localhost.example"), id("http://localhost"));
}

#[test]
fn a_path_a_scheme_or_an_interface_tells_services_apart_but_a_path_shares_the_lock() {
    let live = id("https://shop.example/live");
    for other in ["https://shop.example/staging", "https://shop.example/Live", "http://shop.example/live"] {
        assert_ne!(id(other), live, "{other}");
    }
    assert_eq!(id("https://shop.example/staging").lock_key, live.lock_key);
    assert_eq!(live.lock_key, "shop.example:443");
    assert_eq!(id("http://shop.example/live").lock_key, "shop.example:80");
    let magento = ServiceId::new(&Url::parse("https://shop.example/live").unwrap(), "magento");
    assert_ne!(magento, live);
    assert_eq!(magento.lock_key, live.lock_key);
}

#[test]
fn the_sandbox_is_its_database() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("sandbox.db");
    std::fs::write(&file, "").unwrap();
    let spelled = directory.path().join(".").join("sandbox.db");
    let id = |path: &Path| ServiceId::sandbox(path, "marketplace");
    assert_eq!(id(&file), id(&spelled));
    assert_ne!(id(&file), id(Path::new("/other/sandbox.db")));
}

#[test]
fn a_service_is_named_by_its_root_with_or_without_it() {
    for (text, named) in [
        ("https://a", "https://a/rest"),
        ("https://a/", "https://a/rest"),
        ("https://a/rest/", "https://a/rest/"),
        ("https://a/shop", "https://a/shop/rest"),
    ] {
        assert_eq!(with_root(&Url::parse(text).unwrap(), Some("rest")).as_str(), named);
    }
    assert_eq!(with_root(&Url::parse("https://a/b").unwrap(), None).as_str(), "https://a/b");
}

fn key(name: &str) -> &'static Key {
    PROFILE.iter().find(|key| key.name == name).unwrap()
}

fn written(name: &str, words: &[&str]) -> Result<String, String> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    key(name).write(&words).map(|value| value.to_string())
}

#[test]
fn a_command_is_a_list_however_it_is_written() {
    for words in
        [&["pass", "show", "a shop"][..], &["pass show \"a shop\""], &["[\"pass\", \"show\", \"a shop\"]"]]
    {
        assert_eq!(written("token-command", words).unwrap(), r#"["pass", "show", "a shop"]"#);
    }
    assert!(written("token-command", &[""]).is_err());
    assert!(written("token-command", &["[1]"]).is_err());
}

#[test]
fn scalars_are_checked_as_they_are_written() {
    assert_eq!(written("retry", &["0"]).unwrap(), "0");
    assert_eq!(written("timeout", &["0.5"]).unwrap(), "0.5");
    assert_eq!(written("timeout", &["500ms"]).unwrap(), "\"500ms\"");
    assert_eq!(written("settle", &["0"]).unwrap(), "0");
    assert_eq!(written("allow-plain-http", &["true"]).unwrap(), "true");
    for (name, word) in [
        ("retry", "-1"),
        ("retry", "many"),
        ("retry", "4294967296"),
        ("timeout", "0"),
        ("timeout", "nan"),
        ("timeout", "86401"),
        ("timeout", "0ms"),
        ("settle", "-1"),
        ("allow-plain-http", "yes"),
        ("ship-layout", "round"),
        ("api", "shopify"),
        ("store-view", ".."),
        ("read.path", "V1"),
        ("read.customer", "customer"),
        ("read.ignore", "customer"),
        ("token-env", ""),
        ("token", " "),
    ] {
        assert!(written(name, &[word]).is_err(), "{name} {word}");
    }
    assert!(written("retry", &["1", "2"]).is_err());
}

#[test]
fn no_message_repeats_a_value_that_may_be_a_secret() {
    for key in PROFILE {
        for value in ["\"hunter2\"", "[\"\", \"hunter2\"]", "{ hunter2 = 1 }", "[{ a = \"hunter2\" }]"] {
            let value: toml_edit::Value = value.parse().unwrap();
            if let Err(problem) = key.check(&value.into()) {
                assert!(!problem.contains("hunter2") || key.name == "store-view", "{}: {problem}", key.name);
            }
        }
    }
    let item = toml_edit::value("hunter2");
    assert_eq!(to_json("token", &item), "•••");
    assert_eq!(to_json("admin-token", &item), "•••");
    let named_so = profile("token.retry = 1\ntoken.token = \"hunter2\"");
    assert_eq!(to_json("profiles", &named_so), serde_json::json!({"token": {"retry": 1, "token": "•••"}}));
}

#[test]
fn a_path_leads_to_a_setting_a_table_or_nowhere() {
    for (path, found) in [
        (&[][..], "table"),
        (&["read"], "table"),
        (&["read", "path"], "read.path"),
        (&["retry"], "retry"),
        (&["retry", "x"], "none"),
        (&["read", "retry"], "none"),
        (&["read.path"], "none"),
        (&["x"], "none"),
    ] {
        let name = match Setting::find(path) {
            Some(Setting::Table) => "table",
            Some(Setting::Value(key)) => key.name,
            None => "none",
        };
        assert_eq!(name, found, "{path:?}");
    }
    assert!(PROFILE.iter().all(|key| key.name != DEFAULT_PROFILE.name));
}

fn profile(text: &str) -> toml_edit::Item {
    text.parse::<toml_edit::DocumentMut>().unwrap().as_item().clone()
}

#[test]
fn the_page_of_settings_has_every_setting() {
    let page = include_str!("../../docs/settings.md");
    let missing: Vec<_> =
        PROFILE.iter().map(|key| key.name).filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert_eq!(missing, Vec::<&str>::new());
}
