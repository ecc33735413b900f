//! Commands that the program prints to be typed again: they run when they are pasted, and ask for the same.

use serde_json::Value;

use crate::support::storefront::Home;
use crate::support::terminal::{CTRL_C, ENTER, Terminal};
use crate::support::test_env::TestEnv;

fn terminal<'home>(home: &'home Home, line: &str) -> Terminal<'home> {
    Terminal::run(home, 300, &line.split(' ').collect::<Vec<_>>(), &[])
}

/// The command after `Equivalent command:`, which must be there once.
#[track_caller]
fn equivalent(screen: &str) -> String {
    let parts: Vec<&str> = screen.split("Equivalent command:\n  ").collect();
    assert_eq!(parts.len(), 2, "{screen}");
    parts[1].lines().next().unwrap().to_owned()
}

/// Runs a printed command through the shell.
#[track_caller]
fn pasted(home: &Home, line: &str) {
    let words = shell_words::split(line).unwrap();
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    let outcome = home.run(&words);
    assert_eq!(outcome.code, 0, "{line}: {outcome:?}");
}

fn city(home: &Home, id: usize) -> Value {
    let customer: Value = serde_json::from_str(&home.ok("--sandbox customer show -o json")).unwrap();
    customer["addresses"][id - 1]["city"].clone()
}

#[test]
fn two_dashes_at_the_end_lose_nothing_that_is_typed_afterwards() {
    let home = Home::new();
    let mut asked = terminal(&home, "--sandbox customer update --address 2 --");
    asked.picks("City").sees("City (Ctrl-U clears) ›").replaces("Men's Lyon").sees("Men's Lyon  (was");
    asked.picks("Done, review changes").sees("Send it?").confirms("n");
    let (code, screen) = asked.ends();
    assert_eq!(code, 130, "{screen}");
    let line = equivalent(&screen);
    pasted(&home, &format!("{line} --yes"));
    assert_eq!(city(&home, 2), "Men's Lyon", "{line}");
}

#[test]
fn the_answers_about_an_attribute_follow_two_dashes_too() {
    let home = Home::new();
    let mut asked =
        terminal(&home, "--sandbox attribute create --type text --required=false --searchable --");
    asked
        .sees("Label (shown to shoppers)")
        .answers("-5 °C")
        .sees("Code")
        .replaces("cold")
        .sees("STORE=LABEL");
    asked.answers("").sees("Create it?").confirms("n");
    let (code, screen) = asked.ends();
    assert_eq!(code, 130, "{screen}");
    let line = equivalent(&screen);
    assert!(line.contains("--required=false --searchable"), "{line}");
    pasted(&home, &line);
    assert!(home.ok("sandbox show -o json").contains("-5 °C"));
}

/// An update of a city that was sent, while the shop has not answered.
fn waiting<'home>(home: &'home Home, faults: &str) -> Terminal<'home> {
    let mut asked = terminal(home, &format!("--sandbox customer update --address 2 {faults}"));
    asked.picks("City").sees("City (Ctrl-U clears) ›").replaces("Lyon").sees("Lyon  (was");
    asked.picks("Done, review changes").sees("Send it?").confirms("y").sees("waiting for the response");
    asked
}

#[test]
fn a_signal_while_the_shop_is_waited_for_prints_the_command() {
    let home = Home::new();
    let mut asked = waiting(&home, "--fault PUT:latency=60000");
    asked.terminate().sees("press Ctrl-C again").terminate();
    let (code, screen) = asked.ends();
    assert_eq!(code, 130, "{screen}");
    assert!(equivalent(&screen).ends_with("--address 2 --city Lyon"), "{screen}");
}

#[test]
fn after_a_signal_nothing_more_is_asked_whatever_became_of_the_update() {
    for (fault, said) in
        [("", "interrupted; the request in flight was waited for"), ("--fault PUT:429=9", "429")]
    {
        let home = Home::new();
        let mut asked = waiting(&home, format!("--fault PUT:latency=5000 {fault}").trim());
        asked.terminate().sees("press Ctrl-C again");
        let (code, screen) = asked.ends();
        assert_eq!(code, 130, "{screen}");
        assert!(screen.contains(said), "{screen}");
        assert!(equivalent(&screen).ends_with("--address 2 --city Lyon"), "{screen}");
    }
}

#[test]
fn an_interrupted_question_about_an_attribute_prints_the_command() {
    let home = Home::new();
    let mut asked = terminal(&home, "--sandbox attribute create");
    asked.sees("Label (shown to shoppers)").answers("Men's").sees("Code").types(CTRL_C);
    let (code, screen) = asked.ends();
    assert_eq!(code, 130, "{screen}");
    assert_eq!(equivalent(&screen), r"storefront --sandbox attribute create --label 'Men'\''s'");
}

#[test]
fn a_value_that_cannot_be_meant_is_refused_in_the_dialogue_and_can_be_corrected() {
    let home = Home::new();
    let mut asked = terminal(&home, "--sandbox customer update --address 2");
    asked.picks("City").sees("City (Ctrl-U clears) ›").replaces("#N/A").sees("#N/A  (was");
    asked.picks("Done, review changes").sees("`#N/A` is an error of the spreadsheet");
    asked.picks("City").sees("City (Ctrl-U clears) ›").replaces("Lyon").sees("Lyon  (was");
    asked.picks("Done, review changes").sees("Send it?").confirms("y").sees("Another change?").types(CTRL_C);
    assert_eq!(asked.ends().0, 0);
    assert_eq!(city(&home, 2), "Lyon");
}

#[test]
fn many_options_are_asked_about_once_with_their_count() {
    let home = Home::new();
    let line = "--sandbox --api magento attribute option add color --option";
    let mut asked = terminal(&home, &format!("{line} Orange Pink Teal"));
    asked.sees("Add 3 options to color?").confirms("n");
    assert_eq!(asked.ends().0, 130);
    assert!(!home.ok("--sandbox --api magento attribute show color").contains("Pink"));
    let mut agreed = terminal(&home, &format!("{line} Orange Pink Teal"));
    agreed.sees("Add 3 options to color?").confirms("y").sees("Added 3 options");
    assert_eq!(agreed.ends().0, 0);
    let mut one = terminal(&home, &format!("{line} Red"));
    assert_eq!(one.waits_for_end(), 0, "one is not asked about: {}", one.screen());
    assert_eq!(home.run(&format!("{line} Mint Lime")).code, 0, "nobody is there to be asked");
}

#[test]
fn a_region_of_the_shops_list_is_named_once_in_the_printed_command() {
    let home = Home::new();
    let line = "--sandbox --api magento customer update --customer 1 --address 3";
    let mut asked = terminal(&home, line);
    asked.picks("Country").asks("Country").replaces("Germany").sees("Region, by name or code");
    asked.replaces("berl").sees("Berlin  (was").types(CTRL_C);
    let (code, screen) = asked.ends();
    assert_eq!(code, 130, "{screen}");
    let command = equivalent(&screen);
    assert!(command.ends_with("--country DE --region-code BER"), "{command}");
    pasted(&home, &format!("{command} --postcode 10115"));
    let shown = home.ok("--sandbox --api magento customer show --customer 1 --jq .addresses[2].region");
    assert_eq!(shown.trim(), r#"{"region_code":"BER","region":"Berlin","region_id":82}"#);
}

#[test]
fn answers_of_yes_and_no_stay_on_the_screen() {
    let home = Home::new();
    let mut asked =
        terminal(&home, "--sandbox attribute create --code fit --type text --store-label 2=Coupe");
    asked.sees("Label (shown to shoppers)").answers("Fit");
    asked.sees("Required? (y/N)").types(ENTER).sees("Include in search? (y/N)").answers("y");
    asked.sees("Create it?").confirms("n");
    let (code, screen) = asked.ends();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("Required? (y/N) · no\n"), "{screen}");
    assert!(screen.contains("Include in search? (y/N) · y\n"), "{screen}");
}

#[test]
fn what_a_question_explains_stands_in_one_pair_of_parentheses() {
    let home = Home::new();
    let line = "--sandbox --api magento customer update --customer 1 --address 2";
    let mut asked = terminal(&home, line);
    asked.picks("Region").sees("Region, by name or code (empty: list; Ctrl-U clears)").types(CTRL_C);
    assert_eq!(asked.ends().0, 130);
}

#[test]
fn options_are_looked_up_before_the_question() {
    let home = Home::new();
    let line = "--sandbox --api magento attribute option add";
    for (options, problem) in [
        ("color --option Orange 50", "is the ID of the option"),
        ("nosuch --option Orange Pink", "the shop has no attribute `nosuch`"),
    ] {
        let mut refused = terminal(&home, &format!("{line} {options}"));
        refused.sees(problem);
        let (code, screen) = refused.ends();
        assert_eq!(code, 2, "{screen}");
        assert!(!screen.contains("options to"), "{screen}");
    }
    let mut some = terminal(&home, &format!("{line} color --option Orange Blue Pink"));
    some.sees("Add 2 options to color?").confirms("n");
    assert_eq!(some.ends().0, 130);
}

/// Standard input has no name beside which a journal could be: it gets one by what it holds.
#[test]
fn a_batch_on_standard_input_needs_no_name_for_its_journal() {
    let env = TestEnv::new();
    let line = "quote add-item -i - --input-format csv --quote-id 1";
    let rows = "sku,qty\nmug-blue,1\nnosuch,1\n";
    let first = env.storefront(line).stdin(rows).run();
    assert_eq!(first.code, 7, "{first:?}");
    let hint = first.stderr.split('`').find(|text| text.contains("resume 1")).unwrap().to_owned();
    // The same once more would add the first item twice.
    let again = env.storefront(line).stdin(rows).run();
    assert_eq!(again.code, 3, "{again:?}");
    env.requests();
    let words = shell_words::split(&hint).unwrap();
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    let resumed = env.storefront(&words).stdin(rows.replace("nosuch", "umbrella")).run();
    assert_eq!(resumed.code, 0, "{resumed:?}");
    assert_eq!(env.requests().len(), 1, "the first item is not sent again");
    // What was corrected has another name by itself.
    let unnamed = env.storefront(&format!("{line} --resume")).stdin(rows).run();
    assert_eq!(unnamed.code, 2, "{unnamed:?}");
    assert!(unnamed.stderr.contains("--journal"), "{unnamed:?}");
}
