//! Completion in real shells, and the generated scripts.

use std::path::{Path, PathBuf};

use crate::support::storefront::Home;
use crate::support::test_env::files_below;

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

/// The committed script of a shell, under the extension that the shell itself loads.
fn generated(shell: &str) -> PathBuf {
    let extension = if shell == "powershell" { "ps1" } else { shell };
    Path::new(env!("CARGO_MANIFEST_DIR")).join("completions").join(format!("storefront.{extension}"))
}

/// The output of a shell in this home, with the program first on its path.
fn shell(home: &Home, shell: &str, arguments: &[&str]) -> String {
    let binaries = Path::new(env!("CARGO_BIN_EXE_storefront")).parent().unwrap();
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
    let output = home.command(shell).args(arguments).env("PATH", path).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The completions of bash at the end of a command line.
fn bash(home: &Home, line: &str) -> Vec<String> {
    let script = generated("bash");
    let ask = format!(
        "source '{}'; COMP_WORDS=({line}); [[ '{line}' == *' ' ]] && COMP_WORDS+=(''); \
         COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); COMP_TYPE=9; \
         _clap_complete_storefront storefront \"${{COMP_WORDS[COMP_CWORD]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script.display()
    );
    shell(home, "bash", &["--norc", "-c", &ask]).lines().map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn the_generated_scripts_are_current() {
    let home = Home::new();
    for shell in SHELLS {
        let script = home.ok(&format!("completions {shell}"));
        if std::env::var_os("UPDATE").is_some() {
            std::fs::create_dir_all(generated(shell).parent().unwrap()).unwrap();
            std::fs::write(generated(shell), &script).unwrap();
        }
        let kept = std::fs::read_to_string(generated(shell)).unwrap_or_default();
        assert!(kept == script, "completions/ is stale: UPDATE=1 cargo test completion");
    }
}

#[test]
fn bash_completes_commands_flags_and_values() {
    let home = Home::with_config(
        "[profiles.shop]\nbase-url = \"https://shop.example\"\nstore-view = \"ch\"\n[profiles.shed]\n",
    );
    assert_eq!(bash(&home, "storefront customer u"), ["update"]);
    assert_eq!(bash(&home, "storefront customer update --remove-a"), ["--remove-address"]);
    assert_eq!(bash(&home, "storefront -p sh"), ["shop", "shed"]);
    assert_eq!(bash(&home, "storefront config use sho"), ["shop"]);
    assert_eq!(bash(&home, "storefront --store-view "), ["ch"]);
    assert_eq!(bash(&home, "storefront --sandbox --store-view "), ["default", "fr", "de"]);
    assert_eq!(bash(&home, "storefront attribute create --type mult"), ["multiselect"]);
}

#[test]
fn files_updates_keys_faults_and_topics_are_completed() {
    let home = Home::with_config("[profiles.shop]\nbase-url = \"https://shop.example\"\n");
    std::fs::write(home.dir.path().join("items.csv"), "").unwrap();
    for flag in ["--input", "-i", "--journal"] {
        assert_eq!(bash(&home, &format!("storefront quote add-item {flag} ite")), ["items.csv"], "{flag}");
    }
    assert_eq!(bash(&home, "storefront attribute create --options ite"), ["items.csv"]);
    assert_eq!(bash(&home, "storefront customer update --base ite"), ["items.csv"]);
    std::fs::write(home.dir.path().join("items.csv.journal"), "").unwrap();
    assert_eq!(bash(&home, "storefront history items.csv.j"), ["items.csv.journal"]);
    home.ok("--sandbox customer update --address 2 --city Albany");
    assert_eq!(bash(&home, "storefront --sandbox undo 1"), ["1"]);
    assert_eq!(bash(&home, "storefront -p shop undo 1"), [""]);
    assert_eq!(bash(&home, "storefront config set token-e"), ["token-env"]);
    assert_eq!(bash(&home, "storefront config get profiles.shop.base"), ["profiles.shop.base-url"]);
    assert_eq!(bash(&home, "storefront --sandbox customer show --fault drop"), ["drop-address"]);
    assert_eq!(bash(&home, "storefront --sandbox customer show --fault stale"), ["stale-read="]);
    assert_eq!(bash(&home, "storefront help exit"), ["exit-codes"]);
}

#[test]
fn address_ids_are_those_of_the_profile_seen_last_at_that_service() {
    let home = Home::with_config("[profiles.shop]\nbase-url = \"https://shop.example\"\n");
    let update = "storefront --sandbox customer update --address ";
    assert_eq!(bash(&home, update), [""]);
    home.ok("--sandbox customer show");
    assert_eq!(bash(&home, update), ["1", "2", "3", "4"]);
    assert_eq!(bash(&home, "storefront -p shop customer update --address "), [""]);
    home.ok("--sandbox customer update --remove-address 2 --yes");
    home.ok("--sandbox customer update --firstname Amy");
    assert_eq!(bash(&home, update), ["1", "3", "4"]);
    assert_eq!(bash(&home, "storefront --sandbox quote ship --ship-to-address "), ["1", "3", "4"]);
}

#[test]
fn of_the_customer_only_ids_and_labels_of_addresses_are_kept_for_completion() {
    let home = Home::new();
    home.ok("--sandbox --api magento customer show --customer 2");
    let log = rusqlite::Connection::open(home.state().join("log.db")).unwrap();
    let kept: String = log.query_row("SELECT addresses FROM seen_address", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, r#"{"5":"丸の内1-9-1, 千代田区","6":"梅田3-1-1, 大阪市北区"}"#);
    for file in files_below(&home.state()) {
        let bytes = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        assert!(!bytes.contains("sato.kenji"), "{}", file.display());
    }
}

/// An administrator's command is about one customer: the addresses of another are no candidates.
#[test]
fn addresses_and_updates_are_those_of_the_named_customer_and_interface() {
    let home = Home::new();
    let magento = "storefront --sandbox --api magento customer";
    home.ok("--sandbox --api magento customer update --customer 2 --gender 2 --yes");
    for customer in ["--customer 2", "--customer=2", "--customer Sato.Kenji@example.jp"] {
        assert_eq!(bash(&home, &format!("{magento} update {customer} --address ")), ["5", "6"], "{customer}");
    }
    assert_eq!(bash(&home, &format!("{magento} update --customer 1 --address ")), [""]);
    assert_eq!(bash(&home, &format!("{magento} update --address ")), [""]);
    assert_eq!(bash(&home, &format!("{magento} restore 1")), ["1"]);
    assert_eq!(bash(&home, "storefront --sandbox undo 1"), [""]);
}

#[test]
#[ignore = "fish must be installed"]
fn fish_shows_what_an_address_id_stands_for() {
    let home = Home::new();
    home.ok("--sandbox customer show");
    let ask = format!(
        "source '{}'; complete -C 'storefront --sandbox customer update --remove-address '",
        generated("fish").display()
    );
    let offered = shell(&home, "fish", &["--no-config", "-c", &ask]);
    assert!(offered.lines().any(|line| line == "2\t350 Fifth Avenue, New York"), "{offered}");
}

/// A shell runs it at every Tab.
#[test]
fn a_completion_opens_no_database() {
    let home = Home::new();
    let words = ["--", "storefront", "--sandbox", "customer", "update", "--address", ""];
    let answer =
        home.storefront(&words).env("STOREFRONT_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "5").run();
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(!home.dir.path().join("data").exists());
}

#[test]
fn the_completion_variable_alone_does_not_change_a_command() {
    let home = Home::new();
    let shown = home.storefront(&["config", "path"]).env("STOREFRONT_COMPLETE", "bash").run();
    assert!(shown.code == 0 && shown.stdout.ends_with("config.toml\n"), "{shown:?}");
}

#[test]
fn a_manual_page_for_each_command() {
    let home = Home::new();
    let page = home.ok("man");
    assert!(page.contains(".TH storefront 1"), "{page}");
    home.ok("man pages/man1");
    let pages = std::fs::read_dir(home.dir.path().join("pages/man1")).unwrap();
    let mut names: Vec<_> = pages.map(|page| page.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    for page in ["storefront.1", "storefront-customer-update.1", "storefront-quote-add-item.1"] {
        assert!(names.iter().any(|name| name == page), "{names:?}");
    }
}

/// The lines of docs/install.md, as they are written there.
#[test]
fn the_lines_that_install_completions_run_in_a_fresh_home() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/install.md");
    let page = std::fs::read_to_string(page).unwrap();
    for name in ["bash", "fish", "elvish"] {
        let row = page.lines().find(|line| line.starts_with(&format!("| {name} | `"))).unwrap();
        let line = row.split('`').nth(1).unwrap();
        let home = Home::new();
        shell(&home, "sh", &["-c", line]);
        let written = home.dir.path().join(line.rsplit("~/").next().unwrap());
        assert!(std::fs::metadata(&written).unwrap().len() > 0, "{line}");
    }
}
