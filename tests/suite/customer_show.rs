//! `customer show`: every stored field, at every width.

use snapbox::str;

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
    }
    home.run("--sandbox customer show").assert_success(str![[r#"
Amina Haddad <amina.haddad@example.com> (customer 1)
  Customer group             1
  Created at                 [TIME]
  Updated at                 [TIME]
  Created in                 Default Store View
  Date of birth              1984-07-19
  Prefix                     Dr.
  Gender                     2
  Tax or VAT number          FR40303265045
  Store                      1
  Website                    1
  Disable auto group change  0
  Newsletter                 yes
  loyalty_points             12345678901234567890
  preferred_language         fr

address 1, default billing
  Name              Amina Haddad
  Company           Haddad & Filles
  Street            18 rue de la Paix / Bâtiment C
  City              75002 Paris
  Country           FR
  Telephone number  +33 1 42 68 53 00
  Fax number        +33 1 42 68 53 01
  Prefix            Dr.
  VAT number        FR40303265045
  door_code         B4711

address 2, default shipping
  Name                  Amina Haddad
  Company               Haddad Imports
  Street                350 Fifth Avenue
  City                  10118 New York
  Region                New York, NY, id 43
  Country               US
  Telephone number      +1 212 736 3100
  delivery_window.from  09:00
  delivery_window.to    12:30
  latitude              40.748400
  longitude             -73.985700

address 3
  Name              أمينة حداد
  Street            شارع الحمرا ١٢ / الطابق الثالث
  City              بيروت
  Region            محافظة بيروت
  Country           LB
  Telephone number  +961 1 345 678

address 4
  Name              Lina Haddad-Groß
  Street            Invalidenstraße 117
  City              02138 Berlin
  Region            Berlin, BER, id 82
  Country           DE
  Telephone number  +49 30 2345678
  is_residential    yes
"#]]);
}
