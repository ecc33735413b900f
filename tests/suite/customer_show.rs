//! `customer show` for a person: every stored field, at every width.

use crate::support::storefront::Home;
use crate::support::terminal::Terminal;

#[test]
fn every_stored_field_with_a_value_is_shown_at_every_width() {
    let home = Home::new();
    let show = ["--sandbox", "customer", "show"];
    for columns in [40, 80, 100, 200] {
        let (code, screen) = Terminal::run(&home, columns, &show, &[("NO_COLOR", "1")]).ends_raw();
        assert_eq!(code, 0);
        for shown in [
            "Haddad Imports",
            "FR40303265045",
            "B4711",
            "loyalty_points",
            "billing",
            "shipping",
            "1984-07-19",
        ] {
            assert!(screen.contains(shown), "{columns}: {shown}\n{screen}");
        }
        assert!(!screen.contains("null"), "{screen}");
        assert_eq!(screen.contains("OTHER FIELDS"), columns == 200, "{screen}");
        assert_eq!(screen.contains("default billing"), columns < 200, "{screen}");
    }
    let piped = home.ok("--sandbox customer show");
    assert!(piped.contains("OTHER FIELDS") && piped.contains("door_code B4711"), "{piped}");
}
